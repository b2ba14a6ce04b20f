"""Where paragraphs stand in what the site sent, under names that last."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from quality.cases import Folder, fetched, read
from tests.examples import some
from tests.shelf.papers import paper, save
from utils.errors import BadRequest
from utils.outline.blocks import build_anchors
from utils.outline.words import fold_words
from utils.readers.safe_xml import parse_untrusted_xml
from utils.readers.source_words import SourcePassageFinder, extract_source_words
from utils.shelf.pdf_files import get_pdf_path


@pytest.fixture
def jats(library, world):
    record = world.corpus.branch("pmc_cloud")
    library.download(f"PMID {record.pmid}")
    return record.pmid


@pytest.fixture
def pdf(library, world):
    record = world.corpus.branch("unpaywall_pdf")
    library.download(f"PMID {record.pmid}")
    return record.pmid


def test_paragraphs_of_xml_have_the_paths_of_their_elements(library, jats):
    places = library.texts.places(jats)
    root = parse_untrusted_xml(library.shelf.read_raw_answer(places.stored).fetched.body)
    exact = 0
    prose = [one for one in places.anchors if one.kind == "paragraph"]
    for anchor in prose:
        [place] = anchor.sources
        [element] = root.xpath(place.path)
        there = fold_words("".join(element.itertext()))
        said = fold_words(places.text[anchor.start : anchor.end])
        # Words of neighbours without a blank between them run together.
        assert "".join(said) in "".join(there) or places.text[anchor.start] == "$"
        exact += element.tag == "p" and there == said
    assert exact >= 0.8 * len(prose)


def test_every_paragraph_of_a_pdf_has_its_page_and_a_box_on_it(library, pdf):
    places = library.texts.places(pdf)
    pages = [place.page for one in places.anchors for place in one.sources]
    assert pages == sorted(pages)
    assert pages[0] == 1
    for anchor in places.anchors:
        for place in anchor.sources:
            left, bottom, right, top = place.box
            assert 0 <= left < right < 700
            assert 0 <= bottom < top < 900
    assert all(one.sources for one in places.anchors)


def test_paragraphs_of_a_page_stand_one_below_the_other(library, pdf):
    boxes = {}
    for anchor in library.texts.places(pdf).anchors:
        for place in anchor.sources[:1]:
            boxes.setdefault(place.page, []).append(place.box)
    assert all(
        above[1] >= below[3] - 1 for page in boxes.values() for above, below in pairwise(page)
    )


def test_a_pdf_opens_at_the_page(library, pdf):
    file = library.texts.keep_original(pdf)
    places = library.texts.places(pdf)
    last = places.anchors[-1]
    assert file.read_bytes().startswith(b"%PDF")
    assert places.build_link(last) == f"{file.as_uri()}#page={last.sources[0].page}"


def test_a_pdf_that_is_not_next_to_the_text_opens_where_it_came_from(library, pdf):
    places = library.texts.places(pdf)
    get_pdf_path(places.stored).unlink()
    assert places.build_link(places.anchors[0]) == f"{places.url}#page=1"


def test_names_stay_when_the_text_is_read_anew_and_other_words_come_before(library, jats):
    places = library.texts.places(jats)
    longer = places.text.replace("\n\n", "\n\nOne more paragraph that was not there.\n\n", 3)
    before = [one.name for one in places.anchors]
    after = [one.name for one in build_anchors(longer)]
    assert [name for name in after if name in set(before)] == before
    assert {one.start for one in build_anchors(longer)}.isdisjoint(
        {one.start for one in places.anchors[1:]}
    )


def test_the_same_words_twice_have_two_names():
    names = [one.name for one in build_anchors("# T\n\nNot applicable.\n\nNot applicable.\n")]
    assert len(set(names)) == 2
    assert names[1] == f"{names[0]}-2"


def test_markup_and_blanks_do_not_change_a_name():
    plain, marked = ("H2O and  ice melt.", "H<sub>2</sub>O and *ice*\nmelt.")
    assert build_anchors(plain)[0].name == build_anchors(marked)[0].name


def test_figures_and_tables_are_called_what_they_are():
    text = "# T\n\nSee Table 2.\n\n**Table 2.** Doses.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n"
    text += "**Extended Data Figure 3.** Bees in flight over the field.\n"
    assert [(one.name, one.kind) for one in build_anchors(text)][1:] == [
        ("table-2", "table"),
        ("extended-data-figure-3", "figure"),
    ]


def test_places_are_looked_for_once_until_the_text_changes(library, jats, monkeypatch):
    first = library.texts.places(jats)
    monkeypatch.setattr(
        "utils.curation.places.extract_source_words", lambda _: pytest.fail("read again")
    )
    assert library.texts.places(jats) == first
    with Path(first.stored.path).open("a", encoding="utf-8") as file:
        file.write("\n\nA note by hand.\n")
    monkeypatch.setattr("utils.curation.places.extract_source_words", lambda _: None)
    assert not any(one.sources for one in library.texts.places(jats).anchors)


@pytest.mark.parametrize("junk", [b"", b"[]", b'{"rules": 1}', b"\xff\xfe", b'{"places": 3}'])
def test_what_was_kept_and_is_damaged_is_found_anew(library, jats, junk):
    first = library.texts.places(jats)
    file = next(library.shelf.folder.glob("*.files/places.json"))
    file.write_bytes(junk)
    assert library.texts.places(jats) == first
    assert json.loads(file.read_bytes())["sha256"] == first.stored.sha256


def test_one_is_found_by_its_name_and_by_characters_of_the_file(library, jats):
    places = library.texts.places(jats)
    third = places.anchors[2]
    assert places.get_block(third.name.upper()) == third
    assert places.get_block(f"{third.start + 5}:{third.start + 9}") == third
    with pytest.raises(BadRequest, match=r"texts\.places"):
        places.get_block("p-00000000")


def test_where_the_bytes_were_not_kept_the_text_has_names_and_no_places(library):
    stored = save(library.shelf, paper(pmid="31452104"))
    for file in (library.shelf.folder / ".papershelf" / "raw").iterdir():
        file.unlink()
    assert library.shelf.read_raw_answer(stored) is None
    places = library.texts.places("31452104")
    assert places.anchors
    assert not places.media
    assert not any(one.sources for one in places.anchors)


def test_a_quotation_says_in_which_paragraph_it_stands(library, jats):
    list(library.corpus.index())
    places = library.texts.places(jats)
    anchor = places.anchors[3]
    words = places.text[anchor.start : anchor.end].split(". ")[0]
    found = library.corpus.verify_quote(words)
    assert (found.verbatim, found.anchor) == (True, anchor.name)
    near = library.corpus.verify_quote(f"{words} when the moon was blue")
    assert not near.verbatim
    assert near.anchor in {one.name for one in places.anchors}


@pytest.mark.parametrize("media", ["jats", "elsevier", "html", "pdf", "markdown", "latex"])
@pytest.mark.parametrize("body", [b"", b"\x00" * 99, b"<a>" * 5000, b"<p>" + b"&lol;" * 500])
def test_hostile_bytes_have_no_places_and_harm_nobody(media, body):
    words = extract_source_words(fetched(body, media))
    assert words is None or not SourcePassageFinder(words).find_places(
        "Bees dance when they come home."
    )


def test_words_that_are_everywhere_are_found_nowhere():
    page = "<p>" + "the same words again and again " * 2000 + "</p>"
    words = extract_source_words(fetched(f"<html><body>{page}</body></html>".encode(), "html"))
    assert SourcePassageFinder(words).find_places("the same words again and again") == ()


@pytest.mark.shared
def test_blocks_of_recorded_articles_are_found_in_their_xml(shared):
    found = held = total = 0
    for case in some(Folder(shared, every=12).articles):
        text = read(case.jats, "jats").markdown
        source = extract_source_words(fetched(case.jats, "jats"))
        finder, root = SourcePassageFinder(source), source.owners[0].getroottree()
        names = {
            key: value for element in root.iter("*") for key, value in element.nsmap.items() if key
        }
        for anchor in build_anchors(text):
            words = text[anchor.start : anchor.end]
            total += 1
            if places := finder.find_places(words):
                found += 1
                [element] = root.xpath(places[0].path, namespaces=names)
                there = Counter(fold_words(" ".join(element.itertext())))
                said = Counter(fold_words(words))
                held += (said & there).total() >= 0.8 * said.total()
    assert found >= 0.92 * total
    assert held >= 0.92 * found
