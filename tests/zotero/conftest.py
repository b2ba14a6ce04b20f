"""Zotero's stand-in with a small library, and a shelf that knows where it is."""

import pytest

from tests.world.zotero import Zotero
from utils import Library, cli

MOSS = {
    "itemType": "journalArticle", "title": "Moss grows in the <i>dark</i> of a cave",
    "creators": [{"creatorType": "author", "firstName": "Jane", "lastName": "Roe"}],
    "publicationTitle": "Journal of Moss", "volume": "4", "issue": "2", "pages": "11-19",
    "date": "2019-05-03", "DOI": "10.5555/moss.1", "ISSN": "1234-5678",
    "extra": "PMID: 31452104\nsomething else",
}  # fmt: skip
FERN = {
    "itemType": "preprint", "title": "Ferns and their light on the ground of old woods",
    "creators": [{"creatorType": "author", "name": "The Fern Consortium"}],
    "repository": "arXiv", "archiveID": "arXiv:2601.00001", "date": "January 2026",
}  # fmt: skip
LICHEN = {
    "itemType": "journalArticle", "title": "A lichen of which no database knows anything",
    "creators": [{"creatorType": "author", "firstName": "A. B.", "lastName": "Poe"}],
    "publicationTitle": "Letters on Lichens", "date": "1974",
}  # fmt: skip


@pytest.fixture
def zotero():
    """Both of Zotero's interfaces, with three papers each."""
    with Zotero() as running:
        for shelf in (running.local, running.web):
            plants = shelf.add("collections", name="Plants", parentCollection=False)
            low = shelf.add("collections", name="Low", parentCollection=plants)
            moss = shelf.add("items", **MOSS, collections=[low], tags=[{"tag": "mine"}])
            shelf.add("items", **FERN, collections=[plants], tags=[])
            shelf.add("items", **LICHEN, collections=[], tags=[])
            shelf.add("items", **MOSS, deleted=True, collections=[], tags=[])
            shelf.add("items", itemType="note", note="<p>mine</p>", parentItem=moss, tags=[])
        yield running


@pytest.fixture
def shelf_settings(zotero, tmp_path):
    """Settings of a shelf beside this Zotero; the private network stays closed."""
    folders = {"papers_dir": tmp_path / "papers", "papers_pace_dir": tmp_path / "pace"}
    return {**zotero.settings, **folders, "pubmed_email": "tester@lab.edu"}


@pytest.fixture
def beside(shelf_settings):
    """A library whose settings name this Zotero."""
    with Library(**shelf_settings) as library:
        yield library


@pytest.fixture
def run(shelf_settings, monkeypatch, capsys):
    """Run a command of the shell: its exit status, answers and remarks."""
    for name, value in shelf_settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run_words(*words):
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run_words
