"""Files that a person saves, filed as they arrive: in the inbox, and in a browser's folder.

A folder that is not ours belongs to somebody: nothing in it is moved or changed, and only a file
that is a paper asked for is copied, into the inbox, from where it is filed like any other. Papers
asked for are those that harvests lack and those the shelf has no full text of. No source is told
what else is there: only identifiers of papers asked for are ever looked up.
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
from ..judges.titles import telling_words, title_words
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..system import safe_files
from ..system.plain_text import one_line, replace_surrogates
from .inbox import FOLDER, Inbox, InboxResult, Match, take_in
from .inbox_files import LookedAt, fingerprint, list_files, marks_of, may_be_paper, status

EVERY_S = 2.0
_AT_A_TIME = 20  # files of a folder that is full of them, before the inbox is looked at again
_LEAST_WORDS = 4  # words of a title that tell a paper
_RENEWED_S = 30.0  # papers asked for, while nothing new lies in the folder


@dataclass(slots=True)
class Wanted:
    """The papers that are asked for and not had, under fingerprints of their names and titles."""

    ladder: Ladder
    papers: dict[str, Ids] = field(default_factory=dict)
    _as_of: tuple[object, ...] = ()
    _asked_at: float = 0.0

    def renew(self, *, at_once: bool) -> None:
        """Ask shelf and ledgers again, if anything was written to them since.

        A harvest that runs writes all the time: so only now and then, or *at_once*.
        """
        if not at_once and 0 <= time.time() - self._asked_at < _RENEWED_S:
            return
        self._asked_at = time.time()
        private = self.ladder.shelf.folder / safe_files.PRIVATE_FOLDER
        files = [*private.glob("catalogue.db*"), *private.glob("jobs/*.db*")]
        as_of = tuple((path, status(path)) for path in sorted(files))
        if as_of == self._as_of:
            return
        self.papers = {}
        for ids, title in self._lacking():
            for name in _names(ids, [title]):
                self.papers.setdefault(name, ids)
        self._as_of = as_of

    def _lacking(self) -> Iterator[tuple[Ids, str]]:
        yield from self.ladder.shelf.lacking()
        with closing(Ledgers(self.ladder)) as ledgers:
            for ledger in ledgers.all:
                yield from ledger.lacking()

    def among(self, match: Match) -> Match:
        """The same file, matched to papers asked for only."""
        by_title = [self.papers.get(name) for name in _names(Ids(), match.titles)]
        return replace(
            match,
            claimed_ids=self._ids(match.claimed_ids) or next(filter(None, by_title), Ids()),
            name_ids=self._ids(match.name_ids),
            same_name=tuple(filter(self._includes, match.same_name)),
            same_title=tuple(filter(self._includes, match.same_title)),
            foreign=True,
        )

    def forget(self, ids: Ids) -> None:
        """A paper was filed: another file of it is not asked for."""
        had = self._ids(ids)
        self.papers = {name: one for name, one in self.papers.items() if not one.shares(had)}

    def _ids(self, claimed: Ids) -> Ids:
        found = (self.papers.get(name) for name in _names(claimed))
        return next(filter(None, found), Ids())

    def _includes(self, paper: Paper) -> bool:
        return bool(self._ids(paper.ids))


def _names(ids: Ids, titles: Sequence[str] = ()) -> list[str]:
    """Fingerprints of a paper's identifiers, and of titles that tell one paper from others."""
    told = (title for title in titles if telling_words(title) >= _LEAST_WORDS)
    return [
        *(fingerprint(name) for name in ids.names()),
        *(fingerprint("title", *title_words(title)) for title in told),
    ]


@dataclass(slots=True)
class ForeignFolder:
    """A folder in which a person's browser saves, among much else, papers.

    Raises
    ------
    BadRequest
        There is no such folder, it cannot be read, or it is the shelf itself.
    """

    ladder: Ladder
    folder: Path
    wanted: Wanted = field(init=False)
    looked_at: LookedAt = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.folder.expanduser().resolve()
        shelf = self.ladder.shelf.folder
        self._list()
        if self.folder.is_relative_to(shelf.resolve()):
            msg = f"{self.folder} belongs to the shelf."
            raise BadRequest(msg, f"Leave --folder out: {shelf / FOLDER} is looked at anyway.")
        self.wanted = Wanted(self.ladder)
        self.looked_at = LookedAt.in_folder(self.folder, shelf)

    def _list(self) -> list[Path]:
        hint = "Give the folder that your browser saves into: --folder ~/Downloads"
        if not self.folder.is_dir():
            raise BadRequest(f"{self.folder} is not a folder.", hint)
        try:
            return list_files(self.folder, may_be_paper)[0]
        except StoreFailed as error:
            raise BadRequest(error.message, hint) from None

    def fresh(self) -> dict[Path, str]:
        """The files to look at, the newest first, with their fingerprints."""
        marks = marks_of(self._list())
        self.wanted.renew(at_once=bool(self.looked_at.fresh(marks)))
        fresh = self.looked_at.fresh(marks, self.wanted.papers)
        newest = sorted(fresh, key=lambda path: status(path)[1], reverse=True)
        return {path: fresh[path] for path in newest}

    def take_wanted(self, fresh: dict[Path, str]) -> Iterator[InboxResult]:
        """Look at files, and file those that are papers asked for."""
        with closing(Inbox(self.ladder)) as inbox:
            try:
                for path, mark in fresh.items():
                    if done := self._take(inbox, path, mark):
                        yield done
            finally:
                self.looked_at.save(self._list())

    def _take(self, inbox: Inbox, path: Path, mark: str) -> InboxResult | None:
        """File one file, if it is a paper asked for; noted only when that is done."""
        try:
            told, _ = inbox.read_match(path)
        except FileNotFoundError:
            return None
        except BadContent:  # no text in it, and nobody asked
            self.looked_at.add(mark)
            return None
        match = self.wanted.among(told)
        done = None
        if match:
            inbox.look_up([match])
            done = inbox.take(match)
        names = {*_names(told.claimed_ids, told.titles), *_names(told.name_ids)}
        others = names - self.wanted.papers.keys()
        if done and done.outcome == "filed":
            self.wanted.forget(Ids.maybe(done.paper))
        again = done is not None and done.outcome == "postponed"
        news = self.looked_at.is_news(mark, others, again=again)
        return (
            replace(done, file=one_line(replace_surrogates(str(path)))) if done and news else None
        )


def take_in_from(ladder: Ladder, folder: str | Path) -> Iterator[InboxResult]:
    """File what is a paper asked for in a folder that is not ours, once.

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
    yield from foreign.take_wanted(foreign.fresh())


def watch(
    ladder: Ladder, *, accept: str = "", folder: str | Path = ""
) -> Generator[InboxResult, None, None]:
    """File what arrives in the inbox, and what is asked for in *folder*, for ever.

    Each file is looked at when nobody writes to it any more, and not again until it changes; what
    no source could tell is tried again after some minutes. *accept* is as for `.inbox.take_in`,
    and never holds for *folder*.

    Raises
    ------
    BadRequest
        The folder cannot be looked at.
    """
    safe_files.make_folder(ladder.shelf.folder / FOLDER)
    ours = LookedAt()
    foreign = ForeignFolder(ladder, Path(folder)) if folder else None
    while True:
        yield from take_in(ladder, accept=accept, looked_at=ours)
        fresh = foreign.fresh() if foreign else {}
        some = dict(islice(fresh.items(), _AT_A_TIME))
        if foreign and some:
            yield from foreign.take_wanted(some)
        if len(some) == len(fresh):
            time.sleep(EVERY_S)
