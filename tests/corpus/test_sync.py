"""A question kept up to date: complete, idempotent, safe to kill, and honest about what lacks."""

import json
import re
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from tests.examples import share
from tests.processes import run
from tests.world import World
from utils import Library
from utils.corpus.database import CorpusDatabase
from utils.corpus.schema import jobs, stretches
from utils.corpus.sync import sync_query
from utils.corpus.sync_jobs import SyncJob
from utils.errors import BadRequest, NotConfigured, StoreBusy, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.settings import load_settings

pytestmark = pytest.mark.slow

TERM = "crowd[ti]"
FIRST, LAST = 30_000_001, 30_000_030


@pytest.fixture(scope="module")
def _crowd():
    with World(crowd=30, per_day=10) as world:
        yield world


@pytest.fixture
def crowd(_crowd, monkeypatch):
    """Three days of ten records, asked for in batches of twenty: a tenth of what is usual."""
    monkeypatch.setattr("utils.corpus.sync.MAX_IDS_PER_REQUEST", 20)
    _crowd.reset()
    return _crowd


def web_of(world, settings, **more):
    addresses = {name.lower(): value for name, value in world.environment().items()}
    return Library(**{**settings, **addresses, "ncbi_request_delay_ms": 0, **more}).web


@pytest.fixture
def web(crowd, settings):
    return web_of(crowd, settings)


@pytest.fixture
def synced(database, web):
    """Sync the crowd; once is done already."""

    def again(**options):
        return sync_query("k", TERM, database, web, **options)

    assert again().inserted == 30
    return again


def fetched(world):
    """How many records were asked for."""
    requests = [r for r in world.requests if r.path.endswith("efetch.fcgi")]
    return [pmid for r in requests for pmid in r.params["id"].split(",")]


def is_whole(database, key="k", size=30):
    assert len(database.list_member_pmids(key)) == size
    pmids = database.list_member_pmids(key)
    assert {r.version for r in database.get_records(pmids).values()} == {1}
    assert database.count_rows().records == size


def test_the_first_sync_brings_the_whole_history(database, web, crowd):
    done = sync_query("k", TERM, database, web)
    assert re.fullmatch(r"sync_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", done.job_id)
    assert (done.inserted, done.updated, done.skipped, done.pmids_processed) == (30, 0, 0, 30)
    assert (done.max_edat_seen, done.warnings, done.unfinished) == ("2023-01-03", (), False)
    checkpoint = database.get_checkpoint("k")
    assert (checkpoint.term, checkpoint.last_edat) == (TERM, "2023-01-03")
    is_whole(database)
    assert [m.by for m in database.list_watermark_moves("k")] == [done.job_id]


def test_the_same_window_twice_changes_nothing(database, synced, crowd):
    pmids = database.list_member_pmids("k")
    before = database.get_records(pmids)
    done = synced()
    assert (done.inserted, done.updated, done.skipped) == (0, 0, 30)
    assert database.list_member_pmids("k") == pmids
    assert database.get_records(pmids) == before
    assert len(database.list_watermark_moves("k")) == 1


def test_only_the_window_with_its_overlap_is_asked_for(database, synced, crowd):
    asked = len(fetched(crowd))
    assert synced(overlap_days=0).pmids_processed == 10
    assert len(fetched(crowd)) - asked == 10
    assert synced(overlap_days=1).skipped == 20


def test_what_came_in_since_is_brought(database, synced, crowd):
    crowd.put(replace(crowd.record(str(LAST)), pmid="31000000", entered="2023-02-01"))
    done = synced()
    assert (done.inserted, done.max_edat_seen) == (1, "2023-02-01")
    assert database.get_checkpoint("k").last_edat == "2023-02-01"


def test_what_pubmed_revised_is_brought_however_old(database, synced, crowd):
    today = time.strftime("%Y-%m-%d", time.gmtime(time.time()))
    old = crowd.record(str(FIRST))
    types = (*old.types, "Retracted Publication")
    crowd.put(replace(old, types=types, revised=today))
    done = synced(overlap_days=0)
    assert done.updated == 1
    record = database.get_record(str(FIRST))
    assert (record.version, record.paper.retracted, record.lr) == (2, True, today)
    assert database.get_checkpoint("k").last_edat == "2023-01-03"


def test_a_revision_that_goes_backwards_is_skipped_with_a_warning(database, synced, crowd):
    crowd.put(replace(crowd.record(str(LAST)), title="Crowd of old", revised="2020-01-01"))
    done = synced()
    assert (done.updated, done.skipped) == (0, 30)
    assert str(LAST) in done.warnings[0]
    assert database.get_record(str(LAST)).version == 1


def test_a_deleted_record_is_gone(database, synced, crowd):
    crowd.delete(str(LAST))
    done = synced()
    assert done.updated == 1
    assert database.get_record(str(LAST)).gone
    assert str(LAST) not in database.list_member_pmids("k")
    assert database.count_rows().gone == 1
    assert synced().updated == 0


def test_a_deleted_record_may_come_back(database, synced, crowd):
    record = crowd.record(str(LAST))
    crowd.delete(str(LAST))
    synced()
    crowd.put(record)
    synced()
    assert not database.get_record(str(LAST)).gone
    is_whole(database)


def test_who_does_not_match_any_more_is_no_member(database, synced, crowd):
    crowd.put(replace(crowd.record(str(LAST)), title="Alone", revised="2023-06-01"))
    synced()
    record = database.get_record(str(LAST))
    assert (record.gone, record.version) == (False, 2)
    assert str(LAST) not in database.list_member_pmids("k")


def proved(done, members):
    """Whether what is here is what PubMed counts."""
    return (done.members, done.members_at_pubmed) == (members, members)


def test_deletions_before_the_window_are_followed_and_the_count_proves_it(database, synced, crowd):
    crowd.delete(str(FIRST))
    done = synced(overlap_days=0)
    assert (done.updated, done.skipped) == (1, 10)
    assert proved(done, 29)
    assert database.get_record(str(FIRST)).gone
    assert proved(synced(full=True), 29)


def test_who_matches_no_more_or_came_late_is_found_out_before_the_window(database, synced, crowd):
    crowd.put(replace(crowd.record(str(FIRST)), title="Alone", revised="2022-06-01"))
    late = replace(crowd.record(str(FIRST + 1)), pmid="29000000", entered="1999-05-01")
    crowd.put(late)
    done = synced(overlap_days=0)
    assert proved(done, 30)
    assert (
        str(FIRST) in database.list_member_pmids("k"),
        "29000000" in database.list_member_pmids("k"),
    ) == (0, 1)
    assert not database.get_record(str(FIRST)).gone
    assert database.get_checkpoint("k").last_edat == "2023-01-03"


@pytest.mark.parametrize("at_once", [9_999, 7])
@pytest.mark.parametrize("entered", ["1999-05-01", "2023-01-02", "2023-02-01"])
def test_a_paper_whose_entrez_date_changed_stays_a_member(
    database, synced, crowd, monkeypatch, entered, at_once
):
    monkeypatch.setattr("utils.corpus.sync._MAX_SWEPT_HITS", at_once)
    for pmid in (FIRST, LAST):
        crowd.put(replace(crowd.record(str(pmid)), entered=entered))
    for _ in range(2):
        assert proved(synced(overlap_days=0), 30)
    assert database.count_rows().gone == 0


def test_a_count_that_does_not_come_is_said_and_no_difference(database, synced, crowd, monkeypatch):
    from utils.corpus import sync as module

    real = module.fetch_first_hits

    def refuse(query, web):
        if query.min_date == "1700/01/01" and query.max_date:
            raise Unreachable("PubMed is out.")
        return real(query, web)

    monkeypatch.setattr(module, "fetch_first_hits", refuse)
    done = synced()
    assert (done.members, done.members_at_pubmed) == (30, None)
    assert "did not return" in done.warnings[-1]
    # A query without a count is not fetched again as a whole.
    with database.open_reading() as connection:
        assert len(connection.execute(select(jobs.c.job_id)).all()) == 2


def test_a_record_that_is_found_and_not_sent_is_no_deletion(database, synced, crowd, monkeypatch):
    record = crowd.record
    monkeypatch.setattr(crowd, "record", lambda pmid: None if pmid == str(LAST) else record(pmid))
    done = synced()
    assert str(LAST) in done.warnings[0]
    assert not database.get_record(str(LAST)).gone
    assert str(LAST) in database.list_member_pmids("k")


def test_a_search_that_forgets_members_makes_them_not_deleted(database, synced, crowd, monkeypatch):
    hidden = [e for e in crowd.entries() if e.pmid != str(LAST)]
    with monkeypatch.context() as patched:
        patched.setattr(crowd, "_entries", hidden)
        synced()
    assert not database.get_record(str(LAST)).gone
    synced()
    assert str(LAST) in database.list_member_pmids("k")


def test_an_answer_without_any_record_is_no_answer(database, web, crowd, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(crowd, "record", lambda pmid: None)
        done = sync_query("k", TERM, database, web)
    assert len(done.warnings) == 3
    assert "0 members are here, and PubMed counts 30" in done.warnings[-1]
    assert database.get_checkpoint("k").last_edat is None
    assert sync_query("k", TERM, database, web).inserted == 30


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_more_than_pubmed_hands_out(database, settings, monkeypatch):
    """Thirty thousand are swept in one step here; of 10,500 in steps of 4,000 each comes once."""

    def papers_of(pmids, web, *, anew):
        assert anew
        return {p: Paper(Ids(pmid=p), entered=world.record(p).entered) for p in pmids}

    monkeypatch.setattr("utils.corpus.sync.fetch_papers", papers_of)
    monkeypatch.setattr("utils.corpus.sync._MAX_SWEPT_HITS", 4000)
    with World(crowd=10_500) as world:
        web = web_of(world, settings)
        assert sync_query("k", TERM, database, web, wait_s=0.0).unfinished
        assert sync_query("k", TERM, database, web).inserted == 10_500
        monkeypatch.setattr("utils.corpus.sync._MAX_SWEPT_HITS", 30_000)
        assert sync_query("k", TERM, database, web, full=True).skipped == 10_500
    is_whole(database, size=10_500)


# -- in trouble --------------------------------------------------------------------------------


def test_one_batch_that_fails_holds_the_watermark_back(database, web, crowd):
    crowd.mood("down", "eutils", path="efetch", times=5)
    done = sync_query("k", TERM, database, web)
    assert (done.inserted, done.unfinished) == (10, False)
    assert "20 records" in done.warnings[0]
    assert database.get_checkpoint("k").last_edat is None
    assert sync_query("k", TERM, database, web).inserted == 20
    is_whole(database)
    assert database.get_checkpoint("k").last_edat == "2023-01-03"


def test_an_outage_ends_the_call_and_keeps_what_is_staged(database, web, crowd, monkeypatch):
    monkeypatch.setattr("utils.corpus.sync.MAX_IDS_PER_REQUEST", 5)
    crowd.mood("down", "eutils", path="efetch")
    done = sync_query("k", TERM, database, web)
    assert done.unfinished
    assert len(done.warnings) == 3
    assert database.count_rows().records == 0
    crowd.calm()
    assert sync_query("k", TERM, database, web).inserted == 30


def test_a_search_that_fails_is_an_error_and_not_an_empty_answer(database, web, crowd):
    crowd.mood("down", "eutils", path="esearch")
    with pytest.raises(Unreachable):
        sync_query("k", TERM, database, web)
    assert database.get_checkpoint("k") is None


def test_a_short_call_is_taken_up_where_it_stopped(database, web, crowd, monkeypatch):
    monkeypatch.setattr("utils.corpus.sync_jobs._PAGE", 7)
    told = []
    first = done = sync_query("k", TERM, database, web, wait_s=0.0)
    while done.unfinished:
        told.append(
            (database.count_rows().records, len(database.list_member_pmids("k")), done.inserted)
        )
        assert done.job_id == first.job_id
        assert database.get_checkpoint("k") is None
        done = sync_query("k", TERM, database, web, wait_s=0.0)
    assert sorted(set(told)) == [(n, n, n) for n in (0, 7, 14, 21, 28, 30)]
    assert (done.job_id, done.inserted) == (first.job_id, 30)
    asked = fetched(crowd)
    assert len(asked) == len(set(asked)) == 30
    is_whole(database)


def test_records_that_fail_while_others_are_merged_are_fetched_before_the_watermark_moves(
    database, web, crowd, monkeypatch
):
    monkeypatch.setattr("utils.corpus.sync_jobs._PAGE", 7)
    crowd.mood("down", "eutils", path="efetch", times=5)
    while not database.count_rows().records:
        assert sync_query("k", TERM, database, web, wait_s=0.0).unfinished
    done = sync_query("k", TERM, database, web)
    assert (done.inserted, done.unfinished) == (30, False)
    assert database.get_checkpoint("k").last_edat == "2023-01-03"


def test_who_ends_the_job_of_another_call_sees_what_changed_since(database, synced, crowd):
    """As many came as went: no count tells that the job's searches are of before."""
    job = SyncJob.open_or_create(database, "k", TERM, 5, full=False)
    while stretch := job.get_next_date_range():  # searched, by a call that was killed then
        found = database.list_member_pmids("k") if stretch.date_type == "set" else []
        (job.reconcile_members if stretch.date_type == "set" else job.stage_hits)(
            stretch, found, []
        )
    crowd.delete(str(FIRST))
    late = replace(crowd.record(str(LAST)), pmid="31000000")
    crowd.put(late)
    assert proved(synced(), 30)
    assert str(FIRST) not in database.list_member_pmids("k")
    assert late.pmid in database.list_member_pmids("k")


def test_another_term_gives_up_what_is_half_merged(database, web, crowd, monkeypatch):
    monkeypatch.setattr("utils.corpus.sync_jobs._PAGE", 7)
    while len(database.list_member_pmids("k")) < 14:
        assert sync_query("k", TERM, database, web, wait_s=0.0).unfinished
    term = f"{FIRST}[uid] OR {LAST}[uid]"
    done = sync_query("k", term, database, web)
    assert proved(done, 2)
    assert database.list_member_pmids("k") == [str(FIRST), str(LAST)]
    assert database.count_rows().gone == 0


def test_a_job_of_days_that_an_older_version_left_open_ends_no_membership(database, synced, crowd):
    """It asked which members of its days are lost; today's members are those of all days."""
    crowd.delete(str(FIRST))
    assert synced(overlap_days=0, wait_s=0.0).unfinished
    with database.open_writing() as connection:
        whole_set = stretches.c.date_type == "set"
        days = {"date_type": "members", "first": "2023-01-03"}
        assert connection.execute(update(stretches).where(whole_set).values(days)).rowcount == 1
    assert proved(synced(overlap_days=0), 29)
    assert database.count_rows().gone == 1


def test_a_watermark_moved_by_hand_gives_an_open_job_up(database, synced, crowd):
    assert synced(wait_s=0.0).unfinished
    database.set_checkpoint("k", "2022-12-01", manual=True)
    assert synced(overlap_days=0).skipped == 30
    assert database.get_checkpoint("k").last_edat == "2023-01-03"


def test_a_watermark_moved_by_hand_during_a_sync_stays(database, synced, crowd):
    def meddle(done, total):
        if database.get_checkpoint("k").last_edat != "2022-12-01":
            database.set_checkpoint("k", "2022-12-01", manual=True)

    done = synced(progress=meddle)
    assert any("by hand" in said for said in done.warnings)
    assert database.get_checkpoint("k").last_edat == "2022-12-01"


def test_a_key_stands_for_one_term(database, synced, web, crowd):
    with pytest.raises(BadRequest, match="crowd"):
        sync_query("k", "report[ti]", database, web)
    term = f"{FIRST}[uid] OR {LAST}[uid]"
    sync_query("k", term, database, web, full=True)
    assert database.list_member_pmids("k") == [str(FIRST), str(LAST)]
    assert database.get_checkpoint("k").term == term
    assert database.count_rows().gone == 0


def test_two_keys_share_records(database, synced, web, crowd):
    done = sync_query("other", TERM, database, web)
    assert (done.inserted, done.skipped) == (0, 30)
    assert database.list_member_pmids("other") == database.list_member_pmids("k")


def test_two_syncs_at_once_never_double(database, database_url, web, crowd, settings, tmp_path):
    other = CorpusDatabase.from_settings(
        load_settings(database_url=database_url or None), tmp_path / "papers"
    )
    done, refused = [], []

    def work(into):
        try:
            done.append(sync_query("k", TERM, into, web))
        except StoreBusy as error:
            refused.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in (database, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert sum(one.inserted for one in done) == 30
    assert len(done) + len(refused) == 2
    assert all("k" in error.message for error in refused)
    is_whole(database)


@pytest.mark.parametrize(
    ("key", "term", "overlap"), [("", "x", 5), ("k", " ", 5), ("k", "x\0", 5), ("k", "x", -1)]
)
def test_what_cannot_be_used_is_refused(key, term, overlap, database, web):
    with pytest.raises(BadRequest):
        sync_query(key, term, database, web, overlap_days=overlap)


def test_without_an_address_nothing_is_asked_and_nothing_made(web, crowd, settings, tmp_path):
    database = CorpusDatabase.from_settings(load_settings(), tmp_path / "nowhere")
    with pytest.raises(NotConfigured):
        sync_query("k", TERM, database, web_of(crowd, settings, pubmed_email=""))
    assert not (tmp_path / "nowhere").exists()
    assert not crowd.requests


def test_a_term_that_finds_nothing_is_an_answer(database, web, crowd):
    done = sync_query("k", "zzqqx[ti]", database, web)
    assert (done.pmids_processed, done.max_edat_seen) == (0, None)
    assert database.get_checkpoint("k").last_edat is None


# -- killed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_sync_may_be_killed_at_any_step(tmp_path, database):
    root = Path(__file__).resolve().parents[2]
    command = [
        sys.executable, "-m", "quality.histories.sync_deaths", str(tmp_path), "7", str(share(25)),
    ]  # fmt: skip
    ran = run(command, cwd=root)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["deaths"] == share(25)


def test_no_run_of_cron_leaves_a_difference(tmp_path, database_url):
    """Whatever PubMed deletes, merges, retracts, redates, and however often runs are killed."""
    module = "quality.histories.corpus"
    command = [sys.executable, "-m", module, str(tmp_path), "7", "1", database_url]
    ran = run(command, cwd=Path(__file__).resolve().parents[2])
    assert ran.returncode == 0, ran.stderr
    lived = json.loads(ran.stdout)
    assert lived["deaths"] > 0
    assert lived["syncs"] > 5
