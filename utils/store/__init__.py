"""The shelf on disk: papers as text files, and a catalogue that finds them by any name.

Knows disks and SQL, and nothing of sites, formats or MCP.
"""

from .adoption import goes_by_name, is_foreign, judged_anew, judged_as
from .paper_file import body_of
from .records import ADOPTED, RebuildReport
from .shelf import Shelf

__all__ = [
    "ADOPTED",
    "RebuildReport",
    "Shelf",
    "body_of",
    "goes_by_name",
    "is_foreign",
    "judged_anew",
    "judged_as",
]
