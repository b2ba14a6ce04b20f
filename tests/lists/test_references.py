"""Whatever file the papers are kept in, each is one entry with all its identifiers."""

# Programs write tables in long lines.
# ruff: noqa: E501

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures import fixture_text
from utils.errors import BadRequest
from utils.lists.pasted import ListEntry
from utils.lists.references import latex_to_text, read_file_entries
from utils.model.identifiers import Ids

RIS = fixture_text("lists/references.ris")
RIS_NAMES = [
    ["doi:10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2",
        "pmid:31452104", "pmcid:PMC6711544"],
    [],
    ["arxiv:2601.00001"],
    ["pmid:7", "pmcid:PMC8"],
]  # fmt: skip
BIBTEX = fixture_text("lists/references.bib")
BIBTEX_NAMES = [
    ["doi:10.1000/a_b_c", "pmid:31452104", "pmcid:PMC5"], [], ["arxiv:2601.00001"],
    ["doi:10.1000/same-key"], [], ["doi:10.1000/last"],
]  # fmt: skip
NBIB = fixture_text("lists/references.nbib")
NBIB_NAMES = [["doi:10.1000/a", "pmid:31452104", "pmcid:PMC6711544"], ["doi:10.1000/b", "pmid:2"]]
WOS = fixture_text("lists/references_web_of_science.txt")
PUBMED_CSV = (
    "\ufeffPMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,Create Date,"
    "PMCID,NIHMS ID,DOI\n"
    '31452104,"A title, with ""quotes""","Smith J, Doe A.",J Tests. 2019,Smith J,J Tests,2019,'
    "2019/08/28,PMC6711544,,10.1000/a\n"
)
TABLES = {
    "pubmed": (PUBMED_CSV, [["doi:10.1000/a", "pmid:31452104", "pmcid:PMC6711544"]]),
    "scopus": ("Authors,Title,Year,Source title,DOI,Link,PubMed ID\nSmith J.,A,2019,J,10.1000/a,https://www.scopus.com/x,31452104\n", [["doi:10.1000/a", "pmid:31452104"]]),
    "wos": ("PT\tAU\tTI\tSO\tDI\tPY\tPM\nJ\tSmith, J\t\"Small\" things\tJ\t10.1000/a\t2019\t31452104\n", [["doi:10.1000/a", "pmid:31452104"]]),
    "zotero": ('"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Url","Extra"\n"A","journalArticle","2019","Smith, J","T","J","10.1000/a","https://x.org/1","PMID: 31452104\nPMCID: PMC6711544"\n', [["doi:10.1000/a", "pmid:31452104", "pmcid:PMC6711544"]]),
    "covidence": ("Title,Authors,Published Year,Journal,Accession Number,DOI,Covidence #\nT,S,2019,J,31452104,,#1\nT2,S,2019,J,,10.1000/b,#2\n", [[], ["doi:10.1000/b"]]),
    "endnote": ("Title,Accession Number,Name of Database\nT,31452104,PubMed\n", [["pmid:31452104"]]),
    "rayyan": ("key,title,year,doi,pubmed_id,pmc_id\nrayyan-1,T,2019,10.1000/a,31452104,6711544\n", [["doi:10.1000/a", "pmid:31452104", "pmcid:PMC6711544"]]),
    "excel": ("sep=;\nDOI;PMID\n10.1000/has,comma;31452104.0\n;\n", [["doi:10.1000/has,comma", "pmid:31452104"]]),
    "one column": ("DOI\n10.1000/has,comma\n10.1000/b\n", [["doi:10.1000/has,comma"], ["doi:10.1000/b"]]),
    "no header": ('31452104,"A title, long",2019,10.1000/a\nfoo,bar\n', [["doi:10.1000/a", "pmid:31452104"], []]),
    "no header, many": ("31452104,31452105\n", [["pmid:31452104"], ["pmid:31452105"]]),
    "any identifier": ("Identifier,Title\n31452104,T\n10.1000/a,T\nPMC7,T\n", [["pmid:31452104"], ["doi:10.1000/a"], ["pmcid:PMC7"]]),
    "several DOIs": ("PMID,DOI\n,10.1000/a;10.1000/b\n,10.1000/c(1)3.0.CO;2-2\n", [["doi:10.1000/a"], ["doi:10.1000/c(1)3.0.co;2-2"]]),
    "unknown header": ("number;what\n31452104;x\n", [["pmid:31452104"]]),
}  # fmt: skip


def names(data, name=""):
    return [entry.ids.names() for entry in read_file_entries(data, name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(RIS, RIS_NAMES), (BIBTEX, BIBTEX_NAMES), (NBIB, NBIB_NAMES)],
    ids=["ris", "bibtex", "nbib"],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_record_is_one_entry_with_all_its_identifiers(text, expected, ending, encoding):
    assert names(text.replace("\n", ending).encode(encoding)) == expected


@pytest.mark.parametrize(("text", "expected"), TABLES.values(), ids=TABLES.keys())
def test_tables_of_every_program_are_read(text, expected):
    assert names(text.encode(), "list.csv") == expected


def test_a_table_without_header_or_name_is_known_by_its_rows():
    rows = '31452104,"A title, long",2019\n31452105,"Another, ""quoted""",2020\n,"No number",2021\n'
    assert names(rows.encode()) == [["pmid:31452104"], ["pmid:31452105"], []]


def test_web_of_science_files_are_read():
    assert names(WOS.encode()) == [["doi:10.1000/a", "pmid:31452104"]]


def test_lines_of_identifiers_keep_their_words():
    [first, second] = read_file_entries(b"# mine\n\nhttps://doi.org/10.1000/A\n PMID: 7 ")
    assert first == ListEntry("https://doi.org/10.1000/A", Ids(doi="10.1000/a"))
    assert second == ListEntry("PMID: 7", Ids(pmid="7"))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (RIS, "van der Berg 2020. Two words go on. J Tests"),
        (BIBTEX, "Müller 2020. Øn things"),
        ("Title,Authors,Year,Journal,DOI\nA title.,\"Smith J; Doe A\",2019,J Tests,n/a\n", "Smith 2019. A title. J Tests"),
    ],
)  # fmt: skip
def test_a_record_without_identifier_is_asked_for_by_its_citation(text, asked):
    assert asked in [entry.asked for entry in read_file_entries(text.encode()) if not entry.ids]


def test_an_entry_that_cannot_be_read_is_named_with_its_line_and_spoils_no_other():
    told = [
        entry.asked
        for entry in read_file_entries(BIBTEX.encode())
        if "cannot be read" in entry.asked
    ]
    assert told == ["@article{broken, title = {never closed, doi = {10.1000/lost} (line 7) cannot be read"]  # fmt: skip


def test_line_numbers_hold_in_long_files():
    text = "".join(f"@article{{k{n},\n doi = {{10.1000/{n}}}\n}}\n" for n in range(500))
    entries = list(read_file_entries((text + "@article{x, title = {open\n").encode()))
    assert len(entries) == 501
    assert "(line 1501)" in entries[-1].asked


def test_old_encodings_are_read():
    [entry] = read_file_entries(
        "TY  - JOUR\nAU  - Müller, J\nTI  - Über\nER  - \n".encode("cp1252")
    )
    assert entry.asked == "Müller. Über"


BAD = {
    "excel": (b"PK\x03\x04...", "Excel"), "pdf": (b"%PDF-1.7", "PDF"),
    "html": (b"\xef\xbb\xbf <html>", "HTML"), "json": (b'[{"rank": 1}]', "JSON"),
    "binary": (b"1\x00\x00\x00", "not a text file"),
    "open quote": (b'PMID,Title\n1,"never closed\n2,T\n', "line 2"),
    "endless cell": (b'PMID,Title\n1,"' + b"a\n" * 600_000 + b'"\n2,T\n', "line 2"),
    "endless line": (b"PMID,Title\n1," + b"a" * (1 << 21), "Line 2"),
    "words": (b"1\nhello world\n2 moons\n", "'hello world' (line 2)"),
    "words under a header": (b"PMID\nhello\n", "'hello' (line 2)"),
    "nothing": (b"", "No identifier"), "only a header": (b"PMID,DOI\n", "names no paper"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "told"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_read_is_refused_with_its_place(data, told):
    with pytest.raises(BadRequest) as refused:
        list(read_file_entries(data))
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("TY  - JOUR\nTI  - T\n", "DO  - 10.1000/a\nER  - \n"),
        ("PT J\nTI T\n", "DI 10.1000/a\nER\n"),
    ],
)
def test_an_endless_text_does_not_hide_the_identifier_behind_it(start, end):
    assert names((start + ("   " + "b" * 9_000 + "\n") * 3_000 + end).encode()) == [
        ["doi:10.1000/a"]
    ]


def test_a_list_without_end_is_read_in_pieces():
    def count(size):
        text = "".join(f"TY  - JOUR\nDO  - 10.1000/{n}\nER  - \n" for n in range(size))
        entries = read_file_entries(text.encode())
        next(entries)
        return entries

    assert sum(1 for _ in count(3000)) == 2999


@pytest.mark.parametrize("junk", ["\t" * 200_000, "," * 200_000, "{" * 50_000, "@a{" * 20_000, '"' * 9_999, 'a,"' + "b\n" * 9_999 + 'c,"d' * 40_000])  # fmt: skip
@pytest.mark.parametrize("start", ["", "TY  - JOUR\n", "@article{a, b = ", "PMID- 1\n", "PMID,DOI\n"])  # fmt: skip
def test_hostile_lists_end_soon_in_entries_or_a_refusal(start, junk):
    told = ""
    try:
        assert len(list(read_file_entries((start + junk).encode()))) < 100_000
    except BadRequest as refused:
        told = str(refused)
    assert len(told) < 5_000


@given(
    st.sampled_from([RIS, BIBTEX, NBIB, WOS, PUBMED_CSV]),
    st.integers(0, 900),
    st.text(max_size=12),
    st.integers(0, 60),
)
def test_a_damaged_file_is_read_or_refused(text, at, junk, cut):
    damaged = text[:at] + junk + text[at + cut :]
    try:
        for entry in read_file_entries(damaged.encode("utf-8", "replace")):
            assert entry.asked
    except BadRequest:
        pass


def test_latex_is_read_as_it_is_printed():
    assert latex_to_text(r"Caf\'e {\ss} na\"{\i}ve \& {DNA}") == "Café ß naïve & DNA"


@pytest.mark.shared
def test_real_exports_are_read(shared):
    folder = shared / "citations" / "asreview"
    counts = {
        path.name: [bool(entry.ids) for entry in read_file_entries(path.read_bytes(), path.name)]
        for path in (folder / "pubmed_zotero.ris", folder / "web_of_science.txt")
    }
    assert counts == {"pubmed_zotero.ris": [True] * 6, "web_of_science.txt": [True] * 10}
