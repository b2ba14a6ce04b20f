"""Full text from PubMed Central by both of its interfaces."""

import hashlib
from dataclasses import replace

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources.pmc import fetch_from_cloud, fetch_from_efetch


def paper_of(record):
    return Paper(Ids(pmid=record.pmid, pmcid=record.pmcid))


def test_the_newest_version_by_number_and_not_by_letters(library, world):
    [fetched] = fetch_from_cloud(paper_of(world.paper("pmc_cloud_versions")), library.web)
    assert fetched.url.endswith(".10.xml")
    assert fetched.verified


def test_license_and_identifiers_come_with_it(library, world):
    record = world.paper("pmc_manuscript")
    [fetched] = fetch_from_cloud(paper_of(record), library.web)
    assert fetched.license == "TDM"
    assert fetched.ids.pmid == record.pmid


def test_a_damaged_transfer_is_fetched_again(library, world):
    world.mood("md5_mismatch", "pmc_cloud", times=1)
    [fetched] = fetch_from_cloud(paper_of(world.paper("pmc_cloud")), library.web)
    assert hashlib.md5(fetched.body).hexdigest()
    assert fetched.verified


def test_damage_that_stays_is_reported_as_such(library, world):
    world.mood("md5_mismatch", "pmc_cloud")
    with pytest.raises(Unreachable, match="checksum"):
        list(fetch_from_cloud(paper_of(world.paper("pmc_cloud")), library.web))


def test_absence_is_definite_and_remembered_for_a_day(library, world):
    paper = paper_of(world.paper("efetch_only"))
    for _ in range(2):
        with pytest.raises(NotAvailable):
            list(fetch_from_cloud(paper, library.web))
    assert len(world.requests) == 1


def test_a_forbidden_text_is_not_offered(library, world):
    [(_, miss)] = fetch_from_efetch([paper_of(world.paper("front_matter_only"))], library.web)
    assert isinstance(miss, NotAvailable)
    assert "does not allow" in miss.message


def test_an_unknown_article_is_not_offered(library, world):
    [(_, miss)] = fetch_from_efetch([Paper(Ids(pmcid="PMC8999999"))], library.web)
    assert isinstance(miss, NotAvailable)


def test_several_articles_come_in_one_request_each_to_its_own(library, world):
    offered = [r for r in world.papers if r.efetch == "body" and r.pmcid]
    refused = world.paper("front_matter_only")
    wanted = [*map(paper_of, (offered[0], refused, offered[1])), Paper(Ids(pmcid="PMC8999999"))]
    found = dict(
        zip(
            ("one", "refused", "two", "unknown"),
            fetch_from_efetch(wanted, library.web),
            strict=True,
        )
    )
    assert [paper for paper, _ in found.values()] == wanted
    assert len(world.requests) == 1
    for name, record in (("one", offered[0]), ("two", offered[1])):
        body = found[name][1].body
        assert body.startswith(b"<article ")
        assert body.count(b"<body>") == 1
        assert record.pmcid.encode() in body
    assert isinstance(found["refused"][1], NotAvailable)
    assert isinstance(found["unknown"][1], NotAvailable)


@pytest.mark.parametrize("harm", [lambda _: b"<html>busy</html>", lambda body: body[:-40]])
def test_an_answer_that_is_no_whole_set_says_nothing_of_whom_it_lacks(
    library, world, monkeypatch, harm
):
    real = type(library.web).get

    def harmed(self, url, params=None, *, check=None, **options):
        def look(answer):
            check(replace(answer, body=harm(answer.body)))

        return real(self, url, params, check=look, **options)

    monkeypatch.setattr(type(library.web), "get", harmed)
    offered = next(r for r in world.papers if r.efetch == "body" and r.pmcid)
    with pytest.raises(Unreachable, match="no complete set"):
        list(fetch_from_efetch([paper_of(offered)], library.web))
    assert len(world.requests) > 1  # it may still come whole
