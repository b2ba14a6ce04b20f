"""What a checker tells somebody who writes against `Library`: each mistake is marked, and is one.

A mark that is not needed is an error itself (``warn_unused_ignores``), so a door that becomes
untyped is found out here.
"""

from pathlib import Path
from typing import assert_type

import utils
from utils import Ids, Library, Paper, PaperError, StoredPaper
from utils.corpus.search import PassageAnswer
from utils.download.download import Download
from utils.entrez.datasets.sql_query import SqlResultPage
from utils.harvest.jobs import Harvest
from utils.mirror.updates import MirrorProgress
from utils.model.job import JobCounts
from utils.model.paper import SearchResult
from utils.model.tabular import ResultList


def a_library() -> Library:
    Library(papers_dir=Path("corpus"), jina_api_key="k", papers_sources=("pmc",))
    Library(papers_dirs="corpus")  # type: ignore[call-arg]
    Library(papers_offline="yes")  # type: ignore[arg-type]
    Library(embeddings_provider="ollama")  # type: ignore[arg-type]
    assert_type(utils.__version__, str)
    utils.Libary  # type: ignore[attr-defined]  # noqa: B018
    return Library(papers_dir="corpus", pubmed_email="me@lab.edu", ncbi_max_retries=3)


def searching(library: Library) -> list[str]:
    found = library.search("CXCL12", max_results=5, publication_types=("Review",))
    assert_type(found, SearchResult)
    library.search("CXCL12", max_result=5)  # type: ignore[call-arg]
    library.pubmed.search_ligand_receptor("CXCL12", "CXCR4", max_results="5")  # type: ignore[arg-type]
    library.pubmed.search_articles("CXCL12", summaries=3, sort_by=1)  # type: ignore[arg-type]
    library.search_papers("CXCL12", sources=("pubmed",), min_date=2020)  # type: ignore[arg-type]
    library.arxiv.search("graphs", category="q-bio.GN", sort="new")  # type: ignore[call-arg]
    library.semantic_scholar.search("graphs", bulk=True, fields_of_study=1)  # type: ignore[arg-type]
    library.semantic_scholar.citing_papers("31452104", most=5)  # type: ignore[call-arg]
    return [paper.title for paper in found.papers]


def downloading(library: Library) -> str:
    done = library.download("31452104", output_path="copies/one.txt")
    assert_type(done, Download)
    assert_type(done.stored, StoredPaper)
    library.download(31452104, True)  # type: ignore[call-arg]
    for ids, outcome in library.download_many(["31452104", Ids.parse("PMC7759461")]):
        assert_type(ids, Ids)
        outcome.stored  # type: ignore[union-attr]  # noqa: B018
        if not isinstance(outcome, PaperError):
            assert_type(outcome, Download)
    return done.file_path


def harvesting(library: Library) -> Harvest:
    for progress in library.harvest(query="CXCL12 AND CXCR4", max_papers=200):
        assert_type(progress.job.counts, JobCounts)
    library.harvest(["31452104"], max_paper=200)  # type: ignore[call-arg]
    return library.harvest(job_id="a1b2", retry="failed")


def reading(library: Library) -> str:
    assert_type(library.read("31452104", section="methods").text, str)
    library.read("31452104", sections="methods")  # type: ignore[call-arg]
    total, page = library.list_papers(kind="full_text")
    assert_type(total, int)
    assert_type(page, ResultList[StoredPaper])
    library.list_papers(year=2020)  # type: ignore[call-arg]
    return library.pubmed.article_text("PMC7759461", max_chars="all").text  # type: ignore[arg-type]


def citing(library: Library) -> list[str]:
    cited = library.cite(["31452104", "arXiv:2511.04014"], "vancouver")
    assert_type(cited, ResultList[tuple[Ids, str | PaperError]])
    for _, outcome in library.references.records(["31452104"]):
        assert_type(outcome, Paper | PaperError)
    library.cite(["31452104"], style=3)  # type: ignore[arg-type]
    return [reference for _, reference in cited if isinstance(reference, str)]


def a_field(library: Library) -> None:
    assert_type(library.corpus.find("weight loss", top_k=5), PassageAnswer)
    library.corpus.find("weight loss", by="colour")  # type: ignore[arg-type]
    library.corpus.sync("glp1", "GLP-1 AND obesity", days=5)  # type: ignore[call-arg]
    assert_type(
        library.datasets.query("clinvar_1a2b3c4d", "SELECT 1", max_results=5), SqlResultPage
    )
    library.datasets.query("clinvar_1a2b3c4d", "SELECT 1", rows=5)  # type: ignore[call-arg]


def a_mirror(library: Library) -> int:
    for progress in library.mirror.update(engine="processes", workers=2):
        assert_type(progress, MirrorProgress)
    library.mirror.update(engine="spark")  # type: ignore[arg-type]
    library.mirror.update(worker=2)  # type: ignore[call-arg]
    assert_type(library.mirror.papers(["31452104"]), dict[str, Paper])
    return len(library.mirror.files())
