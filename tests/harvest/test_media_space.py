"""The room that figures, tables and files take, told before any is fetched."""

import json
import shutil

import pytest

from tests.world import Record, World
from tests.world.pmc import media
from utils import Library, cli
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.sources import Query
from utils.sources.pmc import list_media_sizes

EVERY = ("figure", "table", "supplement")


@pytest.fixture
def rich(world: World) -> Record:
    return world.paper("supplemented")


def entry(record: Record) -> ListEntry:
    return ListEntry(record.pmid, Ids(pmid=record.pmid))


def fetched(world: World, record: Record) -> bool:
    return any(name in request.path for request in world.requests for name in media(record))


def test_the_sizes_are_those_of_the_files_without_the_article_itself(
    library: Library, rich: Record
) -> None:
    sizes = list_media_sizes(rich.pmcid, library.web)
    assert sizes == {name: len(data) for name, data in media(rich).items()}


def test_a_list_is_judged_by_what_the_cloud_lists_and_nothing_is_fetched(
    library: Library, world: World, rich: Record
) -> None:
    plan = library.harvests.plan([entry(rich)])
    space = library.harvests.media_space(plan, EVERY[::2], [entry(rich)])
    wanted = {name: len(data) for name, data in media(rich).items() if name != "fig1.gif"}
    assert (space.papers, space.files, space.size) == (1, len(wanted), sum(wanted.values()))
    assert space.largest == space.size
    assert (
        library.harvests.media_space(plan, ("supplement",), [entry(rich)]).size
        == wanted["counts_MOESM1_ESM.csv"]
    )
    assert not fetched(world, rich)
    # What was foretold is what it takes.
    library.download(rich.pmid)
    kept = library.objects(rich.pmid, kinds=EVERY[::2]).objects
    assert sum(one.bytes for one in kept) == space.size


def test_a_query_is_judged_by_its_papers_in_pmc(library: Library, world: World) -> None:
    query = Query("2025[dp]")
    plan = library.harvests.plan(query=query)
    space = library.harvests.media_space(plan, EVERY, query=[query])
    assert space.papers == plan.in_pmc > 0
    assert "PMC lists for" in space.basis
    assert space.size >= plan.in_pmc * 5_500


def test_tables_ask_nobody(library: Library, world: World, rich: Record) -> None:
    plan = library.harvests.plan([entry(rich)])
    sent = len(world.requests)
    assert library.harvests.media_space(plan, ("table",), [entry(rich)]).files == 0
    assert len(world.requests) == sent


def test_a_shelf_with_enough_papers_speaks_for_itself(
    library: Library, world: World, rich: Record
) -> None:
    library.download(rich.pmid)
    folder = library.objects(rich.pmid).folder
    for number in range(10):
        shutil.copytree(folder, folder.with_name(f"{number}.files"))
    plan = library.harvests.plan([entry(world.paper("pmc_cloud"))])
    sent = len(world.requests)
    space = library.harvests.media_space(plan, ("figure",), [entry(world.paper("pmc_cloud"))])
    assert "11 papers of this shelf" in space.basis
    assert space.size == len(media(rich)["fig1.jpg"])
    assert len(world.requests) == sent


def test_while_pmc_is_down_the_plan_says_that_it_could_not_be_asked(
    library: Library, world: World, rich: Record
) -> None:
    plan = library.harvests.plan([entry(rich)])
    world.mood("down", "pmc_cloud")
    space = library.harvests.media_space(plan, ("figure",), [entry(rich)])
    world.reset()
    assert "PMC did not answer" in space.basis


def test_the_shell_says_the_room_and_the_limit(
    library: Library,
    world: World,
    rich: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    asked = ["harvest", rich.pmid, "--plan", "--media", "figures,supplements"]
    assert cli.main([*asked, "--most-mb", "20"]) == 0
    said = capsys.readouterr().out
    assert "figures,supplements of 1 paper in PMC: about 1 MB in 2 files" in said
    assert "never more than 20 MB a paper (--max-mb)" in said
    assert cli.main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["media"]["files"] == 2
    assert not fetched(world, rich)


def test_the_limit_holds_for_each_paper_of_a_harvest(
    library: Library,
    world: World,
    rich: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.library.Library", lambda **_: library)
    asked = ["harvest", rich.pmid, "--media", "figures", "--json"]
    cli.main([*asked, "--most-mb", "0"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [figure] = [row for row in rows if row.get("kind") == "figure"]
    assert "Left out" in figure["reason"]
    assert not fetched(world, rich)
    cli.main(asked)  # the same command goes on
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["file"] for row in rows if row.get("kind") == "figure"]
