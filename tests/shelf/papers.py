"""Papers made for the shelf's tests, and a way to look at a whole shelf at once."""

import csv
import sqlite3
from pathlib import Path
from typing import Any

from tests.own_words import CITING, REFERENCES
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Fetched, Paper, StoredPaper, Verdict
from utils.shelf import Shelf
from utils.shelf.paper_file import strip_ending

BODY = (
    "# On cells\n\n## Methods\n\n"
    + "We looked at cells and counted them again. " * 40
    + f"{CITING}\n\n{REFERENCES}"
)


def paper(**ids: str) -> Paper:
    return Paper(
        Ids(**ids),
        title="On cells",
        abstract="Cells were counted.",
        authors=(Author("Doe", "Jane A"), Author(collective="The Cell Group")),
        journal="Journal of Cells",
        published="2013-02-14",
    )


def document(body: str = BODY, verdict: Verdict = "full_text", **more: Any) -> Document:
    return Document(body, verdict=verdict, **{"license": "CC BY", **more})


def fetched(body: bytes = b"<article/>", **more: Any) -> Fetched:
    values = {
        "media": "jats",
        "url": "https://example.org/a.xml",
        "source": "PMC",
        "via": "pmc_cloud",
    }
    return Fetched(body, **{**values, **more})


def save(shelf: Shelf, about: Paper, body: str = BODY, **more: Any) -> StoredPaper:
    return shelf.save_full_text(about, document(body, **more), fetched(), source="PMC", attempts=())


def texts(shelf: Shelf) -> list[str]:
    return sorted(path.name for path in shelf.folder.glob("*.txt"))


def dump(shelf: Shelf) -> dict[str, Any]:
    """What the catalogue says, without its row numbers."""
    connection = sqlite3.connect(shelf.folder / ".papershelf" / "catalogue.db")
    try:
        columns = "file, kind, year, journal, retracted, filed, size, mtime_ns, line, record"
        papers = connection.execute(f"SELECT {columns} FROM papers ORDER BY file").fetchall()
        names = connection.execute(
            "SELECT name, file FROM names JOIN papers ON papers.id = paper ORDER BY name"
        ).fetchall()
        return {"papers": papers, "names": names}
    finally:
        connection.close()


def index(folder: Path) -> list[dict[str, str]]:
    """The rows of index.csv."""
    with (folder / "index.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def assert_consistent(shelf: Shelf) -> None:
    """Catalogue, records, texts and index tell the same story."""
    before = dump(shelf)
    files = [row[0] for row in before["papers"]]
    assert sorted(row["file"] for row in index(shelf.folder)) == sorted(files)
    records = sorted(path.stem for path in (shelf.folder / ".papershelf/records").glob("*.json"))
    assert records == sorted(strip_ending(file) for file in files)
    assert not list(shelf.folder.rglob("*.part"))
    shelf.rebuild_catalogue()
    assert dump(shelf) == before
