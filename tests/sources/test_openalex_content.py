"""OpenAlex's own files: for key holders, of open works, within the day's budget."""

import pytest

from tests.sources.reader import fetch, paper_of, reader_of
from tests.world.openalex import DAILY, KEY
from utils.errors import NotAvailable, NotConfigured, Unreachable
from utils.sources.openalex_content import SOURCE, full_text, greet

A_CENT = 100  # credits


@pytest.fixture
def reader(settings):
    return reader_of(settings, openalex_api_key=KEY)


def asked(world):
    return [one for one in world.requests if one.service == "openalex_content"]


def test_a_file_costs_a_cent_and_comes_with_the_license_of_the_work(reader, world):
    found = fetch(full_text, world, "openalex_kept", reader)
    assert found.body.startswith(b"%PDF-")
    assert (found.license, found.version, found.via) == ("CC BY", "published", "openalex_content")
    assert world.openalex_credits == DAILY - A_CENT


def test_the_key_goes_in_a_header(reader, world):
    fetch(full_text, world, "openalex_kept", reader)
    assert asked(world)[0].headers["authorization"] == f"Bearer {KEY}"
    assert not [one for one in world.requests if KEY in one.path]


@pytest.mark.parametrize("branch", ["paywall", "unpaywall_pdf"])
def test_nothing_is_paid_for_where_openalex_keeps_nothing(reader, world, branch):
    with pytest.raises(NotAvailable, match="keeps no file"):
        fetch(full_text, world, branch, reader)
    assert not asked(world)
    assert world.openalex_credits == DAILY


def test_a_spent_budget_is_said_and_waited_for(reader, world):
    world.openalex_credits = A_CENT - 1
    with pytest.raises(Unreachable, match="budget of the day is spent"):
        fetch(full_text, world, "openalex_kept", reader)


def test_a_wrong_key_is_named(settings, world):
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        fetch(full_text, world, "openalex_kept", reader_of(settings, openalex_api_key="x"))


def test_a_page_that_was_kept_in_place_of_a_paper_is_no_paper(reader, world):
    done = reader.download(world.paper("openalex_page").doi)
    assert done.stored.kind == "abstract"
    assert "openalex_content" in {one.source for one in done.stored.attempts}


def test_it_is_asked_behind_all_that_costs_nothing(reader, world):
    done = reader.download(world.paper("openalex_kept").doi)
    assert (done.stored.kind, done.stored.via) == ("full_text", "openalex_content")
    tried = [one.source for one in done.stored.attempts]
    assert tried.index("publisher") < tried.index("openalex_content")


def test_without_a_key_nobody_is_asked(library, world):
    assert library.download(world.paper("openalex_kept").doi).stored.kind == "abstract"
    assert not asked(world)


def test_doctor_is_told_what_is_left(reader, world):
    world.openalex_credits = 7_500
    assert "USD 0.75 of 1.00" in greet(reader.web)
    assert SOURCE.greet is greet
    assert paper_of(world.paper("openalex_kept")).ids.doi
