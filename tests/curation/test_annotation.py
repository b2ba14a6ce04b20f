"""The reader's own tags and notes: kept with the paper, and exported."""

import csv
import json

import pytest

from tests.shelf.papers import document, fetched, paper, save
from utils import Library
from utils.citations import format_references
from utils.citations.endnote import format_endnote_record
from utils.errors import BadRequest, NotFound


@pytest.fixture
def library(tmp_path):
    with Library(papers_dir=tmp_path / "papers", papers_offline=True) as made:
        save(made.shelf, paper(doi="10.1/a", pmid="7"))
        yield made


def read(library):
    kept = library.find("7").paper
    return kept.tags, kept.note


def test_tags_and_note_are_replaced_one_without_the_other(library):
    library.upkeep.annotate("7", tags=["methods", " Methods ", "to read"], note="see Fig. 2\r\n")
    assert read(library) == (("methods", "to read"), "see Fig. 2")
    library.upkeep.annotate("7", tags=[])
    assert read(library) == ((), "see Fig. 2")
    library.upkeep.annotate("7", note="")
    assert read(library) == ((), "")


def test_a_rebuild_and_a_better_text_keep_them(library):
    library.upkeep.annotate("7", tags=["methods"], note="good controls")
    library.shelf._catalogue.close()
    (library.shelf.folder / ".papershelf" / "catalogue.db").unlink()
    library.upkeep.rebuild()
    assert read(library) == (("methods",), "good controls")
    again = document("# Moss\n\n" + "Another text. " * 80)
    library.shelf.save_full_text(
        paper(doi="10.1/a", pmid="7"), again, fetched(media="html"), source="PMC", attempts=()
    )
    assert read(library) == (("methods",), "good controls")


def test_another_version_of_the_paper_has_them_too(library):
    library.upkeep.annotate("7", tags=["methods"], note="good controls")
    preprint = document("# Moss\n\n" + "A preprint. " * 80, version="preprint")
    library.shelf.save_full_text(
        paper(doi="10.1/a", pmid="7"), preprint, fetched(media="html"), source="arXiv", attempts=()
    )
    texts = library.shelf.find_texts(paper(pmid="7").ids)
    assert len(texts) == 2
    assert {one.paper.note for one in texts} == {"good controls"}
    library.upkeep.annotate("7", tags=["read"], note="")
    texts = library.shelf.find_texts(paper(pmid="7").ids)
    assert {(one.paper.tags, one.paper.note) for one in texts} == {(("read",), "")}


def test_lists_filter_by_a_whole_tag(library):
    save(library.shelf, paper(doi="10.1/b", pmid="8"))
    library.upkeep.annotate("7", tags=["to read", "100%"])
    library.upkeep.annotate("8", tags=["read"])
    for tag, found in (("read", "8"), ("TO READ", "7"), ("100%", "7")):
        assert [one.paper.ids.pmid for one in library.list_papers(tag=tag)[1]] == [found]
    assert library.list_papers(tag="to")[0] == 0


def test_exports_have_them(library):
    library.upkeep.annotate("7", tags=["methods"], note="100% good\nsee Fig. 2")
    kept = library.find("7").paper
    [ris] = format_references([kept], "ris")
    assert "KW  - methods\n" in ris
    assert "N1  - 100% good see Fig. 2\n" in ris
    [bibtex] = format_references([kept], "bibtex")
    assert "keywords = {methods" in bibtex
    assert r"annote = {100\% good see Fig. 2}" in bibtex
    assert "<research-notes>" in format_endnote_record(kept, 1)
    [item] = format_references([kept], "csl-json")
    assert json.loads(item)["annote"] == "100% good\nsee Fig. 2"
    with (library.shelf.folder / "index.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["tags"], row["note"]) == ("methods", "100% good see Fig. 2")
    assert "good" not in format_references([kept], "apa")[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"tags": ["a;b"]},
        {"tags": ["x" * 61]},
        {"tags": [f"t{n}" for n in range(51)]},
        {"note": "x" * 20_001},
    ],
)
def test_what_is_too_long_changes_nothing(library, wrong):
    with pytest.raises(BadRequest):
        library.upkeep.annotate("7", **wrong)
    assert read(library) == ((), "")


def test_a_paper_that_is_not_there_is_named(library):
    with pytest.raises(NotFound):
        library.upkeep.annotate("999", note="x")
