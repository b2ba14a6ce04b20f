"""Reading in other processes: the same texts and the same refusals as reading here."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest

from tests.readers.reading_children import DIES, reader
from tests.world import World
from utils import readers as formats
from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Fetched, Notice, Paper
from utils.model.verdicts import ComparisonData, Sign, TextCopy
from utils.readers import reader_processes

HTML = (
    b"<html><head><title>Bees in winter</title></head><body><p>Sign in to read.</p></body></html>"
)


@pytest.fixture(autouse=True)
def _no_children_left() -> Iterator[None]:
    reader_processes._get_child_pool().stop_idle_children()  # of another test file in this worker
    yield
    reader_processes._get_child_pool().stop_idle_children()


@pytest.fixture
def jats(library, world: World) -> Fetched:
    stored = library.download(world.paper("pmc_cloud").pmid).stored
    kept = library.shelf.read_raw_answer(stored)
    assert kept
    return kept.fetched


def test_signs_come_back_as_they_were() -> None:
    document = Document("text", signs=(Sign("targets", 4, "Table 2 is missing"),))
    row = json.loads(json.dumps(asdict(document)))
    assert reader_processes._row_to_document(row) == document


def test_a_text_is_the_same_wherever_it_is_read(library, world: World, jats: Fetched) -> None:
    paper = library.find(world.paper("pmc_cloud").pmid).paper
    assert reader_processes.read_and_judge_in_child(jats, paper) == formats.read_and_judge(
        jats, paper
    )


def test_a_text_is_compared_with_other_copies_wherever_it_is_read(
    library, world: World, jats: Fetched
) -> None:
    paper = library.find(world.paper("pmc_cloud").pmid).paper
    comparison = ComparisonData((TextCopy("jina", "", 100_000, 0, ()),), (9000,) * 8)
    for read in (formats.read_and_judge, reader_processes.read_and_judge_in_child):
        document = read(jats, paper, comparison=comparison)
        assert document.verdict == "doubtful"
        assert "the copy from jina has 100000" in document.evidence


def test_a_refusal_is_the_same_too() -> None:
    about = Paper(
        Ids(doi="10.1000/a"),
        title="Bees in winter",
        authors=(Author(family="Roe", affiliations=("Here",)),),
        notices=(Notice("erratum", "b"),),
    )
    page = Fetched(HTML, "html", "https://a.test", "publisher", "publisher", ids=Ids(pmid="1"))
    told = []
    for read in (formats.read_and_judge, reader_processes.read_and_judge_in_child):
        with pytest.raises(BadContent) as caught:
            read(page, about)
        told.append((caught.value.message, caught.value.hint, caught.value.details))
    assert told[0] == told[1]


def test_a_reader_that_dies_is_a_rejection(monkeypatch: pytest.MonkeyPatch, jats: Fetched) -> None:
    monkeypatch.setattr(reader_processes._get_child_pool(), "start", DIES)
    with pytest.raises(BadContent, match="crashed") as caught:
        reader_processes.read_and_judge_in_child(jats, Paper(Ids(pmid="1")))
    assert caught.value.outcome == "not_a_paper"


def test_a_mistake_of_ours_is_no_verdict(monkeypatch: pytest.MonkeyPatch, jats: Fetched) -> None:
    monkeypatch.setattr(reader_processes._get_child_pool(), "start", reader("int('no number')"))
    with pytest.raises(RuntimeError, match="no number"):
        reader_processes.read_and_judge_in_child(jats, Paper(Ids(pmid="1")))


def test_bodies_may_hold_anything(jats: Fetched) -> None:
    odd = replace(jats, body=b"\n\x00\xff\n" * 10)
    with pytest.raises(BadContent):
        reader_processes.read_and_judge_in_child(odd, Paper(Ids(pmid="1")))
