"""A folder filled by the older program is read as it is."""

from pathlib import Path

import pytest

from tests.fixtures import fixture_text
from tests.own_words import paper as whole
from tests.shelf.papers import assert_consistent, index, paper, save, texts
from utils.model.identifiers import Ids
from utils.model.paper import Attempt, Paper
from utils.shelf import Shelf

JINA = (
    """Title: On cells

URL Source: https://www.nature.com/articles/nature12345

Published Time: 2013-01-01

Markdown Content:
# On cells

We counted cells. See also https://doi.org/10.1000/other. {extra}

"""
    f"## Methods\n\n{whole(900)}"
)

ABSTRACT = fixture_text("shelf/legacy_folder_abstract.txt")

MARKDOWN_ABSTRACT = fixture_text("shelf/legacy_folder_markdown_abstract.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shelf"
    made.mkdir()
    return made


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.glob("*.txt")}


def test_full_texts_and_abstracts_are_found_and_left_alone(folder: Path, shelf: Shelf) -> None:
    (folder / "10.1038_nature12345.txt").write_text(JINA, encoding="utf-8")
    (folder / "pmid_33239918.txt").write_text(JINA, encoding="utf-8")
    (folder / "pmid_10492251_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    before = snapshot(folder)
    full = shelf.find_text(Ids(doi="10.1038/nature12345"))
    assert full is not None
    assert (full.kind, full.via, full.paper.title) == ("full_text", "adopted", "On cells")
    assert full.path == str(folder / "10.1038_nature12345.txt")
    other = shelf.find_text(Ids(pmid="33239918"))
    assert other is not None
    assert other.kind == "full_text"
    abstract = shelf.find_text(Ids(pmid="10492251"))
    assert abstract is not None
    assert (abstract.kind, abstract.verdict) == ("abstract", "abstract_only")
    about = abstract.paper
    assert (about.title, about.journal, about.year) == ("Cells of old", "Journal of Cells", "1999")
    assert about.author_names == "Jane Doe, J. Roe"
    assert about.abstract == "Cells were counted by hand."
    assert snapshot(folder) == before
    assert len(index(folder)) == 3
    assert_consistent(shelf)
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    "text", [ABSTRACT, MARKDOWN_ABSTRACT, ABSTRACT.replace(":\nC", "\n---\nC")]
)
@pytest.mark.parametrize("name", ["10.1000_a.txt", "pmid_10492251.txt"])
def test_kind_is_read_from_the_content_not_the_name(
    folder: Path, shelf: Shelf, text: str, name: str
) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    ids = Ids(doi="10.1000/a") if name.startswith("10") else Ids(pmid="10492251")
    found = shelf.find_text(ids)
    assert found is not None
    assert found.kind == ("record" if text == MARKDOWN_ABSTRACT else "abstract")
    assert found.paper.ids.pmid == "10492251"
    assert "not available for" not in found.paper.abstract


def test_a_full_text_under_an_abstracts_name_is_a_full_text(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_7_abstract.txt").write_text(JINA, encoding="utf-8")
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert found.kind == "full_text"


def test_a_full_text_comes_before_an_abstract(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_10492251_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    (folder / "pmid_10492251.txt").write_text(JINA, encoding="utf-8")
    found = shelf.find_text(Ids(pmid="10492251"))
    assert found is not None
    assert found.kind == "full_text"


@pytest.mark.parametrize("text", ["", " \n" * 300])
def test_empty_files_are_not_taken(folder: Path, shelf: Shelf, text: str) -> None:
    (folder / "10.1000_a.txt").write_text(text, encoding="utf-8")
    assert shelf.find_text(Ids(doi="10.1000/a")) is None
    assert (folder / "10.1000_a.txt").read_text(encoding="utf-8") == text
    saved = save(shelf, paper(doi="10.1000/a"))  # and they are in nobody's way
    assert texts(shelf) == ["10.1000_a.txt"]
    assert shelf.find_text(Ids(doi="10.1000/a")) == saved


@pytest.mark.parametrize(
    "text",
    [
        "short",
        "<!DOCTYPE html><html>" + "x " * 500,
        "Title: Just a moment...\n\nURL Source: https://x\n\nWarning: Target URL returned error "
        "403: Forbidden\n\nMarkdown Content:\nVerifying you are human. " + "wait " * 50,
        "Title: 404\n\nMarkdown Content:\n## This page could not be found. " + "menu " * 60,
        '{"code": 402, "name": "InsufficientBalanceError", "message": "' + "x" * 300 + '"}',
        "Please complete the CAPTCHA to continue. " * 20,
    ],
)
def test_error_pages_are_rejected_and_never_replaced(folder: Path, shelf: Shelf, text: str) -> None:
    (folder / "10.1000_a.txt").write_text(text, encoding="utf-8")
    found = shelf.find_text(Ids(doi="10.1000/a"))
    assert found is not None
    assert (found.kind, found.paper) == ("rejected", Paper(Ids(doi="10.1000/a")))
    assert found.verdict not in ("full_text", "abstract_only")
    assert found.evidence
    saved = save(shelf, paper(doi="10.1000/a"))  # and they are in nobody's way
    assert len(texts(shelf)) == 2
    assert (folder / "10.1000_a.txt").read_text(encoding="utf-8") == text
    assert shelf.find_text(Ids(doi="10.1000/a")) == saved
    assert_consistent(shelf)


def test_a_text_that_names_another_doi_of_that_file_name_is_not_taken(
    folder: Path, shelf: Shelf
) -> None:
    (folder / "10.1000_a_b.txt").write_text(
        JINA.format(extra="(doi:10.1000/a:b)."), encoding="utf-8"
    )
    assert shelf.find_text(Ids(doi="10.1000/a/b")) is None
    other = save(shelf, paper(doi="10.1000/a/b"))
    assert Path(other.path).name != "10.1000_a_b.txt"
    found = shelf.find_text(Ids(doi="10.1000/a:b"))
    assert found is not None
    assert Path(found.path).name == "10.1000_a_b.txt"
    assert_consistent(shelf)


def test_an_abstract_that_names_another_pmid_is_not_taken(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_7_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    assert shelf.find_text(Ids(pmid="7")) is None
    assert shelf.find_paper_by_file("pmid_7_abstract") is None


def test_only_the_name_that_led_to_a_file_is_believed(folder: Path, shelf: Shelf) -> None:
    (folder / "10.1000_a.txt").write_text(JINA, encoding="utf-8")
    found = shelf.find_text(Ids(doi="10.1000/a", pmid="8"))  # who asks may be wrong about the PMID
    assert found is not None
    assert found.paper.ids == Ids(doi="10.1000/a")
    assert shelf.find_text(Ids(pmid="8")) is None
    learnt = shelf.add_metadata(found, paper(doi="10.1000/a", pmid="8"))  # a record says so
    assert shelf.find_text(Ids(pmid="8")) == learnt
    assert learnt.paper.journal == "Journal of Cells"
    assert (learnt.path, learnt.sha256) == (found.path, found.sha256)
    assert_consistent(shelf)


def test_capitals_of_the_older_program_are_found(folder: Path, shelf: Shelf) -> None:
    (folder / "10.1016_S0140-6736(20)30183-5.txt").write_text(JINA, encoding="utf-8")
    found = shelf.find_text(Ids(doi="10.1016/S0140-6736(20)30183-5"))
    assert found is not None
    assert found.paper.ids.doi == "10.1016/s0140-6736(20)30183-5"
    assert_consistent(shelf)


def test_characters_the_older_program_left_are_found(folder: Path, shelf: Shelf) -> None:
    doi = "10.1002/(sici)1(1998)17:15/16<1661::aid-sim968>3.0.co;2-2"
    (folder / f"{doi.replace('/', '_').replace(':', '_')}.txt").write_text(JINA, encoding="utf-8")
    assert shelf.find_text(Ids(doi=doi)) is not None


def test_an_adopted_abstract_gives_way_to_a_full_text_and_stays_on_the_disk(
    folder: Path, shelf: Shelf
) -> None:
    (folder / "pmid_10492251_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    before = snapshot(folder)
    saved = save(shelf, paper(doi="10.1000/a", pmid="10492251"))
    assert texts(shelf) == ["10.1000_a.txt", "pmid_10492251_abstract.txt"]
    assert before.items() <= snapshot(folder).items()
    for _ in range(2):
        assert shelf.find_text(Ids(pmid="10492251")) == saved
        assert len(index(folder)) == 1
        assert_consistent(shelf)
        shelf.rebuild_catalogue()


def test_an_adopted_abstract_is_never_rewritten_by_ours(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_10492251_abstract.txt").write_text(
        f"{ABSTRACT}\nMY OWN NOTES.\n", encoding="utf-8"
    )
    before = snapshot(folder)
    tried = (Attempt("pmc_cloud", "not_offered", "It has none."),)
    about = paper(pmid="10492251")
    kept = shelf.save_abstract(about, tried)
    assert (kept.attempts, kept.via) == (tried, "adopted")
    assert shelf.find_text(Ids(pmid="10492251")) == kept
    assert snapshot(folder) == before
    assert_consistent(shelf)


def test_an_adopted_citation_stays_beside_our_abstract(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_10492251.txt").write_text(MARKDOWN_ABSTRACT, encoding="utf-8")
    before = snapshot(folder)
    about = paper(pmid="10492251")
    assert shelf.save_abstract(about, ()).kind == "abstract"
    assert before.items() <= snapshot(folder).items()
    assert len(index(folder)) == 1
    assert_consistent(shelf)


def test_rebuild_says_of_each_file_left_alone_why(folder: Path, shelf: Shelf) -> None:
    (folder / "10.1093_nar_gky1.txt").write_text(JINA, encoding="utf-8")
    (folder / "10.1000_b_c&d.txt").write_text(JINA, encoding="utf-8")
    (folder / "pmid_7_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    (folder / "notes.txt").write_text(JINA, encoding="utf-8")
    (folder / "empty.txt").write_bytes(b"\n\xef\xbb\xbf\n")
    said = dict(shelf.rebuild_catalogue().ignored)
    assert said["10.1093_nar_gky1.txt"].endswith(": uv run server.py download 10.1093/nar/gky1")
    assert said["10.1000_b_c&d.txt"].endswith(": uv run server.py download '10.1000/b/c&d'")
    assert "pmid 7 and pmid 10492251" in said["pmid_7_abstract.txt"]
    assert said["empty.txt"] == "empty"
    assert "neither its name nor its text" in said["notes.txt"]


@pytest.mark.parametrize("end", ["", ".pdf", "/full", ".html"])
def test_an_address_tells_which_of_several_dois_a_name_means(
    folder: Path, shelf: Shelf, end: str
) -> None:
    text = JINA.replace("URL Source: https://www.nature.com/articles/nature12345",
                        f"URL Source: https://e.org/doi/10.1000/a/b{end}")  # fmt: skip
    (folder / "10.1000_a_b.txt").write_text(text, encoding="utf-8")
    assert [stored.paper.ids.doi for stored in shelf.list_papers()[1]] == ["10.1000/a/b"]


def test_an_adopted_full_text_is_not_replaced_by_an_abstract(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_10492251.txt").write_text(JINA, encoding="utf-8")
    kept = shelf.save_abstract(paper(doi="10.1000/a", pmid="10492251"), ())
    assert (kept.kind, Path(kept.path).name) == ("full_text", "pmid_10492251.txt")
    assert texts(shelf) == ["pmid_10492251.txt"]
    assert shelf.find_text(Ids(doi="10.1000/a")) == kept


def test_listing_such_a_folder_takes_everything_in(folder: Path, shelf: Shelf) -> None:
    (folder / "10.1038_nature12345.txt").write_text(JINA, encoding="utf-8")
    (folder / "pmid_10492251_abstract.txt").write_text(ABSTRACT, encoding="utf-8")
    (folder / "10.1000_a_b.txt").write_text(JINA.format(extra="doi 10.1000/a/b"), encoding="utf-8")
    (folder / "10.1000_c_d.txt").write_text(
        JINA, encoding="utf-8"
    )  # c/d, c:d or c_d: nobody can tell
    (folder / "notes.txt").write_text("my notes on cells " * 50, encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    total, found = shelf.list_papers()
    assert total == 3
    assert {s.paper.ids.key for s in found} == {
        "doi:10.1038/nature12345",
        "doi:10.1000/a/b",
        "pmid:10492251",
    }
    report = shelf.rebuild_catalogue()
    assert report.adopted == 3
    assert {name for name, _ in report.ignored} == {"10.1000_c_d.txt", "notes.txt", "empty.txt"}
    assert shelf.find_text(Ids(doi="10.1000/c:d")) is not None  # until somebody asks for it
    assert_consistent(shelf)


def test_a_file_is_found_by_its_name_before_anybody_asked_by_identifier(
    folder: Path, shelf: Shelf
) -> None:
    (folder / "pmid_33239918.txt").write_text(JINA, encoding="utf-8")
    found = shelf.find_paper_by_file("pmid_33239918")
    assert found is not None
    assert found.paper.ids == Ids(pmid="33239918")


def test_a_directory_or_a_huge_file_is_no_paper(
    folder: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pmid_1.txt").mkdir()
    monkeypatch.setattr("utils.shelf.adoption._LONGEST_FILE", 100)
    (folder / "pmid_2.txt").write_text(JINA, encoding="utf-8")
    assert shelf.find_text(Ids(pmid="1")) is None
    assert shelf.find_text(Ids(pmid="2")) is None
    assert Path(save(shelf, paper(pmid="1")).path).is_file()


def test_hostile_bytes_are_survived(folder: Path, shelf: Shelf) -> None:
    (folder / "pmid_1.txt").write_bytes(b"Title: \xff\xfe\x00" + bytes(range(256)) * 50)
    (folder / "pmid_2.txt").write_bytes(("Title: x\u2028- PMID: 9\n" + JINA).encode() + b"\xff")
    rejected = shelf.find_text(Ids(pmid="1"))
    assert rejected is not None
    assert rejected.kind == "rejected"
    found = shelf.find_text(Ids(pmid="2"))
    assert found is not None
    assert "\u2028" not in found.paper.title
    assert [row["pmid"] for row in index(folder)] == ["1", "2"]
