"""Toolset ``objects`` as a host meets it."""

import base64
from pathlib import Path

import pytest

from tests.mcp.calling import answer, call
from tests.world.pdf import pdf_of
from tests.world.pmc import media
from utils import Library
from utils.mcp import objects as door

pytestmark = pytest.mark.anyio
TOOLSETS = ("core", "objects")
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def rich(library, world):
    record = world.paper("supplemented")
    library.download(record.pmid)
    return record


@ERAS
async def test_the_list_asks_nobody(library, world, rich, mode):
    sent = len(world.requests)
    found = await answer(library, "paper_objects", mode, paper=rich.pmid)
    labels = [(one["number"], one["kind"], one["label"]) for one in found["objects"]]
    assert labels == [
        (1, "table", "Table 1"),
        (2, "figure", "Figure 1"),
        (3, "supplement", "Additional file 1"),
    ]
    assert len(world.requests) == sent


@pytest.mark.story
@ERAS
@pytest.mark.parametrize("which", ["Table 1", "tab. 1", "1", 1])
async def test_one_table_comes_as_rows(library, rich, mode, which):
    found = await answer(library, "paper_objects", mode, paper=rich.pmid, which=which)
    [kept] = library.objects(rich.pmid, only="Table 1", fetch=False).objects
    assert found["columns"] == list(kept.grid.columns)
    assert found["rows"] == [list(row) for row in kept.grid.rows]
    assert found["notes"] == list(kept.grid.notes)
    assert found["next_start"] is None


async def test_a_long_table_comes_in_parts_that_make_the_whole(library, rich, monkeypatch):
    monkeypatch.setattr(door, "_TABLE_MAX_CHARS", 40)
    [kept] = library.objects(rich.pmid, only="Table 1", fetch=False).objects
    rows, start, parts = [], 0, 0
    while start is not None:
        part = await answer(library, "paper_objects", paper=rich.pmid, which="1", start=start)
        rows, start, parts = rows + part["rows"], part["next_start"], parts + 1
    assert len(rows) == len(kept.grid.rows)
    assert parts > 1


@ERAS
async def test_one_figure_comes_as_an_image_and_lies_on_the_shelf(library, rich, mode):
    found = await call(library, "paper_objects", {"paper": rich.pmid, "which": "fig 1"}, mode)
    [image] = [block for block in found.content if block.type == "image"]
    data = media(rich)["fig1.jpg"]
    assert (base64.b64decode(image.data), image.mime_type) == (data, "image/jpeg")
    assert image.meta == {"untrusted": True}
    [row] = found.structured_content["objects"]
    assert Path(row["file"]).read_bytes() == data


async def test_no_other_object_is_fetched_for_one(library, world, rich):
    await answer(library, "paper_objects", paper=rich.pmid, which="Figure 1")
    assert not any("MOESM1" in request.path for request in world.requests)
    library.objects(rich.pmid)
    await answer(library, "paper_objects", paper=rich.pmid, which="Figure 1")
    found = await answer(library, "paper_objects", paper=rich.pmid)
    assert all("file" in one for one in found["objects"])  # those brought before are still known


async def test_a_picture_too_large_for_a_host_is_named_instead(library, rich, monkeypatch):
    monkeypatch.setattr(door, "_IMAGE_MAX_BYTES", 5)
    found = await call(library, "paper_objects", {"paper": rich.pmid, "which": "Figure 1"})
    assert [block.type for block in found.content] == ["text"]
    assert "open the file" in found.content[0].text
    assert "figure-1.jpg" in found.content[0].text


async def test_what_is_called_an_image_and_is_none_is_not_shown(library, rich):
    [kept] = library.objects(rich.pmid, only="Figure 1").objects
    page = kept.file and Path(kept.file)
    page.write_bytes(b"<svg onload=alert(1)>")
    assert door._build_picture(kept) is None


async def test_a_label_that_the_paper_lacks_names_those_it_has(library, rich):
    found = await call(library, "paper_objects", {"paper": rich.pmid, "which": "Table 7"})
    assert found.is_error
    assert found.meta["error"]["code"] == "NOT_FOUND"
    assert "Table 1; Figure 1; Additional file 1" in found.content[0].text


async def test_words_of_a_paper_are_marked_as_such(library, rich):
    for which in ("", "Table 1", "Figure 1"):
        found = await call(library, "paper_objects", {"paper": rich.pmid, "which": which})
        assert found.meta["untrusted"] is True
        assert found.content[0].meta == {"untrusted": True}


async def test_a_section_names_what_this_tool_shows(library, rich):
    found = await call(library, "read_paper", {"paper": rich.pmid, "section": "results"})
    rows = found.structured_content["objects"]
    assert [row["label"] for row in rows] == ["Table 1", "Figure 1", "Additional file 1"]
    assert "objects_shown_by: paper_objects" in found.content[0].text
    for row in rows:
        shown = await answer(library, "paper_objects", paper=rich.pmid, which=row["label"])
        assert shown["objects"][0]["label"] == row["label"]


async def test_a_file_is_verified_against_the_shelf(library, rich):
    inbox = library.shelf.folder / "inbox"
    inbox.mkdir(exist_ok=True)
    (inbox / "a.pdf").write_bytes(pdf_of(rich))
    found = await answer(library, "verify_file", file="inbox/a.pdf", paper=rich.pmid)
    assert (found["outcome"], found["identity"]) == ("whole", "same")


@pytest.mark.parametrize("name", ["a\0b", "~nobody-of-this-name/a.pdf", "x" * 5000, "."])
async def test_a_name_that_cannot_be_read_is_refused_in_words(library, rich, name):
    result = await call(library, "verify_file", {"file": name})
    if result.is_error:
        assert '"VALIDATION"' in result.content[0].text
    else:
        assert result.structured_content["outcome"] == "not_whole"


async def test_over_http_only_files_of_the_shelf_are_verified(settings, tmp_path):
    outside = tmp_path / "a.html"
    outside.write_text("<p>secret</p>", encoding="utf-8")
    library = Library(**settings, mcp_toolsets=TOOLSETS, mcp_transport_type="http")
    for name in (str(outside), "../a.html"):
        refused = await call(library, "verify_file", {"file": name})
        assert refused.is_error
        assert "inbox/" in refused.content[0].text
