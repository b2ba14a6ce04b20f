"""What is shown of passages is kept packed: read whole, or said to be damaged."""

from contextlib import suppress

import pytest

from tests.mirror.small_mirror import article, mirror_of, updated, year
from tests.world.pubmed_files import name_of, packed
from utils import Library
from utils.errors import StoreFailed
from utils.mirror.shown import Packing

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")


@pytest.fixture
def mirror(world, tmp_path):
    world.bulk = year()
    made = mirror_of(world, tmp_path)
    updated(made)
    return made


@pytest.fixture
def found(mirror, tmp_path):
    """Asks a library with nothing but the mirror: papers, best first."""
    options = {"embeddings_provider": "none", "papers_offline": True}
    places = {"papers_dir": tmp_path / "papers", "papers_mirror_dir": mirror.folder}
    library = Library(**places, **options)
    return lambda query: [
        hit.passage.paper for hit in library.passages_of("mirror").find(query).hits
    ]


def index_of(mirror):
    return mirror.folder / "words" / "pubmed-passages"


def added_to(mirror, world):
    world.bulk.updates[name_of(26, 4)] = packed([article(5, "Corals bleach"), article(40, "Kelp")])
    updated(mirror)
    [*mirror.index()]


def test_what_is_added_is_packed_by_the_dictionary_that_is_there(mirror, world, found):
    [*mirror.index()]
    dictionary = (index_of(mirror) / "shown.dictionary").read_bytes()
    added_to(mirror, world)
    assert (index_of(mirror) / "shown.dictionary").read_bytes() == dictionary
    assert (found("2026 2")[0], found("kelp")) == ("pmid:2", ["pmid:40"])


@pytest.mark.parametrize("other", [b"another dictionary", None])
def test_another_dictionary_is_refused(mirror, found, other):
    [*mirror.index()]
    path = index_of(mirror) / "shown.dictionary"
    path.write_bytes(other) if other else path.unlink()
    with pytest.raises(StoreFailed, match="cannot be unpacked") as refused:
        found("2026")
    assert "mirror index" in refused.value.hint
    for left in sorted(index_of(mirror).rglob("*"), reverse=True):
        left.rmdir() if left.is_dir() else left.unlink()
    [*mirror.index()]
    assert found("2026 2")[0] == "pmid:2"


def test_a_damaged_value_is_never_taken_for_a_whole_one():
    packing, shown = Packing(b"what corals say"), {"text": "What corals say of corals, ß\ud800."}
    whole = packing.pack(shown)
    assert packing.unpack(whole) == shown
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]):
            with suppress(ValueError):  # a bit between the end and the sum says nothing
                assert packing.unpack(damaged) == shown
                assert at > len(whole) - 6
