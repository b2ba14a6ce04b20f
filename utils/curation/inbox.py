"""Texts somebody brings by hand: matched to their papers, judged like a download, and filed.

What no program may fetch, a person often may: through a library, from an author. Such files are
dropped into ``inbox/`` on the shelf. Each is matched to a paper by the identifiers it names, by
its file name or by its title, passes the same judges as everything else, and is filed ``via
manual``. No file is ever deleted: one that was filed is moved to ``inbox/filed/``, every other
stays where it is, and its reader is told why.

``source`` has four words for a full text. One brought by hand counts as ``DOI``, the publisher's
side, or as ``arXiv`` for a paper that has no DOI but is on arXiv: it did not come from PMC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from .. import formats
from ..download.ladder import Ladder
from ..download.lookup import look_up
from ..errors import BadContent, BadRequest, NotFound, PaperError
from ..harvest.told import Ledgers
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Paper
from ..model.versions import text_slot
from ..store import Shelf
from ..store.file_names import ENDINGS, ids_from
from ..system.plain_text import one_line
from . import inbox_files
from .inbox_files import VIA, Read, shown

FOLDER = "inbox"
_CANDIDATES = 20
_WORDS = (8, 4)  # of a title, the longest: all of them seldom survive typesetting
_PRINTED = ("pdf", "markdown")  # an identifier printed there may be that of a cited paper
_BY_NAME = "Name the file after its PMID or DOI."

Outcome = Literal["filed", "rejected", "unmatched", "ambiguous", "postponed"]


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What became of one file.

    Parameters
    ----------
    file : str
        Its name in the inbox.
    outcome : str
        ``filed``; ``rejected`` (it is not the whole paper, or not this one); ``unmatched`` (no
        paper is known that it could be); ``ambiguous`` (it could be several); ``postponed``
        (nobody could tell now: run it again).
    detail : str
        The same in a sentence.
    paper, title : str
        The paper it was matched to, if any.
    file_path : str
        The text on the shelf.
    jobs : tuple of str
        Harvests that lacked the text and have it now.
    """

    file: str
    outcome: Outcome
    detail: str
    paper: str = ""
    title: str = ""
    file_path: str = ""
    jobs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {**asdict(self), "jobs": list(self.jobs)}


def take_in(ladder: Ladder, *, accept: str = "") -> Iterator[HandedIn]:
    """Go through ``inbox/`` once.

    *accept* overrules the judges for what they refuse, where it is clear which paper it is: the
    reason, which is recorded with the text.

    Killed at any instant, it loses nothing: a file leaves the inbox last, and going through it
    again comes to the same end.

    Yields
    ------
    HandedIn
        One for each file; hidden files and downloads under way are passed over.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    complete, growing = inbox_files.dropped(ladder.shelf.folder / FOLDER)
    for path in growing:
        detail = "It is empty, or still being written. Run this again when it is complete."
        yield HandedIn(shown(path), "postponed", detail)
    inbox = _Inbox(ladder, accepting=one_line(accept))
    matches = []
    for path in complete:
        found = inbox.match(path)
        if isinstance(found, HandedIn):
            yield found
        elif found:
            matches.append(found)
    inbox.look_up(matches)
    try:
        for match in matches:
            if done := inbox.take(match):
                yield done
    finally:
        inbox.ledgers.close()


@dataclass(frozen=True, slots=True)
class _Match:
    """A file, and whose it could be.

    ``claims`` is what it says it is, ``named`` what its file name says; ``called`` and ``titled``
    are papers of the shelf with that file name, or that title.
    """

    path: Path
    claims: Ids
    named: Ids
    called: tuple[Paper, ...]
    titled: tuple[Paper, ...]

    @property
    def names(self) -> list[Ids]:
        return [ids for ids in (self.claims, self.named) if ids]

    def known_besides(self, paper: Paper) -> bool:
        """Whether more than the identifiers in the text points to *paper*."""
        others = [self.named, *(other.ids for other in (*self.called, *self.titled))]
        return any(ids.shares(paper.ids) for ids in others)


@dataclass(slots=True)
class _Inbox:
    """One walk through the inbox."""

    ladder: Ladder
    records: dict[Ids, Paper | PaperError] = field(default_factory=dict)
    ledgers: Ledgers = field(init=False)
    accepting: str = ""

    def __post_init__(self) -> None:
        self.ledgers = Ledgers(self.ladder)

    @property
    def shelf(self) -> Shelf:
        return self.ladder.shelf

    # -- whose it is -------------------------------------------------------------------------

    def match(self, path: Path) -> _Match | HandedIn | None:
        """Read a file for what it says it is; None when it is gone.

        Its text is not kept until its turn comes: there may be many files, and large ones.
        """
        try:
            found = inbox_files.read(path)
            document = inbox_files.claims(found)
        except FileNotFoundError:
            return None
        except BadContent as bad:
            return HandedIn(shown(path), "rejected", str(bad))
        stem = path.stem
        names = (f"{stem}{ending}" for ending in ("", *ENDINGS.values()))
        called = next(filter(None, map(self.shelf.find_by_file, names)), None)
        titled: dict[str, Paper] = {}
        for title in inbox_files.titles_of(document, path):
            titled |= {paper.ids.key: paper for paper in self._titled(title)}
        match = _Match(
            path,
            found.named or document.ids,
            Ids.maybe(stem) or ids_from(stem),
            (called.paper,) if called else (),
            tuple(titled.values()),
        )
        if match.names or called or titled:
            return match
        return _without_clue(path, document)

    def _titled(self, title: str) -> list[Paper]:
        """Papers of the shelf with this title; those of harvests lie there as abstracts."""
        from ..judges.identity import SAME_TITLE
        from ..judges.likeness import title_likeness, title_words

        words = sorted(title_words(title), key=len, reverse=True)
        for most in _WORDS:
            _, page = self.shelf.list(text=" ".join(words[:most]), max_results=_CANDIDATES)
            papers = [stored.paper for stored in page]
            alike = [p for p in papers if title_likeness(p.title, title) >= SAME_TITLE]
            if alike:
                return alike
        return []

    def look_up(self, matches: Sequence[_Match]) -> None:
        """Learn what the named papers are: from the shelf, and in one batch for the others."""
        named = list(dict.fromkeys(ids for match in matches for ids in match.names))
        self._learn(named)
        # One of two names was that of a cited paper: which, the judges can tell.
        contradict = [ids for ids in named if isinstance(self.records[ids], BadRequest)]
        self._learn([part for ids in contradict for part in _apart(ids)])

    def _learn(self, names: Sequence[Ids]) -> None:
        unknown = []
        for ids in names:
            if held := self.shelf.find(ids):
                self.records[ids] = held.paper
            else:
                unknown.append(ids)
        if unknown:
            self.records |= look_up(unknown, self.ladder.web, self.ladder.sources)

    def _known_as(self, ids: Ids) -> list[Paper | PaperError]:
        found = self.records.get(ids)
        if isinstance(found, BadRequest):
            return [found, *(self.records[part] for part in _apart(ids))]
        return [found] if found else []

    # -- whether it is that ------------------------------------------------------------------

    def take(self, match: _Match) -> HandedIn | None:
        """Judge a file beside each paper it could be of; None when it is gone meanwhile."""
        try:
            found = inbox_files.read(match.path)
        except FileNotFoundError:  # another process was faster
            return None
        except BadContent as bad:
            return HandedIn(shown(match.path), "rejected", str(bad))
        refused: list[tuple[Paper, BadContent]] = []
        for papers in self._grounds(match):
            fitting = []
            for paper in papers:
                try:
                    fitting.append((paper, _judged(found, paper, match)))
                except BadContent as bad:
                    refused.append((paper, bad))
            if len(fitting) > 1:
                names = " or ".join(str(paper.ids) for paper, _ in fitting)
                return HandedIn(shown(match.path), "ambiguous", f"It may be {names}. {_BY_NAME}")
            if fitting:
                return self._file(match.path, found, *fitting[0])
        if self.accepting and (done := self._accepted(match.path, found, refused)):
            return done
        return self._not_filed(match, refused)

    def _accepted(
        self, path: Path, found: Read, refused: Sequence[tuple[Paper, BadContent]]
    ) -> HandedIn | None:
        """File what the judges refused, on somebody's word; None if it could be several papers."""
        if len({paper.ids.key for paper, _ in refused}) != 1:
            return None
        paper, bad = refused[0]
        claims = inbox_files.claims(found)  # has a text: it was read before
        document = formats.named(claims, found.fetched, paper)
        accepted = replace(document, verdict="by_hand", evidence=self.accepting)
        done = self._file(path, found, paper, accepted)
        if done.detail != self.accepting:  # the shelf has better
            return done
        return replace(done, detail=f"by hand: {done.detail} (the judges said {bad.outcome})")

    def _grounds(self, match: _Match) -> Iterator[list[Paper]]:
        """The papers a file could be of, each once: what it says, what it is called, its title."""
        seen: set[str] = set()
        claimed, named = map(self._known_as, (match.claims, match.named))
        for group in (claimed, [*match.called, *named], match.titled):
            papers = {p.ids.key: p for p in group if isinstance(p, Paper)}
            yield [paper for key, paper in papers.items() if key not in seen]
            seen |= set(papers)

    def _not_filed(self, match: _Match, refused: Sequence[tuple[Paper, BadContent]]) -> HandedIn:
        name = shown(match.path)
        outcomes = [outcome for ids in match.names for outcome in self._known_as(ids)]
        troubles = [outcome for outcome in outcomes if isinstance(outcome, PaperError)]
        for trouble in troubles:
            if not isinstance(trouble, NotFound | BadRequest):
                return HandedIn(name, "postponed", str(trouble), str(match.names[0]))
        if refused:
            paper, bad = min(refused, key=lambda pair: pair[1].outcome == "wrong_paper")
            return HandedIn(name, "rejected", str(bad), str(paper.ids), one_line(paper.title))
        told = " ".join(trouble.message for trouble in troubles)
        return HandedIn(name, "unmatched", f"{told} {_BY_NAME}")

    # -- filing ------------------------------------------------------------------------------

    def _file(self, path: Path, found: Read, paper: Paper, document: Document) -> HandedIn:
        version = document.version or "published"
        held = self.shelf.find(paper.ids, version)
        detail = document.evidence
        there = held and held.kind == "full_text" and text_slot(held) == version
        if held and there and held.verdict == "full_text" and held.via != VIA:
            # Nothing is replaced unasked: a PDF is seldom better than what PMC sends.
            stored, detail = held, f"The shelf had its full text already, by {held.via}; it stays."
        else:
            before = [a for a in held.attempts if a.source != VIA] if held else []
            stored = self.shelf.save(
                paper,
                document,
                replace(found.fetched, ids=paper.ids),
                source="arXiv" if paper.ids.arxiv and not paper.ids.doi else "DOI",
                attempts=[*before, Attempt(VIA, "saved", f"{shown(path)}: {detail}")],
            )
        jobs = self.ledgers.record_arrival(stored)
        inbox_files.put_away(path)
        title, on_shelf = one_line(stored.paper.title), stored.path
        return HandedIn(shown(path), "filed", detail, str(stored.paper.ids), title, on_shelf, jobs)


def _judged(found: Read, paper: Paper, match: _Match) -> Document:
    """The text, if it is that of *paper*.

    Where *paper* was only found by an identifier printed in the text, that identifier proves
    nothing: it may be that of a paper cited on the first page. Then the rest has to agree.
    """
    from ..judges.identity import identity

    document = formats.read(replace(found.fetched, ids=paper.ids), paper)
    if found.fetched.media in _PRINTED and not match.known_besides(paper):
        seen = identity(replace(document, ids=Ids()), paper)
        if seen.verdict != "full_text":
            msg = f"It names {paper.ids}, but seems to be another paper: {seen.evidence}."
            raise BadContent(msg, f"If it is that one: {_BY_NAME}", verdict="wrong_paper")
    return document


def _apart(ids: Ids) -> list[Ids]:
    return [Ids(**{kind: value}) for kind, value in asdict(ids).items() if value]


def _without_clue(path: Path, document: Document) -> HandedIn:
    from ..judges.check import completeness
    from ..model.verdicts import MEANINGS

    seen = completeness(document, Paper(Ids()))
    if seen.verdict in ("scanned", "empty"):
        meaning = MEANINGS[seen.verdict]
        return HandedIn(shown(path), "rejected", f"{meaning.said}. {meaning.hint}")
    detail = f"It names no paper, and no paper on the shelf has its title. {_BY_NAME}"
    return HandedIn(shown(path), "unmatched", detail)
