"""Printed references into PMIDs: matched, not found, ambiguous, or not answered."""

import pytest

from tests.answering import answering
from utils.errors import BadRequest, Unreachable


def printed(record, **changes):
    return {
        "journal": record.journal.short, "year": record.year, "volume": record.volume,
        "first_page": record.pages.split("-")[0], "author": record.authors[0][0], **changes,
    }  # fmt: skip


def test_a_reference_is_matched_under_the_callers_key(library, world):
    record = world.paper("pmc_cloud")
    [found] = library.pubmed.match_citations([printed(record, key="ref 7 | odd")])
    assert (found.key, found.status, found.pmid) == ("ref 7 | odd", "matched", record.pmid)


def test_four_outcomes_stay_four(library, world):
    record = world.paper("pmc_cloud")
    found = library.pubmed.match_citations(
        [
            printed(record), printed(record, first_page="99999"),
            printed(record, journal="No Such Journal"),
            {"journal": record.journal.title, "year": record.year}, {"author": "Nobody Known"},
        ]
    )  # fmt: skip
    states = ["matched", "not_found", "not_found", "ambiguous", "unclear"]
    assert [one.status for one in found] == states
    assert [one.key for one in found] == ["1", "2", "3", "4", "5"]
    assert "invalid journal" in found[2].detail
    assert "citations" in found[3].detail


def test_candidates_are_named_where_ncbi_names_them(library, monkeypatch):
    answering(monkeypatch, "j|0|AMBIGUOUS 26315901,25768914\nj|1|AMBIGUOUS (1783 citations)")
    two = library.pubmed.match_citations([{"journal": "j"}, {"journal": "j"}])
    assert [one.candidates for one in two] == [("26315901", "25768914"), ()]


def test_one_that_stops_the_service_costs_only_itself(library, world):
    record = world.paper("pmc_cloud")
    asked = [{"author": "Nobody"}, {"author": "Nobody Else"}, printed(record)]
    found = library.pubmed.match_citations(
        [*asked, {"author": record.authors[0][0], "first_page": "11"}]
    )
    assert [one.status for one in found] == ["unclear", "unclear", "matched", "matched"]


def test_many_without_a_journal_do_not_ask_for_ever(library, world):
    found = library.pubmed.match_citations([{"author": f"Nobody {n}"} for n in range(50)])
    assert {one.status for one in found} == {"unclear"}
    assert len(world.requests) < 10


def test_more_than_a_batch_is_asked_in_several(library, world):
    records = [r for r in world.papers if r.pmid and r.authors and r.journal.short != "arXiv"]
    found = library.pubmed.match_citations([printed(r) for r in records] * 3)
    assert len(found) == 3 * len(records) > 100
    assert {one.status for one in found} <= {"matched", "ambiguous"}


def test_a_word_nobody_knows_is_unclear(library, monkeypatch):
    answering(monkeypatch, "j|0|TRY_LATER")
    [found] = library.pubmed.match_citations([{"journal": "j"}])
    assert (found.status, found.detail) == ("unclear", "try later")


def test_an_empty_answer_is_an_error(library, world):
    world.mood("empty", "eutils")
    with pytest.raises(Unreachable):
        library.pubmed.match_citations([{"journal": "Nature"}])


@pytest.mark.parametrize(
    "citations",
    [
        [],
        [{}],
        [{"key": "a"}],
        [{"journal": " "}],
        [{"journal": "J", "key": "\x00"}],
        [{"journal": "J", "volume": "1\x85"}],
        [{"journal": "x" * 501}],
    ],
)
def test_what_says_nothing_is_refused_without_a_request(library, world, citations):
    with pytest.raises(BadRequest):
        library.pubmed.match_citations(citations)
    assert not world.requests
