"""Files handed in by people: matched to their papers, judged like a download, and filed.

What no program may fetch, a person often may: through a library, from an author. Such files are
dropped into ``inbox/`` on the shelf. Each is matched to a paper by the identifiers it names, by
its file name or by its title, passes the same judges as everything else, and is filed ``via
manual``. No file is ever deleted: one that was filed is moved to ``inbox/filed/``, every other
stays where it is, and the result says why.

``source`` has four words for a full text. One brought by hand counts as ``DOI``, the publisher's
side, or as ``arXiv`` for a paper that has no DOI but is on arXiv: it did not come from PMC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from .. import readers as formats
from ..download.ladder import Ladder
from ..download.records import look_up
from ..errors import BadContent, BadRequest, NotFound, PaperError
from ..harvest.jobs import Ledgers
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Paper
from ..model.versions import get_shelf_version
from ..shelf import Shelf
from ..shelf.paper_file import ENDINGS, ids_from
from ..system.plain_text import one_line
from .inbox_files import (
    VIA,
    InboxFile,
    SeenFiles,
    copy_beside,
    display_name,
    find_titles,
    fingerprint_files,
    list_files,
    move_to_filed,
    read,
    read_document,
)

FOLDER = "inbox"
_CANDIDATES = 20
_WORDS = (8, 4)  # of a title, the longest: all of them seldom survive typesetting
_PRINTED = ("pdf", "markdown")  # an identifier printed there may be that of a cited paper
_BY_NAME = "Name the file after its PMID or DOI."
Outcome = Literal["filed", "rejected", "unmatched", "ambiguous", "postponed"]


@dataclass(frozen=True, slots=True)
class InboxResult:
    """The result for one file.

    Parameters
    ----------
    file : str
        Its name in the inbox; of a file in another folder, its path.
    outcome : str
        ``filed``; ``rejected`` (it is not the whole paper, or not this one); ``unmatched`` (no
        paper is known that it could be); ``ambiguous`` (it could be several); ``postponed``
        (no source could tell now: run it again).
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


def take_in(
    ladder: Ladder, *, accept: str = "", looked_at: SeenFiles | None = None
) -> Iterator[InboxResult]:
    """Match, judge and file the files in ``inbox/``, once.

    *accept* is a reason for filing what the judges refuse, where it is clear which paper it is; it
    is recorded with the text. With *looked_at*, whoever looks again and again passes over what is
    known, and over files that are still being written.

    Killed at any instant, it loses nothing: a file leaves the inbox last, when all reports say
    that it arrived, and the next walk completes the work.

    Yields
    ------
    InboxResult
        One for each file; hidden files and downloads under way are passed over.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    complete, growing = list_files(ladder.shelf.folder / FOLDER)
    for path in growing if looked_at is None else ():
        detail = "It is empty, or still being written. Run this again when it is complete."
        yield InboxResult(display_name(path), "postponed", detail)
    known = looked_at or SeenFiles()
    fresh = known.unseen(fingerprint_files(complete))
    with closing(Inbox(ladder, accepting=one_line(accept))) as inbox:
        matches = []
        for path in fresh:
            match_or_result = inbox.match(path)
            if isinstance(match_or_result, InboxResult):
                known.add(fresh[path])
                yield match_or_result
            elif match_or_result:
                matches.append(match_or_result)
        inbox.look_up(matches)
        for match in matches:
            done = inbox.take(match)
            if done and known.is_news(fresh[match.path], again=done.outcome == "postponed"):
                yield done


@dataclass(frozen=True, slots=True)
class Match:
    """A file, and the papers it could be of.

    ``claimed_ids`` are the identifiers in its text, ``name_ids`` those in its file name;
    ``titles`` what may be its title; ``same_name`` and ``same_title`` are papers of the shelf with
    that file name, or that title. A file of another folder (``foreign``) stays where it is.
    """

    path: Path
    claimed_ids: Ids
    name_ids: Ids
    same_name: tuple[Paper, ...]
    same_title: tuple[Paper, ...]
    titles: tuple[str, ...] = ()
    foreign: bool = False

    def __bool__(self) -> bool:
        return bool(self.names or self.same_name or self.same_title)

    @property
    def names(self) -> list[Ids]:
        """The identifiers by which the paper can be looked up."""
        return [ids for ids in (self.claimed_ids, self.name_ids) if ids]

    def is_supported_for(self, paper: Paper) -> bool:
        """Return whether evidence other than identifiers in the text points to *paper*."""
        others = [self.name_ids, *(other.ids for other in (*self.same_name, *self.same_title))]
        return any(ids.shares(paper.ids) for ids in others)


@dataclass(slots=True)
class Inbox:
    """One walk through the inbox: what is filed in it leaves the inbox when it is closed."""

    ladder: Ladder
    records: dict[Ids, Paper | PaperError] = field(default_factory=dict)
    ledgers: Ledgers = field(init=False)
    accepting: str = ""
    filed: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledgers = Ledgers(self.ladder)

    @property
    def shelf(self) -> Shelf:
        """The shelf on which texts are filed."""
        return self.ladder.shelf

    def close(self) -> None:
        """Bring the reports up to date, then move away what was filed."""
        self.ledgers.close()
        for path in self.filed:
            move_to_filed(path)

    # -- whose it is -------------------------------------------------------------------------

    def match(self, path: Path) -> Match | InboxResult | None:
        """Read which paper a file says it is; None when it is gone.

        The text is read again when it is judged: there may be many files, and large ones.
        """
        try:
            match, document = self.read_match(path)
        except FileNotFoundError:
            return None
        except BadContent as bad:
            return InboxResult(display_name(path), "rejected", str(bad))
        return match or _to_unmatched(path, document)

    def read_match(self, path: Path) -> tuple[Match, Document]:
        """Read which paper a file says it is, and the text; no source is asked.

        Raises
        ------
        BadContent
            No text can be read in it.
        FileNotFoundError
            It is gone.
        """
        found = read(path)
        document = read_document(found)
        stem = path.stem
        names = (f"{stem}{ending}" for ending in ("", *ENDINGS.values()))
        same_name = next(filter(None, map(self.shelf.find_by_file, names)), None)
        same_title: dict[str, Paper] = {}
        titles = find_titles(document, path)
        for title in titles:
            same_title |= {paper.ids.key: paper for paper in self._papers_with_title(title)}
        match = Match(
            path,
            found.named or document.ids,
            Ids.maybe(stem) or ids_from(stem),
            (same_name.paper,) if same_name else (),
            tuple(same_title.values()),
            tuple(titles),
        )
        return match, document

    def _papers_with_title(self, title: str) -> list[Paper]:
        """Papers of the shelf with this title; those of harvests lie there as abstracts."""
        from ..judges.thresholds import SAME_TITLE_LIKENESS
        from ..judges.titles import title_likeness, title_words

        words = sorted(title_words(title), key=len, reverse=True)
        for most in _WORDS:
            _, page = self.shelf.list(text=" ".join(words[:most]), max_results=_CANDIDATES)
            papers = [stored.paper for stored in page]
            alike = [p for p in papers if title_likeness(p.title, title) >= SAME_TITLE_LIKENESS]
            if alike:
                return alike
        return []

    def look_up(self, matches: Sequence[Match]) -> None:
        """Get the records of the named papers: from the shelf, else in one batch from sources."""
        named = list(dict.fromkeys(ids for match in matches for ids in match.names))
        self._load_records(named)
        # One of two identifiers is that of a cited paper; the judges can tell which.
        contradict = [ids for ids in named if isinstance(self.records[ids], BadRequest)]
        self._load_records([part for ids in contradict for part in _single_ids(ids)])

    def _load_records(self, names: Sequence[Ids]) -> None:
        unknown = []
        for ids in names:
            if stored := self.shelf.find(ids):
                self.records[ids] = stored.paper
            else:
                unknown.append(ids)
        if unknown:
            self.records |= look_up(unknown, self.ladder.web, self.ladder.sources)

    def _records_of(self, ids: Ids) -> list[Paper | PaperError]:
        found = self.records.get(ids)
        if isinstance(found, BadRequest):
            return [found, *(self.records[part] for part in _single_ids(ids))]
        return [found] if found else []

    # -- whether it is that ------------------------------------------------------------------

    def take(self, match: Match) -> InboxResult | None:
        """Judge a file against each paper it could be of; None when it is gone meanwhile."""
        try:
            found = read(match.path)
        except FileNotFoundError:  # another process was faster
            return None
        except BadContent as bad:
            return InboxResult(display_name(match.path), "rejected", str(bad))
        refused: list[tuple[Paper, BadContent]] = []
        for papers in self._candidate_groups(match):
            fitting = []
            for paper in papers:
                try:
                    fitting.append((paper, _judge_for_paper(found, paper, match, self.ladder)))
                except BadContent as bad:
                    refused.append((paper, bad))
            if len(fitting) > 1:
                names = " or ".join(str(paper.ids) for paper, _ in fitting)
                return InboxResult(
                    display_name(match.path), "ambiguous", f"It may be {names}. {_BY_NAME}"
                )
            if fitting:
                path = self._copy_in(match.path) if match.foreign else match.path
                return self._file_text(path, found, *fitting[0])
        if self.accepting and (done := self._file_by_hand(match.path, found, refused)):
            return done
        return self._not_filed(match, refused)

    def _file_by_hand(
        self, path: Path, found: InboxFile, refused: Sequence[tuple[Paper, BadContent]]
    ) -> InboxResult | None:
        """File what the judges refused, by hand; None if it could be several papers."""
        if len({paper.ids.key for paper, _ in refused}) != 1:
            return None
        paper, bad = refused[0]
        claims = read_document(found)  # has a text: it was read before
        document = formats.add_provenance(claims, found.fetched, paper)
        accepted = replace(document, verdict="by_hand", evidence=self.accepting)
        done = self._file_text(path, found, paper, accepted)
        if done.detail != self.accepting:  # the shelf has better
            return done
        return replace(done, detail=f"by hand: {done.detail} (the judges said {bad.outcome})")

    def _candidate_groups(self, match: Match) -> Iterator[list[Paper]]:
        """The papers a file could be of, each once: by its text, its file name, its title."""
        seen: set[str] = set()
        claimed, named = map(self._records_of, (match.claimed_ids, match.name_ids))
        for group in (claimed, [*match.same_name, *named], match.same_title):
            papers = {p.ids.key: p for p in group if isinstance(p, Paper)}
            yield [paper for key, paper in papers.items() if key not in seen]
            seen |= set(papers)

    def _copy_in(self, path: Path) -> Path:
        """Copy a file of another folder into the inbox, from where it is filed like any other."""
        return copy_beside(path, self.shelf.folder / FOLDER / path.name)

    def _not_filed(
        self, match: Match, refused: Sequence[tuple[Paper, BadContent]]
    ) -> InboxResult | None:
        name = display_name(match.path)
        outcomes = [outcome for ids in match.names for outcome in self._records_of(ids)]
        troubles = [outcome for outcome in outcomes if isinstance(outcome, PaperError)]
        for trouble in troubles:
            if not isinstance(trouble, NotFound | BadRequest):
                return InboxResult(name, "postponed", str(trouble), str(match.names[0]))
        if match.foreign and all(bad.outcome == "wrong_paper" for _, bad in refused):
            return None  # some other file of theirs
        if refused:
            paper, bad = min(refused, key=lambda pair: pair[1].outcome == "wrong_paper")
            return InboxResult(name, "rejected", str(bad), str(paper.ids), one_line(paper.title))
        reasons = " ".join(trouble.message for trouble in troubles)
        return InboxResult(name, "unmatched", f"{reasons} {_BY_NAME}")

    # -- filing ------------------------------------------------------------------------------

    def _file_text(
        self, path: Path, found: InboxFile, paper: Paper, document: Document
    ) -> InboxResult:
        """Save a text that was accepted for a paper; a full text on the shelf is not replaced."""
        version = document.version or "published"
        present = self.shelf.find(paper.ids, version)
        detail = document.evidence
        complete = present and present.kind == "full_text" and get_shelf_version(present) == version
        if present and complete and present.verdict == "full_text" and present.via != VIA:
            # Nothing is replaced unasked: a PDF is seldom better than what PMC sends.
            stored = present
            detail = f"The shelf had its full text already, by {present.via}; it stays."
        else:
            before = [a for a in present.attempts if a.source != VIA] if present else []
            stored = self.shelf.save(
                paper,
                document,
                replace(found.fetched, ids=paper.ids),
                source="arXiv" if paper.ids.arxiv and not paper.ids.doi else "DOI",
                attempts=[*before, Attempt(VIA, "saved", f"{display_name(path)}: {detail}")],
            )
        jobs = self.ledgers.record_arrival(stored)
        self.filed.append(path)
        title, on_shelf = one_line(stored.paper.title), stored.path
        return InboxResult(
            display_name(path), "filed", detail, str(stored.paper.ids), title, on_shelf, jobs
        )


def _judge_for_paper(found: InboxFile, paper: Paper, match: Match, ladder: Ladder) -> Document:
    """Return the text if the judges accept it as the text of *paper*.

    Where *paper* was only found by an identifier printed in the text, that identifier proves
    nothing: it may be that of a paper cited on the first page. Then the rest has to agree.
    """
    from ..judges.identity import judge_identity

    fetched = replace(found.fetched, ids=paper.ids)
    document = formats.read(fetched, paper)
    if found.fetched.media in _PRINTED and not match.is_supported_for(paper):
        judged = judge_identity(replace(document, ids=Ids()), paper)
        if judged.answer != "same":
            msg = f"It names {paper.ids}, but seems to be another paper: {judged.evidence}."
            raise BadContent(msg, f"If it is that one: {_BY_NAME}", verdict="wrong_paper")
    return document


def _single_ids(ids: Ids) -> list[Ids]:
    return [Ids(**{kind: value}) for kind, value in asdict(ids).items() if value]


def _to_unmatched(path: Path, document: Document) -> InboxResult:
    """Return the result of a file that matches no paper."""
    from ..judges.check import judge_completeness
    from ..model.verdicts import MEANINGS

    judged = judge_completeness(document, Paper(Ids()))
    if judged.verdict in ("scanned", "empty"):
        meaning = MEANINGS[judged.verdict]
        return InboxResult(display_name(path), "rejected", f"{meaning.said}. {meaning.hint}")
    detail = f"It names no paper, and no paper on the shelf has its title. {_BY_NAME}"
    return InboxResult(display_name(path), "unmatched", detail)
