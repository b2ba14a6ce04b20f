"""The corpus in the shell: what is printed, what a program reads, and what cron sees."""

import io
import json
import os
import pty
import re
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.corpus.small_corpus import corpus_in, fill, paper, passage
from tests.processes import Process
from utils.cli.corpus import cut_snippet
from utils.corpus.index import LOCK

TEXT = "Corals bleach when the water of the reef is warm for weeks."
START = len("Paper 11\n\n")


@pytest.fixture
def shell(shell, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_PROVIDER", "none")
    return shell


@pytest.fixture
def reef(settings):
    """A corpus with four papers on the shelf of the shell, found by words."""
    corpus = corpus_in(settings["papers_dir"], vectors=False)
    long = (
        f"{'Of other things. ' * 60}Much later \x1b[31m corals\u202e bleached. {'And so on. ' * 60}"
    )
    fill(
        corpus,
        [paper("11", abstract=TEXT), paper("12"), paper("13")],
        [
            passage("pmid:11", TEXT, start=START, end=START + len(TEXT)),
            passage("pmid:12", long, title="A \x1b[2Jtitle", year=2001),
            passage("pmid:13", "Retracted corals.", retracted=True),
            passage("doi:10.1000/a", "A preprint on corals."),
        ],
    )
    corpus.finder.close()
    corpus.database.close()


def test_finds_passages_with_their_place(shell, reef):
    status, out, err = shell("find", "warm", "water")
    assert status == 0
    assert TEXT in out
    assert "pmid:11" in out
    assert f"[{START}:{START + len(TEXT)}]" in out
    assert "words alone" in err
    assert "\x1b" not in out


def test_a_program_reads_one_object_a_line(shell, reef):
    status, out, _ = shell("find", "corals", "--json")
    assert status == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["paper"] for row in rows} == {"pmid:11", "pmid:12", "doi:10.1000/a"}
    assert rows[0].keys() >= {"uuid", "text", "section", "start", "end", "score", "quality"}
    assert rows[0]["quality"]["total"] >= 0


def test_options_narrow_a_search(shell, reef):
    def papers(*options):
        _, out, _ = shell("find", "corals", "--json", *options)
        return {json.loads(line)["paper"] for line in out.splitlines()}

    assert papers("--year-to", "2005") == {"pmid:12"}
    assert papers("--kind", "full_text") == set()
    assert "pmid:13" in papers("--retracted")
    assert len(papers("-n", "1")) == 1


def test_nothing_a_paper_says_acts_on_the_terminal(shell, reef):
    _, out, _ = shell("find", "corals", "bleached")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "… " in out


def test_the_snippet_shows_the_words_asked_for():
    text = f"{'Of other things. ' * 60}Much later corals bleached. {'And so on. ' * 60}"
    shown = cut_snippet(text, "bleaching")
    assert "corals bleached" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 340
    both = f"Corals are old. {'Of other things. ' * 60}In warm water corals bleach. {'So. ' * 90}"
    assert "In warm water corals bleach." in cut_snippet(both, "corals bleaching warm")
    assert cut_snippet(text, "nowhere").startswith("Of other")
    assert cut_snippet("word" * 500, "x").endswith(" …")


def test_an_empty_corpus_is_no_empty_answer(shell):
    status, out, err = shell("find", "corals")
    assert status == 1
    assert not out
    assert "server.py corpus sync" in err
    status, out, _ = shell("find", "corals", "--json")
    assert json.loads(out)["error"]["code"] == "STORE"


def test_meaning_alone_needs_a_model(shell, reef):
    status, _, err = shell("find", "corals", "--by", "meaning")
    assert status == 1
    assert "EMBEDDINGS_PROVIDER" in err


def test_a_watermark_is_shown_and_moved(shell):
    assert shell("checkpoint", "reef")[1] == "reef: never synced\n"
    assert shell("checkpoint", "reef", "--set", "2025-01-31")[1] == "reef: 2025-01-31\n"
    status, out, _ = shell("checkpoint", "reef", "--json")
    assert status == 0
    assert json.loads(out)["last_edat"] == "2025-01-31T00:00:00Z"
    assert shell("checkpoint", "reef", "--set", "yesterday")[0] == 2


def test_cron_syncs_and_indexes_and_says_little(shell, world):
    term = f"{world.paper('pmc_cloud').pmid}[uid] OR {world.paper('unpaywall_html').pmid}[uid]"
    status, out, err = shell("sync", "mine", term)
    assert status == 0
    counts = "mine: 2 records: 2 new, 0 updated, 0 unchanged."
    assert out == f"{counts} Papers of the query: 2 here, 2 at PubMed.\n"
    assert err == "To make them findable: uv run server.py corpus index\n"
    status, out, _ = shell("index", "--json")
    assert status == 0
    assert json.loads(out)["cut"] == 2
    status, out, err = shell("sync", "mine", term, "--json")
    row = json.loads(out)
    assert (row["query_key"], row["inserted"], row["updated"]) == ("mine", 0, 0)
    assert not err
    assert "0 indexed again" in shell("index")[1]


def test_who_else_is_at_work_is_said_and_searches_do_not_wait(shell, reef, settings, monkeypatch):
    for module in ("sync", "index"):
        monkeypatch.setattr(f"utils.corpus.{module}._LOCK_WAIT_S", 0.3)
    database = corpus_in(settings["papers_dir"], vectors=False).database
    told = f"Process {os.getpid()} on "
    with (
        database.exclusive_lock("mine", 0),
        database.exclusive_lock(LOCK, 0),
        database.open_writing(),
    ):
        status, out, err = shell("sync", "mine", "coral[ti]")
        assert (status, out) == (4, "")
        assert f"Waiting for another that is at work on mine: {told}" in err
        assert f"Another process is at work on mine: {told}" in err
        status, out, err = shell("index")
        assert (status, out) == (4, "")
        assert f"at work on {LOCK}: {told}" in err
        assert TEXT in shell("find", "warm", "water")[1]
    database.close()


def test_a_sync_that_nobody_answers_can_be_taken_up_again(shell, world):
    world.mood("down", "eutils")
    status, out, err = shell("sync", "mine", "coral")
    assert status == 3
    assert not out
    assert err
    assert shell("sync", "mine", "coral", "--overlap-days", "-1")[0] == 2


def test_a_quotation_is_checked(shell, reef, monkeypatch):
    status, out, _ = shell("quote", TEXT[7:40])
    assert status == 0
    assert out.startswith("Verbatim: pmid:11 ")
    assert re.search(rf"record · p-\w+ \[{START + 7}:{START + 40}\]", out)
    status, out, err = shell("quote", TEXT.replace("warm", "cold"))
    assert (status, err) == (1, "")
    assert out.startswith("Not found word for word; nearest passage (0.")
    assert TEXT in out
    assert "words: “cold”, the text has “warm”" in out
    assert shell("quote", TEXT[7:40], "--paper", "11")[0] == 0
    status, out, err = shell("quote", TEXT[7:40], "--paper", "99999999")
    assert (status, out) == (1, "")
    assert "not on the shelf" in err
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TEXT}\n"))
    status, out, _ = shell("quote", "-", "--json")
    assert status == 0
    assert json.loads(out)["verbatim"]


def test_counts_are_shown(shell, reef):
    status, out, _ = shell("stats")
    assert status == 0
    assert re.search(r"^records +3$", out, re.M)
    assert re.search(r"^passages +4$", out, re.M)
    assert json.loads(shell("stats", "--json")[1])["records"] == 3


def test_matched_words_stand_out_on_a_terminal(settings, reef):
    shown = on_a_terminal(settings, "find", "bleaching", "corals")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert TEXT in plain
    assert re.search(r"\x1b\[1;33mbleach\x1b\[0m", shown)
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown


def on_a_terminal(settings, *words):
    """What a command writes to a real (pseudo) terminal."""
    told = {name.upper(): str(value) for name, value in settings.items()}
    environment = {**os.environ, **told, "EMBEDDINGS_PROVIDER": "none", "TERM": "xterm-256color"}
    environment["LC_ALL"] = "C.UTF-8"  # which letters a terminal has
    environment.pop("NO_COLOR", None)
    server = str(Path(__file__).parents[2] / "server.py")
    ours, theirs = pty.openpty()
    with Process([sys.executable, server, *words], stdout=theirs, env=environment):
        os.close(theirs)
        parts = []
        with suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(ours, 1 << 16):
                parts.append(part)
    os.close(ours)
    return b"".join(parts).decode()
