"""Read the lines of a PDF with their positions, in a process of its own."""

from __future__ import annotations

from typing import Any

from ..child_processes import DEADLINE_S, ChildPool, serve_jobs
from .child import MOST_PAGES

CHILDREN = ChildPool(__name__, most=1)


def read_lines_in_child(body: bytes, deadline: float = DEADLINE_S) -> dict[str, Any]:
    """Read the lines of a PDF in a child process.

    Returns
    -------
    dict
        ``lines``: page (from 1), left, bottom, right and top in points and text of each line, in
        content-stream order; empty for a file that cannot be read.

    Raises
    ------
    ChildFailed
        The child crashed or took longer than *deadline* seconds.
    """
    return CHILDREN.read_in_idle_child(body, deadline)


def serve() -> None:
    """Serve requests in the child process."""
    serve_jobs(read_lines_here)


def read_lines_here(body: bytes) -> dict[str, Any]:
    """Read the lines in this process; see `read_lines_in_child`. Only for the child process."""
    import pypdfium2

    from .ciphers import CipherFonts
    from .lines import read_page_pieces

    lines: list[tuple[Any, ...]] = []
    ciphers = CipherFonts()
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return {"lines": []}
    for number in range(min(len(document), MOST_PAGES)):
        try:
            text_page = document[number].get_textpage()
        except pypdfium2.PdfiumError:
            continue  # a broken page among whole ones
        for line in read_page_pieces(ciphers.read_decoded_characters(text_page.raw)):
            edges = (line.left, line.bottom, line.right, line.top)
            lines.append((number + 1, *(round(edge, 1) for edge in edges), line.text))
    return {"lines": lines}
