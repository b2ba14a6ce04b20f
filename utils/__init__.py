"""Search, download and read scientific papers.

>>> from utils import Library            # doctest: +SKIP
>>> Library().download("31452104").path  # doctest: +SKIP
"""

from .errors import PaperError
from .paper import Ids, Paper, StoredPaper
from .settings import Settings

__all__ = ["Ids", "Paper", "PaperError", "Settings", "StoredPaper"]
