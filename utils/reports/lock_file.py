"""Write and read ``papers.lock.json``: the papers of a corpus, for rebuilding and comparing it.

A lock is one JSON object with one line per paper, so that ``diff`` can compare two locks. It holds
identifiers and checksums and no text. A lock may come from another person, so every field is
validated on reading.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..command_line import command_line
from ..errors import BadRequest
from ..model.identifiers import Ids
from ..model.job import Harvested, Job
from ..model.paper import utc_now
from ..model.permissions import PERMISSION_COLUMNS, get_permissions
from ..model.versions import VERSION_NAMES
from ..system.plain_text import one_line, to_escaped_json
from ..system.process import get_version
from ..system.safe_files import disk_errors, replace_text_file

T = TypeVar("T")

LOCK_FILE = "papers.lock.json"
FORMAT = "papershelf-lock"
VERSION = 1
MAX_LOCK_BYTES = 100_000_000
MAX_LOCK_PAPERS = 500_000
# The forms of identifiers in `Ids`. An identifier in another form is neither written nor read.
_ID_FORMS = {
    "pmid": re.compile(r"[1-9][0-9]{0,7}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]{0,9}"),
    "doi": re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S{1,900}"),
    "arxiv": re.compile(r"[0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]{1,20}/[0-9]{7}"),
}
_KINDS = ("full_text", "abstract", "record", "")
_HEAD_MAX_CHARS = {"query": 20_000, "effective_query": 200_000, "made_at": 40}
_ANSWER = re.compile("yes|no|unknown")
_VIA = re.compile(r"[a-z0-9_]{0,40}")
_MADE_BY = re.compile(r"[\w. +-]{0,80}", re.A)
_REASON_MAX_CHARS = 500
_HINT = f"Get the file again, or make one with {command_line('harvest report')}."


@dataclass(frozen=True, slots=True)
class LockedPaper:
    """A paper in a lock file; the fields about its text are empty if the paper has no text.

    ``via`` is the route that supplied the text and ``version`` the version of the paper; both are
    empty in older locks. ``by_hand`` is the reason why a person accepted the text against the
    judges' verdict; usually empty. ``permissions`` says of a full text whether it may be shared,
    mined, and used for training (`..model.permissions`); empty in older locks.
    """

    ids: Ids
    kind: str = ""
    sha256: str = ""
    retracted: bool = False
    via: str = ""
    version: str = ""
    by_hand: str = ""
    permissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusLock:
    """The papers of a corpus, as found at ``made_at``; no queries if they came from lists.

    ``made_by`` is the program with its version; empty in older locks.
    """

    query: str
    effective_query: str
    made_at: str
    papers: tuple[LockedPaper, ...]
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class PaperDifference:
    """A changed paper; ``before`` or ``after`` is missing for a paper on one side only."""

    before: LockedPaper | None
    after: LockedPaper | None

    @property
    def ids(self) -> Ids:
        """The paper's identifiers from both sides."""
        before, after = (side.ids if side else Ids() for side in (self.before, self.after))
        return before | after


@dataclass(frozen=True, slots=True)
class CorpusDifferences:
    """The differences between two states of a corpus; a paper may be in several lists.

    Parameters
    ----------
    changed : tuple of Difference
        Papers with a different text of the same kind.
    gained, lost : tuple of Difference
        Papers with more text than before (an abstract, then the full text), or with less.
    retracted : tuple of Difference
        Papers that were retracted since.
    gone, new : tuple of Difference
        Papers on one side only.
    pending : int
        Papers not yet tried, whose difference is unknown.
    unseen : int
        Papers with less text because a site did not respond; their difference is unknown too.
    same : int
        Unchanged papers.
    """

    changed: tuple[PaperDifference, ...] = ()
    gained: tuple[PaperDifference, ...] = ()
    lost: tuple[PaperDifference, ...] = ()
    retracted: tuple[PaperDifference, ...] = ()
    gone: tuple[PaperDifference, ...] = ()
    new: tuple[PaperDifference, ...] = ()
    pending: int = 0
    unseen: int = 0
    same: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _CHANGE_WORDS)

    @property
    def sentences(self) -> list[str]:
        """The differences in sentences, the most serious first; one sentence without differences.

        >>> added = PaperDifference(None, LockedPaper(Ids(pmid="7")))
        >>> CorpusDifferences(new=(added,), same=3).sentences
        ['1 paper is new: PMID 7.', '3 papers are unchanged.']
        """
        lines = []
        for name, words in _CHANGE_WORDS.items():
            if found := getattr(self, name):
                some = ", ".join(str(difference.ids) for difference in found[:_MAX_NAMED])
                more = f" and {len(found) - _MAX_NAMED:,} more" if len(found) > _MAX_NAMED else ""
                lines.append(f"{_format_paper_count(len(found))} {words}: {some}{more}.")
        if self.pending:
            lines.append(f"{_format_paper_count(self.pending)} not tried yet.")
        if self.unseen:
            papers = "1 paper" if self.unseen == 1 else f"{self.unseen:,} papers"
            again = f"run it again with --retry {','.join(INCONCLUSIVE_REASONS)}"
            lines.append(f"{papers} could not be checked now: {again}.")
        return [*lines, f"{_format_paper_count(self.same)} unchanged."] if self.same else lines


INCONCLUSIVE_REASONS = (
    "unreachable",
    "could_not_tell",
)  # reasons that do not concern the paper itself
_MAX_NAMED = 5  # papers named in a sentence
_CHANGE_WORDS = {
    "retracted": "retracted since",
    "lost": "with less of a text than before",
    "changed": "with another text than before",
    "gone": "no longer there",
    "gained": "with more of a text than before",
    "new": "new",
}


def _format_paper_count(n: int) -> str:
    return "1 paper is" if n == 1 else f"{n:,} papers are"


@contextlib.contextmanager
def open_lock_writer(folder: Path, job: Job) -> Iterator[Callable[[Harvested], None]]:
    """Yield a function that adds a paper to the lock file, in the order of arrival."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "query": job.query,
        "effective_query": job.effective_query,
        "made_at": job.ended_at or utc_now(),
        "made_by": f"Papershelf {get_version()}",
    }
    with replace_text_file(folder / LOCK_FILE) as file:
        file.write(to_escaped_json(head)[:-1] + ', "papers": [')
        between, nameless = "\n", 0

        def add_row(row: Harvested) -> None:
            nonlocal between, nameless
            names = _select_valid_ids(row.paper.ids)
            if not names:
                nameless += 1  # the paper could not be requested again
                return
            paper = to_locked_paper(row)
            rest: dict[str, str | bool] = {
                "kind": paper.kind,
                "sha256": paper.sha256,
                "retracted": paper.retracted,
            }
            rest |= {"via": paper.via, "version": paper.version}
            if paper.by_hand:
                rest["by_hand"] = paper.by_hand
            rest |= zip(PERMISSION_COLUMNS, paper.permissions, strict=False)
            file.write(between + to_escaped_json({**names, **rest}))
            between = ",\n"

        yield add_row
        file.write(f'\n], "without_identifier": {nameless}}}\n')


def to_locked_paper(row: Harvested) -> LockedPaper:
    """Convert a paper of a harvest to its form in a lock."""
    kind = row.state if row.state in _KINDS else ""
    of_text = (row.via, row.version) if kind else ("", "")
    sha256 = row.sha256 if kind else ""
    by_hand = row.detail if kind == "full_text" and row.reason == "by_hand" else ""
    permissions = get_permissions(row.license, row.via, row.paper.ids.doi).to_row()
    return LockedPaper(
        *(row.paper.ids, kind, sha256, row.paper.retracted, *of_text, _clean_reason(by_hand)),
        permissions=tuple(permissions.values()) if kind == "full_text" else (),
    )


def _select_valid_ids(ids: Ids) -> dict[str, str]:
    """Return the well-formed identifiers, with which other people can request the paper."""
    return {name: value for name in _ID_FORMS if _is_valid_id(name, value := getattr(ids, name))}


def _is_valid_id(name: str, value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(_ID_FORMS[name].fullmatch(value))


def read_lock(path: Path) -> CorpusLock:
    """Read and validate a lock.

    Raises
    ------
    BadRequest
        The file is not a lock, has a later version, is too large, or has a malformed paper; the
        message says which.
    StoreFailed
        The file could not be read.
    """
    with disk_errors(path, "read"), path.open("rb") as file:
        data = file.read(MAX_LOCK_BYTES + 1)
    if len(data) > MAX_LOCK_BYTES:
        raise _build_lock_error(path, f"is larger than {MAX_LOCK_BYTES // 1_000_000} MB")
    try:
        made = json.loads(data)
    except (ValueError, RecursionError):
        raise _build_lock_error(path, "is not JSON") from None
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise _build_lock_error(path, f"is not marked as a {FORMAT} file")
    if made.get("version") != VERSION or isinstance(made["version"], bool):
        raise _build_lock_error(
            path, f"is of version {made.get('version')!r:.20}; this program reads {VERSION}"
        )
    for name, most in _HEAD_MAX_CHARS.items():
        if not isinstance(made.get(name), str) or len(made[name]) > most:
            raise _build_lock_error(path, f'has no usable "{name}"')
    rows = made.get("papers")
    if not isinstance(rows, list) or len(rows) > MAX_LOCK_PAPERS:
        raise _build_lock_error(path, f'has no list "papers" of at most {MAX_LOCK_PAPERS:,}')
    papers = tuple(_parse_locked_paper(path, number, row) for number, row in enumerate(rows, 1))
    # An invalid `made_by` is dropped: it only helps to explain a difference.
    made_by = _match_or_empty(made.get("made_by"), _MADE_BY)
    return CorpusLock(made["query"], made["effective_query"], made["made_at"], papers, made_by)


def _parse_locked_paper(path: Path, number: int, row: Any) -> LockedPaper:
    where = f"is malformed at paper {number:,}"
    if not isinstance(row, dict):
        raise _build_lock_error(path, f"{where}: it is not an object")
    names = {name: row[name] for name in _ID_FORMS if row.get(name)}
    if not names:
        raise _build_lock_error(path, f"{where}: it has no identifier")
    for name, value in names.items():
        if not _is_valid_id(name, value):
            raise _build_lock_error(path, f"{where}: {value!r:.80} is not a valid {name}")
    ids = Ids(**names)
    kind, sha256, retracted = row.get("kind"), row.get("sha256"), row.get("retracted")
    if kind not in _KINDS:
        raise _build_lock_error(
            path, f'{where}: its kind is not "full_text", "abstract", "record" or empty'
        )
    if not isinstance(sha256, str) or not re.fullmatch("([0-9a-f]{64})?", sha256):
        raise _build_lock_error(path, f"{where}: its sha256 is not 64 hexadecimal digits")
    if not isinstance(retracted, bool):
        raise _build_lock_error(path, f'{where}: "retracted" is neither true nor false')
    via, version = _match_or_empty(row.get("via"), _VIA), row.get("version")
    known_version = version if version in VERSION_NAMES else ""
    permissions = [_match_or_empty(row.get(name), _ANSWER) for name in PERMISSION_COLUMNS]
    return LockedPaper(
        *(ids, kind, sha256, retracted, via, known_version, _clean_reason(row.get("by_hand"))),
        permissions=tuple(permissions) if all(permissions) else (),
    )


def _clean_reason(text: object) -> str:
    """Return the reason for accepting a text by hand as one line of limited length."""
    return one_line(text)[:_REASON_MAX_CHARS] if isinstance(text, str) else ""


def _match_or_empty(value: object, form: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and form.fullmatch(value) else ""


def _build_lock_error(path: Path, what: str) -> BadRequest:
    return BadRequest(f"{one_line(path.name)} {what}.", _HINT)


class IdsIndex(Generic[T]):
    """An index of values by any identifier of a paper; papers with different PMIDs may share a DOI.

    ``version`` distinguishes several texts of one paper.

    >>> things = IdsIndex([(Ids(pmid="1", doi="10.1000/a"), "one"), (Ids(pmid="2"), "two")])
    >>> things.find_value(Ids(doi="10.1000/a"))
    'one'
    """

    def __init__(
        self, things: Iterable[tuple[Ids, T]], version: Callable[[T], str] = lambda _: ""
    ) -> None:
        self._version = version
        self._by_name: dict[str, list[tuple[Ids, T]]] = {}
        for ids, thing in things:
            for name in ids.names():
                self._by_name.setdefault(name, []).append((ids, thing))

    def find_value(self, ids: Ids, version: str = "") -> T | None:
        """Return a paper's value, preferring values whose identifiers do not contradict *ids*.

        Among several texts, the text in this *version* is preferred.
        """

        def mismatch(found: tuple[Ids, T]) -> tuple[bool, bool]:
            return bool(found[0].clash(ids)), self._version(found[1]) != version

        sharing = (found for name in ids.names() for found in self._by_name.get(name, ()))
        best = min(sharing, key=mismatch, default=None)
        return best[1] if best else None


def compare_lock(lock: CorpusLock, rows: Iterable[Harvested]) -> CorpusDifferences:
    """Compare a lock with a harvest's papers; papers with a common identifier are the same."""
    papers = lock.papers
    places = IdsIndex(
        ((was.ids, place) for place, was in enumerate(papers)), lambda at: papers[at].version
    )
    found: dict[str, list[PaperDifference]] = {name: [] for name in _CHANGE_WORDS}
    seen: set[int] = set()
    pending = unseen = same = 0
    for row in rows:
        place = places.find_value(row.paper.ids, row.version)
        if place is not None:
            seen.add(place)
        if row.state == "pending":
            pending += 1
            continue
        after = to_locked_paper(row)
        if place is None:
            found["new"].append(PaperDifference(None, after))
            continue
        before = lock.papers[place]
        names = _list_changed_fields(before, after)
        same += not names
        if "lost" in names and row.reason in INCONCLUSIVE_REASONS:
            names.remove("lost")
            unseen += 1
        for name in names:
            found[name].append(PaperDifference(before, after))
    for place, was in enumerate(lock.papers):
        if place not in seen:
            found["gone"].append(PaperDifference(was, None))
    lists = {name: tuple(listed) for name, listed in found.items()}
    return CorpusDifferences(**lists, pending=pending, unseen=unseen, same=same)


def _list_changed_fields(before: LockedPaper, after: LockedPaper) -> list[str]:
    names = []
    worth = ("", "record", "abstract", "full_text").index
    if (before.kind, after.kind) == ("abstract", "record"):
        pass  # older locks say "abstract" for papers that have only a record
    elif worth(after.kind) != worth(before.kind):
        names.append("gained" if worth(after.kind) > worth(before.kind) else "lost")
    elif before.sha256 and after.sha256 and before.sha256 != after.sha256:
        names.append("changed")
    if after.retracted and not before.retracted:
        names.append("retracted")
    return names
