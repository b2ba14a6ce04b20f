"""The JATS reader against 259 real articles: what is in the body must be in the markdown."""

import html
import re
from collections import Counter
from pathlib import Path

import pytest

from quality.benchmarks.jats_to_markdown import completeness, normal
from tests.readers.jats_snippets import read
from utils.model.identifiers import Ids
from utils.model.paper import Document

pytestmark = pytest.mark.shared
# May be raised, never lowered.
PARAGRAPH_FLOOR = 0.999
CELL_FLOOR = 1.0
WORD_FLOOR = 0.995


@pytest.fixture(scope="module")
def documents() -> dict[str, tuple[bytes, Document]]:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "articles"
    bodies = {path.parent.name: path.read_bytes() for path in sorted(folder.glob("*/jats.xml"))}
    return {name: (body, read(body)) for name, body in bodies.items()}


@pytest.mark.slow
def test_paragraphs_and_cells_are_kept_verbatim(
    documents: dict[str, tuple[bytes, Document]],
) -> None:
    kept: dict[str, list[bool]] = {"paragraphs": [], "cells": []}
    for body, document in documents.values():
        for kind, flags in completeness(body, document.markdown).items():
            kept[kind].extend(flags)
    assert len(kept["paragraphs"]) > 9000
    assert len(kept["cells"]) > 25_000
    assert sum(kept["paragraphs"]) / len(kept["paragraphs"]) >= PARAGRAPH_FLOOR
    assert sum(kept["cells"]) / len(kept["cells"]) >= CELL_FLOOR


def test_every_article_says_who_it_is(documents: dict[str, tuple[bytes, Document]]) -> None:
    for name, (_body, document) in documents.items():
        assert document.ids
        assert document.ids.pmcid in {"", name}  # the oldest files do not tell
        assert document.title
        assert document.markdown.startswith("# ")
        assert document.verdict == "full_text"


def test_markdown_has_no_empty_blocks_and_whole_tables(
    documents: dict[str, tuple[bytes, Document]],
) -> None:
    for name, (_body, document) in documents.items():
        assert "\n\n\n" not in document.markdown, name
        width = 0
        for line in document.markdown.split("\n"):
            if not line.startswith("|"):
                width = 0
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            width = width or cells
            assert cells == width, (name, line)


def test_words_of_the_texts_made_by_people_are_there(
    documents: dict[str, tuple[bytes, Document]], shared: Path
) -> None:
    shares = {}
    for path in sorted(shared.glob("articles/*/gold.craft.txt")):
        wanted = Counter(_words(path.read_text(encoding="utf-8")))
        found = Counter(_words(documents[path.parent.name][1].markdown))
        missing = sum((wanted - found).values())
        shares[path.parent.name] = 1 - missing / sum(wanted.values())
    assert len(shares) >= 20
    assert min(shares.values()) >= WORD_FLOOR, shares


def _words(text: str) -> list[str]:
    text = re.sub(r"</?(?:sub|sup|i|b)>|[*\\]", "", html.unescape(text))
    return re.findall(r"[^\W\d_]{2,}", text)


def test_articles_of_a_real_set_are_found_by_their_identifiers(shared: Path) -> None:
    body = (shared / "pmc" / "efetch" / "pubget_batch_0.xml").read_bytes()
    numbers = re.findall(rb'<article-id pub-id-type="pmid">(\d+)</article-id>', body)
    assert numbers
    for number in numbers[:5]:
        assert read(body, Ids(pmid=number.decode())).ids.pmid == number.decode()


def test_a_namespaced_article_of_the_oai_service_is_read(shared: Path) -> None:
    document = read(next((shared / "pmc" / "oai").glob("*.xml")).read_bytes())
    assert document.ids.pmcid == "PMC1183515"
    assert document.abstract
    assert document.evidence == "the XML has no <body>"
    assert normal(document.title) in normal(document.markdown)
