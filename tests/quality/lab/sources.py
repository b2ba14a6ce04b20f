"""Where the lab's papers come from: the recorded articles, and our own small ones everywhere."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from lxml import etree

from tests.quality import own
from tests.quality.cases import WHOLE_THOUGH_SHORT, WITHOUT_BODY, Article, Folder, _record
from utils.paper import Paper

from .manuscript import Manuscript, of_jats

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
# So long a body can be cut, and what is left is told from it.
LEAST_WORDS = 700
# Shorter ones are letters and notices, which are kinds of their own.
SHORT = 400
NOTICES = frozenset(WHOLE_THOUGH_SHORT)


@cache
def manuscripts(shared: bool) -> tuple[Manuscript, ...]:
    """Every whole paper with a body, the shortest first."""
    made = (_taken_apart(name, jats, paper) for name, jats, paper in _articles(shared))
    kept = [one for one in made if one is not None and one.body_words > 40 and one.title]
    return tuple(sorted(kept, key=lambda one: (one.body_words, one.name)))


def _articles(shared: bool) -> list[tuple[str, bytes, Paper | None]]:
    if not shared:
        with tempfile.TemporaryDirectory() as folder:
            own.build(Path(folder))
            return [_told(article) for article in Folder(Path(folder)).articles if _whole(article)]
    found = [_told(article) for article in Folder(SHARED).articles if _whole(article)]
    for path in sorted(SHARED.glob("pdf_pairs/*/jats.xml")):
        record = _record({}, path.parent)
        found.append((path.parent.name, path.read_bytes(), record if record.title else None))
    places = (*SHARED.glob("gold/jats_*/**/*ml"), *SHARED.glob("html/publisher/*/*/jats.xml"))
    for path in sorted(path for path in places if path.is_file()):
        name = path.parent.name if path.parent.suffix or path.stem == "jats" else path.stem
        found.append((name, path.read_bytes(), None))
    return found


def _told(article: Article) -> tuple[str, bytes, Paper | None]:
    return article.name, article.jats, article.paper if article.paper.title else None


def _whole(article: Article) -> bool:
    return article.expected == "full_text" and article.name not in WITHOUT_BODY


def _taken_apart(name: str, jats: bytes, paper: Paper | None) -> Manuscript | None:
    try:
        return of_jats(name, jats, paper)
    except (etree.XMLSyntaxError, StopIteration):  # excerpts among the gold files
        return None
