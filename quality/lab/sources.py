"""Where the lab's papers come from: the recorded articles, and our own small ones everywhere."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from lxml import etree

from quality import own
from quality.cases import WHOLE_THOUGH_SHORT, WITHOUT_BODY, Article, Folder, _record
from quality.lab.kinds import SHORT
from quality.lab.manuscript import Manuscript, numbered, of_jats
from utils.model.paper import Paper

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
# So long a body can be cut, and what is left is told from it.
LEAST_WORDS = 700
# On a printed page. The invented papers claim more pages than they fill.
WORDS = 700
NOTICES = frozenset(WHOLE_THOUGH_SHORT)


Recorded = tuple[str, Path, Paper | None]


@cache
def manuscripts(shared: bool) -> tuple[Manuscript, ...]:
    """Every whole paper with a body, the shortest first."""
    if not shared:
        with tempfile.TemporaryDirectory() as folder:
            own.build(Path(folder))
            found = [_told(one) for one in Folder(Path(folder)).articles if _whole(one)]
            kept = [one for one in _sorted(found) if one.body_words >= SHORT]
            return tuple(numbered(one, one.body_words // WORDS + 1) for one in kept)
    return _sorted(_shared())


def _sorted(found: list[Recorded]) -> tuple[Manuscript, ...]:
    made = (_taken_apart(*one) for one in found)
    kept = [one for one in made if one is not None and one.body_words > 40 and one.title]
    return tuple(sorted(kept, key=lambda one: (one.body_words, one.name)))


def _shared() -> list[Recorded]:
    found = [_told(article) for article in Folder(SHARED).articles if _whole(article)]
    for path in sorted(SHARED.glob("pdf_pairs/*/jats.xml")):
        record = _record({}, path.parent)
        found.append((path.parent.name, path, record if record.title else None))
    places = (*SHARED.glob("gold/jats_*/**/*ml"), *SHARED.glob("html/publisher/*/*/jats.xml"))
    for path in sorted(path for path in places if path.is_file()):
        name = path.parent.name if path.parent.suffix or path.stem == "jats" else path.stem
        found.append((name, path, None))
    return found


def _told(article: Article) -> Recorded:
    paper = article.paper if article.paper.title else None
    return article.name, article.folder / "jats.xml", paper


def _whole(article: Article) -> bool:
    return article.expected == "full_text" and article.name not in WITHOUT_BODY


def _taken_apart(name: str, path: Path, paper: Paper | None) -> Manuscript | None:
    beside = (("pdf", "paper.pdf"), ("pdf", "fulltext.pdf"), ("html", "fulltext.html"))
    files = tuple((media, path.parent / name) for media, name in beside)
    try:
        known = tuple(
            (media, file) for media, file in files if file.exists() and SHARED in file.parents
        )
        return of_jats(name, path.read_bytes(), paper, known)
    except (etree.XMLSyntaxError, StopIteration):  # excerpts among the gold files
        return None
