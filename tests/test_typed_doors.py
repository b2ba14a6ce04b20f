"""What a door takes is what stands behind it, name by name; nothing is taken unsaid."""

import inspect
import re
import tomllib
from pathlib import Path
from typing import get_type_hints

import pytest

import utils
from utils import Library
from utils.corpus import Corpus
from utils.corpus.index import index_corpus
from utils.corpus.search import find_passages
from utils.corpus.sync import sync_query
from utils.curation.reading import read_passage
from utils.entrez.article_text import read_article_text
from utils.entrez.datasets import Datasets
from utils.entrez.datasets.sql_query import run_query
from utils.errors import BadRequest, PaperError
from utils.harvest.jobs import open_harvest
from utils.library.services import ArXiv, PubMed, SemanticScholar
from utils.mirror import Mirror
from utils.mirror.plan import plan_pubmed
from utils.mirror.words import WordIndex
from utils.search.search import search_papers
from utils.search.site_search import find_citing_papers, search_arxiv, search_semantic_scholar
from utils.settings import Overrides, Settings
from utils.shelf import Shelf
from utils.sources import Query, QueryOptions

ROOT = Path(__file__).resolve().parent.parent
DOORS = [
    (Library.harvest, open_harvest),
    (Library.search_papers, search_papers),
    (ArXiv.search, search_arxiv),
    (SemanticScholar.search, search_semantic_scholar),
    (SemanticScholar.citing_papers, find_citing_papers),
    (PubMed.article_text, read_article_text),
    (Library.read, read_passage),
    (Library.list_papers, Shelf.list_papers),
    (Corpus.sync, sync_query),
    (Corpus.index, index_corpus),
    (Corpus.find, find_passages),
    (Datasets.query, run_query),
    (Mirror.plan, plan_pubmed),
    (Mirror.find, WordIndex.find),
]


def options(function):
    given = inspect.signature(function).parameters.values()
    return {
        one.name: (one.default, one.annotation) for one in given if one.kind is one.KEYWORD_ONLY
    }


@pytest.mark.parametrize(("door", "verb"), DOORS, ids=lambda one: one.__qualname__)
def test_a_door_takes_the_options_of_its_verb_with_their_defaults(door, verb):
    offered = options(door)
    # A harvest's query and job are named at the door, and come in order behind it; the shelf knows
    # no harvests, and is told the names of one's papers.
    placed = {open_harvest: {"query", "job_id"}, Shelf.list_papers: {"job_id", "among"}}.get(
        verb, set()
    )
    # A door names its `sources`; its verb has all of them in order before, and some `among` them.
    verb_options = {
        {"among": "sources"}.get(n, n) if verb is search_papers else n: one
        for n, one in options(verb).items()
    }
    same = {name: one for name, one in verb_options.items() if name not in placed}
    assert {name: one for name, one in offered.items() if name not in placed} == same


@pytest.mark.parametrize(
    "kind", [Library, ArXiv, PubMed, SemanticScholar, Corpus, Datasets, Mirror]
)
def test_no_door_takes_anything_at_all(kind):
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name == "__exit__":  # what `with` hands over
            continue
        for one in inspect.signature(method).parameters.values():
            assert one.kind is not one.VAR_POSITIONAL, name
            if one.kind is one.VAR_KEYWORD:
                assert one.annotation.startswith("Unpack["), name


def test_options_of_a_search_are_the_fields_of_a_query():
    fields = get_type_hints(Query)
    del fields["text"]
    assert get_type_hints(QueryOptions) == fields


def test_every_setting_but_a_sites_address_is_a_keyword_of_a_library():
    addresses = {name for name in Settings.model_fields if name.endswith("_base_url")}
    assert set(Settings.model_fields) - addresses <= set(get_type_hints(Overrides))
    assert set(get_type_hints(Overrides)) <= set(Settings.model_fields)


def test_a_keyword_takes_what_its_setting_takes():
    given = {"papers_dir": "corpus", "papers_sources": ["pmc"], "jina_api_key": "k"}
    library = Library(**given, ncbi_max_retries=3, arxiv_base_url="http://127.0.0.1:1")  # type: ignore[call-arg]
    assert library.settings.papers_dir.name == "corpus"
    assert library.settings.papers_sources == ("pmc",)
    assert library.settings.key("jina_api_key") == "k"
    with pytest.raises(BadRequest, match="paper_dir"):
        Library(paper_dir="corpus")  # type: ignore[call-arg]


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert utils.__version__ == project["version"]


def test_who_installs_it_gets_its_types():
    assert (Path(utils.__file__).parent / "py.typed").is_file()


def test_papers_are_cited_in_their_order_and_the_unknown_among_them(library, world):
    known, other = world.paper("pmc_cloud"), world.paper("publisher_pdf")
    made = library.cite([known.pmid, "PMID:99999999", other.pmid], "vancouver")
    assert [ids.pmid for ids, _ in made] == [known.pmid, "99999999", other.pmid]
    texts = [one for _, one in made]
    assert isinstance(texts[1], PaperError)
    assert known.title[:20] in texts[0]
    assert other.title[:20] in texts[2]


@pytest.mark.parametrize("style", ["apa", "mla", "plos", "vancouver", "ris", "bibtex", "csl-json"])
def test_every_style_is_text(library, world, style):
    [(_, text)] = library.cite([world.paper("pmc_cloud").pmid], style)
    assert re.search(r"\w{20}|\w+ \w+", text)


def test_an_unknown_style_is_refused_before_anybody_is_asked(library, world):
    with pytest.raises(BadRequest, match="harvard"):
        library.cite([world.paper("pmc_cloud").pmid], "harvard")
    assert not world.requests
