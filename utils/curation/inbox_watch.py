"""File papers as they arrive, from the inbox and from a browser's download folder.

Nothing in a folder outside the shelf is moved or changed. A file that is a wanted paper is copied
into the inbox and filed from there. Wanted papers are those that harvests or the shelf lack as full
text. For privacy, only identifiers of wanted papers are looked up at a source.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from ..download.ladder import Ladder
from ..errors import BadContent, BadRequest, StoreFailed
from ..harvest.jobs import Ledgers
from ..judges.titles import count_distinctive_words, split_title_words
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..system import safe_files
from ..system.plain_text import one_line, replace_surrogates
from .file_matching import FileMatch
from .inbox import FOLDER, Inbox, InboxResult, file_inbox
from .inbox_files import (
    SeenFiles,
    get_file_state,
    hash_file_states,
    hash_names,
    is_possible_paper,
    list_complete_files,
)

EVERY_S = 2.0
_AT_A_TIME = 20  # files of a folder that is full of them, before the inbox is looked at again
_LEAST_WORDS = 4  # words of a title that tell a paper
_RENEWED_S = 30.0  # papers asked for, while nothing new lies in the folder


@dataclass(slots=True)
class WantedPapers:
    """The papers that are requested but missing, as hashes of identifiers and titles."""

    ladder: Ladder
    papers: dict[str, Ids] = field(default_factory=dict)
    _as_of: tuple[object, ...] = ()
    _asked_at: float = 0.0

    def refresh_if_changed(self, *, at_once: bool) -> None:
        """Read shelf and ledgers again, if they changed.

        A harvest that runs writes all the time: so only now and then, or *at_once*.
        """
        if not at_once and 0 <= time.time() - self._asked_at < _RENEWED_S:
            return
        self._asked_at = time.time()
        private = self.ladder.shelf.folder / safe_files.PRIVATE_FOLDER
        files = [*private.glob("catalogue.db*"), *private.glob("jobs/*.db*")]
        as_of = tuple((path, get_file_state(path)) for path in sorted(files))
        if as_of == self._as_of:
            return
        self.papers = {}
        for ids, title in self._iterate_missing_papers():
            for name in _hash_names_and_titles(ids, [title]):
                self.papers.setdefault(name, ids)
        self._as_of = as_of

    def _iterate_missing_papers(self) -> Iterator[tuple[Ids, str]]:
        """Yield identifiers and titles of papers without full text, from shelf and harvests."""
        yield from self.ladder.shelf.list_papers_without_text()
        with closing(Ledgers(self.ladder)) as ledgers:
            for ledger in ledgers.all:
                yield from ledger.list_papers_without_text()

    def restrict_to_wanted(self, match: FileMatch) -> FileMatch:
        """Return the match reduced to wanted papers."""
        by_title = [self.papers.get(name) for name in _hash_names_and_titles(Ids(), match.titles)]
        return replace(
            match,
            claimed_ids=self._find_wanted_ids(match.claimed_ids)
            or next(filter(None, by_title), Ids()),
            name_ids=self._find_wanted_ids(match.name_ids),
            same_name=tuple(filter(self._is_wanted, match.same_name)),
            same_title=tuple(filter(self._is_wanted, match.same_title)),
            foreign=True,
        )

    def remove_filed_paper(self, ids: Ids) -> None:
        """Remove a filed paper, so that other files of it are ignored."""
        had = self._find_wanted_ids(ids)
        self.papers = {name: one for name, one in self.papers.items() if not one.shares(had)}

    def _find_wanted_ids(self, claimed: Ids) -> Ids:
        """Return the identifiers of the wanted paper with these names; empty if none is wanted."""
        found = (self.papers.get(name) for name in _hash_names_and_titles(claimed))
        return next(filter(None, found), Ids())

    def _is_wanted(self, paper: Paper) -> bool:
        return bool(self._find_wanted_ids(paper.ids))


def _hash_names_and_titles(ids: Ids, titles: Sequence[str] = ()) -> list[str]:
    """Return hashes of a paper's identifiers, and of titles that identify one paper."""
    told = (title for title in titles if count_distinctive_words(title) >= _LEAST_WORDS)
    return [
        *(hash_names(name) for name in ids.names()),
        *(hash_names("title", *split_title_words(title)) for title in told),
    ]


@dataclass(slots=True)
class ForeignFolder:
    """A folder outside the shelf, such as Downloads, with papers among other files.

    Raises
    ------
    BadRequest
        There is no such folder, it cannot be read, or it is the shelf itself.
    """

    ladder: Ladder
    folder: Path
    wanted: WantedPapers = field(init=False)
    looked_at: SeenFiles = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.folder.expanduser().resolve()
        shelf = self.ladder.shelf.folder
        self._list_files()
        if self.folder.is_relative_to(shelf.resolve()):
            msg = f"{self.folder} belongs to the shelf."
            raise BadRequest(msg, f"Leave it out: {shelf / FOLDER} is looked at anyway.")
        self.wanted = WantedPapers(self.ladder)
        self.looked_at = SeenFiles.open_for_folder(self.folder, shelf)

    def _list_files(self) -> list[Path]:
        """Return the files in the folder that may be papers."""
        hint = "Give the folder that your browser saves into: folder=~/Downloads"
        if not self.folder.is_dir():
            raise BadRequest(f"{self.folder} is not a folder.", hint)
        try:
            return list_complete_files(self.folder, is_possible_paper)[0]
        except StoreFailed as error:
            raise BadRequest(error.message, hint) from None

    def select_unseen(self) -> dict[Path, str]:
        """Return the files to examine with their fingerprints, the newest first."""
        marks = hash_file_states(self._list_files())
        self.wanted.refresh_if_changed(at_once=bool(self.looked_at.select_unseen(marks)))
        fresh = self.looked_at.select_unseen(marks, self.wanted.papers)
        newest = sorted(fresh, key=lambda path: get_file_state(path)[1], reverse=True)
        return {path: fresh[path] for path in newest}

    def file_wanted_papers(self, fresh: dict[Path, str]) -> Iterator[InboxResult]:
        """Examine files, and file those that are wanted papers."""
        with closing(Inbox(self.ladder)) as inbox:
            try:
                for path, mark in fresh.items():
                    if done := self._file_if_wanted(inbox, path, mark):
                        yield done
            finally:
                self.looked_at.save(self._list_files())

    def _file_if_wanted(self, inbox: Inbox, path: Path, mark: str) -> InboxResult | None:
        """File one file if it is a wanted paper; it is marked as seen afterwards."""
        try:
            told = inbox.matcher.read_file_match(path)
        except FileNotFoundError:
            return None
        except BadContent:  # no text in it, and nobody asked
            self.looked_at.mark_seen(mark)
            return None
        match = self.wanted.restrict_to_wanted(told)
        done = None
        if match:
            inbox.matcher.load_match_records([match])
            done = inbox.file_match(match)
        names = {
            *_hash_names_and_titles(told.claimed_ids, told.titles),
            *_hash_names_and_titles(told.name_ids),
        }
        others = names - self.wanted.papers.keys()
        if done and done.outcome == "filed":
            self.wanted.remove_filed_paper(Ids.maybe(done.paper))
        again = done is not None and done.outcome == "postponed"
        news = self.looked_at.mark_matched(mark, others, again=again)
        return (
            replace(done, file=one_line(replace_surrogates(str(path)))) if done and news else None
        )


def file_wanted_papers_of_folder(ladder: Ladder, folder: str | Path) -> Iterator[InboxResult]:
    """File the wanted papers of a folder outside the shelf, once.

    Yields
    ------
    InboxResult
        One for each file that is a paper asked for, or says it is; of others nothing is said.

    Raises
    ------
    BadRequest
        The folder cannot be looked at.
    """
    foreign = ForeignFolder(ladder, Path(folder))
    yield from foreign.file_wanted_papers(foreign.select_unseen())


def watch_inbox(
    ladder: Ladder, *, accept: str = "", folder: str | Path = ""
) -> Generator[InboxResult, None, None]:
    """Wait for files in the inbox and for wanted papers in *folder*, and file them.

    Each file is looked at when nobody writes to it any more, and not again until it changes; what
    no source could tell is tried again after some minutes. *accept* is as for `.inbox.file_inbox`,
    and never holds for *folder*.

    Raises
    ------
    BadRequest
        The folder cannot be looked at.
    """
    safe_files.make_folder(ladder.shelf.folder / FOLDER)
    ours = SeenFiles()
    foreign = ForeignFolder(ladder, Path(folder)) if folder else None
    while True:
        yield from file_inbox(ladder, accept=accept, looked_at=ours)
        fresh = foreign.select_unseen() if foreign else {}
        some = dict(islice(fresh.items(), _AT_A_TIME))
        if foreign and some:
            yield from foreign.file_wanted_papers(some)
        if len(some) == len(fresh):
            time.sleep(EVERY_S)
