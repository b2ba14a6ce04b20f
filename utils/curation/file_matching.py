"""Identify the paper in a file, and judge the file against the paper's record.

The inbox and `.folder_adoption` both use it. A file is read once: candidates come from the
identifiers that a reference file, its metadata, its first pages and its name give, and from its
title. The same judges as for a download then say which candidate it is. An identifier proves
nothing by itself, because a first page also cites.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from .. import readers as formats
from ..download.ladder import Ladder
from ..download.records import look_up_records
from ..errors import BadContent, BadRequest, PaperError
from ..model.identifiers import Ids
from ..model.paper import Document, Paper
from ..shelf.paper_file import ENDINGS, parse_file_name
from ..sources.source import find_records
from .inbox_files import (
    InboxFile,
    find_possible_titles,
    read_submitted_file,
    read_unjudged_document,
)

_CANDIDATES = 20
_WORDS = (8, 4)  # of a title, the longest: all of them seldom survive typesetting
_PRINTED = ("pdf", "markdown")  # an identifier printed there may be that of a cited paper
BY_NAME = "Name the file after its PMID or DOI."


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file, and the papers that it may contain.

    ``claimed_ids`` are the identifiers in its metadata or else its text, ``name_ids`` those in its
    file name, ``more_ids`` those that other places give; ``titles`` what may be its title;
    ``same_name`` and ``same_title`` are papers of the shelf with that file name, or that title;
    ``found_by_title`` those that a search brought. A file of another folder (``foreign``) stays
    where it is. ``document`` is the text, before it is judged, of the bytes with this ``sha256``.
    """

    path: Path
    claimed_ids: Ids
    name_ids: Ids
    same_name: tuple[Paper, ...] = ()
    same_title: tuple[Paper, ...] = ()
    titles: tuple[str, ...] = ()
    foreign: bool = False
    more_ids: tuple[Ids, ...] = ()
    found_by_title: tuple[Paper, ...] = ()
    document: Document | None = None
    sha256: str = ""

    def __bool__(self) -> bool:
        return bool(self.names or self.same_name or self.same_title)

    @property
    def names(self) -> list[Ids]:
        """The identifiers by which the paper can be looked up."""
        return [ids for ids in (*self.more_ids, self.claimed_ids, self.name_ids) if ids]

    def is_supported_for(self, paper: Paper) -> bool:
        """Return whether evidence other than identifiers in the text points to *paper*."""
        others = [self.name_ids, *(other.ids for other in (*self.same_name, *self.same_title))]
        return any(ids.shares(paper.ids) for ids in others)

    def get_document(self, found: InboxFile) -> Document | None:
        """Return the text if it was read from the bytes in *found*."""
        is_same = hashlib.sha256(found.fetched.body).hexdigest() == self.sha256
        return self.document if is_same else None


@dataclass(frozen=True, slots=True)
class JudgedMatch:
    """The candidates for a file that the judges accept, and the rejected candidates."""

    fitting: tuple[tuple[Paper, Document], ...]
    refused: tuple[tuple[Paper, BadContent], ...]


@dataclass(slots=True)
class FileMatcher:
    """Matches files with papers.

    Parameters
    ----------
    ladder : Ladder
        The shelf, and the sources of records.
    asks_sources : bool, optional
        Whether sites are asked for records that neither the shelf nor a mirror has.
    listed : Mapping, optional
        Records that a reference file has, used where no other record is found.
    """

    ladder: Ladder
    asks_sources: bool = True
    listed: Mapping[Ids, Paper] = field(default_factory=dict)
    records: dict[Ids, Paper | PaperError] = field(default_factory=dict)

    def read_file_match(self, path: Path) -> FileMatch:
        """Read a file; return its text and the papers it may contain. Sends no request.

        Raises
        ------
        BadContent
            No text can be read in it.
        FileNotFoundError
            It is gone.
        """
        match = match_file(path, read_submitted_file(path))
        names = (f"{path.stem}{ending}" for ending in ("", *ENDINGS.values()))
        same_name = next(filter(None, map(self.ladder.shelf.find_paper_by_file, names)), None)
        return replace(
            match,
            same_name=(same_name.paper,) if same_name else (),
            same_title=self.find_stored_by_titles(match.titles),
        )

    def find_stored_by_titles(self, titles: Sequence[str]) -> tuple[Paper, ...]:
        """Return the papers of the shelf that have one of these titles."""
        papers = (paper for title in titles for paper in self._find_stored_by_title(title))
        return tuple({paper.ids.key: paper for paper in papers}.values())

    def _find_stored_by_title(self, title: str) -> list[Paper]:
        """Return the papers of the shelf with this title, including abstracts of harvests."""
        from ..judges.thresholds import SAME_TITLE_LIKENESS
        from ..judges.titles import measure_title_likeness, split_title_words

        words = sorted(split_title_words(title), key=len, reverse=True)
        for most in _WORDS:
            _, page = self.ladder.shelf.list_papers(
                text=" ".join(words[:most]), max_results=_CANDIDATES
            )
            papers = [stored.paper for stored in page]
            alike = [
                p for p in papers if measure_title_likeness(p.title, title) >= SAME_TITLE_LIKENESS
            ]
            if alike:
                return alike
        return []

    def load_match_records(self, matches: Sequence[FileMatch]) -> None:
        """Load the records of the named papers: from the shelf, else in one batch from sources."""
        named = list(dict.fromkeys(ids for match in matches for ids in match.names))
        self._load_records(named)
        # One of two identifiers is that of a cited paper; the judges can tell which.
        contradict = [ids for ids in named if isinstance(self.records.get(ids), BadRequest)]
        self._load_records([part for ids in contradict for part in _split_into_single_ids(ids)])

    def _load_records(self, names: Sequence[Ids]) -> None:
        unknown = []
        for ids in names:
            if stored := self.ladder.shelf.find_text(ids):
                self.records[ids] = stored.paper
            elif not isinstance(self.records.get(ids), Paper):
                unknown.append(ids)
        if unknown and self.asks_sources:
            self.records |= look_up_records(unknown, self.ladder.web, self.ladder.sources)
        elif unknown:
            self.records |= find_records(unknown, self.ladder.web.settings)
        for ids in unknown:
            if ids in self.listed and not isinstance(self.records.get(ids), Paper):
                self.records[ids] = self.listed[ids]

    def find_records(self, ids: Ids) -> list[Paper | PaperError]:
        """Return the records that identifiers find, and errors; several if they contradict."""
        found = self.records.get(ids)
        if isinstance(found, BadRequest):
            return [
                found,
                *(self.records[p] for p in _split_into_single_ids(ids) if p in self.records),
            ]
        return [found] if found else []

    def judge_match(
        self, match: FileMatch, found: InboxFile, *, strict: bool = False
    ) -> JudgedMatch:
        """Judge a file against each candidate paper until one is accepted.

        A *strict* judgement does not let a file's name replace the agreement of its text.
        """
        refused: list[tuple[Paper, BadContent]] = []
        for papers in self._iterate_candidates(match):
            fitting = []
            for paper in papers:
                try:
                    fitting.append((paper, _read_if_accepted(found, paper, match, strict=strict)))
                except BadContent as bad:
                    refused.append((paper, bad))
            if fitting:
                return JudgedMatch(tuple(fitting), tuple(refused))
        return JudgedMatch((), tuple(refused))

    def _iterate_candidates(self, match: FileMatch) -> Iterator[list[Paper]]:
        """Yield each candidate paper once: by the file's text, its name, and its title."""
        seen: set[str] = set()
        *more, claimed, named = (
            self.find_records(ids) for ids in (*match.more_ids, match.claimed_ids, match.name_ids)
        )
        by_name = [*match.same_name, *named]
        for group in (*more, claimed, by_name, match.same_title, match.found_by_title):
            papers = {p.ids.key: p for p in group if isinstance(p, Paper)}
            yield [paper for key, paper in papers.items() if key not in seen]
            seen |= set(papers)


def match_file(path: Path, found: InboxFile) -> FileMatch:
    """Read the text of a file, and return the identifiers and titles in the file.

    Raises
    ------
    BadContent
        No text can be read in it.
    """
    document = read_unjudged_document(found)
    return FileMatch(
        path,
        found.named or document.ids,
        Ids.maybe(path.stem) or parse_file_name(path.stem),
        titles=tuple(find_possible_titles(document, path)),
        document=document,
        sha256=hashlib.sha256(found.fetched.body).hexdigest(),
    )


def _read_if_accepted(
    found: InboxFile, paper: Paper, match: FileMatch, *, strict: bool
) -> Document:
    """Return the text if the judges accept it as the text of *paper*.

    Where *paper* was only found by an identifier printed in the text, that identifier proves
    nothing: it may be that of a paper cited on the first page. Then the rest has to agree.
    """
    from ..judges.identity import judge_identity

    fetched, unjudged = replace(found.fetched, ids=paper.ids), match.get_document(found)

    def require_same_paper(document: Document) -> None:
        judged = judge_identity(replace(document, ids=Ids()), paper)
        if judged.answer != "same":
            msg = f"It names {paper.ids}, but seems to be another paper: {judged.evidence}."
            raise BadContent(msg, f"If it is that one: {BY_NAME}", verdict="wrong_paper")

    if strict:  # what lacks a part may be a part of another paper
        require_same_paper(formats.convert_to_document(fetched, paper, unjudged))
    document = formats.read_and_judge(fetched, paper, unjudged=unjudged)
    if found.fetched.media in _PRINTED and not (strict or match.is_supported_for(paper)):
        require_same_paper(document)
    return document


def _split_into_single_ids(ids: Ids) -> list[Ids]:
    return [Ids(**{kind: value}) for kind, value in asdict(ids).items() if value]
