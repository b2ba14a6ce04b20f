"""Choose the PDF of each reference of a pack, or state why the reference has none.

The PDF is the file next to the text, or the bytes from which the text was read. It belongs to the
text that the harvest recorded for this reference, and is left out if that text belongs to another
paper. A file is left out unless its licence allows passing it on (`..model.permissions`), or the
pack is for the reader's own use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..errors import StoreFailed
from ..model.job import Harvested, find_most_informative_failure
from ..model.paper import Paper, StoredPaper, Version
from ..model.permissions import get_permissions
from ..reports.labels import get_route_label
from ..shelf import Shelf


class HeldPdf(NamedTuple):
    """A PDF on the shelf: its size in bytes, a function that reads it, and its source.

    ``path`` is set for a user's own file that the shelf has not copied.
    """

    size: int
    read: Callable[[], bytes]
    via: str = ""
    version: Version = ""
    license: str = ""
    is_rendering: bool = False
    path: Path | None = None


PrintText = Callable[[StoredPaper], HeldPdf]


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference of a pack.

    Parameters
    ----------
    row : Harvested
        The paper; ``reason`` and ``detail`` explain a missing PDF, and are empty otherwise.
    stored : StoredPaper or None
        Its full text on the shelf.
    pdf : HeldPdf or None
        Its PDF.
    file : str
        The path of the PDF in the pack; empty without a PDF.
    """

    row: Harvested
    stored: StoredPaper | None = None
    pdf: HeldPdf | None = None
    file: str = ""

    @property
    def paper(self) -> Paper:
        """The record of the paper."""
        return self.row.paper

    def to_row(self) -> dict[str, str]:
        """Return the reference as a row of a table."""
        pdf, paper = self.pdf, self.paper
        facts = (pdf.via, pdf.version, pdf.license) if pdf else ("", "", "")
        return {
            **{name: str(value) for name, value in paper.short_row().items()},
            **dict(zip(("via", "version", "license"), facts, strict=True)),
            "retracted": "yes" if paper.retracted else "",
            "rendering": "yes" if pdf and pdf.is_rendering else "",
            "file": self.file,
            "reason": self.row.reason,
        }


def select_references(
    rows: Iterable[Harvested],
    shelf: Shelf,
    *,
    own_use: bool = False,
    print_text: PrintText | None = None,
) -> Iterator[Reference]:
    """Yield a reference for each paper, in the order of *rows*.

    Parameters
    ----------
    own_use : bool, optional
        Include files that may not be passed on, or whose licence is unknown.
    print_text : callable, optional
        Returns the rendering of a text that has no PDF.
    """
    for row in rows:
        stored = _find_full_text_on_shelf(row, shelf)
        for text in [stored] if stored else shelf.find_texts(row.paper.ids)[:1]:
            if not text.paper.ids.clash(row.paper.ids):
                own = replace(row.paper, tags=text.paper.tags, note=text.paper.note)
                row = replace(row, paper=own)  # noqa: PLW2901
        if stored is None:
            reason = "not_tried" if row.state == "pending" else row.reason
            yield Reference(replace(row, reason=reason))
        elif clash := stored.paper.ids.clash(row.paper.ids):
            yield _make_reference_without_pdf(
                row, None, "wrong_paper", f"The shelf's text is another paper: {clash}."
            )
        else:
            pdf = find_pdf_of_text(stored, shelf) or (print_text and print_text(stored))
            yield _make_reference(row, stored, shelf, pdf, own_use=own_use)


def _find_full_text_on_shelf(row: Harvested, shelf: Shelf) -> StoredPaper | None:
    """Return a harvested paper's full text, even if it arrived after the harvest."""
    stored = shelf.find_paper_by_file(row.file) if row.file else None
    if stored is None or stored.kind != "full_text":
        stored = shelf.find_text(row.paper.ids)
    return stored if stored and stored.kind == "full_text" else None


def _make_reference(
    row: Harvested, stored: StoredPaper, shelf: Shelf, pdf: HeldPdf | None, *, own_use: bool
) -> Reference:
    if pdf is None:
        return _make_reference_without_pdf(
            row, stored, "no_pdf", _explain_missing_pdf(stored, shelf)
        )
    share = get_permissions(pdf.license, pdf.via, stored.paper.ids.doi).may_share
    if not own_use and share.answer != "yes":
        return _make_reference_without_pdf(
            row, stored, "not_shareable", f"{get_route_label(pdf.via)}: {share.reason}"
        )
    return Reference(replace(row, state="full_text", reason="", detail=""), stored, pdf)


def _make_reference_without_pdf(
    row: Harvested, stored: StoredPaper | None, reason: str, detail: str
) -> Reference:
    state = "full_text" if stored else row.state
    return Reference(replace(row, state=state, reason=reason, detail=detail), stored)


def find_pdf_of_text(stored: StoredPaper, shelf: Shelf) -> HeldPdf | None:
    """Return the PDF of a text: the file next to it, or else the bytes from which it was read."""
    if found := shelf.pdfs.find_pdf(stored):
        source = (found.via, found.version or stored.version, found.license)
        if found.held_by != "copy":
            if shelf.pdfs.find_pdf_problem(stored, reads_bytes=True):
                return None
            read = partial(_read_users_pdf, stored, shelf)
            return HeldPdf(found.size, read, *source, path=found.path)
        return HeldPdf(found.path.stat().st_size, found.path.read_bytes, *source)
    raw = shelf.read_raw_answer(stored)
    if raw is None or raw.fetched.media != "pdf":
        return None
    source = (stored.via, stored.version, stored.license)
    return HeldPdf(len(raw.fetched.body), partial(_read_original_bytes, stored, shelf), *source)


def _read_users_pdf(stored: StoredPaper, shelf: Shelf) -> bytes:
    """Return the bytes of the user's own PDF; raise an error if the file changed meanwhile."""
    body = shelf.pdfs.read_user_pdf(stored)
    if body is None:
        raise StoreFailed(
            f"The PDF of {stored.paper.ids} cannot be read.", "Run the command again."
        )
    return body


def _read_original_bytes(stored: StoredPaper, shelf: Shelf) -> bytes:
    raw = shelf.read_raw_answer(stored)
    return raw.fetched.body if raw else b""


def _explain_missing_pdf(stored: StoredPaper, shelf: Shelf) -> str:
    """Return what happened to the PDF, or how the routes to it failed; "" if none was tried."""
    if problem := shelf.pdfs.find_pdf_problem(stored, reads_bytes=True):
        return problem
    attempt = find_most_informative_failure(shelf.pdfs.read_attempts(stored))
    if attempt is None:
        return ""
    detail = f": {attempt.detail}" if attempt.detail else ""
    return f"{get_route_label(attempt.source)} answered {attempt.outcome}{detail}"
