"""A played review: 120 references from RIS are harvested with PDFs and packed for each program.

Each reference's attachment is found as the program finds it, and compared byte by byte with the
PDF on the shelf. Zotero's own import translators run where they are: ``ZOTERO_TRANSLATORS`` names a
copy of github.com/zotero/translators, and ``node`` with ``jsdom`` runs them.
"""

import csv
import io
import json
import os
import shutil
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree

from tests.harvests import library_of
from tests.processes import run
from tests.world import World
from utils.citations import iterate_ris_records, to_csl_item
from utils.lists.references import read_file_entries, read_ris_records
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.packs import LAYOUTS

FIELD = 120
TRANSLATORS = os.environ.get("ZOTERO_TRANSLATORS", "")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of the shelf, and the name of the harvest once it is done."""
    return {"folder": tmp_path_factory.mktemp("review")}


@pytest.fixture
def harvested(place):
    """A library after the harvest of 120 references of a RIS file, and the harvest's name.

    The first test harvests, on the stage clock that only a test has.
    """
    with World(field=FIELD) as world:
        library = library_of(world, place["folder"])
        if "job" not in place:
            place["job"] = harvest_list(library, world)
        yield library, place["job"]
        library.shelf.close()


def harvest_list(library, world) -> str:
    known = [to_paper(record) for record in world.field]
    ris = "".join(iterate_ris_records((one, "") for one in known))
    entries = list(read_file_entries(ris.encode(), "included.ris"))
    assert len(entries) == FIELD
    harvest = library.harvest({"included.ris": entries})
    harvest.run(progress=False)
    for _ in library.texts.fetch_pdfs(job_id=harvest.job_id):
        pass
    return harvest.job_id


def to_paper(record) -> Paper:
    authors = tuple(Author(family, given) for family, given, *_ in record.authors)
    ids = Ids(pmid=record.pmid, doi=record.doi.lower())
    return Paper(ids, title=record.title, authors=authors, journal=record.journal.title)


def shelf_pdfs(library) -> dict[str, bytes]:
    """The PDF files that lie on the shelf, by the title of the text beside each."""
    found = {}
    for path in library.shelf.folder.glob("*.pdf"):
        stored = library.shelf.find_paper_by_file(path.stem)
        found[to_csl_item(stored.paper)["title"]] = path.read_bytes()
    return found


def read_attachments(pack: Path, program: str) -> dict[str, bytes | None]:
    """The bytes that a program attaches to each title of a pack."""
    if LAYOUTS[program].is_numbered:
        records = etree.parse(pack / "references.xml").iterfind(".//record")
        links = {
            one.findtext("titles/title"): one.findtext(".//pdf-urls/url", "").replace(
                "internal-pdf://", "PDF/"
            )
            for one in records
        }
    else:
        lines = (pack / "references.ris").read_text(encoding="utf-8").splitlines(keepends=True)
        records = read_ris_records(lines)
        links = {one["TI"]: unquote(one.get("L1", "")) for one in records}
    return {title: (pack / link).read_bytes() if link else None for title, link in links.items()}


@pytest.mark.parametrize("program", sorted(LAYOUTS))
def test_every_held_pdf_is_attached_to_its_own_reference(harvested, tmp_path, program):
    library, job = harvested
    held = shelf_pdfs(library)
    pack = library.references.pack(job, program, output=tmp_path / "pack", own_use=True)
    attached = read_attachments(tmp_path / "pack", program)
    assert len(attached) == FIELD
    assert {title: data for title, data in attached.items() if data is not None} == held
    assert len(pack.attached) == len(held) > FIELD // 2
    table = csv.DictReader(io.StringIO((tmp_path / "pack/missing.csv").read_text(encoding="utf-8")))
    missing = list(table)
    assert len(missing) == FIELD - len(held)
    assert all(row["reason"] for row in missing)


def test_the_zip_is_the_folder(harvested, tmp_path):
    library, job = harvested
    library.references.pack(job, "covidence", output=tmp_path / "pack.zip", own_use=True)
    with zipfile.ZipFile(tmp_path / "pack.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    attached = read_attachments(tmp_path / "unpacked", "covidence")
    assert {title: data for title, data in attached.items() if data} == shelf_pdfs(library)


@pytest.mark.skipif(not (TRANSLATORS and shutil.which("node")), reason="needs ZOTERO_TRANSLATORS")
@pytest.mark.parametrize(
    ("program", "translator", "file"),
    [
        ("zotero", "RIS.js", "references.ris"),
        ("folder", "RIS.js", "references.ris"),
        ("rayyan", "RIS.js", "references.ris"),
        ("endnote", "Endnote XML.js", "references.xml"),
        ("covidence", "Endnote XML.js", "references.xml"),
    ],
)
def test_zoteros_own_translator_attaches_every_pdf(harvested, tmp_path, program, translator, file):
    library, job = harvested
    library.references.pack(job, program, output=tmp_path / "pack")
    shim = Path(__file__).with_name("zotero_import.js")
    done = run(
        ["node", str(shim), str(Path(TRANSLATORS) / translator), str(tmp_path / "pack" / file)]
    )
    assert done.returncode == 0, done.stderr
    items = json.loads(done.stdout)
    assert len(items) == FIELD
    attached = {}
    for item in items:
        for one in item["attachments"]:
            if one["resolved"]:
                assert item["title"] not in attached
                attached[item["title"]] = Path(one["resolved"]).read_bytes()
            else:
                assert one["path"].startswith("http")
    assert attached == shelf_pdfs(library)
