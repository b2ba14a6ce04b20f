"""PDF reading in a process of its own, because PDFium is native code and the files are hostile.

A child that hangs is killed after a deadline, one that crashes takes nothing with it, and one
that swells meets a memory limit. It answers in JSON, so that even a child taken over by a file
cannot hand its parent an object to run. What it prints goes to the log, since the parent's
standard output may be the MCP protocol. Not `multiprocessing`: that starts the caller's own script
again in the child, which a notebook or a script without a main guard does not survive.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

DEADLINE = 60.0  # seconds; the longest theses read in five
_MEMORY = 2 << 30  # bytes of address space
_CHILDREN = 2  # at once; each holds about 100 MB
_MOST_PAGES = 1500
_LENGTH = struct.Struct("!Q")
_START = "import sys; sys.path.insert(0, sys.argv[1]); from {} import serve; serve()"

_free = threading.BoundedSemaphore(_CHILDREN)
_idle: list[Child] = []


class ChildFailed(Exception):
    """The child gave no answer: it crashed, or was killed after its deadline."""


class Child:
    """One reading process, started at its first job; it ends when we do."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parents[3]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
            [sys.executable, "-c", _START.format(__name__), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, body: bytes, deadline: float) -> dict[str, Any]:
        """Have *body* read.

        Raises
        ------
        ChildFailed
            No answer came; the child is dead.
        """
        expired = threading.Event()  # a timer still runs while it kills: it cannot be asked

        def expire() -> None:
            expired.set()
            self._process.kill()

        late = threading.Timer(deadline, expire)
        late.daemon = True
        late.start()
        try:
            assert self._process.stdin
            assert self._process.stdout
            _send(self._process.stdin, body)
            answer: dict[str, Any] = json.loads(_receive(self._process.stdout))
        except (EOFError, OSError, ValueError) as error:
            msg = f"no answer within {deadline:g} s" if expired.is_set() else "the reader crashed"
            raise ChildFailed(msg) from error
        finally:
            late.cancel()
        return answer

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


def extract(body: bytes, deadline: float = DEADLINE) -> dict[str, Any]:
    """Read a PDF in a child process.

    Returns
    -------
    dict
        ``error`` (``password`` or ``broken``), or ``pages``, ``title``, ``markdown``,
        ``opening`` (the text of the first two pages), ``numbered`` (the last page's number and
        the number of pages, as the margin prints them).

    Raises
    ------
    ChildFailed
        The child crashed or took longer than *deadline* seconds.
    """
    with _free:
        child = _idle.pop() if _idle else Child()
        try:
            answer = child.ask(body, deadline)
        except BaseException:
            child.kill()
            raise
        _idle.append(child)
        return answer


def serve() -> None:
    """Answer jobs until the parent hangs up. Runs in the child."""
    # Ctrl-C goes to the whole group; it is our parent's to answer, and its end is ours.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing a library prints may be taken for an answer
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            body = _receive(jobs)
        except EOFError:
            return
        try:
            answer = read_pages(body)
        except (MemoryError, RecursionError):
            answer = {"error": "broken"}
        _send(answers, json.dumps(answer).encode())


def _send(pipe: IO[bytes], body: bytes) -> None:
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    """One message.

    Raises
    ------
    EOFError
        The other side is gone.
    """
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return body


def read_pages(body: bytes) -> dict[str, Any]:
    """Read a PDF here and now; see `extract` for the answer. Only for the child."""
    import pypdfium2

    from ..words import folded
    from .layout import Page, largest_title, markdown_of, pages_to_come, to_blocks
    from .lines import page_lines

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        return {"error": "password" if "password" in str(error).lower() else "broken"}
    pages = []
    for number in range(min(len(document), _MOST_PAGES)):
        try:
            page = document[number]
            width, height = page.get_size()
            pages.append(Page(tuple(page_lines(page)), width, height))
            page.close()
        except pypdfium2.PdfiumError:
            pages.append(Page((), 1.0, 1.0))  # a broken page among whole ones
    opening = "\n".join(line.text for page in pages[:2] for line in page.lines)
    claimed = str(document.get_metadata_dict().get("Title", "")).strip()
    named = "".join(folded(claimed))
    trusted = len(claimed.split()) >= 3 and named in "".join(folded(opening))
    title = claimed if trusted else largest_title(pages[0]) if pages else ""
    return {
        "pages": len(document),
        "title": title,
        "markdown": markdown_of(title, to_blocks(pages, title)),
        "opening": opening[:20_000],
        "numbered": pages_to_come(pages) if len(pages) == len(document) else (0, 0),
    }
