"""The shell: identifiers and queries in, lines or JSON out.

Exit status: 0 done, 1 some papers have no full text, 2 bad request, 3 nothing could be reached,
4 the shelf could not be read or written (the disk is full), 130 interrupted (what was saved stays;
the same command goes on from there).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PaperError
from ..system.sharing import access_error
from ..system.signals import INTERRUPTED, interruptible
from ..system.streams import note_replaced, prepare_streams
from .commands import COMMANDS as COMMANDS
from .commands import Verb, build_parser
from .output import NO_FULL_TEXT, complain, leave

if TYPE_CHECKING:
    from ..settings import Settings

_OUTPUT_FAILED = "The output could not be written"


def main(
    arguments: Sequence[str] | None = None,
    begin_logs: Callable[[Settings], Any] = lambda _settings: None,
) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words of the command line; those of this process when not given.
    begin_logs : callable, optional
        Called with the settings before the command runs.
    """
    prepare_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in words
    try:
        args = build_parser(*words[:1]).parse_args(words)
        with interruptible():
            from ..library import Library

            library = Library(**({"papers_dir": args.papers_dir} if args.papers_dir else {}))
            begin_logs(library.settings)
            verb: Verb = args.verb
            return verb(args, library)
    except PaperError as error:
        return complain(error, as_json)
    except BrokenPipeError:
        # The reader of our pipe has what it wanted; Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        leave(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. What was saved stays; run the same command to go on.\n")
        leave(INTERRUPTED)
    except OSError as error:
        if error.filename and (barred := access_error(Path(error.filename))):
            return complain(barred, as_json)
        what = f"{error.filename} cannot be used" if error.filename else _OUTPUT_FAILED
        sys.stderr.write(f"{what}: {error.strerror}.\n")
        leave(NO_FULL_TEXT)
    finally:
        note_replaced()
