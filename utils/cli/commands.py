"""Parsers of commands, and error messages for mistyped options.

The options of a command stand in its module, in a function ``add(commands)``, which calls
`command` for each command of the module. A name is given in full: ``search``, ``shelf
audit``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..command_line import command_line
from ..errors import BadRequest
from ..plugins import import_by_name
from ..system.nearest import suggest_nearest_name
from .command_list import describe_command, format_examples, list_commands, split_command_name

CommandFunction = Callable[[argparse.Namespace, Any], int]
Commands = dict[str, "CommandParser"]
"""The parsers of commands, by their full names."""
_OPTIONS_PLACEHOLDER = " [options]"
_COMMON_OPTIONS = ("--help", "--json", "--quiet", "--verbose", "--papers-dir")


class CommandParser(argparse.ArgumentParser):
    """Parse the options of one command; raise `BadRequest` for wrong options."""

    name = ""
    """The command's full name."""

    def add_argument(
        self, *names: str, former: Sequence[str] = (), **options: Any
    ) -> argparse.Action:
        """Add an argument; *former* names are accepted too, but not shown in the help."""
        action = super().add_argument(*names, **options)
        if not action.option_strings:
            shown = f"{action.metavar or action.dest.upper()}{' …' * (action.nargs in ('*', '+'))}"
            shown = f"[{shown}]" if action.nargs in ("*", "?") else shown
            usage = str(self.usage).removesuffix(_OPTIONS_PLACEHOLDER)
            self.usage = f"{usage} {shown}{_OPTIONS_PLACEHOLDER}"
        if former:
            hidden = {"dest": action.dest, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
            super().add_argument(*former, **options | hidden)
        return action

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse *args*; options may be placed between other words."""
        parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            self._reject_word(unknown[0])
        return parsed

    def error(self, message: str) -> NoReturn:
        """Raise argparse's message with a pointer to the help."""
        name, _, said = message.removeprefix("argument ").partition(": ")
        hint = f"See {self.prog} --help"
        if name.startswith("the following arguments"):
            message = f"{said.upper()} is missing"
            hint = f"For example: {self.prog} {list_commands()[self.name].examples[0]}"
        elif said:
            said = "needs a value" if said == "expected one argument" else f": {said}"
            message = f"{name.rpartition('/')[2]} {said}".replace(" : ", ": ")
        raise BadRequest(f"{message[:1].upper()}{message[1:]}.", hint)

    def _reject_word(self, word: str) -> NoReturn:
        """Raise the error for an argument that the command does not accept."""
        name = word.partition("=")[0]
        if not name.startswith("-"):
            raise BadRequest(f"{word!r} is one argument too many.", f"See {self.prog} --help")
        visible = (action for action in self._actions if action.help != argparse.SUPPRESS)
        options = [one for action in visible for one in action.option_strings if len(one) > 2]
        own = [one for one in options if one not in _COMMON_OPTIONS]
        listed = f"It has {', '.join(own)}." if own else f"See {self.prog} --help"
        raise BadRequest(
            f"{self.prog} has no option {name}.", suggest_nearest_name(name, options) or listed
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error if a value is not among the choices."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(one) for one in action.choices if one != ""]
        name = action.option_strings[0] if action.option_strings else action.dest.upper()
        hint = suggest_nearest_name(str(value), choices)
        known = f"Choose among {', '.join(choices)}."
        raise BadRequest(f"{value!r} is not a value of {name}.", hint, known)


def build_parser(name: str) -> CommandParser:
    """Return the parser of a command, by its full name."""
    commands: Commands = {}
    import_by_name(list_commands()[name].module).add(commands)
    return commands[name]


def parse_command(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command with its options.

    Raises
    ------
    BadRequest
        There is no such command or option, or a value is wrong.
    """
    name, rest = split_command_name(words)
    return build_parser(name).parse_args(rest)


def command(commands: Commands, name: str, run: CommandFunction) -> CommandParser:
    """Register a command under its full name, with the options that all of them have."""
    parser = commands[name] = CommandParser(
        prog=command_line(name),
        usage=f"%(prog)s{_OPTIONS_PLACEHOLDER}",
        description=f"{describe_command(name)[:1].upper()}{describe_command(name)[1:]}.",
        epilog=format_examples(name),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, max_help_position=26
        ),
    )
    parser.name = name
    common = parser.add_argument_group("options of every command")
    common.add_argument("--json", action="store_true", help="print one JSON object per line")
    common.add_argument("--quiet", action="store_true", help="print no notes and no progress")
    common.add_argument("--verbose", action="store_true", help="print every step")
    common.add_argument(
        "--papers-dir",
        default="",
        metavar="FOLDER",
        help="the folder of the shelf (instead of PAPERS_DIR)",
    )
    parser.set_defaults(verb=run, command=name, needs_library=True)
    return parser
