"""Render the news of watches: as text, as a page, as an Atom feed, and as an e-mail.

The feed follows RFC 4287. The identifier of an entry never changes, so that a reader shows it once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from email.message import EmailMessage
from email.utils import format_datetime, localtime
from pathlib import Path
from typing import Any

from ..errors import BadRequest
from ..model.paper import Paper, utc_now
from ..system.safe_files import write_file
from .labels import build_paper_links, pluralize
from .page import render_template, shorten_to_line

NEWS_LABELS = {
    "retracted": "retracted",
    "concern": "expression of concern",
    "corrected": "corrected",
    "gained": "full text on the shelf now",
    "new_copy": "in PMC now",
    "citing": "cites it",
    "citation searching": "found by citations",
    "new": "new",
}
"""Words for each kind of news, the most urgent kind first."""
FORMATS = (".html", ".atom", ".eml", ".txt")
_TITLE_MAX_CHARS = 300
_AUTHORS_MAX_CHARS = 120
Item = Mapping[str, Any]


def write_digest(
    path: Path, news: Sequence[Any], silent: Sequence[str] = (), address: str = ""
) -> None:
    """Write a digest in the format that the file's name ends in, one of `FORMATS`.

    *news* are those of `..curation.watches.Digest`, *silent* are sentences about what could not be
    asked, and *address* is the reader's address for an e-mail, which is written and not sent.

    Raises
    ------
    BadRequest
        The name ends otherwise.
    StoreFailed
        The file cannot be written.
    """
    if path.suffix not in FORMATS:
        msg = f"{path.name} does not end in one of {', '.join(FORMATS)}."
        raise BadRequest(msg, f"Name it {path.with_suffix('.html').name}.")
    text, items = format_digest(news, silent), list(map(_build_item, news))
    if path.suffix == ".eml":
        mail = EmailMessage()
        mail["Subject"] = f"Papershelf: {_count_news(items)}"
        mail["Date"] = format_datetime(localtime())
        mail["To"] = address
        mail.set_content(text)
        mail.add_alternative(_render_news("digest.html", items, silent), subtype="html")
        write_file(path, mail.as_bytes())
        return
    page = text if path.suffix == ".txt" else _render_news(f"digest{path.suffix}", items, silent)
    write_file(path, page.encode("utf-8", "replace"))


def format_digest(news: Sequence[Any], silent: Sequence[str] = ()) -> str:
    """Return a digest as text: the news of each watch, the most urgent first."""
    items = list(map(_build_item, news))
    lines = [_count_news(items)]
    for watch, its_items in _group_by_watch(items):
        lines += ["", watch]
        for item in its_items:
            lines += [f"  {item['label']}: {item['title']}", f"    {item['about']}"]
            lines += [f"    {item['detail']}"] * bool(item["detail"])
            lines += [f"    {item['links'][0].url}"] * bool(item["links"])
    if silent:
        lines += ["", "Could not be asked:", *(f"  {why}" for why in silent)]
    return "\n".join(lines) + "\n"


def _build_item(news: Any) -> Item:
    """Return one piece of news with everything that a digest shows."""
    paper: Paper = news.paper
    name = "\n".join((news.watch, news.outcome, paper.ids.key or paper.title, news.detail))
    where = (paper.author_names, paper.journal, paper.year, paper.ids.key)
    return {
        "watch": news.watch,
        "outcome": news.outcome,
        "label": NEWS_LABELS.get(news.outcome, news.outcome),
        "title": shorten_to_line(paper.title, _TITLE_MAX_CHARS) or paper.ids.key,
        "about": " · ".join(shorten_to_line(part, _AUTHORS_MAX_CHARS) for part in where if part),
        "detail": news.detail,
        "links": build_paper_links(paper.ids),
        "at": news.at,
        "id": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}",
    }


def _count_news(items: Sequence[Item]) -> str:
    return pluralize(len(items), "piece of news", "pieces of news") if items else "No news"


def _group_by_watch(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    order = [*NEWS_LABELS, *(item["outcome"] for item in items)]
    for watch in dict.fromkeys(item["watch"] for item in items):
        news = [item for item in items if item["watch"] == watch]
        yield watch, sorted(news, key=lambda one: order.index(one["outcome"]))


def _render_news(template: str, items: Sequence[Item], silent: Sequence[str]) -> str:
    newest = max((item["at"] for item in items), default=utc_now())
    return render_template(
        template,
        headline=_count_news(items),
        watches=list(_group_by_watch(items)),
        items=items,
        silent=silent,
        at=newest,
        feed_id=f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'papershelf watches')}",
    )
