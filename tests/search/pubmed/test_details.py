"""Records at four depths, and what becomes of those that cannot be had."""

import json

import pytest

from tests.answering import answering
from utils.errors import BadRequest, NotConfigured, NotFound, Unreachable
from utils.model.paper import Author
from utils.readers.pubmed_articles import split_xml_records
from utils.search.pubmed.details import (
    LEVELS,
    fetch_details,
    format_pubmed_author,
    parse_pmid,
    to_detail_row,
)

UNKNOWN = "39999999"


@pytest.fixture
def known(world):
    return [record.pmid for record in world.papers if record.pmid][:12]


@pytest.mark.parametrize("level", LEVELS)
def test_records_come_in_the_order_asked_for_and_the_unknown_are_named(library, known, level):
    found = library.pubmed.details([*known, UNKNOWN], level)
    assert list(found.records) == known
    assert found.not_found == (UNKNOWN,)
    assert not found.failed
    shown = to_detail_row(found.records[known[0]], level, mesh=True, grants=True)
    assert shown["title"]


def test_one_request_takes_them_all(library, world, known):
    found = library.pubmed.details(known)
    assert len(world.requests) == 1
    assert found.method == world.requests[0].method == "GET"
    assert "email" not in found.urls[0]


def test_two_hundred_are_posted_and_more_are_several_requests(library, world):
    found = library.pubmed.details([str(number) for number in range(30_000_000, 30_000_450)])
    assert [request.method for request in world.requests] == ["POST", "POST", "GET"]
    assert found.method == "POST"
    assert len(found.not_found) == 450


def test_what_was_fetched_today_is_not_asked_for_again(library, world, known):
    first = library.pubmed.details(known)
    again = library.pubmed.details(known, "citation_data")
    assert (again.records, again.urls, again.method) == (first.records, (), "")
    assert len(world.requests) == 1


def test_what_could_not_be_asked_is_not_called_unknown(library, world, known):
    library.pubmed.details(known[:3])
    world.mood("down", "eutils")
    found = library.pubmed.details(known)
    assert list(found.records) == known[:3]
    assert list(found.failed) == known[3:]
    assert found.not_found == ()


def test_nothing_at_all_is_an_error(library, world, known):
    world.mood("down", "eutils")
    with pytest.raises(Unreachable):
        library.pubmed.details(known)


def test_silence_in_medline_text_is_checked_against_the_record(library, world, monkeypatch, known):
    monkeypatch.setattr("tests.world.eutils.medline", lambda record: "")
    found = library.pubmed.details([known[0], UNKNOWN], "medline_text")
    assert (list(found.failed), found.not_found) == ([known[0]], (UNKNOWN,))


def test_a_stranger_in_the_answer_is_nobody(library, monkeypatch):
    body = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>2</PMID></MedlineCitation>"
    answering(monkeypatch, body + "</PubmedArticle></PubmedArticleSet>")
    assert library.pubmed.details(["1"]).not_found == ("1",)


@pytest.mark.parametrize("pmids", [[], ["abc"], ["PMC123"], ["10.1000/a"], ["", "x"], ["0"]])
def test_what_is_no_pmid_is_refused_without_a_request(library, world, pmids):
    with pytest.raises(BadRequest):
        library.pubmed.details(pmids)
    assert not world.requests


def test_one_that_is_no_pmid_costs_only_itself(library, world, known):
    found = library.pubmed.details([known[0], "PMC123", UNKNOWN, "a\ud800"])
    assert list(found.records) == known[:1]
    assert found.requested == (known[0], UNKNOWN)
    assert list(found.failed) == ["PMC123", "a\ufffd"]
    assert found.failed["PMC123"].code == "VALIDATION"
    assert "To find its PMID" in found.failed["PMC123"].hint


def test_beside_a_malformed_one_trouble_is_still_an_error(library, world, known):
    world.mood("down", "eutils")
    with pytest.raises(Unreachable):
        library.pubmed.details([known[0], "PMC123"])


def test_the_same_paper_twice_is_asked_for_once(library, known):
    found = library.pubmed.details([known[0], f"PMID: 00{known[0]}", int(known[0])])
    assert found.requested == (known[0],)


def test_parts_of_a_whole_record(library, world):
    record = world.paper("pmc_cloud")
    xml = library.pubmed.details([record.pmid]).records[record.pmid]
    whole = to_detail_row(xml, "abstract_plus", mesh=True, grants=True)
    assert whole["journal_info"]["publication_date"] == {
        "year": 2025, "month": "Feb", "day": None, "medline_date": "2025 Feb",
    }  # fmt: skip
    assert whole["authors"][0]["last_name"] == record.authors[0][0]
    assert whole["authors"][-1]["collective_name"] == record.collective
    assert whole["mesh_terms"][0]["descriptor_name"] == record.mesh[0]
    bare = to_detail_row(xml, "abstract_plus", mesh=False, grants=False)
    assert not {"mesh_terms", "grant_list"} & set(bare)
    cited = to_detail_row(xml, "citation_data", mesh=False, grants=True)
    assert cited["authors"][0] == "Sørensen Å"
    assert "grant_list" not in cited


def test_a_retracted_paper_says_so(library, world):
    pmid = world.paper("retracted").pmid
    xml = library.pubmed.details([pmid]).records[pmid]
    for level in ("abstract_plus", "citation_data"):
        assert to_detail_row(xml, level, mesh=False, grants=False)["retracted"] is True


def test_one_paper(library, world):
    assert library.pubmed.paper(world.paper("pmc_cloud").pmid).abstract
    with pytest.raises(NotFound):
        library.pubmed.paper(UNKNOWN)


def test_without_an_address_nobody_is_asked(settings, world):
    from utils import Library

    web = Library(**{**settings, "pubmed_email": ""}).web
    with pytest.raises(NotConfigured):
        fetch_details(["1"], "full_xml", web)
    assert not world.requests


def test_names_as_pubmed_lists_them():
    assert format_pubmed_author(Author("Doe", "Jane A")) == "Doe JA"
    assert format_pubmed_author(Author("Doe", "Jane", "J", "Jr")) == "Doe J Jr"
    assert format_pubmed_author(Author(collective="The Group")) == "The Group"


def test_pmids_in_every_spelling():
    assert parse_pmid("https://pubmed.ncbi.nlm.nih.gov/31452104/") == "31452104"


@pytest.mark.shared
def test_real_answers_are_read_at_every_level(shared):
    bodies = [path.read_bytes() for path in (shared / "pubmed" / "efetch").rglob("*.xml")]
    records = {}
    for body in bodies:
        if b"<PubmedArticleSet" in body:
            records |= split_xml_records(body)
    assert len(records) > 80
    kinds = {record.partition(">")[0] for record in records.values()}
    assert kinds == {"<PubmedArticle", "<PubmedBookArticle"}
    for pmid, record in records.items():
        whole = to_detail_row(record, "abstract_plus", mesh=True, grants=True)
        assert whole["title"], pmid
        assert whole["journal_info"]["publication_date"]["year"], pmid
        cited = to_detail_row(record, "citation_data", mesh=True, grants=True)
        assert cited["author_count"] == whole["author_count"]
        assert cited["mesh_terms"] == whole["mesh_terms"]
        json.dumps([whole, cited])
