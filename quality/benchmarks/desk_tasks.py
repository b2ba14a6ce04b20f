"""Ten tasks of a person, done on the desk and in the shell: clicks, keys and seconds.

``uv run --group dev python -m quality.benchmarks.desk_tasks``

Chromium does each task on the desk of a played shelf, in the stand-in internet; the same task is
then done by commands of the shell. Clicks and keys are counted as they are made. The seconds of a
person follow the keystroke-level model (Card, Moran & Newell 1980,
https://doi.org/10.1145/358886.358895): 1.1 s to point, 0.2 s to click, 0.28 s for a key, 1.35 s to
think before each click, key of screening, text or command. The CPU seconds of the program are
added. Reading what is shown is not counted: it takes as long in both.
"""

from __future__ import annotations

import csv
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.desk.played import fill
from tests.world import Record, World
from tests.world.pdf import pdf_of
from utils import Library
from utils.desk import server

ROOT = Path(__file__).resolve().parents[2]
POINT_S, CLICK_S, KEY_S, THINK_S = 1.1, 0.2, 0.28, 1.35
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
TABLE = "papers/reviews/moss/export/asreview.csv"
DECISION_KEYS = 2  # the decision that is typed into a cell, and Enter


@dataclass
class Effort:
    """What a person did: clicks, keys, and pauses to think; and the program's CPU seconds."""

    clicks: int = 0
    keys: int = 0
    thoughts: int = 0
    cpu_s: float = 0.0

    @property
    def seconds(self) -> float:
        """The seconds that the task takes."""
        hand = self.clicks * (POINT_S + CLICK_S) + self.keys * KEY_S
        return hand + self.thoughts * THINK_S + self.cpu_s


@dataclass
class Person:
    """A person at the desk; each method is counted."""

    tab: Any
    base: str
    effort: Effort = field(default_factory=Effort)

    def click(self, words: str, **more: Any) -> None:
        """Click a link, button or field, found by its words or selector."""
        self.effort.clicks += 1
        self.effort.thoughts += 1
        self.tab.locator(words, **more).first.click()

    def write(self, selector: str, text: str) -> None:
        """Click a field and type a text."""
        self.click(selector)
        self.effort.keys += len(text)
        self.tab.keyboard.type(text)

    def press(self, key: str) -> None:
        """Press one key, and wait for the page that follows."""
        self.effort.keys += 1
        self.effort.thoughts += 1
        with self.tab.expect_navigation():
            self.tab.keyboard.press(key)

    def choose_files(self, *files: Path) -> None:
        """Choose files in the browser's dialog: its button, each file, and its end."""
        self.effort.clicks += 2 + len(files)
        self.effort.thoughts += 1
        self.tab.locator("input[type=file]").first.set_input_files(list(files))

    def wait_for(self, words: str) -> None:
        """Wait until the page has these words."""
        self.tab.get_by_text(words).first.wait_for(timeout=60_000)


@dataclass(frozen=True)
class Task:
    """One task: its name, the steps on the desk, and the commands of the shell.

    ``cells`` is the number of decisions that are typed into a table between the commands.
    """

    name: str
    act: Callable[[Person], None]
    commands: Sequence[str]
    cells: int = 0


def find_paper(person: Person) -> None:
    """Find a paper by its words, and open its page."""
    person.write("input[type=search]", "moss light 64")
    person.click("h2 a", has_text="Moss and light 64")


def explain_missing(person: Person) -> None:
    """See why a paper was not had."""
    person.click("text=Harvests")
    person.click("table a")
    person.wait_for("What is missing, and why")


def screen_records(person: Person) -> None:
    """Screen 30 records."""
    person.click("text=Reviews")
    person.click("h2 a")
    person.write("input[name=screener]", "ann")
    person.click("button", has_text="Screen")
    person.tab.wait_for_url("**/review/screen*")
    for number in range(30):
        person.press("ie"[number % 2])


def resolve_conflict(person: Person) -> None:
    """Resolve a conflict between two screeners."""
    person.click("text=Reviews")
    person.click("h2 a")
    person.click("text=Resolve 1 conflict")
    person.click("button", has_text="Include")


def cite_five(person: Person) -> None:
    """Cite five papers in Vancouver style."""
    for number in range(5):
        person.click(f"li.card:nth-child({number + 1}) input[type=checkbox]")
    person.click("text=Continue with the ticked papers")
    person.click("text=Copy the references")


def read_table(person: Person) -> None:
    """Read the values of a table."""
    find_paper(person)
    person.click(".outline a", has_text="Methods")
    person.wait_for("3.71 ± 0.42")


def list_retracted(person: Person) -> None:
    """See what was retracted."""
    person.click("summary")
    person.click("text=Retracted only")
    person.tab.wait_for_url("**retracted=1*")


def list_tasks(files: Path, records: Sequence[Record]) -> list[Task]:
    """Return the ten tasks; *files* has a list in RIS and three PDFs of papers."""
    pdfs = sorted(files.glob("*.pdf"))

    def get_list(person: Person) -> None:
        person.click("text=Harvests")
        person.choose_files(files / "list.ris")
        person.click("button", has_text="Plan")
        person.click("text=Start the harvest")
        person.wait_for("Done: ")

    def file_pdfs(person: Person) -> None:
        person.click("text=Inbox")
        person.choose_files(*pdfs)
        person.click("text=File them")
        person.wait_for("3 files")

    def follow_harvest(person: Person) -> None:
        person.click("text=Harvests")
        person.click("table a")
        person.wait_for("of 50 papers")

    five = " ".join(f"10.1000/p.{number}" for number in range(295, 300))
    return [
        Task("get 50 from a RIS file", get_list, ["harvest list.ris"]),
        Task("follow a harvest", follow_harvest, ["harvest status", "harvest status JOB"]),
        Task("why was it not had?", explain_missing, ["harvest status", "harvest report JOB"]),
        Task("file three PDFs", file_pdfs, ["cp 0.pdf 1.pdf 2.pdf papers/inbox", "harvest inbox"]),
        Task("find a paper", find_paper, ["list 'moss light 64'", "read 10.1000/p.64"]),
        Task(
            "read a table's values",
            read_table,
            ["list 'moss light 64'", "read 10.1000/p.64 --section methods"],
        ),
        Task("cite five in Vancouver", cite_five, ["list --limit 5", f"cite {five}"]),
        Task("see what was retracted", list_retracted, ["list --retracted"]),
        Task(
            "screen 30 records",
            screen_records,
            ["review export moss --for asreview", f"review import moss {TABLE} --screener ann"],
            cells=30,
        ),
        Task(
            "resolve a conflict",
            resolve_conflict,
            [
                "review export moss --for asreview",
                f"review import moss {TABLE} --screener consensus",
            ],
            cells=1,
        ),
    ]


def measure_desk(task: Task, person: Person) -> Effort:
    """Do a task on the desk, beginning at the shelf; the CPU is that of this process."""
    person.tab.goto(f"{person.base}/")
    person.effort = Effort()
    began = time.process_time()
    task.act(person)
    person.effort.cpu_s = time.process_time() - began
    return person.effort


def measure_shell(task: Task, folder: Path, job: str, environment: dict[str, str]) -> Effort:
    """Do a task in the shell; *job* is the name of the harvest."""
    effort = Effort()
    for line in task.commands:
        words = shlex.split(line.replace("JOB", job))
        command = words if words[0] == "cp" else [sys.executable, str(ROOT / "server.py"), *words]
        typed = line.replace("JOB", job) if words[0] == "cp" else f"papershelf {line}"
        effort.keys += len(typed) + 1
        effort.thoughts += 1
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, check=False
        )
        assert done.returncode in (0, 1), (line, done.stderr)  # 1: without some full texts
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        effort.cpu_s += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if task.cells and words[:2] == ["review", "export"]:
            _type_decisions(folder / TABLE, task.cells)
    effort.clicks += task.cells
    effort.keys += task.cells * DECISION_KEYS
    effort.thoughts += task.cells
    return effort


def _type_decisions(table: Path, cells: int) -> None:
    """Fill in the decisions of the last rows of a table, as a person does in a spreadsheet."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[-cells:]
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"included": "1"} for row in rows)


def write_files(folder: Path, records: Sequence[Record]) -> None:
    """Write a list of 50 papers in RIS, and three PDFs."""
    rows = [
        f"TY  - JOUR\nTI  - {one.title}\nAN  - {one.pmid}\nDB  - PubMed\nER  - \n"
        for one in records
    ]
    (folder / "list.ris").write_text("\n".join(rows[:50]), encoding="utf-8")
    for number, one in enumerate(records[50:53]):
        (folder / f"{number}.pdf").write_bytes(pdf_of(one))


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, World(field=60) as world:
        folder = Path(name)
        write_files(folder, world.field)
        folders = {"PAPERS_DIR": str(folder / "papers"), "PAPERS_PACE_DIR": str(folder / "pace")}
        addresses = {**world.environment(), **folders}
        library = Library(**{key.lower(): value for key, value in addresses.items()})
        fill(library)
        found: list[str] = []
        running = server.build_server(library, 0, found.append)
        threading.Thread(target=running.run, daemon=True).start()
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            tab = browser.new_page()
            tab.goto(found[0])
            base = found[0].partition("/?")[0]
            tab.wait_for_url(f"{base}/")
            print("| task | desk: clicks, keys | desk | shell: keys, clicks | shell |")
            print("|---|--:|--:|--:|--:|")
            for task in list_tasks(folder, world.field):
                desk = measure_desk(task, Person(tab, base))
                job = next(iter(library.harvests.all())).job_id
                shell = measure_shell(task, folder, job, {**os.environ, **addresses})
                print(
                    f"| {task.name} | {desk.clicks}, {desk.keys} | {desk.seconds:.0f} s "
                    f"| {shell.keys}, {shell.clicks} | {shell.seconds:.0f} s |"
                )
            browser.close()
        running.should_exit = True


if __name__ == "__main__":
    main()
