"""Citation searching finds what the indexes know, says who led there, and adds up in a review.

Who cites whom in the world is known from ``tests.world.kinship``; what is expected is counted from
it here.
"""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harvests import done
from tests.reports.r_prisma import read_as_r_does
from tests.world import Record, World, kinship
from utils import Library, cli
from utils.errors import BadRequest, Unreachable
from utils.lists.printed_references import find_printed_ids
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.review import Review
from utils.review.snowball import SHELF_INDEX, CitationLead, Snowball, _merge_leads
from utils.search import citation_indexes
from utils.search.citation_indexes import CitationIndex
from utils.sources.europepmc import LinkedPaper

pytestmark = pytest.mark.slow

FIELD = 6
FREE = {"NCBI ELink", "Europe PMC", "OpenCitations", "NIH iCite"}


def seeds_of(world: World) -> list[Record]:
    """Three papers that cite others and are cited."""
    able = [
        record
        for record in world.corpus.records
        if record.pmid and kinship.cited(record, world) and kinship.citing(record, world)
    ]
    return able[:3]


def papers(library: Library, records: list[Record]) -> list[Paper]:
    found = library.references.records(Ids(pmid=record.pmid) for record in records)
    return [paper for _, paper in found if isinstance(paper, Paper)]


def by_pmid(found: Snowball) -> dict[str, int]:
    return {one.paper.ids.pmid: len(one.seeds) for one in found.candidates if one.paper.ids.pmid}


def counted(records: list[Record], world: World, *ways: str) -> dict[str, int]:
    """By PMID, how many of *records* lead there."""
    near = {"backward": kinship.cited, "forward": kinship.citing}
    led: Counter[str] = Counter()
    for record in records:
        led.update({other.pmid for way in ways for other in near[way](record, world)})
    return {pmid: n for pmid, n in led.items() if pmid not in {one.pmid for one in records}}


@pytest.mark.parametrize("ways", [("backward",), ("forward",), ("backward", "forward")])
def test_every_paper_the_indexes_lead_to_is_found_and_counted(
    library: Library, field: World, ways: tuple[str, ...]
) -> None:
    records = seeds_of(field)
    found = library.reviews.snowball(papers(library, records), directions=ways)  # type: ignore[arg-type]
    assert by_pmid(found) == counted(records, field, *ways)
    numbers = [len(one.seeds) for one in found.candidates]
    assert numbers == sorted(numbers, reverse=True)
    assert set(found.indexes) == FREE
    assert not found.notes
    assert {lead.direction for one in found.candidates for lead in one.leads} == set(ways)


def test_what_was_screened_is_no_candidate(library: Library, field: World) -> None:
    records = seeds_of(field)
    expected = counted(records, field, "backward")
    held = sorted(expected)[:4]
    known = [Paper(Ids(pmid=pmid)) for pmid in held]
    found = library.reviews.snowball(
        papers(library, records), known=known, directions=("backward",)
    )
    assert set(by_pmid(found)) == set(expected) - set(held)
    assert found.known >= 4


def test_what_was_screened_is_no_candidate_however_many_lead_to_it() -> None:
    held = Paper(Ids(pmid="41000015", doi="10.1/x"), "Hedges and their shadows in spring",
                 authors=(Author("Roe", "Jane", "J"),), published="2020-01-01")  # fmt: skip
    new = Paper(Ids(pmid="41000016"))
    as_indexes_tell_it = (Paper(Ids(pmid="41000015")), Paper(Ids(doi="10.1/x")), new,
                          replace(held, authors=(Author("Roe"),), published="2020"))  # fmt: skip
    leads = [(row, CitationLead(f"PMID {seed}", "forward", str(at)))
             for seed in range(150) for at, row in enumerate(as_indexes_tell_it)]  # fmt: skip
    [candidate], met = _merge_leads(leads, [held], 1)
    assert candidate.paper.ids == new.ids
    assert len(candidate.seeds) == 150
    assert met == 1


def test_a_second_round_goes_on_from_the_first(library: Library, field: World) -> None:
    records = seeds_of(field)[:1]
    once = library.reviews.snowball(papers(library, records), directions=("backward",))
    twice = library.reviews.snowball(
        papers(library, records), directions=("backward",), rounds=2, per_round=2
    )
    first = {one.paper.ids.key for one in twice.candidates if one.round == 1}
    assert first == {one.paper.ids.key for one in once.candidates}
    second = {one.paper.ids.pmid for one in twice.candidates if one.round == 2}
    begun = [lead.seed for one in twice.candidates if one.round == 2 for lead in one.leads]
    assert second
    assert len(set(begun)) <= 2


def test_an_index_that_is_down_is_named_and_the_others_are_asked(
    library: Library, field: World
) -> None:
    records = seeds_of(field)
    seeds = papers(library, records)
    field.mood("down", "europepmc")
    found = library.reviews.snowball(seeds, directions=("backward",))
    assert set(found.indexes) == FREE - {"Europe PMC"}
    assert any("Europe PMC could not be asked about 3" in note for note in found.notes)


@pytest.mark.parametrize(("answers_first", "requests"), [(False, 1), (True, 3)])
def test_a_dead_index_is_not_asked_about_every_paper(
    library: Library,
    field: World,
    monkeypatch: pytest.MonkeyPatch,
    *,
    answers_first: bool,
    requests: int,
) -> None:
    asked: list[Ids] = []

    def answer(ids: Ids, *_: object) -> tuple[int, list[LinkedPaper], str]:
        asked.append(ids)
        if answers_first and len(asked) == 1:
            return 0, [], ""
        raise Unreachable("The index does not answer.")

    index = CitationIndex("Dead index", ("pmid",), answer)
    monkeypatch.setattr(citation_indexes, "INDEXES", (*citation_indexes.INDEXES, index))
    seeds = papers(library, seeds_of(field))
    found = library.reviews.snowball(seeds)
    assert len(asked) == requests
    missing = 2 * len(seeds) - answers_first
    [note] = [note for note in found.notes if "Dead index" in note]
    assert f"could not be asked about {missing} of the lists: The index does not" in note


def test_the_reference_list_of_a_text_on_the_shelf_is_read(library: Library, field: World) -> None:
    record = field.field[0]
    assert library.download(record.pmid).stored.kind == "full_text"
    found = library.reviews.snowball(papers(library, [record]), directions=("backward",))
    assert SHELF_INDEX in found.indexes
    read = [one for one in found.candidates if SHELF_INDEX in one.indexes]
    assert read
    assert all(one.paper.ids for one in read)


def test_a_list_is_asked_for_once_a_day_so_a_killed_search_goes_on(
    library: Library, field: World
) -> None:
    seeds = papers(library, seeds_of(field))
    first = library.reviews.snowball(seeds, directions=("forward",))
    lists = ("opencitations", "icite")
    asked = sum(request.service in lists for request in field.requests)
    assert asked == 2 * len(seeds)
    again = library.reviews.snowball(seeds, directions=("forward",))
    assert again.candidates == first.candidates
    assert sum(request.service in lists for request in field.requests) == asked


def test_a_reference_without_identifiers_is_matched_where_that_is_sure(
    library: Library, field: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of a kind that nothing here was written for: titles, and nothing else that names."""
    [seed, other, *_] = seeds_of(field)
    people = ", ".join(f"{family} {given[:1]}" for family, given in other.authors)
    rows = [
        LinkedPaper("", other.plain_title, people, other.journal.short, other.year),
        LinkedPaper(
            "", "A pamphlet on moss that no database holds", "Nobody N", "Leaflets", "1961"
        ),
    ]
    only = CitationIndex("Cards", ("pmid",), lambda ids, kind, most, web: (len(rows), rows, ""))
    monkeypatch.setattr(citation_indexes, "INDEXES", (only,))
    found = library.reviews.snowball(papers(library, [seed]), directions=("backward",))
    read = {one.paper.title.rstrip("."): one.paper.ids.pmid for one in found.candidates}
    assert read == {other.plain_title: other.pmid, rows[1].title: ""}
    assert any("1 candidate has no identifier" in note for note in found.notes)
    held = papers(library, [other])
    again = library.reviews.snowball(papers(library, [seed]), known=held, directions=("backward",))
    assert [one.paper.title for one in again.candidates] == [rows[1].title]


def test_a_paper_without_a_name_that_an_index_takes_is_not_told_to_be_asked_about(
    library: Library, field: World
) -> None:
    [record, *_] = seeds_of(field)
    found = library.reviews.snowball([Paper(Ids(doi=record.doi))], directions=("forward",))
    assert found.indexes == ("OpenCitations",)
    assert by_pmid(found) == counted([record], field, "forward")


def test_printed_references_without_identifier_are_listed_and_no_candidates(
    library: Library, field: World
) -> None:
    record = field.field[0]
    path = Path(library.download(record.pmid).file_path)
    seed = papers(library, [record])
    before = library.reviews.snowball(seed, directions=("backward",))
    assert not before.unmatched
    # As older journals print them; no index knows the last one.
    text = path.read_text(encoding="utf-8")
    bare = re.sub(r"(?m)(^\d+\. .*?)\s*(?:https://doi\.org/|doi:\s*)?10\.9998/\S+$", r"\1", text)
    last = "77. Nobody N. A pamphlet on the moss of northern roofs. Leaflets. 1961;3:1-9."
    head, line, rest = bare.rpartition("\n1. ")
    assert line
    path.write_text(f"{head}\n{last}{line}{rest}", encoding="utf-8")
    found = library.reviews.snowball(seed, directions=("backward",))
    assert [line for _, line in found.unmatched] == [last]
    assert {one.paper.ids.key for one in found.candidates} == {
        one.paper.ids.key for one in before.candidates
    }


@pytest.mark.parametrize(
    ("reference", "ids"),
    [
        ("1. Roe J. Moss. Bryology. 2019;3:1. https://doi.org/10.1000/moss.1.", "10.1000/moss.1"),
        ("2. Poe A (2020) Fern, 10.1000/fern(20)1; see there", "10.1000/fern(20"),
        ("3. Roe J. No identifier. 2019;10:1000-1010.", ""),
    ],
)
def test_identifiers_of_a_printed_reference(reference: str, ids: str) -> None:
    assert find_printed_ids(reference).doi.startswith(ids)
    assert bool(find_printed_ids(reference)) is bool(ids)


@pytest.fixture
def included(library: Library, field: World) -> Review:
    """A review with one included report."""
    review = library.reviews.create("chase")
    (review.folder / "protocol.yaml").write_text(
        "screeners: 1\ndatabases:\n  - {source: pubmed, query: 'field[ti]'}\n", encoding="utf-8"
    )
    review.update()
    done(review.harvest())
    doi = next(r.paper.ids.doi for r in review.ledger.list_records() if r.paper.ids.pmid)
    decided = f"doi,decision,stage\n{doi},include,title_abstract\n{doi},include,full_text\n"
    review.read_decisions(decided.encode(), "mine.csv")
    return review


def test_new_papers_join_the_review_as_citation_searching(included: Review, field: World) -> None:
    before = len(included.ledger.list_records())
    found = included.snowball()
    assert found.candidates
    others = [one for one in included.ledger.list_records() if one.arm == "other"]
    assert len(included.ledger.list_records()) - before == len(others) == len(found.candidates)
    included.report()
    read = read_as_r_does((included.folder / "prisma.csv").read_text(encoding="utf-8"))
    assert read["citations_results"] == len(others)
    assert read["other_sought_reports"] is None  # nobody has screened them
    appendix = (included.folder / "prisma-s.md").read_text(encoding="utf-8")
    assert "**5. Citation searching.** Citation searching (backward and forward) in" in appendix
    with pytest.raises(BadRequest, match="no included report to start from, or no new one"):
        included.snowball()
    included.update()  # searches again, and forgets nothing that was chased
    included.report()
    read = read_as_r_does((included.folder / "prisma.csv").read_text(encoding="utf-8"))
    assert read["citations_results"] == len(others)


def test_a_list_is_chased_in_the_shell(
    field: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in field.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "papers"))
    monkeypatch.setenv("PAPERS_PACE_DIR", str(tmp_path / "pace"))
    records = seeds_of(field)
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(record.pmid for record in records), encoding="utf-8")
    table = tmp_path / "found.csv"
    words = ["snowball", str(seeds), "--backward", "--output", str(table), "--json"]
    assert cli.main(words) == 0
    said = capsys.readouterr()
    rows = [json.loads(line) for line in said.out.splitlines()]
    expected = counted(records, field, "backward")
    assert {row["pmid"]: row["papers"] for row in rows if row["pmid"]} == expected
    with table.open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    assert "asked: NCBI ELink, Europe PMC, OpenCitations, NIH iCite" in said.err
    assert cli.main(["snowball", str(seeds), "--rounds", "9"]) == 2
    assert cli.main(["snowball", str(seeds), "--output", "found.docx"]) == 2
    assert cli.main(["snowball", "no", "list"]) == 2
