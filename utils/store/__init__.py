"""The shelf on disk: papers as text files, and a catalogue that finds them by any name.

Knows disks and SQL, and nothing of sites, formats or MCP.
"""

from .adoption import judged_as, of_foreign
from .paper_file import body_of
from .records import ADOPTED, RebuildReport
from .shelf import Shelf

__all__ = ["ADOPTED", "RebuildReport", "Shelf", "body_of", "judged_as", "of_foreign"]
