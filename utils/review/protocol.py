"""Read ``protocol.yaml``: the review's question, its searches, and numbers known to its authors.

The file is written once with every field explained, and never overwritten. Its fields follow
PRISMA-P and PRISMA-S (Rethlefsen et al., Syst Rev 2021, https://doi.org/10.1186/s13643-020-01542-z).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from ..command_line import command_line
from ..errors import BadRequest
from ..lists.decisions import STAGES
from ..lists.references import read_file_entries
from ..shelf.paper_file import to_safe_name
from ..sources import Query
from ..system.plain_text import one_line
from ..system.safe_files import write_file

PROTOCOL_FILE = "protocol.yaml"
Kind = Literal["database", "register", "website", "organisation", "citation searching"]
KINDS: tuple[Kind, ...] = ("database", "register", "website", "organisation", "citation searching")
OTHER_METHODS: frozenset[Kind] = frozenset({"website", "organisation", "citation searching"})
_FIELDS = {
    *("title", "question", "criteria", "databases", "lists", "stages", "screeners", "resolver"),
    *("automation", "prisma", "prisma_s"),
}
_CRITERIA = ("include", "exclude")
_MAX_BYTES = 5_000_000  # bytes of a protocol
PROTOCOL_TEMPLATE = """\
# The protocol of a systematic review. Fill in what you know; a line that begins with "#" is a
# remark. `review update` searches as it says here, and everything that happens is kept in
# review.db beside it, with time and version.

title: {title}
question: ""

criteria:
  include: []
  exclude: []

# Searched by `review update`: pubmed, europepmc, arxiv, semantic_scholar, openalex, and the
# register ClinicalTrials.gov (clinicaltrials). Dates are YYYY[-MM[-DD]]; either may be left out.
databases: []
#  - source: pubmed
#    query: moss[ti] AND light[ti]
#    min_date: 2000
#    max_date: 2026/11/01

# Exports of what is not searched here (RIS, NBIB, CSV, BibTeX, EndNote XML, the XML export of WHO's
# ICTRP), beside this file. The kind is database, register, website, organisation or citation
# searching; query, limits and day are for the appendix (PRISMA-S), as they were run.
lists: []
#  - file: embase.ris
#    name: Embase (Ovid)
#    kind: database
#    query: moss.ti. and light.ti.
#    limits: English
#    searched: 2026-11-01

stages: [title_abstract, full_text]
screeners: 2            # so many have to decide each record
resolver: ""            # whose word counts where they disagree; "consensus" always does
automation: []          # screeners of these names are programs: PRISMA counts them apart

# Numbers of the PRISMA figure that only you know, such as new_studies (studies, not reports). They
# go before what was counted. All names: duplicates, excluded_automatic, excluded_other,
# records_screened, records_excluded, dbr_sought_reports, dbr_notretrieved_reports, dbr_assessed,
# dbr_excluded, website_results, organisation_results, citations_results, other_sought_reports,
# other_notretrieved_reports, other_assessed, other_excluded, previous_studies, previous_reports,
# new_studies, new_reports.
prisma: {{}}

# For the appendix (PRISMA-S): what no program knows.
prisma_s:
  registries: ""        # study registries searched otherwise
  browsing: ""          # websites and tables of contents
  contacts: ""          # authors, experts, manufacturers
  other_methods: ""
  filters: ""           # published search filters
  prior_work: ""        # strategies adapted from earlier reviews
  peer_review: ""       # of the strategies, such as PRESS
"""


@dataclass(frozen=True, slots=True)
class SearchedDatabase:
    """A database that `review update` searches."""

    source: str
    query: Query


@dataclass(frozen=True, slots=True)
class ImportedList:
    """A list exported from a source that is not searched here, with details for the appendix."""

    path: Path
    name: str
    kind: Kind = "database"
    query: str = ""
    limits: str = ""
    searched: str = ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The protocol of a review; `PROTOCOL_TEMPLATE` explains the fields."""

    title: str
    question: str = ""
    databases: tuple[SearchedDatabase, ...] = ()
    lists: tuple[ImportedList, ...] = ()
    screeners: int = 2
    resolver: str = ""
    automation: tuple[str, ...] = ()
    prisma: object = None
    prisma_s: Mapping[str, str] | None = None
    include_if: tuple[str, ...] = ()
    exclude_if: tuple[str, ...] = ()


def read_protocol(folder: Path) -> Protocol:
    """Read the protocol in a review's folder.

    Raises
    ------
    BadRequest
        The file is missing, is not valid YAML, or has an invalid field, which the message names.
    """
    path = folder / PROTOCOL_FILE
    try:
        text = path.read_bytes()[:_MAX_BYTES].decode("utf-8-sig", "replace")
    except OSError as error:
        msg = f"The protocol {path} cannot be read: {error.strerror}."
        raise BadRequest(msg, f"Make one: {command_line('review new NAME')}") from error
    return _parse_text(text, folder)


def write_protocol_fields(folder: Path, fields: Mapping[str, Any]) -> Protocol:
    """Set fields of the protocol in a folder; all other lines stay as they are.

    Raises
    ------
    BadRequest
        The protocol would not be valid; it is left unchanged.
    """
    path = folder / PROTOCOL_FILE
    text = path.read_text("utf-8-sig")
    for name, value in fields.items():
        dumped = yaml.safe_dump({name: value}, allow_unicode=True, sort_keys=False, width=1000)
        field = re.compile(rf"^{re.escape(name)}:.*\n(?:[ \t-].*\n)*", re.M)
        found = field.search(text)
        start, end = found.span() if found else (len(text), len(text))
        text = f"{text[:start]}{dumped}{text[end:]}"
    protocol = _parse_text(text, folder)
    write_file(path, text.encode())
    return protocol


def add_list(folder: Path, data: bytes, name: str, kind: str, title: str = "") -> Protocol:
    """Write an exported list into a review's folder, and name it in the protocol.

    Parameters
    ----------
    name : str
        The name of the file; a list of this name that is there already is kept.
    kind : str
        One of `KINDS`.
    title : str, optional
        The name of the source in the figure and the appendix, such as ``Embase (Ovid)``.

    Raises
    ------
    BadRequest
        The list cannot be read or has no papers; nothing has changed.
    """
    if not list(read_file_entries(data, name)):
        raise BadRequest(f"{one_line(name)[:100]} names no papers.", "Export the list as RIS.")
    stem, _, ending = re.split(r"[/\\]", one_line(name))[-1].rpartition(".")
    form = re.sub(r"[^a-z0-9]", "", ending.lower())[:8] if stem else ""
    plain = to_safe_name((stem or ending)[:60] or "list")
    names = (f"{plain}{mark}.{form or 'txt'}" for mark in ("", *(f"-{n}" for n in range(2, 1000))))
    path = next(folder / one for one in names if not (folder / one).exists())
    before = yaml.safe_load((folder / PROTOCOL_FILE).read_text("utf-8-sig"))
    lists = _get_list_field(before, "lists") if isinstance(before, dict) else []
    used = {str(one.get("name")) for one in lists if isinstance(one, dict)}
    title = one_line(title) or path.name
    titles = (title, *(f"{title} ({number})" for number in range(2, 1000)))
    # An update reads each list by its name.
    new = {"file": path.name, "name": next(one for one in titles if one not in used), "kind": kind}
    write_file(path, data)
    try:
        return write_protocol_fields(folder, {"lists": [*lists, new]})
    except BadRequest:
        path.unlink()
        raise


def _parse_text(text: str, folder: Path) -> Protocol:
    try:
        told = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" at line {place.line + 1}" if place else ""
        msg = f"{PROTOCOL_FILE} is not valid YAML{where}."
        raise BadRequest(msg, "Check quotes, colons and spaces there.") from error
    if not isinstance(told, dict):
        raise BadRequest(
            f"{PROTOCOL_FILE} names no fields.",
            f"Make one to fill in: {command_line('review new NAME')}",
        )
    return _parse_protocol(told, folder)


def _parse_protocol(told: Mapping[Any, Any], folder: Path) -> Protocol:
    if strange := [str(name) for name in told if name not in _FIELDS]:
        raise _build_protocol_error(
            f"there is no field {strange[0]!r}", f"Choose among {', '.join(_FIELDS)}."
        )
    if strange := [str(one) for one in _get_list_field(told, "stages") if one not in STAGES]:
        raise _build_protocol_error(
            f"there is no stage {strange[0]!r}", f"Choose among {', '.join(STAGES)}."
        )
    screeners = told.get("screeners", 2)
    if not isinstance(screeners, int) or not 1 <= screeners <= 20:
        raise _build_protocol_error(
            f"screeners: {screeners!r} is not a number of people", "Give 1 or 2."
        )
    criteria = told.get("criteria") or {}
    if not isinstance(criteria, dict):
        raise _build_protocol_error(
            "criteria names no lists", "Give the lists include and exclude."
        )
    answers = told.get("prisma_s") or {}
    if not isinstance(answers, dict):
        raise _build_protocol_error("prisma_s names no fields", "Leave it out, or name them.")
    return Protocol(
        _get_text_field(told, "title"),
        _get_text_field(told, "question"),
        tuple(_parse_database(one) for one in _get_list_field(told, "databases")),
        tuple(_parse_list_file(one, folder) for one in _get_list_field(told, "lists")),
        screeners,
        _get_text_field(told, "resolver"),
        tuple(map(str, _get_list_field(told, "automation"))),
        told.get("prisma"),
        {str(name): one_line(str(text)) for name, text in answers.items() if text},
        *(
            tuple(one_line(str(one)) for one in _get_list_field(criteria, name))
            for name in _CRITERIA
        ),
    )


def _parse_database(one: Any) -> SearchedDatabase:
    if (
        not isinstance(one, dict)
        or not _get_text_field(one, "source")
        or not _get_text_field(one, "query")
    ):
        raise _build_protocol_error(
            "a database needs a source and a query", "See the remarks of a new protocol."
        )
    least, most = _get_text_field(one, "min_date"), _get_text_field(one, "max_date")
    kind = _get_text_field(one, "date_type") or "pdat"
    query = Query(_get_text_field(one, "query"), min_date=least, max_date=most, date_type=kind)
    return SearchedDatabase(_get_text_field(one, "source").lower(), query)


def _parse_list_file(one: Any, folder: Path) -> ImportedList:
    if not isinstance(one, dict) or not _get_text_field(one, "file"):
        raise _build_protocol_error("a list needs a file", "See the remarks of a new protocol.")
    kind = _get_text_field(one, "kind") or "database"
    known = next((name for name in KINDS if name == kind.lower()), None)
    if known is None:
        raise _build_protocol_error(
            f"a list cannot be of the kind {kind!r}", f"Choose among {', '.join(KINDS)}."
        )
    path = folder / _get_text_field(one, "file")
    told = {name: _get_text_field(one, name) for name in ("query", "limits", "searched")}
    return ImportedList(path, _get_text_field(one, "name") or path.name, known, **told)


def _build_protocol_error(what: str, hint: str) -> BadRequest:
    return BadRequest(f"{PROTOCOL_FILE}: {what}.", hint)


def _get_list_field(told: Mapping[Any, Any], name: str) -> list[Any]:
    value = told.get(name) or []
    if not isinstance(value, list):
        raise _build_protocol_error(f"{name} is not a list", 'Begin each entry with "- ".')
    return value


def _get_text_field(told: Mapping[Any, Any], name: str) -> str:
    value = told.get(name)
    return "" if value is None else one_line(str(value))
