"""Whatever broken answer a source gets, it does not take it for *nothing found*.

Every question to a site is asked against every broken answer, at the public address.
"""

import json
import re
from itertools import product

import pytest
import responses

from tests.answering import HOSTILE
from tests.sources.test_utilities import UTILITIES
from tests.world import walls
from tests.world.openalex import KEY
from utils.errors import Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources import (
    archive,
    bioc,
    biorxiv,
    citation_collection,
    clinicaltrials,
    core,
    crossref,
    datacite,
    europepmc,
    hal,
    icite,
    idconv,
    openalex,
    opencitations,
    osti,
    pubchem,
    pubmed,
    pubmed_files,
    semantic_scholar,
    unpaywall,
)
from utils.sources.source import Query

PAPER = Paper(Ids(doi="10.1000/a", pmid="41000003"), title="A title")
PREPRINT = Paper(Ids(doi="10.1101/339747"), title="A title")
MOSS = Query("moss", sort_by="relevance")
QUESTIONS = {
    "archive": lambda web: archive.find_capture("https://a.test/x.pdf", web),
    "bioc": lambda web: bioc.fetch_article(Ids(pmcid="PMC7"), web),
    "biorxiv": lambda web: list(biorxiv.fetch_full_text(PREPRINT, web)),
    "citation_collection": citation_collection.find_newest_snapshot,
    "clinicaltrials": lambda web: clinicaltrials.search(MOSS, web),
    "core": lambda web: list(core.fetch_full_text(PAPER, web)),
    "crossref, records": lambda web: crossref.look_up_papers([PAPER.ids], web),
    "crossref, works": lambda web: crossref.find_works("moss", web),
    "crossref, links": lambda web: list(crossref.fetch_mining_copies(PAPER, web)),
    "datacite": lambda web: datacite.look_up_papers([PAPER.ids], web),
    "europepmc, records": lambda web: europepmc.look_up_papers([Ids(pmid="41000001")], web),
    "europepmc, search": lambda web: europepmc.search(MOSS, web),
    "europepmc, links": lambda web: europepmc.fetch_linked("1", "references", 5, web),
    "hal": lambda web: list(hal.fetch_full_text(PAPER, web)),
    "icite": lambda web: icite.fetch_linked(Ids(pmid="1"), "citations", 5, web),
    "idconv": lambda web: idconv.look_up_papers([Ids(pmcid="PMC9100001")], web),
    "openalex, copies": lambda web: list(openalex.fetch_open_copies(PAPER, web)),
    "openalex, search": lambda web: openalex.search(MOSS, web),
    "opencitations": lambda web: opencitations.fetch_linked(Ids(pmid="1"), "citations", 5, web),
    "osti": lambda web: list(osti.fetch_full_text(PAPER, web)),
    "pubchem, compounds": lambda web: pubchem.find_compounds("name", "x", web),
    "pubchem, properties": lambda web: pubchem.fetch_compounds(["2244", "338"], web),
    "pubchem, names": lambda web: pubchem.fetch_synonyms("2244", web),
    "pubchem, papers": lambda web: pubchem.fetch_pmids("2244", web),
    "pubchem, search": lambda web: pubchem.find_related_compounds("similar", "cid", "2244", web),
    "pubmed": lambda web: pubmed.search_pmids(Query("coral"), web),
    "pubmed_files": pubmed_files.list_files,
    "semantic_scholar, search": lambda web: semantic_scholar.search(Query("coral"), web),
    "semantic_scholar, record": lambda web: semantic_scholar.fetch_paper("PMID:4", web),
    "semantic_scholar, links": lambda web: semantic_scholar.fetch_linked_papers(
        "PMID:4", "citations", 5, 0, web
    ),
    "semantic_scholar, batch": lambda web: semantic_scholar.fetch_papers([PAPER.ids], web),
    "unpaywall": lambda web: list(unpaywall.fetch_open_copies(PAPER, web)),
}
ANYWHERE = re.compile(".*")
BROKEN = {
    "down": {"status": 503, "body": "<html><h1>503 Service Unavailable</h1></html>"},
    "storm": {"status": 429, "body": "Too many requests", "headers": {"Retry-After": "100"}},
    "reset": {"body": ConnectionResetError(104, "Connection reset by peer")},
    "captcha": {"body": walls.captcha().body}, "garbage": {"body": bytes(range(256)) * 16},
    "empty": {"body": b""}, "cut": {"body": b'{"results": [', "headers": {"Content-Length": "900"}},
    "deep": {"body": "[" * 100_000 + "]" * 100_000},
}  # fmt: skip
MEANT = {
    "citation_collection": [[]],
    "europepmc, search": [{"errCode": 404, "errMsg": "\x1b[2J"}],
    "opencitations": [[]],
    "osti": [[]],
}
"""Answers in a site's own form: lists of no rows, the error that blames the query."""


@pytest.fixture
def every_key(client):
    return client(core_api_key="core-1", openalex_api_key=KEY)


def answer_all(mocked, **answer):
    mocked.reset()
    for method in (responses.GET, responses.POST):
        mocked.add(method, ANYWHERE, **answer)


@pytest.mark.parametrize(
    ("question", "trouble"),
    # No MEDLINE text may mean no such paper: `details` asks for the record, too.
    sorted({*product([*QUESTIONS, *UTILITIES], BROKEN)} - {("medline", "empty")}),
)
def test_trouble_is_not_an_answer(every_key, mocked, question, trouble):
    answer_all(mocked, **BROKEN[trouble])
    with pytest.raises(Unreachable):
        (QUESTIONS | UTILITIES)[question](every_key)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_of_another_form_is_not_an_answer(every_key, mocked, question):
    meant = [json.dumps(one) for one in MEANT.get(question, [])]  # type: ignore[attr-defined]
    for form in HOSTILE:
        body = form if isinstance(form, str | bytes) else json.dumps(form)
        answer_all(mocked, body=body)
        if body not in meant:
            with pytest.raises(Unreachable):
                pytest.fail(f"{body!r} was taken for {QUESTIONS[question](every_key)}")
