"""The lines of a PDF and where on its pages they stand, read in a process of its own."""

from __future__ import annotations

from typing import Any

from ..child_processes import DEADLINE_S, ChildPool, serve_jobs
from .child import MOST_PAGES

CHILDREN = ChildPool(__name__, most=1)


def extract(body: bytes, deadline: float = DEADLINE_S) -> dict[str, Any]:
    """Read a PDF in a child process.

    Returns
    -------
    dict
        ``lines``: of each its page (from 1), left, bottom, right and top in points and its text, in
        the order of the content stream; none of a file that cannot be read.

    Raises
    ------
    ChildFailed
        The child crashed or took longer than *deadline* seconds.
    """
    return CHILDREN.read(body, deadline)


def serve() -> None:
    """Serve requests in the child process."""
    serve_jobs(read_lines)


def read_lines(body: bytes) -> dict[str, Any]:
    """Read the lines here and now; see `extract` for the answer. Only for the child."""
    import pypdfium2

    from .ciphers import Ciphers
    from .lines import read_lines

    lines: list[tuple[Any, ...]] = []
    ciphers = Ciphers()
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return {"lines": []}
    for number in range(min(len(document), MOST_PAGES)):
        try:
            text_page = document[number].get_textpage()
        except pypdfium2.PdfiumError:
            continue  # a broken page among whole ones
        for line in read_lines(ciphers.read_characters(text_page.raw)):
            edges = (line.left, line.bottom, line.right, line.top)
            lines.append((number + 1, *(round(edge, 1) for edge in edges), line.text))
    return {"lines": lines}
