"""What belongs to a paper beside its text: figures, tables as rows, supplementary files.

They lie in ``<text's name>.files/`` on the shelf, made on demand: tables as CSV and, all of them,
in ``tables.json``; images and supplementary files as the site keeps them. ``objects.json`` says
what each is, where it came from, its checksum and licence, and why a file is not there.
"""

from .files import (
    Kept,
    PaperObjects,
    gather,
    gather_many,
    kept_before,
    objects_in,
)
from .found_files import best_forms, is_image, may_be_copied
from .listing import objects_of
from .long_table import COLUMNS, long_rows, write_long_table

__all__ = [
    "COLUMNS",
    "Kept",
    "PaperObjects",
    "best_forms",
    "gather",
    "gather_many",
    "is_image",
    "kept_before",
    "long_rows",
    "may_be_copied",
    "objects_in",
    "objects_of",
    "write_long_table",
]
