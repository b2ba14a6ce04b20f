"""Indexing: what changed and nothing else, whole again after a death anywhere."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from tests import processes
from tests.corpus.small_corpus import LetterEmbedder, corpus_in, paper
from tests.databases import POSTGRESQL
from tests.examples import share, some
from tests.shelf.papers import document, fetched, save
from utils.corpus import Corpus
from utils.corpus.index import LOCK, IndexProgress
from utils.corpus.texts import CorpusTexts
from utils.errors import EmbeddingsFailed, StoreBusy
from utils.model.identifiers import Ids
from utils.model.paper import Notice, Paper
from utils.model.passage import Filters
from utils.model.permissions import Permission, Permissions

RETRACTION = (Notice("retraction"),)


class Model(LetterEmbedder):
    """Remembers what it was asked to read; breaks down after ``breath`` texts."""

    def __init__(self, model: str = "letters-1", missing: str = "") -> None:
        self.model = model
        self.read: list[str] = []
        self.breath = 10**9
        self.missing = missing

    def explain_unavailable(self) -> str:
        return self.missing

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        if len(self.read) + len(texts) > self.breath:
            raise EmbeddingsFailed("The service went away.")
        self.read += texts
        return super().embed_texts(texts)


@pytest.fixture
def shared_corpus(tmp_path: Path) -> Iterator[tuple[Corpus, dict[str, Any]]]:
    """A corpus in Weaviate, with the objects that others see there."""
    from tests.corpus.weaviate_stand_in import StandIn

    with StandIn() as weaviate:
        address = {"vector_store": "weaviate", "weaviate_url": weaviate.url}
        made = with_model(corpus_in(tmp_path / "papers", **address), Model())
        yield made, weaviate.objects
        made.finder.close()
        made.database.close()
        made.shelf.close()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    # The texts are invented, and the judges would reject an edited one.
    monkeypatch.setattr("utils.shelf.adoption.rejudge_text", lambda stored, _text: stored)
    made = with_model(corpus_in(tmp_path / "papers"), Model())
    yield made
    made.finder.close()
    made.database.close()
    made.shelf.close()


def with_model(corpus: Corpus, model: Model | None) -> Corpus:
    corpus.__dict__["embedder"] = model
    return corpus


def reopened(corpus: Corpus) -> Corpus:
    """The same corpus as another process sees it."""
    corpus.finder.close()
    corpus.database.close()
    return with_model(corpus_in(corpus.shelf.folder), corpus.embedder)  # type: ignore[arg-type]


def run(corpus: Corpus, **options: Any) -> IndexProgress:
    *_, last = corpus.index(**options)
    return last


def record(pmid: str, words: str = "Corals bleach in warm water.", **about: Any) -> Paper:
    return paper(pmid, abstract=words, **about)


def body(word: str, sentences: int = 60) -> str:
    text = " ".join(f"Number {n} of the {word} sentences stands here." for n in range(sentences))
    return f"# On {word}s\n\n## Methods\n\n{text}\n\n## Results\n\n{text.replace('Number', 'Nr')}\n"


def found(corpus: Corpus, query: str, **filters: Any) -> set[str]:
    return {hit.paper for hit in corpus.finder.search(query, None, 50, Filters(**filters))}


def check_whole(corpus: Corpus) -> None:
    """The index holds exactly the passages SQL knows, all with vectors, all of today's texts."""
    passages = corpus.database.list_passages(limit=10_000)
    held = corpus.finder.get_status()
    assert (held.passages, held.vectors) == (len(passages), len(passages))
    assert not corpus.finder.find_uuids_without_vectors([passage.uuid for passage in passages])
    database = corpus.database
    papers = sorted({passage.paper for passage in passages})
    assert all(source.digest for source in database.get_sources(papers).values())
    assert database.count_indexed_papers() == len(papers)
    for passage in passages:
        hits = corpus.finder.search(passage.text[:300], None, 100, Filters(retracted=True))
        assert passage.uuid in {hit.uuid for hit in hits}
    stats = corpus.stats()
    assert (stats.to_cut, stats.without_vectors, stats.warnings) == (0, 0, ())


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, False),
        ({"embeddings_provider": "openai", "openai_base_url": "http://localhost:11434/v1"}, False),
        ({"embeddings_provider": "openai"}, True),
        ({"vector_store": "weaviate", "weaviate_url": "https://vectors.lab.edu"}, True),
        ({"database_url": "postgresql://db.lab.edu/papers"}, True),
    ],
)
def test_a_text_that_must_not_be_passed_on_does_not_leave_this_machine(
    tmp_path: Path, settings: dict[str, Any], sent: bool
) -> None:
    corpus = corpus_in(tmp_path / "papers", **settings)
    for via, license_, word in (
        ("elsevier", "", "eel"),
        ("elsevier", "CC BY 4.0", "cod"),
        ("pmc_cloud", "", "ray"),
    ):
        about = paper("", ids=Ids(doi=f"10.1000/{word}"), license=license_, abstract="In short.")
        text = document(body(word), license=license_)
        corpus.shelf.save_full_text(about, text, fetched(via=via), source="DOI", attempts=())
    corpus.__dict__["database"] = corpus_in(tmp_path / "papers").database  # no such server here
    texts = CorpusTexts(corpus)
    kinds = {text.key: text.kind for text, _ in texts.iterate_with_sources() if text}
    assert kinds == {
        "doi:10.1000/eel": "abstract" if sent else "full_text",
        "doi:10.1000/cod": "full_text",
        "doi:10.1000/ray": "abstract" if sent else "full_text",
    }
    assert (texts.withheld, bool(texts.remote_hosts)) == (2 * sent, sent)
    corpus.shelf.close()


def test_it_is_said_which_texts_stay_here(corpus: Corpus) -> None:
    about = paper("", ids=Ids(doi="10.1000/eel"), abstract="In short.")
    text = document(body("eel"), license="")
    corpus.shelf.save_full_text(about, text, fetched(via="wiley"), source="DOI", attempts=())
    corpus.settings = corpus.settings.model_copy(update={"embeddings_provider": "openai"})
    assert "1 full text" in " ".join(run(corpus).warnings)
    assert not [one for one in corpus.embedder.read if "Number" in one]


def test_abstracts_and_full_texts_are_found(corpus: Corpus) -> None:
    corpus.database.store_records([record("1"), record("2", "Sponges filter.")])
    save(corpus.shelf, paper("", ids=Ids(doi="10.1000/x"), title="On eels"), body("eel"))
    last = run(corpus)
    assert (last.done, last.total, last.cut) == (3, 3, 3)
    assert last.passages == last.vectors == corpus.finder.get_status().passages
    assert found(corpus, "eel") == {"doi:10.1000/x"}
    assert found(corpus, "bleach") == {"pmid:1"}
    check_whole(corpus)


def test_the_full_text_takes_the_place_of_the_abstract(corpus: Corpus) -> None:
    corpus.database.store_records([record("1", ids=Ids(pmid="1", doi="10.1000/a"))])
    run(corpus)
    stored = save(corpus.shelf, paper("", ids=Ids(doi="10.1000/a")), body("coral"))
    last = run(corpus)
    assert (last.cut, last.removed) == (1, 1)
    passages = corpus.database.get_passages_of_paper("pmid:1")
    text = corpus.shelf.read_text(stored)
    assert {passage.file for passage in passages} == {"10.1000_a.txt"}
    assert all(text[one.start : one.end] == one.text for one in passages)
    Path(stored.path).unlink()
    assert run(corpus).cut == 1
    assert [one.kind for one in corpus.database.get_passages_of_paper("pmid:1")] == ["abstract"]
    check_whole(corpus)


def test_a_shelved_abstract_without_a_record_is_indexed_too(corpus: Corpus) -> None:
    corpus.shelf.save_abstract(record("7", "Whelks drill."), ())
    run(corpus)
    assert found(corpus, "whelks") == {"pmid:7"}


def test_what_has_not_changed_is_neither_cut_nor_embedded(corpus: Corpus) -> None:
    corpus.database.store_records([record("1")])
    save(corpus.shelf, paper("2"), body("eel"))
    run(corpus)
    model = corpus.embedder
    assert isinstance(model, Model)
    model.read.clear()
    last = run(corpus)
    assert (last.cut, last.passages, last.vectors, last.removed) == (0, 0, 0, 0)
    last = run(corpus, everything=True)
    assert (last.cut, last.passages) == (2, 0)
    assert model.read == []


def test_an_unchanged_corpus_is_neither_parsed_nor_digested(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.database.store_records([record("1"), record("2", ids=Ids(pmid="2", doi="10.1000/b"))])
    save(corpus.shelf, paper("", ids=Ids(doi="10.1000/b")), body("coral"))
    save(corpus.shelf, paper("3"), body("eel"))
    corpus.shelf.save_abstract(record("4", "Whelks drill."), ())
    run(corpus)
    with monkeypatch.context() as patched:
        patched.setattr("utils.corpus.database._to_record", None)
        patched.setattr(type(corpus.shelf), "find_paper_by_file", None)
        last = run(corpus)
    assert (last.done, last.total, last.cut, last.dropped) == (5, 5, 0, 0)


def test_a_record_with_other_headings_is_marked_but_not_cut(corpus: Corpus) -> None:
    corpus.database.store_records([record("1")])
    run(corpus)
    before = corpus.database.get_sources(["pmid:1"])["pmid:1"]
    corpus.database.store_records([record("1", mesh=("Animals",), revised="2025-01-01")])
    assert run(corpus).cut == 0
    after = corpus.database.get_sources(["pmid:1"])["pmid:1"]
    assert (after.digest == before.digest, after.mark == before.mark) == (True, False)


def test_an_index_of_an_older_version_is_marked_without_being_cut(corpus: Corpus) -> None:
    corpus.database.store_records([record("1"), record("2")])
    save(corpus.shelf, paper("3"), body("eel"))
    run(corpus)
    keys = ["pmid:1", "pmid:2", "pmid:3"]
    marked = corpus.database.get_sources(keys)
    with corpus.database.open_writing() as connection:
        for column in ("mark", "names"):
            connection.execute(text(f"ALTER TABLE corpus_sources DROP COLUMN {column}"))
        connection.execute(text("UPDATE corpus_version SET version = 2"))
    corpus.database.close()
    assert run(corpus).cut == 0
    assert corpus.database.get_sources(keys) == marked
    check_whole(corpus)


def test_a_file_that_comes_for_an_unchanged_record_is_seen_by_any_name(corpus: Corpus) -> None:
    ids = Ids(pmid="1", doi="10.1000/a", pmcid="PMC7")
    corpus.database.store_records([record("1", ids=ids), record("2")])
    run(corpus)
    stored = save(corpus.shelf, paper("", ids=Ids(pmcid="PMC7")), body("eel"))
    assert run(corpus).cut == 1
    Path(stored.path).unlink()
    assert run(corpus).cut == 1
    assert run(corpus).cut == 0
    check_whole(corpus)


def test_a_text_that_may_no_longer_leave_this_machine_is_cut_again(corpus: Corpus) -> None:
    about = paper("", ids=Ids(doi="10.1000/eel"), abstract="In short.")
    made = document(body("eel"), license="")
    corpus.shelf.save_full_text(about, made, fetched(via="wiley"), source="DOI", attempts=())
    run(corpus)
    corpus.settings = corpus.settings.model_copy(update={"embeddings_provider": "openai"})
    assert run(corpus).cut == 1
    passages = corpus.database.get_passages_of_paper("doi:10.1000/eel")
    assert [passage.kind for passage in passages] == ["abstract"]


def test_only_what_changed_in_a_text_is_embedded_again(corpus: Corpus) -> None:
    save(corpus.shelf, paper("2"), body("eel"))
    run(corpus)
    model = corpus.embedder
    assert isinstance(model, Model)
    model.read.clear()
    stored = corpus.shelf.find_text(Ids(pmid="2"))
    assert stored
    path = Path(stored.path)
    path.write_text(
        path.read_text(encoding="utf-8").replace("## Results\n\n", "## Results\n\nAnother word. "),
        encoding="utf-8",
    )
    last = run(corpus)
    assert 0 < last.vectors == len(model.read) < corpus.finder.get_status().passages
    assert all("Results" in text for text in model.read)
    check_whole(corpus)


def test_a_retraction_reaches_the_index_without_a_new_vector(corpus: Corpus) -> None:
    corpus.database.store_records([record("1", revised="2024-06-15")])
    run(corpus)
    corpus.database.store_records([record("1", revised="2024-07-15", notices=RETRACTION)])
    last = run(corpus)
    assert (last.passages, last.vectors) == (1, 0)
    assert found(corpus, "corals") == set()
    assert found(corpus, "corals", retracted=True) == {"pmid:1"}


def test_what_is_gone_leaves_the_index(corpus: Corpus) -> None:
    stored = save(corpus.shelf, paper("2"), body("eel"))
    run(corpus)
    Path(stored.path).unlink()
    last = run(corpus)
    assert (last.dropped, corpus.finder.get_status().passages) == (1, 0)
    assert last.removed > 1
    assert corpus.database.count_indexed_papers() == 0


def test_a_paper_shelved_during_a_run_is_left_to_the_next(corpus: Corpus) -> None:
    corpus.database.store_records([record("1")])
    save(corpus.shelf, paper("2"), body("eel"))
    run(corpus)
    texts = CorpusTexts(corpus)
    going = texts.iterate_with_sources()
    assert next(going)
    save(corpus.shelf, paper("1"), body("coral"))
    keys = {text.key for text, _ in going if text}
    assert (keys, list(texts.find_removed_papers())) == ({"pmid:2"}, [])


@pytest.mark.extras("weaviate")
def test_others_see_the_newest_record_beside_each_passage_and_vectors_stay(
    shared_corpus: tuple[Corpus, dict[str, Any]],
) -> None:
    corpus, objects = shared_corpus
    corpus.database.store_records([record("1"), record("2", entered="", revised="")])
    save(corpus.shelf, paper("3"), body("eel"))  # no record of it
    run(corpus)

    def seen(pmid: str) -> set[tuple[Any, ...]]:
        kept = [each["properties"] for each in objects["PubMedChunk"].values()]
        names = ("quality_total", "edat", "lr", "vectored")
        return {tuple(one.get(n) for n in names) for one in kept if one["pmid"] == pmid}

    quality = corpus.find("corals").hits[0].quality.total
    assert seen("1") == {(quality, "2024-06-02T00:00:00Z", "2024-06-15T00:00:00Z", True)}
    assert seen("2") == {(quality, None, None, True)}
    assert seen("3") == {(None, None, None, True)}
    read = len(corpus.embedder.read)
    corpus.database.store_records([record("1", revised="2025-01-02", mesh=("Humans",))])
    run(corpus)
    better = quality + 3  # humans, in a journal that MEDLINE indexes
    assert seen("1") == {(better, "2024-06-02T00:00:00Z", "2025-01-02T00:00:00Z", True)}
    assert len(corpus.embedder.read) == read
    assert (run(corpus).cut, corpus.stats().to_cut) == (0, 0)


def test_another_model_reads_everything_again_and_it_is_said(corpus: Corpus) -> None:
    corpus.database.store_records([record(str(n)) for n in range(1, 6)])
    run(corpus)
    with_model(corpus, Model("letters-2"))
    last = run(corpus)
    assert last.vectors == 5
    assert "from letters-1 to letters-2" in last.warnings[0]
    assert corpus.finder.get_status().model == "letters-2"
    assert run(corpus).warnings == ()


@pytest.mark.parametrize("model", [None, Model(missing="onnxruntime is not installed.")])
def test_without_a_model_words_are_found_and_it_is_said(
    corpus: Corpus, model: Model | None
) -> None:
    with_model(corpus, model)
    corpus.database.store_records([record("1")])
    last = run(corpus)
    assert "words alone" in last.warnings[0]
    assert found(corpus, "corals") == {"pmid:1"}
    with_model(corpus, Model())
    assert run(corpus).vectors == 1


def test_an_empty_corpus_says_what_to_do(corpus: Corpus) -> None:
    assert "sync" in run(corpus).warnings[0]


def test_a_model_that_breaks_down_leaves_what_it_made(corpus: Corpus) -> None:
    corpus.database.store_records([record(str(n), f"Coral{n} bleaches.") for n in range(1, 401)])
    model = corpus.embedder
    assert isinstance(model, Model)
    model.breath = 300
    with pytest.raises(EmbeddingsFailed):
        run(corpus)
    assert corpus.finder.get_status().passages == 400
    made = len(model.read)
    assert corpus.finder.get_status().vectors == made > 0
    model.breath = 10**9
    assert run(corpus).vectors == 400 - made
    check_whole(corpus)


def test_a_finder_that_lost_everything_is_filled_again(corpus: Corpus) -> None:
    corpus.database.store_records([record("1"), record("2")])
    run(corpus)
    corpus.finder.delete_passages([one.uuid for one in corpus.database.list_passages()])
    last = run(corpus)
    assert (last.cut, last.vectors) == (0, 2)
    check_whole(corpus)
    with_model(corpus, None)
    corpus.finder.delete_passages([one.uuid for one in corpus.database.list_passages()])
    run(corpus)
    assert corpus.finder.get_status().passages == 2


def test_the_time_being_up_leaves_the_rest_for_the_next_run(corpus: Corpus, clock: Any) -> None:
    corpus.database.store_records([record(str(n), "Other words.") for n in range(1, 1401)])
    told = []
    for step in corpus.index(wait_s=60):
        told.append(step)
        clock.sleep(50)
    last = told[-1]
    assert last.unfinished
    assert 0 < last.cut < 1400
    while run(corpus, wait_s=60).unfinished:
        pass
    assert {one.text for one in corpus.database.list_passages(limit=2000)} == {"Other words."}


def test_two_at_once_are_told_apart(corpus: Corpus) -> None:
    corpus.database.store_records([record("1")])
    with (
        reopened_beside(corpus).database.exclusive_lock(LOCK, 0),
        pytest.raises(StoreBusy, match="Another"),
    ):
        run(corpus)
    assert run(corpus).cut == 1


def reopened_beside(corpus: Corpus) -> Corpus:
    return corpus_in(corpus.shelf.folder)


def test_progress_is_told(corpus: Corpus) -> None:
    corpus.database.store_records([record(str(n)) for n in range(1, 501)])
    steps = list(corpus.index())
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert len(steps) > 3
    assert {step.total for step in steps[:-1]} == {500}
    assert max(step.vectors_due for step in steps) == 500


def test_a_file_that_cannot_be_read_is_told_and_kept(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    from utils.errors import StoreFailed

    save(corpus.shelf, paper("2"), body("eel"))
    run(corpus)
    corpus.database.store_records([record("3")])

    def refuse(_: object) -> str:
        raise StoreFailed("Could not read it.")

    monkeypatch.setattr(corpus.shelf, "read_text", refuse)
    last = run(corpus, everything=True)
    assert "Could not read" in last.warnings[0]
    assert found(corpus, "eel") == {"pmid:2"}
    assert found(corpus, "corals") == {"pmid:3"}


class Died(BaseException):
    """As ``kill -9`` would: nothing that catches exceptions catches it."""


def steps_of(corpus: Corpus) -> list[tuple[object, str]]:
    """Everything that changes something."""
    return [
        *(
            (corpus.finder, name)
            for name in ("prepare_for_model", "store_passages", "delete_passages")
        ),
        *(
            (corpus.database, name)
            for name in ("replace_passages", "store_sources", "delete_paper_passages")
        ),
    ]


def dying(corpus: Corpus, at: int, *, after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Die at the change number *at*, before or after it is made."""
    count = 0

    def deadly(change: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == at and not after:
                raise Died
            result = change(*args, **named)
            if count == at:
                raise Died
            return result

        return made

    for owner, name in steps_of(corpus):
        monkeypatch.setattr(owner, name, deadly(getattr(owner, name)))


def changed(corpus: Corpus, round_: int) -> None:
    """What a life brings: new, changed, retracted and vanished papers; texts and abstracts."""
    other = "in cold water" if round_ else "in warm water"
    corpus.database.store_records(
        [
            record("1", f"Corals bleach {other}."),
            record("2", "Sponges filter.", notices=RETRACTION if round_ else ()),
            *([record("3", "Whelks drill.")] if round_ else []),
        ]
    )
    stored = save(corpus.shelf, paper("4", title="On eels"), body("eel"))
    path = Path(stored.path)
    path.write_text(
        path.read_text(encoding="utf-8").replace("Nr 7 of", f"Nr {round_} and 7 of"),
        encoding="utf-8",
    )
    gone = save(corpus.shelf, paper("5"), body("whelk", 20))
    if round_:
        Path(gone.path).unlink()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("batch", "at"), some([*((1, at) for at in range(1, 17)), *((512, at) for at in range(1, 9))])
)
def test_a_death_at_any_change_is_made_good_by_the_next_run(
    corpus: Corpus, batch: int, at: int, after: bool
) -> None:
    changed(corpus, 0)
    run(corpus)
    changed(corpus, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("utils.corpus.index._BATCH", batch)
        dying(corpus, at, after=after, monkeypatch=patch)
        try:
            run(corpus)
            survived = True
        except Died:
            survived = False
    assert survived == (at > {1: 15, 512: 7}[batch])  # all the others were met
    again = reopened(corpus)
    run(again)
    check_whole(again)
    assert found(again, "sponges") == set()
    assert found(again, "cold") == {"pmid:1"}
    assert found(again, "whelk", retracted=True) == {"pmid:3"}
    again.finder.close()
    again.database.close()


def test_a_text_that_returns_to_what_it_was_after_a_death_is_whole(corpus: Corpus) -> None:
    changed(corpus, 0)
    run(corpus)
    stored = corpus.shelf.find_text(Ids(pmid="4"))
    assert stored
    path = Path(stored.path)
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace("## Results", "## Outcome"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        dying(corpus, 3, after=False, monkeypatch=patch)
        with pytest.raises(Died):
            run(corpus)
    path.write_text(original, encoding="utf-8")
    run(corpus)
    check_whole(corpus)


def test_passages_carry_what_filters_ask(corpus: Corpus) -> None:
    corpus.database.store_records([record("1", published="1999", publication_types=("Review",))])
    run(corpus)
    (made,) = corpus.database.get_passages_of_paper("pmid:1")
    assert (made.year, made.publication_types, made.journal) == (1999, ("Review",), "Reef Studies")
    assert found(corpus, "corals", year_to=1999, publication_types=("Review",)) == {"pmid:1"}
    assert found(corpus, "corals", year_from=2000) == set()


def test_stats_count_what_is_there_and_what_is_behind(corpus: Corpus) -> None:
    corpus.database.store_records([record("1"), record("2", "Sponges.", published="1999")])
    save(corpus.shelf, paper("4", title="On eels"), body("eel"))
    run(corpus)
    corpus.database.store_records([record("1", "Now otherwise."), record("3")])
    stats = corpus.stats()
    assert (stats.records, stats.papers, stats.to_cut) == (3, 3, 2)
    assert stats.kinds == {"abstract": 2, "full_text": 1}
    assert stats.years == {"1999": 1, "2024": 2}
    assert stats.passages == stats.vectors > 3
    assert (stats.model, stats.model_wanted, stats.finder) == ("letters-1", "letters-1", "embedded")
    with_model(corpus, Model("letters-2"))
    assert corpus.stats().without_vectors == stats.passages


def test_stats_of_nothing(corpus: Corpus) -> None:
    stats = corpus.stats()
    assert (stats.records, stats.papers, stats.passages, stats.to_cut) == (0, 0, 0, 0)


@POSTGRESQL
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_corpus_in_postgresql_is_indexed_alike(tmp_path: Path, database_url: str) -> None:
    corpus = with_model(corpus_in(tmp_path / "papers", database_url=database_url), Model())
    changed(corpus, 0)
    assert run(corpus).vectors == corpus.finder.get_status().passages > 0
    changed(corpus, 1)
    with pytest.MonkeyPatch.context() as patch:
        dying(corpus, 4, after=True, monkeypatch=patch)
        with pytest.raises(Died):
            run(corpus)
    with corpus.database.exclusive_lock(LOCK, 0):
        pass  # the lock died with the run
    run(corpus)
    held, stats = corpus.finder.get_status(), corpus.stats()
    assert held.passages == held.vectors == stats.passages
    assert (stats.to_cut, stats.finder) == (0, "pgvector")
    assert found(corpus, "cold") == {"pmid:1"}
    assert corpus.verify_quote("corals bleach in cold water").verbatim
    corpus.finder.close()
    corpus.database.close()


@POSTGRESQL
def test_a_database_made_in_the_c_locale_holds_texts_too(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Its encoding is SQL_ASCII, for which the driver returns bytes unless it is told better."""
    import psycopg

    server = request.getfixturevalue("postgresql")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'"
        )
    url = server.replace("/postgres?", "/ascii?")
    corpus = with_model(corpus_in(tmp_path / "papers", database_url=url), Model())
    changed(corpus, 0)
    run(corpus)
    assert corpus.stats().passages > 0
    corpus.finder.close()
    corpus.database.close()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE ascii WITH (FORCE)")


@pytest.mark.slow
def test_a_run_may_be_killed_at_any_step(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [
        sys.executable,
        "-m",
        "quality.histories.indexing_deaths",
        str(tmp_path),
        "7",
        str(share(15)),
    ]
    ran = processes.run(command, cwd=root)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["deaths"] == share(15)


def test_a_text_that_may_no_longer_be_passed_on_is_withdrawn(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its licence did not change, but the reading of it did; the text had left this machine."""
    corpus.settings = corpus.settings.model_copy(update={"embeddings_provider": "openai"})
    corpus.database.store_records([record("1", ids=Ids(pmid="1", doi="10.1000/eel"))])
    for word, name in (("eel", "10.1000/eel"), ("cod", "10.1000/cod")):
        about = paper("", ids=Ids(doi=name), license="CC BY 4.0", abstract="In short.")
        text = document(body(word), license="CC BY 4.0")
        corpus.shelf.save_full_text(about, text, fetched(), source="DOI", attempts=())
    run(corpus)
    assert found(corpus, "eel") == {"pmid:1"}
    assert found(corpus, "cod") == {"doi:10.1000/cod"}

    unknown = Permission("unknown", "It is in doubt.")
    monkeypatch.setattr(
        "utils.corpus.texts.get_permissions", lambda *_: Permissions(unknown, unknown, unknown)
    )
    last = run(corpus)

    assert (last.cut, "2 full texts" in " ".join(last.warnings)) == (2, True)
    kept = [*map(corpus.database.get_passages_of_paper, ("pmid:1", "doi:10.1000/cod"))]
    assert {passage.kind for passages in kept for passage in passages} == {"abstract"}
    assert found(corpus, "eel") == found(corpus, "cod") == set()
    check_whole(corpus)
