"""What a model receives by each host's name, and through frameworks' adapters by their own code."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.clients import matrix
from quality.clients.adapters import ADAPTERS, WHY_NOT, shown
from quality.clients.matrix import Received
from tests.world import World

fetched = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
# Of each, what it is told; Google's gives a model all of a result, text and structure.
SETTINGS = [(name, {}) for name in ADAPTERS] + [("google_genai", {"MCP_DELIVERY": "text"})]


def written() -> set[Received]:
    """The rows of the table in ``quality/benchmarks/README.md``."""
    page = matrix.PAGE.read_text(encoding="utf-8")
    lines = page.partition(matrix.MARKS[0])[2].partition(matrix.MARKS[1])[0].strip().splitlines()
    return {Received(*line.strip("| ").split(" | ")) for line in lines[2:]}


def test_the_table_of_hosts_is_true(world: World, tmp_path: Path) -> None:
    assert set(matrix.hosts(world, tmp_path)) <= written()


@fetched
@pytest.mark.parametrize(("adapter", "settings"), SETTINGS)
def test_a_model_reads_the_whole_answer_and_what_to_do_next(
    adapter: str, settings: dict[str, str], world: World, tmp_path: Path
) -> None:
    paper = world.paper("supplemented")
    more = [
        ("search_pubmed", {"query": f"{paper.pmid}[uid]"}),
        ("download_paper", {"pmid": "not a number"}),
        ("search_pubmed", {"query": "zzzqqq"}),
        ("search_pubmed", {"query": "moss", "colour": "green"}),
    ]
    asked = [*matrix.calls(world), *more]
    came = shown(adapter, world, tmp_path, asked, **settings)
    row = matrix.row_of(adapter, settings, came, world, tmp_path)
    assert row in written()
    kept, read, _, found, refused, none, unknown = came.answers
    assert paper.pmid in found
    assert paper.doi in found
    assert "full_text" in kept
    assert "<untrusted-" in read
    assert "## Results" in read
    assert "VALIDATION" in refused
    assert "suggestions" in refused
    assert "No hits: ask with" in none
    assert "colour is not an argument of this tool" in unknown
