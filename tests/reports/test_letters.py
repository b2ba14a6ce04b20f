"""Letters to authors: whom they are to, what they say, and that a person's changes stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports import invented
from tests.reports.test_interlibrary_loan import PAPER, fetchable
from utils.formats.pubmed import read_records
from utils.model.job import Harvested
from utils.model.paper import Author, Paper
from utils.reports.letters import correspondent, file_name, write_letters

ROW = Harvested(1, "7", "abstract", PAPER, reason="paywall")


def by(*authors: tuple[str, str]) -> Paper:
    made = (Author(family, "A", affiliations=(place,)) for family, place in authors)
    return replace(PAPER, authors=tuple(made))


def written(folder: Path, *papers: Paper, sender: str = "me@lab.edu") -> list[str]:
    rows = [replace(ROW, paper=paper) for paper in papers]
    write_letters(rows, folder, sender)
    return [(folder / "letters" / file_name(paper)).read_text(encoding="utf-8") for paper in papers]


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("Univ. of Moss, Oslo. Electronic address: a.lovelace@moss.edu.", "a.lovelace@moss.edu"),
        ("Dept. X, Y 12345, Japan (E-mail: a_l+1@dept.u-tokyo.ac.jp)", "a_l+1@dept.u-tokyo.ac.jp"),
        ("Institute; mailto:ada@x.org; other@x.org", "ada@x.org"),
        ("Universität Ulm, ada@ulm.de", "ada@ulm.de"),
        ("No address @ all, a@b, x@y.z.1, @moss.edu", ""),
        ("Two at signs a@b@moss.edu", ""),
        ("", ""),
    ],
)
def test_an_address_is_one_that_the_record_prints(place: str, address: str) -> None:
    assert correspondent(by(("Lovelace", place)))[1] == address


def test_of_several_addresses_the_first_that_names_its_author_is_taken() -> None:
    paper = by(
        ("Babbage", "Moss; lab@moss.edu"),
        ("Łoś", "Moss; jan.los@moss.edu"),
        ("Hopper", "Moss; hopper@moss.edu"),
    )
    author, address = correspondent(paper)
    assert (author and author.family, address) == ("Łoś", "jan.los@moss.edu")
    assert correspondent(by(("Babbage", "lab@moss.edu"), ("Hopper", "x")))[1] == "lab@moss.edu"


def test_a_letter_says_to_whom_for_what_and_from_whom(tmp_path: Path) -> None:
    [text] = written(tmp_path, by(("Lovelace", "Electronic address: ada@moss.edu.")))
    head, _, rest = text.partition("\n\n")
    assert head.splitlines() == [
        "To: ada@moss.edu",
        'Subject: Request for a copy of "Care of the perfused bone core"',
    ]
    assert rest.startswith("Dear A Lovelace,\n")
    for part in ("Journal", "2019", "3(2):11", "doi:10.1000/a", "[your name]", "me@lab.edu"):
        assert part in rest.replace("J Bone Care", "Journal"), part


def test_without_an_address_there_is_no_line_for_it(tmp_path: Path) -> None:
    [text] = written(tmp_path, PAPER, sender="")
    assert text.startswith("Subject: ")
    assert "Dear colleagues," in text
    assert "[your address]" in text


def test_no_text_from_outside_adds_a_line_to_the_head(tmp_path: Path) -> None:
    hostile = "Moss\r\nBcc: all@moss.edu\n\n{sender}\u2028\u202e{to.__class__}"
    author = Author(hostile, hostile, affiliations=("ada@moss.edu\r\nBcc: x@y.org",))
    [text] = written(tmp_path, replace(PAPER, title=hostile, authors=(author,)))
    head = text.partition("\n\n")[0]
    assert [line.partition(":")[0] for line in head.split("\n")] == ["To", "Subject"]
    assert not [line for line in text.splitlines() if line.startswith("Bcc")]
    assert "\u202e" not in text
    assert "{sender}" in text


def test_a_letter_that_somebody_changed_stays(tmp_path: Path) -> None:
    [_] = written(tmp_path, PAPER)
    path = tmp_path / "letters" / file_name(PAPER)
    path.write_text("Dear Ada, how are you?", encoding="utf-8")
    done = write_letters([ROW], tmp_path)
    assert (done.written, done.kept) == (0, 1)
    assert path.read_text(encoding="utf-8") == "Dear Ada, how are you?"


def test_there_is_one_for_each_paper_a_person_has_to_fetch(tmp_path: Path) -> None:
    author = (Author("Lovelace", "Ada", affiliations=("ada@moss.edu",)),)
    rows = [
        replace(row, paper=replace(row.paper, authors=author))
        for row in invented.rows(300, pending=0.1)
    ]
    missing = [row for row in rows if fetchable(row)]
    done = write_letters(rows, tmp_path)
    assert done.written == done.addressed == len(missing) == len([*done.folder.iterdir()]) > 40
    nameless = replace(ROW, paper=replace(PAPER, title=""))
    assert write_letters([nameless], tmp_path).written == 0


def test_looking_for_addresses_grows_with_the_text_only() -> None:
    hostile = tuple("a" * 4000 + tail for tail in ("@", "@a.", "." * 4000, "@" + "a." * 2000))
    authors = tuple(Author(f"N{i}", affiliations=hostile) for i in range(300))
    assert correspondent(replace(PAPER, authors=authors))[1] == ""


@pytest.mark.shared
def test_recorded_records_tell_the_addresses_that_they_print(shared: Path) -> None:
    found = asked = 0
    for file in sorted((shared / "articles").glob("*/pubmed.derived.xml"))[:200]:
        for paper in read_records(file.read_bytes()):
            places = [p for a in getattr(paper, "authors", ()) for p in a.affiliations]
            if isinstance(paper, Paper) and any("lectronic address" in p for p in places):
                asked += 1
                _, address = correspondent(paper)
                found += bool(address) and any(address in place for place in places)
    assert found == asked > 5
