"""Logs: whose event it is, in what form, and never with a key or an address in it."""

import json
import logging
import os
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.processes import Process
from utils import logs
from utils.errors import BadRequest
from utils.logs import (
    ConsoleHandler,
    JsonLineFormatter,
    ReadableFormatter,
    SecretRedactor,
    SharedLogFile,
    add_log_fields,
    set_up_logs,
)
from utils.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
KEY = 'pl4nted+"key/ with= signs'
EMAIL = "planted.person@lab.edu"


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    """What a run does to the whole process, undone."""
    root, ours = logging.getLogger(), logging.getLogger("utils")
    before = root.handlers[:], root.level, ours.level
    hooks = sys.excepthook, threading.excepthook
    yield
    for handler in root.handlers[:]:
        if handler not in before[0]:
            handler.close()
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])
    sys.excepthook, threading.excepthook = hooks
    logging.captureWarnings(capture=False)
    logging.raiseExceptions = True


@pytest.fixture
def known(tmp_path):
    return load_settings(
        ncbi_api_key=KEY, pubmed_email=EMAIL, logs_dir=tmp_path / "logs", mcp_log_level="debug"
    )


def written(settings):
    return (settings.logs_dir / logs.LOG_FILE).read_text(encoding="utf-8")


def lines(settings):
    return [json.loads(line) for line in written(settings).splitlines()]


def test_each_event_is_one_object_with_its_names(known):
    set_up_logs(known)
    log = logging.getLogger("utils.http.rate_limiter")
    with add_log_fields(request="r1", tool="download_paper", job=""):
        log.info("Asked %s\nand went on", "pmc", extra={"status": 200})
    log.info("Nobody's")
    first, second = lines(known)
    assert first["message"] == "Asked pmc\nand went on"
    assert (first["request"], first["tool"], first["status"]) == ("r1", "download_paper", 200)
    assert first["level"] == "info"
    assert first["time"].endswith("Z")
    assert "job" not in first
    assert "request" not in second


def test_names_follow_the_work_into_threads_that_are_given_the_context(known):
    set_up_logs(known)
    with add_log_fields(request="r2"), ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, logging.getLogger("utils").info, "from a thread").result()
    assert lines(known)[0]["request"] == "r2"


def test_a_harvest_is_known_by_its_thread(known):
    set_up_logs(known)
    thread = threading.Thread(
        target=logging.getLogger("utils").warning, args=("slow",), name="harvest coral-7f3a"
    )
    thread.start()
    thread.join()
    assert lines(known)[0]["job"] == "coral-7f3a"


def spellings():
    yield KEY
    yield quote(KEY)
    yield quote(KEY, safe="")
    yield json.dumps(KEY)
    yield repr({"key": KEY})
    yield EMAIL
    yield EMAIL.upper()
    yield quote(EMAIL)


@pytest.mark.parametrize("spelling", list(spellings()))
@pytest.mark.parametrize("kind", [JsonLineFormatter, ReadableFormatter])
def test_no_spelling_of_a_secret_is_written(kind, spelling):
    record = logging.makeLogRecord({"msg": f"before {spelling} after", "extra_field": [spelling]})
    line = kind(SecretRedactor([KEY, EMAIL])).format(record)
    assert "before " in line
    assert logs.REDACTED in line
    for secret in ("pl4nted", "planted.person", "PLANTED"):
        assert secret not in line
    if kind is JsonLineFormatter:
        assert json.loads(line)["message"].endswith("after")


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("GET https://a.org/x?db=pmc&api_key=abc123&id=1", "db=pmc", "abc123"),
        ("https://me:pw123@a.org/x", "a.org/x", "pw123"),
        ("Authorization: Bearer abc.def-123456", "Bearer", "def-123456"),
        ("{'api_key': 'abc123', 'term': 'key lime'}", "key lime", "abc123"),
        ('{"email": "x@y.org"}', "email", "x@y.org"),
        ("token eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0. refused", "refused", "eyJzdWIi"),
    ],
)
def test_secrets_that_are_not_ours_are_known_by_their_shape(text, kept, gone):
    hidden = SecretRedactor()(text)
    assert kept in hidden
    assert gone not in hidden
    assert SecretRedactor()(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "PMID 31452104: “A key role of CXCR4”; the token economy, 3 keys: a, b",
        "https://doi.org/10.1016/j.cell.2019.01.001",
        "GET https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&term=x",
    ],
)
def test_ordinary_words_stay(text):
    assert SecretRedactor(["abcdef"])(text) == text


def test_a_secret_of_three_letters_does_not_blank_out_the_language():
    assert SecretRedactor(["the"])("the paper") == "the paper"


def test_a_traceback_is_written_without_what_it_holds(known):
    set_up_logs(known)
    try:
        raise ValueError(f"https://x.org?api_key={quote(KEY)} for {EMAIL}")
    except ValueError:
        logging.getLogger("utils").exception("failed")
    entry = lines(known)[0]
    assert "ValueError" in entry["error"]
    assert "pl4nted" not in written(known)
    assert "planted.person" not in written(known)


def test_what_nobody_catches_is_a_line_without_secrets(known, capsys):
    set_up_logs(known)
    try:
        raise RuntimeError(KEY)
    except RuntimeError as error:
        sys.excepthook(RuntimeError, error, error.__traceback__)
    thread = threading.Thread(target=lambda: int(EMAIL))
    thread.start()
    thread.join()
    levels = [entry["level"] for entry in lines(known)]
    assert levels == ["critical", "error"]
    everything = written(known) + "".join(capsys.readouterr())
    assert "pl4nted" not in everything
    assert "planted.person" not in everything


def test_files_are_for_their_owner(known):
    set_up_logs(known)
    logging.getLogger("utils").info("hello")
    path = known.logs_dir / logs.LOG_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(known.logs_dir.stat().st_mode) == 0o700


def test_files_rotate_and_the_oldest_go(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MAX_LOG_BYTES", 400)
    handler = SharedLogFile(tmp_path / "x.log")
    for number in range(100):
        handler.emit(logging.makeLogRecord({"msg": f"line {number:03d} {'-' * 40}"}))
    handler.close()
    files = sorted(tmp_path.glob("x.log*"))
    kept = [path for path in files if path.suffix != ".lock"]
    assert len(kept) == logs.MAX_OLD_LOGS + 1
    assert all(path.stat().st_size <= 400 for path in kept)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept)
    assert "line 099" in (tmp_path / "x.log").read_text(encoding="utf-8")


def test_processes_that_share_a_file_lose_no_line(tmp_path):
    """Each rotates, none writes into a file that another has put away for good."""
    script = (
        "import logging, sys\n"
        "from pathlib import Path\n"
        "from utils import logs\n"
        "logs.FILE_BYTES, logs.OLDER_FILES = 2000, 500\n"
        "handler = logs.SharedLogFile(Path(sys.argv[1]))\n"
        "for n in range(300):\n"
        "    handler.emit(logging.makeLogRecord({'msg': f'{sys.argv[2]} {n}'}))\n"
    )
    path = tmp_path / "x.log"
    running = [
        Process([sys.executable, "-c", script, str(path), name], cwd=ROOT)
        for name in ("one", "two")
    ]
    assert [process.wait() for process in running] == [0, 0]
    found = [
        line
        for each in tmp_path.glob("x.log*")
        for line in each.read_text(encoding="utf-8").splitlines()
    ]
    assert sorted(found) == sorted(f"{name} {n}" for name in ("one", "two") for n in range(300))


def test_standard_output_stays_clean_and_a_terminal_gets_words(known, capsys):
    set_up_logs(known, readable=True)
    log = logging.getLogger("utils")
    log.info("an aside")
    log.warning("careful\x1b[2J")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "careful" in shown.err
    assert "\x1b" not in shown.err
    assert "an aside" not in shown.err
    assert not shown.err.startswith("{")
    assert lines(known)[0]["message"] == "an aside"


def test_the_level_is_ours_and_other_libraries_are_quiet(tmp_path, capsys):
    set_up_logs(load_settings(mcp_log_level="warning"))
    logging.getLogger("utils.http").info("too much")
    logging.getLogger("somebody.else").info("too much")
    logging.getLogger("somebody.else").warning("worth it")
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == [
        "worth it"
    ]


def test_a_host_that_never_reads_standard_error_does_not_stop_us():
    reading, writing = os.pipe()
    with (
        os.fdopen(writing, "w", encoding="utf-8") as unread,
        os.fdopen(reading, encoding="utf-8") as rest,
    ):
        handler = ConsoleHandler(unread)
        handler.setFormatter(JsonLineFormatter(SecretRedactor()))

        def write():
            for number in range(3000):
                text = "x" * (10_000 if number % 100 == 0 else 100)
                handler.emit(logging.makeLogRecord({"msg": f"{number} {text}"}))

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
        unread.close()
        first = json.loads(rest.readline())
    assert first["message"].startswith("0 x")
    assert len(first["message"]) == 10_002


def test_a_line_that_cannot_be_written_is_not_shown_instead(known, capsys, monkeypatch):
    set_up_logs(known)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SharedLogFile, "_open", full)
    logging.getLogger("utils").info("with %s", KEY)
    shown = capsys.readouterr()
    assert "pl4nted" not in shown.out + shown.err
    assert "Traceback" not in shown.err


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(BadRequest, match="LOGS_DIR"):
        set_up_logs(load_settings(logs_dir=tmp_path / "taken"))
