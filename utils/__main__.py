"""Run the command: an MCP server without arguments, otherwise a shell command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .system.process import configure_standard_streams, exit_at_once_on_signals

if TYPE_CHECKING:
    from .settings import Settings

_SERVER_OPTIONS = ("--transport", "--host", "--port")


def main() -> int:
    """Start the server or run a shell command; returns the exit status."""
    exit_at_once_on_signals()  # before the imports that take a part of a second
    # Pydantic would read the metadata of all installed packages to look for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # noqa: TID251 - set, not read
    configure_standard_streams()
    arguments = sys.argv[1:]
    if "_ARGCOMPLETE" in os.environ:  # noqa: TID251 - of the shell, no setting
        from .cli.completing import print_completions

        print_completions()
    if not arguments:
        if sys.stdin.isatty() and _uses_stdio():
            from .cli.command_list import format_introduction

            sys.stdout.write(format_introduction())
            return 0
        from .mcp import serve

        return serve()
    if arguments[0].partition("=")[0] in _SERVER_OPTIONS:
        arguments = ["setup", "serve", *arguments]
    from .cli import main as shell

    return shell(arguments, set_up_logs=_set_up_shell_logs)


def _uses_stdio() -> bool:
    """Return whether MCP_TRANSPORT_TYPE is stdio; False where the settings cannot be read."""
    from .errors import PaperError
    from .settings import load_settings

    try:
        return load_settings().mcp_transport_type == "stdio"
    except PaperError:
        return False


def _set_up_shell_logs(settings: Settings) -> None:
    """Set up the shell's logs: warnings in words, and files where the settings say so."""
    from .errors import PaperError
    from .logs import set_up_logs

    try:
        set_up_logs(settings, readable=True)
    except PaperError as error:
        sys.stderr.write(f"{error.text}\n")


if __name__ == "__main__":
    sys.exit(main())
