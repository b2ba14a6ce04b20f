"""Five windows and a harvest at once, and a desk that is killed: nothing is lost."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.desk.test_in_browser import BROWSER, Window, chromium
from tests.harvests import library_of
from tests.processes import Process
from tests.world import World
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Paper

__all__ = ["chromium"]
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.extras("playwright"),
    pytest.mark.skipif(not BROWSER, reason="needs Chromium"),
]
SCREEN_ALL = """async (name) => {
  const address = `/review/screen?name=moss&screener=${name}`;
  const statuses = [];
  for (let number = 0; number < 10; number += 1) {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const form = new FormData(page.querySelector(".decide"));
    form.set("choice", number % 2 ? "include" : "exclude");
    statuses.push((await fetch("/review/decide", {method: "POST", body: form})).status);
    for (const path of ["/", "/?text=moss", "/harvests", "/review?name=moss"])
      statuses.push((await fetch(path)).status);
  }
  return statuses;
}"""


@pytest.fixture(scope="module")
def slow_world():
    with World(field=60, latency=0.2) as world:
        yield world


@pytest.fixture
def start(slow_world, tmp_path):
    """Start a desk on a port, in a process of its own; return the process and its address."""
    started = []
    folders = {"PAPERS_DIR": str(tmp_path / "papers"), "PAPERS_PACE_DIR": str(tmp_path / "pace")}

    def start_desk(port):
        command = [sys.executable, str(ROOT / "server.py"), "desk", "--no-open", "--json"]
        process = Process(
            [*command, "--port", str(port)],
            env={**os.environ, **slow_world.environment(), **folders},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        return process, json.loads(process.stdout.readline())["address"]

    yield start_desk
    for process in started:
        process.end()


@pytest.fixture
def review(slow_world, tmp_path):
    library = library_of(slow_world, tmp_path)
    made = library.reviews.create("moss")
    papers = [Paper(Ids(pmid=str(number)), title=f"Moss {number}") for number in range(1, 21)]
    with made.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", [(ListEntry(str(one.ids), one.ids), one) for one in papers])
    return made


def find_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def begin_harvest(window, world, papers):
    tab = window.open("/harvests")
    tab.fill("textarea[name=list]", "\n".join(one.pmid for one in world.field[:papers]))
    tab.click("text=Plan")
    tab.click("text=Start the harvest")
    tab.wait_for_url("**/harvest?job=*")
    return tab


def test_five_windows_and_a_harvest_at_once(chromium, slow_world, start, review):
    _, address = start(find_port())
    window = Window(chromium, address)
    follower = begin_harvest(window, slow_world, 30)
    readers = [window.context.new_page() for _ in range(5)]
    for number, tab in enumerate(readers):
        tab.goto(f"{window.base}/inbox")
        tab.evaluate(f"(name) => {{ window.done = ({SCREEN_ALL})(name); }}", f"s{number}")
    for tab in readers:
        assert set(tab.evaluate("window.done")) == {200}
    follower.locator("p[role=status]", has_text="Done: 30 of 30 papers").wait_for(timeout=90_000)
    window.context.close()
    made = review.ledger.list_decisions()
    assert sum(map(len, made.values())) == 50


def test_a_killed_desk_says_so_and_goes_on(chromium, slow_world, start, review):
    slow_world.reset()
    port = find_port()
    desk, address = start(port)
    window = Window(chromium, address)
    follower = begin_harvest(window, slow_world, 40)
    screening = window.context.new_page()
    screening.goto(f"{window.base}/review/screen?name=moss&screener=ann")
    first = screening.locator("h1").text_content()
    follower.locator("text=Not tried yet").wait_for()
    desk.kill()
    desk.wait()
    screening.keyboard.press("i")
    for tab in (follower, screening):
        tab.locator("#lost").wait_for(state="visible", timeout=30_000)
    assert screening.locator("h1").text_content() == first
    _, address = start(port)
    window.context.new_page().goto(address)
    follower.locator("button", has_text="Resume").click(timeout=30_000)
    follower.locator("p[role=status]", has_text="Done: 40 of 40 papers").wait_for(timeout=90_000)
    screening.locator("main", has_text="1 record decided, 19 to go").wait_for(timeout=30_000)
    window.context.close()
    assert [one.choice for each in review.ledger.list_decisions().values() for one in each] == [
        "include"
    ]
