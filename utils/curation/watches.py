"""Watch queries, authors, papers and reviews, and report each piece of news about them once.

| watch | news |
|---|---|
| query, author | papers that entered PubMed, or another searched site, since the last check |
| paper | papers that cite it; a new full text of it on the shelf |
| review | what `..review.updating` finds |

Retractions, corrections and copies in PMC are news of a watched paper, and of all papers that a
query has found. The first check of a watch learns what is there already, and reports nothing.

What is known and what is news lie in ``watches.db`` on the shelf. A check stores both in one
transaction, and a piece of news stays unseen until its digest was written. So a check that is
killed is repeated, and nothing is reported twice or lost.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from ..command_line import command_line
from ..download.ladder import Ladder
from ..download.records import PUBMED_ANEW, fetch_records, look_up_records
from ..errors import BadRequest, NotFound, PaperError, UnknownName
from ..harvest.searches import build_site_queries, collect_papers
from ..http import require_answers_since
from ..model.identifiers import Ids
from ..model.paper import Paper, format_timestamp, paper_from_row, to_row, utc_now
from ..search.citation_indexes import MAX_LINKED, CitationIndex, list_citation_indexes
from ..sources import Query
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import one_line
from ..system.safe_files import exclusive_lock, make_folder
from ..system.sqlite import open_file_transaction
from .recheck import find_notice_news
from .text_recheck import recheck_files

Kind = Literal["query", "author", "paper", "review"]
KINDS: tuple[Kind, ...] = ("query", "author", "paper", "review")
FEED_ENTRIES = 200
_OVERLAP_S = 30 * 86_400.0  # PubMed adds records days after their date of entry
_OVERLAP_ELSEWHERE_S = 365 * 86_400.0  # other sites search by date of publication only
_MAX_REFRESHED = 1_000  # known papers of a query whose records are asked for again, latest first
_SCHEMAS = (
    """CREATE TABLE IF NOT EXISTS watches (name TEXT PRIMARY KEY, kind TEXT NOT NULL,
        added_at TEXT NOT NULL, checked_at TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS known (watch TEXT NOT NULL, key TEXT NOT NULL,
        paper TEXT NOT NULL, PRIMARY KEY (watch, key))""",
    """CREATE TABLE IF NOT EXISTS news (number INTEGER PRIMARY KEY, watch TEXT NOT NULL,
        outcome TEXT NOT NULL, key TEXT NOT NULL, detail TEXT NOT NULL, paper TEXT NOT NULL,
        at TEXT NOT NULL, seen_at TEXT NOT NULL, UNIQUE (watch, outcome, key, detail))""",
)


@dataclass(frozen=True, slots=True)
class Watch:
    """A watched query, an author's name, an identifier, or the name of a review."""

    name: str
    kind: Kind
    added_at: str
    checked_at: str = ""


@dataclass(frozen=True, slots=True)
class News:
    """One piece of news: ``new``, ``citing``, or an outcome of `.recheck.Change`."""

    watch: str
    outcome: str
    paper: Paper
    detail: str = ""
    at: str = field(default_factory=utc_now)
    number: int = 0

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        about = {"watch": self.watch, "outcome": self.outcome, "detail": self.detail, "at": self.at}
        return about | self.paper.short_row()


@dataclass(frozen=True, slots=True)
class Digest:
    """The unseen news, all watches, and what could not be asked, with the reason."""

    news: tuple[News, ...]
    watches: tuple[Watch, ...]
    silent: tuple[str, ...] = ()


UpdateReview = Callable[[str, int | None], tuple[list[News], Iterable[str], int]]


@dataclass(frozen=True, slots=True)
class Watches:
    """The watches of a shelf.

    ``update_review`` updates a review. It takes the number of the last event whose news are known,
    and returns the later news, the sources that did not answer, and the number of the last event.
    """

    ladder: Ladder
    list_reviews: Callable[[], Iterable[str]]
    update_review: UpdateReview

    def add(self, name: str, kind: Kind | None = None) -> Watch:
        """Start a watch; one that exists is left as it is.

        Without a kind, *name* is a review of this name, else an identifier, else a query.

        Raises
        ------
        BadRequest
            The name is empty, is not a review or identifier, or cannot be searched.
        """
        if kind is not None and kind not in KINDS:
            msg = f"{kind!r} is not a kind of watch."
            raise BadRequest(msg, f"Choose among {', '.join(KINDS)}.")
        name = one_line(name)
        if not name:
            raise BadRequest("Nothing to watch was given.", "Give a query, a paper or a review.")
        reviews = [*self.list_reviews()]
        guessed: Kind = "review" if name in reviews else "paper" if Ids.maybe(name) else "query"
        kind = kind or guessed
        if kind == "review" and name not in reviews:
            near = suggest_nearest_name(name, reviews)
            raise BadRequest(f"There is no review {name!r}.", near or "Make it first.")
        if kind == "paper":
            name = Ids.parse(name).key
        elif kind == "query":
            build_site_queries(name, (), self.ladder.sources)
        with self._open() as db:
            values = name, kind, utc_now()
            db.execute("INSERT OR IGNORE INTO watches VALUES (?, ?, ?, '')", values)
        return next(watch for watch in self.list_all() if watch.name == name)

    def remove(self, name: str) -> None:
        """End a watch, and forget what it knows.

        Raises
        ------
        UnknownName
            There is no such watch.
        """
        ids = Ids.maybe(name)
        names = [watch.name for watch in self.list_all()]
        found = next((one for one in names if one in {one_line(name), ids and ids.key}), "")
        if not found:
            near = suggest_nearest_name(name, names)
            listed = f"To list all: {command_line('watch --list')}"
            raise UnknownName(f"{name!r} is not watched.", near, listed)
        with self._open() as db:
            db.execute("DELETE FROM watches WHERE name = ?", (found,))
            for table in ("known", "news"):
                db.execute(f"DELETE FROM {table} WHERE watch = ?", (found,))  # noqa: S608

    def list_all(self) -> list[Watch]:
        """Return all watches in the order in which they were added."""
        with self._open() as db:
            return [Watch(*row) for row in db.execute("SELECT * FROM watches ORDER BY rowid")]

    def check(self) -> Digest:
        """Check all watches, and return all unseen news, also from earlier checks.

        A watch for which a site did not answer stays as it was, and is in ``silent``.

        Raises
        ------
        NotConfigured
            No e-mail address is set.
        """
        self.ladder.web.settings.require_email("NCBI")
        silent: list[str] = []
        make_folder(self._folder)
        with exclusive_lock(self._folder / "watches.lock"):
            for watch in self.list_all():
                try:
                    self._check_watch(watch, silent)
                except PaperError as miss:
                    undo = command_line(f"watch '{watch.name}' --undo")
                    end = f" To end the watch: {undo}" * isinstance(miss, BadRequest | NotFound)
                    silent.append(f"{watch.name}: {miss.message}{end}")
        return replace(self.read(), silent=tuple(silent))

    def write(self, digest: Digest, output: str | Path) -> None:
        """Write a digest as ``.html``, ``.txt``, ``.eml`` (not sent), or ``.atom``.

        A feed has the latest news as well as those of the digest.
        """
        from ..reports.digest import write_digest

        path = Path(output)
        news = self.read(unseen=False).news if path.suffix == ".atom" else digest.news
        write_digest(path, news, digest.silent, self.ladder.web.settings.contact)

    def read(self, since: str = "", *, unseen: bool = True) -> Digest:
        """Return stored news without asking any site: the unseen ones, or all *since* a day."""
        with self._open() as db:
            rows = db.execute(
                """SELECT watch, outcome, paper, detail, at, number FROM news
                    WHERE at >= ? AND (seen_at = '' OR ?) ORDER BY number DESC LIMIT ?""",
                (since, bool(since) or not unseen, -1 if unseen or since else FEED_ENTRIES),
            ).fetchall()
        news = tuple(News(w, o, paper_from_row(json.loads(p)), *more) for w, o, p, *more in rows)
        return Digest(news, tuple(self.list_all()))

    def mark_seen(self, digest: Digest) -> None:
        """Record that the news of a digest were shown."""
        with self._open() as db:
            rows = [(utc_now(), one.number) for one in digest.news]
            db.executemany("UPDATE news SET seen_at = ? WHERE number = ?", rows)

    # -- one watch ---------------------------------------------------------------------------

    def _check_watch(self, watch: Watch, silent: list[str]) -> None:
        """Find the news of a watch, and store them with what is known by now."""
        known = self._read_known(watch)
        now = utc_now()
        news: list[News] = []
        if watch.kind == "review":
            last = max((int(key.split()[-1]) for key in known), default=None)
            news, unanswered, last = self.update_review(watch.name, last)
            silent.extend(f"{watch.name}: {why}" for why in unanswered)
            learned: dict[str, Paper | None] = {f"event {last}": None}
        elif watch.kind == "paper":
            learned = dict(self._check_paper(watch, known, news, silent))
        else:
            learned = dict(self._search(watch, known, news))
            learned |= self._refresh_records(watch, known, news)
        if not watch.checked_at and watch.kind != "review":
            news = []
        rows = [
            (watch.name, one.outcome, _get_key(one.paper), one.detail, _to_json(one.paper), now)
            for one in news
        ]
        with self._open() as db:
            db.executemany(
                "INSERT OR REPLACE INTO known VALUES (?, ?, ?)",
                [(watch.name, key, _to_json(paper)) for key, paper in learned.items()],
            )
            db.executemany(
                """INSERT OR IGNORE INTO news (watch, outcome, key, detail, paper, at, seen_at)
                    VALUES (?, ?, ?, ?, ?, ?, '')""",
                rows,
            )
            db.execute("UPDATE watches SET checked_at = ? WHERE name = ?", (now, watch.name))

    def _search(
        self, watch: Watch, known: Mapping[str, Paper | None], news: list[News]
    ) -> Iterator[tuple[str, Paper]]:
        """Yield the papers of a query or author that are not known, and add them to the news."""
        text = watch.name if watch.kind == "query" else f"pubmed: {watch.name}[au]"
        planned = [
            replace(one, query=self._limit_to_recent(one.query, one.source.name, watch))
            for one in build_site_queries(text, (), self.ladder.sources)
        ]
        held = [paper for paper in known.values() if paper]
        found = collect_papers(planned, {}, self.ladder, held)
        wanted = [entry.ids for entry in found.papers if entry.ids]
        sources, web = self.ladder.sources, self.ladder.web
        papers = [p for p in (entry.paper for entry in found.papers if not entry.ids) if p]
        for ids, record in fetch_records(wanted, self.ladder.shelf, web, sources):
            papers.append(record if isinstance(record, Paper) else Paper(ids))
        for paper in papers:
            news.append(News(watch.name, "new", paper))
            yield _get_key(paper), paper

    def _limit_to_recent(self, query: Query, source: str, watch: Watch) -> Query:
        """Return a query for what may have been added since the last check."""
        is_pubmed = source == "pubmed"
        overlap_s = _OVERLAP_S if is_pubmed else _OVERLAP_ELSEWHERE_S
        checked_s = datetime.fromisoformat(watch.checked_at or utc_now()).timestamp()
        first = format_timestamp(checked_s - overlap_s)[:10].replace("-", "/")
        return replace(query, min_date=first, date_type="edat" if is_pubmed else "pdat")

    def _refresh_records(
        self, watch: Watch, known: Mapping[str, Paper | None], news: list[News]
    ) -> dict[str, Paper]:
        """Return the current records of known papers that changed; add what is new to the news."""
        held = [(key, one) for key, one in known.items() if one and one.ids.pmid]
        wanted = {Ids(pmid=one.ids.pmid): (key, one) for key, one in held[-_MAX_REFRESHED:]}
        if not wanted:
            return {}
        with require_answers_since(time.time()):
            found = look_up_records(list(wanted), self.ladder.web, [PUBMED_ANEW])
        changed = {}
        for ids, record in found.items():
            key, before = wanted[ids]
            if isinstance(record, Paper) and (fresh := _compare_records(watch, before, record)):
                news += fresh
                changed[key] = replace(record, ids=record.ids | before.ids)
        return changed

    def _check_paper(
        self,
        watch: Watch,
        known: Mapping[str, Paper | None],
        news: list[News],
        silent: list[str],
    ) -> Iterator[tuple[str, Paper | None]]:
        """Yield what is known of a paper by now: its record, and the names of citing papers."""
        ids = Ids.parse(watch.name)
        web, sources = self.ladder.web, self.ladder.sources
        with require_answers_since(time.time()):
            record = look_up_records([ids], web, sources)[ids]
        if isinstance(record, PaperError):
            raise record
        if before := known.get("record"):
            news += _compare_records(watch, before, record)
        yield "record", record
        if stored := self.ladder.shelf.find_text(record.ids):
            file = stored.path.replace("\\", "/").rpartition("/")[2]
            changes = recheck_files([file], self.ladder)
            news += [
                News(watch.name, one.outcome, record, one.detail)
                for one in changes
                if one.outcome == "gained" and stored.kind != "full_text"
            ]
        for index in list_citation_indexes(web.settings):
            if index.accepts(record.ids):
                try:
                    yield from self._find_citing(watch, record.ids, index, known, news)
                except PaperError as miss:
                    silent.append(f"{watch.name}: {miss.message}")

    def _find_citing(
        self,
        watch: Watch,
        ids: Ids,
        index: CitationIndex,
        known: Mapping[str, Paper | None],
        news: list[News],
    ) -> Iterator[tuple[str, None]]:
        """Yield the names of papers that an index lists as citing; add new papers to the news.

        The first list of an index is not news: an index may have been silent at the first check.
        """
        web = self.ladder.web
        with require_answers_since(time.time()):
            _, links, _ = index.lists(ids, "citations", MAX_LINKED, web)
        every = [Ids(pmid=one.pmid, doi=one.doi) for one in links if one.pmid or one.doi]
        told = {name for one in news for name in one.paper.ids.names()} | set(known)
        fresh = [one for one in every if not told & set(one.names())]
        is_first = f"index {index.name}" not in known
        wanted = [] if is_first else fresh
        for one, record in fetch_records(wanted, self.ladder.shelf, web, self.ladder.sources):
            paper = record if isinstance(record, Paper) else Paper(one)
            if not told & set(paper.ids.names()):
                told |= set(paper.ids.names())
                news.append(News(watch.name, "citing", paper, f"{index.name} lists it."))
            yield from ((name, None) for name in paper.ids.names())
        yield f"index {index.name}", None
        yield from ((name, None) for one in every for name in one.names())

    def _read_known(self, watch: Watch) -> dict[str, Paper | None]:
        with self._open() as db:
            rows = db.execute(
                "SELECT key, paper FROM known WHERE watch = ? ORDER BY rowid", (watch.name,)
            ).fetchall()
        return {key: paper_from_row(json.loads(row)) if row else None for key, row in rows}

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open a transaction on the database of watches."""
        make_folder(self._folder)
        return open_file_transaction(self._folder / "watches.db", _SCHEMAS)

    @property
    def _folder(self) -> Path:
        """The folder of the database."""
        return self.ladder.shelf.folder / ".papershelf"


def _compare_records(watch: Watch, before: Paper, after: Paper) -> list[News]:
    """Return what a current record adds to the known one."""
    news = [
        News(watch.name, outcome, after, why) for outcome, why in find_notice_news(before, after)
    ]
    was_closed = not before.ids.pmcid or before.released > watch.checked_at[:10]
    if was_closed and after.ids.pmcid and after.released <= utc_now()[:10]:
        news.append(News(watch.name, "new_copy", after, f"PMC has a copy, {after.ids.pmcid}."))
    return news


def _get_key(paper: Paper) -> str:
    return paper.ids.key or one_line(paper.title)


def _to_json(paper: Paper | None) -> str:
    return json.dumps(to_row(paper), ensure_ascii=False) if paper else ""
