"""One command, two doors: an MCP server by default, the shell when a verb is given."""

from __future__ import annotations

import sys


def main() -> int:
    """Open the door the arguments ask for; the exit status is the shell's."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] == "--transport":
        from .tools import serve

        return serve(arguments)
    from .cli import main as shell

    return shell(arguments)


if __name__ == "__main__":
    sys.exit(main())
