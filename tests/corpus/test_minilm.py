"""MiniLM with its real weights tells what is alike."""

import pytest

from tests.corpus.real_minilm import PACKAGES, describe_missing, lay_out_minilm
from utils.corpus.local_model import LocalModel
from utils.settings import load_settings

pytest.importorskip("fastembed", reason="needs the extra embed")
if missing := describe_missing():
    pytest.skip(missing, allow_module_level=True)

pytestmark = pytest.mark.extras("fastembed", *PACKAGES)
PAIRS = [
    ("aspirin lowers fever", "acetylsalicylic acid reduces body temperature"),
    ("weight loss after one year of semaglutide", "GLP-1 agonists and obesity: 52-week outcome"),
    ("myocardial infarction in women", "heart attacks are missed in female patients"),
    ("the protein binds DNA", "a transcription factor recognises its promoter"),
    ("children with asthma", "wheezing in paediatric patients"),
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    folder = lay_out_minilm(tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2")
    return LocalModel(str(folder), load_settings())


def test_what_means_the_same_is_nearest(embedder):
    questions, answers = (embedder.embed_texts(side) for side in zip(*PAIRS, strict=True))
    assert (questions @ answers.T).argmax(1).tolist() == list(range(len(PAIRS)))


def test_a_passage_is_read_to_its_512th_word_piece(embedder):
    start = "of the cells " * 160
    near, far = embedder.embed_texts([f"{start} insulin", f"{start}{start} insulin"])
    assert embedder.dim == 384
    assert abs(near @ embedder.embed_texts([start])[0] - 1) > 1e-3
    assert (far == embedder.embed_texts([f"{start}{start}"])[0]).all()
