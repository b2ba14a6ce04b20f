"""Which file belongs to which paper: BibTeX, RIS, EndNote XML and Zotero RDF."""

from pathlib import Path

import pytest

from utils.errors import BadRequest
from utils.lists.attachments import (
    find_pdf_paths_in_field,
    match_papers_to_files,
    read_attached_papers,
)

RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<bib:Article rdf:about="#item_1"><z:itemType>journalArticle</z:itemType>
<dcterms:isPartOf><bib:Journal><dc:identifier>DOI 10.1000/moss</dc:identifier></bib:Journal>
</dcterms:isPartOf><bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Roe</foaf:surname>
<foaf:givenname>Ann</foaf:givenname></foaf:Person></rdf:li></rdf:Seq></bib:authors>
<link:link rdf:resource="#item_2"/><dc:title>On moss</dc:title></bib:Article>
<z:Attachment rdf:about="#item_2"><rdf:resource rdf:resource="files/2/Roe%20-%20Moss.pdf"/>
</z:Attachment></rdf:RDF>"""
ENDNOTE = b"""<xml><records><record><titles><title>On moss</title></titles>
<electronic-resource-num>10.1000/moss</electronic-resource-num>
<urls><pdf-urls><url>internal-pdf://0123456789/Roe - Moss.pdf</url></pdf-urls></urls>
</record></records></xml>"""
BIBTEX = rb"""@article{roe, title={On moss}, doi={10.1000/moss},
 file={Full Text:files/2/Roe - Moss.pdf:application/pdf;Page:files/3/page.html:text/html}}"""
RIS = b"TY  - JOUR\nTI  - On moss\nDO  - 10.1000/moss\nL1  - files/2/Roe - Moss.pdf\nER  - \n"


@pytest.mark.parametrize("data", [BIBTEX, RIS, ENDNOTE, RDF], ids=["bib", "ris", "xml", "rdf"])
def test_each_format_names_the_file_of_its_paper(data):
    [one] = read_attached_papers(data)
    assert (one.paper.ids.doi, one.paper.title) == ("10.1000/moss", "On moss")
    folder = "0123456789" if data == ENDNOTE else "2"
    files = [Path(f"/lib/files/{folder}/Roe - Moss.pdf"), Path("/lib/files/3/Roe - Moss.pdf")]
    assert list(match_papers_to_files([one], files)) == [files[0]]


@pytest.mark.parametrize(
    ("field", "paths"),
    [
        (":a/b.pdf:PDF", ("a/b.pdf",)),
        (r"a\:b.pdf:c.pdf:PDF", ("a:b.pdf", "c.pdf")),
        ("/home/roe/a.pdf;/home/roe/b.pdf", ("/home/roe/a.pdf", "/home/roe/b.pdf")),
        (r"Text:C\:\\Users\\roe\\a.pdf:application/pdf", (r"C:\Users\roe\a.pdf",)),
        (":home/roe/a{\\_}b.pdf:pdf", ("home/roe/a_b.pdf",)),
        ("", ()),
        ("snapshot.html:text/html", ()),
    ],
)
def test_the_file_field_is_read_in_the_forms_of_each_program(field, paths):
    assert find_pdf_paths_in_field(field) == paths


def test_a_path_that_could_be_two_files_is_none_of_them():
    [one] = read_attached_papers(RIS.replace(b"files/2/", b""))
    files = [Path("/lib/1/Roe - Moss.pdf"), Path("/lib/2/Roe - Moss.pdf")]
    assert match_papers_to_files([one], files) == {}
    assert list(match_papers_to_files([one], files[:1])) == files[:1]


@pytest.mark.parametrize("data", [b"<rdf:RDF", b"%PDF-1.7", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b"])
def test_a_damaged_file_is_refused(data):
    with pytest.raises(BadRequest):
        read_attached_papers(data)
