"""The shelf on disk: papers as text files, and a catalogue that finds them by any name.

Knows disks and SQL, and nothing of sites, formats or MCP.
"""

from .adoption import is_foreign, judge_again, known_by_name_only, with_judgement
from .paper_file import body_of
from .reconciliation import RebuildReport
from .record import ADOPTED
from .shelf import Shelf

__all__ = [
    "ADOPTED",
    "RebuildReport",
    "Shelf",
    "body_of",
    "is_foreign",
    "judge_again",
    "known_by_name_only",
    "with_judgement",
]
