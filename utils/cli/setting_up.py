"""Set up this installation: its settings file, and the assistants' hosts that start it.

On a terminal the command asks for what no option says. It shows each change before it writes it,
and writes it only after a yes (or with ``--yes``); ``--undo`` takes all changes back.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import ROOT, command_line
from ..curation.installation import (
    describe_update,
    get_journal_file,
    get_settings_file,
    plan_settings_change,
    require_valid_settings,
)
from ..curation.mcp_host_files import (
    FileChange,
    find_host_files,
    plan_host_change,
    undo_changes,
    write_changes,
)
from ..curation.mcp_hosts import McpHost, build_server_command, build_server_entry
from ..errors import BadRequest, PaperError
from ..model.sites import KEYS
from ..settings import Settings, load_settings, map_variables_to_fields
from ..system.named_files import build_unreadable_error
from .commands import Commands, command
from .output import print_answer, print_note

if TYPE_CHECKING:
    from collections.abc import Callable


def add(commands: Commands) -> None:
    """Register the commands."""
    setup = command(commands, "setup", _set_up)
    setup.add_argument(
        "--email", metavar="ADDRESS", help="your e-mail address, which NCBI and Unpaywall require"
    )
    setup.add_argument("--folder", metavar="FOLDER", help="the folder for papers (PAPERS_DIR)")
    setup.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any setting; NAME=@FILE reads the value from a file, NAME= removes it",
    )
    setup.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="an assistant to connect, such as Cursor; all: every assistant found on this computer",
    )
    setup.add_argument("--yes", action="store_true", help="write without asking for confirmation")
    setup.add_argument(
        "--dry-run", action="store_true", help="show what would be written, and stop"
    )
    setup.add_argument("--undo", action="store_true", help="undo what setup wrote")
    update = command(commands, "setup update", _describe_update)
    for parser in (setup, update):
        parser.set_defaults(needs_library=False)


def _describe_update(args: argparse.Namespace, _: object) -> int:
    said = describe_update()
    shown = f"To bring this installation up to date:\n  {said}"
    print_answer({"command": said} if args.json else shown, args.json)
    return 0


def _set_up(args: argparse.Namespace, _: object) -> int:
    if args.undo:
        sentences = undo_changes(get_journal_file()) or ["There is nothing to undo."]
        for sentence in sentences:
            print_answer({"undone": sentence} if args.json else sentence, args.json)
        return 0
    values = _parse_values(args)
    interactive = sys.stdin.isatty() and not (args.yes or args.json)
    if interactive and not values and not args.host:
        values = _ask_values()
    elif not values and not args.host:
        msg = "setup asks its questions on a terminal only, and no option says what to set up."
        example = command_line("setup --email you@your-university.edu --host all --yes")
        raise BadRequest(msg, f"For example: {example}")
    _write_settings(values, args, interactive=interactive)
    _connect_hosts(values, args, interactive=interactive)
    if not (args.json or args.dry_run):
        print_answer(f"\nNext: {command_line('setup doctor')}\n"
            f"Undo: {command_line('setup --undo')}")  # fmt: skip
    return 0


def _parse_values(args: argparse.Namespace) -> dict[str, str]:
    """Return the settings that the options give, by variable.

    Raises
    ------
    BadRequest
        An option has no value, or its file cannot be read.
    """
    values: dict[str, str] = {}
    for word in args.set:
        name, equals, value = word.partition("=")
        if not equals:
            raise BadRequest(f"{word!r} has no value.", "Write it as NAME=VALUE.")
        if value.startswith("@"):
            try:
                value = Path(value[1:]).read_text(encoding="utf-8-sig").strip()
            except (OSError, ValueError) as error:
                raise build_unreadable_error(Path(value[1:]), error) from None
        values[name.strip().upper()] = value
    if args.email is not None:
        values["PUBMED_EMAIL"] = args.email
    if folder := args.folder or args.papers_dir:
        values["PAPERS_DIR"] = str(Path(folder).expanduser().absolute())
    require_valid_settings(values)
    return values


def _ask_values() -> dict[str, str]:
    """Ask for the settings that nearly everyone needs, and return the answers."""
    now = load_settings()
    print_answer("Set up Papershelf. Press Enter to keep the value in brackets, Ctrl-C to stop.\n")
    values: dict[str, str] = {}
    values |= _ask_until_valid("Your e-mail address", "PUBMED_EMAIL", now.pubmed_email)
    values |= _ask_until_valid("The folder for papers", "PAPERS_DIR", str(now.papers_dir))
    print_answer("\nKeys are optional. Each brings more:")
    for key in KEYS:
        kept = "set, Enter keeps it" if now.key(key.setting) else "Enter: none"
        print_answer(f"\n{key.setting.upper()}: {key.gives}\n  to get one: {key.page}")
        values |= _ask_until_valid(f"  key [{kept}]", key.setting.upper(), "", getpass)
    return values


def _ask_until_valid(
    question: str, name: str, default: str, read: Callable[[str], str] = input
) -> dict[str, str]:
    """Ask until the answer is valid, and return it by its variable; empty for Enter."""
    while True:
        answer = read(f"{question} [{default}]: " if default else f"{question}: ").strip()
        if not answer:
            return {}
        if name == "PAPERS_DIR":
            answer = str(Path(answer).expanduser().absolute())
        try:
            require_valid_settings({name: answer})
        except BadRequest as error:
            print_note(error.text)
        else:
            return {name: answer}


def _write_settings(
    values: Mapping[str, str], args: argparse.Namespace, *, interactive: bool
) -> None:
    """Show the settings, and write them if agreed."""
    if not values:
        return
    file = get_settings_file()
    lines = [f"  {name} = {_describe_value(name, value)}" for name, value in values.items()]
    change = plan_settings_change(values, file)
    if not _write_change(
        change, "\n".join([f"\nSettings, into {file}:", *lines]), args, interactive=interactive
    ):
        return
    in_force, fields = load_settings(), map_variables_to_fields()
    for name, value in values.items():
        field = fields[name]
        if value and getattr(in_force, field) != getattr(load_settings(**{field: value}), field):
            print_note(f"warning: {name} is also set in the environment or in .env, which is used.")


def _describe_value(name: str, value: str) -> str:
    """Return a value for display; keys are hidden."""
    if not value:
        return "(removed)"
    about = Settings.model_fields[map_variables_to_fields()[name]]
    return "(hidden)" if "Secret" in str(about.annotation) else value


def _connect_hosts(
    values: Mapping[str, str], args: argparse.Namespace, *, interactive: bool
) -> None:
    """Add this server to the files of the chosen hosts."""
    found = find_host_files()
    chosen = _find_chosen_hosts(args.host, found) if args.host else found if interactive else {}
    entry = build_server_entry(load_settings(), build_server_command(ROOT))
    entry["env"] = {name: value for name, value in entry["env"].items() if name not in values}
    for host, file in chosen.items():
        try:
            change = plan_host_change(host, file, entry)
        except PaperError as error:
            print_note(f"{host.name}: {error.text}")
            continue
        if change.difference:
            _write_change(
                change, f"\n{host.name}:\n{change.difference}", args, interactive=interactive
            )
        elif not args.json:
            print_answer(f"\n{host.name} already starts this server ({file}).")
    if interactive and not chosen:
        print_answer(
            "\nNo assistant was found on this computer. To see what to paste: "
            f"{command_line('setup doctor --hosts')}"
        )  # fmt: skip


def _find_chosen_hosts(names: Sequence[str], found: Mapping[McpHost, Path]) -> dict[McpHost, Path]:
    """Return the hosts named by the options.

    Raises
    ------
    BadRequest
        A host is not on this machine.
    """
    if any(name.casefold() == "all" for name in names):
        return dict(found)
    by_name = {host.name.casefold(): host for host in found}
    if missing := [name for name in names if name.casefold() not in by_name]:
        here = ", ".join(host.name for host in found) or "none"
        msg = f"{', '.join(missing)} was not found on this computer."
        raise BadRequest(msg, f"Found here: {here}.")
    return {by_name[name.casefold()]: found[by_name[name.casefold()]] for name in names}


def _write_change(
    change: FileChange, description: str, args: argparse.Namespace, *, interactive: bool
) -> bool:
    """Show a change, write it if agreed, and return whether it was written.

    Raises
    ------
    BadRequest
        Nobody can be asked, and ``--yes`` was not given.
    """
    if not args.json:
        print_answer(description)
    writes = not args.dry_run and (args.yes or (interactive and _ask_consent()))
    if not (writes or args.dry_run or interactive):
        raise BadRequest(
            "Nothing was written: there is no terminal to ask on.",
            "Add --yes, or --dry-run.",
        )
    if writes:
        write_changes([change], get_journal_file())
    if args.json:
        print_answer(
            {"what": change.about, "file": str(change.file), "written": writes}, as_json=True
        )
    return writes


def _ask_consent() -> bool:
    """Ask whether to write the change that was shown."""
    return input("Write this? [Y/n] ").strip().casefold() in ("", "y", "yes")
