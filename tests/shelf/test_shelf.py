"""What the shelf promises to those who save and look up papers."""

import gzip
import json
import os
import random
import stat
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tests.shelf.papers import (
    assert_consistent,
    document,
    dump,
    fetched,
    index,
    paper,
    save,
    texts,
)
from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.model.paper import Attempt, Author, Media, Notice, Verdict
from utils.model.verdicts import MEANINGS
from utils.readers import READER_MODULES, READER_VERSIONS
from utils.shelf import Shelf, strip_header

NONE: list[Attempt] = []


def test_looking_creates_nothing(shelf: Shelf) -> None:
    assert shelf.find_text(Ids(pmid="1")) is None
    assert shelf.find_text(Ids()) is None
    assert shelf.find_paper_by_file("pmid_1.txt") is None
    assert shelf.find_paper_by_file("é" * 300) is None
    assert shelf.list_papers() == (0, [])
    assert shelf.count_papers()["papers"] == 0
    assert not shelf.folder.exists()


def test_a_saved_paper_is_found_by_every_name(shelf: Shelf) -> None:
    about = paper(doi="10.1038/nature12345", pmid="12", pmcid="PMC3", arxiv="2601.00001")
    tries = [Attempt("pmc_cloud", "saved", url="https://example.org")]
    saved = shelf.save_full_text(about, document(), fetched(), source="PMC", attempts=tries)
    assert saved.path == str(shelf.folder / "10.1038_nature12345.txt")
    for name in ("doi", "pmid", "pmcid", "arxiv"):
        assert shelf.find_text(Ids(**{name: getattr(about.ids, name)})) == saved
    assert saved.paper == about
    assert saved.attempts == tuple(tries)
    assert (saved.source, saved.via, saved.license) == ("PMC", "pmc_cloud", "CC BY")
    assert shelf.find_paper_by_file("10.1038_nature12345") == saved
    assert shelf.find_paper_by_file("10.1038_nature12345.txt") == saved
    assert_consistent(shelf)


def test_another_shelf_object_finds_it_too(shelf: Shelf) -> None:
    saved = save(shelf, paper(pmid="12"))
    shelf.close()
    assert Shelf(shelf.folder).find_text(Ids(pmid="12")) == saved


@pytest.mark.parametrize(
    ("ids", "full", "abstract"),
    [
        ({"doi": "10.1/a", "pmid": "7"}, "10.1_a.txt", "pmid_7_abstract.txt"),
        ({"pmid": "7"}, "pmid_7.txt", "pmid_7_abstract.txt"),
        ({"doi": "10.1/a"}, "10.1_a.txt", "10.1_a_abstract.txt"),
        ({"pmcid": "PMC8"}, "pmcid_PMC8.txt", "pmcid_PMC8_abstract.txt"),
        ({"arxiv": "2601.00001"}, "arxiv_2601.00001.txt", "arxiv_2601.00001_abstract.txt"),
    ],
)
def test_files_are_named_after_the_most_lasting_name(
    shelf: Shelf, ids: dict[str, str], full: str, abstract: str
) -> None:
    shelf.save_abstract(paper(**ids), NONE)
    assert texts(shelf) == [abstract]
    save(shelf, paper(**ids))
    assert texts(shelf) == [full]  # upgraded in place: one entry, one file
    assert shelf.count_papers()["papers"] == 1
    assert_consistent(shelf)


def test_an_abstract_never_replaces_a_full_text(shelf: Shelf) -> None:
    saved = save(shelf, paper(doi="10.1/a"))
    kept = shelf.save_abstract(paper(doi="10.1/a", pmid="7"), NONE)
    assert (kept.kind, kept.path, kept.sha256) == ("full_text", saved.path, saved.sha256)
    found = shelf.find_text(Ids(pmid="7"))  # what was learnt is kept
    assert found is not None
    assert found.path == saved.path
    assert_consistent(shelf)


def test_the_lengths_of_a_journals_papers_are_those_of_whole_ones_of_the_same_kind(
    shelf: Shelf,
) -> None:
    kinds = ("Review", "Letter", "", "Journal Article", "Journal Article")
    for number, kind in enumerate(kinds):
        types = (kind,) if kind else ()
        about = replace(paper(doi=f"10.1/{number}"), publication_types=types)
        verdict: Verdict = "doubtful" if number == 4 else "full_text"
        save(shelf, about, f"text {number}", verdict=verdict, body_words=100 + number)
    asked = paper(doi="10.1/9")
    assert sorted(shelf.list_journal_word_counts(asked)) == [102, 103]
    [own] = shelf.find_texts(Ids(doi="10.1/2"))
    assert shelf.list_journal_word_counts(asked, Path(own.path).name) == (103,)
    assert shelf.list_journal_word_counts(replace(asked, publication_types=("Review",))) == (100,)
    assert shelf.list_journal_word_counts(replace(asked, publication_types=("Letter",))) == ()
    assert shelf.list_journal_word_counts(replace(asked, journal="Another")) == ()


def test_a_partial_text_never_replaces_a_whole_one(shelf: Shelf) -> None:
    about = paper(doi="10.1/a")
    save(shelf, about, "part", verdict="partial")
    whole = save(shelf, about, "the whole")
    assert save(shelf, about, "part", verdict="partial").sha256 == whole.sha256
    assert strip_header(shelf.read_text(whole)) == "the whole\n"


def test_an_abstract_with_text_is_not_replaced_by_one_without(shelf: Shelf) -> None:
    shelf.save_abstract(paper(pmid="7"), NONE)
    shelf.save_abstract(replace(paper(pmid="7"), abstract="", title="New title"), NONE)
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert found.paper.abstract == "Cells were counted."
    assert "Cells were counted." in shelf.read_text(found)


def test_rejected_text_is_no_text_to_save(shelf: Shelf) -> None:
    with pytest.raises(ValueError, match="captcha"):
        save(shelf, paper(pmid="7"), verdict="captcha")
    with pytest.raises(ValueError, match="quarantine"):
        save(shelf, paper(pmid="7"), "  \n")
    with pytest.raises(BadRequest, match="without any identifier"):
        save(shelf, paper())
    assert texts(shelf) == []


def test_papers_that_prove_to_be_one_become_one_entry(shelf: Shelf) -> None:
    shelf.save_abstract(paper(pmid="7"), NONE)
    save(shelf, paper(pmcid="PMC8"))
    assert shelf.count_papers()["papers"] == 2
    save(shelf, paper(doi="10.1/a", pmid="7", pmcid="PMC8"))
    assert shelf.count_papers()["papers"] == 1
    assert texts(shelf) == ["pmcid_PMC8.txt"]
    for ids in (Ids(doi="10.1/a"), Ids(pmid="7"), Ids(pmcid="PMC8")):
        assert shelf.find_text(ids) is not None
    assert_consistent(shelf)


def test_learning_a_name_joins_entries(shelf: Shelf) -> None:
    shelf.save_abstract(paper(pmid="7"), NONE)
    full = save(shelf, paper(doi="10.1/a"))
    learnt = shelf.add_metadata(full, Ids(doi="10.1/a", pmid="7"))
    assert shelf.find_text(Ids(pmid="7")) == learnt
    assert texts(shelf) == ["10.1_a.txt"]
    assert shelf.add_metadata(learnt, Ids(pmid="7")) == learnt
    with pytest.raises(BadRequest, match="another paper"):
        shelf.add_metadata(learnt, Ids(pmid="8"))
    assert_consistent(shelf)


def test_papers_that_contradict_each_other_stay_two(shelf: Shelf) -> None:
    one = save(shelf, paper(doi="10.1/a", pmid="1"))
    two = save(shelf, paper(doi="10.1/a", pmid="2"))
    assert one.path != two.path
    assert shelf.find_text(Ids(pmid="1")) == one
    assert shelf.find_text(Ids(pmid="2")) == two
    assert shelf.find_text(Ids(doi="10.1/a")) == two  # a shared name goes with the newest
    assert shelf.find_text(Ids(doi="10.1/a", pmid="1")) == one
    assert shelf.find_text(Ids(doi="10.1/a", pmid="3")) is None
    assert_consistent(shelf)


def test_two_dois_that_share_a_file_name_do_not(shelf: Shelf) -> None:
    dois = ["10.1000/a/b", "10.1000/a:b", "10.1000/a_b"]
    saved = [save(shelf, paper(doi=doi), f"text of {doi}") for doi in dois]
    assert len(set(texts(shelf))) == 3
    for doi, stored in zip(dois, saved, strict=True):
        assert shelf.find_text(Ids(doi=doi)) == stored
        assert strip_header(shelf.read_text(stored)) == f"text of {doi}\n"
    assert_consistent(shelf)


def test_a_name_that_looks_like_an_abstract_says_nothing_about_the_kind(shelf: Shelf) -> None:
    stored = save(shelf, paper(doi="10.1000/a_abstract"))
    assert stored.kind == "full_text"
    shelf.save_abstract(paper(doi="10.1000/a"), NONE)
    assert len(texts(shelf)) == 2
    assert shelf.find_text(Ids(doi="10.1000/a_abstract")) == stored
    assert_consistent(shelf)


def test_a_renewed_failed_try_starts_the_time_until_the_next_anew(shelf: Shelf) -> None:
    old = shelf.save_abstract(paper(pmid="7"), NONE)
    renewed = shelf.save_abstract(paper(pmid="7"), [Attempt("pmc", "not_offered")])
    assert renewed.saved_at >= old.saved_at
    assert renewed.attempts[0].source == "pmc"
    assert shelf.find_text(Ids(pmid="7")) == renewed
    assert_consistent(shelf)


def test_raw_bytes_are_kept_untouched(shelf: Shelf) -> None:
    about = paper(pmid="7")
    body = b"\x00\xff<article/>\r\n"
    stored = shelf.save_full_text(about, document(), fetched(body), source="PMC", attempts=NONE)
    assert shelf.read_raw_answer(stored).fetched.body == body
    pdf = fetched(b"%PDF", media="pdf")
    stored = shelf.save_full_text(about, document(), pdf, source="DOI", attempts=NONE)
    assert shelf.read_raw_answer(stored).fetched.body == b"%PDF"
    assert shelf.read_raw_answer(stored).fetched.media == "pdf"
    kept = [path.name for path in (shelf.folder / ".papershelf/raw").iterdir()]
    assert kept == ["pmid_7.pdf.gz"]
    assert shelf.read_raw_answer(shelf.save_abstract(paper(pmid="8"), NONE)) is None


@pytest.mark.parametrize("media", get_args(Media))
def test_bytes_of_any_kind_leave_when_they_are_replaced_and_no_rebuild_brings_them_back(
    shelf: Shelf, media: Media
) -> None:
    about, raw = paper(pmid="7"), shelf.folder / ".papershelf/raw"
    shelf.save_full_text(
        about, document(), fetched(b"old", media=media), source="DOI", attempts=NONE
    )
    other: Media = "pdf" if media == "jats" else "jats"
    new = fetched(b"new", media=other)
    stored = shelf.save_full_text(about, document(), new, source="DOI", attempts=NONE)
    for _ in range(2):
        assert [path.name for path in raw.iterdir()] == [f"pmid_7.{other}.gz"]
        kept = shelf.read_raw_answer(stored)
        assert kept
        assert kept.fetched.body == b"new"
        shelf.rebuild_catalogue()


def test_every_kind_of_file_has_a_reader_and_every_verdict_a_meaning() -> None:
    assert set(READER_MODULES) == set(READER_VERSIONS) == set(get_args(Media))
    assert set(MEANINGS) == set(get_args(Verdict)) - {"full_text"}


def test_a_retraction_stated_by_the_text_is_the_first_line(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"), retracted=True)
    assert shelf.read_text(stored).startswith("RETRACTED:")
    assert stored.paper.retracted
    assert index(shelf.folder)[0]["retracted"] == "True"
    assert shelf.count_papers()["retracted"] == 1


def test_a_retraction_learnt_later_is_written_into_the_file(shelf: Shelf) -> None:
    save(shelf, paper(pmid="7"), "the text")
    about = replace(paper(pmid="7"), notices=(Notice("retraction"),))
    stored = shelf.save_abstract(about, NONE)
    assert stored.kind == "full_text"
    assert shelf.read_text(stored).startswith("RETRACTED:")
    assert strip_header(shelf.read_text(stored)) == "the text\n"
    assert_consistent(shelf)


def test_a_retraction_once_known_survives_a_source_that_does_not_know(shelf: Shelf) -> None:
    about = paper(pmid="7")
    retraction, comment = Notice("retraction", "J Cells 2020", "9"), Notice("comment", "J", "5")
    save(shelf, replace(about, notices=(retraction,)), retracted=True)
    later = replace(about, notices=(comment,), publication_types=("Journal Article",))
    stored = save(shelf, later)
    assert stored.paper.notices == (retraction, comment)
    assert shelf.read_text(stored).startswith("RETRACTED:")
    assert shelf.add_metadata(stored, later) == stored
    assert_consistent(shelf)


def test_a_type_that_says_retracted_is_never_lost(shelf: Shelf) -> None:
    about = replace(paper(pmid="7"), publication_types=("Retracted Publication",))
    save(shelf, about)
    stored = save(shelf, replace(about, publication_types=("Journal Article", "Review")))
    types = stored.paper.publication_types
    assert types == ("Journal Article", "Review", "Retracted Publication")
    assert stored.paper.retracted


def test_notices_are_told_once(shelf: Shelf) -> None:
    about = paper(pmid="7")
    for notice in (
        Notice("retraction"),
        Notice("retraction", "J Cells 2020", "9"),
        Notice("retraction", "J. Cells 2020;1", "9"),
        Notice("retraction"),
    ):
        stored = save(shelf, replace(about, notices=(notice,)))
    assert stored.paper.notices == (Notice("retraction", "J. Cells 2020;1", "9"),)


@pytest.mark.parametrize("kind", ["full_text", "abstract"])
def test_a_retraction_learnt_about_a_stored_paper_is_written_into_the_file(
    shelf: Shelf, kind: str
) -> None:
    about = paper(pmid="7")
    stored = save(shelf, about) if kind == "full_text" else shelf.save_abstract(about, NONE)
    body = strip_header(shelf.read_text(stored))
    types = ("Retracted Publication",)
    learnt = shelf.add_metadata(
        stored, replace(paper(pmid="7", doi="10.1/a"), publication_types=types)
    )
    text = shelf.read_text(learnt)
    assert text.startswith("RETRACTED:")
    assert "- DOI: 10.1/a\n" in text
    assert strip_header(text) == body
    assert shelf.find_text(Ids(doi="10.1/a")) == learnt
    assert shelf.count_papers()["retracted"] == 1
    assert_consistent(shelf)


def test_a_retraction_learnt_leaves_the_file_of_somebody_else_alone(shelf: Shelf) -> None:
    shelf.folder.mkdir()
    path = shelf.folder / "pmid_7.txt"
    path.write_text("Title: On cells\nPMID: 7\n\n" + "The text of it. " * 60, encoding="utf-8")
    before = path.read_bytes()
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    learnt = shelf.add_metadata(found, replace(paper(pmid="7"), notices=(Notice("retraction"),)))
    assert learnt.paper.retracted
    assert path.read_bytes() == before


def test_what_a_hand_wrote_stays_when_a_retraction_is_learnt(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"), "the text")
    path = Path(stored.path)
    path.write_text(path.read_text(encoding="utf-8") + "and my notes\n", encoding="utf-8")
    learnt = shelf.add_metadata(stored, replace(paper(pmid="7"), notices=(Notice("retraction"),)))
    text = shelf.read_text(learnt)
    assert text.startswith("RETRACTED:")
    assert strip_header(text) == "the text\nand my notes\n"
    kept = shelf.read_raw_answer(learnt)
    assert kept is not None
    assert not kept.ours


def test_what_reading_the_bytes_again_takes_is_kept(shelf: Shelf) -> None:
    sent = fetched(b"<p>", charset="iso-8859-7", media="html", ids=Ids(pmcid="PMC3"))
    stored = shelf.save_full_text(paper(pmid="7"), document(), sent, source="PMC", attempts=NONE)
    kept = shelf.read_raw_answer(stored)
    assert kept is not None
    assert kept.ours
    assert kept.fetched == replace(sent, license="")
    shelf.rebuild_catalogue()
    assert shelf.read_raw_answer(stored) == kept


def test_halves_of_surrogate_pairs_are_survived_everywhere(shelf: Shelf) -> None:
    odd = "x\ud800y"
    about = replace(
        paper(pmid="7", doi=f"10.1/{odd}"),
        title=odd,
        abstract=odd,
        journal=odd,
        published=odd,
        authors=(Author(odd),),
        keywords=(odd,),
    )
    tried = [Attempt("pmc", "not_offered", odd, odd)]
    sent = fetched(license=odd, url=odd)
    stored = shelf.save_full_text(about, document(odd * 9), sent, source="PMC", attempts=tried)
    assert stored.paper.journal == "x\ufffdy"
    shelf.save_abstract(replace(about, ids=Ids(pmid="8")), tried)
    assert shelf.add_metadata(stored, replace(about, ids=Ids(pmid="7"), volume=odd)).paper.volume
    assert shelf.find_text(Ids(doi=f"10.1/{odd}")) is None
    assert shelf.find_text(Ids(doi="10.1/\udce9")) is None
    assert shelf.find_paper_by_file(f"{odd}.txt") is None
    assert shelf.list_papers(text=odd)[0] == shelf.list_papers(journal="x\ufffdy")[0] == 2
    assert shelf.list_papers(journal=odd)[0] == 2
    assert shelf.quarantine_content(Ids(doi=f"10.1/{odd}"), sent, "captcha", odd).is_file()
    with pytest.raises(BadRequest, match="usable"):
        shelf.copy_text_to(stored, "\udce9.txt")
    assert_consistent(shelf)


def test_the_private_folder_is_private(shelf: Shelf) -> None:
    save(shelf, paper(pmid="7"))
    assert stat.S_IMODE((shelf.folder / ".papershelf").stat().st_mode) == 0o700


def test_rejected_content_is_kept_with_the_reason(shelf: Shelf) -> None:
    path = shelf.quarantine_content(
        Ids(doi="10.1/a"), fetched(b"captcha!"), "captcha", "a robot check"
    )
    assert path.parent == shelf.folder / ".papershelf" / "quarantine"
    assert path.name.startswith("10.1_a-captcha-")
    assert gzip.decompress(path.read_bytes()) == b"captcha!"
    why = json.loads(
        path.with_name(path.name.replace(".jats.gz", ".json")).read_text(encoding="utf-8")
    )
    assert (why["reason"], why["url"]) == ("a robot check", "https://example.org/a.xml")
    assert shelf.find_text(Ids(doi="10.1/a")) is None
    assert shelf.count_papers()["quarantined"] == 1


def test_the_quarantine_does_not_grow_without_end(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.shelf.quarantine.MOST", 3)
    kept = [
        shelf.quarantine_content(Ids(pmid="7"), fetched(str(n).encode()), "stub", "short")
        for n in range(6)
    ]
    left = sorted((shelf.folder / ".papershelf/quarantine").iterdir())
    assert len(left) == 6  # three answers, three reasons
    assert kept[-1] in left
    assert kept[0] not in left


def test_the_quarantine_does_not_fill_the_disk(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.shelf.quarantine.MOST_BYTES", 25_000)
    folder = shelf.folder / ".papershelf/quarantine"
    noise = random.Random(7)
    kept = []
    for n in range(4):
        sent = fetched(noise.randbytes(10_000))
        kept.append(shelf.quarantine_content(Ids(pmid="7"), sent, "stub", "short"))
        os.utime(kept[-1], (n, n))
    assert sorted(folder.glob("*.gz")) == sorted(kept[-2:])
    large = shelf.quarantine_content(
        Ids(pmid="7"), fetched(noise.randbytes(30_000)), "stub", "short"
    )
    assert list(folder.glob("*.gz")) == [large]  # the newest is there to be looked at
    assert len(list(folder.iterdir())) == 2


def test_listing_finds_words_kinds_years_and_journals(shelf: Shelf) -> None:
    save(shelf, replace(paper(pmid="1"), title="Zebrafish hearts", published="1999"))
    save(shelf, replace(paper(pmid="2"), title="Mouse hearts", journal="Café 100%_x"))
    shelf.save_abstract(replace(paper(pmid="3"), abstract="Zebrafish fins", published=""), NONE)

    def pmids(**wanted: str) -> list[str]:
        total, found = shelf.list_papers(**wanted)  # type: ignore[arg-type]
        assert total == len(found)
        return sorted(stored.paper.ids.pmid for stored in found)

    assert pmids() == ["1", "2", "3"]
    assert pmids(text="zebrafish") == ["1", "3"]
    assert pmids(text="hearts ZEBRAFISH") == ["1"]
    assert pmids(text='"; DROP TABLE papers; -- OR NEAR( *') == []
    assert pmids(text="*") == []
    assert pmids(kind="abstract") == ["3"]
    assert pmids(min_date="2000") == ["2"]
    assert pmids(max_date="2000") == ["1"]
    assert pmids(journal="100%_X") == ["2"]
    assert pmids(journal="_") == ["2"]
    with pytest.raises(BadRequest, match="kind"):
        shelf.list_papers(kind="book")
    with pytest.raises(BadRequest, match="year"):
        shelf.list_papers(min_date="99")


def test_listing_without_fts5_finds_the_same(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utils.shelf.catalogue.WORDS", "CREATE VIRTUAL TABLE words USING fts9 (x)")
    save(shelf, replace(paper(pmid="1"), title="Zebrafish hearts"))
    save(shelf, replace(paper(pmid="2"), title="Mouse hearts"))
    assert [s.paper.ids.pmid for s in shelf.list_papers(text="zebrafish hearts")[1]] == ["1"]
    assert shelf.list_papers(text="100%")[0] == 0
    shelf.rebuild_catalogue()
    assert shelf.list_papers(text="hearts")[0] == 2


def test_words_of_a_changed_title_are_found_and_the_old_ones_not(shelf: Shelf) -> None:
    save(shelf, replace(paper(pmid="1"), title="Zebrafish"))
    save(shelf, replace(paper(pmid="1"), title="Mouse"))
    assert shelf.list_papers(text="zebrafish")[0] == 0
    assert shelf.list_papers(text="mouse")[0] == 1


def test_listing_comes_in_pages_newest_first(shelf: Shelf) -> None:
    for number in range(1, 6):
        save(shelf, paper(pmid=str(number)))
    pages = [shelf.list_papers(start=start, max_results=2) for start in (0, 2, 4, 6)]
    assert [total for total, _ in pages] == [5, 5, 5, 5]
    assert [s.paper.ids.pmid for _, page in pages for s in page] == ["5", "4", "3", "2", "1"]


def test_a_rebuild_restores_the_catalogue_to_the_letter(shelf: Shelf) -> None:
    save(shelf, paper(doi="10.1/a", pmid="1"))
    save(shelf, paper(doi="10.1/a", pmid="2"))
    shelf.save_abstract(paper(pmid="3"), [Attempt("pmc", "not_offered", seconds=0.5)])
    save(shelf, paper(doi="10.1/a:b"))
    save(shelf, paper(doi="10.1/a/b"))
    before = dump(shelf)
    shelf.close()
    for path in (shelf.folder / ".papershelf").glob("catalogue.db*"):
        path.unlink()
    report = shelf.rebuild_catalogue()
    assert dump(shelf) == before
    assert (report.full_text, report.abstracts, report.adopted) == (4, 1, 0)


def test_a_rebuild_without_records_reads_the_headers(shelf: Shelf) -> None:
    saved = save(shelf, paper(doi="10.1/a", pmid="1"))
    shelf.save_abstract(paper(pmid="3"), NONE)
    for path in (shelf.folder / ".papershelf/records").iterdir():
        path.unlink()
    shelf.rebuild_catalogue()
    found = shelf.find_text(Ids(pmid="1"))
    assert found is not None
    assert (found.kind, found.source, found.via, found.license) == (
        "full_text",
        "PMC",
        "pmc_cloud",
        "CC BY",
    )
    assert (found.sha256, found.saved_at) == (saved.sha256, saved.saved_at)
    assert (found.paper.title, found.paper.year) == ("On cells", "2013")
    assert found.paper.author_names == "Jane A Doe, The Cell Group"
    abstract = shelf.find_text(Ids(pmid="3"))
    assert abstract is not None
    assert (abstract.kind, abstract.paper.abstract) == ("abstract", "Cells were counted.")


def test_a_rebuild_leaves_records_that_stay_the_same_in_place(shelf: Shelf) -> None:
    """Writing each of 10,000 records again, flushed to the disk, took most of a rebuild's time."""
    save(shelf, paper(doi="10.1/a", pmid="1"))
    shelf.save_abstract(paper(pmid="3"), NONE)
    records = sorted((shelf.folder / ".papershelf/records").iterdir())
    before = [path.stat().st_ino for path in records]
    text = records[1].read_text(encoding="utf-8").replace("Cells were", "Cells are")
    records[1].write_text(text, encoding="utf-8")
    shelf.rebuild_catalogue()
    assert [path.stat().st_ino for path in records] == before
    for path in (shelf.folder / ".papershelf").glob("catalogue.db*"):
        path.unlink()
    changed = shelf.find_text(Ids(pmid="3"))
    assert changed is not None
    assert changed.paper.abstract == "Cells are counted."
    assert [path.stat().st_ino for path in records] == before


def test_a_deleted_catalogue_comes_back_by_itself(shelf: Shelf) -> None:
    saved = save(shelf, paper(doi="10.1/a", pmid="1"))
    for path in (shelf.folder / ".papershelf").glob("catalogue.db*"):
        path.unlink()
    assert shelf.find_text(Ids(pmid="1")) == saved  # also while the shelf is open
    assert_consistent(shelf)


@pytest.mark.parametrize("damage", ["garbage", "torn"])
def test_a_damaged_catalogue_is_set_aside_and_made_anew(
    shelf: Shelf, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    saved = [save(shelf, paper(pmid=str(number))) for number in range(1, 30)]
    shelf.close()
    path = shelf.folder / ".papershelf" / "catalogue.db"
    data = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 500)
    else:
        path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    assert [shelf.find_text(stored.paper.ids) for stored in saved] == saved
    assert "damaged" in caplog.text
    assert list(path.parent.glob("catalogue.db.damaged-*"))
    assert_consistent(shelf)


def test_the_folder_may_move(shelf: Shelf, tmp_path: Path) -> None:
    save(shelf, paper(pmid="1"))
    shelf.close()
    shelf.folder.rename(tmp_path / "elsewhere")
    found = Shelf(tmp_path / "elsewhere").find_text(Ids(pmid="1"))
    assert found is not None
    assert found.path == str(tmp_path / "elsewhere" / "pmid_1.txt")
