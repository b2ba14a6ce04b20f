"""Every bad mood of the stand-in: a verdict or a sentence, never a crash, never a hang.

Whatever a site sends, the paper that lies on the shelf already is as it was.
"""

import contextlib
import logging
import shutil
from pathlib import Path

import pytest

from tests.examples import pairs
from tests.world.moods import MOODS
from utils import Library, PaperError
from utils.model.identifiers import Ids

pytestmark = pytest.mark.slow

ONLY_SLOW = {"drip", "slow_headers"}  # told apart by the clock: see tests/http
BRANCH_OF = {
    "pmc_cloud": "pmc_cloud", "eutils": "efetch_only", "europepmc": "europepmc_only",
    "arxiv": "arxiv", "unpaywall": "unpaywall_html", "publisher": "publisher_html",
    "jina_reader": "jina_only",
}  # fmt: skip


def shelf_bytes(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.txt")}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """Where the shelf of somebody lies who has downloaded one paper."""
    return tmp_path_factory.mktemp("earlier") / "papers"


@pytest.fixture
def held(library, world, earlier):
    """What the library holds: that paper, downloaded once for all moods."""
    pmid = world.paper("editorial").pmid
    if not earlier.exists():
        library.download(pmid)
        library.shelf.close()
        shutil.copytree(library.settings.papers_dir, earlier)
    else:
        shutil.copytree(earlier, library.settings.papers_dir)
    return library.find(pmid)


@pytest.mark.parametrize(("mood", "service"), pairs(sorted(set(MOODS) - ONLY_SLOW), BRANCH_OF))
def test_no_mood_of_any_service_does_harm(library, held, world, caplog, mood, service):
    before = shelf_bytes(library.settings.papers_dir)
    record = world.paper(BRANCH_OF[service])
    world.mood(mood, service)
    ids = Ids(pmid=record.pmid) if record.pmid else Ids(arxiv=record.arxiv)
    with contextlib.suppress(PaperError):  # a sentence is as good as a file; a crash is not
        done = library.download(ids)
        text = Path(done.file_path).read_text(encoding="utf-8")
        assert record.title.split()[0].strip("*<i>") in text
        assert done.stored.paper.title
    after = shelf_bytes(library.settings.papers_dir)
    assert before.items() <= after.items()
    assert library.find(held.paper.ids.pmid).sha256 == held.sha256
    assert not [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]


def outcomes_of(library, world, mood, branch, service):
    world.mood(mood, service)
    done = library.download(world.paper(branch).pmid)
    return [a.outcome for a in done.stored.attempts if a.source == service]


@pytest.mark.parametrize(
    ("mood", "verdict"),
    [
        ("captcha", "bot_check"),
        ("paywall", "paywall"),
        ("login", "login"),
        ("wrong_paper", "wrong_paper"),
    ],
)
def test_walls_have_names(library, world, mood, verdict):
    attempts = outcomes_of(library, world, mood, "publisher_html", "publisher")
    assert verdict in attempts


@pytest.mark.parametrize("mood", ["xml_bomb", "external_entity", "deep_nesting", "garbage"])
def test_hostile_xml_is_rejected_and_the_ladder_goes_on(library, world, mood):
    world.mood(mood, "pmc_cloud", path=".xml")
    done = library.download(world.paper("pmc_cloud").pmid)
    assert done.stored.kind in {"full_text", "abstract"}
    assert done.stored.attempts[0].outcome != "saved" or mood == "deep_nesting"
    assert "root:" not in Path(done.file_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("mood", ["huge", "gzip_bomb"])
def test_a_flood_is_stopped_early(library, world, mood):
    attempts = outcomes_of(library, world, mood, "publisher_html", "publisher")
    assert "not_a_paper" in attempts


def test_a_redirect_loop_ends(library, world):
    world.mood("down", "jina_reader", times=None)  # so that the publisher is waited for
    attempts = outcomes_of(library, world, "redirect_loop", "publisher_html", "publisher")
    assert attempts == ["not_offered"]
    assert len([r for r in world.requests if r.service.startswith("publisher")]) <= 24  # twice


def test_a_redirect_into_a_private_network_is_refused(settings, world):
    library = Library(**{**settings, "papers_allow_private_network": False})
    world.mood("ssrf", "doi")
    done = library.download(world.paper("publisher_html").pmid)
    attempt = next(a for a in done.stored.attempts if a.source == "publisher")
    assert attempt.outcome == "not_offered"
    assert "private network" in attempt.detail


def test_retry_after_is_obeyed_exactly_and_shared(library, settings, world, clock):
    world.mood("storm", "pmc_cloud", times=1, seconds=8)  # longer pauses put the source last
    library.download(world.paper("pmc_cloud").pmid)
    asked = [r for r in world.requests if r.service == "pmc_cloud"]
    assert asked[0].status == 429
    assert asked[1].at - asked[0].at >= 8


def test_a_host_that_asks_for_an_hour_is_out_and_the_ladder_goes_on(library, world):
    world.mood("storm", "pmc_cloud", seconds=3600)
    done = library.download(world.paper("unpaywall_pmc_url").pmid)
    assert done.stored.via == "efetch"
    library.download(world.paper("editorial").pmid)
    assert len([r for r in world.requests if r.service == "pmc_cloud"]) == 1
