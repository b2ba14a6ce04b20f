"""Search, download and read scientific papers.

>>> from utils import Library            # doctest: +SKIP
>>> Library().download("31452104").file_path  # doctest: +SKIP
"""

from .errors import PaperError
from .identifiers import Ids
from .library import Library
from .paper import Paper, StoredPaper
from .settings import Settings

__all__ = ["Ids", "Library", "Paper", "PaperError", "Settings", "StoredPaper"]
