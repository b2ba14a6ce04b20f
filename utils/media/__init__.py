"""Collect a paper's figures, tables (as rows) and supplementary files.

The files are in ``<text's name>.files/`` on the shelf, created on demand. Each table is a CSV file,
and ``tables.json`` has all tables; images and supplementary files are as the site provides them.
``objects.json`` describes each object: source, checksum, licence, and why a file is missing.
"""

from .files import (
    PaperObjects,
    StoredObject,
    collect_objects,
    collect_objects_of_papers,
    find_objects_in_passage,
    read_stored_objects,
)
from .found_files import is_copying_allowed, is_image_name, pick_best_formats
from .listing import list_objects
from .long_table import COLUMNS, iterate_cell_rows, write_long_table

__all__ = [
    "COLUMNS",
    "PaperObjects",
    "StoredObject",
    "collect_objects",
    "collect_objects_of_papers",
    "find_objects_in_passage",
    "is_copying_allowed",
    "is_image_name",
    "iterate_cell_rows",
    "list_objects",
    "pick_best_formats",
    "read_stored_objects",
    "write_long_table",
]
