"""The corpus in SQL: one record a PMID, versions, watermarks, passages; on every database."""

import os
import re
import stat
import threading
from dataclasses import replace

import pytest
from sqlalchemy import inspect, text

from utils.corpus import schema as corpus_schema
from utils.corpus.database import CorpusDatabase, day_to_timestamp, parse_iso_day
from utils.corpus.names import AlternativeName
from utils.corpus.stored_records import Source, serialize_paper_and_hash
from utils.corpus.texts import PaperText
from utils.errors import BadRequest, InvariantFailed, StoreBusy, StoreFailed
from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper
from utils.model.passage import Passage
from utils.settings import load_settings

PAPER = Paper(
    Ids(pmid="101", doi="10.1000/a"),
    title="On corals \ud800 \u0416",
    abstract="They glow.",
    authors=(Author(family="Reef", given="Ann", affiliations=("Sea", "Shore")),),
    published="2024-05",
    entered="2024-06-02",
    revised="2024-06-15",
    publication_types=("Journal Article",),
    other_abstracts=(("plain (eng)", "Light."),),
)


def put(database, **changes):
    return database.store_records([replace(PAPER, **changes)])


def test_a_record_comes_back_as_it_was(database):
    assert put(database)[:4] == (1, 0, 0, "2024-06-02")
    record = database.get_record("101")
    assert record.paper == PAPER
    assert (record.version, record.edat, record.lr) == (1, "2024-06-02", "2024-06-15")
    assert not record.gone


def test_the_same_again_is_skipped(database):
    put(database)
    before = database.get_record("101")
    assert put(database)[:3] == (0, 0, 1)
    assert database.get_record("101") == before


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "On other corals"},
        {"revised": "2024-07-01"},
        {"publication_types": ("Journal Article", "Retracted Publication")},
        {"notices": (Notice("retraction", "Sea. 2024", "102"),)},
    ],
)
def test_another_content_or_a_later_revision_is_a_new_version(database, changes):
    put(database)
    assert put(database, **changes)[:3] == (0, 1, 0)
    assert put(database, **changes)[:3] == (0, 0, 1)
    record = database.get_record("101")
    assert record.version == 2
    assert record.paper == replace(PAPER, **changes)


def test_a_retraction_is_content_and_counted(database):
    put(database)
    before = database.get_record("101").content_hash
    put(database, publication_types=("Retracted Publication",))
    assert database.get_record("101").content_hash != before
    assert database.count_rows().retracted == 1


def test_an_older_revision_is_skipped_with_a_warning(database):
    put(database)
    done = put(database, title="Old", revised="2024-06-01")
    assert done[:3] == (0, 0, 1)
    assert "101" in done.warnings[0]
    assert database.get_record("101").paper == PAPER


def test_a_lost_revision_date_takes_nothing_back(database):
    put(database)
    put(database, title="New", revised="")
    record = database.get_record("101")
    assert (record.version, record.lr) == (2, "2024-06-15")
    assert put(database, title="Old", revised="2024-06-01").skipped == 1


def test_of_two_in_one_batch_the_later_revision_counts(database):
    later = replace(PAPER, title="New", revised="2024-09-01")
    assert database.store_records([later, PAPER])[:3] == (1, 0, 0)
    assert database.get_record("101").paper.title == "New"


def test_a_paper_without_pmid_is_refused_and_nothing_of_the_batch_is_kept(database):
    with pytest.raises(BadRequest, match="PMID"):
        database.store_records([PAPER, replace(PAPER, ids=Ids(doi="10.1000/b"))])
    assert database.count_rows().records == 0


def test_nothing_kept_is_an_answer(database):
    assert database.get_record("1") is None
    assert database.get_records(["1", "x", "99999999999999", "\u0663"]) == {}
    assert database.list_record_states(0, 9) == []
    assert database.get_checkpoint("k") is None
    assert database.store_records([])[:4] == (0, 0, 0, None)


def test_records_are_paged_by_number(database):
    pmids = ["9", "10", "100", "11"]
    database.store_records([replace(PAPER, ids=Ids(pmid=pmid)) for pmid in pmids])
    first = database.list_record_states(0, limit=3)
    rest = database.list_record_states(first[-1].pmid, limit=3)
    assert [state.pmid for state in [*first, *rest]] == [9, 10, 11, 100]
    assert {state.source for state in first} == {None}


def test_records_with_the_mark_of_their_content_are_counted_and_left_out(database):
    for pmid in ("1", "2", "3", "4"):
        put(database, ids=Ids(pmid=pmid))
    hashes = [state.content_hash[:32] for state in database.list_record_states(0, 9)]
    sources = [
        Source("digest", f"2 {hashes[0]}", "pmid:1"),
        Source("digest", f"1 {hashes[1]}", "pmid:2"),  # marked by other rules
        Source("", f"2 {hashes[2]}", "pmid:3"),  # interrupted
    ]
    database.store_sources({f"pmid:{n}": source for n, source in enumerate(sources, 1)})
    assert database.count_living_records("2 ") == (4, 3, 1)
    states = database.list_record_states(0, 9, "2 ")
    assert [(state.pmid, state.source) for state in states] == [
        (2, sources[1]),
        (3, sources[2]),
        (4, None),
    ]
    database.store_sources({"file:a.txt": Source("digest")})
    assert database.list_papers_without_record() == ["file:a.txt"]


def test_more_records_than_a_statement_takes(database):
    many = [replace(PAPER, ids=Ids(pmid=str(n))) for n in range(1, 3001)]
    assert database.store_records(many).inserted == 3000
    assert database.store_records(many).skipped == 3000
    assert len(database.get_records([paper.ids.pmid for paper in many])) == 3000


def test_two_who_write_the_same_at_once_make_one_record(database, database_url, tmp_path):
    settings = load_settings(database_url=database_url or None)
    other = CorpusDatabase.from_settings(settings, tmp_path / "papers")
    done = []

    def write(into, title):
        papers = [replace(PAPER, ids=Ids(pmid=str(n)), title=title) for n in range(1, 200)]
        done.append(into.store_records(papers))

    threads = [
        threading.Thread(target=write, args=pair) for pair in ((database, "A"), (other, "B"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert sorted((d.inserted, d.updated) for d in done) == [(0, 199), (199, 0)]
    pmids = [str(n) for n in range(1, 200)]
    assert {r.version for r in database.get_records(pmids).values()} == {2}


# -- watermarks --------------------------------------------------------------------------------


def test_a_watermark_moves_backwards_by_hand_only(database):
    database.set_checkpoint("k", "2024-06-02", manual=False)
    with pytest.raises(InvariantFailed, match="2024-06-02"):
        database.set_checkpoint("k", "2024-06-01", manual=False)
    database.set_checkpoint("k", "2024-01-01T10:00:00Z", manual=True, by="ann")
    assert database.get_checkpoint("k").last_edat == "2024-01-01"
    told = [(m.before, m.after, m.manual, m.by) for m in database.list_watermark_moves("k")]
    assert told == [
        (None, "2024-06-02", False, ""),
        ("2024-06-02", "2024-01-01", True, "ann"),
    ]


def test_the_same_watermark_again_is_no_move(database):
    for _ in range(2):
        database.set_checkpoint("k", "2024-06-02", manual=False)
    assert len(database.list_watermark_moves("k")) == 1


@pytest.mark.parametrize(
    "day", ["", "2024", "2024-02-30", "yesterday", "2024-01-01x", "\u0662024-01-01", "2024-13-01"]
)
def test_a_watermark_is_a_day(database, day):
    with pytest.raises(BadRequest, match="day"):
        database.set_checkpoint("k", day, manual=True)


def test_a_watermark_in_the_future_is_refused(database):
    for manual in (True, False):
        with pytest.raises(BadRequest, match="future"):
            database.set_checkpoint("k", "2999-01-01", manual=manual)
    assert database.get_checkpoint("k") is None


def test_days_and_timestamps():
    assert parse_iso_day("2025-08-17T15:59:02.5+00:00") == "2025-08-17"
    assert day_to_timestamp("2025-08-17") == "2025-08-17T00:00:00Z"
    assert day_to_timestamp(None) is day_to_timestamp("2025-08") is None


# -- passages ----------------------------------------------------------------------------------

PASSAGE = Passage(
    "pmid:101", "abs:0", "Abstract", 0, "They glow.", 14, 24, "abstract", digest="d0",
    title="On corals", year=2024, journal="Sea", publication_types=("Review", "\u0416"),
)  # fmt: skip


def of(number, **changes):
    facts = {"chunk_id": f"abs:{number}", "ordinal": number, "digest": f"d{number}", **changes}
    return replace(PASSAGE, **facts)


def test_passages_come_back_in_their_order(database):
    made = [of(n) for n in (2, 0, 1)]
    database.replace_passages([("pmid:101", Source("s1"), made)])
    assert database.get_passages_of_paper("pmid:101") == [of(0), of(1), of(2)]
    assert database.get_passages([of(1).uuid, "unknown"]) == {of(1).uuid: of(1)}
    assert database.get_sources(["pmid:101", "pmid:102"]) == {"pmid:101": Source("s1")}
    assert database.count_rows().passages == 3


def test_passages_are_replaced_by_those_of_the_new_text(database):
    database.replace_passages([("pmid:101", Source("s1"), [of(0), of(1), of(2)])])
    elsewhere, rewritten = of(0, start=20, end=30), of(1, text="They shine.", digest="new")
    now = [elsewhere, rewritten, of(3)]
    for _ in range(2):
        database.replace_passages([("pmid:101", Source("s2"), now)])
        assert database.get_passages_of_paper("pmid:101") == [elsewhere, rewritten, of(3)]
        assert database.get_sources(["pmid:101"]) == {"pmid:101": Source("s2")}


def test_texts_are_stored_compressed_and_older_ones_are_read(database):
    long = of(0, text="They glow in the dark. " * 100)
    database.replace_passages([("pmid:101", Source("s1"), [long, of(1)])])
    with database.open_writing() as connection:
        query = text("SELECT length(text) FROM corpus_passages WHERE ordinal = 0")
        if not database.is_postgresql:
            assert connection.execute(query).scalar() < len(long.text) / 10
        change = "UPDATE corpus_passages SET text = 'Uncompressed.' WHERE ordinal = 1"
        connection.execute(text(change))
    assert database.get_passages_of_paper("pmid:101") == [long, of(1, text="Uncompressed.")]


def cut_record(database):
    """Cut the stored record of `PAPER`, store its passages, and return them."""
    record = database.get_record("101")
    cut = PaperText("pmid:101", record.paper, mark=f"3 {record.content_hash[:32]}")
    passages = cut.split_into_passages(None)
    database.replace_passages([("pmid:101", cut.source, passages)])
    return [replace(one, title=one.title.replace("\ud800", "\ufffd")) for one in passages]


def count_whole_passages(database):
    with database.open_reading() as connection:
        query = text("SELECT count(*) FROM corpus_passages WHERE length(text) > 0")
        return connection.execute(query).scalar()


def test_the_words_of_a_passage_are_stored_once_with_the_record(database):
    put(database, journal="Sea", abstract="They glow. " * 400)
    passages = cut_record(database)
    assert len(passages) > 2
    assert database.get_passages_of_paper("pmid:101") == passages
    assert database.list_passages() == sorted(passages, key=lambda one: one.uuid)
    assert count_whole_passages(database) == 0


def test_a_passage_stays_as_it_was_cut_when_its_record_changes(database):
    put(database)
    passages = cut_record(database)
    put(database, keywords=("coral",), revised="2024-07-01")
    assert count_whole_passages(database) == 0
    put(database, abstract="They glow at night.", journal="Sea", revised="2024-08-01")
    assert database.get_passages_of_paper("pmid:101") == passages
    assert count_whole_passages(database) == 1
    [new] = cut_record(database)
    assert database.get_passages_of_paper("pmid:101") == [new]
    assert (new.text, count_whole_passages(database)) == ("They glow at night.", 0)


def test_a_record_that_changed_while_it_was_cut_lends_no_words(database):
    put(database)
    old = PaperText("pmid:101", PAPER, mark=f"3 {database.get_record('101').content_hash[:32]}")
    put(database, abstract="They glow at night.", revised="2024-07-01")
    passages = old.split_into_passages(None)
    database.replace_passages([("pmid:101", old.source, passages)])
    assert [one.text for one in database.get_passages_of_paper("pmid:101")] == ["They glow."]


def test_records_are_stored_compressed_and_older_ones_are_read(database):
    long = replace(PAPER, abstract="They glow in the dark. " * 100)
    database.store_records([long])
    query = text("SELECT length(paper) FROM corpus_records")
    with database.open_writing() as connection:
        if not database.is_postgresql:
            assert connection.execute(query).scalar() < len(long.abstract) / 5
        change = text("UPDATE corpus_records SET paper = :paper")
        plain, _ = serialize_paper_and_hash(PAPER)
        assert database.get_record("101").paper == long
        connection.execute(change, {"paper": plain})
    assert database.get_record("101").paper == PAPER


def test_a_dropped_paper_leaves_nothing(database):
    database.replace_passages([("pmid:101", Source("s1"), [of(0)])])
    database.replace_passages([("pmid:102", Source("s1"), [of(0, paper="pmid:102")])])
    assert database.delete_paper_passages("pmid:101") == [of(0).uuid]
    assert database.get_sources(["pmid:101", "pmid:102"]).keys() == {"pmid:102"}
    assert len(database.list_passages()) == 1


def test_every_passage_comes_once_in_pages(database):
    database.replace_passages([("pmid:101", Source("s"), [of(n) for n in range(25)])])
    found, after = [], ""
    while page := database.list_passages(after, limit=10):
        found += page
        after = page[-1].uuid
    assert len({made.uuid for made in found}) == len(found) == 25


def test_text_no_database_takes_keeps_its_length(database):
    database.replace_passages([("pmid:101", Source("s"), [of(0, text="a\0b\ud800c")])])
    assert database.get_passages_of_paper("pmid:101")[0].text == "a\ufffdb\ufffdc"


# -- the database ------------------------------------------------------------------------------


def test_nothing_is_made_before_it_is_used(tmp_path):
    made = CorpusDatabase.from_settings(load_settings(), tmp_path / "papers")
    assert not (tmp_path / "papers").exists()
    put(made)
    folder = tmp_path / "papers/.papershelf/corpus"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with made.open_reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
    made.close()


def test_a_newer_schema_is_refused(database):
    with database.open_writing() as connection:
        connection.execute(text("UPDATE corpus_version SET version = 99"))
    database.close()
    with pytest.raises(StoreFailed, match="newer version"):
        database.get_record("1")


def test_an_older_schema_is_brought_here_and_keeps_its_records(database, monkeypatch):
    put(database)
    database.close()
    now = corpus_schema.VERSION
    steps = {now: ("ALTER TABLE corpus_records ADD COLUMN colour TEXT",), now + 1: ()}
    monkeypatch.setattr(corpus_schema, "VERSION", now + 2)
    monkeypatch.setattr(corpus_schema, "_STEPS", steps)
    assert database.get_record("101").paper == PAPER
    with database.open_reading() as connection:
        columns = {c["name"] for c in inspect(connection).get_columns("corpus_records")}
        assert connection.execute(text("SELECT version FROM corpus_version")).scalar() == now + 2
    assert "colour" in columns


def test_the_first_schema_gets_the_table_of_names(database):
    put(database)
    with database.open_writing() as connection:
        connection.execute(text("DROP TABLE corpus_names"))
        for column in ("mark", "names"):
            connection.execute(text(f"ALTER TABLE corpus_sources DROP COLUMN {column}"))
        connection.execute(text("UPDATE corpus_version SET version = 1"))
    database.close()
    database.increase_name_counts({AlternativeName("journal", "reef stud", "Reef Studies"): 2})
    database.increase_name_counts({AlternativeName("journal", "reef stud", "Reef Studies"): 1})
    assert database.find_journal_names("Reef Stud.") == ("Reef Studies",)
    assert database.get_record("101").paper == PAPER


def test_a_step_that_fails_changes_nothing(database, monkeypatch):
    put(database)
    database.close()
    now = corpus_schema.VERSION
    steps = {now: ("ALTER TABLE corpus_records ADD COLUMN colour TEXT", "NONSENSE")}
    with monkeypatch.context() as patched:
        patched.setattr(corpus_schema, "VERSION", now + 1)
        patched.setattr(corpus_schema, "_STEPS", steps)
        with pytest.raises(StoreFailed):
            database.get_record("101")
    assert database.get_record("101").version == 1
    with database.open_reading() as connection:
        columns = {c["name"] for c in inspect(connection).get_columns("corpus_records")}
    assert "colour" not in columns


def test_a_lock_is_held_by_one(database, database_url, tmp_path):
    settings = load_settings(database_url=database_url or None)
    other = CorpusDatabase.from_settings(settings, tmp_path / "papers")
    with database.exclusive_lock("k", 1.0):
        with pytest.raises(StoreBusy, match="k"), other.exclusive_lock("k", 1.0):
            pass
        with other.exclusive_lock("another", 1.0):
            pass
    with other.exclusive_lock("k", 1.0):
        pass
    other.close()


def test_who_opens_it_to_read_does_not_wait_for_a_writer(
    database, database_url, tmp_path, monkeypatch
):
    monkeypatch.setattr(corpus_schema, "_PATIENCE_S", 1)
    put(database)
    other = CorpusDatabase.from_settings(
        load_settings(database_url=database_url or None), tmp_path / "papers"
    )
    with database.open_writing():
        assert other.count_rows().records == 1
        with pytest.raises(StoreFailed) as refused:
            put(other)
    assert "Another process holds it" in refused.value.hint
    other.close()


def test_who_waits_for_a_lock_is_told_who_has_it_and_since_when(database, database_url, tmp_path):
    settings = load_settings(database_url=database_url or None)
    other = CorpusDatabase.from_settings(settings, tmp_path / "papers")
    said = []
    with (
        database.exclusive_lock("k", 0.0),
        pytest.raises(StoreBusy) as refused,
        other.exclusive_lock("k", 0.5, said.append),
    ):
        pass
    holder = rf"Process {os.getpid()} on \S.*, since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
    assert re.fullmatch(rf"Another process is at work on k: {holder}\.", refused.value.message)
    assert refused.value.envelope()["error"]["code"] == "STORE"
    assert refused.value.details["retryable"] is True
    assert re.fullmatch(holder, refused.value.details["holder"])
    [told] = said
    assert re.fullmatch(rf"Waiting for another that is at work on k: {holder}", told)
    with database.exclusive_lock("k", 0.0, said.append):
        pass
    assert said == [told]
    other.close()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_whoever_holds_a_lock_unsigned_is_another_process(database, tmp_path):
    """Killed between the two, or written by an older version."""
    other = CorpusDatabase.from_settings(load_settings(), tmp_path / "papers")
    with database.exclusive_lock("k", 0.0):
        [signed] = (tmp_path / "papers/.papershelf/corpus").glob("*.holder")
        signed.write_bytes(b"\xff\x1b[31mred\n" * 9_999)
        with pytest.raises(StoreBusy) as refused, other.exclusive_lock("k", 0.0):
            pass
        assert refused.value.message.isprintable()
        assert len(refused.value.message) < 300
        signed.unlink()
        with (
            pytest.raises(StoreBusy, match="on k: Another process"),
            other.exclusive_lock("k", 0.0),
        ):
            pass
    other.close()


@pytest.mark.extras("psycopg")
@pytest.mark.parametrize("spelling", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_a_server_that_is_away_is_told_without_the_password(spelling, tmp_path):
    url = f"{spelling}://ann:geheim@127.0.0.1:1/papers"
    made = CorpusDatabase.from_settings(load_settings(database_url=url), tmp_path)
    with pytest.raises(StoreFailed) as failed:
        made.get_record("1")
    assert "127.0.0.1" in str(failed.value)
    assert "geheim" not in f"{failed.value!r} {failed.value.details}"


@pytest.mark.parametrize("url", ["mysql://a:geheim@b/c", "geheim", "postgresql://a:geheim@b:x/c"])
def test_an_address_of_something_else_is_refused(url, tmp_path):
    with pytest.raises(BadRequest, match="DATABASE_URL") as refused:
        CorpusDatabase.from_settings(load_settings(database_url=url), tmp_path)
    assert "geheim" not in str(refused.value)


def test_a_damaged_file_is_told(tmp_path):
    folder = tmp_path / ".papershelf/corpus"
    folder.mkdir(parents=True)
    (folder / "corpus.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreFailed, match="damaged"):
        CorpusDatabase.from_settings(load_settings(), tmp_path).get_record("1")
