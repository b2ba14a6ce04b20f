"""``papers.lock.json``: what a corpus was made of, so that a colleague can build the same again.

One JSON object, one line a paper, so that two locks can be compared with ``diff`` as well. It
holds identifiers and checksums and no text; it is read as what it is, a file from somebody else.
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
from ..model.versions import VERSION_NAMES
from ..system.plain_text import one_line, to_plain_json
from ..system.process import get_version
from ..system.safe_files import disk_errors, replace_text_file

T = TypeVar("T")

NAME = "papers.lock.json"
FORMAT = "papershelf-lock"
VERSION = 1
MOST_BYTES = 100_000_000
MOST_PAPERS = 500_000
# As `Ids` holds them. A name in another form is neither written nor read.
_NAMES = {
    "pmid": re.compile(r"[1-9][0-9]{0,7}"),
    "pmcid": re.compile(r"PMC[1-9][0-9]{0,9}"),
    "doi": re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S{1,900}"),
    "arxiv": re.compile(r"[0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]{1,20}/[0-9]{7}"),
}
_KINDS = ("full_text", "abstract", "record", "")
_HEAD = {"query": 20_000, "effective_query": 200_000, "made_at": 40}
_VIA = re.compile(r"[a-z0-9_]{0,40}")
_MADE_BY = re.compile(r"[\w. +-]{0,80}", re.A)
_LONGEST_REASON = 500
_HINT = f"Ask for the file again, or make one with {command_line('harvest report')}."


@dataclass(frozen=True, slots=True)
class Locked:
    """A paper of a lock; the fields about its text are empty if it had none.

    ``via`` is the route it came by, ``version`` which version of the paper it is; older locks do
    not say. ``by_hand`` is the reason for which somebody accepted the text, overruling the judges;
    mostly empty.
    """

    ids: Ids
    kind: str = ""
    sha256: str = ""
    retracted: bool = False
    via: str = ""
    version: str = ""
    by_hand: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    """A corpus as it was at ``made_at``; the queries are empty for lists of identifiers.

    ``made_by`` is the program with its version; older locks do not say.
    """

    query: str
    effective_query: str
    made_at: str
    papers: tuple[Locked, ...]
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A paper that is not as it was; ``before`` and ``after`` are None where it is absent."""

    before: Locked | None
    after: Locked | None

    @property
    def ids(self) -> Ids:
        """The names it goes by, on either side."""
        before, after = (side.ids if side else Ids() for side in (self.before, self.after))
        return before | after


@dataclass(frozen=True, slots=True)
class Differences:
    """What two times of a corpus differ in. A paper may be in more than one list.

    Parameters
    ----------
    changed : tuple of Difference
        Its text is another one, of the same kind.
    gained, lost : tuple of Difference
        It has more of a text than before (an abstract, then the paper), or less.
    retracted : tuple of Difference
        It was retracted since.
    gone, new : tuple of Difference
        It is on one side only.
    pending : int
        Papers not yet tried, about which nothing can be said.
    unseen : int
        Papers with less of a text because a site did not answer: nothing can be said either.
    same : int
        Papers exactly as they were.
    """

    changed: tuple[Difference, ...] = ()
    gained: tuple[Difference, ...] = ()
    lost: tuple[Difference, ...] = ()
    retracted: tuple[Difference, ...] = ()
    gone: tuple[Difference, ...] = ()
    new: tuple[Difference, ...] = ()
    pending: int = 0
    unseen: int = 0
    same: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _CHANGES)

    @property
    def sentences(self) -> list[str]:
        """The same for people, the gravest first; one sentence when nothing differs.

        >>> Differences(new=(Difference(None, Locked(Ids(pmid="7"))),), same=3).sentences
        ['1 paper is new: PMID 7.', '3 papers are unchanged.']
        """
        lines = []
        for name, words in _CHANGES.items():
            if found := getattr(self, name):
                some = ", ".join(str(difference.ids) for difference in found[:_NAMED])
                more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
                lines.append(f"{_papers(len(found))} {words}: {some}{more}.")
        if self.pending:
            lines.append(f"{_papers(self.pending)} not tried yet.")
        if self.unseen:
            papers = "1 paper" if self.unseen == 1 else f"{self.unseen:,} papers"
            again = f"run it again with --retry {','.join(SILENT)}"
            lines.append(f"{papers} could not be looked at now: {again}.")
        return [*lines, f"{_papers(self.same)} unchanged."] if self.same else lines


SILENT = ("unreachable", "could_not_tell")  # reasons that say nothing about the paper
_NAMED = 5  # papers a sentence names
_CHANGES = {
    "retracted": "retracted since",
    "lost": "with less of a text than before",
    "changed": "with another text than before",
    "gone": "no longer there",
    "gained": "with more of a text than before",
    "new": "new",
}


def _papers(n: int) -> str:
    return "1 paper is" if n == 1 else f"{n:,} papers are"


@contextlib.contextmanager
def lock_file(folder: Path, job: Job) -> Iterator[Callable[[Harvested], None]]:
    """Write the lock, paper by paper, in the order they come."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "query": job.query,
        "effective_query": job.effective_query,
        "made_at": job.ended_at or utc_now(),
        "made_by": f"Papershelf {get_version()}",
    }
    with replace_text_file(folder / NAME) as file:
        file.write(to_plain_json(head)[:-1] + ', "papers": [')
        between, nameless = "\n", 0

        def add(row: Harvested) -> None:
            nonlocal between, nameless
            names = _names(row.paper.ids)
            if not names:
                nameless += 1  # nobody could ask for it again
                return
            paper = locked(row)
            rest: dict[str, str | bool] = {
                "kind": paper.kind,
                "sha256": paper.sha256,
                "retracted": paper.retracted,
            }
            rest |= {"via": paper.via, "version": paper.version}
            if paper.by_hand:
                rest["by_hand"] = paper.by_hand
            file.write(between + to_plain_json({**names, **rest}))
            between = ",\n"

        yield add
        file.write(f'\n], "without_identifier": {nameless}}}\n')


def locked(row: Harvested) -> Locked:
    """A paper of a harvest as its lock has it."""
    kind = row.state if row.state in _KINDS else ""
    of_text = (row.via, row.version) if kind else ("", "")
    sha256 = row.sha256 if kind else ""
    by_hand = row.detail if kind == "full_text" and row.reason == "by_hand" else ""
    return Locked(
        row.paper.ids, kind, sha256, row.paper.retracted, *of_text, _clean_reason(by_hand)
    )


def _names(ids: Ids) -> dict[str, str]:
    """The well-formed identifiers: those by which somebody else can ask for the paper."""
    return {name: value for name in _NAMES if _is_name(name, value := getattr(ids, name))}


def _is_name(name: str, value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(_NAMES[name].fullmatch(value))


def read_lock(path: Path) -> Lock:
    """Read a lock somebody handed over.

    Raises
    ------
    BadRequest
        It is no lock, of a later version, too large, or one of its papers is malformed; the
        message says which.
    StoreFailed
        The file could not be read.
    """
    with disk_errors(path, "read"), path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _bad_lock(path, f"is larger than {MOST_BYTES // 1_000_000} MB")
    try:
        made = json.loads(data)
    except (ValueError, RecursionError):
        raise _bad_lock(path, "is not JSON") from None
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise _bad_lock(path, f"does not say that it is a {FORMAT} file")
    if made.get("version") != VERSION or isinstance(made["version"], bool):
        raise _bad_lock(
            path, f"is of version {made.get('version')!r:.20}; this program reads {VERSION}"
        )
    for name, most in _HEAD.items():
        if not isinstance(made.get(name), str) or len(made[name]) > most:
            raise _bad_lock(path, f'has no usable "{name}"')
    rows = made.get("papers")
    if not isinstance(rows, list) or len(rows) > MOST_PAPERS:
        raise _bad_lock(path, f'has no list "papers" of at most {MOST_PAPERS:,}')
    papers = tuple(_parse_paper(path, number, row) for number, row in enumerate(rows, 1))
    # What only explains a difference is not worth refusing a lock for.
    made_by = _matching(made.get("made_by"), _MADE_BY)
    return Lock(made["query"], made["effective_query"], made["made_at"], papers, made_by)


def _parse_paper(path: Path, number: int, row: Any) -> Locked:
    where = f"is malformed at paper {number:,}"
    if not isinstance(row, dict):
        raise _bad_lock(path, f"{where}: it is no object")
    names = {name: row[name] for name in _NAMES if row.get(name)}
    if not names:
        raise _bad_lock(path, f"{where}: it has no identifier")
    for name, value in names.items():
        if not _is_name(name, value):
            raise _bad_lock(path, f"{where}: {value!r:.80} is no {name}")
    ids = Ids(**names)
    kind, sha256, retracted = row.get("kind"), row.get("sha256"), row.get("retracted")
    if kind not in _KINDS:
        raise _bad_lock(
            path, f'{where}: its kind is not "full_text", "abstract", "record" or empty'
        )
    if not isinstance(sha256, str) or not re.fullmatch("([0-9a-f]{64})?", sha256):
        raise _bad_lock(path, f"{where}: its sha256 is not 64 hexadecimal digits")
    if not isinstance(retracted, bool):
        raise _bad_lock(path, f'{where}: "retracted" is neither true nor false')
    via, version = _matching(row.get("via"), _VIA), row.get("version")
    known_version = version if version in VERSION_NAMES else ""
    return Locked(
        ids, kind, sha256, retracted, via, known_version, _clean_reason(row.get("by_hand"))
    )


def _clean_reason(text: object) -> str:
    """The reason for which somebody accepted a text, as one bounded line."""
    return one_line(text)[:_LONGEST_REASON] if isinstance(text, str) else ""


def _matching(value: object, form: re.Pattern[str]) -> str:
    return value if isinstance(value, str) and form.fullmatch(value) else ""


def _bad_lock(path: Path, what: str) -> BadRequest:
    return BadRequest(f"{one_line(path.name)} {what}.", _HINT)


class ByName(Generic[T]):
    """Values looked up by any identifier of a paper; two papers with own PMIDs may share a DOI.

    ``version`` tells the texts of one paper apart, where there are several.

    >>> things = ByName([(Ids(pmid="1", doi="10.1000/a"), "one"), (Ids(pmid="2"), "two")])
    >>> things.get(Ids(doi="10.1000/a"))
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

    def get(self, ids: Ids, version: str = "") -> T | None:
        """The value of a paper: one whose identifiers do not contradict, where there is one.

        Of several texts the one in this *version*, where there is one.
        """

        def mismatch(found: tuple[Ids, T]) -> tuple[bool, bool]:
            return bool(found[0].clash(ids)), self._version(found[1]) != version

        sharing = (found for name in ids.names() for found in self._by_name.get(name, ()))
        best = min(sharing, key=mismatch, default=None)
        return best[1] if best else None


def compare(lock: Lock, rows: Iterable[Harvested]) -> Differences:
    """What became of a lock's papers since; papers are the same when they share a name."""
    papers = lock.papers
    places = ByName(
        ((was.ids, place) for place, was in enumerate(papers)), lambda at: papers[at].version
    )
    found: dict[str, list[Difference]] = {name: [] for name in _CHANGES}
    seen: set[int] = set()
    pending = unseen = same = 0
    for row in rows:
        place = places.get(row.paper.ids, row.version)
        if place is not None:
            seen.add(place)
        if row.state == "pending":
            pending += 1
            continue
        after = locked(row)
        if place is None:
            found["new"].append(Difference(None, after))
            continue
        before = lock.papers[place]
        names = _changes(before, after)
        same += not names
        if "lost" in names and row.reason in SILENT:
            names.remove("lost")
            unseen += 1
        for name in names:
            found[name].append(Difference(before, after))
    for place, was in enumerate(lock.papers):
        if place not in seen:
            found["gone"].append(Difference(was, None))
    lists = {name: tuple(listed) for name, listed in found.items()}
    return Differences(**lists, pending=pending, unseen=unseen, same=same)


def _changes(before: Locked, after: Locked) -> list[str]:
    names = []
    worth = ("", "record", "abstract", "full_text").index
    if (before.kind, after.kind) == ("abstract", "record"):
        pass  # older locks called it an abstract where there was none
    elif worth(after.kind) != worth(before.kind):
        names.append("gained" if worth(after.kind) > worth(before.kind) else "lost")
    elif before.sha256 and after.sha256 and before.sha256 != after.sha256:
        names.append("changed")
    if after.retracted and not before.retracted:
        names.append("retracted")
    return names
