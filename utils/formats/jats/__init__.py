"""JATS, the XML of PMC and Europe PMC, as markdown."""

from .article import Parsed, parse, read, read_article

__all__ = ["Parsed", "parse", "read", "read_article"]
