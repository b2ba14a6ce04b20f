"""Which route brought what of a list: from the ledgers, and by asking every route."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.examples import ALL
from tests.harvests import done, ids_of
from tests.repeats import repeats
from tests.sources.reader import EVERY_KEY
from tests.world import Record, World
from utils import Library, cli
from utils.cli.yields import yield_text
from utils.errors import BadRequest, NotFound
from utils.harvest.history import told, wilson
from utils.harvest.yields import Yields
from utils.model.identifiers import Ids
from utils.model.paper import Attempt
from utils.reports.yield_figures import (
    GroupYield,
    LadderRoute,
    PaperYield,
    RouteYield,
    YieldFigures,
)

pytestmark = pytest.mark.slow

FIELD = 40 if ALL else 24
SVG = "{http://www.w3.org/2000/svg}"


def texts(folder: Path) -> dict[str, bytes]:
    """The texts on a shelf, without the abstracts, whose headers tell of every attempt."""
    papers = folder.glob("*.txt")
    return {path.name: path.read_bytes() for path in papers if "_abstract" not in path.name}


def by_route(found: Yields) -> dict[str, RouteYield]:
    return {route.via: route for route in found.figures().routes()}


def records(world: World, *branches: str) -> list[Record]:
    return [world.paper(branch) for branch in branches]


# -- from the ledgers --------------------------------------------------------------------------


def test_a_harvest_tells_who_was_first_and_nobody_is_asked(far: Library, field: World) -> None:
    harvest = far.harvest(query="field[ti]")
    rows = done(harvest)
    sent = len(field.requests)
    found = far.yields(map(ids_of, field.field))
    figures = found.figures()
    full = [row for row in rows if row.state == "full_text"]
    assert (figures.total, figures.known, figures.with_text) == (FIELD, FIELD, len(full))
    routes = by_route(found)
    assert sum(route.first for route in routes.values()) == len(full)
    assert [route.cumulative for route in figures.routes()][-1] == len(full)
    published = [row for row in full if row.version in ("published", "")]
    for via in ("pmc_cloud", "efetch", "publisher"):
        brought = sum(row.via == via for row in published)
        assert routes[via].first + routes[via].better >= brought > 0
    assert all(route.only is None for route in routes.values())
    assert len(field.requests) == sent


def test_requests_are_those_the_sites_counted(far: Library, field: World) -> None:
    done(far.harvest(query="field[ti]"))
    routes = by_route(far.yields(map(ids_of, field.field)))
    answered = [request.service for request in field.requests]
    for via, service in (("pmc_cloud", "pmc_cloud"), ("openalex", "openalex"), ("jina", "jina")):
        sent = sum(name.startswith(service) for name in answered)
        assert routes[via].requests == sent > 0, via
        assert routes[via].measured == routes[via].asked
    assert routes["efetch"].requests < routes["efetch"].asked  # many articles in one request


def test_papers_of_several_harvests_are_one_list(far: Library, field: World) -> None:
    listed = [ids_of(record) for record in field.field]
    done(far.harvest(listed[:10]))
    done(far.harvest(listed[5:20]))
    found = far.yields(listed)
    figures = found.figures()
    assert (figures.total, figures.known) == (FIELD, 20)
    assert f"{FIELD - 20} of them no harvest of this shelf asked for" in yield_text(figures)
    assert by_route(far.yields(listed[:3]))["pmc_cloud"].asked <= 3


def test_a_paper_under_two_names_is_counted_once(library: Library, world: World) -> None:
    record = world.paper("publisher_html")
    done(library.harvest([Ids(pmid=record.pmid)]))
    figures = library.yields([Ids(pmid=record.pmid), Ids(doi=record.doi)]).figures()
    assert (figures.total, figures.with_text) == (1, 1)


def test_a_paper_that_came_without_a_harvest_is_known(library: Library, world: World) -> None:
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    routes = by_route(library.yields([record.pmid]))
    assert (routes["pmc_cloud"].first, routes["pmc_cloud"].measured) == (1, 0)


def test_the_yield_of_a_job_lies_beside_its_report(library: Library, world: World) -> None:
    harvest = library.harvest(map(ids_of, records(world, "pmc_cloud", "paywall")))
    done(harvest)
    found = library.yields(job_id=harvest.job_id)
    assert found.write() == harvest.folder / "yield.svg"
    assert found.figures().with_text == 1


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, BadRequest),
        ({"papers": ["31452104"], "job_id": "x"}, BadRequest),
        ({"job_id": "no-such-job"}, NotFound),
    ],
)
def test_a_yield_is_of_a_list_or_of_a_job(
    library: Library, asked: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        library.yields(**asked)


# -- asking every route ------------------------------------------------------------------------


@pytest.fixture
def all_asked(far: Library, field: World) -> Yields:
    """A field that was harvested, then asked for everywhere."""
    done(far.harvest(query="field[ti]"))
    found = far.yields(map(ids_of, field.field), ask_all=True)
    assert found.survey
    for _ in found.survey:
        pass
    return found


def test_every_open_route_answers_about_every_paper(all_asked: Yields) -> None:
    figures = all_asked.figures()
    assert figures.all_asked
    assert figures.complete == figures.total == FIELD
    routes = by_route(all_asked)
    assert routes["pmc_cloud"].had == routes["pmc_cloud"].first
    assert routes["efetch"].had > routes["efetch"].first  # PMC has most of them twice
    assert routes["jina"].had > routes["jina"].first
    assert all((route.only or 0) <= route.first for route in routes.values())
    for paper in figures.papers:
        assert paper.first() in paper.had if paper.had else not paper.first()


@pytest.mark.lab
def test_nothing_is_asked_twice_and_no_text_of_the_shelf_changes(
    far: Library, field: World
) -> None:
    rows = done(far.harvest(query="field[ti]"))
    before = texts(far.shelf.folder)
    survey = far.yields(map(ids_of, field.field), ask_all=True).survey
    assert survey
    done(survey)
    assert not {name: n for name, n in repeats(field.requests).items() if n > 1}
    after = texts(far.shelf.folder)
    assert {name: after[name] for name in before} == before
    # What is new is the published text where only another version was had.
    gained = {row.paper.ids.pmid for row in rows if row.version in ("accepted", "preprint")}
    assert len(after) - len(before) <= len(gained)
    sent = len(field.requests)
    done(survey)
    assert len(field.requests) == sent


@pytest.mark.lab
def test_a_survey_goes_on_where_it_was_stopped(far: Library, field: World) -> None:
    listed = [ids_of(record) for record in field.field]
    survey = far.yields(listed, ask_all=True).survey
    assert survey
    for progress in survey:
        if progress.job.counts.pending < FIELD - 5:
            break
    assert survey.job().counts.pending
    found = far.yields(listed, ask_all=True)
    assert found.survey
    assert found.survey.job_id == survey.job_id
    done(found.survey)
    assert found.figures().complete == FIELD
    # `harvest --job` takes it up as what it is.
    assert far.harvest(job_id=survey.job_id).job().ask_all


def test_a_survey_of_papers_never_harvested_fills_the_shelf(library: Library, world: World) -> None:
    listed = records(world, "pmc_cloud", "publisher_html", "jina_only", "paywall")
    found = library.yields(map(ids_of, listed), ask_all=True)
    assert found.survey
    states = {row.paper.ids.pmid: row.state for row in done(found.survey)}
    assert states == {record.pmid: record.expected for record in listed}
    assert library.shelf.counts()["full_text"] == 3


def test_a_site_that_was_out_is_asked_by_the_next_run(library: Library, world: World) -> None:
    listed = list(map(ids_of, records(world, "pmc_cloud", "publisher_html")))
    world.mood("down", "openalex")
    found = library.yields(listed, ask_all=True)
    assert found.survey
    done(found.survey)
    assert found.figures().complete == 0
    world.reset()
    done(found.survey)
    assert found.figures().complete == 2
    assert {request.service for request in world.requests} == {"openalex"}


def test_a_key_that_was_set_since_is_asked_with(
    library: Library, world: World, settings: dict[str, Any]
) -> None:
    listed = list(map(ids_of, records(world, "elsevier_subscribed", "publisher_html")))
    survey = library.yields(listed, ask_all=True).survey
    assert survey
    done(survey)
    world.subscribed.add("elsevier")
    reader = Library(**(settings | EVERY_KEY))
    found = reader.yields(listed, ask_all=True)
    assert found.survey
    assert found.survey.job_id == survey.job_id
    done(found.survey)
    figures = found.figures()
    assert figures.with_text == 2
    lost = figures.lost_without()
    assert lost["elsevier_api_key"] == lost["all of them"] == 1
    assert figures.routes()[-1].without_keys == 1
    assert "without ELSEVIER_API_KEY: 1 text fewer" in yield_text(figures)
    reader.shelf.close()


# -- counting ----------------------------------------------------------------------------------

ELSEVIER = LadderRoute("elsevier", "elsevier_api_key")
LADDER = (LadderRoute("pmc_cloud"), ELSEVIER, LadderRoute("jina"))
OPEN = tuple(route.via for route in LADDER)


def paper(
    had: dict[str, str], *, answered: tuple[str, ...] = OPEN, year: str = "2020"
) -> PaperYield:
    ids = Ids(doi=f"10.1016/{len(had)}")
    return PaperYield("x", ids, year, OPEN, had, frozenset(answered))


def figures_of(*papers: PaperYield) -> YieldFigures:
    return YieldFigures(LADDER, {"jina": (2, 4.0, 9.0)}, list(papers))


def test_first_alone_better_and_without_keys() -> None:
    cloud, elsevier, jina = figures_of(
        paper({"pmc_cloud": "saved"}),
        paper({"pmc_cloud": "other_version", "jina": "saved"}),
        paper({"elsevier": "saved"}),
        paper({"elsevier": "saved", "jina": "saved"}),
        paper({}),
    ).routes()
    counted = [
        (route.had, route.first, route.only, route.better, route.cumulative, route.without_keys)
        for route in (cloud, elsevier, jina)
    ]
    assert counted == [(2, 2, 1, 0, 2, 2), (2, 2, 1, 0, 4, 2), (2, 0, 0, 1, 4, 3)]
    assert (jina.measured, jina.requests, jina.seconds) == (2, 4.0, 9.0)


def test_who_alone_had_it_is_unknown_where_routes_were_not_asked() -> None:
    asked_until_found = figures_of(paper({"pmc_cloud": "saved"}, answered=("pmc_cloud",)))
    assert [route.only for route in asked_until_found.routes()] == [None] * 3
    nearly = figures_of(
        *[paper({"pmc_cloud": "saved"}) for _ in range(19)],
        paper({"pmc_cloud": "saved"}, answered=("pmc_cloud",)),
    )
    assert nearly.routes()[0].only == 19


def test_years_come_latest_first_and_publishers_largest_first() -> None:
    groups = figures_of(
        paper({"jina": "saved"}, year="1999"), paper({}, year=""), paper({}, year="2024")
    ).groups()
    assert [(one.by, one.name, one.papers, one.full_text) for one in groups] == [
        ("year", "2024", 1, 0),
        ("year", "1999", 1, 1),
        ("year", "unknown", 1, 0),
        ("publisher", "Elsevier", 3, 1),
    ]
    assert groups[1] == GroupYield("year", "1999", 1, 1, {"jina": 1})


def test_the_files_say_what_was_counted(tmp_path: Path, library: Library) -> None:
    from utils.reports.yield_curve import write_curve

    figures = figures_of(paper({"jina": "saved"}), paper({"elsevier": "saved"}))
    figures.write(tmp_path)
    with (tmp_path / "yield.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["via"], row["first"], row["cumulative"]) for row in rows] == [
        ("pmc_cloud", "0", "0"),
        ("elsevier", "1", "1"),
        ("jina", "1", "2"),
    ]
    curve = write_curve(figures, "=1+1 <b>&\x07 of \ud800", tmp_path)
    drawn = ET.fromstring(curve.read_text(encoding="utf-8"))
    words = " ".join(text.text or "" for text in drawn.iter(f"{SVG}text"))
    assert "Full text of 2 of 2 papers" in words
    assert "<b>&" in words
    assert "the same without your keys" in words
    with (tmp_path / "yields_papers.csv").open(encoding="utf-8") as file:
        assert [row["first"] for row in csv.DictReader(file)] == ["jina", "elsevier"]


@pytest.mark.parametrize("papers", [(), (paper({}, answered=()),)])
def test_a_list_without_any_text_is_drawn(papers: tuple[PaperYield, ...]) -> None:
    from utils.reports.yield_curve import svg

    figures = figures_of(*papers)
    ET.fromstring(svg(figures, "nothing"))
    assert yield_text(figures)


# -- what a shelf has learned ------------------------------------------------------------------


def test_answers_are_told_from_what_was_not_asked() -> None:
    routes = told(
        [
            Attempt("pmc_cloud", "unreachable"),
            Attempt("pmc_cloud", "saved", url="https://x.org"),
            Attempt("efetch", "other_version", "The accepted manuscript is on the shelf already."),
            Attempt("arxiv", "not_offered"),
            Attempt("arxiv", "unreachable"),
            Attempt("jina", "skipped"),
            Attempt("unpaywall", "other_version", url="https://x.org"),
        ]
    )
    assert set(routes) == {"pmc_cloud", "unpaywall"}


@pytest.mark.parametrize(
    ("hits", "number", "least", "most"),
    [(0, 30, 0.0, 0.114), (30, 30, 0.886, 1.0), (15, 30, 0.331, 0.669), (500, 1000, 0.469, 0.531)],
)
def test_wilsons_interval(hits: int, number: int, least: float, most: float) -> None:
    assert wilson(hits, number) == pytest.approx((least, most), abs=0.001)


# -- in the shell ------------------------------------------------------------------------------


@pytest.fixture
def shell(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in the stand-in world: status, what it printed, its remarks."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run(*words: str) -> tuple[int, str, str]:
        status = cli.main(words)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_the_shell_prints_a_table_and_writes_the_files(
    shell: Callable[..., tuple[int, str, str]], world: World, tmp_path: Path
) -> None:
    listed = [record.pmid for record in records(world, "pmc_cloud", "publisher_html")]
    (tmp_path / "list.txt").write_text("\n".join(listed), encoding="utf-8")
    status, said, remarks = shell("yield", str(tmp_path / "list.txt"))
    assert (status, "0 with full text" in said, "--ask-all" in remarks) == (0, True, True)
    status, said, _ = shell("yield", str(tmp_path / "list.txt"), "--ask-all")
    assert status == 0
    assert "2 papers, 2 with full text" in said
    assert "not asked: needs WILEY_TDM_TOKEN" in said
    [folder] = (tmp_path / "papers/reports").glob("yield-of-list-txt-*")
    made = {path.name for path in folder.iterdir()}
    assert made >= {"yield.svg", "yield.csv", "yield_groups.csv", "yields_papers.csv"}
    status, said, _ = shell("yield", str(tmp_path / "list.txt"), "--json")
    row = json.loads(said)
    assert (status, row["papers"], row["asked_everywhere"]) == (0, 2, 2)
    assert sum(route["only"] for route in row["routes"]) <= 2
    assert {group["by"] for group in row["groups"]} == {"year", "publisher"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("moss",), "a yield is of papers"),
        (("--job", "no-such-job"), "There is no harvest"),
        (("31452104", "--job", "x"), "exclude each other"),
    ],
)
def test_the_shell_says_what_a_yield_is_of(
    shell: Callable[..., tuple[int, str, str]], words: tuple[str, ...], said: str
) -> None:
    status, _, remarks = shell("yield", *words)
    assert status == 2
    assert said in remarks
