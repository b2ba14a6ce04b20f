"""Who would ask PubMed asks a mirror first: without a request, also offline, never an old one."""

import time
from dataclasses import replace

import pytest

from tests.mirror.small_mirror import article, articles, updated
from tests.world.pubmed_files import name_of, packed, small_bulk
from utils import Library
from utils.errors import PaperError
from utils.mirror.lookup import DAYS

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def mirrored(library, world):
    updated(library.mirror)
    return library


def services(world):
    return {one.service for one in world.requests}


def test_records_of_a_mirror_need_no_request(mirrored, world):
    papers = [record for record in world.papers if record.pmid][:9]
    found = mirrored.records([record.pmid for record in papers])
    assert [paper.ids.pmid for _, paper in found] == [record.pmid for record in papers]
    assert {paper.recorded_by for _, paper in found} == {"pubmed"}
    assert services(world) == {"pubmed_files"}


def test_papers_are_found_by_doi_and_pmcid_too(mirrored, world, settings):
    papers = [one for one in world.papers if one.pmid and one.doi and one.pmcid][:5]
    offline = Library(**{**settings, "papers_offline": True})
    for name in ("doi", "pmcid"):
        asked = [getattr(one, name) for one in papers]
        found = offline.references.records(
            name.upper() if name == "doi" else name for name in asked
        )
        assert [paper.ids.pmid for _, paper in found] == [one.pmid for one in papers]
    assert [one.ids.pmid for one in offline.pubmed.convert_ids([papers[0].doi])] == [papers[0].pmid]
    assert papers[0].doi.partition("/")[0] in offline.cite([papers[0].doi])[0][1]
    assert services(world) == {"pubmed_files"}


def test_a_doi_of_two_records_is_nobodys_in_the_mirror(mirrored, world, settings):
    known, other = [one for one in world.papers if one.pmid and one.doi][:2]
    bulk = small_bulk(world.corpus.by_pmid.values())
    twin = article(88_888_888).replace(
        "</Abstract>", f'</Abstract><ELocationID EIdType="doi">{known.doi}</ELocationID>'
    )
    bulk.updates[name_of(26, 5)] = packed([twin])
    world.bulk = bulk
    updated(mirrored.mirror)
    offline = Library(**{**settings, "papers_offline": True})
    [(_, one), (_, two)] = offline.references.records([known.doi, other.doi])
    assert isinstance(one, PaperError)
    assert two.ids.pmid == other.pmid
    bulk.updates[name_of(26, 6)] = packed([], ["88888888"])
    updated(mirrored.mirror)
    [(_, one)] = offline.references.records([known.doi])
    assert one.ids.pmid == known.pmid


def test_a_generation_without_names_is_asked_by_pmid_only(mirrored, world, settings):
    for path in (mirrored.mirror.folder / "generation").rglob("names.parquet"):
        path.unlink()
    paper = next(one for one in world.papers if one.pmid and one.doi)
    offline = Library(**{**settings, "papers_offline": True})
    [(_, one), (_, two)] = offline.references.records([paper.doi, paper.pmid])
    assert isinstance(one, PaperError)
    assert two.title


def test_a_harvest_uses_the_mirror_first_also_offline(mirrored, world, settings):
    papers = [record for record in world.papers if record.pmid and record.branch != "book"][:5]
    offline = Library(**{**settings, "papers_offline": True})
    for progress in offline.harvest([record.pmid for record in papers]):
        done = progress.job.counts
    assert done.abstract + done.record == len(papers) == done.requested
    assert services(world) == {"pubmed_files"}


def test_what_the_mirror_lacks_is_asked_for(mirrored, world):
    world.put(replace(world.papers[0], pmid="77777777"))
    [(_, known), (_, unknown)] = mirrored.records([world.papers[1].pmid, "77777777"])
    assert known.title
    assert not isinstance(unknown, PaperError)
    assert "eutils" in services(world)


def test_an_old_generation_is_used_only_where_the_network_is_not(mirrored, world, settings, clock):
    time.sleep((DAYS + 1) * 86400)
    pmid = world.papers[0].pmid
    mirrored.records([pmid])
    assert "eutils" in services(world)
    before = len(world.requests)
    offline = Library(
        **{**settings, "papers_offline": True, "papers_mirror_dir": mirrored.mirror.folder}
    )
    [(_, paper)] = offline.references.records([world.papers[2].pmid])
    assert paper.title
    assert len(world.requests) == before


def test_a_mirror_that_cannot_be_read_does_not_hold_up_who_can_ask(mirrored, world, caplog):
    for part in (mirrored.mirror.folder / "part" / "pubmed").glob("*.parquet"):
        part.write_bytes(b"damaged")
    [(_, paper)] = mirrored.records([world.papers[0].pmid])
    assert paper.title
    assert "mirror verify" in caplog.text


def test_a_deleted_record_is_not_had_from_the_mirror(mirrored, world):
    pmid = world.papers[0].pmid
    bulk = small_bulk(world.corpus.by_pmid.values())
    bulk.updates[name_of(26, 5)] = articles([1])
    bulk.updates[name_of(26, 6)] = packed([], [pmid])
    world.bulk = bulk
    updated(mirrored.mirror)
    assert mirrored.mirror.papers([pmid]) == {}
