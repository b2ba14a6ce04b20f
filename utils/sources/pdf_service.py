"""The user's own server that reads PDFs: GROBID or docling-serve (``PAPERS_PDF_SERVICE``).

No rung of the ladder: it has no papers, it reads what others sent (`..download.second_opinion`).
A PDF goes to the address in the setting and nowhere else: redirects are refused, a private address
is asked without a proxy, GROBID is told not to look anything up at Crossref (``consolidate…=0``),
and no other part of Papershelf may connect there.

GROBID: ``POST /api/processFulltextDocument`` answers TEI; 204 without content, 500 with a sentence
(``[NO_BLOCKS] …``), 503 while all its threads are busy, to be asked again after 5 to 10 seconds
(GROBID documentation, "Grobid-service"). docling-serve: ``POST /v1/convert/file`` answers JSON with
``md_content`` and a ``status``; 504 after ``DOCLING_SERVE_MAX_SYNC_WAIT`` seconds (docling-serve,
``docs/usage.md``, ``docling_serve/app.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import BadContent, NotAvailable, Unreachable
from ..formats import extractor, reader_of, tei
from ..model.paper import Document, Fetched
from ..system.plain_text import one_line, shortened
from ..web import Answer, Rate, Web
from ..web.address_policy import is_local_name
from .loose_json import mapping, text

if TYPE_CHECKING:
    from ..settings import Settings

RATE = Rate("pdf_service", ("pdf_service",), every=0.05, in_flight=4, backoff=5.0)
"""A server of one's own has no limit but its threads; GROBID asks for 5 to 10 s when all are busy
("Grobid-service", status 503)."""

_NAMES = {"grobid": "GROBID", "docling": "docling-serve"}
_PATHS = {"grobid": "/api/processFulltextDocument", "docling": "/v1/convert/file"}
_DEADLINE_S = 300.0  # docling itself gives up after 120 s
_TRIES = 3
_BUSY = {429, 502, 503}  # asked again; every other status is an answer
_NOT_THERE = {401, 403, 404, 405, 410, 421}
_LONGEST = 300  # characters of what it says about an error
_MOST_BYTES = 32 * 1024 * 1024
_FORMS: dict[str, dict[str, str]] = {
    "grobid": {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1"},
    "docling": {"from_formats": "pdf", "to_formats": "md", "image_export_mode": "placeholder"},
}


# What docling writes where it shows no picture or could not read a formula (docling-core).
_MARKS = re.compile(r"<!-- (image|formula-not-decoded) -->")


class PdfService:
    """GROBID or docling-serve, as the setting names it; false where it names none.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kind = settings.papers_pdf_service.partition("+")[0]
        self.address = settings.pdf_service_base_url

    def __bool__(self) -> bool:
        return bool(self.address)

    @property
    def name(self) -> str:
        """Which of the two, and where: ``GROBID at localhost:8070``."""
        return f"{_NAMES[self._kind]} at {urlsplit(self.address).netloc}"

    @property
    def is_private(self) -> bool:
        """Whether its address is one of this machine or a local network, by its spelling."""
        return is_local_name(urlsplit(self.address).hostname or "")

    def read(self, pdf: bytes) -> Document:
        """What the server reads in a PDF.

        Raises
        ------
        Unreachable
            It is not there, too busy, or no such server: it need not be asked about other PDFs.
        BadContent
            It could not read this one.
        """
        answer = self._send(pdf)
        if answer.status in _NOT_THERE or answer.media == "text/html":
            raise self._not_that_server(f"status {answer.status}")
        if answer.status == 204 or not answer.body.strip():
            raise self._refusal("found no text in it")
        if answer.status >= 300:
            raise self._refusal(f"answered {answer.status}: {_said(answer)}")
        return self._from_tei(answer) if self._kind == "grobid" else self._from_json(answer)

    def _send(self, pdf: bytes) -> Answer:
        field = "input" if self._kind == "grobid" else "files"
        try:
            return self._web.post(
                self.address + _PATHS[self._kind],
                _FORMS[self._kind],
                files={field: ("paper.pdf", pdf, "application/pdf")},
                headers={"Accept": f"application/{'xml' if self._kind == 'grobid' else 'json'}"},
                allow=set(range(400, 600)) - _BUSY,
                limit=_MOST_BYTES,
            )
        except NotAvailable as error:  # a redirect: the PDF was not sent after it
            raise self._not_that_server(error.message.rstrip(".")) from None

    def greet(self) -> str:
        """Ask whether it is up; its version, where it tells.

        Raises
        ------
        Unreachable
            It is not there, or something else is.
        """
        grobid = self._kind == "grobid"
        path = "/api/isalive" if grobid else "/health"
        answer = self._web.get(self.address + path, allow=range(300, 600), follow=False)
        alive = b"true" if grobid else b'"ok"'
        if answer.status >= 300 or alive not in answer.body[:1000]:
            raise self._not_that_server(f"status {answer.status}")
        told = self._web.get(
            self.address + ("/api/version" if grobid else "/version"),
            allow=range(300, 600),
            follow=False,
        )
        try:
            said = mapping(json.loads(told.text())) if told.status == 200 else {}
        except ValueError:
            said = {"version": told.text()}  # GROBID's before 0.8
        return shortened(one_line(text(said.get("version" if grobid else "docling-serve"))), 40)

    @cached_property
    def _web(self) -> Web:
        """The only one that may connect there; to a proxy, a private address is one of its own."""
        tries = min(_TRIES, self._settings.ncbi_max_retries)
        changes: dict[str, Any] = {"ncbi_max_retries": tries}
        if self.is_private:
            host = urlsplit(self.address).hostname
            changes["no_proxy"] = f"{self._settings.no_proxy},{host}"
        web = Web(self._settings.model_copy(update=changes), (RATE,), own=self.address)
        web.deadline = web.quiet = _DEADLINE_S
        return web

    def _from_tei(self, answer: Answer) -> Document:
        try:
            document = tei.read(self._fetched(answer.body, "jats"))
        except BadContent as bad:
            raise self._refusal(f"answered with no TEI ({bad.message.rstrip('.')})") from bad
        return replace(
            document, extractor=f"{tei.producer(answer.body) or 'GROBID'}, tei {tei.VERSION}"
        )

    def _from_json(self, answer: Answer) -> Document:
        try:
            told = mapping(json.loads(answer.text()))
        except (ValueError, RecursionError):
            raise self._refusal("answered with no JSON") from None
        written = mapping(told.get("document")).get("md_content")
        markdown = _MARKS.sub(_in_words, written) if isinstance(written, str) else ""
        status = text(told.get("status"))
        if status != "success" or not markdown.strip():
            said = one_line(json.dumps(told.get("errors") or "no text")).strip('"')
            raise self._refusal(f"says {status or 'nothing'}: {shortened(said, _LONGEST)}")
        reader = reader_of("markdown")
        try:
            document: Document = reader.read(self._fetched(markdown.encode(), "markdown"))
        except BadContent as bad:
            raise self._refusal(f"sent a text that is none: {bad.message}") from bad
        return replace(document, extractor=f"docling, {extractor('markdown')}")

    def _fetched(self, body: bytes, media: Any) -> Fetched:
        return Fetched(body, media, self.address, self.name, self._kind, charset="utf-8")

    def _refusal(self, what: str) -> BadContent:
        return BadContent(f"{self.name} {what}.", verdict="not_a_paper")

    def _not_that_server(self, because: str) -> Unreachable:
        msg = f"What answers at {urlsplit(self.address).netloc} is no {_NAMES[self._kind]}"
        hint = "Correct PAPERS_PDF_SERVICE, then: server.py doctor"
        return Unreachable(f"{msg} ({because}).", hint, lasting=True)


def _in_words(mark: re.Match[str]) -> str:
    return "" if mark[1] == "image" else "[a formula that was not read]"


def _said(answer: Answer) -> str:
    """What it says about an error, on one line."""
    said: Any = answer.text()
    try:
        detail = mapping(json.loads(said)).get("detail")
    except (ValueError, RecursionError):
        detail = None
    if isinstance(detail, Iterable) and not isinstance(detail, str):
        detail = json.dumps(detail)
    return shortened(one_line(str(detail or said)), _LONGEST).rstrip(".")
