"""A model by its name on the Hub: fetched once, by our way, used as its authors use it."""

from __future__ import annotations

import json
import re
import ssl
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.forward_proxies import Authority, Proxy
from tests.processes import run
from tests.world import World
from tests.world.hub import TOKEN, Repository
from utils.errors import EmbeddingsFailed
from utils.passages.finders import embedder_of
from utils.settings import load_settings

np = pytest.importorskip("numpy")
pytest.importorskip("onnx", reason="needs the extra embed")
pytest.importorskip("huggingface_hub", reason="needs the extra embed")
pytest.importorskip("onnxruntime", reason="needs the extra embed")

from tests.passages import tiny_bert  # noqa: E402 - it needs tokenizers
from tests.passages.tiny_bert import CONFIG, tiny_weights, word_vectors  # noqa: E402
from utils.passages.bert_graph import bert_graph  # noqa: E402

pytestmark = pytest.mark.extras("onnx", "onnxruntime", "tokenizers", "huggingface_hub")
BGE = "BAAI/bge-small-en-v1.5"
QUESTIONS, ARTICLES = "ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder"
CLS = b'{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'
MODULES = json.dumps(
    [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling")]
).encode()


def vector(text, *, seed=7, second="", pooled=lambda rows: rows[0]):
    """What the tiny BERT of *seed* makes of a text (or two), by numpy."""
    weights = tiny_weights(seed)
    parts = (text, second) if second else (text,)
    pieces = tiny_bert.tokenizer().encode(*parts)
    kinds = weights["embeddings.token_type_embeddings.weight"]
    # `word_vectors` knows only the first kind: the second is told as a word of another meaning.
    words = weights["embeddings.word_embeddings.weight"]
    told = words[pieces.ids] + kinds[pieces.type_ids] - kinds[0]
    weights["embeddings.word_embeddings.weight"] = told
    row = pooled(word_vectors(weights, CONFIG, list(range(len(pieces.ids)))))
    return row / np.linalg.norm(row)


@pytest.fixture(scope="module")
def graph():
    return bert_graph(tiny_weights(), CONFIG, whole_numbers=False)


def usual(**more):
    """The files that every model has, and *more* (``__`` for a slash)."""
    files = {
        "README.md": b"# A model",
        "config.json": json.dumps(CONFIG).encode(),
        "tokenizer.json": tiny_bert.tokenizer().to_str().encode(),
        "pytorch_model.bin": b"\x80\x04never read",
    }
    return files | {name.replace("__", "/"): data for name, data in more.items()}


@pytest.fixture
def bge(world, graph):
    """As BAAI lays it out: an ONNX file beside weights, the instruction only in its README."""
    told = {"modules.json": MODULES, "1_Pooling/config.json": CLS, "onnx/model.onnx": graph}
    prompts = {"config_sentence_transformers.json": b'{"__version__": {"pytorch": "1.13"}}'}
    world.models[BGE] = Repository(usual() | told | prompts | {"model.safetensors": b"other"})
    return world.models[BGE]


@pytest.fixture
def medcpt(world):
    """As NCBI lays it out: weights as safetensors, no ONNX file, nothing about pooling."""
    for seed, name in enumerate((QUESTIONS, ARTICLES)):
        weights = tiny_bert.safetensors(tiny_weights(seed))
        commit = f"{seed + 1:040}"
        world.models[name] = Repository(usual() | {"model.safetensors": weights}, commit)


@pytest.fixture
def made(settings, tmp_path, monkeypatch):
    """An embedder in the stand-in internet, with caches of its own."""
    for module in ("passages.minilm", "settings"):
        place = f"utils.{module}.user_cache_path"
        monkeypatch.setattr(place, lambda _: tmp_path / "own")

    def make(model, **choices):
        told = {"hf_home": tmp_path / "hf", "embeddings_model": model}
        return embedder_of(load_settings(**{**settings, **told, **choices}))

    return make


def asked(world):
    return [request.path for request in world.requests if request.service == "hub"]


# Right vectors


def test_a_name_is_all_it_takes(made, bge):
    embedder = made(BGE)
    assert embedder.available() == ""
    assert embedder.dim == 24
    assert np.allclose(embedder.embed(["the heart fails"]), [vector("the heart fails")], atol=1e-5)


def test_bge_reads_questions_behind_its_instruction_and_passages_without(made, bge):
    told = "Represent this sentence for searching relevant passages: fever"
    assert np.allclose(made(BGE).embed_question("fever"), vector(told), atol=1e-5)


def test_prompts_of_the_repository_are_used(made, world, graph):
    prompts = {"query": "weigh: ", "document": "heart: "}
    told = json.dumps({"prompts": prompts, "default_prompt_name": None}).encode()
    files = {"1_Pooling/config.json": CLS, "model.onnx": graph}
    files["config_sentence_transformers.json"] = told
    world.models["lab/prompted"] = Repository(usual() | files)
    embedder = made("lab/prompted")
    assert np.allclose(embedder.embed_question("fever"), vector("weigh: fever"), atol=1e-5)
    assert np.allclose(embedder.embed(["fever"]), [vector("heart: fever")], atol=1e-5)


@pytest.mark.parametrize("name", [QUESTIONS, ARTICLES])
def test_medcpt_reads_questions_with_one_half_and_title_and_text_with_the_other(made, medcpt, name):
    embedder = made(name)
    question = embedder.embed_question("stones weigh less")
    passage = embedder.embed(["the heart\nfails of fever and pain"])[0]
    assert question @ vector("stones weigh less", seed=0) > 0.98
    assert passage @ vector("the heart", second="fails of fever and pain", seed=1) > 0.98
    assert passage @ vector("the heart fails of fever and pain", seed=1) < 0.98
    assert embedder.model.count("@") == 2


@pytest.mark.parametrize(
    "path",
    ["onnx/model.onnx", "model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx"],
    ids=["optimum", "root", "fastembed", "transformers.js"],
)
def test_an_onnx_file_is_found_where_repositories_have_it(made, world, graph, path):
    world.models["lab/tiny"] = Repository(usual() | {"1_Pooling/config.json": CLS, path: graph})
    embedder = made("lab/tiny")
    assert embedder.model.endswith(f":{path}")
    assert embedder.embed(["pain"]).shape == (1, 24)


def test_the_whole_model_comes_before_a_rounded_one(made, world, graph):
    files = {"1_Pooling/config.json": CLS, "onnx/model.onnx": graph}
    world.models["lab/tiny"] = Repository(usual() | files | {"onnx/model_quantized.onnx": b"no"})
    assert made("lab/tiny").embed(["pain"]).shape == (1, 24)
    assert not any("quantized" in path for path in asked(world))


# What is fetched, and when


def test_only_what_is_needed_is_fetched_and_never_a_pickle(made, bge, world):
    made(BGE).embed(["pain"])
    fetched = {path.rpartition(f"{bge.commit}/")[2] for path in asked(world)[1:]}
    assert fetched == {
        *("config.json", "tokenizer.json", "modules.json", "1_Pooling/config.json"),
        *("config_sentence_transformers.json", "onnx/model.onnx"),
    }


def test_what_was_fetched_once_is_not_asked_for_again(made, bge, world):
    first = made(BGE).embed(["pain"])
    world.models[BGE] = Repository({}, "0ddba11" * 5 + "00000")  # the Hub has moved on
    before = len(world.requests)
    again = made(BGE, hf_hub_offline=True)
    assert (again.embed(["pain"]) == first).all()
    assert again.model == f"{BGE}@{bge.commit[:12]}:onnx/model.onnx"
    assert len(world.requests) == before


def test_the_name_says_the_commit_before_anything_large_is_fetched(made, bge, world):
    assert made(BGE).model == f"{BGE}@c0ffee00c0ff:onnx/model.onnx"
    assert len(asked(world)) == 1


def test_another_revision_is_another_model(made, bge, world):
    before = made(BGE).model
    world.models[BGE] = Repository(bge.files, "beef" * 10, tags={"v2": ""})
    assert made(BGE).model == before
    assert made(f"{BGE}@v2").model == f"{BGE}@beefbeefbeef:onnx/model.onnx"


def test_what_another_program_fetched_is_used(made, bge, world, tmp_path):
    made(BGE).embed(["pain"])
    for note in (tmp_path / "own").glob("*.json"):
        note.unlink()
    head = tmp_path / "hf" / "hub" / f"models--{BGE.replace('/', '--')}" / "refs" / "main"
    head.parent.mkdir(parents=True, exist_ok=True)
    head.write_text(bge.commit, encoding="utf-8")
    before = len(world.requests)
    assert made(BGE, papers_offline=True).embed(["pain"]).shape == (1, 24)
    assert len(world.requests) == before


def test_files_lie_where_the_hub_s_own_tools_look(made, bge, tmp_path):
    import huggingface_hub

    made(BGE).embed(["pain"])
    found = huggingface_hub.try_to_load_from_cache(
        BGE, "onnx/model.onnx", cache_dir=tmp_path / "hf" / "hub", revision=bge.commit
    )
    assert Path(str(found)).read_bytes() == bge.files["onnx/model.onnx"]


def test_a_download_that_breaks_off_goes_on(made, bge, world):
    world.mood("truncate", "hub", times=1, path="/cdn/")
    assert made(BGE).embed(["pain"]).shape == (1, 24)


# Manners and safety


def test_the_token_goes_to_the_hub_alone(made, bge, world):
    bge.gated = True
    made(BGE, hf_token=SecretStr(TOKEN)).embed(["pain"])
    told = {"/cdn/" in one.path: one.headers.get("authorization", "") for one in world.requests}
    assert told == {False: f"Bearer {TOKEN}", True: ""}
    assert all("Papershelf/" in one.headers["user-agent"] for one in world.requests)


def test_a_token_that_lies_about_is_not_sent(made, bge, world, tmp_path, monkeypatch):
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "token").write_text("hf_somebody", encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "hf" / "token"))
    made(BGE).embed(["pain"])
    assert not any("authorization" in one.headers for one in world.requests)


def test_the_client_of_the_hub_is_given_back_as_it_was(made, bge):
    from huggingface_hub import constants
    from huggingface_hub.utils import _http

    usual_ = _http._GLOBAL_CLIENT_FACTORY, constants.HF_HUB_DISABLE_XET
    made(BGE).embed(["pain"])
    assert usual_ == (_http._GLOBAL_CLIENT_FACTORY, constants.HF_HUB_DISABLE_XET)


def test_a_file_that_is_not_what_the_listing_said_is_refused_and_not_kept(made, bge):
    bge.spoilt.add("onnx/model.onnx")
    with pytest.raises(EmbeddingsFailed, match="damaged"):
        made(BGE).embed(["pain"])
    bge.spoilt.clear()
    assert made(BGE).embed(["pain"]).shape == (1, 24)


def test_a_model_that_is_too_large_is_not_fetched(made, bge, world, monkeypatch):
    monkeypatch.setattr("utils.passages.hub_model._MOST", 1000)
    with pytest.raises(EmbeddingsFailed, match="at most"):
        made(BGE).embed(["pain"])
    assert len(asked(world)) == 1


def test_a_file_that_is_larger_than_was_said_is_not_read_to_its_end(
    made, bge, world, tmp_path, monkeypatch
):
    monkeypatch.setattr("utils.passages.hub_model._MOST", 1_000_000)
    world.mood("huge", "hub", path="/cdn/")
    with pytest.raises(EmbeddingsFailed, match="larger than it may be"):
        made(BGE).embed(["pain"])
    assert not [path for path in (tmp_path / "hf").rglob("*") if path.stem.endswith("incomplete")]


@pytest.mark.parametrize("sha", ["../../../etc", "", "main"])
def test_a_commit_that_is_none_leads_nowhere(made, bge, sha):
    bge.commit = sha
    with pytest.raises(EmbeddingsFailed, match="names no commit"):
        made(BGE).embed(["pain"])


def test_a_link_into_a_private_network_is_not_followed(made, bge, world):
    world.mood("ssrf", "hub", path="/cdn/", to="http://169.254.169.254/latest")
    with pytest.raises(EmbeddingsFailed, match="private network"):
        made(BGE, papers_allow_private_network=False).embed(["pain"])


# What goes wrong is said, with the setting


@pytest.mark.parametrize(
    ("model", "choices", "said"),
    [
        ("lab/nothing", {}, "has no model lab/nothing.*EMBEDDINGS_MODEL"),
        ("lab/nothing", {"hf_token": SecretStr(TOKEN)}, "has no model lab/nothing"),
        (f"{BGE}@v9", {}, "no revision v9.*EMBEDDINGS_MODEL"),
        (BGE, {"hf_token": SecretStr("hf_wrong")}, "401.*HF_TOKEN"),
        (BGE, {"hf_hub_offline": True}, "HF_HUB_OFFLINE"),
        (BGE, {"papers_offline": True}, "PAPERS_OFFLINE"),
        ("not a name", {}, "EMBEDDINGS_MODEL=not a name"),
    ],
)
def test_a_model_that_cannot_be_had(made, bge, model, choices, said):
    embedder = made(model, **choices)
    for use in (lambda: embedder.model, lambda: embedder.dim, lambda: embedder.embed(["hello"])):
        with pytest.raises(EmbeddingsFailed) as failed:
            use()
        assert re.search(said, str(failed.value))


def test_terms_to_accept_are_said_with_where(made, bge):
    bge.gated = True
    with pytest.raises(EmbeddingsFailed, match=f"Accept them at .*/{BGE}.*HF_TOKEN"):
        made(BGE).embed(["pain"])


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ({"onnx/model.onnx", "model.safetensors"}, "no ONNX file.*never read.*optimum-cli"),
        ({"tokenizer.json"}, "holds no tokenizer.json"),
        ({"1_Pooling/config.json"}, "how it makes one vector"),
    ],
)
def test_a_repository_that_is_no_model_for_us(made, bge, without, said):
    for path in without:
        del bge.files[path]
    with pytest.raises(EmbeddingsFailed, match=said):
        made(BGE).embed(["pain"])


@pytest.mark.parametrize("mood", ["reset", "down"])
def test_a_hub_that_is_down_is_said(made, bge, world, mood):
    world.mood(mood, "hub")
    with pytest.raises(EmbeddingsFailed, match=BGE):
        made(BGE).embed(["pain"])


def test_what_is_not_installed_is_said(made, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "huggingface_hub" else find(name)
    )
    embedder = made(BGE)
    assert "uv sync --extra embed" in embedder.available()
    with pytest.raises(EmbeddingsFailed, match="huggingface_hub"):
        embedder.embed(["hello"])


def test_nothing_heavy_is_imported_before_a_vector_is_wanted():
    told = f"""
import sys
from utils.passages.finders import embedder_of
from utils.settings import load_settings
assert not embedder_of(load_settings(embeddings_model={BGE!r})).available()
heavy = {{"onnx", "onnxruntime", "tokenizers", "numpy", "requests", "huggingface_hub", "httpx2"}}
print(sorted(heavy & set(sys.modules)))
"""
    ran = run([sys.executable, "-c", told], cwd=Path(__file__).resolve().parents[2], check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.real_time
def test_it_is_fetched_through_our_proxy_and_by_our_certificates(made, graph, tmp_path):
    network = Authority(tmp_path / "authority", "Lab Network")
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    network.ca.issue_cert("localhost", "127.0.0.1").configure_cert(shown)
    proxy = Proxy(tmp_path / "proxy", login="me:secret")
    with World(tls=shown) as world:
        files = {"1_Pooling/config.json": CLS, "model.onnx": graph}
        world.models["lab/tiny"] = Repository(usual() | files)
        told = {"hub_base_url": world.url("hub"), "papers_proxy": f"http://me:secret@{proxy.place}"}
        with pytest.raises(EmbeddingsFailed, match="certificate"):
            made("lab/tiny", **told).embed(["pain"])
        trusting = made("lab/tiny", **told, papers_ca_bundle=network.cert)
        assert trusting.embed(["pain"]).shape == (1, 24)
    proxy.die()
    assert proxy.tunnels
