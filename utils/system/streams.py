"""Standard input, output and error, made fit to be read and written in any locale."""

from __future__ import annotations

import codecs
import io
import os
import sys

_REPLACING = "papershelf-replace"
_replaced: list[str] = []


def prepare_streams() -> None:
    """Make files and pipes UTF-8, and let a console show `?` for a letter that it does not have."""
    _fill_closed()
    codecs.register_error(_REPLACING, _replace)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors=_REPLACING)
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def note_replaced() -> None:
    """Say once, on standard error, that the console could not show some letters."""
    if not _replaced:
        return
    _replaced.clear()
    sys.stderr.write(
        "This console cannot show every letter: each missing one is a `?`. Set it to UTF-8 (on "
        "Windows: chcp 65001), or redirect the output into a file.\n"
    )


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        return codecs.replace_errors(error)  # type: ignore[return-value]
    _replaced.append(error.object[error.start : error.end])
    return "?" * (error.end - error.start), error.end


def _fill_closed() -> None:
    """Put the null device where a standard stream is closed (`>&-`).

    Else the next file that is opened gets its number, and a stray line of output lands in it.
    Writing to a closed standard output still fails, as it does for every program.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:  # the lowest number that is free is the one that is given
            os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)
        stream = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)
