"""Reading by section, within a budget, and finding the paper meant."""

import pytest

from utils.errors import BadRequest, NotFound
from utils.outline import outline

TEXT = """# Title

## Abstract

### Results

Short.

## 1. Introduction

Words.

```
# not a heading
```

## Results

Long.

### 2.1 Binding of *CXCL12*

More.
"""


def test_an_outline_knows_levels_and_passes_over_code():
    found = [(section.title, section.level) for section in outline(TEXT)]
    assert found == [
        ("Title", 1),
        ("Abstract", 2),
        ("Results", 3),
        ("1. Introduction", 2),
        ("Results", 2),
        ("2.1 Binding of *CXCL12*", 3),
    ]


def test_a_section_holds_its_subsections():
    results = outline(TEXT)[4]
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
    from pathlib import Path

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
