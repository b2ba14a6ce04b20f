"""Show lists that are longer than the terminal page by page.

The program is the one that ``PAGER`` names, else ``less``. Nothing is paged where output is no
terminal, with ``--quiet``, or where ``NO_PAGER`` is set.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

from ..system.progress_display import LINE

PAGED_COMMANDS = frozenset(
    {"search", "list", "cite", "review related", "setup settings", "harvest status"}
)
"""The commands whose output is a list."""
_DEFAULT_PAGER = ("less", "-FRX")


class _CollectedOutput(io.TextIOWrapper):
    """Collected output, which a terminal will show."""

    def isatty(self) -> bool:
        """Return True, because a terminal will show the output."""
        return True


@contextmanager
def page_output(name: str) -> Iterator[None]:
    """Collect the output of the command *name*, and show it page by page if it is long."""
    command = _find_pager() if name in PAGED_COMMANDS and is_terminal() and not LINE.quiet else []
    if not command:
        yield
        return
    encoding = sys.stdout.encoding
    printed = io.BytesIO()
    text = _CollectedOutput(printed, encoding, sys.stdout.errors, write_through=True)
    try:
        with redirect_stdout(text):
            yield
    finally:
        LINE.clear_line()
        _show_text(printed.getvalue().decode(encoding), command)


def is_terminal() -> bool:
    """Return whether a person sees the output at once."""
    return sys.stdout.isatty()


def _find_pager() -> list[str]:
    """Return the pager's command; empty without one, or for ``cat``."""
    from ..settings import read_pager_command

    command = read_pager_command()
    command = list(_DEFAULT_PAGER) if command is None else command
    return command if command and command != ["cat"] and shutil.which(command[0]) else []


def _show_text(text: str, command: list[str]) -> None:
    """Write a short text at once; give a long one to the pager."""
    size = shutil.get_terminal_size()
    rows = sum(1 + max(0, len(line) - 1) // max(1, size.columns) for line in text.splitlines())
    if rows < size.lines:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    unsent: bytes | None = text.encode(sys.stdout.encoding, "replace")
    with (
        suppress(BrokenPipeError),
        _start_pager(command) as process,
    ):  # it may be left before its end
        while process.poll() is None:
            try:
                process.communicate(unsent)
            except KeyboardInterrupt:  # Ctrl-C is the pager's
                unsent = None


def _start_pager(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - the user's own choice
