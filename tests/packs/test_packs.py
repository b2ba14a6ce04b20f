"""Each reference of a pack is linked to its own PDF, and what is missing says why."""

import csv
import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import rispy
from lxml import etree

from tests.fixtures import fixture_text
from tests.packs.shelves import about, file_pdf, file_xml, pdf_bytes
from utils.citations.endnote import format_endnote_record, iterate_endnote_xml
from utils.errors import BadRequest
from utils.lists.references import read_file_entries
from utils.model.job import Harvested
from utils.model.paper import Attempt
from utils.packs import LAYOUTS, pack_references

PROGRAMS = sorted(LAYOUTS)


def read_links(pack: Path, program: str) -> dict[str, str]:
    """The PDF of each PMID, as a program finds it: a path relative to the pack."""
    if LAYOUTS[program].is_numbered:
        records = etree.parse(pack / "references.xml").iterfind(".//record")
        found = {one.findtext("accession-num"): one.findtext(".//pdf-urls/url") for one in records}
        return {pmid: url.replace("internal-pdf://", "PDF/") for pmid, url in found.items() if url}
    entries = rispy.loads((pack / "references.ris").read_text(encoding="utf-8"))
    return {
        one["accession_number"]: one["file_attachments1"]
        for one in entries
        if "file_attachments1" in one
    }


def read_table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_finds_the_pdf_of_each_reference(shelf, tmp_path, program):
    rows = [file_pdf(shelf, number) for number in range(1, 6)]
    target = tmp_path / "pack"
    pack = pack_references(rows, program, target, shelf)
    links = read_links(target, program)
    assert {pmid: (target / link).read_bytes() for pmid, link in links.items()} == {
        str(number): pdf_bytes(number) for number in range(1, 6)
    }
    assert len(pack.attached) == 5
    assert read_table(target / "missing.csv") == []
    assert len(list(target.rglob("*.pdf"))) == 5
    page = (target / "pack.html").read_text(encoding="utf-8")
    assert LAYOUTS[program].name in page


def test_papers_of_one_author_year_and_title_keep_their_own_pdf(shelf, tmp_path):
    same = {"title": "On cells", "authors": about(1).authors}
    rows = [file_pdf(shelf, number, **same) for number in range(1, 4)]
    pack_references(rows, "zotero", tmp_path / "pack", shelf)
    links = read_links(tmp_path / "pack", "zotero")
    for number in range(1, 4):
        assert (tmp_path / "pack" / links[str(number)]).read_bytes() == pdf_bytes(number)


def test_what_has_no_pdf_says_why(shelf, tmp_path):
    xml, asked = file_xml(shelf, 2), file_xml(shelf, 5)
    stored = shelf.find_paper_by_file(asked.file)
    shelf.pdfs.record_attempts(stored, [Attempt("unpaywall", "paywall", "asks for a login")])
    rows = [
        file_pdf(shelf, 1),
        xml,
        replace(about_row(3), state="failed", reason="paywall", detail="The page asks for money."),
        about_row(4),
        asked,
    ]
    target = tmp_path / "pack"
    pack = pack_references(rows, "zotero", target, shelf)
    table = {row["pmid"]: row for row in read_table(target / "missing.csv")}
    assert [row["reason"] for row in table.values()] == ["no_pdf", "paywall", "not_tried", "no_pdf"]
    assert table["3"]["sentence"] == "The page asks for money."
    assert "asks for a login" in table["5"]["sentence"]
    assert pack.reasons == {"no_pdf": 2, "paywall": 1, "not_tried": 1}
    page = (target / "pack.html").read_text(encoding="utf-8")
    assert "Text without a PDF" in page
    assert "Not fetched yet" in page
    assert len(rispy.loads((target / "references.ris").read_text(encoding="utf-8"))) == 5


def about_row(number: int) -> Harvested:
    return Harvested(number, f"PMID {number}", "pending", about(number))


def test_what_may_not_be_passed_on_is_left_out_but_for_own_use(shelf, tmp_path):
    rows = [
        file_pdf(shelf, 1, via="wiley", license=""),
        file_pdf(shelf, 2, via="wiley", license="CC BY 4.0"),
        file_pdf(shelf, 3, license=""),
        file_pdf(shelf, 4, license="CC BY-NC-ND 4.0"),
    ]
    pack = pack_references(rows, "folder", tmp_path / "pack", shelf)
    assert [one.row.reason for one in pack.references] == [*["not_shareable", ""] * 2]
    assert "not to be passed on" in pack.missing[0].row.detail
    assert "No licence is stated" in pack.missing[1].row.detail
    mine = pack_references(rows, "folder", tmp_path / "mine", shelf, own_use=True)
    assert len(mine.attached) == 4


def test_a_text_of_another_paper_lends_its_pdf_to_nothing(shelf, tmp_path):
    row = file_pdf(shelf, 1)
    pack = pack_references([replace(row, paper=about(2))], "zotero", tmp_path / "pack", shelf)
    assert [one.row.reason for one in pack.references] == ["wrong_paper"]
    assert not list((tmp_path / "pack").rglob("*.pdf"))


def test_a_text_that_came_after_the_harvest_is_packed(shelf, tmp_path):
    file_pdf(shelf, 1)
    row = replace(about_row(1), state="failed", reason="paywall")
    pack = pack_references([row], "zotero", tmp_path / "pack", shelf)
    assert len(pack.attached) == 1


def test_a_pdf_that_lies_among_the_originals_only_is_packed(tmp_path):
    from utils.shelf import Shelf

    with Shelf(tmp_path / "papers", keep_pdfs=False) as shelf:
        row = file_pdf(shelf, 1)
        pack = pack_references([row], "zotero", tmp_path / "pack", shelf)
        assert not list(shelf.folder.glob("*.pdf"))
    assert (tmp_path / "pack" / pack.references[0].file).read_bytes() == pdf_bytes(1)


def test_a_dry_run_counts_and_writes_nothing(shelf, tmp_path):
    rows = [file_pdf(shelf, 1), about_row(2)]
    plan = pack_references(rows, "zotero", tmp_path / "pack", shelf, dry_run=True)
    assert not (tmp_path / "pack").exists()
    assert (len(plan.attached), len(plan.missing), plan.is_new) == (1, 1, False)
    pack_references(rows, "zotero", tmp_path / "pack", shelf)
    files = [path for path in (tmp_path / "pack").rglob("*") if path.is_file()]
    manifest = (tmp_path / "pack" / "pack.json").stat().st_size
    assert plan.size == sum(path.stat().st_size for path in files) - manifest


def test_a_zip_holds_the_same_files_and_the_same_content_makes_the_same_zip(shelf, tmp_path):
    rows = [file_pdf(shelf, number) for number in range(1, 4)]
    pack_references(rows, "endnote", tmp_path / "pack", shelf)
    first = pack_references(rows, "endnote", tmp_path / "pack.zip", shelf)
    assert first.is_new
    data = (tmp_path / "pack.zip").read_bytes()
    assert not pack_references(rows, "endnote", tmp_path / "pack.zip", shelf).is_new
    (tmp_path / "pack.zip").unlink()
    pack_references(rows, "endnote", tmp_path / "pack.zip", shelf)
    assert (tmp_path / "pack.zip").read_bytes() == data
    with zipfile.ZipFile(tmp_path / "pack.zip") as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / "pack" / name).read_bytes()


def test_covidence_takes_fifteen_thousand_references_a_file(shelf, tmp_path, monkeypatch):
    monkeypatch.setitem(LAYOUTS, "covidence", LAYOUTS["covidence"]._replace(max_references=2))
    rows = [about_row(number) for number in range(1, 6)]
    pack_references(rows, "covidence", tmp_path / "pack", shelf)
    names = sorted(path.name for path in (tmp_path / "pack").glob("references*"))
    assert names == [f"references_{n}.{kind}" for n in (1, 2, 3) for kind in ("ris", "xml")]


def test_a_table_has_a_row_for_each_reference(shelf, tmp_path):
    pack = pack_references([file_pdf(shelf, 1), about_row(2)], "zotero", tmp_path / "p", shelf)
    table = pack.to_table()
    assert [dict(zip(table.columns, row, strict=True))["reason"] for row in table.rows] == [
        "",
        "not_tried",
    ]


def test_our_xml_has_the_elements_of_endnotes_own_in_its_order():
    real = etree.fromstring(fixture_text("lists/endnote_20_records.xml").encode())
    follows = set()
    known = set()
    for record in real.iterfind(".//record"):
        tags = [child.tag for child in record]
        follows |= {(one, other) for at, one in enumerate(tags) for other in tags[at + 1 :]}
        known |= {element.tag for element in record.iter()}
    rich = replace(about(1), pages="3-9", volume="1", issue="2", issn="1234-5678", keywords=("a",))
    ours = etree.fromstring(
        format_endnote_record(replace(rich, languages=("eng",)), 1, "PDF/1/a.pdf")
    )
    assert {element.tag for element in ours.iter()} <= known
    tags = [child.tag for child in ours]
    pairs = {(one, other) for at, one in enumerate(tags) for other in tags[at + 1 :]}
    assert not {(one, other) for one, other in pairs if (other, one) in follows}
    assert real.find(".//pdf-urls/url").text.startswith("internal-pdf://")


def test_our_own_xml_comes_back_record_by_record():
    papers = [about(1), replace(about(2), title="a < b & <i>c</i>"), replace(about(3), pages="3-9")]
    text = "".join(iterate_endnote_xml((paper, f"PDF/1/{paper.ids.pmid}.pdf") for paper in papers))
    entries = list(read_file_entries(text.encode(), "references.xml"))
    assert [entry.ids for entry in entries] == [paper.ids for paper in papers]
    links = re.findall("<url>internal-pdf://([^<]*)</url>", text)
    assert links == ["1/1.pdf", "1/2.pdf", "1/3.pdf"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_file_of_references_has_the_chosen_citation_keys(shelf, tmp_path, program):
    rows = [file_pdf(shelf, number) for number in (1, 2)]
    target = tmp_path / "pack"
    pack_references(rows, program, target, shelf, keys="[auth]-[pmid]")
    wanted = [f"{row.paper.authors[0].family}-{row.paper.ids.pmid}" for row in rows]
    files = list(target.glob("references.*"))
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        keys = re.findall(r"^ID  - (.*)$|<label>(.*?)</label>|^@\w+\{(.*),$", text, re.M)
        assert ["".join(found) for found in keys] == wanted, path.name


def test_without_a_pattern_only_bibtex_has_citation_keys(shelf, tmp_path):
    pack_references([file_pdf(shelf, 1)], "folder", tmp_path / "p", shelf)
    assert "ID  - " not in (tmp_path / "p" / "references.ris").read_text(encoding="utf-8")


def test_an_unknown_key_pattern_is_refused_before_anything_is_written(shelf, tmp_path):
    with pytest.raises(BadRequest, match="unknown part"):
        pack_references([file_pdf(shelf, 1)], "folder", tmp_path / "p", shelf, keys="[nonsense]")
    assert not (tmp_path / "p").exists()
