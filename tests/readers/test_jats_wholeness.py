"""A body cut short is told by what the rest of the article promises; short papers are left be."""

from collections.abc import Iterable

import pytest

from utils.judges.check import judge_completeness
from utils.judges.signs import weigh_signs
from utils.model.paper import Document, Fetched, Paper
from utils.readers import jats

SENTENCE = "Observers counted landings on each disc and noted the wind of that day. "  # 13 words


def article(body: str, refs: int = 0, meta: str = "") -> Document:
    listed = "".join(
        f'<ref id="r{n}"><mixed-citation>Roe {n}</mixed-citation></ref>' for n in range(refs)
    )
    xml = (
        '<article article-type="research-article">'
        f"<front><article-meta>{meta}</article-meta></front>"
        f"<body>{body}</body><back><ref-list>{listed}</ref-list></back></article>"
    )
    return jats.read_document(
        Fetched(xml.encode(), "jats", "https://pmc.test/a", "pmc", "pmc_cloud")
    )


def section(title: str, times: int, cites: Iterable[int] = ()) -> str:
    cited = "".join(f'<xref ref-type="bibr" rid="r{n}">{n}</xref>' for n in cites)
    return f"<sec><title>{title}</title><p>{SENTENCE * times} {cited}</p></sec>"


def pointing(kind: str, *ids: str) -> str:
    return "<p>" + "".join(f'<xref ref-type="{kind}" rid="{rid}">1</xref>' for rid in ids) + "</p>"


PAGES = "<fpage>11</fpage><lpage>{}</lpage>"
COUNTS = '<counts><fig-count count="{}"/></counts>'
INTRODUCTION = section("1. Introduction", 10, range(12))
PARTS = {
    "cites few": (section("Comment", 20, range(3)), 20, "", "261 words cite 3 of 20 references"),
    "lists many": (section("Comment", 10), 40, "", "130 words for 40 references"),
    "leaves out a row": (section("Comment", 40, [*range(8), *range(12, 20)]), 20, "",
        "521 words cite 16 of 20 references, skipping 4 in a row"),
    "leaves out the last": (section("Comment", 40, range(17)), 20, "",
        "521 words cite 17 of 20 references, none of the last 3"),
    "many pages": (section("Comment", 20), 0, PAGES.format(30), "260 words for 20 pages"),
    "no results": (INTRODUCTION + section("Study design", 10) + section("Methods", 10), 12, "",
        "no conclusion after the section 'Methods', no results section"),
    "a lost link": (section("Comment", 30, range(9)) + pointing("fig", "f1"), 9, "",
        "figure f1 is referred to, but missing"),
    "no figures": (section("Comment", 30, range(9)) + pointing("fig", "f1", "f2"), 9, "",
        "figure f1 and 1 more are referred to, but missing"),
    "figures stated": (section("Comment", 30), 0, COUNTS.format(4), (
        "0 of the 4 figures that the record "
        "counts"
    )),
    "a figure left out": (section("Comment",
        30) + "".join(f"<fig><label>Figure {number}</label></fig>" for number in (1, 3)), 0, "",
        "figure 2 is missing before figure 3"),
    "a section left out": (section("1. Colours", 30) + section("3. Summary", 30), 0, "",
        "section 2 is missing before section 3"),
    "figures and nothing else": (
        "<p>Seen in the field.</p>"
        + "".join(
            f"<fig><label>Figure {number}</label><caption><p>{SENTENCE * 20}</p></caption></fig>"
            for number in (1, 2)
        ),
        0,
        "",
        "only 4 of 524 words are outside figures and tables",
    ),
    "two weak signs": (section("Introduction", 60, range(20)) + section("Results",
        60) + pointing("table", "t1"), 20, "",
        ("table t1 is referred to, but missing, no conclusion after the section 'Results'")),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_a_body_that_is_not_all_there_is_told(name: str) -> None:
    body, refs, meta, said = PARTS[name]
    read = article(body, refs, meta)
    finding = weigh_signs(read.signs, "")
    assert (finding.verdict, finding.evidence) == ("partial", said)


def ranged(first: int, last: int) -> str:
    ends = (f'<xref ref-type="bibr" rid="r{n}">{n}</xref>' for n in (first, last))
    return "<p>As many saw before " + "\u2013".join(ends) + ".</p>"


WHOLES = {
    "a letter": (section("Colours", 10, range(4)), 4, ""),
    "a note without references": (section("Introduction", 10), 0, ""),
    "references nobody links to": (section("Colours", 30), 20, ""),
    "a long text with a bibliography": (section("Discussion", 400, range(0, 40, 3)), 40, ""),
    "one that cites all": (INTRODUCTION + section("Results", 40) + section("Discussion", 9), 12,
        ""),
    "one that cites a range": (section("Colours", 30) + ranged(0, 19), 20, ""),
    "one that leaves a few uncited": (section("Comment", 30, [*range(9), *range(10, 15), *range(16,
        20)]), 20, ""),
    "a figure miscounted": (section("Comment", 30), 0, COUNTS.format(1)),
    "few words for its pages": (section("Comment", 30), 0, PAGES.format(15)),
    "pages that are no numbers": (section("Colours", 9), 0, "<fpage>e1</fpage><lpage>e40</lpage>"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLES)
def test_whole_papers_are_not_doubted(name: str) -> None:
    body, refs, meta = WHOLES[name]
    read = article(body, refs, meta)
    assert not weigh_signs(read.signs, "").is_rejection


def test_a_few_words_for_many_references_refuse_even_xml_that_declares_itself() -> None:
    body, refs, meta, _ = PARTS["lists many"]
    document = article(body, refs, meta)
    assert judge_completeness(document, Paper(document.ids)).verdict == "partial"


def test_a_link_into_a_reply_is_no_promise_of_the_article() -> None:
    reply = f"<sub-article><body>{pointing('fig', 'f1', 'f2', 'f3')}</body></sub-article>"
    xml = f"<article><front/><body>{section('Colours', 20)}</body>{reply}</article>"
    read = jats.read_document(
        Fetched(xml.encode(), "jats", "https://pmc.test/a", "pmc", "pmc_cloud")
    )
    assert all("referred to" not in sign.words for sign in read.signs)
