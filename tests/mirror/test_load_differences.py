"""What is changed of a loaded mirror is what a whole load would have made."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from random import Random
from threading import Event, Semaphore

import pytest
from sqlalchemy import text

from tests.databases import POSTGRESQL
from tests.examples import share
from tests.mirror.loading import answers, asked, killed, library, loaded, new_url, open_library, url
from tests.mirror.loading import paper_of_both as of_both
from tests.mirror.small_mirror import article, mirror_of, updated
from tests.world.pubmed_files import name_of, packed
from tests.world.pubmed_xml import pubmed_article
from utils.corpus.mirror_difference import NONE
from utils.corpus.shared_mirror import published
from utils.errors import StoreFailed
from utils.mirror.passages import PassageIndex
from utils.model.identifiers import Ids
from utils.model.passage import Filters

__all__ = ["library", "new_url", "open_library", "url"]

pytestmark = [pytest.mark.extras("pyarrow", "duckdb", "tantivy"), POSTGRESQL]
TABLES = {
    "records": "SELECT pmid, paper, content_hash, edat, lr, year, retracted FROM corpus_records",
    "texts": "SELECT * FROM corpus_texts",
    "passages": "SELECT * FROM corpus_passages",
    "finder": """SELECT uuid, paper, year, journal, types, kind, retracted, length, mesh,
        vector::text FROM corpus_finder""",
    "terms": """SELECT term, uuid, long, weight FROM (
        SELECT term, unnest(passages) AS number, unnest(lengths) AS long, unnest(weights) AS weight
        FROM corpus_postings) AS each JOIN corpus_finder USING (number)""",
    "names": "SELECT * FROM corpus_names",
    "parts": "SELECT * FROM corpus_parts",
    "rows": "SELECT sequence, position, beside, key, passages FROM corpus_rows",
    "counts": "SELECT model, dim, passages, length, vectors FROM corpus_finder_model",
}


@pytest.fixture
def mirror(world, tmp_path, embedder):
    made = mirror_of(world, tmp_path)
    updated(made)
    [*made.update_pmc()]
    return made


def everything(library):
    """All that is published, as sets of rows."""
    found = {}
    for one in published(library.corpus.database):
        found[one.source] = (one.generation, one.made_of, one.papers, one.passages, one.vectors)
        with library.corpus.database.reading() as db:
            db.execute(text(f'SET LOCAL search_path TO "{one.schema}", public'))
            for name, query in TABLES.items():
                rows = sorted(map(repr, db.execute(text(query))))
                found[one.source, name] = rows
    return found


class Changed:
    """Days of NLM's: revisions, deletions, records again and new ones, texts that change."""

    def __init__(self, world, chance):
        self.world, self.chance = world, chance
        self.numbers, self.days = count(70_000_001), count(5)
        self.gone = set()

    def day(self):
        """Change a few of each."""
        of_pubmed = [one for one in self.world.papers if one.pmid]
        revised = [self.revised(one) for one in self.chance.sample(of_pubmed, 3)]
        again = [pubmed_article(one) for one in self.gone if self.chance.random() < 0.5]
        new = [article(next(self.numbers), self.chance.choice(("Mosses", "Table of growth")))]
        self.gone = set(self.chance.sample(of_pubmed, 2))
        self.world.bulk.updates[name_of(26, next(self.days))] = packed(
            [*again, *map(pubmed_article, revised), *new], [one.pmid for one in self.gone]
        )
        for one in self.chance.sample([one for one in self.world.papers if one.cloud], 2):
            self.change_text(one)

    def revised(self, record):
        other = self.chance.choice(
            (
                {"title": f"Of moss and {self.chance.random()}"},
                {"mesh": ("Fire", "Mosses/growth")},
                {"types": ("Retracted Publication",)},
                {"published": f"{self.chance.randint(1990, 2024)}-02-03"},
            )
        )
        return replace(record, **other)

    def change_text(self, record):
        edited = self.world.cloud.edited
        if edited.pop(record.pmcid, None) is None:
            title = f"A text on moss {self.chance.random()}"
            other = self.chance.choice(({"cloud": ()}, {"title": title}))
            edited[record.pmcid] = replace(record, **other)


@pytest.mark.parametrize("seed", range(share(6)))
def test_changed_is_as_loaded_whole(mirror, library, open_library, new_url, world, seed):
    chance = Random(seed)
    changed, kept = Changed(world, chance), set()
    [*mirror.embed()]
    loaded(library)
    for _ in range(3):
        before = {one.schema for one in published(library.corpus.database)}
        changed.day()
        updated(mirror)
        [*mirror.update_pmc()]
        if chance.random() < 0.7:
            [*mirror.embed()]
        loaded(library)
        kept |= {one.source for one in published(library.corpus.database) if one.schema in before}
        fresh = open_library(database_url=new_url(), papers_mirror_store="database")
        assert loaded(fresh).changes == NONE
        mine, its = everything(library), everything(fresh)
        assert {name for name in its if mine[name] != its[name]} == set()
        questions = asked(of_both(world))
        assert answers(library, questions, "both") == answers(fresh, questions, "both")
        assert loaded(library).changed is False
    assert kept == {"pubmed", "pmc"}


def test_who_is_killed_has_changed_nothing(mirror, library, world, monkeypatch):
    [*mirror.embed()]
    loaded(library)
    before = everything(library)
    Changed(world, Random(1)).day()
    updated(mirror)
    [*mirror.update_pmc()]
    deaths = [at for at in range(1, 90, 90 // share(30)) if killed(library, monkeypatch, at)]
    assert everything(library) == before
    assert len(deaths) > 5
    assert loaded(library).changes != NONE
    assert everything(library) != before


def test_another_file_under_the_same_name_is_another(mirror, library, world):
    record = of_both(world)
    name = name_of(26, 4)
    world.bulk.updates[name] = packed([pubmed_article(record)])
    updated(mirror)
    loaded(library)
    world.bulk.updates[name] = packed([pubmed_article(replace(record, mesh=("Fire",)))])
    world.bulk.days[name] = "2026-02-03 04:05"
    updated(mirror)
    assert loaded(library).changes.revised == 2
    hits = library.mirrored.find(record.plain_title, filters=Filters(mesh=("Fire",))).hits
    assert {hit.passage.paper for hit in hits} == {f"pmid:{record.pmid}"}


_LOST = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND datname = current_database()"""
_FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON "{}".{} FOR EACH ROW EXECUTE FUNCTION full_disk()
"""


@pytest.mark.parametrize("table", ["corpus_records", "corpus_finder", "corpus_postings"])
def test_a_full_disk_of_the_server_changes_nothing(mirror, library, world, table):
    [*mirror.embed()]
    loaded(library)
    before = everything(library)
    [schema] = [one.schema for one in published(library.corpus.database) if one.source == "pubmed"]
    Changed(world, Random(1)).day()
    updated(mirror)
    with library.corpus.database.writing() as db:
        db.execute(text(_FULL.format(schema, table)))
    with pytest.raises(StoreFailed, match="No space left") as full:
        loaded(library)
    assert full.value.hint.startswith("Free disk space at the server.")
    assert everything(library) == before
    with library.corpus.database.writing() as db:
        db.execute(text("DROP FUNCTION full_disk CASCADE"))
    assert loaded(library).changes != NONE


@pytest.mark.parametrize("whole", [True, False])
def test_a_lost_connection_changes_nothing(mirror, library, world, monkeypatch, whole):
    [*mirror.embed()]
    if not whole:
        loaded(library)
        Changed(world, Random(1)).day()
        updated(mirror)
    before = everything(library)
    read = PassageIndex.passages

    def lost(*args):
        yield from read(*args)
        with contextlib.suppress(StoreFailed), library.corpus.database.reading() as db:
            db.execute(text(_LOST))

    with monkeypatch.context() as patched:
        patched.setattr(PassageIndex, "passages", lost)
        with pytest.raises(StoreFailed, match="connection is lost") as error:
            loaded(library)
    assert "Then run the same command again" in error.value.hint
    assert everything(library) == before
    assert loaded(library).changed


def test_who_searches_while_it_is_changed_sees_one_state(mirror, library, world):
    loaded(library)
    record = of_both(world)
    revised = replace(record, title="Of something else", mesh=("Fire",))
    world.cloud.edited[record.pmcid] = replace(record, title="Of something else")
    world.bulk.updates[name_of(26, 5)] = packed([pubmed_article(revised)])
    updated(mirror)
    [*mirror.update_pmc()]
    ended, searched, seen = Event(), Semaphore(0), set()

    def look():
        with library.mirrored._shared.seen() as now:
            of_record = now.database.record(record.pmid).paper.title.rstrip(".")
            of_text = now.shelf.find(Ids(pmcid=record.pmcid)).paper.title
        seen.add((of_record, of_text))
        searched.release()

    def search():
        while not ended.is_set():
            look()

    look()
    with ThreadPoolExecutor() as threads:
        searching = [threads.submit(search) for _ in range(3)]
        try:
            for _ in library.mirrored.load():
                for _ in range(6):
                    searched.acquire(timeout=60)
        finally:
            ended.set()
        for one in searching:
            one.result()
    look()
    assert seen == {(record.plain_title,) * 2, ("Of something else",) * 2}
