"""Read PDFs in a child process, because PDFium is native code and not thread-safe."""

from __future__ import annotations

from typing import Any

from ..child_processes import DEADLINE_S, ChildPool, serve_jobs

MOST_PAGES = 1500
CHILDREN = ChildPool(__name__, most=2)  # each holds about 100 MB


def read_pages_in_child(body: bytes, deadline: float = DEADLINE_S) -> dict[str, Any]:
    """Read a PDF in a child process.

    Returns
    -------
    dict
        ``error`` (``password`` or ``broken``), or ``pages``, ``title``, ``markdown``,
        ``opening`` (the text of the first two pages), ``numbered`` (the last page's number and
        the number of pages, as the margin prints them), ``doubts`` (see `.doubts`).

    Raises
    ------
    ChildFailed
        The child crashed or took longer than *deadline* seconds.
    """
    return CHILDREN.read_in_idle_child(body, deadline)


def serve() -> None:
    """Serve requests in the child process."""
    serve_jobs(read_pages_here)


def read_pages_here(body: bytes) -> dict[str, Any]:
    """Read a PDF in this process; see `read_pages_in_child`. Only for the child process."""
    from html import unescape

    import pypdfium2

    from ...outline.words import fold_words
    from .ciphers import CipherFonts
    from .doubts import DoubtCollector
    from .layout import build_text_blocks, find_largest_title, format_blocks_as_markdown
    from .ligatures import restore_th_ligatures
    from .lines import PageLines
    from .margins import find_printed_page_numbers
    from .page import read_page_lines

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        return {"error": "password" if "password" in str(error).lower() else "broken"}
    pages, doubts, ciphers = [], DoubtCollector(), CipherFonts()
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            width, height = page.get_size()
            pages.append(PageLines(tuple(read_page_lines(page, doubts, ciphers)), width, height))
            page.close()
        except pypdfium2.PdfiumError:
            pages.append(PageLines((), 1.0, 1.0))  # a broken page among whole ones
        doubts.add_unreadable_page(number + 1)
    pages = restore_th_ligatures(pages)
    first = ["\n".join(line.text for line in page.lines) for page in pages[:2]]
    claimed = unescape(document.get_metadata_value("Title")).strip()
    named = "".join(fold_words(claimed))
    trusted = len(claimed.split()) >= 3 and any(
        named in "".join(fold_words(text)) for text in first
    )
    title = claimed if trusted else find_largest_title(pages[0]) if pages else ""
    return {
        "pages": len(document),
        "title": title,
        "markdown": format_blocks_as_markdown(title, build_text_blocks(pages, title)),
        "opening": "\n".join(first)[:20_000],
        "doubts": doubts.to_json_fields(),
        "numbered": find_printed_page_numbers(pages) if len(pages) == len(document) else (0, 0),
    }
