"""Break long lines between words, for a person who reads them on a terminal.

A terminal breaks a line in the middle of a word. Here a long line continues below its own
beginning. What a person copies is left whole: a command, from its name to the end of the line,
and a line that holds nothing but a path. Rows of tables stay as they are, too.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TextIO

from ..command_line import PROGRAM

_UNBREAKABLE_LINE_PATTERN = re.compile(
    r"\s*(?:/|~|\\\\|[A-Za-z]:[/\\]|\|)"  # a path, or a row of a Markdown table
    r"|.*\t|\s*\S+(?: \S+)*(?: {2,}\S+(?: \S+)*){2,}$"  # columns
)
MIN_COLUMNS = 40


def fit_terminal(text: str, stream: TextIO | None = None) -> str:
    """Return *text* with its long lines broken, if the stream (standard output) is a terminal."""
    stream = stream or sys.stdout
    return wrap_lines(text, shutil.get_terminal_size().columns) if stream.isatty() else text


def wrap_lines(text: str, columns: int) -> str:
    """Return *text* with lines of at most *columns* characters, where words allow that.

    >>> print(wrap_lines("  1. Larval settlement follows an anomaly of alkalinity.", 40))
      1. Larval settlement follows an
         anomaly of alkalinity.
    """
    if columns < MIN_COLUMNS:
        return text
    return "\n".join(_wrap_line(line, columns) for line in text.split("\n"))


def _split_command(line: str) -> tuple[str, str, str]:
    """Return the text before the line's last command, the command's name, and the rest."""
    before, name, after = line.rpartition(f"{PROGRAM} ")
    return (before, name, after) if name else (line, "", "")


def _wrap_line(line: str, columns: int) -> str:
    if len(line) <= columns or _UNBREAKABLE_LINE_PATTERN.match(line):
        return line
    before, name, after = _split_command(line)
    start = re.match(r"\s*(?:(?:\d+\.|[●○·✗✓!→-]) )?", line)
    below = " " * (len(start[0]) if start else 0)
    lines = textwrap.wrap(
        before, columns, subsequent_indent=below, tabsize=4, replace_whitespace=False,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    if name and lines and len(f"{lines[-1]} {name}{after}") <= columns:
        lines[-1] += f" {name}{after}"
    elif name:
        lines.append(f"{below}{name}{after}")
    return "\n".join(lines)
