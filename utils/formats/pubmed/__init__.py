"""PubMed's XML as papers, record by record."""

from .records import Deleted, read_records

__all__ = ["Deleted", "read_records"]
