"""PDFs as markdown, read by a process of their own."""

from .document import read

__all__ = ["read"]
