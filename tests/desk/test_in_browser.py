"""The desk in Chromium: keys, search as you type, live progress, and axe on every page."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.desk.played import fill
from utils import Library
from utils.desk import server

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
AXE = os.environ.get("AXE_CORE", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.extras("playwright"),
    pytest.mark.skipif(not BROWSER, reason="needs Chromium"),
]
PATHS = [
    "/",
    "/?view=table&text=moss",
    "/?retracted=1&year_from=1900",
    "/paper?id=10.1000_p.1.txt",
    "/paper?id=10.1000_p.1.txt&pdf=beside",
    "/?tag=methods",
    "/?text=ferns&license=CC0&author=nobody",
    "/selection?id=10.1000_p.1.txt&id=10.1000_p.2.txt",
    "/find",
    "/inbox",
    "/harvests",
    "/reviews",
    "/review?name=moss",
    "/review/screen?name=moss&screener=ann",
    "/review/screen?name=moss&screener=ann&stage=full_text",
    "/review/conflicts?name=moss",
    "/review/duplicates?name=moss",
    "/ask",
    "/data",
    "/check",
    "/setup",
    "/nothing",
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The first address of a desk that runs in a thread."""
    folder: Path = tmp_path_factory.mktemp("desk")
    library = Library(papers_dir=folder / "papers", papers_offline=True)
    fill(library)
    found: list[str] = []
    ready = threading.Event()

    def announce(address: str) -> None:
        found.append(address)
        ready.set()

    running = server.build_server(library, 0, announce)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    assert ready.wait(30)
    yield found[0]
    running.should_exit = True
    thread.join(20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Window:
    """A window of the browser on the desk, with what went wrong in it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.base = address.partition("/?")[0]
        self.context = browser.new_context(**options)
        self.tab = self.context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.tab.goto(address)
        self.tab.wait_for_url(f"{self.base}/")
        self.tab.on("console", self._note_error)
        self.tab.on("request", self._note_request)

    def _note_error(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _note_request(self, request: Any) -> None:
        url = request.url
        if url.startswith(("http", "ws")) and not url.startswith(self.base):
            self.foreign.append(url)

    def open(self, path: str) -> Any:
        self.tab.goto(f"{self.base}{path}")
        return self.tab


@pytest.fixture
def window(chromium: Any, address: str) -> Iterator[Window]:
    made = Window(chromium, address)
    yield made
    made.context.close()
    assert made.foreign == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_window_or_breaks_its_policy(chromium, address, scheme):
    window = Window(chromium, address, color_scheme=scheme)
    wide = []
    for path in PATHS:
        tab = window.open(path)
        for width in (390, 820, 1280):
            tab.set_viewport_size({"width": width, "height": 900})
            if tab.evaluate("document.documentElement.scrollWidth") > width:
                wide.append((path, width))
    window.context.close()
    assert wide == []
    assert [one for one in window.errors if "404" not in one] == []
    assert window.foreign == []


def test_the_list_follows_as_one_types(window):
    tab = window.open("/")
    tab.locator("input[type=search]").press_sequentially("fern", delay=20)
    tab.locator(".count", has_text="75 papers").wait_for()
    assert "text=fern" in tab.url
    assert tab.locator(".card").count() == 50


def test_records_are_screened_by_keys_alone(window):
    tab = window.open("/review/screen?name=moss&screener=keys")
    titles = []
    for key in ("i", "e", "m", "1", "2"):
        titles.append(tab.locator("h1").text_content())
        with tab.expect_navigation():
            tab.keyboard.press(key)
    assert len(set(titles)) == 5
    assert "5 records decided, 195 to go" in tab.locator("main").text_content()
    with tab.expect_navigation():
        tab.keyboard.press("u")
    assert "4 records decided, 196 to go" in tab.locator("main").text_content()
    assert tab.locator("h1").text_content() == titles[-1]


def test_a_key_pressed_while_writing_decides_nothing(window):
    tab = window.open("/review/screen?name=moss&screener=writer")
    tab.locator("input[name=reason]").press_sequentially("time")
    assert "0 records decided" in tab.locator("main").text_content()


def test_everything_can_be_reached_by_keyboard_and_shows_its_focus(window):
    tab = window.open("/")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    for _ in range(25):
        tab.keyboard.press("Tab")
        look = "getComputedStyle(document.activeElement)"
        assert tab.evaluate(f"{look}.outlineStyle") != "none"


def test_reading_and_searching_work_without_scripts(chromium, address):
    window = Window(chromium, address, java_script_enabled=False)
    tab = window.open("/")
    tab.locator("input[type=search]").fill("fern")
    tab.locator("button", has_text="Search").click()
    assert tab.locator(".card").count() == 50
    tab.locator(".card a").first.click()
    assert "We measured the height" in tab.locator("article").text_content()
    window.context.close()


def find_faults(tab: Any) -> list[str]:
    """The serious faults that axe finds on a page, with all its details open."""
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    tab.add_script_tag(path=AXE)
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in tab.evaluate("axe.run()")["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.skipif(not AXE, reason="needs AXE_CORE, the path of axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium, address, scheme):
    window = Window(chromium, address, color_scheme=scheme, bypass_csp=True)
    found = {}
    for path in PATHS:
        if faults := find_faults(window.open(path)):
            found[path] = faults
    window.context.close()
    assert found == {}
