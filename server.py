"""Papershelf. ``uv run server.py`` is the MCP server; ``uv run server.py --help`` the shell."""

import sys

from utils.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
