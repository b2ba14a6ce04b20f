"""A small PubMed: files of a few records, made for a test, and a mirror of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.corpus.small_corpus import LetterEmbedder
from tests.fixtures import fixture_text
from tests.world import World
from tests.world.pubmed_files import Bulk, name_of, packed
from utils import Library
from utils.mirror import Mirror
from utils.mirror.updates import MirrorProgress


def article(pmid: int, title: str = "", version: int = 1) -> str:
    """A record as short as may be."""
    text = title or f"Title {pmid}"
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        "<Journal><Title>Annals</Title><JournalIssue><PubDate><Year>2020</Year></PubDate>"
        f"</JournalIssue></Journal><ArticleTitle>{text}</ArticleTitle><Abstract><AbstractText>"
        f"What {text} says of corals.</AbstractText></Abstract></Article></MedlineCitation>"
        "</PubmedArticle>"
    )


RICH = fixture_text("mirror/small_mirror_rich.xml")
"""A record with something of everything."""


def articles(pmids: Iterable[int], title: str = "") -> bytes:
    """A file of such records."""
    return packed(article(pmid, title and f"{title} {pmid}") for pmid in pmids)


def year(number: int = 26, files: int = 3, each: int = 4) -> Bulk:
    """A baseline: ``each`` records a file, PMIDs from 1 on."""
    made = Bulk()
    for at in range(files):
        pmids = range(at * each + 1, (at + 1) * each + 1)
        made.baseline[name_of(number, at + 1)] = articles(pmids, f"20{number}")
    made.last = name_of(number, files)
    return made


def mirror_of(world: World, folder: Path, **more: Any) -> Mirror:
    """A mirror of the world's files, in a folder."""
    addresses: dict[str, Any] = {name.lower(): to for name, to in world.environment().items()}
    places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Library(**addresses, **places, **more).mirror


def updated(mirror: Mirror, **options: Any) -> MirrorProgress:
    """The end of an update."""
    return [*mirror.update(**options)][-1]


def titles(mirror: Mirror) -> dict[int, str]:
    """What is live, by PMID."""
    rows = mirror.sql().sql("SELECT pmid, title FROM records ORDER BY pmid").fetchall()
    return dict(rows)


def bytes_of(mirror: Mirror) -> dict[str, bytes]:
    """Every file that is part of the result, by name; times of making are none."""
    return {
        str(path.relative_to(mirror.folder)): path.read_bytes()
        for place in ("part", "generation")
        for path in sorted((mirror.folder / place).rglob("*.parquet"))
        if path.name != "manifest.parquet"
    }


class Counting(LetterEmbedder):
    """One that says which texts it was given."""

    def __init__(self, model="letters-1"):
        self.model, self.texts = model, []

    def embed_texts(self, texts):
        self.texts += texts
        return super().embed_texts(texts)

    def embed_question(self, text):
        return super().embed_texts([text])[0]
