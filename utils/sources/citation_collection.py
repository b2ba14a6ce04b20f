"""Fetch NIH's Open Citation Collection, the monthly table of citations among PMIDs.

A collection at figshare; each month's snapshot is an article there, whose files are listed with
size and MD5, and whose ``open_citation_collection.zip`` holds one CSV with the header
``citing,referenced`` and some 870 million lines. In the public domain (CC0).
https://docs.figshare.com (``/collections/{id}/articles``, ``/articles/{id}/files``) ·
https://doi.org/10.1371/journal.pbio.3000385 · collection:
https://nih.figshare.com/collections/iCite_Database_Snapshots_NIH_Open_Citation_Collection_/4586573
· header, file and MD5 as hugheylab/pmparser (R/get_citation.R) reads them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadContent, NotAvailable, Unreachable
from ..http import Answer, Rate, Web
from ..http.session import download_to_disk
from ..model.site import Address
from ..system import safe_files
from .loose_json import to_count, to_dicts, to_short_text
from .source import Source

COLLECTION = 4586573
ARCHIVE_NAME = "open_citation_collection.zip"
TABLE_NAME = "open_citation_collection.csv"
HEADER = ("citing", "referenced")
MAX_BYTES = 100_000_000_000
"""Of the ZIP, and of what is in it; the largest there was has a fifth of that."""
_MAX_SNAPSHOTS = 3  # snapshots, the newest first: one may lack the file
_PAGE = {"page_size": 100, "order": "published_date", "order_direction": "desc"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One month's collection: its date, the number of its article, the address of its file."""

    published: str
    article: int
    title: str
    url: str
    size: int
    md5: str


def find_newest_snapshot(web: Web) -> Snapshot:
    """Return the newest snapshot that has the file.

    Raises
    ------
    NotAvailable
        None of the newest has it.
    Unreachable
        figshare did not answer, or in a form of its own.
    """
    for snapshot in _find_snapshots(web, _list_articles(web)[:_MAX_SNAPSHOTS]):
        return snapshot
    msg = f"The newest snapshots of NIH's Open Citation Collection have no {ARCHIVE_NAME}."
    raise NotAvailable(msg, "Check its page, or make the table from PubMed's records alone.")


def _list_articles(web: Web) -> list[dict[str, Any]]:
    """Return the collection's articles, the newest first."""
    url = f"{_get_base_url(web)}/collections/{COLLECTION}/articles"
    rows = to_dicts(web.get(url, _PAGE, check=_require_list).json())
    return sorted(rows, key=lambda row: to_short_text(row.get("published_date")), reverse=True)


def _find_snapshots(web: Web, articles: Iterable[dict[str, Any]]) -> Iterator[Snapshot]:
    """Yield the articles that have the file, as snapshots."""
    for row in articles:
        number = to_count(row.get("id")) or 0
        files = web.get(f"{_get_base_url(web)}/articles/{number}/files", check=_require_list).json()
        for file in to_dicts(files):
            if file.get("name") == ARCHIVE_NAME:
                yield _to_snapshot(row, number, file)


def _get_day(row: dict[str, Any]) -> str:
    """Return the day of publication of an article."""
    return to_short_text(row.get("published_date"))[:10]


def _to_snapshot(row: dict[str, Any], number: int, file: dict[str, Any]) -> Snapshot:
    """Return the snapshot of an article and its file."""
    md5 = to_short_text(file.get("computed_md5")) or to_short_text(file.get("supplied_md5"))
    return Snapshot(
        published=_get_day(row),
        article=number,
        title=to_short_text(row.get("title")),
        url=to_short_text(file.get("download_url")),
        size=to_count(file.get("size")) or 0,
        md5=md5.lower(),
    )


def _require_list(answer: Answer) -> None:
    """Raise `Unreachable` for an answer that is not a list."""
    if not isinstance(answer.json(), list):
        raise Unreachable(f"{answer.host} sent no list.")


def fetch_snapshot(snapshot: Snapshot, path: Path, web: Web) -> Iterator[int]:
    """Download the ZIP to *path* and compare its MD5; yield the bytes so far, resumed ones too.

    Raises
    ------
    BadContent
        It has another MD5; it is fetched anew by the next run.
    """
    part = path.with_name(f".{path.name}.fetched")
    yield from download_to_disk(web, snapshot.url, part, MAX_BYTES)
    came = _compute_md5(part)
    if came != snapshot.md5:
        safe_files.delete_if_exists(part)
        msg = f"{ARCHIVE_NAME} of {snapshot.published} arrived with MD5 {came}; "
        msg += f"figshare says {snapshot.md5}."
        raise BadContent(msg, "The next run fetches it again.", verdict="partial")
    with safe_files.disk_errors(path):
        safe_files.flush_file(part)
        safe_files.replace_file(part, path)
        safe_files.flush_folder(path.parent)


def _compute_md5(path: Path) -> str:
    """Return the MD5 of a file."""
    with safe_files.disk_errors(path, "read"), path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _get_base_url(web: Web) -> str:
    """Return the address of the service."""
    return web.settings.address("citation_collection")


SOURCE = Source(
    name="citation_collection",
    about="NIH's Open Citation Collection: which PMID cites which, as one file a month",
    addresses=(
        Address(
            "citation_collection",
            "https://api.figshare.com/v2",
            "NIH's Open Citation Collection at figshare",
        ),
    ),
    # figshare publishes no limit; its good manners: https://docs.figshare.com, "rate limiting".
    rates=(Rate("citation_collection", ("citation_collection",), every=1.0, in_flight=1),),
)
