"""The doors as users open them: real processes, real pipes, the stand-in internet behind them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests.processes import Process, eventually, run
from utils import cli

pytestmark = pytest.mark.slow

SERVER = str(Path(__file__).resolve().parent.parent / "server.py")


@pytest.fixture
def environment(settings):
    """The environment of a user whose internet is the stand-in."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {**kept, **{name.upper(): str(value) for name, value in settings.items()}}


def shell(environment, *arguments, stdin=""):
    return run(
        [sys.executable, SERVER, *arguments],
        env=environment,
        input=stdin,
    )


@pytest.fixture
def typed(environment, monkeypatch, capsys):
    """Commands before or after the one that a test is about: a process for each adds nothing."""

    def run_here(*arguments, **changed):
        for name, value in {**environment, **changed}.items():
            monkeypatch.setenv(name, value)
        status = cli.main(list(arguments))
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return run_here


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_host_searches_downloads_and_reads_over_stdio(environment, world, mode):
    transport = StdioTransport(sys.executable, [SERVER], env=environment)
    async with Client(transport, mode=mode) as client:
        modern = client.protocol_version == "2026-07-28"
        assert modern == (mode == "auto")
        assert len(await client.list_tools()) == 12
        pmid = world.paper("pmc_cloud").pmid
        got = await client.call_tool("download_paper", {"pmid": pmid})
        assert got.structured_content["kind"] == "full_text"
        read = await client.call_tool("read_paper", {"paper": pmid, "section": "abstract"})
        assert read.structured_content["text"].startswith("## Abstract")


def calling(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def served(environment, *calls, command=(SERVER,)):
    """A server that has been greeted and asked, its answers not yet read."""
    about = {"capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", **about},
    }
    server = Process(
        [sys.executable, *command],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for message in (greeting, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls):
        server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    return server


def test_nothing_but_the_protocol_is_ever_on_stdout(environment, world):
    pmid = world.paper("publisher_pdf").pmid
    calls = calling(2, "download_paper", pmid=pmid), calling(3, "search_pubmed", query="")
    with served(environment, *calls) as server:
        answers = {}
        while len(answers) < 3:
            answer = json.loads(server.stdout.readline())  # anything else breaks here
            if "id" in answer:
                answers[answer["id"]] = answer
        server.stdin.close()
        rest = server.stdout.read()
    assert not rest.strip()
    assert answers[2]["result"]["structuredContent"]["kind"] == "full_text"
    assert answers[3]["result"]["isError"] is True


def test_shell_search_feeds_download(environment, typed, world):
    found = shell(environment, "search", "CXCL12", "--json")
    assert found.returncode == 0
    pmids = "\n".join(row["pmid"] for row in lines(found))
    got = shell(environment, "download", "--json", stdin=pmids)
    assert got.returncode == 0
    assert all(row["kind"] == "full_text" for row in lines(got))
    read = typed("read", lines(found)[0]["pmid"], "--section", "abstract")
    assert read.stdout.startswith("## Abstract")
    listed = typed("list", "--json")
    assert len(lines(listed)) == len(lines(found))


def test_exit_status_tells_what_came_of_it(environment, typed, world):
    assert typed("download", world.paper("pmc_cloud").pmid).returncode == 0
    assert typed("download", world.paper("paywall").pmid).returncode == 1
    assert typed("download", "no-identifier").returncode == 2
    assert typed("search", "((").returncode == 2
    assert typed("read", "31452104").returncode == 1
    unreachable = {"EUTILS_BASE_URL": "http://127.0.0.1:9", "NCBI_MAX_RETRIES": "1"}
    assert typed("search", "coral", **unreachable).returncode == 3
    assert shell({**environment, **unreachable}, "search", "coral").returncode == 3


def test_errors_are_one_sentence_or_the_envelope(environment, world):
    plain = shell(environment, "download", "no-identifier")
    assert plain.stdout == ""
    assert plain.stderr.count("\n") == 1
    envelope = lines(shell(environment, "download", "no-identifier", "--json"))[0]
    assert envelope["error"]["code"] == "VALIDATION"
    assert not world.requests


def test_a_setting_that_cannot_be_used_is_named(environment):
    done = shell({**environment, "PAPERS_SOURCES": "pmc,scihub"}, "list")
    assert done.returncode == 2
    assert "PAPERS_SOURCES" in done.stderr
    assert "scihub" in done.stderr


def test_settings_hide_keys(environment):
    done = shell({**environment, "NCBI_API_KEY": "SECRET123"}, "settings")
    assert done.returncode == 0
    assert "SECRET123" not in done.stdout
    assert "set (hidden)" in done.stdout


def test_doctor_looks_at_everything(environment, typed, world):
    done = shell(environment, "doctor")
    assert done.returncode == 0, done.stdout
    for service in ("pubmed", "pmc", "europepmc", "arxiv", "unpaywall", "crossref", "jina"):
        assert service in done.stdout
    world.mood("down", "europepmc")
    assert "europepmc" in typed("doctor").stdout


def test_doctor_says_what_is_missing(environment):
    done = shell({**environment, "PUBMED_EMAIL": "", "PAPERS_OFFLINE": "true"}, "doctor")
    assert done.returncode == 1
    assert "PUBMED_EMAIL" in done.stdout


def test_rebuild_makes_the_catalogue_again(environment, typed, world, settings):
    typed("download", world.paper("pmc_cloud").pmid)
    for path in (settings["papers_dir"] / ".papershelf").glob("catalogue.db*"):
        path.unlink()
    done = shell(environment, "rebuild")
    assert done.returncode == 0
    assert "1 full text" in done.stdout
    assert len(lines(typed("list", "--json"))) == 1


def test_help_and_importing_write_nothing(environment, settings):
    assert shell(environment, "--help").returncode == 0
    assert not settings["papers_dir"].exists()
    assert not settings["papers_pace_dir"].exists()


def test_a_notebook_without_a_main_guard_downloads_a_pdf(environment, world, tmp_path):
    """A script run line by line must not be started again by the process that reads PDFs."""
    script = tmp_path / "cells.py"
    pmid = world.paper("publisher_pdf").pmid
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(SERVER).parent)!r})\n"
        "from utils import Library\n"
        f"done = Library().download({pmid!r})\n"
        "print(done.stored.kind, done.stored.via)\n",
        encoding="utf-8",
    )
    done = run(
        [sys.executable, str(script)], env=environment,
    )  # fmt: skip
    assert done.stdout == "full_text publisher\n", done.stderr


def test_ctrl_c_ends_a_long_download_at_once_and_the_same_command_goes_on(environment, world):
    wanted = [record.pmid for record in world.papers if record.pmid]
    command = [sys.executable, SERVER, "download", "--json", *wanted]
    running = Process(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with running:
        running.stdout.readline()
        world.mood("drip")  # what is under way now would take for ever
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "same command" in said
    shelf = Path(environment["PAPERS_DIR"])
    assert 0 < len(list(shelf.glob("*.txt"))) < len(wanted)
    # A file under way stays behind hidden, and is swept later; what has a name is whole.
    assert all(text.read_text(encoding="utf-8").rstrip() for text in shelf.glob("*.txt"))


def test_the_server_ends_when_the_host_hangs_up_in_the_middle_of_a_call(environment, world):
    world.mood("drip", "eutils")
    brief = (
        f"import runpy, sys; sys.path.insert(0, {str(Path(SERVER).parent)!r})\n"
        "import utils.http.work; utils.http.work.MAX_ANSWER_S = 600\n"
        f"runpy.run_path({SERVER!r}, run_name='__main__')"
    )
    call = calling(2, "search_pubmed", query="coral")
    with served(environment, call, command=("-c", brief)) as server:
        server.stdout.readline()
        assert eventually(lambda: world.requests)
        server.stdin.close()
        # A call answers within ten minutes here (else 20 s), and nobody stays for that.
        assert server.wait(60) is not None


@pytest.mark.anyio
async def test_a_call_that_is_taken_back_ends_at_the_socket(environment, world):
    world.mood("drip", "eutils", times=1)
    async with Client(StdioTransport(sys.executable, [SERVER], env=environment)) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "search_pubmed", {"query": "coral"})
            while not world.requests:
                await anyio.sleep(0.01)
            calls.cancel_scope.cancel()  # the client says so: notifications/cancelled
        while not world.deserted:
            await anyio.sleep(0.01)
        asked = len(world.requests)
        assert (await client.call_tool("search_pubmed", {"query": "kelp"})).data
        assert "coral" not in str(world.requests[asked:])
