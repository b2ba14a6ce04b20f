"""A body cut short is told by what the rest of the article promises; short papers are left be."""

from __future__ import annotations

import pytest

from utils.formats import jats
from utils.paper import Document, Fetched

SENTENCE = "Observers counted landings on each disc and noted the wind of that day."  # 13 words


def article(body: str, refs: int = 0, meta: str = "") -> Document:
    listed = "".join(
        f'<ref id="r{n}"><mixed-citation>Roe {n}</mixed-citation></ref>' for n in range(refs)
    )
    xml = (
        '<article article-type="research-article">'
        f"<front><article-meta>{meta}</article-meta></front>"
        f"<body>{body}</body><back><ref-list>{listed}</ref-list></back></article>"
    )
    return jats.read(Fetched(xml.encode(), "jats", "https://pmc.test/a", "pmc", "pmc_cloud"))


def section(title: str, times: int, cites: range = range(0)) -> str:
    cited = "".join(f'<xref ref-type="bibr" rid="r{n}">{n}</xref>' for n in cites)
    return f"<sec><title>{title}</title><p>{SENTENCE * times} {cited}</p></sec>"


PARTS = {
    "cites few": (section("Colours", 20, range(3)), 20, "", "of 20 references"),
    "lists many": (section("Colours", 10), 40, "", "for 40 references"),
    "many pages": (
        section("Colours", 20),
        0,
        "<fpage>11</fpage><lpage>30</lpage>",
        "for 20 pages",
    ),
    "no results": (
        section("1. Introduction", 10, range(8)) + section("Methods", 10),
        10,
        "",
        "before the results",
    ),
    "no figure": (
        section("Colours", 30, range(9)) + '<p><xref ref-type="fig" rid="f1">Fig. 1</xref></p>',
        9,
        "",
        "fig f1",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_body_that_is_not_all_there_is_told(name: str) -> None:
    body, refs, meta, said = PARTS[name]
    read = article(body, refs, meta)
    assert (read.verdict, said in read.evidence) == ("partial", True), read.evidence


WHOLES = {
    "a letter": (section("Colours", 10, range(4)), 4, ""),
    "a note without references": (section("Introduction", 10), 0, ""),
    "references nobody links to": (section("Colours", 30), 20, ""),
    "a long text with a bibliography": (section("Colours", 200, range(3)), 40, ""),
    "one that cites all": (section("Introduction", 20, range(12)) + section("Results", 20), 12, ""),
    "pages that are no numbers": (section("Colours", 9), 0, "<fpage>e1</fpage><lpage>e40</lpage>"),
}


@pytest.mark.parametrize("name", WHOLES)
def test_whole_papers_are_not_doubted(name: str) -> None:
    body, refs, meta = WHOLES[name]
    read = article(body, refs, meta)
    assert (read.verdict, read.evidence) == ("full_text", "")
