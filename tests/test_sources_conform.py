"""What every source must do, asked of every source."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

import utils.sources
from tests.world.deceit import HIDDEN, SIGN
from tests.world.openalex import KEY as OPENALEX_KEY
from tests.world.services import SERVICES
from utils import Library
from utils.http import Web
from utils.model.identifiers import Ids
from utils.model.sites import KEYS, SITES, TEXT_SOURCES
from utils.settings import Settings
from utils.sources import SOURCES, Query

every = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
# Not sites: what a source is, how all of NCBI's E-utilities are spoken to, and second files.
SHARED_WAYS = {
    *("__init__", "source", "loose_json", "arxiv_query", "semantic_scholar_graph"),
    *("pmc_inventory", "eutils", "eutils_services"),
}
# What these give is neither a paper nor a list of papers: verbs of their own ask for it.
OF_THEIR_OWN_KIND = {
    *("pubchem", "bioc", "archive", "pubmed_files", "opencitations", "icite"),
    "citation_collection",
}
# It knows the names of papers, and nothing else about them.
WITHOUT_SENTENCES = {"idconv"}


def test_names_are_unique():
    names = [source.name for source in SOURCES]
    assert len(names) == len(set(names))


def test_every_file_in_the_room_is_in_the_list():
    room = Path(utils.sources.__path__[0])
    files = {path.stem for path in room.glob("*.py")}
    packages = {path.parent.name for path in room.glob("*/__init__.py")}
    names = {source.name for source in SOURCES}
    assert (files | packages) - SHARED_WAYS == names


def test_the_default_ladder_is_the_order_of_the_list():
    with_text = [source.name for source in SOURCES if source.routes]
    assert with_text == list(TEXT_SOURCES)


def test_routes_have_names_of_their_own():
    routes = [route.via for source in SOURCES for route in source.routes]
    assert len(routes) == len(set(routes))


@every
def test_what_is_known_before_it_is_imported_is_what_its_file_says(source):
    assert source.site in SITES


@every
def test_its_facts_agree(source):
    assert all(route.label for route in source.routes)
    assert bool(source.searched) == bool(source.search and not source.is_register)
    assert all(0 <= route.share <= 1 for route in source.routes)
    keys = {rate.key for rate in source.rates} | {route.key for route in source.routes}
    assert keys - {""} <= {key.setting for key in KEYS}


@every
def test_can_do_something(source):
    usual = source.search or source.lookup or source.routes
    assert bool(usual) != (source.name in OF_THEIR_OWN_KIND)


@every
def test_says_what_it_is_and_where_the_facts_come_from(source):
    module = __import__(f"utils.sources.{source.name}", fromlist=["SOURCE"])
    assert source.about
    assert "https://" in module.__doc__
    for ability in (source.search, source.lookup and source.lookup.ask):
        assert ability is None or ability.__doc__
    assert all(route.fetch.__doc__ for route in source.routes)


@every
def test_full_text_has_a_word_of_the_contract(source):
    assert not source.routes or source.label in {"PMC", "DOI", "arXiv"}


@every
def test_lives_at_an_address_of_the_settings_and_keeps_a_pace(source, tmp_path):
    web = Web(Settings(), source.rates)
    address = getattr(Settings(), f"{source.service}_base_url")
    bucket = web.limiter.find_bucket(f"{address}/x")
    assert bucket in {rate.bucket for rate in source.rates}


@every
def test_every_source_has_a_test_file(source, request):
    folder = request.path.parent
    assert (folder / "sources" / f"test_{source.name}.py").exists()


@every
def test_no_record_of_it_deceives(source, settings, world):
    """However its sentences hide letters, none comes through, and the sentences do."""
    if not (source.search or source.lookup) or source.service not in SERVICES:
        return
    library = Library(**settings, openalex_api_key=OPENALEX_KEY)
    own = source.name in {"arxiv", "datacite"}
    record = world.paper(source.name if own else "pmc_cloud")
    world.mood("deceptive")
    papers = []
    if source.search:
        papers += source.search(Query("coral" if record.pmid else "title"), library.web).papers
    if source.lookup:
        ids = Ids(pmid=record.pmid, pmcid=record.pmcid, doi=record.doi, arxiv=record.arxiv)
        papers += source.lookup.ask([ids], library.web).values()
    said = json.dumps([asdict(paper) for paper in papers], ensure_ascii=False)
    assert papers
    assert not set(said) & set(HIDDEN)
    assert SIGN in said or source.name in WITHOUT_SENTENCES


@pytest.mark.parametrize("way", sorted(Path(utils.sources.__path__[0]).glob("*.py")), ids=str)
def test_what_a_site_says_is_read_where_it_is_cleaned(way):
    """Only `Answer.json`, `parse_untrusted_xml` and `decode_references` clean what is read."""
    passed_by = re.findall(
        r"json\.loads\(.*body|etree\.fromstring|html\.unescape", way.read_text(encoding="utf-8")
    )
    assert not passed_by
