"""Complete commands with Tab in bash, zsh, fish and PowerShell, by argcomplete.

The shell runs Papershelf at each Tab with the line so far in ``COMP_LINE``; what completes its last
word is written to the descriptor 8. The words of the command's name are left out of what
argcomplete reads, by its variable ``_ARGCOMPLETE``: its parser is that of the command.
"""

from __future__ import annotations

import argparse
import os
import sys

from ..command_line import IN_CHECKOUT
from ..errors import BadRequest
from .command_list import list_members, list_top_level_names, split_command_name
from .commands import Commands, build_parser, command
from .output import print_note

_COMPLETION_VARIABLE = "_ARGCOMPLETE"
_INSTALL_HINTS = {
    "bash": 'Put into ~/.bashrc: eval "$(papershelf setup completion bash)"',
    "zsh": 'Put into ~/.zshrc, after compinit: eval "$(papershelf setup completion zsh)"',
    "fish": "Write it: papershelf setup completion fish > "
    "~/.config/fish/completions/papershelf.fish",
    "powershell": "Put into $PROFILE: "
    "papershelf setup completion powershell | Out-String | Invoke-Expression",
}


def add(commands: Commands) -> None:
    """Register the command."""
    parser = command(commands, "setup completion", _print_shell_code)
    parser.add_argument("shell", choices=list(_INSTALL_HINTS), help="the name of your shell")
    parser.set_defaults(needs_library=False)


def _print_shell_code(args: argparse.Namespace, _: object) -> int:
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["papershelf"], shell=args.shell))
    if sys.stdout.isatty():
        print_note(_INSTALL_HINTS[args.shell])
        if IN_CHECKOUT:
            print_note("It completes the installed command: uv tool install .")
    return 0


def print_completions() -> None:
    """Write the completions of the line, and end the process."""
    from argcomplete import autocomplete
    from argcomplete.lexers import split_line

    line, end = os.environ["COMP_LINE"], int(os.environ["COMP_POINT"])  # noqa: TID251
    _, _, _, words, _ = split_line(line[:end])
    words = words[int(os.environ[_COMPLETION_VARIABLE]) :]  # noqa: TID251
    parser, taken = _find_parser(words[1:] if words[:1] == ["help"] else words)
    taken += words[:1] == ["help"]
    os.environ[_COMPLETION_VARIABLE] = str(int(os.environ[_COMPLETION_VARIABLE]) + taken)  # noqa: TID251
    autocomplete(parser, always_complete_options=False)


def _find_parser(words: list[str]) -> tuple[argparse.ArgumentParser, int]:
    """Return the parser of the typed command, and the number of words in its name."""
    if not words:
        return _build_name_parser([*list_top_level_names(), "help"]), 0
    try:
        name, rest = split_command_name(words)
    except BadRequest:
        return argparse.ArgumentParser(), 0
    taken = len(words) - len(rest)
    try:
        parser: argparse.ArgumentParser = build_parser(name)
    except KeyError:
        return _build_name_parser(list_members(name)), taken
    if not rest and (names := list_members(name)):
        for action in parser._get_positional_actions():  # noqa: SLF001
            action.completer = lambda **_: names  # type: ignore[attr-defined]
    return parser, taken


def _build_name_parser(names: list[str]) -> argparse.ArgumentParser:
    """Return a parser that accepts one of these names."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("command", choices=names)
    return parser
