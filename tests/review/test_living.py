"""A review that lives: what each update tells, to whom, and what it never touches."""

import csv
import json
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import html

from tests.processes import Process
from tests.reports.r_prisma import read_as_r_does
from tests.review.living import DAY, PROTOCOL, STAGES, a_year_later, retract, seeds_of
from tests.world import World, kinship
from utils import Library, cli
from utils.errors import Unreachable
from utils.review import Review, updating
from utils.review.ledger import AT_UPDATES

pytestmark = pytest.mark.slow

FIELD = 14
ROOT = Path(__file__).resolve().parents[2]
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(
    field: World,
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    for name, value in field.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAPERS_DIR", str(library.shelf.folder))
    monkeypatch.setenv("PAPERS_PACE_DIR", str(library.settings.papers_pace_dir))

    def run(*words: object) -> tuple[int, str, str]:
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def changes(review: Review) -> list[tuple[str, str]]:
    review.report()
    with (review.folder / "changes.csv").open(newline="", encoding="utf-8") as file:
        return [(row["outcome"], row["pmid"]) for row in csv.DictReader(file)]


def test_who_cites_what_is_included_joins_once_and_decisions_stay(
    included: Review, field: World
) -> None:
    decided, records = included.ledger.list_decisions(), len(included.ledger.list_records())
    chased = read_as_r_does(figure(included))["citations_results"]
    new = a_year_later(field, included)
    first = included.update()
    citing = {record.paper.ids.pmid for record in first.citing}
    assert new.pmid in citing
    expected = {other.pmid for pmid in seeds_of(included)
                for other in kinship.citing(field.record(pmid), field)}  # type: ignore[arg-type]  # fmt: skip
    assert citing <= expected
    assert not first.silent
    assert len(included.ledger.list_records()) == records + len(first.citing) + len(first.new)
    assert ("citing", new.pmid) in changes(included)
    assert read_as_r_does(figure(included))["citations_results"] == chased + len(first.citing)
    [key] = [record.key for record in first.citing if record.paper.ids.pmid == new.pmid]
    leads = {one.key: one.detail for one in updating.list_changes(included.events(), first.citing)}
    record = field.record(seeds_of(included)[0])
    assert record
    assert record.doi in leads[key]
    time.sleep(DAY)
    second = included.update()
    assert second.is_quiet
    assert included.ledger.list_decisions() == decided
    assert [
        one.search.hits for one in included.ledger.list_searches() if one.limits == AT_UPDATES
    ] == [len(first.citing)]  # not one for every update


def figure(review: Review) -> str:
    review.report()
    return (review.folder / "prisma.csv").read_text(encoding="utf-8")


def test_news_since_the_published_state_are_told_until_the_next_is_published(
    included: Review, field: World, shell: Shell
) -> None:
    assert "Changes since" not in shell("review", "status", "fields")[1]
    assert shell("review", "report", "fields", "--published")[0] == 0
    assert included.status()["since_published"] == {}
    new = a_year_later(field, included)
    gone = seeds_of(included)[0]
    [doi] = [r.paper.ids.doi for r in included.ledger.list_records() if r.paper.ids.pmid == gone]
    retract(field, gone)
    status, out, err = shell("review", "update", "fields")
    assert status == 0
    assert "cites what is included" in out
    assert "Hedges and their shadows" in out
    [told] = [line for line in out.splitlines() if line.startswith("  retracted ")]
    assert told.endswith(doi)
    time.sleep(DAY)
    status, out, err = shell("review", "update", "fields", "--quiet")
    assert (status, out, err) == (0, "", "")  # cron sends no mail
    told = included.status()["since_published"]
    assert told["retracted"] == 1
    assert told["citing"] >= 1
    status, out, _ = shell("review", "status", "fields")
    assert "Changes since" in out
    [page, *_] = included.report()
    text = " ".join(html.fromstring(page.read_text(encoding="utf-8")).text_content().split())  # type: ignore[attr-defined]
    assert "New since the review was published on" in text
    assert new.title in text
    rows = [[cell.text_content() for cell in row] for row in html.parse(page).iter("tr")]
    assert [row[3] for row in rows if row[1] == "retracted"] == [doi]
    included.report(published=True)
    assert included.status()["since_published"] == {}


def test_a_database_that_is_down_keeps_its_search_and_is_named(
    included: Review, field: World, shell: Shell
) -> None:
    before = {one.search.name: one.search for one in included.ledger.list_searches()}
    retract(field, seeds_of(included)[0])
    time.sleep(365 * DAY)
    field.mood("down", "europepmc")
    status, out, err = shell("review", "update", "fields", "--quiet")
    assert status == 1
    assert "retracted" in out
    assert "warning: Europe PMC could not be searched" in err
    after = {one.search.name: one.search for one in included.ledger.list_searches()}
    assert after["Europe PMC"] == before["Europe PMC"]
    assert after["PubMed"].searched_at > before["PubMed"].searched_at
    [page, *_] = included.report()
    assert (
        "Europe PMC could not be searched"
        in html.fromstring(page.read_text(encoding="utf-8")).text_content()  # type: ignore[attr-defined]
    )
    assert included.status()["could_not_tell"]
    field.calm()
    time.sleep(DAY)
    again = included.update()
    assert not again.silent
    assert not included.status()["could_not_tell"]


def test_who_does_not_answer_about_a_record_is_no_proof_that_nothing_happened(
    included: Review, field: World
) -> None:
    retract(field, seeds_of(included)[0])
    time.sleep(365 * DAY)
    field.mood("down", "crossref")
    field.mood("down", "eutils")
    with_silence = included.update()
    assert not with_silence.news
    assert any("could not be asked about" in told for told in with_silence.silent)
    field.calm()
    time.sleep(DAY)
    assert [one.outcome for one in included.update().news] == ["retracted"]


def test_the_first_search_has_to_be_answered_by_all(library: Library, field: World) -> None:
    review = library.reviews.create("fields")
    (review.folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    field.mood("down", "europepmc")
    with pytest.raises(Unreachable, match="Europe PMC could not be searched"):
        review.update()
    assert not review.ledger.list_records()


DYING = """
import os, signal, sys
from tests.killed import Stage
Stage().sleep(float(sys.argv[1]))
from utils import Library
from utils.review import updating
from utils.review.ledger import EventWriter
where = {"_find_new_citing_papers": updating, "set_event_detail": EventWriter}[sys.argv[2]]
setattr(where, sys.argv[2], lambda *_: os.kill(os.getpid(), signal.SIGKILL))
Library().reviews.open("fields").update()
"""


def test_an_update_that_was_killed_keeps_whole_steps_and_goes_on(
    included: Review, field: World, shell: Shell
) -> None:
    new = a_year_later(field, included)
    retract(field, seeds_of(included)[0])
    included.report(published=True)
    before = included.ledger.list_decisions()
    ahead = str(time.time() - datetime.now(UTC).timestamp())
    for step, kept in (("set_event_detail", {}), ("_find_new_citing_papers", {"retracted": 1})):
        with Process([sys.executable, "-c", DYING, ahead, step], cwd=ROOT) as process:
            assert process.wait() == -signal.SIGKILL
        assert included.status()["since_published"] == kept
    assert shell("review", "update", "fields", "--quiet")[0] == 0
    told = included.status()["since_published"]
    assert told["retracted"] == 1
    assert told["citing"] >= 1
    assert new.pmid in {one.paper.ids.pmid for one in included.ledger.list_records()}
    assert included.ledger.list_decisions() == before


def test_reports_whose_citations_nobody_searched_are_named(library: Library, field: World) -> None:
    review = library.reviews.create("fields")
    (review.folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    review.update()
    doi = next(r.paper.ids.doi for r in review.ledger.list_records() if r.paper.ids.pmid)
    rows = "\n".join(["doi,decision,stage", *(f"{doi},include,{stage}" for stage in STAGES)])
    review.read_decisions(rows.encode(), "mine.csv")
    told = review.update()
    assert not told.citing
    assert any("Who cites 1 included report was never searched" in note for note in told.notes)


def test_update_says_each_thing_once_in_json(included: Review, field: World, shell: Shell) -> None:
    new = a_year_later(field, included)
    _, out, _ = shell("review", "update", "fields", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["title"].rstrip(".") for row in rows if row["outcome"] == "citing"].count(
        new.title
    ) == 1
    _, out, _ = shell("review", "update", "fields", "--json")
    assert out == ""
