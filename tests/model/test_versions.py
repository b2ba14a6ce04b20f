"""Preprint, accepted manuscript and published version: three texts of one paper."""

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.harvests import done, library_of
from tests.shelf.papers import assert_consistent, document, fetched, index, paper, save, texts
from tests.world import World
from utils import Library
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper, StoredPaper
from utils.model.versions import infer_requested_version, is_only_preprint, is_request_satisfied
from utils.reports import read_lock
from utils.shelf import Shelf
from utils.shelf.ledger_file import VERSION, migrate_ledger

PREPRINT = "2509.11015"
DOI = "10.9101/j.2025.0015"


@pytest.fixture(scope="module")
def _world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.fixture
def world(_world: World) -> World:
    _world.reset()
    return _world


@pytest.fixture
def library(world: World, tmp_path: Path) -> Iterator[Library]:
    made = library_of(world, tmp_path)
    yield made
    made.shelf.close()


def story(one: StoredPaper) -> dict[str, str]:
    return {attempt.source: attempt.outcome for attempt in one.attempts}


def asked_of(world: World, service: str) -> int:
    return sum(request.service == service for request in world.requests)


def publish(library: Library, about: Paper, version: str = "published") -> StoredPaper:
    """Put a text of one version on the shelf, as if a source had just sent it."""
    made = document(version=version)
    return library.shelf.save_full_text(about, made, fetched(), source="PMC", attempts=())


# -- downloads ---------------------------------------------------------------------------------


def test_after_its_preprint_a_paper_is_looked_for_by_its_doi(library, world):
    preprint = library.download(f"arXiv:{PREPRINT}")
    assert (preprint.stored.version, preprint.stored.preprint_version) == ("preprint", "2")
    assert Path(preprint.file_path).name == f"arxiv_{PREPRINT}.txt"
    before = asked_of(world, "publisher")

    article = library.download(DOI)
    assert asked_of(world, "publisher") > before  # the rungs of the published version, at once
    assert (article.row()["version"], article.cached) == ("preprint", True)
    assert "the preprint of" in article.message
    assert "The published version was not found, so this is used instead" in article.message
    assert story(article.stored)["arxiv"] == "other_version"
    assert sum(r.service == "arxiv" and "/pdf/" in r.path for r in world.requests) <= 1


def test_what_stands_in_is_served_until_its_time_is_over(library, world, tmp_path):
    library.download(f"arXiv:{PREPRINT}")
    library.download(DOI)
    before = len(world.requests)
    assert library.download(DOI).cached
    assert library.download(f"arXiv:{PREPRINT}").message.endswith("already on the shelf.")
    assert len(world.requests) == before
    later = library_of(world, tmp_path, papers_retry_abstract_days=0.0)
    assert later.download(DOI).stored.version == "preprint"
    assert len(world.requests) > before
    later.shelf.close()


def test_both_texts_lie_side_by_side_and_each_is_found_by_its_name(library):
    preprint = library.download(f"arXiv:{PREPRINT}").stored
    article = publish(library, replace(preprint.paper, publication_types=("Journal Article",)))
    shelf = library.shelf
    assert texts(shelf) == sorted([Path(preprint.path).name, Path(article.path).name])
    by_doi, by_arxiv = shelf.find_text(Ids(doi=DOI)), shelf.find_text(Ids(arxiv=PREPRINT))
    assert by_doi
    assert by_arxiv
    assert (by_doi.version, by_arxiv.version) == ("published", "preprint")
    assert [
        done.stored.version for _, done in library.download_many([DOI, f"arXiv:{PREPRINT}"])
    ] == [
        "published",
        "preprint",
    ]
    assert shelf.count_papers()["papers"] == 1
    assert shelf.count_papers()["full_text"] == 2
    assert_consistent(shelf)


def test_who_asks_by_arxiv_gets_the_preprint_of_a_paper_held_as_published(library):
    publish(library, paper(doi=DOI, arxiv=PREPRINT))
    preprint = library.download(f"arXiv:{PREPRINT}").stored
    assert (preprint.version, preprint.via) == ("preprint", "arxiv")
    assert library.download(DOI).stored.version == "published"


def test_an_accepted_manuscript_is_named_and_the_published_version_looked_for(library, world):
    record = world.paper("pmc_manuscript")
    one = library.download(record.pmid)
    assert (one.stored.version, one.stored.via) == ("accepted", "pmc_cloud")
    assert "the accepted manuscript of" in one.message
    assert Path(one.file_path).name.endswith("_accepted.txt")
    assert story(one.stored)["efetch"] == "other_version"  # PMC has one article, asked for once
    assert "publisher" in story(one.stored)
    assert "- Version: accepted manuscript" in Path(one.file_path).read_text(encoding="utf-8")
    assert not library.download(record.pmcid).message.count("stands in")  # that is what PMC has


def test_offline_what_stands_in_is_served(library, world, tmp_path):
    library.download(f"arXiv:{PREPRINT}")
    offline = library_of(world, tmp_path, papers_offline=True)
    assert offline.download(DOI).stored.version == "preprint"
    offline.shelf.close()


# -- what serves -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "version", "serving"),
    [
        (Ids(doi="10.1/a"), "published", True),
        (Ids(doi="10.1/a"), "", True),
        (Ids(doi="10.1/a"), "accepted", False),
        (Ids(pmid="7"), "preprint", False),
        (Ids(pmcid="PMC7"), "accepted", True),
        (Ids(pmcid="PMC7"), "preprint", False),
        (Ids(arxiv="2601.00001"), "preprint", True),
        (Ids(arxiv="2601.00001"), "published", False),
        (Ids(arxiv="2601.00001", pmid="7"), "preprint", False),
    ],
)
def test_what_serves_a_request(asked: Ids, version: Any, serving: bool) -> None:
    about = Paper(Ids(doi="10.1/a", pmid="7", pmcid="PMC7", arxiv="2601.00001"))
    stored = StoredPaper(about, "full_text", "a.txt", "PMC", "pmc_cloud", "", version=version)
    assert is_request_satisfied(infer_requested_version(asked), stored) is serving
    assert not is_request_satisfied(
        infer_requested_version(asked), replace(stored, kind="abstract")
    )


@pytest.mark.parametrize(
    "about",
    [
        Paper(Ids(doi="10.1101/2024.01.02.574123")),
        Paper(Ids(doi="10.48550/arXiv.2601.00001")),
        Paper(Ids(doi="10.5555/x", pmid="7"), publication_types=("Preprint",)),
    ],
)
def test_a_paper_that_is_a_preprint_only_is_served_as_that(about: Paper) -> None:
    assert is_only_preprint(about)
    stored = StoredPaper(about, "full_text", "a.txt", "DOI", "unpaywall", "", version="preprint")
    assert is_request_satisfied("published", stored)


# -- what the texts say ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "version"),
    [
        (b'<article-id pub-id-type="manuscript">NIHMS123</article-id>', "accepted"),
        (b'<article-id pub-id-type="manuscript">EMS123</article-id>', "accepted"),
        (b'<article-id pub-id-type="manuscript">JCAP_029P_1022</article-id>', "published"),
        (b'<article-version article-version-type="VoR">1</article-version>', "published"),
        (b'<article-version vocab-term="Accepted Manuscript">x</article-version>', "accepted"),
        (b'<article-version article-version-type="status">preprint</article-version>', "preprint"),
        (b'<article-version article-version-type="number">2</article-version>', "published"),
        (b"", "published"),
    ],
)  # fmt: skip
def test_jats_says_which_version_it_is(front: bytes, version: str) -> None:
    from utils.readers import determine_text_version

    body = b"<article><front>" + front + b"</front><body>NIHMS, preprint</body></article>"
    sent = Fetched(body, "jats", "", "PMC", "efetch", version="published")
    assert determine_text_version(sent, document(), paper(doi="10.1/a")) == version


def test_reading_the_version_takes_no_longer_than_the_front_is_long() -> None:
    from utils.readers import determine_text_version

    hostile = b"<article-version " * 20_000 + b'pub-id-type="manuscript' * 20_000
    sent = Fetched(hostile, "jats", "", "PMC", "efetch", version="published")
    assert determine_text_version(sent, document(), paper(doi="10.1/a")) == "published"


# -- the shelf ---------------------------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with Shelf(tmp_path / "shelf") as made:
        yield made


def aged(folder: Path) -> None:
    """Make the records those of a program that knew no versions."""
    for path in (folder / ".papershelf" / "records").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        for name in ("version", "preprint_version"):
            del record["stored"][name]
        path.write_text(json.dumps(record), encoding="utf-8")
    (folder / ".papershelf" / "catalogue.db").unlink()


def test_an_old_shelf_learns_its_versions_from_the_routes_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    both = paper(doi="10.1000/a", arxiv="2601.00001")
    with Shelf(folder) as shelf:
        shelf.save_full_text(both, document(), fetched(via="arxiv"), source="arXiv", attempts=())
        old = Path(shelf.find_text(both.ids).path)  # type: ignore[union-attr]
        save(shelf, paper(pmid="7"))
        shelf.save_abstract(paper(pmid="8"), ())
    # Of old, a preprint lay under the DOI of its article.
    private = folder / ".papershelf"
    record = json.loads((private / "records" / f"{old.stem}.json").read_text(encoding="utf-8"))
    record["stored"]["path"] = "10.1000_a.txt"
    (private / "records" / f"{old.stem}.json").unlink()
    (private / "records" / "10.1000_a.json").write_text(json.dumps(record), encoding="utf-8")
    (private / "raw" / f"{old.stem}.jats.gz").rename(private / "raw" / "10.1000_a.jats.gz")
    old.rename(folder / "10.1000_a.txt")
    aged(folder)
    with Shelf(folder) as shelf:
        assert {row["file"]: row["version"] for row in index_of(shelf)} == {
            "10.1000_a.txt": "preprint",
            "pmid_7.txt": "published",
            "pmid_8_abstract.txt": "",
        }
        preprint = shelf.find_text(Ids(doi="10.1000/a"))
        assert preprint
        assert shelf.read_raw_answer(preprint)
        article = shelf.save_full_text(
            paper(doi="10.1000/a", pmid="9"), document(version="published"), fetched(),
            source="PMC", attempts=(),
        )  # fmt: skip
        assert Path(article.path).name != "10.1000_a.txt"
        assert (folder / "10.1000_a.txt").exists()
        assert shelf.find_text(Ids(pmid="9")).version == "published"  # type: ignore[union-attr]
        assert shelf.find_text(Ids(arxiv="2601.00001")).version == "preprint"  # type: ignore[union-attr]
        assert_consistent(shelf)


def index_of(shelf: Shelf) -> list[dict[str, str]]:
    shelf.rebuild_catalogue()
    return index(shelf.folder)


def test_each_version_has_a_place_of_its_own_and_an_abstract_gives_way_to_any(shelf: Shelf) -> None:
    about = paper(doi="10.1000/a", pmid="7", arxiv="2601.00001")
    shelf.save_abstract(about, ())
    for version in ("preprint", "accepted", "published"):
        kept = document(f"The {version} text. " * 300, version=version)
        shelf.save_full_text(about, kept, fetched(version.encode()), source="PMC", attempts=())
    shelf.save_abstract(about, ())
    assert texts(shelf) == ["10.1000_a.txt", "10.1000_a_accepted.txt", "arxiv_2601.00001.txt"]
    for wants in ("preprint", "accepted", "published"):
        found = shelf.find_text(about.ids, wants)
        assert found
        assert is_request_satisfied(wants, found)
        kept_bytes = shelf.read_raw_answer(found)
        assert kept_bytes
        assert kept_bytes.fetched.version == found.version
    assert {row["version"] for row in index(shelf.folder)} == {"preprint", "accepted", "published"}
    assert_consistent(shelf)


def test_a_files_header_tells_its_version_when_everything_else_is_lost(shelf: Shelf) -> None:
    about = replace(paper(doi="10.1000/a", arxiv="2601.00001"), version="3")
    for version in ("preprint", "published"):
        shelf.save_full_text(about, document(version=version), fetched(), source="PMC", attempts=())
    for path in (shelf.folder / ".papershelf" / "records").glob("*.json"):
        path.unlink()
    shelf.rebuild_catalogue()
    found = shelf.find_text(Ids(arxiv="2601.00001"))
    assert found
    assert (found.version, found.preprint_version) == ("preprint", "3")
    assert shelf.find_text(Ids(doi="10.1000/a")).version == "published"  # type: ignore[union-attr]


def test_one_version_rejected_by_hand_leaves_the_other_and_is_remembered_for_the_paper(library):
    both = Paper(Ids(doi=DOI, arxiv=PREPRINT), title="A")
    publish(library, both)
    preprint = publish(library, both, "preprint")
    library.upkeep.keep(f"arXiv:{PREPRINT}", "rejected", "it is the poster")
    assert library.find(DOI).version == "published"
    counts = library.shelf.count_papers()
    assert (counts["papers"], counts["full_text"], counts["rejected"]) == (1, 1, 1)
    assert counts["preprint"] == 0
    assert library.shelf.verdicts.find_rejection_reason(both.ids, document()) == "it is the poster"
    assert [one.outcome for one in library.upkeep.audit([DOI])] == ["changed", "by_hand"]
    library.upkeep.undo_keep(DOI)
    assert library.shelf.verdicts.find_rejection_reason(both.ids, document()) == ""
    assert not any(one.by_hand for one in library.list_papers()[1])
    assert Path(preprint.path).exists()
    assert_consistent(library.shelf)


def test_deleting_one_text_by_hand_leaves_the_other(shelf: Shelf) -> None:
    about = paper(doi="10.1000/a", arxiv="2601.00001")
    for version in ("preprint", "published"):
        made = shelf.save_full_text(
            about, document(version=version), fetched(), source="PMC", attempts=()
        )
    Path(made.path).unlink()
    found = shelf.find_text(Ids(doi="10.1000/a"))
    assert found
    assert found.version == "preprint"
    assert_consistent(shelf)


# -- harvests ----------------------------------------------------------------------------------


def test_a_harvest_by_doi_names_the_preprint_it_found_and_counts_it_apart(library):
    library.download(f"arXiv:{PREPRINT}")
    harvest = library.harvest([Ids(doi=DOI)])
    [row] = done(harvest)
    assert (row.state, row.version) == ("full_text", "preprint")
    assert {a.source for a in row.attempts} >= {"publisher", "arxiv"}
    counts = harvest.job().counts
    assert (counts.full_text, counts.preprint, counts.accepted) == (1, 1, 0)
    with (harvest.folder / "papers.csv").open(newline="", encoding="utf-8") as file:
        assert [line["version"] for line in csv.DictReader(file)] == ["preprint"]
    flow = (harvest.folder / "prisma.svg").read_text(encoding="utf-8")
    assert "Among the reports retrieved: Preprints (n = 1)." in flow
    assert "Preprint" in (harvest.folder / "report.html").read_text(encoding="utf-8")
    assert read_lock(harvest.folder / "papers.lock.json").papers[0].version == "preprint"
    assert harvest.retry("preprint") == 1


def test_a_harvest_finds_the_preprint_itself_and_keeps_it_once(library, world):
    [row] = done(library.harvest([Ids(doi=DOI, arxiv=PREPRINT)]))
    assert (row.state, row.version, row.via) == ("full_text", "preprint", "arxiv")
    assert texts(library.shelf) == [f"arxiv_{PREPRINT}.txt"]


def test_the_published_text_on_the_shelf_ends_a_harvest_by_doi_at_once(library, world):
    publish(library, paper(doi=DOI, arxiv=PREPRINT))
    before = len(world.requests)
    [row] = done(library.harvest([Ids(doi=DOI)]))
    assert (row.version, len(world.requests)) == ("published", before)


def test_a_preprint_asked_for_beside_its_article_is_a_report_of_its_own(library):
    publish(library, paper(doi=DOI, arxiv=PREPRINT))
    harvest = library.harvest([Ids(doi=DOI), Ids(arxiv=PREPRINT)])
    rows = done(harvest)
    assert [row.version for row in rows] == ["published", "preprint"]
    lock = read_lock(harvest.folder / "papers.lock.json")
    assert [one.version for one in lock.papers] == ["published", "preprint"]
    again = library.harvests.from_lock(lock)
    assert [row.version for row in done(again)] == ["published", "preprint"]
    assert not library.harvests.differences(lock, again).differences


def test_an_article_brought_by_hand_takes_the_place_of_what_stood_in(library):
    harvest = library.harvest([Ids(doi=DOI, arxiv=PREPRINT)])
    [row] = done(harvest)
    article = publish(library, row.paper)
    assert harvest.ledger.record_manual_text(row.number, article, "f" * 64)
    assert not harvest.ledger.record_manual_text(row.number, article, "f" * 64)
    [row] = harvest.ledger.read_outcomes()
    assert (row.version, row.file) == ("published", Path(article.path).name)


def test_a_copy_of_old_is_a_preprint_where_its_host_has_nothing_else(shelf: Shelf) -> None:
    about = paper(doi="10.1000/a")
    for number, url in enumerate(("https://export.arxiv.org/pdf/1", "https://repo.test/1")):
        sent = fetched(via="unpaywall", url=url)
        one = replace(about, ids=Ids(doi=f"10.1000/{number}"))
        shelf.save_full_text(one, document(), sent, source="DOI", attempts=())
    shelf.close()
    aged(shelf.folder)
    with Shelf(shelf.folder) as again:
        assert [row["version"] for row in index_of(again)] == ["preprint", ""]


def test_a_ledger_of_an_earlier_program_is_taken_on(library, tmp_path):
    harvest = library.harvest([Ids(arxiv=PREPRINT)])
    done(harvest)
    harvest.ledger.close()
    with closing(sqlite3.connect(harvest.ledger.path)) as db:
        db.execute("ALTER TABLE papers DROP COLUMN version")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    [row] = library.harvest(job_id=harvest.job_id).ledger.read_outcomes()
    assert row.version == "preprint"


def test_on_a_shelf_that_is_only_read_a_ledger_of_an_earlier_program_is_read_as_it_would_be(
    library, world
):
    asked = [Ids(arxiv=PREPRINT), Ids(pmid=world.paper("no_abstract").pmid)]
    harvest = library.harvest(asked)
    done(harvest)
    harvest.ledger.close()
    with closing(sqlite3.connect(harvest.ledger.path)) as db:
        db.execute("ALTER TABLE papers DROP COLUMN version")
        db.execute("UPDATE papers SET state = 'abstract' WHERE state = 'record'")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    before = harvest.ledger.path.read_bytes()
    only_read = f"{harvest.ledger.path.as_uri()}?mode=ro"
    read, version = migrate_ledger(sqlite3.connect(only_read, uri=True, isolation_level=None))
    with closing(read):
        rows = read.execute("SELECT state, version FROM papers ORDER BY number").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            read.execute("UPDATE papers SET state = 'pending'")
    assert (version, rows) == (VERSION, [("full_text", "preprint"), ("record", "")])
    assert harvest.ledger.path.read_bytes() == before


def test_a_lock_of_an_earlier_program_is_read(tmp_path):
    path = tmp_path / "papers.lock.json"
    one = {
        "doi": "10.1000/a", "kind": "full_text", "sha256": "", "retracted": False, "via": "arxiv",
    }  # fmt: skip
    head = {
        "format": "papershelf-lock", "version": 1, "query": "", "effective_query": "",
        "made_at": "",
    }  # fmt: skip
    path.write_text(json.dumps({**head, "papers": [one]}), encoding="utf-8")
    assert read_lock(path).papers[0].version == ""


# -- every output ------------------------------------------------------------------------------


def test_a_text_says_its_version_wherever_it_is_shown(library):
    one = library.download(f"arXiv:{PREPRINT}")
    assert (one.row()["version"], one.row()["preprint_version"]) == ("preprint", "2")
    assert library.read(PREPRINT).version == "preprint"
    _, [listed] = library.list_papers()
    assert listed.text_row()["version"] == "preprint"
    [row] = index(library.shelf.folder)
    assert (row["version"], row["preprint_version"]) == ("preprint", "2")
    header = Path(one.file_path).read_text(encoding="utf-8").partition("\n---")[0]
    assert "- Version: preprint; the published article may differ" in header
    assert "- PreprintVersion: 2" in header


def test_a_reference_list_names_a_paper_once(library):
    from utils.harvest.jobs import list_shelf_papers

    about = paper(doi=DOI, arxiv=PREPRINT)
    library.shelf.save_full_text(
        about, document(version="preprint"), fetched(), source="arXiv", attempts=()
    )
    article = publish(library, about)
    assert [path for _, path in list_shelf_papers(library.shelf)] == [Path(article.path).name]
