"""A folder of cases: what lies where, and the record every text is judged against.

The layout is that of ``../shared/data``: ``articles.jsonl`` with a row an article,
``articles/*/jats.xml`` (and ``paper.pdf``, ``gold.craft.txt``, ``europepmc_core.json``),
``html/publisher/**/fulltext.html`` (and ``jats.xml``, ``fulltext.pdf``), ``html/block``, ``jina``,
``gold``. A folder may have any of them.
A row may say ``verdict``; a folder's ``verdicts.json`` names the verdict of each page beside it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

from lxml import etree
from lxml.html import fromstring

from utils import readers as formats
from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Fetched, Media, Paper

# The eight recorded articles that were labelled "front-only" because their bodies are short, read
# one by one. Six are corrections, and two sentences are all there is of them: whole papers.
WHOLE_THOUGH_SHORT = {
    "PMC5901780": "correction: 'The bottom of Fig 3 is cut off', and the figure again",
    "PMC5957382": "correction: three sentences on who is the corresponding author",
    "PMC5972654": "corrigendum: the citation left out of three legends, and an apology",
    "PMC5992215": "author correction: the affiliation left out",
    "PMC6039523": "author correction: the grant left out",
    "PMC6184540": "corrigendum: credit to a colleague, and an apology",
}
WITHOUT_BODY = {
    "doi_10.1038_s41467-025-67169-7": "all its body says is REDACTED",
    "doi_10.1088_1475-7516_2023_05_001": "there is no body element; references only",
}
# What the recorded walls are, opened in an editor one by one.
WALLS = {
    "biomcp_pmc_article__pmc3040717-supplementary-tables-pow.html": "bot_check",
    "cloudflare_2024_pnas_saved_as.pdf": "bot_check",
    "cloudflare_js_challenge_03_12_2018.html": "bot_check",
    "cloudflare_js_challenge_21_03_2019.html": "bot_check",
    "hollow_knight.camel_test.txt": "not_a_paper",  # an encyclopedia's page about a game
    "not_found_page.bai_test.txt": "error_page",
    "target_404.codifier_test.txt": "error_page",
}
SOMEBODY = Paper(
    ids=Ids(doi="10.9103/asked.2026.1"),
    title="Ice cover and spawning dates of perch in boreal lakes",
    abstract="Perch spawn when the ice is gone. " * 20,
    authors=(Author(family="Asked"),),
)


@dataclass(frozen=True)
class Article:
    """A JATS article, its record, and the verdict it deserves."""

    folder: Path
    paper: Paper
    expected: str

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @cached_property
    def jats(self) -> bytes:
        """The XML."""
        return (self.folder / "jats.xml").read_bytes()


@dataclass(frozen=True)
class Page:
    """A publisher's page with its record; ``jats`` is None where there is none beside it."""

    path: Path
    paper: Paper
    jats: Path | None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.parent.name


class Folder:
    """The cases of a folder: all, or one article, page and PDF in *every* so many."""

    def __init__(self, root: Path, every: int = 1) -> None:
        self.root = root
        self.every = every

    @cached_property
    def articles(self) -> list[Article]:
        """Every article with a JATS file."""
        listed = self.root / "articles.jsonl"
        lines = listed.read_text("utf-8").splitlines() if listed.exists() else []
        rows = {}
        for row in map(json.loads, lines):
            if "jats" in row["files"]:
                rows[Path(row["files"]["jats"]).parent.name] = row
        paths = sorted(self.root.glob("articles/*/jats.xml"))[:: self.every]
        folders = [path.parent for path in paths]
        return [
            Article(folder, _record(rows.get(folder.name, {}), folder), _expected(folder, rows))
            for folder in folders
        ]

    @cached_property
    def pages(self) -> list[Page]:
        """Publishers' pages, first those whose article is known in JATS, the small ones first."""
        paths = sorted(self.root.glob("html/publisher/**/*.html"))
        known = {path: path.with_name("jats.xml") for path in paths}
        paths.sort(key=lambda path: (not known[path].exists(), path.stat().st_size))
        return [
            Page(path, _claimed(path.read_bytes()), known[path] if known[path].exists() else None)
            for path in paths[:: self.every]
        ]

    @cached_property
    def walls(self) -> list[tuple[Path, str]]:
        """What came instead of a paper, each with its name."""
        told = dict(WALLS)
        for path in self.root.glob("*/**/verdicts.json"):
            told |= json.loads(path.read_text("utf-8"))
        places = [*self.root.glob("html/block/*"), *self.root.glob("jina/*.txt")]
        return [(path, told[path.name]) for path in sorted(places) if path.name in told]

    @property
    def benchmark_pages(self) -> Iterator[tuple[str, bytes, str]]:
        """(name, page, main content as an annotator marked it)."""
        for path in sorted(self.root.glob("gold/html_wcxb/*/*.json"))[:: self.every]:
            gold = json.loads(path.read_text("utf-8"))["ground_truth"]["main_content"]
            yield path.stem, gzip.decompress(path.with_suffix(".html.gz").read_bytes()), gold

    @property
    def benchmark_pdfs(self) -> Iterator[tuple[str, bytes, str]]:
        """(name, PDF, running text that another program's authors corrected)."""
        for path in sorted(self.root.glob("gold/pdf_s2orc/*.pdf"))[:: self.every]:
            recorded = path.with_suffix(".json").read_text("utf-8")
            spoken = set(re.findall(r"\w+", recorded.casefold()))
            parsed = json.loads(recorded)["pdf_parse"]
            texts = [_unbroken(paragraph["text"], spoken) for paragraph in parsed["body_text"]]
            yield path.stem, path.read_bytes(), " ".join(_untorn(texts))


def _untorn(texts: list[str]) -> list[str]:
    """Paragraphs in a reader's order: the recorded one tears a sentence around a footnote."""
    for at, (before, note, rest) in enumerate(zip(texts, texts[1:], texts[2:], strict=False)):
        if not before.endswith(".") and note.endswith(".") and rest[:1].islower():
            return [*texts[: at + 1], rest, note, *_untorn(texts[at + 3 :])]
    return texts


def _unbroken(text: str, spoken: set[str]) -> str:
    """A recorded text without hyphens of lines' ends: *MED-LINE*, where it also has *Medline*."""

    def joined(found: re.Match[str]) -> str:
        whole = found[1] + found[2]
        return whole if whole.casefold() in spoken else found[0]

    return re.sub(r"(\w+)-(\w+)", joined, text)


def fetched(body: bytes, media: Media) -> Fetched:
    """What a site would have sent."""
    return Fetched(body, media, "https://publisher.test/a", "test", "test")


def verdict(body: bytes, media: Media, paper: Paper) -> tuple[str, Document | None]:
    """The verdict on a text that was asked for as *paper*, and the text if it was accepted."""
    try:
        document = formats.read_and_judge(fetched(body, media), paper)
    except BadContent as error:
        return error.outcome, None
    return document.verdict, document


def read(body: bytes, media: Media) -> Document:
    """The text, nobody having judged it."""
    reader = import_module(f"utils.readers.{formats.READER_MODULES[media]}")
    document: Document = reader.read_document(fetched(body, media))
    return document


def _expected(folder: Path, rows: dict[str, dict[str, str]]) -> str:
    row = rows.get(folder.name, {})
    if "verdict" in row:
        return row["verdict"]
    return "front_matter_only" if folder.name in WITHOUT_BODY else "full_text"


def _record(row: dict[str, object], folder: Path) -> Paper:
    core = folder / "europepmc_core.json"
    told = json.loads(core.read_text("utf-8")) if core.exists() else {}
    ids = Ids(
        doi=str(row.get("doi") or "").lower(),
        pmid=str(row.get("pmid") or ""),
        pmcid=str(row.get("pmcid") or ""),
    )
    names = _told(told.get("authorList"), "lastName") or list(row.get("authors") or [])  # type: ignore[call-overload]
    titles = _told(told, "title", depth=2) or [str(row.get("title") or "")]
    abstracts = _told(told, "abstractText") or [str(row.get("abstract") or "")]
    pages = _told(told, "pageInfo") or [str(row.get("pages") or "")]
    return Paper(
        ids=ids,
        title=_without_tags(titles[0]),
        abstract=_without_tags(abstracts[0]),
        authors=tuple(Author(family=name) for name in names if name),
        pages=pages[0],
    )


def _told(answer: object, name: str, depth: int = 9) -> list[str]:
    """Every text under *name*: answers of Europe PMC differ in how they nest."""
    if isinstance(answer, list) and depth:
        return [text for part in answer for text in _told(part, name, depth)]
    if not isinstance(answer, dict) or not depth:
        return []
    here = answer.get(name, [])
    found = [here] if isinstance(here, str) else [text for text in here if isinstance(text, str)]
    return found + [
        text for part in answer.values() for text in _told(part, name, depth - 1) if part != here
    ]


def _without_tags(text: str) -> str:
    return " ".join(fromstring(f"<p>{text}</p>").itertext()) if "<" in text else text


def asked_for(page: bytes, name: str) -> Paper:
    """The record a wall was met with: the paper it names, or somebody else's."""
    named = _claimed(page) if b"citation_title" in page and name != "wrong_paper" else None
    return named or SOMEBODY


def media_of(path: Path, body: bytes) -> Media:
    """How a file would have been served, honestly."""
    if body.startswith(b"%PDF"):
        return "pdf"
    return "markdown" if path.suffix in {".txt", ".md"} else "html"


def _claimed(page: bytes) -> Paper:
    """The record of a page by its ``citation_*`` tags."""
    tree = fromstring(page)

    def meta(*names: str) -> list[str]:
        return [
            el.get("content", "").strip()
            for name in names
            for el in tree.iter("meta")
            if (el.get("name") or el.get("property") or "").lower() == name
        ]

    dois = (value.lower().removeprefix("doi:") for value in meta("citation_doi", "dc.identifier"))
    doi = next((value for value in dois if value.startswith("10.")), "")
    return Paper(
        ids=Ids(doi=doi),
        title=next(iter(meta("citation_title", "dc.title", "og:title")), ""),
        authors=tuple(Author(family=_family(name)) for name in meta("citation_author")),
    )


def _family(name: str) -> str:
    return name.split(",", maxsplit=1)[0] if "," in name else name.rpartition(" ")[2]


def without_ids(body: bytes) -> bytes:
    """The JATS with nothing in it that names the article but title, authors and text."""
    tree = etree.fromstring(body, etree.XMLParser(resolve_entities=False, load_dtd=False))
    for el in tree.xpath("//*[local-name()='article-id' or local-name()='related-article']"):
        parent = el.getparent()
        if parent is not None:
            previous = el.getprevious()
            if previous is not None:
                previous.tail = (previous.tail or "") + (el.tail or "")
            parent.remove(el)
    return bytes(etree.tostring(tree))
