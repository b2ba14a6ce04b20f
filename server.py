"""Papershelf. ``uv run server.py`` is the MCP server; ``uv run server.py --help`` the shell."""

import sys

try:
    from utils.__main__ import main
except KeyboardInterrupt:  # before `main` could say what a signal does
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
