"""Whole papers in pages of odd make: each part is read where it stands, once, with its marks."""

import pytest

from utils.model.paper import Document, Fetched
from utils.outline.words import count_words
from utils.readers import html

ABSTRACT = "Skylarks sing longer when the wind is low, and longest before rain."
SENTENCES = (
    "We followed forty marked males over three springs on two heaths in the north of the county.",
    "Each song was timed by ear and by a recorder that stood a hundred metres from the nest.",
    "Wind was measured at the height of a bird in flight, every minute from dawn until noon.",
    "Males sang for eleven minutes on average when the air was still and for four in a breeze.",
    "Before rain they sang for fourteen, and rain followed within the hour on nine days of ten.",
    "Females came out of the grass more often when the song was long, whatever the weather was.",
    "We conclude that the length of a song says something of the male and something of the sky.",
)
PROSE = [" ".join(SENTENCES[at:] + SENTENCES[:at]) for at in range(len(SENTENCES))]
BODY = "".join(f"<p>{text}</p>" for text in PROSE)
ENTRIES = (
    "Arne B, Holm C. Song and weather in larks. J Heath Birds. 2011;4:12-19.",
    "Dahl E. A recorder for open country. Field Methods. 2014;9:101-8.",
    "Frey G, Iversen H, Jonsson K. Rain and the barometer of birds. Weather Ecol. 2017;2:33-41.",
    "Kjær L, Moe N. What females listen to in the open. Anim Talk. 2019;21:7-15.",
)


def read(body: str) -> Document:
    sent = f"<html><head><title>Larks</title></head><body>{body}</body></html>".encode()
    return html.read_document(
        Fetched(
            body=sent, media="html", url="https://journal.test/a", source="publisher", via="journal"
        )
    )


def headings(document: Document) -> list[str]:
    return [line.lstrip("# ") for line in document.markdown.split("\n") if line.startswith("#")]


@pytest.mark.parametrize(
    "listed",
    ["<h2>References</h2><ol>{}</ol>", "<ul class='references'><h2>References</h2>{}</ul>"],
    ids=["heading above the list", "heading in the list"],
)
def test_a_reference_said_again_beside_its_citation_goes_and_the_number_stays(listed: str) -> None:
    cited = (
        "<p>{} It is known [<span class='ref'><a href='#c{n}'>{n}</a><span class='window'>{entry}"
        " <a href='/x'>[Crossref]</a></span></span>].</p>"
    )
    body = "".join(
        cited.format(text, n=number, entry=entry)
        for number, (text, entry) in enumerate(zip(PROSE, ENTRIES, strict=False), 1)
    )
    items = "".join(f"<li id='c{n}'>{entry}</li>" for n, entry in enumerate(ENTRIES, 1))
    document = read(
        f"<article><h1>Larks</h1><h2>Introduction</h2>{body}{listed.format(items)}</article>"
    )
    assert document.references == len(ENTRIES)
    for number, entry in enumerate(ENTRIES, 1):
        assert f"It is known [{number}]." in document.markdown
        assert document.markdown.count(entry) == 1


def test_text_after_keywords_and_a_printed_doi_is_the_papers_text() -> None:
    document = read(
        f"<main><h1>Larks</h1><article><h3>Abstract</h3><section><p>{ABSTRACT}</p></section>"
        "<h4>doi:10.1000/larks.7</h4><h3>Keywords</h3><div>song ; weather</div>"
        f"{BODY}<h4>References</h4><ol>{''.join(f'<li>{e}</li>' for e in ENTRIES)}</ol>"
        "</article></main>"
    )
    assert document.abstract.startswith(ABSTRACT)
    assert "Main text" in headings(document)
    assert document.body_words >= count_words(" ".join(PROSE))


def test_a_short_abstract_in_a_box_of_its_own_does_not_swallow_the_text() -> None:
    document = read(
        f"<div id='all'><div id='full'><div><div><h3>Abstract</h3></div><p>{ABSTRACT}</p></div>"
        f"<div><h3>Keywords:</h3><ul><li>song;</li><li>rain;</li></ul></div>{BODY}<div><h3>"
        f"References</h3><ol>{''.join(f'<li>{e}</li>' for e in ENTRIES)}</ol></div></div>"
        f"<div><h3>News</h3><p>Members meet in May.</p><p>{SENTENCES[0]} {ABSTRACT}</p></div></div>"
    )
    assert document.abstract == ABSTRACT
    assert document.body_words >= count_words(" ".join(PROSE))


LISTED = "".join(f"<li>{entry}</li>" for entry in ENTRIES)


def paper(text: str, references: str = f"<h2>References</h2><ol>{LISTED}</ol>") -> Document:
    return read(f"<article><h1>Larks</h1><h2>Results</h2>{text}{BODY}{references}</article>")


def test_a_link_that_is_a_word_of_its_sentence_stays_whatever_its_class() -> None:
    sentence = "<p>{} Table <a class='popup' href='/p?t=1'>1</a> shows the lengths.</p>"
    assert "Table [1](" in paper(sentence.format(PROSE[0])).markdown


def test_the_heads_of_sections_and_figures_stay_without_the_buttons_beside_them() -> None:
    document = paper(
        f"<section><header class='section-header'><h3>Timing</h3><a href='/ask'>Request the full"
        f" protocol</a></header><div><p>{PROSE[0]}</p></div></section>"
        "<section><header class='section-header'><h3>The wind at the height of a bird in flight, "
        f"by the minute</h3><a href='/ask'>Protocol</a></header><p>{PROSE[2]}</p></section>"
        "<div class='viewer'><div class='viewer-header'><span>Figure 1</span> with a supplement "
        "<a href='/all'>see all</a> <a href='/get'>Download this asset now</a></div>"
        "<figure><figcaption>Songs of forty males on two heaths, by wind.</figcaption></figure>"
        f"</div><p>{PROSE[1]}</p><div class='related-header'><h3>Related</h3><a href='/1'>Of larks"
        " and men</a><a href='/2'>Of larks and cats</a><a href='/3'>Of larks and owls</a><a "
        "href='/4'>Of larks and larks</a></div>"
    )
    assert "### Timing" in document.markdown
    assert "Figure 1 with a supplement" in document.markdown
    for gone in ("protocol", "Protocol", "see all", "asset now", "Related", "owls"):
        assert gone not in document.markdown


def test_a_doi_among_the_buttons_of_a_reference_stays_and_more_authors_is_a_button() -> None:
    items = "".join(
        f"<li><b>{entry[:10]}<a class='show' href='#'>+{n} more</a></b>{entry[10:]} <a href="
        f"'https://doi.org/10.1000/{n}7'>https://doi.org/10.1000/{n}7</a> <a href='/s'>Search</a>"
        f" <a href='/f{n}'>{'Other Library Full Text' if n == 1 else 'Search'}</a></li>"
        for n, entry in enumerate(ENTRIES, 1)
    )
    document = paper("", f"<h2>References</h2><ol>{items}</ol>")
    for number in range(1, len(ENTRIES) + 1):
        assert f"https://doi.org/10.1000/{number}7" in document.markdown
    for gone in ("more", "Search", "Library"):
        assert gone not in document.markdown.split("## References")[1]


def test_a_table_kept_apart_comes_back_with_its_notes_and_a_caption_with_its_signs() -> None:
    said = "Table 1 Time of song in m s<sub>2</sub> by wind, <i>Alauda</i>"
    rows = "<tr><th>Wind</th><th>Song<sup>a</sup></th></tr><tr><td>none</td><td>11</td></tr>"
    document = read(
        f"<article><h1>Larks</h1><h2>Results</h2><div><h3>{said}</h3></div>{BODY}<h2>References"
        f"</h2><ol>{LISTED}</ol><div class='hidden'><table><caption>{said}</caption>{rows}</table>"
        "<sup>a</sup> Minutes, by ear.</div></article>"
    )
    caption = "Table 1 Time of song in m s<sub>2</sub> by wind, *Alauda*"
    assert f"{caption}\n\n| Wind | Song<sup>a</sup> |" in document.markdown
    assert "<sup>a</sup> Minutes, by ear.\n\nWe followed" in document.markdown
    assert document.references == len(ENTRIES)


@pytest.mark.parametrize(
    ("keywords", "shown"),
    [
        ("<a href='/k1'>bird song</a><a href='/k2'>weather</a><a>wind</a>", "bird song; weather;"),
        ("<div><span>bird song</span><span> weather</span></div>", "bird song;  weather"),
        ("<p><a href='/k1'>bird song</a>, <a href='/k2'>weather</a></p>", "bird song, weather"),
        ("<ul><li><a href='/k1'>bird song</a>, </li><li>weather;</li></ul>", "- bird song\n- weat"),
    ],
    ids=["buttons", "spans", "links", "list"],
)
def test_keywords_stay_apart_and_lead_nowhere(keywords: str, shown: str) -> None:
    document = read(
        f"<article><h1>Larks</h1><h2>Abstract</h2><p>{ABSTRACT}</p><h3>Keywords</h3>{keywords}"
        f"<h2>Results</h2>{BODY}</article>"
    )
    assert shown in document.markdown
    assert "/k1" not in document.markdown


def test_numbers_in_boxes_of_their_own_are_the_lists() -> None:
    boxes = "".join(
        f"<article class='ref'><div><div><div><span>{n}</span></div></div></div>"
        f"<div><cite>{entry}</cite></div></article>"
        for n, entry in enumerate(ENTRIES, 1)
    )
    document = paper("", f"<h2>References</h2><div class='reflinks'>{boxes}</div>")
    assert f"2. {ENTRIES[1]}\n3. {ENTRIES[2]}" in document.markdown


def test_an_abstract_of_paragraphs_without_a_box_goes_on_to_the_keywords() -> None:
    told = "".join(f"<p>Part {at}: {text}</p>" for at, text in enumerate(PROSE[:3]))
    document = read(
        f"<article><h1>Larks</h1><h3>Abstract</h3>{told}<h4>doi:10.1000/larks.7</h4>"
        "<h3>Keywords</h3><div><span><a href='/k1'>song</a>; </span><span><a>wind</a></span></div>"
        f"<h3>Introduction</h3>{BODY}<h3>References</h3><ol>{LISTED}</ol></article>"
    )
    assert "Main text" not in headings(document)
    assert "song; wind" in document.markdown
