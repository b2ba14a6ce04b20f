"""The shelf as a list that can be searched, filtered and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from starlette.responses import Response

from ..errors import PaperError
from ..model.identifiers import Ids
from ..model.paper import Kind, StoredPaper, Verdict, Version
from ..model.passage import Filters
from ..model.versions import VERSION_NAMES
from ..shelf.listing import SORT_ORDERS
from .desk import Desk, build_link, read_number, to_name
from .words import KIND_NAMES, describe_verdict

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 50
_MAX_PASSAGES = 100
_TEXT_FILTERS = (
    *("text", "author", "journal", "min_date", "max_date", "kind", "version", "license"),
    "tag",
)
_FILTERS = (*_TEXT_FILTERS, "verdict", "sort_by", "job", "view", "retracted", "has_pdf", "within")
_WITHIN = {"": "Titles and abstracts", "texts": "Full texts, by words and meaning"}
_LICENSES = ("CC BY", "CC BY-NC", "CC BY-NC-ND", "CC BY-NC-SA", "CC BY-SA", "CC0")
_SORT_NAMES = {
    "newest": "Newest on the shelf",
    "year": "Year, latest first",
    "oldest": "Year, earliest first",
    "title": "Title",
    "author": "First author",
    "journal": "Journal",
}
_VIEWS = {"": "Cards", "table": "Table"}


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the shelf's list.

    ``filters`` are those of the address, ``start`` the number of papers before this page.
    ``passages`` has the passage for which a paper was found in the full texts, by the paper's path.
    """

    papers: Sequence[StoredPaper]
    total: int
    start: int
    filters: Mapping[str, str]
    passages: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()

    @property
    def active_filters(self) -> dict[str, str]:
        """The filters of the address that leave something out."""
        shown = ("sort_by", "view", "within")
        return {name: value for name, value in self.filters.items() if name not in shown}

    @property
    def previous_page(self) -> str:
        """The address of the page before; empty on the first page."""
        start = max(0, self.start - PAGE_SIZE)
        return build_link("/", **self.filters, start=start) if self.start else ""

    @property
    def next_page(self) -> str:
        """The address of the next page; empty on the last page."""
        start = self.start + PAGE_SIZE
        return build_link("/", **self.filters, start=start) if start < self.total else ""

    @property
    def last(self) -> int:
        """The number of papers up to the end of this page."""
        return self.start + len(self.papers)


def show_shelf(desk: Desk, request: Request) -> Response:
    """Return the shelf's list with the filters of the address."""
    filters = {name: value for name in _FILTERS if (value := request.query_params.get(name, ""))}
    listing = _list_papers(desk, filters, read_number(request.query_params, "start"))
    emptied: list[str] = []
    if not listing.total and listing.active_filters and not filters.get("within"):
        emptied = desk.library.texts.emptied_by(
            job_id=filters.get("job", ""), **_to_options(filters)
        )
    return desk.render(
        "shelf.html",
        listing=listing,
        filters=dict.fromkeys(_FILTERS, "") | filters,
        emptied=emptied,
        shelf_is_empty=not listing.total and not listing.active_filters,
        folder=desk.library.shelf.folder,
        jobs=desk.library.harvests.all(),
        pdfs=_find_pdfs(desk, listing.papers),
        describe_verdict=describe_verdict,
        kind_names=KIND_NAMES,
        version_names=VERSION_NAMES,
        choices=_list_choices(),
    )


def _list_choices() -> dict[str, dict[str, str]]:
    """Return the values of each filter, with their names."""
    verdicts = ("full_text", "doubtful", "by_hand", *get_args(Verdict))
    return {
        "kind": {one: KIND_NAMES[one] for one in get_args(Kind)},
        "version": {one: VERSION_NAMES[one] for one in get_args(Version) if one},
        "license": {one: one for one in _LICENSES},
        "verdict": {one: describe_verdict(one).name for one in dict.fromkeys(verdicts)},
        "sort_by": {one: _SORT_NAMES[one] for one in SORT_ORDERS},
        "view": _VIEWS,
        "within": _WITHIN,
    }


def _list_papers(desk: Desk, filters: Mapping[str, str], start: int) -> Listing:
    """Return a page of the shelf; words that are an identifier find the paper itself."""
    if ids := Ids.maybe(filters.get("text", "")):
        if papers := desk.library.shelf.find_texts(ids):
            return Listing(papers, len(papers), 0, filters)
        if not filters["text"].strip().isdigit():
            return Listing((), 0, 0, filters)
    if filters.get("within") and filters.get("text", "").strip():
        return _search_texts(desk, filters)
    total, found = desk.library.list_papers(
        job_id=filters.get("job", ""),
        start=start,
        max_results=PAGE_SIZE,
        prefix=True,
        **_to_options(filters),
    )
    return Listing(list(found), total, start, filters)


def _search_texts(desk: Desk, filters: Mapping[str, str]) -> Listing:
    """Return the papers with the best passages about the words, the best first."""
    from ..library.finding import collect_names

    job = filters.get("job", "")
    members = collect_names(desk.library, job) if job else None
    options = _to_options({**filters, "text": ""})

    def list_fitting(papers: Iterable[str]) -> list[StoredPaper]:
        named = [ids for one in papers if (ids := Ids.maybe(one))]
        names = frozenset(name for ids in named for name in ids.names())
        among = names if members is None else names & members
        return desk.library.shelf.list_papers(among=among, max_results=3 * len(named), **options)[1]

    def keep_fitting(papers: set[str]) -> set[str]:
        fitting = {name for one in list_fitting(papers) for name in one.paper.ids.names()}
        return {one for one in papers if (ids := Ids.maybe(one)) and fitting & {*ids.names()}}

    narrow = any(options.values()) or members is not None
    chosen = Filters(
        retracted=bool(filters.get("retracted")), keep=keep_fitting if narrow else None
    )
    answer = desk.library.corpus.find(filters["text"], top_k=_MAX_PASSAGES, filters=chosen)
    passages: dict[str, str] = {}
    for one in answer.hits:
        if one.passage.file:
            passages.setdefault(one.passage.file, one.passage.text)
    order = list(passages)
    papers = sorted(
        (
            one
            for one in list_fitting({one.passage.paper for one in answer.hits})
            if to_name(one) in passages
        ),
        key=lambda one: order.index(to_name(one)),
    )
    texts = {one.path: passages[to_name(one)] for one in papers}
    return Listing(papers, len(papers), 0, filters, texts, answer.warnings)


def _to_options(filters: Mapping[str, str]) -> Any:
    """Return the filters as options of `..library.Library.list_papers`."""
    names = (*_TEXT_FILTERS, "verdict", "sort_by")
    options: dict[str, str | bool] = {name: filters.get(name, "") for name in names}
    return options | {name: bool(filters.get(name)) for name in ("retracted", "has_pdf")}


def _find_pdfs(desk: Desk, papers: Sequence[StoredPaper]) -> set[str]:
    """Return the paths of the papers that have a PDF."""
    return {one.path for one in papers if desk.library.shelf.pdfs.find_pdf(one)}


def find_cited(desk: Desk, papers: Sequence[Ids]) -> dict[Ids, str]:
    """Return the addresses of those papers that are on the shelf."""
    try:
        absent = desk.library.shelf.find_papers_without_text(papers) if papers else set()
    except PaperError:
        return {}
    return {ids: build_link("/paper", id=ids.key) for ids in papers if ids not in absent}
