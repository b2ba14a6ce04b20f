"""Every form of manuscript: sentences with their places, citations, references."""

from __future__ import annotations

import json
import zipfile
from html import escape
from pathlib import Path

import pytest

from utils.errors import BadRequest
from utils.manuscript.parts import Manuscript
from utils.manuscript.reading import read_manuscript, read_words
from utils.manuscript.sentences import Sentence, sentences

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_LIST = """
References

[1] Roe J, Poe A. Bees and light in spring. J Moss. 2024;12(3):45-9. doi:10.1000/a.b.
[2] Doe, J. (2020). A title of words here. Moss Journal, 12(3), 45-49.
"""


def _cited(manuscript: Manuscript) -> list[Sentence]:
    every = (one for block in manuscript.blocks for one in sentences(block))
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


def _docx(path: Path, *paragraphs: str) -> Path:
    body = "".join(f"<w:p>{one}</w:p>" for one in paragraphs)
    with zipfile.ZipFile(path, "w") as packed:
        made = f"<w:document {_W}><w:body>{body}</w:body></w:document>"
        packed.writestr("word/document.xml", made)
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
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    body = "Bees see light in the morning, as many have seen in many meadows before us [1]. " * 4
    lines = [line for line in _LIST.strip().split("\n") if line]
    made = [Paragraph("Bees and light", styles["Title"]), Paragraph(body, styles["Normal"])]
    made += [Paragraph(lines[0], styles["Heading1"])]
    made += [Paragraph(line, styles["Normal"]) for line in lines[1:]]
    SimpleDocTemplate(str(tmp_path / "a.pdf")).build(made)
    read = read_manuscript(tmp_path / "a.pdf")
    assert read.references[0].ids.doi == "10.1000/a.b"
    assert {one.keys for one in _cited(read)} == {("1",)}


def test_words_name_no_file(tmp_path: Path) -> None:
    _written(tmp_path, "secret.bib", "@article{roe, title={Secret}}")
    text = "---\nbibliography: secret.bib\n---\n\nSo [@roe].\n"
    assert not read_words(text).references


@pytest.mark.parametrize("data", [b"PK\x03\x04nothing", b"\x00\x01\x02"])
def test_what_is_no_manuscript(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(data)
    with pytest.raises(BadRequest):
        read_manuscript(path)
