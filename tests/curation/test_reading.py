"""Reading by section, within a budget, and finding the paper meant."""

import json
from pathlib import Path

import pytest

from tests.fixtures import fixture_text
from tests.shelf.papers import paper, save
from utils.errors import BadRequest, NotFound
from utils.media import listing
from utils.outline import build_outline

TEXT = fixture_text("curation/reading_text.md")


def test_an_outline_knows_levels_and_passes_over_code():
    found = [(section.title, section.level) for section in build_outline(TEXT)]
    assert found == [
        ("Title", 1),
        ("Abstract", 2),
        ("Results", 3),
        ("1. Introduction", 2),
        ("Results", 2),
        ("2.1 Binding of *CXCL12*", 3),
    ]


def test_a_section_holds_its_subsections():
    results = build_outline(TEXT)[4]
    assert "More." in TEXT[results.start : results.end]


@pytest.fixture
def held(library, world):
    return library.download(world.paper("pmc_cloud").pmid).stored


def test_the_papers_own_results_not_those_of_its_abstract(library, held):
    read = library.read(held.paper.ids.pmid, section="RESULTS")
    assert read.text.startswith("## Results")


@pytest.mark.parametrize("name", ["pmid", "doi", "pmcid"])
def test_found_by_any_name(library, held, name):
    assert library.read(getattr(held.paper.ids, name)).title == held.paper.title


def test_the_reference_list_can_be_left_out(library, held):
    name = held.paper.ids.pmid
    whole = library.read(name, max_chars=50_000)
    short = library.read(name, max_chars=50_000, references=False)
    headings = [heading for heading, _ in whole.outline]
    assert [h for h, _ in short.outline] == [h for h in headings if h != "References"]
    assert "References" in headings
    assert len(short.text) < len(whole.text)


def test_found_by_its_file(library, held):
    assert library.read(Path(held.path).name).title == held.paper.title


def test_stretches_join_to_the_whole_text(library, held):
    whole, start = "", 0
    while start is not None:
        read = library.read(held.paper.ids.pmid, start=start, max_chars=700)
        assert 0 < len(read.text) <= 700
        whole, start = whole + read.text, read.next_start
    assert whole == library.shelf.read_text(held)


@pytest.mark.parametrize("options", [{"start": -1}, {"max_chars": 0}, {"max_chars": 10**6}])
def test_numbers_that_make_no_sense_are_refused(library, held, options):
    with pytest.raises(BadRequest):
        library.read(held.paper.ids.pmid, **options)


def test_unknown_section_names_those_there_are(library, held):
    with pytest.raises(BadRequest) as refused:
        library.read(held.paper.ids.pmid, section="horoscope")
    assert "Discussion" in refused.value.hint


def test_what_is_not_there_says_how_to_get_it(library):
    with pytest.raises(NotFound) as missing:
        library.read("31452104")
    assert "Download" in missing.value.hint


def test_start_beyond_the_end_is_an_empty_end(library, held):
    read = library.read(held.paper.ids.pmid, start=10**7)
    assert (read.text, read.next_start) == ("", None)


PAPER = fixture_text("curation/reading_paper.md")


@pytest.fixture
def grown(library):
    return save(library.shelf, paper(pmid="7"), PAPER)


@pytest.mark.parametrize(
    "name", ["methods", "Method", "Material und Methoden", "materials|methods"]
)
def test_the_methods_are_found_whatever_the_paper_calls_them(library, grown, name):
    assert library.read("7", section=name).text.startswith("## Experimental procedures\n")


def test_a_section_brings_the_figures_and_tables_first_mentioned_in_it(library, grown):
    assert library.read("7", section="methods").text == (
        "## Experimental procedures\n\nAs Table 1 and Fig. 2 show.\n\n### Statistical analysis\n\n"
        "By R.\n\n**Table 1.** Mice.\n\n| a | b |\n| --- | --- |\n| c | d |\n\n"
        "**Figure 2.** A cage.\n"
    )
    results = library.read("7", section="Results of the survey").text
    assert results.count("Figure 1.") == 2  # it stands there, and is not brought again
    assert library.read("7", section="Statistical analysis").text.endswith("By R.\n")


def test_what_is_brought_along_is_read_in_stretches_too(library, grown):
    whole, start = "", 0
    while start is not None:
        read = library.read("7", section="methods", start=start, max_chars=50)
        whole, start = whole + read.text, read.next_start
    assert whole == library.read("7", section="methods").text


def test_where_nothing_fits_the_answer_lists_the_sections_and_their_roles(library, grown):
    with pytest.raises(BadRequest) as refused:
        library.read("7", section="limitations")
    assert "Experimental procedures" in refused.value.hint
    assert "By role: abstract, introduction, methods, figures." in refused.value.hint


def test_the_record_keeps_the_sections(library, grown):
    text = library.shelf.read_text(grown)
    kept = [(text[s.start : s.end], s.roles, s.floats) for s in grown.sections]
    assert kept == [(text[s.start : s.end], s.roles, s.floats) for s in library.texts.sections("7")]
    methods = next(s for s in grown.sections if s.title == "Experimental procedures")
    assert (methods.roles, methods.floats) == (("methods",), ("Table 1", "Figure 2"))


def test_an_outline_names_roles_only_where_they_begin(library, grown):
    rows = library.read("7").rows()
    told = {row["heading"]: row.get("roles") for row in rows}
    assert told["Experimental procedures"] == "methods"
    assert told["Statistical analysis"] is None
    assert told["Results of the survey"] is None


def test_the_publishers_word_for_a_section_outlives_the_reading(library):
    from tests.shelf.papers import document, fetched

    text = "# T\n\n## How\n\nSo.\n\n## Results\n\nYes.\n"
    made = document(text, declared=(("How", "materials|methods"),))
    library.shelf.save_full_text(paper(pmid="8"), made, fetched(), source="PMC", attempts=())
    assert library.read("8", section="methods").text == "## How\n\nSo.\n"
    assert library.find("8").sections[1].declared == "materials|methods"


def test_a_record_of_before_gets_its_sections_from_the_text(library, grown):
    [record] = (library.shelf.folder / ".papershelf/records").glob("*.json")
    row = json.loads(record.read_text(encoding="utf-8"))
    del row["stored"]["sections"]
    record.write_text(json.dumps(row), encoding="utf-8")
    (library.shelf.folder / ".papershelf/catalogue.db").unlink()
    assert library.read("7", section="methods").text.startswith("## Experimental procedures")
    library.upkeep.rebuild()
    assert library.find("7").sections == grown.sections


def test_the_kept_xml_of_a_paper_is_parsed_once_for_all_its_pages(library, held, monkeypatch):
    read_xml = listing._list_objects_in_xml
    parsed = []
    monkeypatch.setattr(
        listing, "_list_objects_in_xml", lambda fetched: parsed.append(1) or read_xml(fetched)
    )
    name = held.paper.ids.pmid
    pages = [library.read(name, start=start, max_chars=3000) for start in (0, 3000, 0)]
    assert len(parsed) == 1
    assert pages[0] == pages[2]


def test_a_text_that_was_edited_is_opened_again(library, held):
    name = held.paper.ids.pmid
    library.read(name)
    path = Path(held.path)
    path.write_text(
        f"{path.read_text(encoding='utf-8')}\n\n## Afterword\n\nMore.\n", encoding="utf-8"
    )
    assert library.read(name).sections[-1].title == "Afterword"
