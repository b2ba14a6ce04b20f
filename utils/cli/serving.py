"""The MCP server and its tokens in the shell; only their modules know MCP."""

from __future__ import annotations

import argparse

from ..errors import BadRequest
from ..plugins import import_by_name
from ..system.nearest import suggest_nearest_name
from .commands import Commands, command
from .options import parse_days, parse_whole_number
from .output import print_answer

_TOKEN_MAX_DAYS = 366
_MAX_PORT = 65_535
_SCOPES = ("read", "download")
_SERVER_SETTINGS = ("mcp_transport_type", "mcp_http_host", "mcp_http_port")


def add(commands: Commands) -> None:
    """Register the commands."""
    serve = command(commands, "setup serve", _run_server)
    serve.add_argument(
        "--transport",
        dest="mcp_transport_type",
        choices=["stdio", "http"],
        help="how clients connect (stdio)",
    )
    serve.add_argument(
        "--host",
        dest="mcp_http_host",
        metavar="ADDRESS",
        help="the address to listen on (127.0.0.1)",
    )
    serve.add_argument(
        "--port",
        dest="mcp_http_port",
        type=parse_whole_number,
        metavar="N",
        help="the port to listen on (3010; 0: any free port)",
    )
    token = command(commands, "setup token", _create_token)
    token.add_argument("name", help="the name of the user, which appears in the logs")
    token.add_argument(
        "--scopes",
        default="read,download",
        help="what the token allows: read, or read,download (default: both)",
    )
    token.add_argument(
        "--days",
        type=parse_days,
        default=30,
        metavar="N",
        help="the days until the token expires (30)",
    )
    for parser in (serve, token):
        parser.set_defaults(needs_library=False)


def _run_server(args: argparse.Namespace, _: object) -> int:
    options = {name: getattr(args, name) for name in _SERVER_SETTINGS}
    given = {name: value for name, value in options.items() if value is not None}
    if given.get("mcp_http_port", 0) > _MAX_PORT:
        msg = f"--port is {args.mcp_http_port:,}; it must lie between 0 and {_MAX_PORT:,}."
        raise BadRequest(msg, "Write --port 3010")
    return int(import_by_name(".mcp:serve")(**given))


def _create_token(args: argparse.Namespace, _: object) -> int:
    from ..settings import load_settings

    scopes = [scope.strip() for scope in args.scopes.split(",") if scope.strip()]
    if strange := [scope for scope in scopes if scope not in _SCOPES]:
        msg = f"{strange[0]!r} is not a scope."
        near = suggest_nearest_name(strange[0], _SCOPES)
        raise BadRequest(msg, near, "Write --scopes read, or --scopes read,download")
    if "read" not in scopes:
        raise BadRequest("A token needs the scope read.", "Write --scopes read,download")
    if not 0 < args.days <= _TOKEN_MAX_DAYS:
        msg = f"--days must be more than 0 and at most {_TOKEN_MAX_DAYS}."
        raise BadRequest(msg, "Give another number.")
    make_token = import_by_name(".mcp.auth:make_token")
    token = make_token(load_settings(), args.name, scopes, args.days)
    print_answer({"name": args.name, "token": token} if args.json else token, args.json)
    return 0
