"""Collect a paper's figures, tables (as rows) and supplementary files.

The files are in ``<text's name>.files/`` on the shelf, created on demand. Each table is a CSV file,
and ``tables.json`` has all tables; images and supplementary files are as the site provides them.
``objects.json`` describes each object: source, checksum, licence, and why a file is missing.
"""

from .files import (
    PaperObjects,
    StoredObject,
    find_objects_in_passage,
    gather_objects,
    gather_objects_of_many,
    read_stored_objects,
)
from .found_files import allows_copying, is_image, pick_best_formats
from .listing import list_objects
from .long_table import COLUMNS, iterate_long_rows, write_long_table

__all__ = [
    "COLUMNS",
    "PaperObjects",
    "StoredObject",
    "allows_copying",
    "find_objects_in_passage",
    "gather_objects",
    "gather_objects_of_many",
    "is_image",
    "iterate_long_rows",
    "list_objects",
    "pick_best_formats",
    "read_stored_objects",
    "write_long_table",
]
