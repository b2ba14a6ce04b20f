"""Options that several commands have, under one name each, and the values that they take."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest
from ..system.named_files import require_writable_path

if TYPE_CHECKING:
    from .commands import CommandParser

_DATE_PATTERN = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")


def add_limit_option(
    parser: CommandParser, things: str, default: int, former_names: Sequence[str]
) -> None:
    """Add ``--limit``: at most so many *things*; a *default* of 0 means all."""
    shown = f"{default:,}" if default else "all"
    parser.add_argument(
        *("-n", "--limit"), type=parse_whole_number, default=default, metavar="N",
        former=former_names,
        help=f"at most N {things} ({shown})",
    )  # fmt: skip


def add_output_option(
    parser: CommandParser,
    about: str,
    *,
    kind: Callable[[str], Any] = str,
    former_names: Sequence[str] = (),
) -> None:
    """Add ``--output``: the file to write."""
    parser.add_argument(
        "--output", type=kind, default=None, metavar="FILE", former=former_names, help=about
    )


def add_date_options(parser: CommandParser, *, with_days: bool = False) -> None:
    """Add ``--since`` and ``--until``: years, or if *with_days*, days and the kind of date."""
    about = "published on or {} this date: 2020, 2020-05 or 2020-05-31"
    about = about if with_days else "published in or {} this year"
    metavar = "DATE" if with_days else "YEAR"
    for name, word, former in (
        ("--since", "after", ["--min-date", "--year-from"]),
        ("--until", "before", ["--max-date", "--year-to"]),
    ):
        parser.add_argument(
            name,
            type=parse_date,
            default="",
            metavar=metavar,
            former=former,
            help=about.format(word),
        )
    if with_days:
        parser.add_argument(
            "--date-type", choices=("pdat", "edat", "mdat"), default="pdat",
            help=(
                "the date that counts: of publication, of entry into PubMed or of the last "
                "change (pdat)"
            ),
        )  # fmt: skip


def add_types_option(parser: CommandParser) -> None:
    """Add ``--type``: publication types."""
    parser.add_argument(
        "--type", dest="publication_types", action="append", default=[], metavar="TYPE",
        help='only this publication type ("Review"); can be repeated',
    )  # fmt: skip


def add_pmc_last_option(parser: CommandParser) -> None:
    """Add ``--no-pmc-first``."""
    parser.add_argument(
        "--no-pmc-first", dest="prefer_pmc", action="store_false",
        help="try publishers before PMC",
    )  # fmt: skip


def add_pdf_option(parser: CommandParser) -> None:
    """Add ``--pdf``."""
    parser.add_argument(
        "--pdf", action="store_true",
        help="put the PDF next to each full text, also where the text came in another format",
    )  # fmt: skip


def add_keys_option(parser: CommandParser) -> None:
    """Add ``--keys``: the pattern of citation keys."""
    parser.add_argument(
        "--keys", default="", metavar="PATTERN",
        help="citation keys: authYearTitle, auth_year, or as in Better BibTeX: [auth:lower][year]",
    )  # fmt: skip


def add_megabytes_option(parser: CommandParser) -> None:
    """Add ``--max-mb``: the limit for one paper's files."""
    parser.add_argument(
        "--max-mb", type=parse_whole_number, default=500, metavar="N", former=["--most-mb"],
        help="at most N MB of one paper's files (500)",
    )  # fmt: skip


def parse_whole_number(text: str) -> int:
    """Parse a whole number from 0 on.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is something else.
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def parse_days(text: str) -> float:
    """Parse a number of days.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a number.
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days") from None


def parse_date(text: str) -> str:
    """Parse a year, month or day, and return the ISO form.

    >>> parse_date("2020"), parse_date("2020/5/31")
    ('2020', '2020-05-31')

    Raises
    ------
    argparse.ArgumentTypeError
        There is no such date.
    """
    if not text:
        return ""
    if found := _DATE_PATTERN.fullmatch(text):
        year, month, day = (int(one) if one else 0 for one in found.groups())
        try:
            date(year, month or 1, day or 1)
        except ValueError:
            pass
        else:
            return "-".join(f"{one:02}" for one in (found[1], month, day) if one)
    msg = f"{text!r} is not a date: write 2020, 2020-05 or 2020-05-31"
    raise argparse.ArgumentTypeError(msg)


def get_year(text: str) -> int:
    """Return the year of an ISO date; 0 for an empty one."""
    return int(text[:4] or 0)


def require_output(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse a file to be written before the work for it begins.

    Raises
    ------
    BadRequest
        Its name has none of these *suffixes*, or it cannot be written there.
    """
    if path.suffix.lower() not in suffixes:
        msg = f"The name of {path} does not end in {' or '.join(suffixes)}."
        raise BadRequest(msg, f"Name it {path.with_suffix(suffixes[0])}.")
    require_writable_path(path)
