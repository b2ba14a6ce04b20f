"""Harvests in the shell: what words mean, what is refused, what is said, and how it ends."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import Process
from tests.world.pdf import pdf_of
from utils import cli
from utils.cli import harvest_progress, harvests
from utils.cli.output import read_arguments
from utils.errors import BadRequest
from utils.harvest.run_status import Progress
from utils.model.job import Job, JobCounts, SiteWait

ROOT = Path(__file__).resolve().parents[2]
RIS = "TY  - JOUR\nDO  - 10.1000/c\nTI  - Cells\nER  - \n"
FILES = {
    "list.txt": "31452104\nPMC7\n# a remark\n10.1000/a",
    "table.csv": "pmid,title\n31452104,A\n,B\n",
    "zotero.ris": RIS,
    "library.bib": "@article{a, title={T}, doi={10.1000/a}}\n@book{b, title={No name}}\n",
    "pubmed.nbib": "PMID- 5\nTI  - One\n\nPMID- 6\nTI  - Two\n",
}


class Left(Exception):
    """The shell ended the process."""


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    """Run a command in the stand-in world: status, lines of stdout, stderr."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def leave(status):
        raise Left(status)

    monkeypatch.setattr(harvests, "exit_now", leave)

    def run(*words, piped=None):
        stdin = io.TextIOWrapper(io.BytesIO(piped or b""), encoding="utf-8")
        stdin.isatty = lambda: piped is None
        monkeypatch.setattr(sys, "stdin", stdin)
        try:
            status = cli.main([str(word) for word in words])
        except Left as left:
            [status] = left.args
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err

    return run


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C comes at once; the threads of a harvest would go on, where no process ends."""

    def watch(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as until_undone:
        until_undone.setattr(harvests, "watch_harvest", watch)
        yield until_undone


# -- what words mean -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "papers"), list(zip(FILES, (3, 2, 1, 2, 2), strict=True)))
def test_files_of_every_kind_are_lists(tmp_path, name, papers):
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    asked = read_arguments([str(tmp_path / name)])
    assert (len(asked.entries), asked.query, asked.title) == (papers, "", name)


def test_files_identifiers_and_stdin_mix(tmp_path, monkeypatch):
    (tmp_path / "zotero.ris").write_text(RIS, encoding="utf-8")
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"10.1000/a, PMC7"), encoding="utf-8")
    )
    asked = read_arguments(["31452104", "zotero.ris", "-"])
    assert [str(entry.ids) for entry in asked.entries] == [
        *("PMID 31452104", "doi:10.1000/c", "doi:10.1000/a", "PMC7")
    ]
    assert asked.title == "zotero.ris, standard input"


def test_a_pipe_with_a_name_is_read(tmp_path):
    """As in ``harvest <(cut -f1 table)``."""
    os.mkfifo(tmp_path / "63")
    writer = threading.Thread(target=(tmp_path / "63").write_text, args=("31452104",))
    writer.start()
    assert [entry.asked for entry in read_arguments([str(tmp_path / "63")]).entries] == ["31452104"]
    writer.join()


@pytest.mark.parametrize(
    "question",
    ["CXCL12 AND CXCR4", "IL-2/IL-2R", "p53.", "asthma", "a" * 5000, "2.5 mg", "folder"],
    ids=lambda text: text[:10],
)
def test_what_is_no_file_and_no_identifier_is_a_question(tmp_path, question):
    (tmp_path / "folder").mkdir()  # a word that happens to name one is still a word
    assert read_arguments([question]).query == question
    assert read_arguments(["heart", question]).query == f"heart {question}"


def test_a_query_that_is_also_a_folder_is_used_with_a_note(tmp_path, monkeypatch, capsys):
    (tmp_path / "corals").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_arguments(["corals"]).query == "corals"
    assert "corals is also a folder here" in capsys.readouterr().err
    assert read_arguments(["polyps"]).query == "polyps"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "word",
    [
        *("refs.ris", "my refs.RIS", "list.txt", "./ids", "../ids", "/data/ids", "~/ids",
            "folder/"),
        *(r"C:\data\ids", "export.xlsx", "papers.lock.json", ".", ".."),
    ],
)  # fmt: skip
def test_a_misspelt_file_is_no_question(shell, world, tmp_path, word):
    (tmp_path / "folder").mkdir()
    status, out, err = shell("harvest", word)
    assert (status, out) == (2, [])
    assert "no file" in err or "is a folder" in err
    assert not world.requests


@pytest.mark.parametrize(
    "word", ["https://journal.test/a", "doi:nonsense", "PMID:12x", "10.1000/", "10.1/x", "arXiv:9"]
)
def test_a_misspelt_identifier_is_no_question(shell, world, word):
    status, out, err = shell("harvest", word)
    assert (status, out) == (2, [])
    assert word in err
    assert not world.requests


@pytest.mark.parametrize("words", [["covid", "19"], ["19", "covid"], ["1", "2", "heart", "3"]])
def test_a_question_among_identifiers_is_not_guessed_at(shell, world, words):
    status, _, err = shell("harvest", *words)
    assert status == 2
    assert "quotes" in err
    assert not world.requests


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "No identifier"),
        (b"%PDF-1.4", "is a PDF"),
        (b"PK\x03\x04", "Excel or ZIP"),
        (bytes(range(256)) * 40_000, "not a text file"),
        (b"lorem ipsum", "'lorem ipsum'"),
    ],
)
def test_a_file_that_is_no_list_is_named(shell, tmp_path, data, said):
    (tmp_path / "list.txt").write_bytes(data)
    status, _, err = shell("harvest", "list.txt")
    assert status == 2
    assert "list.txt" in err
    assert said in err


def test_a_file_that_cannot_be_read_is_a_bad_request(tmp_path, monkeypatch):
    (tmp_path / "list.txt").write_text("1", encoding="utf-8")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadRequest, match=r"list\.txt cannot be read: you lack the permission"):
        read_arguments(["list.txt"])


# -- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        *(["harvest"], ["harvest", "-"], ["harvest", ""], ["harvest", "--retry", "failed"]),
        *(["harvest", "1", "--job", "x"], ["harvest", "--job", "x", "--lock", "y"]),
        *(["harvest", "--lock", "nowhere.json"], ["harvest", "--lock", "."]),
        *(["harvest", "--job", "nothing"], ["harvest", "--job", "../catalogue"]),
        *(["harvest", "--job", "nothing", "--plan"], ["harvest", "--job", "x", "--min-date", "1"]),
        *(["harvest", "1", "--max-papers", "-1"], ["harvest", "1", "--max-papers", "many"]),
        *(
            ["harvest", "heart", "--retry", "nonsense"],
            ["harvest", "1", "--plan", "--retry", "bug"],
        ),
        *(["harvest", "--lock", "papers.lock.json", "--no-pmc-first"],),
        *(["harvest", "1", "--min-date", "2020"], ["harvest", "--nonsense"], ["nonsense"], []),
        *(["status", "nothing"], ["report", "nothing"], ["report", "../x"], ["report"]),
    ],
    ids=" ".join,
)
def test_a_wrong_command_is_answered_with_one_line_of_json(shell, world, words):
    status, out, err = shell(*words, "--json")
    assert (status, err) == (2, "")
    [error] = map(json.loads, out)
    assert error["error"]["code"] in {"VALIDATION", "NOT_FOUND"}
    assert error["error"]["message"]
    assert error["error"]["suggestions"]
    assert not world.requests


@pytest.mark.parametrize(
    ("words", "ignored"),
    [
        (["heart", "--plan", "--retry", "failed"], "--retry cannot be used with --plan"),
        (["--lock", "papers.lock.json", "--no-pmc-first"], "--no-pmc-first cannot be used with"),
    ],
)
def test_what_would_be_ignored_is_refused(shell, world, words, ignored):
    status, _, err = shell("harvest", *words)
    assert status == 2
    assert ignored in err
    assert not world.requests


@pytest.mark.parametrize("broken", ["", "{", '{"papers": [{"pmid": "../../x"}]}', "[1]"])
def test_a_broken_lock_is_refused(shell, tmp_path, broken):
    (tmp_path / "papers.lock.json").write_text(broken, encoding="utf-8")
    status, _, err = shell("harvest", "--lock", "papers.lock.json")
    assert status == 2
    assert "papers.lock.json" in err


def test_nothing_begins_without_an_address(shell, monkeypatch):
    monkeypatch.delenv("PUBMED_EMAIL")
    for words in (["1"], ["1", "--plan"], ["heart", "--plan"]):
        status, _, err = shell("harvest", *words)
        assert status == 2
        assert "PUBMED_EMAIL" in err
    assert shell("status")[1] == []


# -- how it ends -----------------------------------------------------------------------------


def test_all_in_full_text_is_status_0(shell, world):
    status, out, err = shell("harvest", world.paper("pmc_cloud").pmid)
    assert status == 0
    assert "1 paper: 1 full text, 0 abstract only, 0 record only, 0 failed" in out[2]
    assert Path(out[-1].partition("report: ")[2]).exists()
    assert "1 paper." in err


def test_some_without_full_text_is_status_1(shell, world):
    wanted = [world.paper("pmc_cloud").doi, world.paper("paywall").pmid, "10.1000/nowhere"]
    status, [line], err = shell("harvest", *wanted, "--json")
    assert status == 1
    told = json.loads(line)
    assert told["state"] == "done"
    there = {name: number for name, number in told["counts"].items() if number}
    assert there == {"requested": 3, "full_text": 1, "abstract": 1, "failed": 1}
    assert told["reasons"] == {"paywall": 1, "not_found": 1}
    assert Path(told["report"]).exists()
    assert "{" not in err


def test_papers_that_nobody_knows_are_not_an_unreachable_world(shell):
    assert shell("harvest", "10.1000/nowhere")[0] == 1


@pytest.mark.parametrize("words", [["heart"], ["31452104"], ["heart", "--plan"], ["1", "--plan"]])
def test_when_nobody_can_be_reached_it_is_status_3(shell, world, words):
    world.mood("down")
    status, out, err = shell("harvest", *words)
    assert status == 3
    if words == ["31452104"]:
        assert (
            "to retry the papers without a definite answer: uv run server.py harvest --job"
            in out[-1]
        )
    assert out or err


def test_a_question_without_hits_says_so(shell):
    for words in (["zebraquark"], ["zebraquark", "--plan"]):
        status, out, err = shell("harvest", *words)
        assert (status, out) == (0, [])
        assert "PubMed finds nothing for 'zebraquark'" in err


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(shell, world, interrupted):
    words = ["harvest", world.paper("pmc_cloud").pmid, world.paper("paywall").pmid]
    status, out, err = shell(*words)
    assert (status, out) == (130, [])
    job = err.rpartition("--job ")[2].strip()
    assert "0 of 2 papers are done and kept" in err
    status, [line], _ = shell(*words, "--json")
    assert (status, json.loads(line)["state"]) == (130, "interrupted")
    interrupted.undo()
    status, out, _ = shell("harvest", "--job", job)
    assert (status, out[0]) == (1, job)
    assert "1 full text, 1 abstract only, 0 record only, 0 failed" in out[2]


def test_trying_again_says_how_many(shell, world):
    paper = world.paper("paywall").pmid
    shell("harvest", paper)
    asked = len(world.requests)
    assert "0 papers to be tried again" in shell("harvest", paper, "--retry", "captcha")[2]
    assert len(world.requests) == asked
    assert "1 paper to be tried again" in shell("harvest", paper, "--retry", "paywall,login")[2]
    assert len(world.requests) > asked
    status, _, err = shell("harvest", paper, "--retry", "nonsense")
    assert status == 2
    assert "'nonsense'" in err


def test_a_lock_brings_the_papers_and_says_what_differs(shell, world, tmp_path):
    wanted = [world.paper("pmc_cloud").pmid, world.paper("paywall").pmid]
    [told] = map(json.loads, shell("harvest", *wanted, "--json")[1])
    lock = Path(told["report"]).with_name("papers.lock.json")
    elsewhere = ("--lock", lock, "--papers-dir", tmp_path / "elsewhere")
    [plan] = map(json.loads, shell("harvest", *elsewhere, "--plan", "--json")[1])
    assert plan["papers"] == 2
    status, [line], _ = shell("harvest", *elsewhere, "--json")
    assert status == 1
    again = json.loads(line)
    assert again["counts"] == told["counts"]
    assert "still without full text" in again["differences"][-1]
    assert Path(again["differences_file"]).exists()


def test_what_is_left_of_a_harvest_is_planned(shell, world, interrupted):
    shell("harvest", world.paper("pmc_cloud").pmid, world.paper("paywall").pmid)
    [job] = [json.loads(line)["job_id"] for line in shell("status", "--json")[1]]
    [plan] = map(json.loads, shell("harvest", "--job", job, "--plan", "--json")[1])
    assert plan["papers"] == 2


def test_a_harvest_of_another_process_is_seen_running(shell, world, library, interrupted):
    shell("harvest", world.paper("pmc_cloud").pmid)
    status, [line], _ = shell("status", "--json")
    row = json.loads(line)
    assert (status, row["state"]) == (0, "interrupted")
    with library.harvest(job_id=row["job_id"]).ledger.exclusive_lock():
        [line] = shell("status", row["job_id"], "--json")[1]
        assert json.loads(line)["state"] == "running"
        assert "1 pending (running)" in shell("status")[1][2]
        interrupted.undo()
        status, _, err = shell("harvest", "--job", row["job_id"])
        assert status == 4
        assert "running in another process" in err


def test_a_report_is_opened_in_the_browser(shell, world, monkeypatch):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", opened.append)
    shell("harvest", world.paper("pmc_cloud").pmid)
    [job] = [json.loads(line)["job_id"] for line in shell("status", "--json")[1]]
    status, [page], err = shell("report", job, "--open")
    assert status == 0
    assert opened == [Path(page).as_uri()]
    assert page in err  # no browser came


# -- what is seen meanwhile ------------------------------------------------------------------

BUSY = Progress(
    Job("j", "t", counts=JobCounts(12_000, 4_000, 1_200, 100, 6_700)),
    rate=5.2,
    eta_s=1800,
    waiting={"look up": 200, "pmc_cloud": 3200, "again": 1, "publisher": 1500},
    later=120,
)
BEGUN = Progress(Job("j", "t", counts=JobCounts(80, pending=80)), waiting={"look up": 80})
EMPTY = Progress(Job("j", "t"), waiting={})


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
@pytest.mark.parametrize("progress", [BUSY, BEGUN, EMPTY])
def test_the_picture_has_four_lines_that_fit_any_terminal(progress, width):
    lines = harvest_progress.draw_progress(progress, width).split("\n")
    assert len(lines) <= 4
    assert all(line.cell_len <= width for line in lines)
    assert lines[0].cell_len == min(width, 60)


def test_the_picture_tells_all():
    bar, head, told, waiting = harvest_progress.draw_progress(BUSY, 120).plain.split("\n")
    assert bar.count("━") == 26  # of 60, as 5,300 of 12,000
    assert head == "44%  5,300 of 12,000, 312 a minute, 30 min to go"
    assert told.split("  ")[:3] == ["4,000 full text", "1,200 abstract only", "100 failed"]
    assert waiting == (
        "waiting: 120 for a site that is unavailable, pmc_cloud 3,200, publisher 1,500, look up 200"
    )


def test_the_picture_names_who_is_out_the_slowest_site_and_slow_reading():
    at = "2026-11-20T14:05:00+00:00"
    waits = [
        SiteWait(f"site{n}.org", 9 - n, at, at, f"site{n}.org answered 503.") for n in range(4)
    ]
    seen = harvest_progress.draw_progress(
        replace(BUSY, job=replace(BUSY.job, waits=tuple(waits)), unread=12), 200
    ).plain.split("\n")
    assert "site that is unavailable" not in seen[3]  # they are named
    assert [line.split()[0] for line in seen[4:7]] == ["site0.org", "site1.org", "site2.org"]
    assert "9 papers wait for it (site0.org answered 503)" in seen[4]
    assert seen[7] == "1 more site that papers are waiting for"
    assert seen[8].startswith("reading is the bottleneck: 12 texts were downloaded faster")
    slow = replace(BUSY.job, waits=(SiteWait("r.jina.ai", 41, at),))
    last = harvest_progress.draw_progress(replace(BUSY, job=slow), 200).plain.split("\n")[-1]
    assert last.startswith("41 papers still wait for r.jina.ai until about ")
    assert last.endswith("; the report is there already")


def test_an_outage_is_told_once_where_there_is_no_terminal(shell, world):
    world.mood("down", "pmc_cloud")
    status, _, err = shell("harvest", world.paper("pmc_cloud").pmid, world.paper("paywall").pmid)
    assert status == 1
    said = [line for line in err.splitlines() if "has been unavailable since" in line]
    assert len(said) == len(set(said))


def test_the_same_command_says_that_it_asks_again_what_could_not_be_told(shell, world):
    world.mood("down")
    pmid = world.paper("pmc_cloud").pmid
    status, out, _ = shell("harvest", pmid)
    assert status == 3
    assert any(
        "to retry the papers without a definite answer: uv run server.py harvest --job" in line
        for line in out
    )
    world.calm()  # and a person does not wait a minute
    status, _, err = shell("harvest", pmid)
    assert status == 0
    assert "Retrying 1 paper for which no source gave an answer last time." in err


def test_a_console_without_unicode_gets_a_bar_it_can_show():
    assert harvest_progress.draw_progress(BUSY, 80, "ascii").plain.isascii()


@pytest.mark.parametrize("progress", [BEGUN, replace(BUSY, rate=0.0)])
def test_no_time_is_promised_while_no_paper_ends(progress):
    assert "to go" not in harvest_progress.draw_progress(progress, 80).plain


def test_without_a_terminal_progress_is_plain_lines_beside_the_answer(shell, world, monkeypatch):
    monkeypatch.setattr(harvest_progress, "_LINE_INTERVAL_S", 0.0)
    status, [line], err = shell("harvest", world.paper("pmc_cloud").pmid, "--json")
    assert status == 0
    json.loads(line)
    assert " of 1: " in err
    assert "\x1b" not in err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_is_left_as_it_was(settings, world, how):
    """The bar on a real terminal, and every signal: status 130, the cursor back."""
    environment = {name.upper(): str(value) for name, value in settings.items()}
    ours, theirs = pty.openpty()
    told = False
    world.mood("down", "eutils")  # the paper cannot end: there is a harvest to interrupt
    process = Process(
        [sys.executable, ROOT / "server.py", "harvest", world.paper("pmc_cloud").pmid],
        env={**os.environ, **environment, "TERM": "xterm", "COLUMNS": "70"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := _read(ours):
            seen += chunk
            if b"0 of 1" in seen and not told:
                told = True
                process.send_signal(how)
        status = process.wait()
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert status == 130
    assert seen.rfind(b"\x1b[?25h") > seen.rfind(b"\x1b[?25l") >= 0
    assert b"harvest --job" in seen


def _read(terminal):
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other side is closed
        return b""


# -- the shelf afterwards --------------------------------------------------------------------


def test_a_harvest_is_exported_for_reference_managers(shell, world):
    shell("harvest", world.paper("pmc_cloud").pmid)
    [job] = [json.loads(line)["job_id"] for line in shell("status", "--json")[1]]
    status, out, _ = shell("export", "--job", job, "--json")
    paths = [Path(json.loads(line)["file_path"]) for line in out]
    assert status == 0
    assert [path.name for path in paths] == ["references.ris", "references.bib"]
    assert all(world.paper("pmc_cloud").doi in path.read_text(encoding="utf-8") for path in paths)


def test_a_recheck_names_the_new_copies_and_how_to_get_them(shell, world, library):
    paper = world.paper("pmc_cloud").pmid
    library.shelf.save_abstracts([library.search(f"{paper}[uid]").papers[0]])
    status, out, err = shell("recheck")
    assert (status, len(out)) == (0, 1)
    assert out[0].startswith("new copy ")
    assert "server.py shelf recheck --texts" in err
    assert shell("recheck", "--json")[1][0].startswith("{")
    status, out, err = shell("recheck", "--texts")
    assert (status, len(out)) == (0, 1)
    assert out[0].startswith("gained ")
    assert "no text is missing" in shell("recheck", "--texts")[2]
    status, _, err = shell("recheck", "--limit", "5")
    assert status == 2
    assert "--texts" in err
    library.shelf.save_abstracts([library.search(f"{world.paper('paywall').pmid}[uid]").papers[0]])
    world.mood("down")
    status, _, err = shell("recheck")
    assert status == 3
    assert "could not tell" in err


def test_the_inbox_says_where_it_is(shell, library):
    status, out, err = shell("inbox", "--json")
    assert (status, out) == (0, [])
    inbox = library.settings.papers_dir / "inbox"
    assert str(inbox) in err
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / "junk.pdf").write_bytes(b"%PDF-1.4 nothing")
    status, [line], _ = shell("inbox", "--json")
    assert status == 1
    assert json.loads(line)["file"] == "junk.pdf"


def test_what_the_inbox_files_is_told_with_its_paper(shell, library, world, tmp_path):
    record = world.paper("paywall")
    list(library.harvest([record.pmid], title="Folder"))
    (tmp_path / "Downloads").mkdir()
    (tmp_path / "Downloads" / "main.pdf").write_bytes(pdf_of(record))
    status, [line], _ = shell("inbox", "--folder", tmp_path / "Downloads")
    assert status == 0
    name = f"{record.plain_title[:20]}"
    assert line.startswith(f"● {tmp_path / 'Downloads' / 'main.pdf'}: filed as doi:{record.doi}, ")
    assert name in line
    assert shell("inbox", "--folder", tmp_path / "nowhere")[0] == 2


def test_what_all_screeners_excluded_is_harvested_only_when_asked_for(shell, tmp_path):
    from tests.lists import screening

    file = tmp_path / "rayyan.zip"
    file.write_bytes(screening.zipped())
    _, lines, notes = shell("harvest", file, "--plan", "--json")
    assert json.loads(lines[0])["papers"] == 2  # of the third only a title is known
    assert "rayyan.zip: 1 paper left out, excluded by all screeners." in notes
    for name, data in (("rayyan.zip", screening.zipped()), ("a.csv", screening.RAYYAN.encode())):
        (tmp_path / name).write_bytes(data)
        words = ("harvest", tmp_path / name, "--plan", "--json", "--with-excluded")
        _, lines, notes = shell(*words)
        assert json.loads(lines[0])["papers"] == 3
        assert "left out" not in notes
