"""The command: an MCP server by default, the shell when a verb is given."""

from __future__ import annotations

import sys

from .system.signals import end_at_once_on_signals

_SERVER_OPTIONS = ("--transport", "--host", "--port")


def main() -> int:
    """Start the server or run a shell command; returns the exit status."""
    end_at_once_on_signals()  # before the imports that take most of a second
    arguments = sys.argv[1:]
    if not arguments or arguments[0].partition("=")[0] in _SERVER_OPTIONS:
        from .tools import serve

        return serve(arguments)
    if arguments[0] == "token":
        from .tools.auth import token_command

        return token_command(arguments[1:])
    from .cli import main as shell

    _write_logs()
    return shell(arguments)


def _write_logs() -> None:
    """Set up the shell's logs: warnings in words, and files where the settings say so."""
    from .errors import PaperError
    from .settings import load_settings
    from .tools.logs import begin_logs

    try:
        settings = load_settings()
    except PaperError:
        return  # the shell reports it, as text or JSON
    try:
        begin_logs(settings, in_words=True)
    except PaperError as error:
        sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    sys.exit(main())
