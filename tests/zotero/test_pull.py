"""Papers out of Zotero: the local API, zotero.org, and the database."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.world.zotero import API_KEY
from tests.zotero.conftest import FERN, MOSS
from utils import Library
from utils.errors import BadRequest, NotAvailable, NotConfigured, NothingFound, Unreachable
from utils.lists.references import read_file_entries
from utils.manuscript.reading import read_manuscript
from utils.zotero import find_collection, read_collection_as_entries
from utils.zotero.items import item_to_paper


def titles(entries):
    return [entry.paper.title for entry in entries]


def test_a_library_is_read_without_deleted_items_notes_and_files(beside):
    entries = beside.zotero.pull()
    assert titles(entries) == [
        "Moss grows in the dark of a cave",
        "Ferns and their light on the ground of old woods",
        "A lichen of which no database knows anything",
    ]
    assert entries[0].ids.names() == ["doi:10.5555/moss.1", "pmid:31452104"]
    assert entries[1].ids.names() == ["arxiv:2601.00001"]
    assert not entries[2].ids


def test_fields_become_those_of_a_paper(beside):
    moss, fern, _ = (entry.paper for entry in beside.zotero.pull())
    assert (moss.journal, moss.volume, moss.issue, moss.pages) == (
        "Journal of Moss", "4", "2", "11-19"
    )  # fmt: skip
    assert (moss.published, moss.issn, moss.authors[0].name) == (
        "2019-05-03", "1234-5678", "Jane Roe"
    )  # fmt: skip
    assert (fern.year, fern.authors[0].collective) == ("2026", "The Fern Consortium")
    assert fern.publication_types == ("Preprint",)


@pytest.mark.parametrize("name", ["Low", "low", "Plants/Low", "/plants/low/"])
def test_a_collection_is_found_by_name_or_path(beside, name):
    assert titles(beside.zotero.pull(name)) == ["Moss grows in the dark of a cave"]


def test_a_collection_is_found_by_its_key(beside, zotero):
    key = next(key for key, one in zotero.local.collections.items() if one["name"] == "Low")
    assert len(beside.zotero.pull(key)) == 1


def test_an_unknown_collection_names_those_there_are(beside):
    with pytest.raises(BadRequest, match=r"no collection 'Trees'.*Plants, Plants/Low"):
        beside.zotero.pull("Trees")


def test_two_collections_of_one_name_are_told_apart_by_path():
    rows = [
        {"key": "AAAAAAAA", "name": "Low", "parentCollection": False},
        {"key": "BBBBBBBB", "name": "Low", "parentCollection": "CCCCCCCC"},
        {"key": "CCCCCCCC", "name": "Plants", "parentCollection": False},
    ]
    assert find_collection(rows, "Plants/Low") == "BBBBBBBB"
    rows[0] |= {"parentCollection": "DDDDDDDD"}
    rows.append({"key": "DDDDDDDD", "name": "Roofs", "parentCollection": "DDDDDDDD"})
    with pytest.raises(BadRequest, match="2 Zotero collections"):
        find_collection(rows, "Low")


def test_an_empty_collection_is_said_to_be_empty(beside, zotero):
    zotero.local.add("collections", name="Bare", parentCollection=False)
    with pytest.raises(NothingFound, match="'Bare' in Zotero has no papers"):
        beside.zotero.pull("Bare")


def test_a_zotero_that_does_not_run_is_named_with_what_to_do(shelf_settings):
    library = Library(**shelf_settings | {"zotero_local_url": "http://127.0.0.1:9/api"})
    with pytest.raises(Unreachable, match=r"is not running.*zotero\.pull\(database="):
        library.zotero.pull()


def test_a_local_api_that_is_off_says_what_to_switch_on(beside, zotero):
    zotero.is_enabled = False
    with pytest.raises(NotConfigured, match="Allow other applications"):
        beside.zotero.pull()


def test_with_a_key_zotero_org_is_asked_where_the_program_does_not_answer(zotero, shelf_settings):
    library = Library(**shelf_settings, zotero_api_key=API_KEY)
    zotero.is_enabled = False
    zotero.web.add("items", itemType="journalArticle", title="Only on the web", collections=[])
    assert "Only on the web" in titles(library.zotero.pull())


def test_the_program_is_asked_first_also_with_a_key(zotero, shelf_settings):
    library = Library(**shelf_settings, zotero_api_key=API_KEY)
    assert len(library.zotero.pull()) == 3
    assert not any(path.startswith("/web") for _, path, _ in zotero.requests)


def test_a_wrong_key_is_refused_and_not_repeated(zotero, shelf_settings, caplog):
    caplog.set_level("DEBUG")
    zotero.is_enabled = False
    library = Library(**shelf_settings, zotero_api_key="s3cret-wrong")
    with pytest.raises(NotAvailable, match="does not give this key") as refused:
        library.zotero.pull()
    assert "s3cret" not in str(refused.value) + caplog.text


def test_a_large_library_is_read_page_by_page(zotero, shelf_settings):
    for number in range(230):
        zotero.web.add("items", itemType="journalArticle", title=f"Moss {number}", collections=[])
    zotero.is_enabled = False
    library = Library(**shelf_settings, zotero_api_key=API_KEY)
    assert len(set(titles(library.zotero.pull()))) == 233


def test_a_library_that_changes_on_the_way_is_read_again(zotero, beside, monkeypatch):
    for number in range(150):
        zotero.local.add("items", itemType="journalArticle", title=f"Moss {number}", collections=[])
    serve, changes = zotero._serve, iter([True])

    def change_once(call):
        reply = serve(call)
        if "items/top" in call.path and next(changes, False):
            zotero.local.add("items", itemType="journalArticle", title="Late", collections=[])
        return reply

    monkeypatch.setattr(zotero, "_serve", change_once)
    assert titles(beside.zotero.pull()).count("Late") == 1


@pytest.mark.parametrize("fault", ["storm", "down", "cut"])
def test_zotero_org_is_asked_again_after_a_fault(zotero, shelf_settings, clock, fault):
    zotero.is_enabled = False
    zotero.fail(fault, "/web/users")
    library = Library(**shelf_settings, zotero_api_key=API_KEY)
    assert len(library.zotero.pull()) == 3
    assert fault != "storm" or max(clock.naps) >= 7


def test_a_pause_that_zotero_org_asks_for_is_kept(zotero, shelf_settings, clock):
    zotero.is_enabled = False
    zotero.fail("backoff", "/web/keys")
    library = Library(**shelf_settings, zotero_api_key=API_KEY)
    began = clock.time()
    library.zotero.pull()
    assert clock.time() - began >= 11


def test_an_answer_of_another_program_is_not_taken_for_a_library(zotero, beside, monkeypatch):
    from utils.demo.wire import as_json

    monkeypatch.setattr(zotero, "_serve", lambda call: as_json([{"hello": 1}]))
    with pytest.raises(Unreachable, match="not from Zotero's API"):
        beside.zotero.pull()


def test_the_address_of_the_program_stays_closed_to_links_of_papers(zotero, shelf_settings):
    library = Library(**shelf_settings | {"zotero_base_url": "https://api.zotero.org"})
    assert len(library.zotero.pull()) == 3
    zotero.requests.clear()
    with pytest.raises(NotAvailable, match="private network"):
        library.web.get(f"{zotero.settings['zotero_local_url']}/users/0/items")
    assert not zotero.requests


def test_the_program_is_read_also_when_papershelf_is_offline(zotero, shelf_settings):
    assert len(Library(**shelf_settings, papers_offline=True).zotero.pull()) == 3


def test_a_group_is_named_in_a_setting(shelf_settings):
    with pytest.raises(BadRequest, match=r"no such library"):
        Library(**shelf_settings, zotero_library="groups/7").zotero.pull()
    with pytest.raises(BadRequest, match="groups/ID"):
        Library(**shelf_settings, zotero_library="../keys").zotero.pull()


@pytest.mark.parametrize("name", ["moss.ris", "moss.bib", "moss.nbib", "moss.csv"])
def test_a_written_list_names_the_same_papers(run, tmp_path, name):
    status, _, said = run("zotero", "pull", "--output", tmp_path / name)
    assert status == 0
    assert "3 papers, 1 of them without an identifier" in said
    entries = list(read_file_entries((tmp_path / name).read_bytes(), name))
    assert [entry.ids.names() for entry in entries[:2]] == [
        ["doi:10.5555/moss.1", "pmid:31452104"],
        ["arxiv:2601.00001"],
    ]
    assert entries[2].paper.title.rstrip(".") == "A lichen of which no database knows anything"


def test_a_list_is_printed_with_the_command_that_harvests_it(run):
    status, said, remarks = run("zotero", "pull", "--collection", "Plants/Low")
    assert (status, said.count("\n")) == (0, 1)
    assert "harvest zotero:Plants/Low" in remarks


def test_rows_are_json(run):
    _, said, _ = run("zotero", "pull", "--json")
    assert [json.loads(line)["pmid"] for line in said.splitlines()] == ["31452104", "", ""]


def test_a_collection_is_a_list_wherever_a_file_of_papers_is(run):
    status, said, _ = run("harvest", "resolve", "zotero:Low", "--json")
    assert status == 0
    assert json.loads(said)["pmid"] == "31452104"
    status, _, said = run("harvest", "zotero:Trees", "--plan")
    assert status == 2
    assert "no collection 'Trees'" in said


def test_hostile_fields_are_only_text():
    paper = item_to_paper(
        {
            "title": "<script>alert(1)</script>\x1b[31mMoss\u202e\x00 in a cave" + "a" * 10**6,
            "creators": [None, 3, {"lastName": ["x"]}, {"lastName": "Roe\nPoe"}] * 5,
            "DOI": ["10.1/x"], "date": {"year": 1}, "extra": 7, "ISSN": "x" * 10**6,
            "url": "file:///etc/passwd", "volume": None,
        }
    )  # fmt: skip
    assert "\x1b" not in paper.title
    assert "\u202e" not in paper.title
    assert len(paper.title) <= 2000
    assert {author.family for author in paper.authors} == {"Roe Poe"}
    assert not paper.ids
    assert paper.issn == ""


SCHEMA = """
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, libraryID INT, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT,
    parentCollectionID INT, libraryID INT, key TEXT);
CREATE TABLE collectionItems (collectionID INT, itemID INT);
INSERT INTO libraries VALUES (1, 'user'), (2, 'group');
INSERT INTO groups VALUES (77, 2);
INSERT INTO itemTypes VALUES (1, 'journalArticle'), (2, 'attachment');
INSERT INTO fields VALUES (1, 'title'), (2, 'date'), (3, 'DOI'), (4, 'extra');
INSERT INTO items VALUES (1, 1, 1, 'AAAAAAAA'), (2, 2, 1, 'BBBBBBBB'), (3, 1, 1, 'CCCCCCCC'),
    (4, 1, 2, 'DDDDDDDD');
INSERT INTO deletedItems VALUES (3);
INSERT INTO itemDataValues VALUES (1, 'Moss in a cave'), (2, '2019-05-00 May 2019'),
    (3, '10.5555/moss.1'), (4, 'PMID: 31452104'), (5, 'Moss of a group');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4), (4, 1, 5);
INSERT INTO creatorTypes VALUES (1, 'author');
INSERT INTO creators VALUES (1, 'Jane', 'Roe', 0), (2, '', 'The Moss Group', 1);
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0);
INSERT INTO collections VALUES (1, 'Plants', NULL, 1, 'EEEEEEEE'), (2, 'Low', 1, 1, 'FFFFFFFF');
INSERT INTO collectionItems VALUES (2, 1);
"""  # the columns that are read, of resource/schema/userdata.sql and system.sql in zotero/zotero


@pytest.fixture
def database(tmp_path):
    """The file of a closed Zotero."""
    file = tmp_path / "Zotero" / "zotero.sqlite"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as db:
        db.executescript(SCHEMA)
    return file


def test_the_database_gives_the_same_papers_as_the_interfaces(beside, database):
    [entry] = beside.zotero.pull(database=database)
    assert entry.ids.names() == ["doi:10.5555/moss.1", "pmid:31452104"]
    assert [author.name for author in entry.paper.authors] == ["Jane Roe", "The Moss Group"]
    assert entry.paper.published == "2019-05"
    assert beside.zotero.pull("Plants/Low", database=database.parent) == [entry]


def test_a_group_in_the_database(shelf_settings, database):
    library = Library(**shelf_settings, zotero_library="groups/77")
    assert titles(library.zotero.pull(database=database)) == ["Moss of a group"]
    with pytest.raises(BadRequest, match="Its group libraries: groups/77"):
        Library(**shelf_settings, zotero_library="groups/8").zotero.pull(database=database)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_that_an_open_zotero_has_locked_is_read_from_a_copy(beside, database, mode):
    with closing(sqlite3.connect(database, isolation_level=None)) as held:
        held.execute("PRAGMA locking_mode = EXCLUSIVE")
        held.execute(f"PRAGMA journal_mode = {mode}")
        held.execute("UPDATE itemDataValues SET value = 'Moss, revised' WHERE valueID = 1")
        assert titles(beside.zotero.pull(database=database)) == ["Moss, revised"]
        held.execute("UPDATE itemDataValues SET value = 'Still open' WHERE valueID = 1")


def test_the_database_of_zotero_is_not_changed(beside, database):
    before = database.read_bytes()
    beside.zotero.pull(database=database)
    assert database.read_bytes() == before
    assert [file.name for file in database.parent.iterdir()] == ["zotero.sqlite"]


def test_a_file_that_is_not_a_database_of_zotero_is_refused(beside, tmp_path, database):
    (tmp_path / "other.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(BadRequest, match="not a database"):
        beside.zotero.pull(database=tmp_path / "other.sqlite")
    with closing(sqlite3.connect(database)) as db:
        db.executescript("DROP TABLE itemData; CREATE TABLE itemData (x)")
    with pytest.raises(BadRequest, match="not a Zotero database"):
        beside.zotero.pull(database=database)
    with pytest.raises(BadRequest, match="nowhere does not exist"):
        beside.zotero.pull(database=tmp_path / "nowhere")


def test_a_collection_is_the_list_of_references_of_a_manuscript(beside, zotero, tmp_path):
    fern = {**FERN, "extra": "Citation Key: fern2026"}
    zotero.local.add("items", **fern, collections=[], tags=[])
    zotero.local.add("items", **{**MOSS, "DOI": "10.5555/moss.2"}, citationKey="roe2019",
                     collections=[], tags=[])  # fmt: skip
    manuscript = tmp_path / "draft.md"
    manuscript.write_text("Moss grows [@roe2019]. Ferns do not [@fern2026].", encoding="utf-8")
    read = read_manuscript(manuscript, (), read_collection_as_entries(beside.settings, ""))
    listed = {one.key: one for one in read.references if one.key}
    assert listed["roe2019"].ids.doi == "10.5555/moss.2"
    assert listed["roe2019"].paper.title == "Moss grows in the dark of a cave"
    assert listed["fern2026"].ids.arxiv == "2601.00001"


def test_check_takes_a_collection_of_zotero_as_a_list(run, tmp_path, zotero, monkeypatch):
    zotero.local.add("items", **MOSS, citationKey="roe2019", collections=[], tags=[])
    monkeypatch.setenv("PAPERS_OFFLINE", "true")
    manuscript = tmp_path / "draft.md"
    manuscript.write_text("Moss grows [@roe2019].", encoding="utf-8")
    _, found, remarks = run("check", manuscript, "--references", "zotero:")
    assert "is cited, but in no list of references" not in found + remarks
    assert "roe2019" in found
    _, found, remarks = run("check", manuscript, "--references", "zotero:Nothing")
    assert "Zotero has no collection 'Nothing'" in remarks
