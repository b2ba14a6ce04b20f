"""Find what a desktop program can open of a paper: its PDF, its text, or its web page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from ..citations import to_csl_item
from ..command_line import command_line
from ..errors import BadRequest, NotFound
from ..shelf import Shelf
from .reading import find_stored_paper

Openable = Literal["pdf", "text", "page"]


def find_path_or_address(paper: str, shelf: Shelf, what: Openable | Literal[""] = "") -> str:
    """Return the path of a paper's PDF or text on the shelf, or the address of its page.

    Parameters
    ----------
    paper : str
        Any identifier, or the name of a file on the shelf.
    shelf : Shelf
    what : str, optional
        ``pdf``, ``text`` or ``page``; else the PDF, or the text where there is no PDF.

    Raises
    ------
    BadRequest
        *what* is something else, or the file is a link that leads out of the shelf.
    NotFound
        The paper or its PDF is not on the shelf.
    """
    if what not in ("", *get_args(Openable)):
        raise BadRequest(f"{what!r} cannot be opened.", "Give pdf, text or page.")
    stored = find_stored_paper(paper, shelf)
    ids = stored.paper.ids
    if what == "page":
        if address := to_csl_item(stored.paper).get("URL", ""):
            return str(address)
        raise NotFound(f"{ids} has no page on the web: its identifiers lead to none.")
    pdf = shelf.pdfs.find_pdf(stored)
    if what != "text" and pdf is None and (problem := shelf.pdfs.find_pdf_problem(stored)):
        raise NotFound(f"The PDF of {ids} cannot be opened: {problem}")
    if what == "pdf" and pdf is None:
        hint = f"To fetch it: {command_line(f'shelf pdf {ids.key}')}"
        raise NotFound(f"{ids} has no PDF on the shelf.", hint)
    path = pdf.path if pdf and what != "text" else Path(stored.path)
    is_placed = pdf is not None and pdf.held_by == "place" and not path.is_symlink()
    if not is_placed and not path.resolve().is_relative_to(shelf.folder.resolve()):
        msg = f"{path.name} is a link to a file outside of the shelf, and is not opened."
        raise BadRequest(msg, f"Open it yourself: {path}")
    return str(path)
