"""PDF reading in a process of its own, because PDFium is native code and the files are hostile.

A child that hangs is killed after a deadline, one that crashes takes nothing with it, and one
that swells meets a memory limit. It answers in JSON, so that even a child taken over by a file
cannot hand its parent an object to run. Its standard output is turned to the log, since ours may
be the MCP protocol. ``ProcessPoolExecutor`` would do, but gives no way to kill one hung worker.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

DEADLINE = 60.0  # seconds; the longest theses read in five
_MEMORY = 2 << 30  # bytes of address space
_CHILDREN = 2  # at once; each holds about 100 MB
_MOST_PAGES = 1500

_free = threading.BoundedSemaphore(_CHILDREN)
_idle: list[Child] = []


class ChildFailed(Exception):
    """The child gave no answer: it crashed, or was killed after its deadline."""


class Child:
    """One reading process, started at its first job."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there,), daemon=True, name="pdf")
        self._process.start()
        there.close()

    def ask(self, body: bytes, deadline: float) -> dict[str, Any]:
        """Have *body* read.

        Raises
        ------
        ChildFailed
            No answer came; the child is dead.
        """
        try:
            self._here.send_bytes(body)
            if not self._here.poll(deadline):
                msg = f"no answer within {deadline:g} s"
                raise ChildFailed(msg)
            answer: dict[str, Any] = json.loads(self._here.recv_bytes())
        except (EOFError, OSError) as error:
            msg = "the reader crashed"
            raise ChildFailed(msg) from error
        return answer

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._here.close()
        self._process.kill()
        self._process.join()


def extract(body: bytes, deadline: float = DEADLINE) -> dict[str, Any]:
    """Read a PDF in a child process.

    Returns
    -------
    dict
        ``error`` (``password`` or ``broken``), or ``pages``, ``title``, ``markdown``,
        ``opening`` (the text of the first two pages).

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


def _serve(pipe: Connection) -> None:
    """Answer jobs until the parent hangs up. Runs in the child."""
    os.dup2(2, 1)  # stdout is the protocol of our parent
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            body = pipe.recv_bytes()
        except EOFError:
            return
        try:
            answer = read_pages(body)
        except (MemoryError, RecursionError):
            answer = {"error": "broken"}
        pipe.send_bytes(json.dumps(answer).encode())


def read_pages(body: bytes) -> dict[str, Any]:
    """Read a PDF here and now; see `extract` for the answer. Only for the child."""
    import pypdfium2

    from .pdf_layout import Page, largest_title, markdown_of, to_blocks
    from .pdf_lines import page_lines
    from .words import folded

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
    }
