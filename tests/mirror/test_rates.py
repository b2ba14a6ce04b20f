"""The rates of a plan are measured on this machine, on one of PubMed's files."""

import pytest

from tests.mirror.small_mirror import mirror_of, updated, year
from utils.errors import StoreFailed
from utils.mirror.rates import FILE, Rates, read_rates

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")


@pytest.fixture
def mirror(world, tmp_path):
    world.bulk = year(files=2)
    return mirror_of(world, tmp_path, embeddings_provider="none")


def asked(world):
    return [one.path for one in world.requests if one.path.endswith(".xml.gz")]


def test_rates_are_measured_once_and_used_by_later_plans(mirror):
    assumed = mirror.plan()
    assert assumed.measured == Rates().origin
    measured = mirror.plan(measure=True)
    assert measured.measured.startswith("measured here on 20")
    rates = read_rates(mirror.folder)
    assert rates.pubmed_bytes != Rates().pubmed_bytes
    assert rates.words != Rates().words
    assert rates.vectors == Rates().vectors  # without a model
    assert measured.core_hours == measured.size / rates.pubmed_bytes / 3600
    assert mirror.plan().search_hours == measured.search_hours
    assert [path.name for path in mirror.folder.iterdir()] == [FILE]  # nothing else is left


def test_a_kept_file_is_measured_without_the_network(mirror, world):
    updated(mirror)
    before = asked(world)
    mirror.plan(measure=True)
    assert asked(world) == before


def test_a_file_that_cannot_be_read_is_named(mirror):
    updated(mirror)
    for path in (mirror.folder / "source" / "pubmed").glob("*.xml.gz"):
        path.write_bytes(b"torn")
    with pytest.raises(StoreFailed, match="cannot be read"):
        mirror.plan(measure=True)
    assert read_rates(mirror.folder) == Rates()
