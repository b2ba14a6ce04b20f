"""The command line: parse a command, run it, and return its exit status.

The exit statuses are those of `command_list.EXIT_STATUSES`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PaperError
from ..system.process import (
    INTERRUPTED_EXIT_STATUS,
    configure_standard_streams,
    get_version,
    raise_on_first_signal,
    warn_of_replaced_characters,
)
from ..system.progress_display import LINE
from ..system.safe_files import find_access_error
from .command_list import COMMANDS as COMMANDS
from .command_list import format_help
from .commands import CommandFunction
from .commands import parse_command as parse_command
from .output import NOT_STORED_STATUS, exit_now, print_error
from .progress import show_elapsed_time

if TYPE_CHECKING:
    from ..settings import Settings

_OUTPUT_FAILED = "The output could not be written"


def _run_with_library(args: argparse.Namespace, set_up_logs: Callable[[Settings], Any]) -> int:
    """Run a command with its library."""
    from ..library import Library
    from ..logs import show_all_logs
    from .pager import page_output

    library = Library(**({"papers_dir": args.papers_dir} if args.papers_dir else {}))
    set_up_logs(library.settings)
    if args.verbose:
        show_all_logs()
    verb: CommandFunction = args.verb
    with page_output(args.command), show_elapsed_time(args.command):
        return verb(args, library)


def main(
    arguments: Sequence[str] | None = None,
    set_up_logs: Callable[[Settings], Any] = lambda _settings: None,
) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words of the command line; those of this process when not given.
    set_up_logs : callable, optional
        Called with the settings before the command runs.
    """
    configure_standard_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in words
    try:
        if words[:1] == ["--version"]:
            sys.stdout.write(f"Papershelf {get_version()}\n")
            return 0
        words = [*words[1:], "--help"] if words[:1] == ["help"] else words
        if (shown := format_help(words)) is not None:
            sys.stdout.write(shown)
            return 0
        args = parse_command(words)
        LINE.quiet = args.quiet
        if not args.needs_library:
            return int(args.verb(args, None))
        with raise_on_first_signal():
            return _run_with_library(args, set_up_logs)
    except PaperError as error:
        return print_error(error, as_json)
    except BrokenPipeError:
        # The reader of our pipe has what it wanted; Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        exit_now(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. Saved work is kept; run the same command to continue.\n")
        exit_now(INTERRUPTED_EXIT_STATUS)
    except OSError as error:
        if error.filename and (barred := find_access_error(Path(error.filename))):
            return print_error(barred, as_json)
        what = f"{error.filename} cannot be used" if error.filename else _OUTPUT_FAILED
        sys.stderr.write(f"{what}: {error.strerror}.\n")
        exit_now(NOT_STORED_STATUS)
    finally:
        warn_of_replaced_characters()
