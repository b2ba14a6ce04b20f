"""The shelf on disk: papers as text files, and a catalogue that finds them by any name.

Knows disks and SQL, and nothing of sites, formats or MCP.
"""

from .paper_file import body_of
from .records import RebuildReport
from .shelf import Shelf

__all__ = ["RebuildReport", "Shelf", "body_of"]
