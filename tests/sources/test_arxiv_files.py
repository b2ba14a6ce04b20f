"""Texts of preprints: the best form first, no request in vain, and the license with them."""

import gzip
import io
import tarfile
from itertools import pairwise

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.readers import pandoc
from utils.sources.arxiv import fetch_full_text, look_up_papers

PERPETUAL = "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"


@pytest.fixture
def with_pandoc(monkeypatch):
    """Sources are asked for as where the extra ``latex`` is installed; none is read."""
    monkeypatch.setattr(pandoc, "find_pandoc_path", lambda: "pandoc")


@pytest.fixture
def without_pandoc(monkeypatch):
    """The extra ``latex`` is not installed."""
    monkeypatch.setattr(pandoc, "find_pandoc_path", lambda: "")


def record_of(name, library):
    return look_up_papers([Ids(arxiv=name)], library.web)[Ids(arxiv=name)]


def texts(name, library):
    return fetch_full_text(record_of(name, library), library.web)


def paths(world):
    return [r.path for r in world.requests if r.path != "/api/query" and r.service == "arxiv"]


def test_html_comes_first_and_names_its_license(library, world):
    page = next(texts("2601.00001", library))
    assert page.media == "html"
    assert b'alttext="K_{m}"' in page.body
    assert page.license == "CC BY 4.0"
    assert page.url.endswith("/html/2601.00001")
    assert paths(world) == ["/html/2601.00001"]
    assert "arxiv_oai" not in {request.service for request in world.requests}


@pytest.mark.usefixtures("with_pandoc")
def test_sources_are_next_and_the_pdf_is_last(library):
    kinds = [found.media for found in texts("2601.00001", library)]
    assert kinds == ["html", "latex", "pdf"]


@pytest.mark.usefixtures("with_pandoc")
def test_without_html_there_is_the_source(library):
    missing, source = list(texts("2602.00002", library))[:2]
    assert isinstance(missing, NotAvailable)
    assert source.media == "latex"
    with tarfile.open(fileobj=io.BytesIO(source.body)) as tar:
        assert {"main.tex", "main.bbl", "sec0.tex"} <= set(tar.getnames())
    assert source.license == PERPETUAL


@pytest.mark.usefixtures("with_pandoc")
def test_no_html_is_asked_for_papers_older_than_it(library, world):
    source = next(texts("1207.0003", library))
    assert source.media == "latex"
    assert rb"\documentclass" in gzip.decompress(source.body)
    assert paths(world) == ["/e-print/1207.0003"]


@pytest.mark.usefixtures("with_pandoc")
def test_a_source_that_is_a_pdf_is_the_pdf(library, world):
    found = [one for one in texts("2603.00004", library) if isinstance(one, Fetched)]
    assert [one.media for one in found] == ["pdf"]
    assert paths(world) == ["/html/2603.00004", "/e-print/2603.00004"]


def test_an_old_paper_revised_lately_may_have_html(library, world):
    paper = Paper(Ids(arxiv="hep-ex/0307015"), revised="2024-05-01", version="4")
    assert next(fetch_full_text(paper, library.web)).details["status"] == 404
    assert paths(world) == ["/html/hep-ex/0307015"]


@pytest.mark.usefixtures("with_pandoc")
def test_the_day_pubmed_revised_its_record_says_nothing_about_html(library, world):
    next(fetch_full_text(Paper(Ids(arxiv="hep-ex/0307015"), revised="2024-05-01"), library.web))
    assert paths(world) == ["/e-print/hep-ex/0307015"]


def test_a_withdrawn_paper_is_not_asked_for(library, world):
    with pytest.raises(NotAvailable, match="withdrawn"):
        list(texts("2604.00005", library))
    assert paths(world) == []


@pytest.mark.usefixtures("with_pandoc")
def test_everything_is_missing_for_an_unknown_paper(library):
    found = list(fetch_full_text(Paper(Ids(arxiv="2601.99999")), library.web))
    assert len(found) == 3
    assert all(isinstance(one, NotAvailable) for one in found)


@pytest.mark.usefixtures("with_pandoc")
def test_the_license_is_remembered(library, world):
    for _ in range(2):
        assert next(texts("1207.0003", library)).license
    assert [request.service for request in world.requests].count("arxiv_oai") == 1


@pytest.mark.usefixtures("with_pandoc")
@pytest.mark.parametrize(
    "mood", ["storm", "down", "garbage", "empty", "xml_bomb", "reset", "not_acceptable"]
)
def test_no_license_is_no_reason_to_lose_a_text(library, world, mood):
    world.mood(mood, "arxiv_oai", seconds=0)
    source = next(texts("1207.0003", library))
    assert (source.media, source.license) == ("latex", "")
    asked = [request for request in world.requests if request.service == "arxiv_oai"]
    assert len(asked) == 1 or mood == "reset"


@pytest.mark.usefixtures("with_pandoc")
def test_files_and_licenses_keep_the_one_pace(library, world):
    list(texts("2602.00002", library))
    times = [request.at for request in world.requests]
    assert len(times) == 5
    # They leave three seconds apart; one may have been a moment longer on its way.
    assert min(b - a for a, b in pairwise(times)) >= 2.9


def test_a_refusal_ends_the_route(library, world):
    paper = record_of("2601.00001", library)
    world.mood("storm", "arxiv", seconds=0)
    with pytest.raises(Unreachable):
        list(fetch_full_text(paper, library.web))
    assert len(paths(world)) <= 3


def test_the_ladder_puts_a_preprint_on_the_shelf(library, world):
    done = library.download("2601.00001")
    assert done.stored.kind == "full_text"
    assert done.source == "arXiv"
    assert done.stored.license == "CC BY 4.0"
    assert paths(world) == ["/html/2601.00001"]


def test_a_pdf_that_is_all_there_is_ends_on_the_shelf(library):
    done = library.download("10.48550/arxiv.2603.00004v1")
    assert done.stored.kind == "full_text"
    assert done.stored.license == "CC BY 4.0"


def test_a_withdrawn_paper_ends_with_its_abstract(library):
    assert library.download("2604.00005").stored.kind == "abstract"


@pytest.mark.extras("pypandoc")
@pytest.mark.parametrize("name", ["2602.00002", "1207.0003", "hep-ex/0307015"])
def test_a_source_ends_on_the_shelf_with_its_formulas(library, name):
    stored = library.download(name).stored
    assert stored.kind == "full_text"
    assert "/e-print/" in stored.attempts[-1].url
    text = library.read(name, max_chars=50_000).text
    assert r"\frac{V_{\max}S}{K_{m}+S}" in text.replace(" ", "")


@pytest.mark.usefixtures("without_pandoc")
def test_without_the_extra_the_pdf_follows_and_no_source_is_asked_for(library, world):
    done = library.download("2602.00002")
    assert done.stored.kind == "full_text"
    assert paths(world) == ["/html/2602.00002", "/pdf/2602.00002"]
    assert "pandoc" not in str(done.stored.attempts)
    assert library.download("1207.0003").stored.attempts[-1].url.endswith("/pdf/1207.0003")
