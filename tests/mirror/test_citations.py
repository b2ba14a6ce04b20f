"""The table of citations: whole, in both orders, incremental; asked without a request."""

import pytest

from tests.mirror.small_mirror import article, mirror_of, updated, year
from tests.world.citation_collection import Snapshot, zipped
from tests.world.pubmed_files import name_of, packed
from utils import Library
from utils.errors import EmptyStore, StoreFailed
from utils.mirror.citation_table import Edge, get_table_files

pytestmark = pytest.mark.extras("pyarrow", "duckdb")
FAR = 200_007
# Not in order, one twice, one that PubMed's records say, too.
PAIRS = [(9, 1), (3, 2), (FAR, 2), (3, 1), (3, 2), (2, FAR), (4, 3)]


def citing(pmid, *cited):
    """A record with a list of references."""
    names = "".join(
        f'<Reference><ArticleIdList><ArticleId IdType="pubmed">{one}</ArticleId>'
        f'<ArticleId IdType="doi">10.1/{one}</ArticleId></ArticleIdList></Reference>'
        for one in cited
    )
    lists = f"<PubmedData><ReferenceList><ReferenceList>{names}</ReferenceList></ReferenceList>"
    return article(pmid).replace("</PubmedArticle>", f"{lists}</PubmedData></PubmedArticle>")


@pytest.fixture
def mirror(world, tmp_path):
    world.bulk = year()
    world.bulk.baseline[name_of(26, 2)] = packed([citing(4, 3, 1, 3), citing(5, 1), citing(6, 5)])
    world.snapshots = [Snapshot("2026-10-05T14:00:00Z", zipped(PAIRS))]
    return mirror_of(world, tmp_path)


def ended(mirror, **options):
    return [*mirror.update_citations(**options)][-1]


def edges(mirror):
    """The table in both orders, read from its files alone."""
    from pyarrow import parquet

    found = []
    files = get_table_files(mirror.folder, mirror.citations.table.name)
    for by, path in zip(("citing", "cited"), files, strict=True):
        rows = parquet.read_table(path).to_pylist()
        assert [row[by] for row in rows] == sorted(row[by] for row in rows)
        found.append({(row["citing"], row["cited"]): row["sources"] for row in rows})
        assert len(found[-1]) == len(rows)
    assert found[0] == found[1]
    return found[0]


def test_both_sources_are_one_table_each_edge_once(mirror):
    updated(mirror)
    done = ended(mirror)
    nih = dict.fromkeys(PAIRS, 1)
    assert edges(mirror) == nih | {(4, 3): 3, (4, 1): 2, (5, 1): 2, (6, 5): 2}
    assert (done.table.edges, done.table.nih_occ, done.table.records) == (9, 6, 4)
    assert done.changed
    assert not done.notes


def test_papers_are_asked_about_without_a_request(mirror, world):
    updated(mirror)
    ended(mirror)
    before = len(world.requests)
    asked = mirror.citations
    assert asked.cited([4, 8]) == {4: [Edge(3, ("nih_occ", "pubmed")), Edge(1, ("pubmed",))], 8: []}
    assert [edge.pmid for edge in asked.citing([1])[1]] == [9, 5, 4, 3]
    assert [edge.pmid for edge in asked.citing([2])[2]] == [FAR, 3]
    assert [edge.pmid for edge in asked.citing([FAR])[FAR]] == [2]
    assert len(world.requests) == before


def test_references_count_as_the_records_do(mirror, world):
    updated(mirror)
    ended(mirror)
    world.bulk.updates[name_of(26, 4)] = packed([citing(5, 2), citing(20, 6)], ["6"])
    updated(mirror)
    first, before = mirror.citations.table, len(world.requests)
    done = ended(mirror)
    assert {pair for pair, said in edges(mirror).items() if said & 2} == {
        *((4, 3), (4, 1), (5, 2), (20, 6))
    }
    assert done.changed
    assert done.table.name != first.name
    told = [one.path for one in world.requests[before:]]
    assert told == ["/collections/4586573/articles", "/articles/1000/files"]


def test_what_has_not_changed_stays(mirror, world):
    updated(mirror)
    name = ended(mirror).table.name
    before = {path: path.stat().st_mtime_ns for path in (mirror.folder / "part").rglob("*.parquet")}
    again = ended(mirror)
    assert (again.changed, again.table.name) == (False, name)
    after = {path: path.stat().st_mtime_ns for path in (mirror.folder / "part").rglob("*.parquet")}
    assert after == before


def test_a_new_month_takes_the_place_of_the_last(mirror, world):
    ended(mirror)
    world.snapshots.append(Snapshot("2026-11-04T09:00:00Z", zipped([(1, 2)])))
    world.snapshots.append(Snapshot("2026-11-05T09:00:00Z", b"", name="icite_metadata.zip"))
    assert ended(mirror).table.collection == "2026-11-04"
    assert edges(mirror) == {(1, 2): 1}
    [left] = (mirror.folder / "source" / "citations").iterdir()
    assert left.name.startswith("2026-11-04-")


def test_a_fetch_that_breaks_off_goes_on_from_there(mirror, world):
    world.snapshots[0].breaks_after = 40
    ended(mirror)
    assert len(edges(mirror)) == 6
    told = [one.headers.get("range") for one in world.requests if one.path == "/s3/0"]
    assert told == [None, "bytes=40-"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zipped(PAIRS, head="cited,citing"), "its columns"),
        (zipped([(1, "x")]), "invalid value 'x'"),
        (zipped([(1, 0)]), "not a valid PMID"),
        (zipped([(1, 1 << 32)]), "invalid value '4294967296'"),
        (zipped(PAIRS, name="other.csv"), "not a ZIP file with"),
        (b"<html>", "not a ZIP file with"),
    ],
)
def test_a_collection_that_is_none_is_set_aside_and_the_last_one_stays(mirror, world, data, said):
    ended(mirror)
    world.snapshots.append(Snapshot("2026-12-01T09:00:00Z", data))
    for _ in range(2):
        done = ended(mirror)
        assert said in done.notes[0]
        assert "that of 2026-10-05 is used" in done.notes[0]
        assert done.table.collection == "2026-10-05"
    assert [one.path for one in world.requests].count("/s3/1") == 1


def test_a_wrong_md5_is_not_read(mirror, world):
    world.snapshots[0].md5 = "0" * 32
    with pytest.raises(EmptyStore, match="arrived with MD5"):
        ended(mirror)
    world.snapshots[0].md5 = ""
    assert ended(mirror).table.edges == 6


def test_where_nih_cannot_be_reached_the_records_make_the_table(mirror, world):
    updated(mirror)
    world.mood("down", "citation_collection")
    done = ended(mirror)
    assert done.unreachable
    assert "none is here yet" in done.notes[0]
    assert done.table.collection == ""
    assert set(edges(mirror).values()) == {2}


def test_a_damaged_file_says_what_to_do(mirror):
    updated(mirror)
    ended(mirror)
    [path, _] = get_table_files(mirror.folder, mirror.citations.table.name)
    path.write_bytes(b"damaged")
    with pytest.raises(StoreFailed, match="cannot be read") as raised:
        mirror.citations.cited([4])
    assert "mirror citations" in raised.value.hint


# What it is held against


@pytest.mark.parametrize("at", [0, 1], ids=["citing", "cited"])
@pytest.mark.parametrize("how", ["another", "torn", "gone"])
def test_a_file_that_is_not_as_it_was_made_is_found_and_made_again(mirror, at, how):
    from pyarrow import parquet

    updated(mirror)
    ended(mirror)
    assert not any(one.faults for one in mirror.verify(source="citations"))
    path = get_table_files(mirror.folder, mirror.citations.table.name)[at]
    before = edges(mirror)
    if how == "another":  # whole, and without one of its citations
        parquet.write_table(parquet.read_table(path).slice(1), path)
    elif how == "torn":
        path.write_bytes(path.read_bytes()[:-9])
    else:
        path.unlink()
    [fault] = [fault for one in mirror.verify(source="citations") for fault in one.faults]
    assert f"{path.parent.name}/{path.name} is {'gone' if how == 'gone' else 'damaged'}" in fault
    path.unlink(missing_ok=True)
    ended(mirror)
    assert edges(mirror) == before
    assert not any(one.faults for one in mirror.verify(source="citations"))


def test_an_empty_folder_has_none(mirror):
    with pytest.raises(EmptyStore, match=r"mirror\.update_citations"):
        _ = mirror.citations


# Who asks it


@pytest.fixture
def offline(library, world, settings):
    """A library without network, and a paper that others cite."""
    from tests.world import kinship

    updated(library.mirror)
    [*library.mirror.update_citations()]
    record = max(
        (one for one in world.papers if one.pmid), key=lambda one: len(kinship.citing(one, world))
    )
    return Library(**{**settings, "papers_offline": True}), record


def test_related_papers_are_had_offline(offline, world):
    from tests.world import kinship

    library, record = offline
    before = len(world.requests)
    for kind, near in (("pubmed_citedin", kinship.citing), ("pubmed_references", kinship.cited)):
        expected = {one.pmid for one in near(record, world)}
        found = library.pubmed.related(record.pmid, kind, 50)
        assert {one.pmid for one in found.articles} == expected
        assert all(one.title for one in found.articles)
        assert found.source.startswith("mirror (NIH Open Citation Collection, 2026-10-05")
    assert len(world.requests) == before


def test_snowballing_goes_on_offline(offline, world):
    from tests.world import kinship

    library, record = offline
    papers = [paper for _, paper in library.references.records([record.pmid])]
    before = len(world.requests)
    found = library.reviews.snowball(papers)
    expected = {one.pmid for near in (kinship.citing, kinship.cited) for one in near(record, world)}
    assert {one.paper.ids.pmid for one in found.candidates} == expected
    assert all(one.paper.title for one in found.candidates)
    assert "NIH Open Citation Collection, 2026-10-05" in found.indexes
    assert any("NCBI ELink could not be asked" in note for note in found.notes)
    assert len(world.requests) == before
