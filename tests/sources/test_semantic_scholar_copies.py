"""Open copies that Semantic Scholar has seen: hints, many papers in one request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.reader import paper_of
from utils import Library
from utils.errors import NotAvailable, NotConfigured, SourceMiss, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources.semantic_scholar_copies import SOURCE, fetch_open_copies


def told(library, world, *branches):
    papers = [paper_of(world.paper(branch)) for branch in branches]
    found = {paper.ids: [] for paper in papers}
    for paper, outcome in fetch_open_copies(papers, library.web):
        found[paper.ids].append(outcome)
    return [found[paper.ids] for paper in papers]


def batches(world):
    return [one for one in world.requests if one.path.endswith("/paper/batch")]


def test_one_request_tells_of_many_papers(library, world):
    branches = ("unpaywall_pdf", "publisher_html", "paywall", "captcha")
    [[copy], *others] = told(library, world, *branches)
    assert isinstance(copy, Fetched)
    assert (copy.media, copy.via, copy.license) == ("pdf", "semantic_scholar", "CC BY")
    assert all(isinstance(one, NotAvailable) for [one] in others)
    assert len(batches(world)) == 1


def test_what_leads_back_to_an_identifier_or_to_a_wall_is_no_copy(library, world):
    for branch in ("bot_check", "cookie_wall"):
        [[miss]] = told(library, world, branch)
        assert isinstance(miss, NotAvailable)
    assert {one.service for one in world.requests} == {"semantic_scholar"}


def test_a_copy_nobody_else_knows_makes_a_text(settings, world):
    record = world.paper("scholar_copy")
    without = [name for name in Library().settings.papers_sources if name != SOURCE.name]
    folder = settings["papers_dir"]
    plain = Library(**{**settings, "papers_dir": folder / "a", "papers_sources": without})
    assert plain.download(record.doi).stored.kind == "abstract"
    done = Library(**{**settings, "papers_dir": folder / "b"}).download(record.doi)
    assert (done.stored.kind, done.stored.via) == ("full_text", "semantic_scholar")
    assert done.stored.version == "accepted"
    assert record.plain_title in Path(done.file_path).read_text(encoding="utf-8")


def test_what_was_told_is_not_asked_again(library, world):
    told(library, world, "unpaywall_pdf", "paywall")
    told(library, world, "paywall", "unpaywall_pdf")
    assert len(batches(world)) == 1
    told(library, world, "paywall", "captcha")
    assert len(batches(world)) == 2


def test_an_unknown_paper_is_not_available(library):
    unknown = Paper(Ids(doi="10.9999/nobody"))
    [(paper, miss)] = fetch_open_copies([unknown], library.web)
    assert paper is unknown
    assert isinstance(miss, NotAvailable)


def test_could_not_tell_is_about_all_of_them(library, world):
    world.mood("down", "semantic_scholar")
    with pytest.raises(Unreachable):
        told(library, world, "unpaywall_pdf", "paywall")


def test_a_wrong_key_is_named(settings, world):
    with_key = Library(**settings, semantic_scholar_api_key="wrong")
    with pytest.raises((NotConfigured, SourceMiss), match="SEMANTIC_SCHOLAR_API_KEY"):
        list(fetch_open_copies([paper_of(world.paper("paywall"))], with_key.web))
