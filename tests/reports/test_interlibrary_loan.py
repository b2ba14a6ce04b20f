"""What a library is asked for: read back as its system would, and only what is missing."""

from dataclasses import replace
from pathlib import Path

from tests.reports import invented
from utils.lists.references import read_file_entries
from utils.model.identifiers import Ids
from utils.model.job import Harvested
from utils.model.paper import Author, Paper
from utils.reports import write_report
from utils.reports.tables import LOANS_FILE

PAPER = Paper(
    Ids(pmid="7", doi="10.1000/a"),
    title="Care of the perfused bone core",
    abstract="A long abstract.",
    authors=(Author("Lovelace", "Ada"), Author(collective="The Core Group")),
    journal="Journal of Bone Care",
    issn="1234-5678",
    volume="3",
    issue="2",
    pages="11-19",
    published="2019-04",
    keywords=("bone",),
    mesh=("Bone and Bones",),
)


def tags(record: str) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for line in record.splitlines():
        name, _, value = line.partition("  - ")
        made.setdefault(name, []).append(value)
    return made


def fetchable(row: Harvested) -> bool:
    """Whether there is no text, and somebody knows the paper."""
    return row.state in ("abstract", "record", "failed") and row.reason != "not_found"


def loans(folder: Path, *rows: Harvested) -> str:
    write_report(invented.job(), lambda: iter(rows), folder)
    return (
        (folder / LOANS_FILE).read_text(encoding="utf-8") if (folder / LOANS_FILE).exists() else ""
    )


def test_every_field_that_a_library_needs_is_there_and_no_more(tmp_path: Path) -> None:
    told = tags(loans(tmp_path, Harvested(1, "7", "abstract", PAPER, reason="paywall")))
    wanted = {
        "TY": "JOUR", "TI": "Care of the perfused bone core", "T2": "Journal of Bone Care",
        "SN": "1234-5678", "VL": "3", "IS": "2", "SP": "11", "EP": "19", "PY": "2019",
        "DO": "10.1000/a", "AN": "7", "DB": "PubMed", "N1": "PMID: 7",
    }  # fmt: skip
    assert {name: told[name] for name in wanted} == {name: [v] for name, v in wanted.items()}
    assert told["AU"] == ["Lovelace, Ada", "The Core Group"]
    assert not {"AB", "KW", "L1"} & told.keys()


def test_it_names_what_a_person_can_fetch_and_nothing_else(tmp_path: Path) -> None:
    rows = [*invented.rows(200, pending=0.1)]
    missing = [row.paper.ids.doi for row in rows if fetchable(row)]
    listed = read_file_entries(loans(tmp_path, *rows).encode(), LOANS_FILE)
    assert [entry.ids.doi for entry in listed] == missing
    assert len([row for row in rows if row.state in ("abstract", "failed")]) > len(missing) > 30


def test_where_all_is_there_nothing_is_asked_for(tmp_path: Path) -> None:
    row = Harvested(1, "7", "abstract", PAPER, reason="paywall")
    assert loans(tmp_path, row)
    assert not loans(tmp_path, replace(row, state="full_text", reason=""))


def test_of_an_identifier_alone_an_article_is_asked_for(tmp_path: Path) -> None:
    row = Harvested(1, "7", "failed", Paper(Ids(doi="10.1000/a")), reason="could_not_tell")
    told = tags(loans(tmp_path, row))
    assert (told["TY"], told["DO"]) == (["JOUR"], ["10.1000/a"])


def test_no_text_from_outside_adds_a_field_or_a_record(tmp_path: Path) -> None:
    text = "Moss\nER  - \n\nTY  - JOUR\r\nTI  - Another\u2028DO  - 10.1/x"
    paper = replace(PAPER, title=text, journal=text, volume=text, authors=(Author(text, text),))
    told = tags(loans(tmp_path, Harvested(1, text, "abstract", paper, reason="paywall")))
    assert (len(told["TY"]), len(told["ER"]), told["DO"]) == (1, 1, ["10.1000/a"])
