"""Vectors from OpenAI's interface: in order, patiently, and the key stays where it is."""

import json
import math

import pytest
from pydantic import SecretStr

from tests.world.openai import KEY, OWN, SPENT, vector
from utils.corpus.finders import make_embedder
from utils.errors import EmbeddingsFailed
from utils.http import Answer, Web
from utils.settings import load_settings

np = pytest.importorskip("numpy")
SMALL = "text-embedding-3-small"


@pytest.fixture
def made(settings):
    """An embedder in the stand-in internet, by its settings."""

    def make(**choices):
        chosen = {"openai_api_key": SecretStr(KEY), **choices}
        return make_embedder(load_settings(**settings, embeddings_provider="openai", **chosen))

    return make


def answering(monkeypatch, told):
    """Whatever is asked, *told* is the answer."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    answer = Answer(200, "https://api.openai.com/v1/embeddings", body, "application/json")
    monkeypatch.setattr(Web, "post", lambda *_, **__: answer)


def rows(*vectors):
    return {"data": [{"index": at, "embedding": row} for at, row in enumerate(vectors)]}


def test_a_vector_for_each_text_in_order(made, world):
    texts = ["weight loss", "heart failure", "weight loss"]
    vectors = made().embed_texts(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 1536)
    assert np.allclose(vectors, [vector(text, SMALL) for text in texts], atol=1e-6)
    (request,) = world.requests
    assert request.path == "/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_the_order_of_the_answer_does_not_matter(made, monkeypatch):
    told = rows([1, 0], [0, 2])
    told["data"].reverse()
    answering(monkeypatch, told)
    assert made().embed_texts(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_a_server_of_ones_own_needs_no_key_and_no_base64(made):
    embedder = made(openai_api_key=None, embeddings_model=OWN)
    assert embedder.explain_unavailable() == ""
    assert embedder.dim == 48
    assert np.allclose(embedder.embed_texts(["apples"])[0], vector("apples", OWN), atol=1e-6)


def test_requests_stay_within_what_is_taken(made, world):
    long = "colchicine " * 700
    texts = [long, "short", *["é" * 5000] * 50, *["x"] * 600]
    vectors = made().embed_texts(texts)
    assert len(vectors) == len(texts)
    assert {request.status for request in world.requests} == {200}
    assert 3 <= len(world.requests) <= 5


def test_what_has_no_words_has_a_vector_too(made):
    assert made().embed_texts(["", " \n", "\ud800"]).shape == (3, 1536)
    assert made().embed_texts([]).shape == (0, 1536)


def test_it_waits_as_long_as_it_was_told(made, world, clock):
    world.mood("storm", "openai", times=1, seconds=7)
    assert len(made().embed_texts(["patience"])) == 1
    assert sum(clock.naps) >= 7
    assert [request.status for request in world.requests] == [429, 200]


def test_a_service_that_is_down_is_asked_a_few_times(made, world):
    world.mood("down", "openai")
    with pytest.raises(EmbeddingsFailed, match="No vectors were returned"):
        made().embed_texts(["hello"])
    assert 1 < len(world.requests) <= 5


def test_no_money_left_is_said_at_once(made, world):
    with pytest.raises(EmbeddingsFailed, match="budget"):
        made(openai_api_key=SecretStr(SPENT)).embed_texts(["hello"])
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"openai_api_key": SecretStr("sk-wr0ng")}, "did not accept OPENAI_API_KEY"),
        ({"openai_api_key": None}, "did not accept OPENAI_API_KEY"),
        ({"embeddings_model": "text-embedding-9"}, "no such model"),
        ({"papers_offline": True}, "offline"),
    ],
)
def test_a_refusal_says_what_to_do_and_never_the_key(made, choices, said):
    with pytest.raises(EmbeddingsFailed, match=said) as raised:
        made(**choices).embed_texts(["hello"])
    assert raised.value.hint
    assert "sk-" not in json.dumps(raised.value.envelope())


@pytest.mark.parametrize(
    "told",
    [
        rows([1.0, 0.0]),
        rows([1.0, 0.0], [1.0], [1.0, 0.0]),
        rows([1.0], [1.0], [1.0]),
        rows([1.0], [1.0]) | {"object": "list"},
        rows([1.0, math.nan], [1.0, 0.0]),
        rows([0.0, 0.0], [1.0, 0.0]),
        rows([1e300, 0.0], [1.0, 0.0]),
        rows("AAAAAAA", "AAAAAAA"),
        rows("!!", "!!"),
        rows([[1.0, 0.0]], [[1.0, 0.0]]),
        rows([], []),
        {"data": [{"index": 0, "embedding": [1.0, 0.0]}] * 2},
        {"data": "vectors"},
        {"error": "none"},
        [],
        None,
        b"<html>",
        b"[" * 100_000,
    ],
    ids=str,
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused(made, monkeypatch, told):
    embedder = made()
    answering(monkeypatch, rows([3.0, 4.0]))
    assert embedder.embed_texts(["first"]).tolist() == [[np.float32(0.6), np.float32(0.8)]]
    answering(monkeypatch, told)
    with pytest.raises(EmbeddingsFailed):
        embedder.embed_texts(["one", "two"])


def test_the_model_is_named_with_its_server(made):
    settings = load_settings(embeddings_provider="openai", openai_api_key=SecretStr(KEY))
    assert make_embedder(settings).model == f"{SMALL}@api.openai.com"
    assert make_embedder(settings).dim == 1536
    assert made().model.startswith(f"{SMALL}@127.0.0.1:")


@pytest.mark.parametrize(
    ("address", "key", "said"),
    [
        ("https://api.openai.com/v1", "", "OPENAI_API_KEY"),
        ("http://gpu.lab.edu:8000/v1", "k", "unencrypted"),
        ("http://gpu.lab.edu:8000/v1", "", ""),
        ("https://gpu.lab.edu/v1", "k", ""),
        ("http://localhost:11434/v1", "k", ""),
        ("http://[::1]:11434/v1", "k", ""),
        ("https://gpu.lab.edu/v1", "schlüssel", "no key has"),
        ("https://gpu.lab.edu/v1", "one\ntwo", "no key has"),
    ],
)
def test_a_key_is_never_sent_in_the_clear(settings, world, address, key, said):
    choices = {"openai_base_url": address, "openai_api_key": SecretStr(key) if key else None}
    chosen = load_settings(**settings | choices, embeddings_provider="openai")
    embedder = make_embedder(chosen)
    assert said in embedder.explain_unavailable()
    assert bool(embedder.explain_unavailable()) == bool(said)
    if said:
        with pytest.raises(EmbeddingsFailed, match=said):
            embedder.embed_texts(["hello"])
    assert not world.requests
