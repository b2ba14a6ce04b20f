"""Misspelt options are answered with the options there are."""

import pytest

from utils import Library
from utils.errors import BadRequest


@pytest.fixture
def library(tmp_path):
    return Library(papers_dir=tmp_path / "shelf")


@pytest.mark.parametrize(
    ("call", "wrong", "meant"),
    [
        (lambda library, **o: library.search("q", **o), "max_result", "max_results"),
        (lambda library, **o: library.search_papers("q", **o), "min_dat", "min_date"),
        (lambda library, **o: library.download("7", **o), "forced", "force"),
        (lambda library, **o: library.download_many(["7"], **o), "prefer_pcm", "prefer_pmc"),
        (
            lambda library, **o: library.pubmed.search_articles("q", **o),
            "max_result",
            "max_results",
        ),
        (lambda library, **o: library.texts.emptied_by(**o), "jounal", "journal"),
        (lambda library, **o: library.harvests.plan(**o), "max_paper", "max_papers"),
        (lambda library, **o: library.corpus.find("q", **o), "top", "top_k"),
        (
            lambda library, **o: library.datasets.query("d", "SELECT 1", **o),
            "max_result",
            "max_results",
        ),
    ],
)
def test_a_misspelt_option_names_the_one_that_was_meant(library, call, wrong, meant):
    with pytest.raises(TypeError, match=f"no option {wrong!r}. Did you mean {meant}") as error:
        call(library, **{wrong: 1})
    assert isinstance(error.value, BadRequest)
    assert meant in error.value.hint


def test_an_option_without_a_near_one_gets_the_list(library):
    with pytest.raises(TypeError, match="Its options: paper, prefer_pmc, force, output_path"):
        library.download("7", zzz=1)


def test_methods_keep_their_names_and_documentation():
    assert Library.download.__name__ == "download"
    assert "on the shelf; see" in Library.download.__doc__
