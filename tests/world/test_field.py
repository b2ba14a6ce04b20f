"""Thousands of papers: all different, all found, all to be had as they say."""

import itertools
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from quality.benchmarks.harvest_verdict import Score, share_of
from tests.examples import share
from tests.world import Record, World
from tests.world.field import Field
from tests.world.visits import efetch, esearch
from utils import Library, PaperError
from utils.demo import jats, pages
from utils.demo.prose import body
from utils.model.identifiers import Ids

pytestmark = pytest.mark.slow


def test_no_more_than_9999_hits_come_however_many_there_are() -> None:
    with World(crowd=10_400) as world:
        last = esearch(world, "crowd[ti]", retstart="9998", retmax="10")
        assert (last["count"], len(last["idlist"])) == ("10400", 1)
        assert "Restrictions achieved" in last["warninglist"]["outputmessages"][0]
        early = esearch(world, "crowd[ti] AND 1900/01/01:2023/02/19[edat]")
        late = esearch(world, "crowd[ti]", mindate="2023/02/20", maxdate="2100", datetype="edat")
        assert int(early["count"]) + int(late["count"]) == 10_400
        assert esearch(world, "crowd[ti] AND 2023/01/01[dp]")["count"] == "10400"
        kept = esearch(world, "crowd[ti]", usehistory="y", retmax="0")
        page = efetch(
            world, db="pubmed", WebEnv=kept["webenv"], query_key="1", retstart="9990", retmax="50"
        )
        assert page.count(b"<PubmedArticle>") == 9


def test_beyond_9999_hits_entrez_dates_slice_exactly() -> None:
    with World(crowd=25_000) as world:
        assert esearch(world, "crowd[ti]", retmax="0")["count"] == "25000"
        clamped = esearch(world, "crowd[ti]", retmax="100000")
        assert (clamped["retmax"], len(clamped["idlist"])) == ("9999", 9999)
        assert list(esearch(world, "crowd[ti]", retstart="9999")) == ["ERROR"]
        found: set[str] = set()
        months = ["2023/01/01", "2023/03/01", "2023/05/01", "2023/07/01", "2023/09/10"]
        for first, last in itertools.pairwise(months):
            time.sleep(1)
            term = f'crowd[ti] AND ("{first}"[EDAT] : "{last}"[EDAT])'
            in_term = esearch(world, term, retmax="9999")
            dates = {"mindate": first, "maxdate": last, "datetype": "edat"}
            by_params = esearch(world, "crowd[ti]", retmax="9999", **dates)
            assert in_term["idlist"] == by_params["idlist"]
            assert int(in_term["count"]) == len(in_term["idlist"])
            found.update(in_term["idlist"])
        assert len(found) == 25_000


def test_a_field_is_the_same_every_time_and_every_paper_differs() -> None:
    field, again = Field(300), Field(100_000)
    assert list(field) == again[:300]
    assert len({paper.title for paper in again[:20_000]}) == 20_000
    assert again.by_pmid(again[99_999].pmid) == again[99_999]
    assert field.by_pmid(again[300].pmid) is None
    texts = [
        {
            sentence
            for _, paragraphs in body(paper)
            for text in paragraphs
            for sentence in text.split(". ")
        }
        for paper in (*field[:17], *field[17:170:17])
    ]
    shared = [len(a & b) / len(a) for at, a in enumerate(texts) for b in texts[at + 1 :]]
    assert max(shared) < 0.2


def test_a_field_is_found_by_every_name_and_holds_the_whole_mix(field_world: World) -> None:
    field, corpus = field_world.field, field_world.corpus
    for paper in field:
        assert corpus.by_pmid[paper.pmid] == paper
        assert not paper.pmcid or corpus.by_pmcid[paper.pmcid] == paper
        assert not paper.doi or corpus.by_doi.get(paper.doi.lower()) == paper
        assert not paper.arxiv or corpus.by_arxiv.get(paper.arxiv) == paper
        if not paper.pmcid:
            assert field.by_pmcid(f"PMC{paper.pmid}") is None
    hundreds = [Counter(paper.branch for paper in field[at : at + 100]) for at in (0, 100, 200)]
    assert hundreds[0] == hundreds[1] == hundreds[2]
    assert Counter(paper.expected for paper in field) == {"full_text": 261, "abstract": 39}


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("", lambda paper: True),
        (" AND pubmed pmc[sb]", lambda paper: paper.pmcid),
        (" NOT pubmed pmc[sb]", lambda paper: not paper.pmcid),
        (" AND free full text[sb]",
            lambda paper: paper.pmcid or paper.branch.startswith("publisher")),
        (" AND hasabstract", lambda paper: True),
        (" AND hasabstract[text] AND coral[mh]", lambda paper: paper.topic == "coral"),
        (" AND Retracted Publication[pt]", lambda paper: paper.retracted),
        (" AND 2019[dp]", lambda paper: paper.year == "2019"),
        (' AND ("2020/02/01"[EDAT] : "2020/12/31"[EDAT])',
            lambda paper: "2020-02" <= paper.entered < "2021"),
        (" AND open bench[ta]", lambda paper: paper.journal.title == "Open Bench"),
        (" AND Adeyemi[1au]", lambda paper: paper.authors[0][0] == "Adeyemi"),
    ],
)  # fmt: skip
def test_a_field_is_found_together_with_whatever_else_is_asked(
    field_world: World, more: str, wanted: Callable[[Record], Any]
) -> None:
    found = esearch(field_world, f"field[ti]{more}", retmax="1000", mindate="2000", maxdate="2030")
    assert sorted(found["idlist"]) == [p.pmid for p in field_world.field if wanted(p)]
    assert "errorlist" not in found


def test_a_hundred_papers_of_a_field_end_as_a_perfect_downloader_would(
    field_world: World, tmp_path: Path
) -> None:
    urls = {name.lower(): value for name, value in field_world.environment().items()}
    library = Library(papers_dir=tmp_path / "papers", papers_pace_dir=tmp_path / "pace", **urls)
    wanted = [Ids(pmid=paper.pmid) for paper in field_world.field[: share(100)]]
    for ids, done in library.download_many(wanted):
        paper = field_world.record(ids.pmid)
        assert paper
        assert not isinstance(done, PaperError), (paper.branch, done)
        assert done.stored.kind == paper.expected, (paper.branch, done.stored.attempts)
        text = Path(done.file_path).read_text(encoding="utf-8")
        assert paper.plain_title in text
    library.shelf.close()


def test_the_text_of_another_paper_would_be_noticed() -> None:
    papers = [paper for paper in Field(900) if paper.topic == "coral"][:16]
    texts = [" ".join(ET.fromstring(jats.document(paper)).itertext()) for paper in papers]
    assert all(share_of(paper, text) == 1 for paper, text in zip(papers, texts, strict=True))
    others = [share_of(paper, text) for paper in papers for text in texts if paper.pmid not in text]
    assert len(others) == 16 * 15
    assert max(others) < 0.2
    score = Score()
    score.add(papers[0], texts[1])
    score.add(papers[0], pages.abstract_page(papers[0], "", "meadow", pdf=False))
    assert (score.outcomes["false full text"], score.full) == (2, 0)
    score.add(papers[0], texts[0])
    assert score.full == 1
