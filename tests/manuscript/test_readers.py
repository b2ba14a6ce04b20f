"""Every form of manuscript: sentences with their places, citations, references."""

import json
import os
import zipfile
from html import escape
from pathlib import Path

import pytest

from tests.fixtures import fixture_text
from utils.errors import BadRequest
from utils.manuscript.parts import Manuscript, Sentence, iterate_sentences
from utils.manuscript.reading import read_manuscript, read_manuscript_text

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_LIST = """
References

[1] Roe J, Poe A. Bees and light in spring. J Moss. 2024;12(3):45-9. doi:10.1000/a.b.
[2] Doe, J. (2020). A title of words here. Moss Journal, 12(3), 45-49.
"""


def _cited(manuscript: Manuscript) -> list[Sentence]:
    every = (one for block in manuscript.blocks for one in iterate_sentences(block))
    return [one for one in every if one.keys]


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_markdown_places_are_those_of_the_file(tmp_path: Path) -> None:
    text = "---\ntitle: T\n---\n\nFirst. Bees *see* light\nwell [@roe, p. 3; -@doe]. Then.\n"
    [one] = _cited(read_manuscript(_written(tmp_path, "a.md", text)))
    assert one.keys == ("roe", "doe")
    lines = text.split("\n")
    assert (one.place.line, one.place.last_line) == (5, 6)
    assert lines[4][one.place.start :] == "Bees *see* light"
    assert lines[5][: one.place.end] == "well [@roe, p. 3; -@doe]."


def test_latex_with_its_list_and_files(tmp_path: Path) -> None:
    _written(tmp_path, "part.tex", "It fell by 12.5\\,\\% \\parencite{doe}.\n")
    bib = "@article{roe,\n title={{Bees} and light}, author={Roe, J.}, doi={10.1000/a}}\n"
    _written(tmp_path, "refs.bib", bib)
    text = (
        "\\documentclass{article}\n\\begin{document}\nM\\\"uller wrote ``so it is''"
        " \\citep[see][3]{roe}.\n\n\\input{part}\n\\bibliography{refs}\n\\end{document}\n"
    )
    read = read_manuscript(_written(tmp_path, "a.tex", text))
    first, second = _cited(read)
    assert first.text == "Müller wrote “so it is” [roe]."
    assert text.split("\n")[2][first.place.start : first.place.end].endswith("{roe}.")
    assert ("12.5\u2009%" in second.claim, second.place.file) == (True, "part.tex")
    assert [(one.key, one.ids.doi) for one in read.references] == [("roe", "10.1000/a")]


def test_bibitems(tmp_path: Path) -> None:
    text = (
        "\\documentclass{article}\\begin{document}So \\cite{a}.\n\\begin{thebibliography}{9}\n"
        "\\bibitem[Roe(2024)]{a} J.~Roe. \\newblock Bees and light. \\emph{J. Moss}, 2024. "
        "doi:10.1000/a.b.\n\\end{thebibliography}\\end{document}"
    )
    [reference] = read_manuscript(_written(tmp_path, "a.tex", text)).references
    assert (reference.ids.doi, reference.place.line) == ("10.1000/a.b", 3)
    assert "Bees and light" in reference.words


def test_numbers_in_text(tmp_path: Path) -> None:
    text = f"Bees see light [1,2]. Moss is green. Doe saw [1-2].\n{_LIST}"
    read = read_manuscript(_written(tmp_path, "a.txt", text))
    assert [one.keys for one in _cited(read)] == [("1", "2"), ("1", "2")]
    assert [one.paper.title for one in read.references] == [
        "Bees and light in spring",
        "A title of words here",
    ]
    assert read.references[0].ids.doi == "10.1000/a.b"


def test_names_and_years_in_text(tmp_path: Path) -> None:
    listed = _LIST.replace("[1] ", "\n").replace("[2] ", "\n")
    text = f"Roe and Poe (2024) saw it. Others did (see Doe, 2020).\n{listed}"
    read = read_manuscript(_written(tmp_path, "a.txt", text))
    assert [one.keys for one in _cited(read)] == [("1",), ("2",)]


def _docx(path: Path, *paragraphs: str, **parts: str) -> Path:
    body = "".join(f"<w:p>{one}</w:p>" for one in paragraphs)
    with zipfile.ZipFile(path, "w") as packed:
        made = f"<w:document {_W}><w:body>{body}</w:body></w:document>"
        packed.writestr("word/document.xml", made)
        for name, part in parts.items():
            packed.writestr(f"{name.replace('_', '/')}.xml", part)
    return path


def _run(text: str, properties: str = "") -> str:
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _field(code: str, shown: str) -> str:
    def sign(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    half = len(code) // 2  # Word cuts long codes
    parts = "".join(
        f"<w:r><w:instrText>{escape(one)}</w:instrText></w:r>" for one in (code[:half], code[half:])
    )
    return sign("begin") + parts + sign("separate") + _run(shown) + sign("end")


def test_docx_with_the_fields_of_zotero_and_endnote(tmp_path: Path) -> None:
    item = {"id": 7, "itemData": {"title": "Bees", "DOI": "10.1000/a", "type": "article-journal"}}
    zotero = f"ADDIN ZOTERO_ITEM CSL_CITATION {json.dumps({'citationItems': [item]})}"
    endnote = (
        "ADDIN EN.CITE <EndNote><Cite><RecNum>3</RecNum><record><titles><title>Moss</title>"
        "</titles><electronic-resource-num>10.1000/b</electronic-resource-num></record></Cite>"
        "</EndNote>"
    )
    path = _docx(
        tmp_path / "a.docx",
        _run("Bees see ") + _run("12 %") + _field(zotero, " (Roe, 2024)") + _run(". More."),
        _run("Moss is green") + _field(endnote, " [2]") + _run("."),
    )
    read = read_manuscript(path)
    first, second = _cited(read)
    assert first.text == "Bees see 12 % (Roe, 2024)."
    assert (first.keys, second.keys) == (("7",), ("endnote:3",))
    assert str(second.place) == "paragraph 2, characters 1–18"
    assert [one.ids.doi for one in read.references] == ["10.1000/a", "10.1000/b"]


_SOURCES = fixture_text("manuscript/readers_sources.xml")


def test_docx_with_the_fields_and_sources_of_word(tmp_path: Path) -> None:
    cited = _field(r' CITATION Roe24 \l 1033 \p 3 \m "Doe 20" \m Gone ', " (Roe, 2024)")
    listed = _field("BIBLIOGRAPHY", "Roe, J. (2024). Bees and light.")
    path = _docx(
        tmp_path / "a.docx",
        f"<w:sdt><w:sdtPr><w:citation/></w:sdtPr><w:sdtContent>{_run('Bees see') + cited}"
        "</w:sdtContent></w:sdt>",
        listed,
        customXml_item1=_SOURCES,
        customXml_item2="<other/>",
        customXml_item3="<!DOCTYPE x [<!ENTITY y 'z'>]><x>&y;</x",
    )
    read = read_manuscript(path)
    assert _cited(read)[0].keys == ("Roe24", "Doe 20", "Gone")
    assert [block.kind for block in read.blocks] == ["prose", "entry"]
    roe, doe = read.references
    assert (roe.ids.doi, roe.paper.year, roe.kind) == ("10.1000/a", "2024", "article")
    assert [one.name for one in (*roe.paper.authors, *doe.paper.authors)] == [
        "Jane Roe",
        "Moss Society",
    ]


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_docx_with_citations_in_notes(tmp_path: Path, kind: str) -> None:
    item = {"id": 7, "itemData": {"title": "Bees", "DOI": "10.1000/a", "type": "article-journal"}}
    zotero = f"ADDIN ZOTERO_ITEM CSL_CITATION {json.dumps({'citationItems': [item]})}"
    note = _run("See ") + _field(zotero, "Roe, Bees") + _run(", who saw 12 %.")
    notes = f'<w:{kind} w:id="-1"/><w:{kind} w:id="4"><w:p>{note}</w:p></w:{kind}>'
    sign = f'<w:r><w:{kind}Reference w:id="4"/></w:r>'
    path = _docx(
        tmp_path / "a.docx",
        _run("Bees see light.") + sign + _run(" Moss is green."),
        _run("So."),
        **{f"word_{kind}s": f"<w:{kind}s {_W}>{notes}</w:{kind}s>"},
    )
    read = read_manuscript(path)
    main, noted = _cited(read)
    assert (main.text, main.keys, noted.keys) == ("Bees see light.1", ("7",), ("7",))
    assert noted.text == "See Roe, Bees, who saw 12 %."
    assert str(noted.place) == f"{kind} 1, paragraph 1, characters 1–28"
    assert [one.ids.doi for one in read.references] == ["10.1000/a"]


def test_docx_as_printed_with_raised_numbers(tmp_path: Path) -> None:
    raised = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    entries = [_run(line) for line in _LIST.strip().split("\n") if line]
    path = _docx(
        tmp_path / "a.docx", _run("Bees see light.") + _run("1,2", raised), _run("So."), *entries
    )
    [one] = _cited(read_manuscript(path))
    assert one.keys == ("1", "2")


def test_pdf_through_our_own_reader(tmp_path: Path) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    body = "Bees see light in the morning, as many have seen in many meadows before us [1]. " * 4
    behind = "Moss is green in {} all winter long, which nobody had counted in so many {} [2]. "
    places = ("forests", "valleys", "gardens", "marshes", "harbours", "churchyards", "quarries")
    long = "".join(behind.format(one, other) for one in places for other in places)
    lines = [line for line in _LIST.strip().split("\n") if line]
    made = [Paragraph("Bees and light", styles["Title"]), Paragraph(body, styles["Normal"])]
    made += [PageBreak(), Paragraph("More", styles["Heading1"]), Paragraph(long, styles["Normal"])]
    made += [Paragraph(lines[0], styles["Heading1"])]
    made += [Paragraph(line, styles["Normal"]) for line in lines[1:]]
    SimpleDocTemplate(str(tmp_path / "a.pdf"), pagesize=(400, 400)).build(made)
    read = read_manuscript(tmp_path / "a.pdf")
    assert read.references[0].ids.doi == "10.1000/a.b"
    found = [(one.keys, one.place.page) for one in _cited(read)]
    assert {keys for keys, _ in found} == {("1",), ("2",)}
    assert {page for keys, page in found if keys == ("1",)} == {1}
    pages = [page for keys, page in found if keys == ("2",)]
    assert (pages[0], pages == sorted(pages), pages[-1] > 3) == (2, True, True), pages
    assert "line" not in str(_cited(read)[0].place)
    assert "could not be told" not in " ".join(read.warnings)


def test_words_name_no_file(tmp_path: Path) -> None:
    _written(tmp_path, "secret.bib", "@article{roe, title={Secret}}")
    text = "---\nbibliography: secret.bib\n---\n\nSo [@roe].\n"
    assert not read_manuscript_text(text).references


@pytest.mark.parametrize("data", [b"PK\x03\x04nothing", b"\x00\x01\x02"])
def test_what_is_no_manuscript(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(data)
    with pytest.raises(BadRequest):
        read_manuscript(path)


@pytest.mark.parametrize("form", ["md", "tex"])
def test_no_file_outside_is_read_because_a_manuscript_names_it(tmp_path: Path, form: str) -> None:
    _written(tmp_path, "mine.bib", "@article{roe, title={Secret}}")
    sent = tmp_path / "sent"
    (sent / "paper").mkdir(parents=True)
    (sent / "paper" / "link.bib").symlink_to(tmp_path / "mine.bib")
    (sent / "paper" / "link.tex").symlink_to(tmp_path / "mine.bib")
    _written(sent, "shared.bib", "@article{roe, title={Bees}}")
    hostile = (
        "../../mine.bib", str(tmp_path / "mine.bib"), "link.bib",
        "a\0b.bib" if form == "md" else "none.bib", "paper", "pipe",
    )  # fmt: skip
    os.mkfifo(sent / "paper" / "pipe.bib")
    for name in (*hostile, "pipe.bib", "../shared.bib"):
        listed = f"---\nbibliography: {json.dumps(name)}\n---\n\nSo [@roe].\n"
        if form == "tex":
            listed = f"\\documentclass{{a}}So \\cite{{roe}}.\\bibliography{{{name}}}"
        read = read_manuscript(_written(sent / "paper", f"a.{form}", listed))
        assert not read.references, name
        assert read.warnings, name
    assert "--references" in " ".join(read.warnings)
    (sent / ".git").mkdir()  # of one repository
    [reference] = read_manuscript(sent / "paper" / f"a.{form}").references
    assert reference.paper.title == "Bees"
    named = read_manuscript(sent / "paper" / f"a.{form}", [tmp_path / "mine.bib"])
    assert [one.paper.title for one in named.references] == ["Bees", "Secret"]
