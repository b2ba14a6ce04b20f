"""A model by its name on the Hub: fetched once, by our rules for requests, kept with its commit."""

import json
import re
import ssl

import pytest
from pydantic import SecretStr

from tests.forward_proxies import Authority, Proxy
from tests.world import World
from tests.world.hub import TOKEN, Repository
from utils.corpus.finders import make_embedder
from utils.errors import EmbeddingsFailed
from utils.settings import load_settings

np = pytest.importorskip("numpy")
for _package in ("onnx", "fastembed"):
    pytest.importorskip(_package, reason="needs the extra embed")

from tests.corpus.tiny_encoder import (  # noqa: E402 - it needs onnx
    DIM,
    direction,
    files,
    onnx_file,
    word_vectors,
)

pytestmark = pytest.mark.extras("onnx", "fastembed")
BGE = "BAAI/bge-small-en-v1.5"
CLS = b'{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'
MODULES = json.dumps(
    [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling")]
).encode()


def first(text):
    return direction(word_vectors(text)[0])


def repository(path="onnx/model.onnx", **more):
    """A repository of the Hub, with what is never to be fetched beside its model."""
    held = files(b"", **more)
    held[path] = onnx_file()
    if path != "model.onnx":
        del held["model.onnx"]
    return Repository({"README.md": b"# A model", "pytorch_model.bin": b"\x80\x04never", **held})


@pytest.fixture
def bge(world):
    """As BAAI lays it out: an ONNX file beside weights, the instruction only in its README."""
    prompts = b'{"__version__": {"pytorch": "1.13"}}'
    world.models[BGE] = repository(
        **{"modules.json": MODULES, "1_Pooling__config.json": CLS, "model.safetensors": b"other"},
        **{"config_sentence_transformers.json": prompts},
    )
    return world.models[BGE]


@pytest.fixture
def made(settings, tmp_path, monkeypatch):
    """An embedder in the stand-in internet, with a cache of its own."""
    monkeypatch.setattr("utils.settings.user_cache_path", lambda *_: tmp_path / "own")

    def make(model, **choices):
        return make_embedder(load_settings(**{**settings, "embeddings_model": model, **choices}))

    return make


def asked(world):
    return [request.path for request in world.requests if request.service == "hub"]


# Right vectors


def test_a_name_is_all_it_takes(made, bge):
    embedder = made(BGE)
    assert embedder.explain_unavailable() == ""
    assert embedder.dim == DIM
    text = "the heart fails"
    assert np.allclose(embedder.embed_texts([text]), [first(text)], atol=1e-5)


def test_hf_has_a_model_of_its_own(made, world):
    rounded = "onnx/model_qint8_avx512_vnni.onnx"
    world.models["sentence-transformers/all-MiniLM-L6-v2"] = repository(rounded)
    embedder = made("", embeddings_provider="hf")
    assert embedder.embed_texts(["pain"]).shape == (1, DIM)
    assert embedder.model.startswith("sentence-transformers/all-MiniLM-L6-v2@")
    assert embedder.model.endswith(rounded)


def test_a_file_may_be_named(made, world, bge):
    bge.files["onnx/model_O3.onnx"] = onnx_file(3)
    embedder = made(f"{BGE}:onnx/model_O3.onnx")
    assert embedder.model == f"{BGE}@c0ffee00c0ff:onnx/model_O3.onnx"
    assert np.allclose(
        embedder.embed_texts(["pain"]), [direction(word_vectors("pain", 3)[0])], atol=1e-5
    )
    assert made(BGE).model.endswith(":onnx/model.onnx")
    with pytest.raises(EmbeddingsFailed, match=r"has no onnx/other\.onnx"):
        made(f"{BGE}:onnx/other.onnx").embed_texts(["pain"])


def test_bge_reads_questions_behind_its_instruction_and_passages_without(made, bge):
    told = "Represent this sentence for searching relevant passages: fever"
    pooled = json.loads(bge.files["1_Pooling/config.json"])
    assert pooled["pooling_mode_cls_token"]
    bge.files["1_Pooling/config.json"] = b'{"pooling_mode_mean_tokens": true}'
    wanted = direction(word_vectors(told).mean(0))
    assert np.allclose(made(BGE).embed_question("fever"), wanted, atol=1e-5)


@pytest.mark.parametrize(
    "path",
    ["onnx/model.onnx", "model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx"],
    ids=["optimum", "root", "fastembed", "transformers.js"],
)
def test_an_onnx_file_is_found_where_repositories_have_it(made, world, path):
    world.models["lab/tiny"] = repository(path)
    embedder = made("lab/tiny")
    assert embedder.model.endswith(f":{path}")
    assert embedder.embed_texts(["pain"]).shape == (1, DIM)


def test_the_whole_model_comes_before_a_rounded_one(made, world):
    world.models["lab/tiny"] = repository(**{"onnx__model_quantized.onnx": b"no"})
    assert made("lab/tiny").embed_texts(["pain"]).shape == (1, DIM)
    assert not any("quantized" in path for path in asked(world))


# What is fetched, and when


def test_only_what_is_needed_is_fetched_and_never_a_pickle(made, bge, world):
    made(BGE).embed_texts(["pain"])
    fetched = {path.rpartition(f"{bge.commit}/")[2] for path in asked(world)[1:]}
    assert fetched == {
        *("config.json", "tokenizer.json", "tokenizer_config.json", "modules.json"),
        *("1_Pooling/config.json", "config_sentence_transformers.json", "onnx/model.onnx"),
    }


def test_what_was_fetched_once_is_not_asked_for_again(made, bge, world):
    before = made(BGE).embed_texts(["pain"])
    world.models[BGE] = Repository({}, "0ddba11" * 5 + "00000")  # the Hub has moved on
    requests = len(world.requests)
    again = made(BGE, papers_offline=True)
    assert again.explain_unavailable() == ""
    assert (again.embed_texts(["pain"]) == before).all()
    assert again.model == f"{BGE}@{bge.commit[:12]}:onnx/model.onnx"
    assert len(world.requests) == requests


def test_the_name_says_the_commit_before_anything_large_is_fetched(made, bge, world):
    assert made(BGE).model == f"{BGE}@c0ffee00c0ff:onnx/model.onnx"
    assert len(asked(world)) == 1


def test_another_revision_is_another_model(made, bge, world):
    before = made(BGE).model
    world.models[BGE] = Repository(bge.files, "beef" * 10, tags={"v2": ""})
    assert made(BGE).model == before
    assert made(f"{BGE}@v2").model == f"{BGE}@beefbeefbeef:onnx/model.onnx"


def test_a_pin_that_another_program_wrote_leads_nowhere_else(made, bge, tmp_path):
    folder = tmp_path / "own" / "models"
    folder.mkdir(parents=True)
    pin = {"commit": "../../..", "graph": "onnx/model.onnx", "digests": {}}
    (folder / f"{BGE.replace('/', '--')}@main.json").write_text(json.dumps(pin), encoding="utf-8")
    assert made(BGE).model == f"{BGE}@c0ffee00c0ff:onnx/model.onnx"


def test_a_download_that_breaks_off_goes_on(made, bge, world):
    world.mood("truncate", "hub", times=1, path="/cdn/")
    assert made(BGE).embed_texts(["pain"]).shape == (1, DIM)


# Manners and safety


def test_the_token_goes_to_the_hub_alone(made, bge, world):
    bge.gated = True
    made(BGE, hf_token=SecretStr(TOKEN)).embed_texts(["pain"])
    told = {"/cdn/" in one.path: one.headers.get("authorization", "") for one in world.requests}
    assert told == {False: f"Bearer {TOKEN}", True: ""}
    assert all("Papershelf/" in one.headers["user-agent"] for one in world.requests)


def test_a_file_that_is_not_what_the_listing_said_is_refused_and_not_kept(made, bge):
    bge.spoilt.add("onnx/model.onnx")
    with pytest.raises(EmbeddingsFailed, match="damaged"):
        made(BGE).embed_texts(["pain"])
    bge.spoilt.clear()
    assert made(BGE).embed_texts(["pain"]).shape == (1, DIM)


def test_a_model_that_is_too_large_is_not_fetched(made, bge, world, monkeypatch):
    monkeypatch.setattr("utils.corpus.model_files._MAX_BYTES", 1000)
    with pytest.raises(EmbeddingsFailed, match="at most"):
        made(BGE).embed_texts(["pain"])
    assert len(asked(world)) == 1


def test_a_file_that_is_larger_than_was_said_is_not_read_to_its_end(
    made, bge, world, tmp_path, monkeypatch
):
    monkeypatch.setattr("utils.corpus.model_files._MAX_BYTES", 1_000_000)
    world.mood("huge", "hub", path="/cdn/")
    with pytest.raises(EmbeddingsFailed, match="could not be fetched: It has more than"):
        made(BGE).embed_texts(["pain"])
    assert not [*tmp_path.rglob("*.part")]


@pytest.mark.parametrize("sha", ["../../../etc", "", "main"])
def test_a_commit_that_is_none_leads_nowhere(made, bge, sha):
    bge.commit = sha
    with pytest.raises(EmbeddingsFailed, match="names no commit"):
        made(BGE).embed_texts(["pain"])


def test_a_link_into_a_private_network_is_not_followed(made, bge, world):
    world.mood("ssrf", "hub", path="/cdn/", to="http://169.254.169.254/latest")
    with pytest.raises(EmbeddingsFailed, match="private network"):
        made(BGE, papers_allow_private_network=False).embed_texts(["pain"])


# Errors name the setting


@pytest.mark.parametrize(
    ("model", "choices", "said"),
    [
        ("lab/nothing", {}, "has no model lab/nothing.*EMBEDDINGS_MODEL"),
        ("lab/nothing", {"hf_token": SecretStr(TOKEN)}, "has no model lab/nothing"),
        (f"{BGE}@v9", {}, "no revision v9.*EMBEDDINGS_MODEL"),
        (BGE, {"hf_token": SecretStr("hf_wrong")}, "HF_TOKEN"),
        (BGE, {"papers_offline": True}, "Unset PAPERS_OFFLINE once, or set EMBEDDINGS_MODEL"),
        ("not a name", {}, "EMBEDDINGS_MODEL=not a name"),
    ],
)
def test_a_model_that_cannot_be_had(made, bge, model, choices, said):
    embedder = made(model, **choices)
    for use in (
        lambda: embedder.model,
        lambda: embedder.dim,
        lambda: embedder.embed_texts(["hello"]),
    ):
        with pytest.raises(EmbeddingsFailed) as failed:
            use()
        assert re.search(said, str(failed.value))


def test_offline_is_said_before_a_vector_is_wanted(made, bge):
    assert "PAPERS_OFFLINE" in made(BGE, papers_offline=True).explain_unavailable()


def test_terms_to_accept_are_said_with_where(made, bge):
    bge.gated = True
    with pytest.raises(EmbeddingsFailed, match=f"Accept them at .*/{BGE}.*HF_TOKEN"):
        made(BGE).embed_texts(["pain"])


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ({"onnx/model.onnx"}, "has no ONNX file.*optimum-cli export onnx -m BAAI"),
        ({"tokenizer.json"}, "has no tokenizer.json"),
        ({"1_Pooling/config.json"}, "how it makes one vector"),
    ],
)
def test_a_repository_that_is_no_model_for_us(made, bge, without, said):
    for path in without:
        del bge.files[path]
    with pytest.raises(EmbeddingsFailed, match=said):
        made(BGE).embed_texts(["pain"])


@pytest.mark.parametrize("mood", ["reset", "down"])
def test_a_hub_that_is_down_is_said(made, bge, world, mood):
    world.mood(mood, "hub")
    with pytest.raises(EmbeddingsFailed, match=BGE):
        made(BGE).embed_texts(["pain"])


@pytest.mark.real_time
def test_it_is_fetched_through_our_proxy_and_by_our_certificates(made, tmp_path):
    network = Authority(tmp_path / "authority", "Lab Network")
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    network.ca.issue_cert("localhost", "127.0.0.1").configure_cert(shown)
    proxy = Proxy(tmp_path / "proxy", login="me:secret")
    with World(tls=shown) as world:
        world.models["lab/tiny"] = repository("model.onnx")
        told = {"hub_base_url": world.url("hub"), "papers_proxy": f"http://me:secret@{proxy.place}"}
        with pytest.raises(EmbeddingsFailed, match="certificate"):
            made("lab/tiny", **told).embed_texts(["pain"])
        trusting = made("lab/tiny", **told, papers_ca_bundle=network.cert)
        assert trusting.embed_texts(["pain"]).shape == (1, DIM)
    proxy.die()
    assert proxy.tunnels
