"""The whole shelf as notes: converted in the shell, and used by everything that reads a shelf."""

import json
from pathlib import Path

import pytest

from tests.harvests import library_of
from utils import cli


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    """Return a function that runs a command by its words: exit status, answers and remarks."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run(*words):
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".txt", ".md"))


def test_a_harvested_shelf_is_converted_and_its_harvest_goes_on(shell, world, settings):
    folder = Path(settings["papers_dir"])
    wanted = [world.paper(branch).pmid for branch in ("pmc_cloud", "publisher_pdf", "paywall")]
    shell("harvest", *wanted)
    before = {name: (folder / name).read_bytes() for name in files(folder)}
    _, said, remarks = shell("shelf", "convert", "--to", "md", "--dry-run")
    assert (said, files(folder)) == ("", sorted(before))
    assert "3 convertible" in remarks
    _, _, remarks = shell("shelf", "convert", "--to", "md")
    assert "3 converted" in remarks
    assert "PAPERS_FORM=md" in remarks
    assert {Path(name).suffix for name in files(folder)} == {".md"}
    [job] = [json.loads(line) for line in shell("status", "--json")[1].splitlines()]
    status, _, _ = shell("harvest", "--job", job["job_id"])
    assert status == 1  # the paywall, as before: no paper is open again
    assert {Path(name).suffix for name in files(folder)} == {".md"}
    _, said, _ = shell("shelf", "audit", "--json")
    assert {json.loads(line)["outcome"] for line in said.splitlines()} == {"unchanged"}
    assert "3 converted" in shell("shelf", "convert", "--to", "txt")[2]
    assert {name: (folder / name).read_bytes() for name in files(folder)} == before
    assert "nothing to convert" in shell("shelf", "convert", "--to", "txt")[2]


def test_a_vault_is_harvested_read_searched_and_rechecked(world, tmp_path):
    with library_of(world, tmp_path, papers_form="md") as library:
        pmid = world.paper("pmc_cloud").pmid
        stored = library.download(pmid).stored
        assert stored.path.endswith(".md")
        assert library.read(pmid).text.startswith("- Title: ")
        assert library.download(pmid).cached
        assert [one.outcome for one in library.upkeep.audit(fix=True)] == ["unchanged"]
        assert {one.outcome for one in library.upkeep.recheck()} <= {"unchanged", "recorded"}
        assert [one.outcome for one in library.upkeep.reextract(everything=True)] == ["unchanged"]
        assert library.upkeep.rebuild().full_text == 1
        [outcome] = library.texts.fetch_pdfs([stored])
        assert f"[[{outcome.pdf.path.name}]]" in Path(stored.path).read_text(encoding="utf-8")


def test_a_conversion_leaves_the_passages_of_a_corpus_as_they_are(library, world):
    stored = library.download(world.paper("pmc_cloud").pmid).stored
    assert list(library.corpus.index())[-1].cut > 0
    assert [change.outcome for change in library.upkeep.convert("md")] == ["converted"]
    assert list(library.corpus.index())[-1].cut == 0
    found = library.corpus.find(stored.paper.title, top_k=1).hits[0]
    assert found.passage.text in library.shelf.read_text(library.find(stored.paper.ids.pmid))


def test_a_note_in_the_inbox_is_a_text_of_another_shelf(world, tmp_path):
    with library_of(world, tmp_path / "one", papers_form="md") as one:
        note = Path(one.download(world.paper("pmc_cloud").pmid).stored.path).read_bytes()
    with library_of(world, tmp_path / "two") as two:
        inbox = two.shelf.folder / "inbox"
        inbox.mkdir(parents=True)
        (inbox / "anything.md").write_bytes(note)
        [result] = two.upkeep.take_in()
        assert result.outcome == "filed"
        [stored] = two.shelf.list_papers()[1]
        assert "citekey" not in two.shelf.read_text(stored)


def test_notes_have_the_keys_of_the_pattern_and_no_two_the_same(world, tmp_path):
    with library_of(world, tmp_path, papers_form="md", papers_keys="year") as library:
        for branch in ("pmc_cloud", "publisher_pdf", "unpaywall_pdf"):
            library.download(world.paper(branch).pmid)
        list(library.upkeep.convert("md"))
        notes = [path.read_text(encoding="utf-8") for path in library.shelf.folder.glob("*.md")]
        keys = sorted(note.split('citekey: "')[1].split('"')[0] for note in notes)
        assert len(set(keys)) == 3
        assert all(key[:4].isdecimal() for key in keys)
        _, bibtex = library.upkeep.write_references()
        text = bibtex.read_text(encoding="utf-8")
        entries = (line for line in text.splitlines() if line.startswith("@"))
        assert sorted(line.split("{")[1].rstrip(",") for line in entries) == keys


def test_keys_are_chosen_in_the_shell(shell, world):
    pmid = world.paper("pmc_cloud").pmid
    _, said, _ = shell("cite", pmid, "--style", "bibtex", "--keys", "pmid_year")
    assert f"{{{pmid}_20" in said
    status, _, remarks = shell("cite", pmid, "--style", "bibtex", "--keys", "pmid_colour")
    assert status == 2
    assert "has an unknown part: 'colour'" in remarks
    shell("download", pmid)
    _, said, _ = shell("export", "--keys", "[pmid]:[auth:upper]")
    bibtex = Path(said.splitlines()[-1])
    assert f"{{{pmid}:" in bibtex.read_text(encoding="utf-8")
