"""A desk on the network in Chromium, behind a proxy that ends TLS."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.desk.test_in_browser import AXE, BROWSER, find_faults
from tests.shelf.papers import document, fetched, paper
from utils import Library
from utils.desk import server
from utils.mcp.auth import build_token_gate, make_token

ADDRESS = "https://papers.lab.edu"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.extras("playwright"),
    pytest.mark.skipif(not (BROWSER and shutil.which("openssl")), reason="needs Chromium, openssl"),
]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    settings = {"papers_dir": tmp_path / "papers", "papers_offline": True}
    with Library(**settings, mcp_auth_secret_key="0123456789abcdefghijklmnopqrstuvwxyz") as made:
        text = document("# Moss\n\n" + "Moss grew. " * 300)
        sent = fetched(media="html")
        made.shelf.save_full_text(paper(doi="10.1000/moss"), text, sent, source="PMC", attempts=())
        yield made


@pytest.fixture
def port(library: Library, tmp_path: Path) -> Iterator[int]:
    """The port of a TLS proxy before a remote desk; both run in threads."""
    pem = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=papers"]
    subprocess.run([*make, "-keyout", pem[0], "-out", pem[1]], check=True, capture_output=True)
    gate = build_token_gate(library.settings, ADDRESS)
    running = server.build_server(library, 0, lambda _: None, ADDRESS, gate.verify_token)
    desk = running._listening.getsockname()[1]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem[1], pem[0])
    found: list[Any] = []
    ready = threading.Event()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inside, outside = await asyncio.open_connection("127.0.0.1", desk)
        await asyncio.gather(copy(reader, outside), copy(inside, writer))

    async def run_proxy() -> None:
        proxy = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
        found.extend([asyncio.get_running_loop(), proxy.sockets[0].getsockname()[1]])
        ready.set()
        with suppress(asyncio.CancelledError):
            await proxy.serve_forever()

    def run_loop() -> None:
        with suppress(RuntimeError):  # the loop is stopped from outside
            asyncio.run(run_proxy())

    for target in (running.run, run_loop):
        threading.Thread(target=target, daemon=True).start()
    assert ready.wait(30)
    yield found[1]
    running.should_exit = True
    found[0].call_soon_threadsafe(found[0].stop)


@pytest.mark.skipif(not AXE, reason="needs AXE_CORE, the path of axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_where_people_sign_in(port: int, scheme: Any) -> None:
    from playwright.sync_api import sync_playwright

    rules = f"--host-resolver-rules=MAP papers.lab.edu:443 127.0.0.1:{port}"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", rules])
        context = browser.new_context(
            ignore_https_errors=True, bypass_csp=True, color_scheme=scheme
        )
        tab = context.new_page()
        tab.goto(f"{ADDRESS}/")
        faults = find_faults(tab)
        tab.fill("input[name=token]", "wrong")
        tab.locator("button").click()
        tab.locator("text=This token is wrong").wait_for()
        faults += find_faults(tab)
        browser.close()
    assert faults == []


def test_a_person_signs_in_writes_a_note_and_signs_out(library: Library, port: int) -> None:
    from playwright.sync_api import sync_playwright

    rules = f"--host-resolver-rules=MAP papers.lab.edu:443 127.0.0.1:{port}"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", rules])
        context = browser.new_context(
            ignore_https_errors=True, viewport={"width": 390, "height": 800}
        )
        tab = context.new_page()
        tab.goto(f"{ADDRESS}/")
        tab.fill("input[name=token]", "wrong")
        tab.locator("button").click()
        tab.locator("text=This token is wrong").wait_for()
        tab.fill("input[name=token]", make_token(library.settings, "ann", ["read", "download"], 1))
        tab.locator("button").click()
        tab.locator(".card a").first.click()
        [cookie] = context.cookies()
        assert (cookie["name"], cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (
            "__Host-papershelf_desk", True, True, "Strict",
        )  # fmt: skip
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        tab.fill("textarea[name=note]", "see Fig. 2")
        with tab.expect_navigation():
            tab.locator("form[action='/paper/note'] button").first.click()
        assert library.find("10.1000/moss").paper.note == "see Fig. 2"
        tab.click("text=Sign out")
        tab.locator("text=You are signed out").wait_for()
        tab.goto(f"{ADDRESS}/")
        assert tab.locator("input[name=token]").count() == 1
        browser.close()
