"""The notebook, run as it is: on a shelf filled from the stand-in internet, and on an empty one."""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from utils.model.identifiers import Ids
from utils.model.paper import Notice, Paper

pytestmark = pytest.mark.extras("pandas", "matplotlib")
NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "explore_papers.ipynb"


def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


class Seen(NamedTuple):
    """What a cell shows: what it printed, its last value, how many figures it drew."""

    printed: str
    value: Any
    figures: int


def run(source, names):
    """A code cell as Jupyter runs it: the value of a last expression is shown."""
    import matplotlib.pyplot as plt

    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, str(NOTEBOOK), "exec"), names)
        value = (
            eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names) if last else 0
        )
    figures = len(plt.get_fignums())
    for number in plt.get_fignums():
        plt.figure(number).savefig(io.BytesIO(), format="png")
    plt.close("all")
    return Seen(printed.getvalue(), value, figures)


@pytest.fixture
def opened(settings, monkeypatch):
    """Run the whole notebook on the shelf of the test: what each code cell shows, by its id."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(NOTEBOOK.parent)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run_all():
        names: dict[str, Any] = {}
        code = [cell for cell in cells() if cell["cell_type"] == "code"]
        seen = {cell["id"]: run("".join(cell["source"]), names) for cell in code}
        names["library"].shelf.close()
        return seen

    return run_all


def test_it_is_committed_without_what_it_showed_to_somebody():
    for cell in cells():
        assert cell["id"]
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_an_empty_shelf_gets_a_friendly_word_and_no_error(opened, settings):
    seen = opened()
    assert "is empty" in seen["read"].printed
    assert "server.py download" in seen["read"].printed
    assert seen["counts"].value.loc["papers"].item() == "0"
    assert sum(cell.figures for cell in seen.values()) == 0
    assert "no full text" in seen["sections"].printed
    assert "no datasets" in seen["datasets"].printed
    assert not settings["papers_dir"].exists()


@pytest.fixture
def filled(library, world):
    for branch in ("pmc_cloud", "retracted", "publisher_html", "unpaywall_pdf", "paywall"):
        library.download(world.paper(branch).pmid)
    odd = Paper(
        Ids(pmid="7"),
        title="<script>alert(1)</script> costs $5 and $6_",
        journal="J $\\frac Costs$",
        notices=(Notice("retraction"),),
    )
    library.shelf.save_abstract(odd, ())
    library.shelf.close()
    return library


def test_it_shows_what_is_on_the_shelf_and_asks_nobody(opened, filled, world):
    before = len(world.requests)

    seen = opened()

    counts = seen["counts"].value.iloc[:, 0]
    assert counts["papers"] == "6"
    assert counts["with full text"] == "4 (67%)"
    assert counts["retracted"] == "2"
    assert (seen["plots"].figures, seen["sections"].figures) == (1, 1)
    assert len(seen["retractions"].value) == 2
    assert len(world.requests) == before


def test_words_are_found_in_the_files_and_by_the_index(opened, filled):
    seen = opened()
    by_hand, by_index = seen["words"].value, seen["index"].value
    word = seen["words"].printed.partition("“")[2].partition("”")[0]
    assert len(by_hand) > 0
    assert (by_hand["times"] > 0).all()
    assert by_hand["times"].is_monotonic_decreasing
    assert by_hand["first place"].str.contains(word, case=False).all()
    assert len(by_index) > 0
    assert set(by_index["title"]) <= {s.paper.title for s in filled.list_papers()[1]}


def test_one_paper_is_shown_by_its_sections(opened, filled):
    text = opened()["text"].printed
    assert text.startswith("#")
    assert len(text.split()) > 30


def test_datasets_are_opened_as_the_files_they_are(opened, filled):
    staged = filled.datasets.stage(filled.entrez.pages("pubmed", term="coral"))
    seen = opened()
    assert list(seen["datasets"].value["dataset"]) == [staged.dataset]
    assert "articles" in seen["tables"].printed
    assert len(seen["tables"].value) == staged.records


def test_a_title_from_the_web_stays_text(opened, filled):
    shown = opened()["retractions"].value.to_html()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
