"""Figures, tables and supplementary files of papers on the shelf."""

import csv
import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.world import Record, World
from tests.world.pmc import media
from utils import Library, cli
from utils.errors import NotFound
from utils.media import (
    PaperObjects,
    StoredObject,
    find_objects_in_passage,
    iterate_cell_rows,
    list_objects,
)
from utils.media.long_table import grid_to_csv
from utils.model.paper import TableGrid


@pytest.fixture
def rich(library: Library, world: World) -> Record:
    """A paper in PMC with a table, a figure and a supplementary file, on the shelf."""
    record = world.paper("supplemented")
    library.download(record.pmid)
    return record


def by_label(found: PaperObjects) -> dict[str, StoredObject]:
    return {one.label: one for one in found.objects}


def asked_for(world: World, ending: str) -> int:
    return sum(request.path.endswith(ending) for request in world.requests)


def test_a_paper_in_pmc_has_all_its_objects_beside_its_text(
    library: Library, world: World, rich: Record
) -> None:
    found = library.objects(rich.pmid)
    kept = by_label(found)
    assert {label: Path(one.file).name for label, one in kept.items()} == {
        "Table 1": "table-1.csv",
        "Figure 1": "figure-1.jpg",
        "Additional file 1": "counts_moesm1_esm.csv",
    }
    assert found.folder.name == f"{Path(found.stored.path).stem}.files"
    for label, name in (("Figure 1", "fig1.jpg"), ("Additional file 1", "counts_MOESM1_ESM.csv")):
        data = media(rich)[name]
        one = kept[label]
        assert Path(one.file).read_bytes() == data
        assert (one.md5, one.bytes) == (hashlib.md5(data).hexdigest(), len(data))
        assert one.license == rich.license
        assert one.url.endswith(f"/{name}")
    assert asked_for(world, "fig1.gif") == 0  # one form of a picture is enough
    listed = json.loads((found.folder / "objects.json").read_text(encoding="utf-8"))
    assert [row["label"] for row in listed] == [one.label for one in found.objects]


def test_a_table_is_csv_for_people_and_json_for_programs(library: Library, rich: Record) -> None:
    found = library.objects(rich.pmid, kinds=("table",))
    [one] = found.objects
    with Path(one.file).open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert (len(rows), len(head)) == (one.rows, one.columns)
    [table] = json.loads((found.folder / "tables.json").read_text(encoding="utf-8"))
    assert [column["name"] for column in table["columns"]] == head
    assert table["rows"] == rows
    assert table["notes"] == ["* P < 0.01 against control."]
    assert table["label"] == one.label == "Table 1"


def test_what_is_there_is_not_asked_for_again(library: Library, world: World, rich: Record) -> None:
    first = library.objects(rich.pmid)
    sent = asked_for(world, "fig1.jpg")
    assert library.objects(rich.pmid).objects == first.objects
    assert asked_for(world, "fig1.jpg") == sent == 1
    Path(by_label(first)["Figure 1"].file).write_bytes(b"half of")
    assert library.objects(rich.pmid).objects == first.objects
    assert asked_for(world, "fig1.jpg") == 2


def test_listing_asks_nobody_and_makes_nothing(
    library: Library, world: World, rich: Record
) -> None:
    sent = len(world.requests)
    found = library.objects(rich.pmid, fetch=False)
    assert [one.label for one in found.objects] == ["Table 1", "Figure 1", "Additional file 1"]
    assert not any(one.file for one in found.objects)
    assert not found.folder.exists()
    assert len(world.requests) == sent


def test_a_damaged_picture_is_no_picture(library: Library, world: World, rich: Record) -> None:
    world.mood("truncate", "pmc_cloud", path="fig1.jpg")
    kept = by_label(library.objects(rich.pmid))
    world.reset()
    assert not kept["Figure 1"].file
    assert kept["Figure 1"].reason
    assert kept["Table 1"].file
    assert by_label(library.objects(rich.pmid))["Figure 1"].file


def test_what_would_be_too_much_is_left_out_and_said(library: Library, rich: Record) -> None:
    found = library.objects(rich.pmid, max_bytes=len(media(rich)["fig1.jpg"]))
    kept = by_label(found)
    assert kept["Figure 1"].file
    assert not kept["Additional file 1"].file
    assert "Left out" in kept["Additional file 1"].reason


def test_a_paper_elsewhere_lists_what_it_has_and_where(library: Library, world: World) -> None:
    record = world.paper("publisher_html")
    library.download(record.doi)
    found = library.objects(record.doi)
    for one in found.objects:
        assert one.file or (one.reason and one.url.endswith(("/fig1.jpg", record.doi)))


def test_pipes_of_any_text_are_a_table(library: Library, rich: Record) -> None:
    stored = library.find(rich.pmid)
    whole = list_objects(stored, library.shelf)
    [in_xml] = [one for one in whole if one.grid]
    for path in (library.shelf.folder / ".papershelf" / "raw").iterdir():
        path.unlink()
    [in_text] = [one for one in list_objects(stored, library.shelf) if one.grid]
    assert in_text.grid
    assert in_xml.grid
    assert in_text.grid.rows == in_xml.grid.rows
    assert in_text.grid.columns == in_xml.grid.columns
    assert (in_text.label, in_text.caption) == (in_xml.label, in_xml.caption)


def test_every_cell_of_the_long_table_says_what_it_is(library: Library, rich: Record) -> None:
    stored = library.find(rich.pmid)
    found = list_objects(stored, library.shelf)
    [grid] = [one.grid for one in found if one.grid]
    rows = list(iterate_cell_rows(stored, found))
    named = {
        (row[0], name, value)
        for row in grid.rows
        for name, value in list(zip(grid.columns, row, strict=True))[1:]
        if value
    }
    assert {(row["row"], row["column"], row["value"]) for row in rows} == named
    assert {row["pmid"] for row in rows} == {rich.pmid}


def test_a_spreadsheet_runs_nothing_of_a_table() -> None:
    grid = TableGrid((("a", "b"),), (("=1+1", "-0.5"), ("−3", "@x")))
    assert grid_to_csv(grid).decode("utf-8-sig").splitlines() == ["a,b", "'=1+1,-0.5", "−3,'@x"]


def test_a_paper_that_is_not_there_has_no_objects(library: Library) -> None:
    with pytest.raises(NotFound, match="not on the shelf"):
        library.objects("10.9999/none")


def test_the_shell_says_what_lies_where(
    library: Library,
    rich: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    assert cli.main(["media", rich.pmid]) == 0
    said = capsys.readouterr()
    assert "● Table 1" in said.out
    assert "figure-1.jpg" in said.out
    assert "1 figure, 1 table, 1 supplement; 3 on the shelf" in said.err
    assert cli.main(["media", "--figures", "--json", rich.pmid]) == 0
    [row] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["kind"], row["label"]) == ("figure", "Figure 1")


def test_a_harvest_brings_the_objects_of_its_texts(
    library: Library,
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    wanted = [world.paper(branch).pmid for branch in ("pmc_cloud", "efetch_only")]
    assert cli.main(["harvest", "--media", "tables,figures", "--json", *wanted]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    tables = [row["file"] for row in rows if row.get("kind") == "table"]
    assert len(tables) == 2
    assert all(Path(file).is_file() for file in tables)
    assert not any(row.get("kind") == "supplement" for row in rows)
    [job] = library.harvests.all()
    assert cli.main(["export", "--tables", "--job", job.job_id]) == 0
    path = Path(capsys.readouterr().out.strip())
    with path.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert {row["pmid"] for row in cells} == set(wanted)
    assert all(row["value"] and row["table"] == "Table 1" for row in cells)


def test_a_word_that_is_no_kind_is_refused_before_anything_is_asked(
    library: Library, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    assert cli.main(["harvest", "--media", "pictures", "1"]) == 2
    assert not world.requests


def test_a_moved_shelf_still_knows_its_objects(
    library: Library, world: World, rich: Record
) -> None:
    before = library.objects(rich.pmid)
    moved = library.shelf.folder.with_name("elsewhere")
    library.shelf.close()
    library.shelf.folder.rename(moved)
    elsewhere = Library(library.settings.model_copy(update={"papers_dir": moved}))
    sent = len(world.requests)
    found = elsewhere.objects(rich.pmid, fetch=False)
    assert [one.label for one in found.objects] == [one.label for one in before.objects]
    assert all(Path(one.file).parent == found.folder for one in found.objects)
    assert found.folder.parent == moved
    assert len(world.requests) == sent


def test_files_of_an_earlier_text_stay_in_the_list(library: Library, rich: Record) -> None:
    folder = library.objects(rich.pmid).folder
    listed = json.loads((folder / "objects.json").read_text(encoding="utf-8"))
    (folder / "table-9.csv").write_text("of an earlier text", encoding="utf-8")
    earlier = {**listed[0], "label": "Table 9", "file": "table-9.csv"}
    (folder / "objects.json").write_text(json.dumps([*listed, earlier]), encoding="utf-8")
    library.objects(rich.pmid)
    rows = json.loads((folder / "objects.json").read_text(encoding="utf-8"))
    assert [row["label"] for row in rows].count("Table 9") == 1
    assert {row["label"] for row in rows} == {row["label"] for row in (*listed, earlier)}


def test_a_caption_in_the_shell_ends_after_a_word(
    library: Library,
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    record = world.paper("supplemented")
    library.download(record.pmid)
    monkeypatch.setattr("utils.cli.objects._CAPTION_MAX_CHARS", 10)
    assert cli.main(["media", "--list", record.pmid]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line[0] in "●○"]
    captions = {one.label: one.caption for one in library.objects(record.pmid).objects}
    for line, caption in zip(lines, captions.values(), strict=True):
        shown = line.rpartition("  ")[2]
        if shown != caption:
            assert shown.endswith("…")
            assert caption[len(shown) - 1] in " ,;:.("
            assert caption.startswith(shown[:-1])


def test_one_object_can_be_had_alone(
    library: Library,
    rich: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    assert cli.main(["media", "--only", "fig. 1", "--json", rich.pmid]) == 0
    [row] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["label"], Path(row["file"]).name) == ("Figure 1", "figure-1.jpg")
    assert not (Path(row["file"]).parent / "tables.json").exists()
    assert cli.main(["media", "--only", "Table 9", rich.pmid]) != 0
    assert "Additional file 1" in capsys.readouterr().out
    assert cli.main(["media", "--only", "Table 1", "--job", "x"]) == 2


def test_a_section_names_the_objects_it_speaks_of_and_what_brings_them(
    library: Library,
    rich: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    assert not library.read(rich.pmid, section="methods").objects
    reading = library.read(rich.pmid, section="results")
    labels = [one.label for one in reading.objects]
    assert labels == ["Table 1", "Figure 1", "Additional file 1"]
    assert cli.main(["read", rich.pmid, "--section", "results"]) == 0
    said = capsys.readouterr()
    assert f"{', '.join(labels)}: uv run server.py shelf media {rich.pmid}" in said.err
    assert said.out == f"{reading.text}\n"
    # The command brings them, and then the section names the files.
    assert cli.main(["media", rich.pmid, "--only", labels[1]]) == 0
    capsys.readouterr()
    assert cli.main(["read", rich.pmid, "--section", "results", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["objects"]
    assert [Path(row["file"]).name for row in rows if "file" in row] == ["figure-1.jpg"]


def test_only_the_objects_of_the_stretch_that_is_read_are_named(
    library: Library, rich: Record
) -> None:
    whole = library.read(rich.pmid, section="results").text
    until = whole.index("**Figure 1.**")
    first = library.read(rich.pmid, section="results", max_chars=until)
    rest = library.read(rich.pmid, section="results", start=until)
    assert [one.label for one in first.objects] == ["Table 1"]
    assert [one.label for one in rest.objects] == ["Figure 1", "Additional file 1"]


def test_a_file_is_not_taken_for_one_whose_number_begins_alike(
    library: Library, rich: Record
) -> None:
    stored = library.find(rich.pmid)
    for words, labels in (
        ("see Additional file 12", []),
        ("see additional file 1.", ["Additional file 1"]),
        ("Figs. 1 and 2, stable 1", ["Figure 1"]),
        ("Tabelle 1", ["Table 1"]),
    ):
        assert [
            one.label for one in find_objects_in_passage(words, stored, library.shelf)
        ] == labels


def test_a_paper_whose_kept_bytes_are_damaged_can_be_read(library: Library, rich: Record) -> None:
    for path in (library.shelf.folder / ".papershelf" / "raw").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    reading = library.read(rich.pmid, section="results")
    assert "**Table 1.**" in reading.text
    assert not reading.objects


@pytest.mark.extras("pyarrow")
def test_the_long_table_as_parquet_has_the_cells_of_the_csv_with_types(
    library: Library,
    rich: Record,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyarrow import parquet

    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    monkeypatch.setattr("utils.media.long_table._BATCH_ROWS", 3)
    target = tmp_path / "new folder" / "cells.parquet"
    assert cli.main(["export", "--tables", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    table = parquet.read_table(target)
    stored = library.find(rich.pmid)
    assert table.to_pylist() == list(iterate_cell_rows(stored, list_objects(stored, library.shelf)))
    assert {str(table.schema.field(name).type) for name in ("number", "line", "value")} == {
        *("double", "int64", "string")
    }
    assert table.num_rows > 3


def test_without_pyarrow_parquet_names_the_extra_and_nothing_is_written(
    library: Library,
    rich: Record,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cli.main(["export", "--tables", str(tmp_path / "cells.parquet")]) != 0
    assert "uv sync --inexact --extra parquet" in capsys.readouterr().err
    assert cli.main(["export", "--tables", str(tmp_path / "cells.xlsx")]) == 2
    assert ".parquet" in capsys.readouterr().err
    assert not list(tmp_path.glob("cells*"))
