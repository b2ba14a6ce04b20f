"""The desk in the shell: start the web app of this computer."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..plugins import import_by_name
from .commands import Commands, command
from .opening import open_on_desktop
from .options import parse_whole_number
from .output import print_answer, print_note

if TYPE_CHECKING:
    from ..library import Library

_REMOTE_PORT = 3011


def add(commands: Commands) -> None:
    """Register the command."""
    desk = command(commands, "setup desk", _run_desk)
    desk.add_argument(
        "--port",
        type=parse_whole_number,
        default=0,
        metavar="N",
        help="the port to listen on (any free port; with --remote 3011)",
    )
    desk.add_argument(
        "--remote",
        default="",
        metavar="ADDRESS",
        help="serve other computers, at this https address of a proxy; browsers sign in with "
        "tokens of `setup token`",
    )
    desk.add_argument(
        "--no-open", action="store_true", help="print the address; do not open the browser"
    )


def _run_desk(args: argparse.Namespace, library: Library) -> int:
    serve_desk = import_by_name(".desk.server:serve_desk")
    if args.remote:
        # The HTTP authentication of the MCP server: its key, its tokens, its refusals.
        gate = import_by_name(".mcp.auth:build_token_gate")(library.settings, args.remote)
        port, announce = args.port or _REMOTE_PORT, partial(_announce, args)
        serve_desk(library, port, announce, args.remote, gate.verify_token)
        return 0
    with tempfile.TemporaryDirectory(prefix="papershelf-desk-") as folder:

        def print_address(address: str) -> None:
            _announce(args, address)
            if not args.no_open:
                open_on_desktop(str(_write_start_page(Path(folder), address)))

        serve_desk(library, args.port, print_address)
    return 0


def _announce(args: argparse.Namespace, address: str) -> None:
    """Print the address of the desk, and who may open it."""
    print_answer({"address": address} if args.json else address, args.json, unwrapped_lines=True)
    if args.remote:
        print_note(f"To let somebody in: {command_line('setup token NAME')}")
        print_note("The desk runs until you press Ctrl-C.")
    else:
        print_note("The desk runs until you press Ctrl-C. Keep the address to yourself.")


def _write_start_page(folder: Path, address: str) -> Path:
    """Write a page that leads to the desk: as an argument, other users could read the token."""
    page = folder / "desk.html"
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
    page.write_text(f"<!doctype html>{refresh}<title>Papershelf</title>", encoding="utf-8")
    return page
