"""Shared by all commands: read arguments, print lines or JSON, and choose the exit status.

Arguments are files and identifiers, or else a query for PubMed. An argument that looks like a file
or an identifier is read as one or refused, so that a typing error never becomes a query.
Notes and progress go to standard error.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..errors import BadRequest, NothingFound, PaperError
from ..system.named_files import build_unreadable_error
from ..system.plain_text import clean_text, one_line, to_escaped_json
from ..system.process import is_colour_allowed
from ..system.progress_display import LINE
from .wrapping import fit_terminal

if TYPE_CHECKING:
    from rich.console import Console

    from ..lists.pasted import ListEntry

_OPTION_BY_PARAMETER = {
    **dict.fromkeys(("max_results", "max_papers", "max_rows", "max_records", "top_k"), "--limit"),
    **dict.fromkeys(("min_date", "year_from", "start_year"), "--since"),
    **dict.fromkeys(("max_date", "year_to", "end_year"), "--until"),
}
"""Parameters that the library names in errors, by the options of the shell."""
_PARAMETER_PATTERN = re.compile(rf"\b({'|'.join(_OPTION_BY_PARAMETER)})\b(?!=)")
_ARGUMENT_PATTERN = re.compile(rf"\b({'|'.join(_OPTION_BY_PARAMETER)}|start|because|folder)=(?=\S)")
TYPED_LIST_NAME = "typed"
"""The name of the list of identifiers that stand in the command itself."""
NO_FULL_TEXT_STATUS, BAD_REQUEST_STATUS, UNREACHABLE_STATUS, NOT_STORED_STATUS = 1, 2, 3, 4
_FILE_PATTERN = re.compile(
    r"(?:\.{0,2}|~[^/\s]*|[a-z]:)[/\\].*|.*[/\\]|\.\.?"
    r"|.*\.(?:txt|csv|tsv|tab|ris|bib|bibtex|nbib|medline|enw|ciw|xml|jsonl?|xlsx?|docx?|ods|pdf"
    r"|html?|zip|gz|lst|list|ids|md|dat)",
    re.I | re.S,
)
_IDENTIFIER_PATTERN = re.compile(r"(?:https?://|doi:|pmid:|pmcid:|arxiv:)\S+|10\.\d+/\S*", re.I)


def exit_now(status: int) -> NoReturn:
    """Exit immediately, without waiting for running requests; no file is left half written."""
    LINE.clear_line()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def combine_statuses(statuses: Sequence[int]) -> int:
    """Return one exit status for many papers: 2 and 3 only if all have it, 4 if any has it.

    >>> [combine_statuses(statuses) for statuses in ([0, 4, 1], [2, 2], [0, 3], [0, 0])]
    [4, 2, 1, 0]
    """
    if NOT_STORED_STATUS in statuses:
        return NOT_STORED_STATUS
    if all(status == BAD_REQUEST_STATUS for status in statuses):
        return BAD_REQUEST_STATUS
    if all(status == UNREACHABLE_STATUS for status in statuses):
        return UNREACHABLE_STATUS
    return NO_FULL_TEXT_STATUS if any(statuses) else 0


def print_answer(
    answer: dict[str, Any] | str, as_json: bool = False, *, unwrapped_lines: bool = False
) -> None:
    """Write an answer to standard output; lines *unwrapped_lines* are not broken on a terminal."""
    # JSON is escaped where the console cannot show a letter: a program reads the same.
    ascii_only = not supports_unicode()
    text = to_escaped_json(answer, ascii_only) if as_json else clean_text(str(answer))
    text = text if as_json or unwrapped_lines else fit_terminal(text)
    LINE.clear_line()
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def supports_unicode() -> bool:
    """Return whether standard output can show every letter."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def make_console(*, stderr: bool = False) -> Console:
    """Return what draws tables and colours; plain text with ``NO_COLOR`` or on a dumb terminal."""
    from rich.console import Console

    return Console(
        stderr=stderr, highlight=False, color_system="auto" if is_colour_allowed() else None
    )


def print_note(text: str) -> None:
    """Write a remark to standard error."""
    if not LINE.quiet:
        print_error_text(text)


def print_error_text(text: str) -> None:
    """Write to standard error, even with ``--quiet``."""
    LINE.clear_line()
    sys.stderr.write(f"{fit_terminal(clean_text(text), sys.stderr)}\n")


def print_warnings(warnings: Iterable[str]) -> None:
    """Write warnings to standard error."""
    for warning in warnings:
        print_error_text(f"warning: {warning}")


def pluralize(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> pluralize(1, "paper"), pluralize(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def parse_drawing_kinds(names: str) -> list[str]:
    """Return the kinds of drawing named in *names*."""
    from ..reports.prisma import DRAWINGS

    kinds = [word.strip().lower() for word in names.split(",") if word.strip()]
    if strange := [kind for kind in kinds if kind not in DRAWINGS]:
        msg = f"The PRISMA figure is not drawn as {', '.join(strange)}."
        raise BadRequest(msg, f"Choose among {', '.join(DRAWINGS)}; prisma.svg is always written.")
    return kinds


def print_error(error: PaperError, as_json: bool) -> int:
    """Print an error and return its exit status."""
    if as_json:
        row = error.row() if isinstance(error, NothingFound) else error.envelope()
        print_answer(row, as_json=True)
    else:
        print_error_text(_to_shell_options(f"{error.message} {error.hint or error.default_hint}"))
    return error.exit_code


def _to_shell_options(text: str) -> str:
    """Return a text of the library with the options of the shell in place of parameters.

    >>> _to_shell_options('max_results is 0. For the next page: start=1000, because="it is short"')
    '--limit is 0. For the next page: --start 1000, --because "it is short"'
    """
    text = _ARGUMENT_PATTERN.sub(
        lambda found: f"{_OPTION_BY_PARAMETER.get(found[1], f'--{found[1]}')} ", text
    )
    return _PARAMETER_PATTERN.sub(lambda found: _OPTION_BY_PARAMETER[found[1]], text)


def print_unread_identifier(text: str, as_json: bool) -> int:
    """Report that *text* is not an identifier, and return the exit status."""
    from ..lists.pasted import build_no_identifier_error

    wrong = build_no_identifier_error(text)
    shown = one_line(text)[:80]
    print_answer(
        {"paper": shown, **wrong.envelope()} if as_json else f"✗ {shown}: {wrong.text}", as_json
    )
    return wrong.exit_code


class QueryOrLists(NamedTuple):
    """A query, or papers by the files that list the papers."""

    query: str
    lists: dict[str, list[ListEntry]]

    @property
    def entries(self) -> list[ListEntry]:
        """The papers of all lists."""
        return [entry for entries in self.lists.values() for entry in entries]

    @property
    def title(self) -> str:
        """The names of the files; empty if all identifiers were typed."""
        return ", ".join(name for name in self.lists if name != TYPED_LIST_NAME)


def read_arguments(words: Sequence[str], *, with_excluded: bool = True) -> QueryOrLists:
    """Read files and identifiers; words that are neither make up one query.

    Without words, or for ``-``, standard input is read. Papers that all screeners of a list
    excluded are left out of it with a note, unless *with_excluded*.

    Raises
    ------
    BadRequest
        A file is not there or holds no papers, or words of both kinds are mixed.
    """
    from ..lists.pasted import ListEntry, build_no_identifier_error
    from ..model.identifiers import Ids
    from ..plugins import find_list_reader
    from ..settings import load_settings

    lists: dict[str, list[ListEntry]] = {}
    others: list[str] = []
    for word in words or ("-",):
        if reader := find_list_reader(word):
            lists.setdefault(word, []).extend(reader(load_settings()))
        elif word == "-" or (_is_existing_path(word) and not Path(word).is_dir()):
            name = "standard input" if word == "-" else Path(word).name
            lists.setdefault(name, []).extend(_read_entries(word, name, with_excluded))
        elif (ids := Ids.maybe(word)) or _IDENTIFIER_PATTERN.fullmatch(word):
            # A word that only looks like an identifier is a slip, and is named with the rest.
            lists.setdefault(TYPED_LIST_NAME, []).append(ListEntry(word, ids))
        elif _FILE_PATTERN.fullmatch(word):
            raise build_unreadable_error(Path(word))
        else:
            others.append(word)
    if others and lists:
        msg = f"{others[0]!r} is not a file or an identifier, unlike other arguments."
        raise BadRequest(msg, "Put a query into quotes. To combine it with lists, use --query.")
    if list(lists) == [TYPED_LIST_NAME] and not any(entry.ids for entry in lists[TYPED_LIST_NAME]):
        raise build_no_identifier_error(lists[TYPED_LIST_NAME][0].asked)
    query = _join_query(others)
    if not (query or lists):
        raise BadRequest("The query is empty.", "Give a query, identifiers or a file of them.")
    return QueryOrLists(query, lists)


def _join_query(words: Sequence[str]) -> str:
    """Return words as one query; note if it is also the name of a folder."""
    query = " ".join(words).strip()
    if len(words) == 1 and _is_existing_path(query):
        print_note(f"{query} is also a folder here. It is used as a query, not as a list.")
    return query


def _is_existing_path(word: str) -> bool:
    return os.path.exists(word)  # noqa: PTH110 - for which a question too long for a path is none


def _read_entries(word: str, name: str, with_excluded: bool) -> list[ListEntry]:
    try:
        if word != "-":
            with Path(word).open("rb") as file:
                return _parse_list(_read_bounded(file), name, with_excluded)
        if sys.stdin is None or sys.stdin.isatty():
            msg = "No papers were given."
            raise BadRequest(msg, "Give a query, identifiers, or a file of them; or pipe them in.")
        return _parse_list(_read_bounded(sys.stdin.buffer), "", with_excluded)
    except BadRequest as error:
        message = error.message if name in error.message else f"{name}: {error.message}"
        raise BadRequest(message, error.hint, **error.details) from None
    except OSError as error:
        raise build_unreadable_error(Path(word), error) from None


def _parse_list(data: bytes, name: str, with_excluded: bool) -> list[ListEntry]:
    """Return the papers of a list; papers that screeners excluded only on request."""
    from ..lists.decisions import has_screening_decisions, read_included_papers
    from ..lists.references import read_file_entries

    if not has_screening_decisions(data):
        return list(read_file_entries(data, name))
    kept, left_out = read_included_papers(data, name, excluded_too=with_excluded)
    if left_out:
        whose = name or "The list"
        print_note(f"{whose}: {pluralize(left_out, 'paper')} left out, excluded by all screeners.")
    return kept


def _read_bounded(file: IO[bytes]) -> bytes:
    from ..lists.references import MAX_LIST_BYTES

    return file.read(MAX_LIST_BYTES + 1)  # one more than is taken: a device has no end


def format_bytes(number: float) -> str:
    """Return a number of bytes in words.

    >>> format_bytes(0), format_bytes(1200), format_bytes(9.14e9), format_bytes(120e9)
    ('0 kB', '1 kB', '9.1 GB', '120 GB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if number >= size:
            return f"{number / size:,.{1 if number < 20 * size else 0}f} {unit}"
    return f"{number / 1e3:,.0f} kB"


def format_duration(seconds: float) -> str:
    """Return a duration in words.

    >>> format_duration(42), format_duration(600), format_duration(9000), format_duration(3 * 86400)
    ('42 s', '10 min', '2.5 h', '3.0 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.1f} days"
