"""A small corpus for tests: a real database and a real finder, and a model of sixteen numbers."""

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from utils.corpus import Corpus
from utils.corpus.stored_records import Source
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.model.passage import Passage
from utils.settings import Settings
from utils.shelf import Shelf

DIM = 16


class LetterEmbedder:
    """Texts of the same letters in pairs are alike: a real vector, and no model."""

    model = "letters-1"
    dim = DIM

    def explain_unavailable(self) -> str:
        return ""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.full((len(texts), DIM), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                row[zlib.crc32("".join(pair).encode()) % DIM] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed_question(self, text: str) -> np.ndarray:
        return self.embed_texts([text])[0]


def corpus_in(folder: Path, *, vectors: bool = True, **settings: Any) -> Corpus:
    """An empty corpus of its own shelf."""
    corpus = Corpus(Settings(papers_dir=folder, **settings), None, Shelf(folder))
    corpus.__dict__["embedder"] = LetterEmbedder() if vectors else None
    return corpus


def paper(pmid: str, **about: Any) -> Paper:
    """A record as PubMed would have it."""
    usual: dict[str, Any] = {
        "ids": Ids(pmid=pmid), "title": f"Paper {pmid}", "journal": "Reef Studies",
        "published": "2024-05-11", "entered": "2024-06-02", "revised": "2024-06-15",
        "publication_types": ("Journal Article",),
    }  # fmt: skip
    return Paper(**{**usual, **about})


def passage(key: str, text: str, number: int = 0, **about: Any) -> Passage:
    """A passage of the paper *key*."""
    made = Passage(
        paper=key,
        chunk_id=f"abstract:{number}",
        section="Abstract",
        ordinal=number,
        text=text,
        start=100 * number,
        end=100 * number + len(text),
        kind="abstract",
        title=f"Paper {key.partition(':')[2]}",
        year=2024,
        journal="Reef Studies",
        publication_types=("Journal Article",),
    )
    made = replace(made, **about)
    return replace(made, digest=hashlib.sha256(made.embedding_text.encode()).hexdigest())


def fill(corpus: Corpus, papers: Iterable[Paper], passages: Iterable[Passage]) -> list[Passage]:
    """Keep and index them."""
    passages = list(passages)
    if papers := list(papers):
        corpus.database.store_records(papers)
    by_paper: dict[str, list[Passage]] = {}
    for one in passages:
        by_paper.setdefault(one.paper, []).append(one)
    for key, some in by_paper.items():
        corpus.database.replace_passages([(key, Source("digest"), some)])
    index(corpus, passages)
    return passages


def index(corpus: Corpus, passages: Sequence[Passage]) -> None:
    """Put them into the finder, with vectors where there is a model."""
    embedder = corpus.embedder
    if embedder is None:
        corpus.finder.prepare_for_model("", 0)
        corpus.finder.store_passages(passages, None)
    else:
        corpus.finder.prepare_for_model(embedder.model, embedder.dim)
        corpus.finder.store_passages(
            passages, embedder.embed_texts([one.embedding_text for one in passages])
        )
