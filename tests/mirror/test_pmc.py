"""A mirror of PMC: exact by its inventory, right in any order, and read as a shelf is."""

import zipfile
from contextlib import closing
from dataclasses import replace

import pytest

from tests.mirror.small_mirror import bytes_of, mirror_of
from utils import Library
from utils.cli.mirror_status import format_status
from utils.errors import BadRequest, NotFound, StoreBusy, Unreachable
from utils.judges import check
from utils.judges.signs import DOUBT, weigh_signs
from utils.mirror import generations, parts, pmc
from utils.mirror.engines import Lost
from utils.mirror.objects import ObjectTable
from utils.mirror.pmc import Choice
from utils.mirror.reading import open_sql
from utils.model.paper import Sign
from utils.sources.pmc import parse_s3_url
from utils.sources.pmc_inventory import (
    fetch_metadata,
    fetch_xml,
    find_newest_inventory,
    list_versions,
)

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def mirror(world, tmp_path):
    return mirror_of(world, tmp_path)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(pmc, "BATCH", 3)


def updated(mirror, choice=None, **options):
    return [*mirror.update_pmc(choice, **options)][-1]


def there(world):
    return [record for record in world.papers if record.cloud]


def texts(mirror):
    """What counts, by PMCID."""
    with closing(open_sql(mirror.pmc_generations)) as db:
        rows = db.sql("SELECT * FROM records").to_arrow_table().to_pylist()
    return {f"PMC{row['pmcid']}": row for row in rows}


def asked(world, ending=".xml"):
    return [one.path for one in world.requests if one.path.endswith(ending)]


def test_all_articles_are_here_by_their_newest_version_and_nobody_else_was_asked(mirror, world):
    done = updated(mirror)
    found = texts(mirror)
    assert done.generation.papers == len(found) == len(there(world))
    assert {name: row["version"] for name, row in found.items()} == {
        record.pmcid: max(record.cloud) for record in there(world)
    }
    assert all(row["verdict"] == "full_text" and row["text"] for row in found.values())
    assert {one.service for one in world.requests} == {"pmc_cloud"}


def test_run_again_it_takes_only_what_is_new(mirror, world):
    first = updated(mirror)
    before = len(asked(world))
    again = updated(mirror)
    assert (again.files, again.changed, again.generation) == (0, False, first.generation)
    [one, other, gone, *_] = there(world)
    world.cloud.edited = {
        one.pmcid: replace(one, title="Another title of it", cloud=(*one.cloud, 10)),
        other.pmcid: replace(other, license="CC0"),
        gone.pmcid: replace(gone, cloud=()),
    }
    done = updated(mirror)
    assert (done.records, done.deletions) == (2, 1)
    assert len(asked(world)) == before + 2
    found = texts(mirror)
    assert found[one.pmcid]["version"] == 10
    assert gone.pmcid not in found
    world.cloud.edited = {}
    back = updated(mirror)
    assert set(texts(mirror)) == {record.pmcid for record in there(world)}
    assert texts(mirror)[one.pmcid]["version"] == max(one.cloud)  # the tenth was withdrawn
    assert back.changed


def test_a_license_that_is_withdrawn_takes_the_text_along(mirror, world):
    free = [record for record in there(world) if record.license == "CC BY"]
    updated(mirror, Choice(licenses=("cc-by",)))
    assert set(texts(mirror)) == {record.pmcid for record in free}
    assert len(asked(world)) == len(free)  # of the others only the metadata
    world.cloud.edited[free[0].pmcid] = replace(free[0], license="TDM")
    assert updated(mirror).deletions == 1  # the choice is remembered
    assert free[0].pmcid not in texts(mirror)


def test_years_and_journals_are_those_of_the_citation(mirror, world):
    record = there(world)[0]
    updated(mirror, Choice(years=(int(record.year), int(record.year))))
    assert {row["year"] for row in texts(mirror).values()} == {int(record.year)}
    updated(mirror, Choice(journals=(record.journal.short.replace(" ", ". "),)))
    assert record.pmcid in texts(mirror)


def test_a_few_articles_need_no_inventory(mirror, world):
    records = there(world)[:2]
    digits = tuple(int(record.pmcid.removeprefix("PMC")) for record in records)
    updated(mirror, Choice(pmcids=(*digits, 77)))
    assert set(texts(mirror)) == {record.pmcid for record in records}
    assert not [one for one in world.requests if "inventory" in str(one.params.get("prefix"))]
    world.cloud.edited[records[0].pmcid] = replace(records[0], cloud=())
    updated(mirror)
    assert set(texts(mirror)) == {records[1].pmcid}


def test_what_is_poisoned_is_set_aside_with_its_reason_and_the_rest_goes_on(
    mirror, world, tmp_path
):
    torn, gone, empty, *rest = there(world)
    world.cloud.torn = {f"{torn.pmcid}.{max(torn.cloud)}"}
    world.cloud.vanished = {f"{gone.pmcid}.{max(gone.cloud)}"}
    stub = tmp_path / "stub.xml"
    stub.write_text("<article><front/></article>", encoding="utf-8")
    world.cloud.edited[empty.pmcid] = replace(empty, title="A stub", files={"jats": stub})
    done = updated(mirror)
    reasons = {name.partition(".")[0]: why for name, why in done.failed.items()}
    assert set(reasons) == {torn.pmcid, gone.pmcid, empty.pmcid}
    assert "MD5" in reasons[torn.pmcid]
    assert "404" in reasons[gone.pmcid]
    assert set(texts(mirror)) == {record.pmcid for record in rest}
    world.cloud.torn, world.cloud.vanished = set(), set()
    before = len(asked(world))
    assert updated(mirror).files == 0
    assert len(asked(world)) == before  # until somebody wants it again, or it changes
    updated(mirror, retry=True)
    assert set(texts(mirror)) == {record.pmcid for record in [torn, gone, *rest]}


def kills_on(record, monkeypatch, mirror):
    """An engine whose workers die of one article, wherever it lies."""
    name = f"{record.pmcid}.{max(record.cloud)}.xml"

    def run(function, jobs):
        for job in jobs:
            with zipfile.ZipFile(job.file) as bundle:
                deadly = name in bundle.namelist()
            yield Lost(job, "3 processes died while reading it") if deadly else function(job)

    monkeypatch.setattr(mirror, "_make_run", lambda *_: run)


def test_an_article_that_kills_its_workers_is_set_aside_and_its_bundle_is_kept(
    mirror, world, monkeypatch
):
    monkeypatch.setattr(pmc, "BATCH", 100)
    poison, *rest = there(world)
    with monkeypatch.context() as dying:
        kills_on(poison, dying, mirror)
        done = updated(mirror)
    name = f"{poison.pmcid}.{max(poison.cloud)}"
    assert done.failed == {name: "3 processes died while reading it"}
    assert set(texts(mirror)) == {record.pmcid for record in rest}
    assert len(asked(world)) == len(rest) + 1  # nothing was fetched twice
    assert mirror.pmc_status()["aside"] == [(name, "aside", "3 processes died while reading it")]
    assert name in dict(format_status(mirror))["aside"]
    assert not [one for one in mirror.verify(source="pmc") if one.faults]
    assert len(list((mirror.folder / "source" / "pmc").iterdir())) == 1
    assert not updated(mirror).failed
    assert not updated(mirror, retry=True).failed
    assert set(texts(mirror)) == {record.pmcid for record in there(world)}


def test_an_article_that_kills_a_newer_reader_leaves_the_rest_of_its_bundle(
    mirror, world, monkeypatch
):
    monkeypatch.setattr(pmc, "BATCH", 100)
    withdrawn, poison, *rest = there(world)
    updated(mirror)
    world.cloud.edited[withdrawn.pmcid] = replace(withdrawn, cloud=())
    updated(mirror)
    before = len(asked(world))
    monkeypatch.setitem(parts.READERS, "pmc", parts.READERS["pmc"] + 100)
    with monkeypatch.context() as dying:
        kills_on(poison, dying, mirror)
        done = updated(mirror)
    assert set(done.failed) == {f"{poison.pmcid}.{max(poison.cloud)}"}
    assert set(texts(mirror)) == {record.pmcid for record in rest}
    assert len(asked(world)) == before
    assert updated(mirror).files == 0
    assert not [one for one in mirror.verify(source="pmc") if one.faults]


def test_workers_that_are_killed_from_outside_set_nothing_aside(mirror, world, monkeypatch):
    deaths = []

    def run(function, jobs):
        for job in jobs:
            once = not deaths and job.folder == str(mirror.folder)
            deaths.extend([job] if once else [])
            yield Lost(job, "3 processes died while reading it") if once else function(job)

    monkeypatch.setattr(mirror, "_make_run", lambda *_: run)
    assert not updated(mirror).failed
    assert set(texts(mirror)) == {record.pmcid for record in there(world)}


@pytest.mark.parametrize("how", ["gone", "torn"])
def test_a_bundle_that_is_lost_is_fetched_again_when_it_has_to_be_read(
    mirror, world, monkeypatch, how
):
    withdrawn = there(world)[0]
    updated(mirror)
    world.cloud.edited[withdrawn.pmcid] = replace(withdrawn, cloud=())
    updated(mirror)
    before = texts(mirror)
    for bundle in (mirror.folder / "source" / "pmc").iterdir():
        bundle.unlink() if how == "gone" else bundle.write_bytes(bundle.read_bytes()[:-30])
    monkeypatch.setitem(parts.READERS, "pmc", parts.READERS["pmc"] + 100)
    assert not updated(mirror).failed
    assert texts(mirror).keys() == before.keys()
    assert not [one for one in mirror.verify(source="pmc") if one.faults]


def test_a_site_that_is_down_loses_nothing(mirror, world):
    record = there(world)[4]
    path = f"/{record.pmcid}.{max(record.cloud)}/{record.pmcid}.{max(record.cloud)}.xml"
    world.mood("down", "pmc_cloud", path=path)
    done = updated(mirror)
    assert done.unreachable
    assert record.pmcid not in texts(mirror)
    world.calm()
    assert not updated(mirror).failed
    assert set(texts(mirror)) == {record.pmcid for record in there(world)}


@pytest.mark.parametrize("engine", ["here", "processes"])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_bytes_whoever_reads_and_however_often_it_was_broken_off(
    world, tmp_path, engine, workers
):
    if engine == "here" and workers > 1:
        pytest.skip("one process is one worker")
    whole, broken = mirror_of(world, tmp_path / "whole"), mirror_of(world, tmp_path / "broken")
    updated(whole)
    steps = broken.update_pmc(Choice(), engine=engine, workers=workers)
    next(steps)
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    updated(broken, engine=engine, workers=workers)
    assert bytes_of(broken) == bytes_of(whole)
    assert (
        broken.pmc_generations.get_published().digest
        == whole.pmc_generations.get_published().digest
    )


def test_the_same_bytes_in_whatever_order_batches_come_back(world, tmp_path, monkeypatch):
    plain, shuffled = mirror_of(world, tmp_path / "plain"), mirror_of(world, tmp_path / "shuffled")
    updated(plain)

    def backwards(function, jobs):
        """An engine whose last batch is read, and comes back, first."""
        return iter([function(job) for job in reversed(list(jobs))])

    monkeypatch.setattr(shuffled, "_make_run", lambda *_: backwards)
    first = updated(shuffled)
    assert first.files > 2
    assert bytes_of(shuffled) == bytes_of(plain)
    assert first.generation.digest == plain.pmc_generations.get_published().digest


# The inventory


def test_an_inventory_is_taken_by_its_own_columns(world, library):
    world.cloud.columns = ("ETag", "Key", "Bucket", "LastModifiedDate")
    found = {one.name for one in list_versions(find_newest_inventory(library.web), library.web)}
    assert found == {f"{r.pmcid}.{version}" for r in there(world) for version in r.cloud}


def test_a_copy_of_the_bucket_is_read_and_compared_with_the_inventory(
    mirror, world, tmp_path, library
):
    """Only what is damaged or missing there is fetched, and the parts are the same."""
    copy, base = tmp_path / "copy", library.settings.address("pmc_cloud")
    for one in list_versions(find_newest_inventory(library.web), library.web):
        article = fetch_metadata(one, library.web)
        url, _ = parse_s3_url(article.record["xml_url"], base)
        for key, body in (
            (f"metadata/{one.name}.json", article.metadata),
            (url.removeprefix(f"{base}/"), fetch_xml(article, library.web)),
        ):
            (copy / key).parent.mkdir(parents=True, exist_ok=True)
            (copy / key).write_bytes(body)
    torn, gone, *_ = (f"{one.pmcid}.{max(one.cloud)}" for one in there(world))
    (copy / torn / f"{torn}.xml").write_bytes(b"<article>")
    (copy / "metadata" / f"{gone}.json").unlink()
    before = len(world.requests)
    updated(mirror, filled=copy)
    paths = {one.path.rpartition("/")[2] for one in world.requests[before:]}
    assert {path for path in paths if path.startswith("PMC")} == {f"{torn}.xml", f"{gone}.json"}
    other = mirror_of(world, tmp_path / "other")
    updated(other)
    assert bytes_of(other) == bytes_of(mirror)
    with pytest.raises(BadRequest, match="no folder `metadata`"):
        updated(mirror, filled=tmp_path)


def test_the_request_rate_of_the_bucket_is_a_setting(mirror, world, tmp_path):
    usual = mirror.plan_pmc(Choice())
    faster = mirror_of(world, tmp_path / "faster", pmc_cloud_request_delay_ms=31.25)
    assert faster.plan_pmc(Choice()).request_hours == usual.request_hours / 2 > 0


def test_a_row_of_a_listing_without_an_etag_is_not_an_article_that_is_gone(mirror, world):
    records = there(world)[:2]
    choice = Choice(pmcids=tuple(int(record.pmcid.removeprefix("PMC")) for record in records))
    updated(mirror, choice)
    before = set(texts(mirror))
    world.cloud.without_etag = {records[0].pmcid}
    with pytest.raises(Unreachable, match="ETag"):
        updated(mirror)
    assert set(texts(mirror)) == before


@pytest.mark.parametrize("odd", ["wrong_md5", "gone"])
def test_an_inventory_that_is_damaged_is_not_read_as_one_of_less(mirror, world, odd):
    updated(mirror)
    setattr(world.cloud, odd, True)
    with pytest.raises(Unreachable, match=r"inventory|damaged"):
        updated(mirror)
    assert len(texts(mirror)) == len(there(world))


def test_an_inventory_of_hardly_anything_is_not_believed(mirror, world):
    updated(mirror)
    most = there(world)[1:]
    world.cloud.edited = {record.pmcid: replace(record, cloud=()) for record in most}
    with pytest.raises(Unreachable, match="lacks"):
        updated(mirror)


# What it serves


def test_a_text_of_a_mirror_is_read_as_if_it_stood_on_the_shelf(world, settings):
    record = next(r for r in there(world) if r.pmid and r.doi)
    mirrored = Library(**settings)
    direct = Library(**{**settings, "papers_dir": settings["papers_dir"] / "direct"})
    expected = direct.download(record.pmcid)
    assert expected.stored.via == "pmc_cloud"
    updated(mirrored.mirror)
    before = len(world.requests)
    for name in (record.pmcid, record.pmid, record.doi):
        folder = settings["papers_dir"] / name.replace("/", "_")
        offline = Library(**{**settings, "papers_dir": folder, "papers_offline": True,
                             "papers_mirror_dir": mirrored.mirror.folder})  # fmt: skip
        reading = offline.read(name)
        assert reading.kind == "full_text"
        assert reading.stored.via == "mirror"
        assert reading.stored.license == expected.stored.license
        body = direct.read(record.pmcid).text.partition("\n---\n")[2]
        assert offline.read(name).text.partition("\n---\n")[2] == body
        assert (
            offline.objects(name, fetch=False).objects
            == direct.objects(record.pmcid, fetch=False).objects
        )
    assert [one for one in world.requests[before:] if one.service != "pmc_cloud"] == []


def test_downloads_and_harvests_take_it_from_the_mirror_first(world, library):
    updated(library.mirror)
    before = len(asked(world))
    records = [record for record in there(world) if record.pmid][:3]
    for record in records:
        assert library.download(record.pmid).stored.via == "mirror"
    for progress in library.harvest([record.pmid for record in records]):
        counts = progress.job.counts
    assert counts.full_text == len(records)
    assert len(asked(world)) == before


def test_who_wants_it_anew_asks_pmc(world, library):
    updated(library.mirror)
    record = there(world)[0]
    assert library.download(record.pmcid, force=True).stored.via == "pmc_cloud"


def test_what_the_mirror_lacks_is_not_there_offline(world, library, settings):
    digits = int(there(world)[0].pmcid.removeprefix("PMC"))
    updated(library.mirror, Choice(pmcids=(digits,)))
    offline = Library(**{**settings, "papers_offline": True})
    with pytest.raises(NotFound, match="OFFLINE"):
        offline.download(there(world)[1].pmcid)


def test_it_proves_itself(mirror, world):
    updated(mirror)
    assert not [one for one in mirror.verify(source="pmc") if one.faults]
    part = next((mirror.folder / "part" / "pmc").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-9] + b"elsewhere")
    [fault] = [one for one in mirror.verify(source="pmc") if one.faults][:1]
    assert "mirror pmc" in fault.faults[0]


def test_one_goes_back_to_the_generation_before(mirror, world):
    old = updated(mirror).generation
    record = there(world)[0]
    world.cloud.edited[record.pmcid] = replace(record, cloud=(*record.cloud, 10))
    updated(mirror)
    assert mirror.use(old.name) == old
    assert texts(mirror)[record.pmcid]["version"] == max(record.cloud)


def test_a_plan_fetches_no_article(mirror, world):
    plan = mirror.plan_pmc()
    assert plan.new == plan.listed == len(there(world))
    assert not mirror.folder.exists()
    assert not asked(world)


def test_texts_that_older_judges_saw_are_listed_and_judged_again_without_a_request(
    mirror, world, monkeypatch
):
    updated(mirror)
    count, before = len(texts(mirror)), len(asked(world))
    assert (mirror.pmc_status()["outdated"], mirror.plan_pmc().again) == (0, 0)

    monkeypatch.setitem(parts.READERS, "pmc", parts.READERS["pmc"] + 100)  # JUDGE_VERSION is raised
    doubt = Sign("table", DOUBT, "table 3 is missing", only_doubts=True)
    monkeypatch.setattr(check, "FINDERS", (lambda case: [doubt],))
    monkeypatch.setattr(
        check, "_judge_jats_text", lambda document, signs: weigh_signs([doubt], "", 1.0)
    )
    assert (mirror.pmc_status()["outdated"] > 0, mirror.plan_pmc().again) == (True, count)
    told = dict(format_status(mirror))
    assert "read them again: uv run server.py mirror pmc" in told["outdated"]
    assert len(texts(mirror)) == count  # they are served meanwhile

    again = updated(mirror)
    assert {row["verdict"] for row in texts(mirror).values()} == {"doubtful"}
    assert again.generation.papers == count
    assert len(asked(world)) == before
    assert (mirror.pmc_status()["outdated"], mirror.plan_pmc().again) == (0, 0)


def test_two_do_not_bring_one_folder_up_to_date_at_once(mirror):
    steps = mirror.update_pmc()
    next(steps)
    with pytest.raises(StoreBusy, match="Another"):
        updated(mirror)
    steps.close()
    assert ObjectTable(mirror.folder).count_states()


def test_no_generation_is_without_the_names_of_its_texts(mirror, world, monkeypatch):
    """Whoever dies while they are written leaves no generation; what is lost is made again."""

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(generations.Generations, "_write_names", dies)
        with pytest.raises(KeyboardInterrupt):
            updated(mirror)
    assert mirror.pmc_generations.list_generations() == []
    made = updated(mirror).generation
    names = mirror.pmc_generations.folder / made.name / "names.parquet"
    whole = names.read_bytes()
    names.unlink()
    assert [one.name for one in mirror.verify(source="pmc") if one.faults] == [made.name]
    assert updated(mirror).generation.name == made.name
    assert names.read_bytes() == whole
    assert not [one for one in mirror.verify(source="pmc") if one.faults]
