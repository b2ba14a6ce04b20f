"""Pictures of the report, to be looked at by whoever changes it.

uv run --with playwright python -m quality.look_at_reports FOLDER [CHROMIUM]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.reports import invented
from utils.model.job import Harvested, Job
from utils.reports import write_report

LONG = "A study of everything that can be studied, " * 40
STRANGE = (
    "تأثير فيتامين د على الجهاز المناعي: مراجعة منهجية",
    "新型冠状病毒感染者的免疫反应研究:一项多中心回顾性队列研究" * 3,
    LONG,
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "השפעת הטיפול המוקדם",
    "Pneumonoultramicroscopicsilicovolcanoconiosis" * 12,
)


def strange() -> Iterator[Harvested]:
    """Titles and journals in every script, and far too long."""
    for row in invented.rows(60):
        title = STRANGE[row.number % len(STRANGE)]
        journal = STRANGE[(row.number + 1) % len(STRANGE)]
        paper = replace(row.paper, title=title, journal=journal)
        yield replace(row, paper=paper, detail=LONG if row.detail else "")


def nothing(n: int) -> Iterator[Harvested]:
    """A harvest in which every paper failed."""
    for row in invented.rows(n):
        if row.state != "full_text":
            yield replace(row, state="failed")


CASES: dict[str, tuple[Job, Callable[[], Iterator[Harvested]]]] = {
    "thousand": (invented.job(), lambda: invented.rows(1000)),
    "running": (invented.job(ended_at=""), lambda: invented.rows(1000, pending=0.4)),
    "failed": (invented.job(notes=()), lambda: nothing(300)),
    "one": (
        invented.job(title="1 identifier", hits=1, duplicates=0, query="", notes=()),
        lambda: invented.rows(1),
    ),
    "empty": (invented.job(hits=0, duplicates=0), lambda: invented.rows(0)),
    "strange": (invented.job(title=LONG, notes=(LONG, *STRANGE)), strange),
    "huge": (invented.job(hits=120_000, duplicates=8000), lambda: invented.rows(100_000)),
}


def main(folder: Path, chromium: str, wanted: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in wanted or CASES:
            page = write_report(*CASES[name], folder / name)
            for width in (1280, 390):
                for scheme in ("light", "dark"):
                    shoot(browser, page, folder / f"{name}-{width}-{scheme}.png", width, scheme)
        browser.close()


def shoot(browser: Any, page: Path, picture: Path, width: int, scheme: str) -> None:
    """One picture, and a line for each thing that should not have happened."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=1
    )
    tab = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(page.as_uri())
    tab.screenshot(path=str(picture), full_page=True)
    wide = tab.evaluate("document.documentElement.scrollWidth")
    high = tab.evaluate("document.documentElement.scrollHeight")
    print(picture.name, f"{high} px high", "requests:", asked[1:] or "none", said or "")  # noqa: T201
    if wide > width:
        print(f"  wider than the window: {wide}")  # noqa: T201
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "", sys.argv[3:])
