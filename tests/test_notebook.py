"""The notebook, run as it is in the stand-in internet, with the names of the installed package."""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import utils
from tests.world import World

pytestmark = pytest.mark.extras("pandas", "matplotlib")
[NOTEBOOK] = (Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb")
PARAMETERS = 'QUERY = "field[ti]"\nMAX_PAPERS = 16'


def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


class Seen(NamedTuple):
    """What a cell shows: what it printed, its last value, how many figures it drew."""

    printed: str
    value: Any
    figures: int


def run(source, names):
    """Run a code cell as Jupyter does: the value of a last expression is shown."""
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


@pytest.fixture(scope="module")
def _running_world():
    with World(field=40) as world:
        yield world


@pytest.fixture
def seen(settings, world, monkeypatch, tmp_path):
    """Return what each code cell shows, by its id; with the query of the stand-in internet."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "shelf"))
    monkeypatch.setitem(sys.modules, "papershelf", utils)
    names: dict[str, Any] = {}
    shown = {}
    for cell in cells():
        if cell["cell_type"] == "code":
            is_parameters = "parameters" in cell["metadata"].get("tags", ())
            source = PARAMETERS if is_parameters else "".join(cell["source"])
            shown[cell["id"]] = run(source, names)
    names["library"].close()
    return shown


def test_it_is_committed_without_what_it_showed_to_somebody():
    for cell in cells():
        assert cell["id"]
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_it_imports_the_installed_package():
    source = "".join(line for cell in cells() for line in cell["source"])
    assert "from papershelf import Library" in source
    assert "utils" not in source


def test_it_tells_the_whole_story(seen):
    assert "of 16 papers have a full text" in seen["harvest"].printed
    assert [seen[name].figures for name in ("coverage", "missing", "citations")] == [1, 1, 1]
    missing = seen["missing"].value
    assert len(missing) > 0
    assert (missing["reason"] != "").all()
    assert (missing["detail"] != "").all()
    assert seen["report"].value.exists()
    cited = seen["citations"].value
    assert len(cited) > 3
    assert (cited["led_to_by"] != "").all()
    across = seen["tables"].value
    assert len(across) >= 2
    assert "±" in across.to_string()
    assert "field study" in seen["passages"].printed
    assert list(seen["retracted"].value["state"])
