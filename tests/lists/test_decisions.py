"""What screeners decided is read from each program's own files, and nothing is guessed."""

import pytest

from tests.lists import screening
from utils.errors import BadRequest
from utils.lists.decisions import (
    Decision,
    GivenFacts,
    ScreenedRecord,
    has_screening_decisions,
    read_included_papers,
    read_screened_records,
)
from utils.model.identifiers import Ids


def read(text: str | bytes, name: str = "", **told: str) -> list[ScreenedRecord]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_screened_records(data, name, GivenFacts(**told) if told else None))  # type: ignore[arg-type]


def votes(record: ScreenedRecord) -> list[tuple[str, str]]:
    return [(one.screener, one.choice) for one in record.decisions]


@pytest.mark.parametrize("data", [screening.RAYYAN.encode(), screening.zipped()])
def test_rayyan_names_each_screener_and_keeps_their_conflicts(data: bytes) -> None:
    first, second, third, fourth = read(data, "articles.csv")
    assert votes(first) == [("Kofi", "include"), ("Ama", "maybe")]
    assert first.labels == ("moss", "RCT")
    assert first.paper.ids == Ids(pmid="31452104", doi="10.1000/moss.1")
    assert first.paper.title == "Moss and light"
    assert [author.family for author in first.paper.authors] == ["Roe", "Poe"]
    assert votes(second) == [("Kofi", "exclude"), ("Ama", "exclude")]
    assert second.decisions[0].reasons == ("wrong population", "foreign language")
    assert votes(third) == [("Kofi", "include"), ("Ama", "exclude")]
    assert [one.reasons for one in third.decisions] == [(), ("wrong outcome",)]
    assert not fourth.decisions
    assert [one.is_excluded for one in (first, second, third, fourth)] == [
        False,
        True,
        False,
        False,
    ]


def test_the_stage_is_told_by_whoever_exported() -> None:
    [first, *_] = read(screening.RAYYAN, stage="full_text")
    assert {one.stage for one in first.decisions} == {"full_text"}


def test_rayyan_writes_the_same_notes_into_ris() -> None:
    [record] = read(screening.RAYYAN_RIS)
    assert record.decisions == (
        Decision("Kofi", "exclude", "title_abstract", ("background article",)),
    )


def test_rayyans_keys_labels_and_notes_come_from_bibtex_too() -> None:
    first, second = read(screening.RAYYAN_BIBTEX, "articles.bib")
    assert votes(first) == [("Kofi", "include"), ("Ama", "exclude")]
    assert first.decisions[1].reasons == ("wrong outcome",)
    assert first.labels == ("moss", "RCT")
    assert first.notes == (
        ("Kofi", 'see "Table 2" | p. 3'), ("Kofi", "ask: Ama"), ("Ama", "late"),
    )  # fmt: skip
    assert (first.key, first.rayyan_key) == ("ps-0123456789ab", "rayyan-901")
    assert first.paper.ids == Ids(doi="10.1000/moss.1")
    assert (second.key, second.rayyan_key, second.labels) == ("ps-00112233aabb", "", ("grey",))
    assert not second.decisions


@pytest.mark.parametrize(
    "text",
    [
        "key,title,notes\nps-0123456789ab,A,{note}\n",
        "key,title,notes\nrayyan-7,A,papershelf_key: ps-0123456789ab | {note}\n",
        "TY  - JOUR\nAN  - ps-0123456789ab\nTI  - A\nN1  - {note}\nER  - \n",
        "@article{{ps-0123456789ab,\n  title={{A}},\n  note={{{note}}}\n}}\n",
    ],
)
def test_our_key_is_found_wherever_rayyan_keeps_an_imported_key(text: str) -> None:
    note = "RAYYAN-INCLUSION: {Kofi=>Included} | RAYYAN-LABELS: a | USER-NOTES: {}"
    [record] = read(text.format(note=note), choice="include")
    assert (record.key, record.labels) == ("ps-0123456789ab", ("a",))


def test_rayyans_own_key_is_kept_from_each_format() -> None:
    ris = screening.RAYYAN_RIS.replace("TI  -", "AN  - rayyan-2\nTI  -")
    assert [one.rayyan_key for one in read(ris)] == ["rayyan-2"]
    rows = read(screening.RAYYAN)
    assert [one.rayyan_key for one in rows] == [f"rayyan-{number}" for number in range(1, 5)]
    assert rows[1].notes == (("Kofi", "no | no"),)


@pytest.mark.parametrize(
    ("name", "choice", "stage", "reasons"),
    [
        ("review_42_included_csv_20260102030405.csv", "include", "full_text", ()),
        ("review_42_excluded_csv_20260102030405.csv", "exclude", "full_text", ("Wrong setting",)),
        ("review_42_irrelevant_csv_20260102.csv", "exclude", "title_abstract", ("Wrong setting",)),
    ],
)
def test_covidences_decision_is_the_list_that_was_exported(
    name: str, choice: str, stage: str, reasons: tuple[str, ...]
) -> None:
    first, second = read(screening.COVIDENCE, name)
    assert first.decisions == (Decision("consensus", choice, stage, reasons),)  # type: ignore[arg-type]
    assert first.labels == ("first", "second")
    assert second.paper.ids == Ids(doi="10.1000/fern")


def test_a_covidence_file_by_another_name_has_to_be_told() -> None:
    with pytest.raises(BadRequest, match="records without decisions"):
        read(screening.COVIDENCE, "export.csv")
    first, _ = read(screening.COVIDENCE, "export.csv", choice="exclude", screener="Ama")
    assert votes(first) == [("Ama", "exclude")]


def test_asreview_leaves_what_was_not_seen_undecided() -> None:
    first, second, third = read(screening.ASREVIEW)
    assert votes(first) == [("Ama", "include")]
    assert first.labels == ("moss",)
    assert votes(second) == [("Ama", "exclude")]
    assert not third.decisions
    irrelevant, unseen = read(screening.ASREVIEW_RIS)
    assert (votes(irrelevant), votes(unseen)) == ([("Ama", "exclude")], [])
    assert irrelevant.key == "ps-4632a442f239"


@pytest.mark.parametrize("column", ["included", "label_included", "decision"])
@pytest.mark.parametrize(
    ("word", "choice"),
    [("1", "include"), ("0", "exclude"), ("1.0", "include"), ("Excluded", "exclude"),
     ("unclear", "maybe"), ("-1", None), ("", None), ("perhaps so", None)],
)  # fmt: skip
def test_a_table_of_anybodys_may_decide(column: str, word: str, choice: str | None) -> None:
    table = f"title,doi,{column},screener,reason\nA,10.1/a,1,Al,\nB,10.1/b,{word},Bo,late; short\n"
    _, second = read(table)
    assert votes(second) == ([("Bo", choice)] if choice else [])
    if choice == "exclude":
        assert second.decisions[0].reasons == ("late", "short")


def test_zoteros_tags_decide_and_carry_our_key() -> None:
    first, second, third = read(screening.ZOTERO_RIS)
    assert (votes(first), first.key) == ([("", "include")], "ps-0123456789ab")
    assert second.decisions == (Decision("", "exclude", "title_abstract", ("not a moss",)),)
    assert votes(third) == [("", "maybe")]
    [row] = read(screening.ZOTERO_CSV)
    assert row.decisions[0].reasons == ("wrong design",)
    assert row.paper.journal == "Bryology"


def test_eppi_has_a_stage_for_each_set_of_codes() -> None:
    first, second, third = read(screening.EPPI)
    assert first.decisions == (
        Decision("", "include", "title_abstract"),
        Decision("", "exclude", "full_text", ("no data",)),
    )
    assert first.paper.authors[1].family == "Poe"
    assert second.decisions[0].reasons == ("Not about moss", "date")
    assert second.paper.ids == Ids(doi="10.1000/fern")
    assert not third.decisions


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 broken",
        screening.zipped("title\n")[:-30],
        b"{}",
        b'{"References": 3, "CodeSets": 5}',
        b"[" * 100_000,
        b"title,doi\nA,10.1/a\n",
        b"%PDF-1.7",
        b"no table at all",
        b'title,decision\n"A,1\n',
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(BadRequest):
        read(data, "file.csv")


def test_endless_notes_are_read_in_bounded_time() -> None:
    votes = "".join(f'"S{n}"=>"Included", ' for n in range(20_000))
    notes = f"RAYYAN-INCLUSION: {{{votes}}} | ".replace('"', '""') + "RAYYAN- " * 50_000
    [record] = read(f'title,doi,notes\nA,10.1/a,"{notes}"\n')
    assert 0 < len(record.decisions) <= 200
    blanks = f"RAYYAN-LABELS: a{' ' * 900_000}b | RAYYAN-INCLUSION: {{}}"
    with pytest.raises(BadRequest, match="records without decisions"):
        read(f'title,doi,notes\nA,10.1/a,"{blanks}"\n')


def test_only_what_all_excluded_is_left_out_of_a_list() -> None:
    kept, left_out = read_included_papers(screening.RAYYAN.encode(), "articles.csv")
    assert left_out == 1
    assert [entry.asked for entry in kept[:2]] == [
        str(Ids(pmid="31452104", doi="10.1000/moss.1")), "Li 2020. Lichen. Bryology",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (screening.RAYYAN, True),
        (screening.ASREVIEW, True),
        (screening.ASREVIEW_RIS, True),
        (screening.COVIDENCE, True),
        (screening.ZOTERO_RIS.replace("exclude: not a moss", "papershelf/exclude"), True),
        ("pmid,included\n1,0\n", False),  # anybody's column may mean something else
        ("1\n2\n", False),
    ],
)
def test_a_list_is_known_to_hold_decisions_by_its_programs_own_words(text: str, told: bool) -> None:
    assert has_screening_decisions(text.encode()) is told
