"""Vectors of a mirror: made once for each text, taken where published, found whoever dies."""

import json

import numpy as np
import pytest

from tests.corpus.small_corpus import LetterEmbedder
from tests.mirror.small_mirror import RICH, article, mirror_of, updated, year
from tests.world.pubmed_files import name_of
from tests.world.pubmed_files import packed as packed_file
from utils import Library
from utils.errors import BadContent, BadRequest, EmbeddingsFailed
from utils.mirror import vectors
from utils.mirror.vectors import VectorStore, pack_vectors
from utils.model.passage import Filters

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")


@pytest.fixture
def mirror(world, tmp_path, embedder):
    world.bulk = year()
    world.bulk.baseline[name_of(26, 2)] = packed_file(
        [article(5, "Corals bleach"), article(6, "Of β-catenin and IL-6"), article(7), RICH]
    )
    made = mirror_of(world, tmp_path)
    updated(made)
    return made


@pytest.fixture
def mirrored(mirror, tmp_path, embedder):
    places = {"papers_dir": tmp_path / "papers", "papers_mirror_dir": mirror.folder}
    library = Library(**places, papers_offline=True)
    library.corpus.__dict__["embedder"] = embedder
    return library.passages_of("mirror")


def embedded(mirror, **options):
    return [*mirror.embed(**options)][-1]


def test_each_text_is_embedded_once_and_again_only_when_it_changes(mirror, world, embedder):
    done = embedded(mirror)
    assert (done.made, done.files) == (12, 3)
    assert "Corals bleach\nAbstract\nWhat Corals bleach says of corals." in embedder.texts
    assert embedded(mirror).made == 0
    world.bulk.updates[name_of(26, 4)] = packed_file(
        [article(5, "Corals recover"), article(7), article(99, "Title 7")], ["6"]
    )
    updated(mirror)
    assert embedded(mirror).made == 1  # PMID 99 says what 7 says, but under its own title
    assert len(embedder.texts) == len(set(embedder.texts)) == 13


def test_passages_are_found_by_meaning_as_by_comparing_all(mirror, mirrored, embedder):
    [*mirror.index()]
    words = mirrored.find("bleaching corals")
    assert "no vectors" in words.warnings[0]
    embedded(mirror)
    question = "zzyzx hcaelb slaroc"
    answer = mirrored.find(question, by="meaning", quality_bias=False, top_k=12)
    texts = embedder.texts[:12]
    exact = LetterEmbedder().embed_texts(texts) @ embedder.embed_question(question)
    best = [hit.passage.embedding_text for hit in answer.hits]
    retracted = next(text for text in texts if "We saw" in text)
    order = [texts[at] for at in np.argsort(-exact) if texts[at] != retracted]
    assert len(best) == 11
    sims = [float(exact[texts.index(text)]) for text in best]
    assert [hit.sim for hit in answer.hits] == pytest.approx(sims, abs=0.01)
    assert best[0] in order[:3]
    rich = mirrored.find(question, by="meaning", filters=Filters(mesh=("Water",), retracted=True))
    assert [hit.passage.paper for hit in rich.hits] == ["pmid:31"]
    both = mirrored.find("bleaching corals")
    assert (both.hits[0].sim is not None, both.hits[0].bm25 is not None) == (True, True)
    assert not any("vector" in one for one in both.warnings)


def test_vectors_that_lack_are_told(mirror, mirrored, world):
    embedded(mirror)
    world.bulk.updates[name_of(26, 4)] = packed_file([article(5, "Corals recover")])
    updated(mirror)
    [*mirror.index()]
    assert any("mirror embed" in one for one in mirrored.find("corals").warnings)


def published(folder, number, papers):
    """A chunk as NCBI's page lists them, of (PMID, title, abstract)."""
    folder.mkdir(exist_ok=True)
    rows = np.random.default_rng(number).normal(size=(len(papers), 16)).astype("<f4")
    np.save(folder / f"embeds_chunk_{number}.npy", rows)
    (folder / f"pmids_chunk_{number}.json").write_text(
        json.dumps([one[0] for one in papers]), encoding="utf-8"
    )
    about = {
        pmid: {"d": "20200101", "t": title, "a": abstract, "m": ""}
        for pmid, title, abstract in papers
    }
    (folder / f"pubmed_chunk_{number}.json").write_text(json.dumps(about), encoding="utf-8")
    return rows


def test_published_vectors_are_taken_where_the_text_is_the_same(mirror, embedder, tmp_path):
    embedder.model = "MedCPT/question@1 + MedCPT/passage@2"
    rows = published(
        tmp_path / "published",
        0,
        [
            ("5", "Corals bleach", "What Corals bleach says of corals."),
            ("7", "Title 7", "What Title 7 said before it was revised."),
            ("8888888", "Elsewhere", "Not of this mirror."),
        ],
    )
    done = embedded(mirror, published=tmp_path / "published")
    assert (done.taken, done.made) == (1, 11)
    assert not any("Corals bleach" in text for text in embedder.texts)
    store = mirror.vectors(embedder.model)
    direction = rows[0] / np.linalg.norm(rows[0])
    assert store.find_nearest(direction, 1)[0][1] == pytest.approx(1, abs=0.01)
    assert embedded(mirror, published=tmp_path / "published").taken == 0


def test_what_is_not_published_whole_or_of_another_model_is_refused(mirror, embedder, tmp_path):
    folder = tmp_path / "published"
    published(folder, 3, [("5", "a", "b"), ("6", "c", "d")])
    with pytest.raises(BadRequest, match="MedCPT"):
        embedded(mirror, published=folder)
    embedder.model = "MedCPT/question@1 + MedCPT/passage@2"
    (folder / "pmids_chunk_3.json").write_text('["5"]', encoding="utf-8")
    with pytest.raises(BadContent, match="embeds_chunk_3"):
        embedded(mirror, published=folder)
    (folder / "embeds_chunk_3.npy").write_bytes(b"torn")
    with pytest.raises(BadContent, match="are incomplete"):
        embedded(mirror, published=folder)
    with pytest.raises(BadRequest, match="holds no"):
        embedded(mirror, published=tmp_path)
    embedder.explain_unavailable = lambda: "Nothing is installed."
    with pytest.raises(EmbeddingsFailed, match="Nothing is installed"):
        embedded(mirror)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", range(8))
def test_who_is_killed_loses_and_doubles_nothing(mirror, embedder, monkeypatch, step):
    steps = iter(range(100))

    def dying(function):
        def called(*args, **options):
            if next(steps) == step:
                raise Killed
            return function(*args, **options)

        return called

    with monkeypatch.context() as patched:
        for name in ("write_chunk", "_write_state", "_build_segment", "delete_absorbed_chunks"):
            patched.setattr(VectorStore, name, dying(getattr(VectorStore, name)))
        with pytest.raises(Killed):
            embedded(mirror)
    embedded(mirror)
    store = mirror.vectors(embedder.model)
    keys = np.concatenate([segment.keys for segment in store.segments])
    assert len(keys) == len(set(keys.tolist())) == 12
    assert store.generation == mirror.current().name
    assert not [*store.new.glob("*")]


def test_many_segments_find_nearly_all_that_comparing_all_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_FEW", 500)
    monkeypatch.setattr(vectors, "_PER_LIST", 50)
    monkeypatch.setattr(vectors, "FULL", 4_000)
    chance = np.random.default_rng(5)
    centres = chance.normal(size=(60, 64))
    rows = centres[chance.integers(0, 60, 9_000)] + chance.normal(size=(9_000, 64)) * 0.6
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    keys = chance.permutation(9_000).astype(np.int64) - 4_500
    store = VectorStore(tmp_path / "store")
    for number, at in enumerate(range(0, 9_000, 500)):
        store.write_chunk(
            f"part-{number:03}", pack_vectors(keys[at : at + 500], rows[at : at + 500])
        )
        if number in (2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13):
            store.build_segments("m", 64)
    store.build_segments("m", 64, "g")
    assert 1 < len(store.segments) <= 4
    assert sum(len(segment.keys) for segment in store.segments) == 9_000
    assert {len(segment.centroids) for segment in store.segments} != {1}
    assert store.find_missing(np.array([*keys[:5], 77_777, 77_777])).tolist() == [77_777]
    found = 0
    for row in rows[::900]:
        exact = set(keys[np.argsort(-(rows @ row))[:20]].tolist())
        near = store.find_nearest(row, 20)
        found += len(exact & {key for key, _ in near})
        cosines = store.compute_cosines(row, [key for key, _ in near])
        assert cosines == pytest.approx(dict(near))
    assert found >= 0.9 * 20 * len(rows[::900])


@pytest.mark.parametrize("words", [1, 2, 5, 6, 7, 12, 16])
def test_differing_signs_are_counted_at_every_width(words):
    from utils.mirror.vectors import Segment

    chance, unused = np.random.default_rng(words), np.empty(0)
    codes = chance.integers(0, 2**64, (500, words), np.uint64)
    code = codes[3].copy()
    codes[[40, 499]] = ~code  # differs in every sign
    starts = np.array([0, 100, 100, 320, 500])
    segment = Segment(unused, codes, unused, unused, unused, starts)
    lists = np.array([0, 1, 3])
    rows = [*range(100), *range(320, 500)]
    expected = [sum(map(int.bit_count, (codes[row] ^ code).tolist())) for row in rows]
    assert segment.count_differences(code, lists).tolist() == expected
    assert max(expected) == 64 * words
    assert min(expected) == 0


@pytest.mark.extras("onnx", "fastembed")
def test_processes_embed_with_the_encoder_of_the_settings(world, tmp_path):
    from tests.corpus.tiny_encoder import lay_out, onnx_file

    world.bulk = year(files=2, each=2)
    updated(mirror_of(world, tmp_path))
    model = lay_out(tmp_path / "model", onnx_file())
    library = Library(
        papers_dir=tmp_path / "papers",
        embeddings_provider="local",
        embeddings_model=str(model),
        papers_offline=True,
    )
    done = embedded(library.mirror, engine="processes", workers=2)
    assert (done.made, done.files) == (4, 2)
    store = library.mirror.vectors(library.corpus.embedder.model)
    [*library.mirror.index()]
    vector = library.corpus.embedder.embed_question("Title 1 Abstract of corals")
    assert (store.size, store.dim) == (4, len(vector))
    hits = library.passages_of("mirror").find("what 2026 says", by="meaning").hits
    assert len(hits) == 4


def test_status_says_of_which_generation_each_index_is(mirror, world):
    assert mirror.indexes() == {}
    [*mirror.index()]
    embedded(mirror)
    name = mirror.current().name
    assert mirror.indexes() == {
        "words of papers": name,
        "words of passages": name,
        "12 vectors of letters-1": name,
    }
    world.bulk.updates[name_of(26, 4)] = packed_file([article(5, "Corals recover")])
    updated(mirror)
    assert set(mirror.indexes().values()) == {name} != {mirror.current().name}


def test_keys_are_seen_once_however_they_come():
    from utils.mirror.embedding import SeenKeys

    chance, seen, known = np.random.default_rng(3), SeenKeys(), set()
    for size in chance.integers(1, 400, 60):
        keys = chance.integers(0, 9000, size)
        new = seen.add(keys).tolist()
        assert new == sorted(set(keys.tolist()) - known)
        known.update(new)
    assert known
