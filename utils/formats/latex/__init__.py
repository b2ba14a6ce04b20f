"""LaTeX sources, as arXiv keeps them, as markdown."""

from .document import read

__all__ = ["read"]
