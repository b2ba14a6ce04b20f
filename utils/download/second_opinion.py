"""A second opinion on PDFs: the user's own server reads them, too, and the better text is kept.

The server (`..sources.pdf_service`) is asked when a PDF has been had and our own reading of it is
there, or failed for what the PDF lacks. Its text has to pass the same judges, as read from the PDF
and as the file it will be on the shelf; then they say which of the two is better
(`..judges.preference`). Whatever goes wrong leaves our own reading in place and is said once, with
the paper; a server that is not there is left alone for some minutes.

A PDF without a free licence (it may have come by a reader's key, network or hand, and must not be
passed on) goes to a server on a private address only.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from .. import formats
from ..errors import BadContent, PaperError, Unreachable
from ..formats.child_processes import ChildFailed
from ..formats.pdf.child import extract
from ..judges.check import judge
from ..judges.preference import why_preferred
from ..model.paper import Document, Fetched, Paper
from ..sources.pdf_service import PdfService
from ..web import Web

log = logging.getLogger(__name__)
AWAY_S = 600.0
"""Seconds a server that did not answer is left alone."""
_DAY_S = 86400.0
# Where ours found this, another reader may find more; a password or another paper stays what it is.
_DOUBTFUL = {"scanned", "partial", "empty", "not_a_paper", "abstract_only", "front_matter_only"}
_HEAD = 1024  # bytes in which a PDF says that it is one
_SILENT = "silent"


class SecondOpinion:
    """Reads PDFs with the help of the user's server; threads may share it.

    Parameters
    ----------
    web : Web
        Its cache remembers a server that does not answer.
    """

    def __init__(self, web: Web) -> None:
        self._cache_of = web
        self._lock = threading.Lock()

    @cached_property
    def _service(self) -> PdfService:
        return PdfService(self._cache_of.settings)

    def read(
        self, read: Callable[[Fetched, Paper], Document], fetched: Fetched, paper: Paper
    ) -> Document:
        """Read and judge as *read* does; of a PDF, the better of its text and the server's.

        Raises
        ------
        BadContent
            Neither is the whole of the paper; what our own reading amounts to.
        """
        try:
            ours = read(fetched, paper)
        except BadContent as bad:
            if bad.outcome not in _DOUBTFUL or not self._may_read(fetched, paper, ""):
                raise
            theirs, said = self._ask(fetched, paper, None)
            if theirs is None:
                raise _with_note(bad, said) from None
            return theirs
        if not self._may_read(fetched, paper, ours.license):
            return ours
        theirs, said = self._ask(fetched, paper, ours)
        return theirs or (replace(ours, evidence=f"{ours.evidence}; {said}") if said else ours)

    def _may_read(self, fetched: Fetched, paper: Paper, license_: str) -> bool:
        """Whether there is a server that may have this PDF, and that may answer."""
        is_pdf = fetched.media == "pdf" and b"%PDF-" in fetched.body[:_HEAD]
        if not is_pdf or not self._service or self._cache_of.settings.papers_offline:
            return False
        is_free = formats.best_license(license_, fetched.license, paper.license).startswith("CC")
        return (self._service.is_private or is_free) and not self._is_away()

    def _ask(
        self, fetched: Fetched, paper: Paper, ours: Document | None
    ) -> tuple[Document | None, str]:
        """The server's text if it is the better one; else what to say about that."""
        name = self._service.name
        try:
            theirs = self._service.read(fetched.body)
        except Unreachable as error:
            return None, self._leave_alone(error)
        except PaperError as error:
            return None, f"no second opinion: {error.message.rstrip('.')}"
        made_by = theirs.extractor
        try:
            pages = ours.pages if ours else _pages(fetched)
            theirs = formats.with_provenance(replace(theirs, pages=pages), fetched, paper)
            theirs = judge(theirs, paper)
            seen = formats.judge_text(theirs.markdown, paper)
        except BadContent as bad:
            return None, f"{name} read it, too: {bad.outcome.replace('_', ' ')}" if not ours else ""
        if not seen.document:
            return None, "" if ours else f"{name} read it, too: {seen.verdict.replace('_', ' ')}"
        gains = why_preferred(theirs, ours, paper) if ours else "ours was no text"
        if not gains:
            return None, ""
        evidence = f"{theirs.evidence}; read by {name} ({gains})"
        return replace(theirs, extractor=made_by, evidence=evidence), ""

    def _is_away(self) -> bool:
        return bool(self._cache_of.cache.get(_SILENT, self._service.address))

    def _leave_alone(self, error: Unreachable) -> str:
        """Ask the server nothing for some minutes; said by the first who noticed."""
        with self._lock:
            if self._is_away():
                return ""
            days = AWAY_S / _DAY_S
            self._cache_of.cache.put(_SILENT, self._service.address, value=True, days=days)
        minutes = AWAY_S / 60
        log.warning("%s It is left alone for %.0f minutes.", error, minutes)
        return f"no second opinion: {error.message.rstrip('.')}"


def _pages(fetched: Fetched) -> int:
    """How many pages a PDF has whose text was refused."""
    try:
        return int(extract(fetched.body).get("pages", 0))
    except ChildFailed:
        return 0


def _with_note(bad: BadContent, said: str) -> BadContent:
    """The same error, with what came of the second opinion."""
    if not said:
        return bad
    return BadContent(f"{bad.message} ({said}.)", bad.hint, **bad.details)
