"""Publishers' pages as markdown, and the links they declare."""

from .page import pdf_links, read, refresh_target, xml_links

__all__ = ["pdf_links", "read", "refresh_target", "xml_links"]
