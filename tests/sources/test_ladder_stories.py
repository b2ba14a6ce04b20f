"""Downloads that only one of the later sources can end, and what each leaves on the shelf."""

from pathlib import Path

import pytest

from tests.sources.reader import EVERY_KEY, reader_of
from tests.world import World
from tests.world.openalex import KEY as OPENALEX_KEY
from utils import Library
from utils.model.identifiers import Ids
from utils.sources import semantic_scholar_copies


def outcomes(done):
    return {attempt.source: attempt.outcome for attempt in done.stored.attempts}


@pytest.fixture
def reader(settings, world):
    """A reader with every key, whose institution subscribes."""
    world.subscribed |= {"elsevier", "wiley"}
    library = reader_of({**settings, "openalex_api_key": OPENALEX_KEY})
    yield library
    library.shelf.close()


@pytest.fixture
def of_core(settings, world: World):
    """A reader who asks nobody but CORE."""
    library = reader_of({**settings, "papers_sources": ("core",)})
    yield library
    library.shelf.close()


@pytest.mark.parametrize(
    ("branch", "via", "version", "media", "terms"),
    [
        ("elsevier_subscribed", "elsevier", "published", "elsevier", "For your own research only"),
        ("elsevier_open", "elsevier", "published", "elsevier", ""),
        ("wiley_subscribed", "wiley", "published", "pdf", "For your own research only"),
        ("springer_open", "springer", "published", "jats", ""),
        ("springer_subscribed", "springer_tdm", "published", "jats", "For your own research only"),
        ("archived", "unpaywall", "accepted", "pdf", ""),
        ("crossref_mined", "crossref", "published", "jats", "For your own research only"),
        ("openalex_kept", "openalex_content", "published", "pdf", ""),
        ("scholar_copy", "semantic_scholar", "accepted", "pdf", ""),
        ("mdpi", "mdpi", "published", "pdf", ""),
        ("biorxiv", "biorxiv", "preprint", "jats", ""),
        ("osti", "osti", "accepted", "pdf", ""),
        ("hal", "hal", "accepted", "pdf", ""),
    ],
)
def test_the_whole_text_comes_by_its_route_under_its_terms(
    reader, world, branch, via, version, media, terms
):
    record = world.paper(branch)
    done = reader.download(Ids(doi=record.doi))
    assert (done.stored.kind, done.stored.via) == ("full_text", via)
    assert reader.shelf.find_text(Ids(doi=record.doi)).version == version
    assert list(reader.shelf.folder.glob(f".papershelf/raw/*.{media}*"))
    text = Path(done.file_path).read_text(encoding="utf-8")
    assert record.plain_title in text
    assert f"- Terms: {terms}" in text if terms else "- Terms: For" not in text
    tried = [attempt.source for attempt in done.stored.attempts]
    assert via != "openalex_content" or tried.index("publisher") < tried.index(via)


@pytest.mark.parametrize(
    ("branch", "source"), [("elsevier_subscribed", "elsevier"), ("wiley_subscribed", "wiley")]
)
def test_without_rights_the_abstract_is_no_text(settings, world, branch, source):
    done = reader_of(settings).download(world.paper(branch).pmid)
    assert (done.stored.kind, outcomes(done)[source]) == ("abstract", "not_entitled")


@pytest.mark.parametrize(
    ("branch", "kind", "outcome"),
    [
        ("paywall", "full_text", "saved"),
        ("gone", "full_text", "saved"),
        ("unpaywall_pdf", "full_text", "saved"),
        ("partial", "abstract", "abstract_only"),
        ("wrong_paper", "abstract", "wrong_paper"),
        ("html_as_pdf", "abstract", "bot_check"),
    ],
)
def test_the_judges_decide_what_is_kept_of_core(of_core, world, branch, kind, outcome):
    done = of_core.download(world.paper(branch).pmid)
    assert done.stored.kind == kind
    assert outcome in [one.outcome for one in done.stored.attempts if one.source == "core"]
    bound = "not for commerce" in Path(done.file_path).read_text("utf-8")
    assert bound == (kind == "full_text")


def test_a_page_that_openalex_kept_in_place_of_a_paper_is_no_paper(reader, world):
    done = reader.download(world.paper("openalex_page").doi)
    assert done.stored.kind == "abstract"
    assert "openalex_content" in outcomes(done)


@pytest.mark.parametrize("branch", ["scholar_copy", "openalex_kept"])
def test_without_the_source_that_has_it_there_is_no_text(settings, world, branch):
    others = list(Library().settings.papers_sources)
    others.remove(semantic_scholar_copies.SOURCE.name)
    library = Library(**{**settings, "papers_sources": others})
    assert library.download(world.paper(branch).doi).stored.kind == "abstract"
    assert not [one for one in world.requests if one.service == "openalex_content"]


def test_a_manuscript_under_embargo_is_listed_without_a_text(library, world):
    done = library.download(world.paper("osti_embargo").doi)
    [attempt] = [one for one in done.stored.attempts if one.source == "osti"]
    assert (done.stored.kind, attempt.outcome) == ("abstract", "not_offered")
    assert "embargo" in attempt.detail


def test_a_doi_that_crossref_does_not_have_gets_its_record_from_datacite(library, world):
    record = world.paper("datacite")
    done = library.download(record.doi)
    assert done.stored.paper.title == record.plain_title
    assert "datacite" in {request.service for request in world.requests}


def test_an_archive_of_one_publisher_is_asked_for_no_other_papers(library, world):
    library.download(world.paper("osti").doi)
    assert not {"mdpi", "biorxiv"} & {request.service for request in world.requests}


def test_keys_leave_no_trace(reader, world, caplog):
    for branch in ("elsevier_open", "wiley_subscribed", "springer_subscribed"):
        reader.download(world.paper(branch).pmid)
    folder = reader.shelf.folder
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert not [key for key in EVERY_KEY.values() if key.encode() in held or key in caplog.text]


def test_who_has_no_key_is_told_only_where_it_would_help(library, world):
    named = {}
    for branch in ("elsevier_subscribed", "paywall"):
        attempts = library.download(world.paper(branch).pmid).stored.attempts
        named[branch] = {attempt.source: attempt.detail for attempt in attempts}
    assert named["elsevier_subscribed"]["elsevier"] == "needs ELSEVIER_API_KEY"
    assert "wiley" not in named["elsevier_subscribed"]
    assert not {"elsevier", "wiley", "springer"} & named["paywall"].keys()


@pytest.mark.parametrize(
    ("source", "detail"), [("core", "needs CORE_API_KEY"), ("jina_search", "needs JINA_API_KEY")]
)
def test_a_source_is_off_until_its_key_is_set(library, world, source, detail):
    done = library.download(world.paper("paywall").pmid)
    [attempt] = [one for one in done.stored.attempts if one.source == source]
    assert (attempt.outcome, attempt.detail) == ("skipped", detail)
    assert source not in {request.service for request in world.requests}


def test_osti_and_hal_are_asked_if_a_locator_names_a_copy_that_was_not_fetched(library, world):
    library.download(world.paper("paywall").pmid)
    assert not {"osti", "hal"} & {request.service for request in world.requests}
    library.download(world.paper("hal").doi)
    searched = [one.service for one in world.requests if one.path in {"/search/", "/records"}]
    assert searched == ["hal"]
