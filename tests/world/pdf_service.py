"""GROBID and docling-serve, each on an address of its own, as a user runs them.

They read the PDFs of this world by what the world knows of them: whose title stands in the first
lines of a PDF's text, or ``scanned_is`` for one that has none. Forms of the answers:

* GROBID: https://grobid.readthedocs.io/en/latest/Grobid-service/ (fields of the form, statuses 200,
  204, 400, 500 with a sentence and 503 without a body or ``Retry-After``, ``/api/isalive``,
  ``/api/version``); TEI as in kermitt2/grobid_client_python, ``resources/test_out``, and
  https://grobid.readthedocs.io/en/latest/TEI-encoding-of-results/; the words of its errors in
  kermitt2/grobid, ``GrobidExceptionStatus`` and issues 166 and 1033.
* docling-serve: docling-project/docling-serve, ``docs/usage.md`` ("File endpoint", "Response
  format") and ``docling_serve/app.py`` (``/health``, ``/version``, 422, 504 and their ``detail``);
  the comments it writes for pictures in docling-project/docling-core.
"""

from __future__ import annotations

import email
import re
import threading
import zlib
from email.message import Message
from html import escape
from typing import TYPE_CHECKING, Any

from tests.world.prose import abstract, body, references
from tests.world.records import Record, plain
from tests.world.wire import HTML, TEXT, Call, Listener, Reply, as_json, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEI = "application/xml"
_NS = 'xmlns="http://www.tei-c.org/ns/1.0"'
# kermitt2/grobid, grobid-core/…/GrobidExceptionStatus.java; the sentence as in "Grobid-service".
NO_BLOCKS = "[NO_BLOCKS] PDF parsing resulted in empty content"
BROKEN = "[BAD_INPUT_DATA] PDF to XML conversion failed with error code: 1"


class PdfServer:
    """One server of the user's; ``with`` opens it.

    ``mood`` is what it does instead of answering properly; ``asked`` are the forms it was sent.
    """

    def __init__(self, kind: str, papers: Sequence[Record]) -> None:
        self.kind = kind
        self.papers = papers
        self.mood = ""
        self.scanned_is: Record | None = None
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.busy = 0
        self._gone = False
        self._lock = threading.Lock()
        self._listener = Listener(0, self._answer)

    @property
    def setting(self) -> str:
        """The value of ``PAPERS_PDF_SERVICE``."""
        return f"{self.kind}+{self._listener.url}"

    def __enter__(self) -> PdfServer:
        self._listener.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Be gone."""
        if not self._gone:
            self._gone = True
            self._listener.close()

    def _answer(self, call: Call) -> Reply:
        with self._lock:
            self.paths.append(call.path)
        if self.mood in _MOODS:
            return _MOODS[self.mood]()
        if call.method == "GET":
            return self._small(call.path)
        path = "/api/processFulltextDocument" if self.kind == "grobid" else "/v1/convert/file"
        if (call.method, call.path) != ("POST", path):
            return self._nowhere()
        form = parts_of(call)
        with self._lock:
            self.asked.append(form)
            if self.busy:
                self.busy -= 1
                return Reply(503, media=TEI if self.kind == "grobid" else TEXT)
        return (self._grobid if self.kind == "grobid" else self._docling)(form)

    def _small(self, path: str) -> Reply:
        """What is asked to see whether it is there."""
        if self.kind == "grobid" and path == "/api/isalive":
            return text("true", TEXT)
        if self.kind == "grobid" and path == "/api/version":
            return as_json({"version": "0.8.2", "revision": "a91ee48"})
        if self.kind == "docling" and path == "/health":
            return as_json({"status": "ok"})
        if self.kind == "docling" and path == "/version":
            return as_json({"docling-serve": "1.9.0", "docling": "2.60.0"})
        return self._nowhere()

    def _nowhere(self) -> Reply:
        if self.kind == "docling":
            return as_json({"detail": "Not Found"}, 404)
        return text("<html><body><h2>HTTP ERROR 404 Not Found</h2></body></html>", HTML, 404)

    def _grobid(self, form: dict[str, Any]) -> Reply:
        if "input" not in form:
            return Reply(400, media=TEI)
        paper = self._recognised(form["input"])
        if self.mood == "broken pdf":
            return text(BROKEN, TEI, 500)
        if self.mood == "no content":
            return Reply(204, media=TEI)
        if paper is None:
            return text(NO_BLOCKS, TEI, 500)
        return text(self._spoiled(tei_of(paper)), TEI)

    def _docling(self, form: dict[str, Any]) -> Reply:
        if "files" not in form:
            missing = {"type": "missing", "loc": ["body", "files"], "msg": "Field required"}
            return as_json({"detail": [missing]}, 422)
        if self.mood == "too long":
            told = "Conversion is taking too long. The maximum wait time is configure as "
            return as_json({"detail": f"{told}DOCLING_SERVE_MAX_SYNC_WAIT=120."}, 504)
        paper = self._recognised(form["files"])
        contents = dict.fromkeys(("json_content", "html_content", "text_content"))
        document = {"filename": "paper.pdf", "doctags_content": None, **contents}
        if paper is None or self.mood == "broken pdf":
            told = {"component_type": "document_backend", "module_name": "", "error_message": "x"}
            answer = {"status": "failure", "errors": [told], "document": document}
            return as_json({**answer, "processing_time": 0.2, "timings": {}})
        document["md_content"] = self._spoiled(markdown_of(paper))
        answer = {"document": document, "status": "success", "errors": []}
        return as_json({**answer, "processing_time": 3.1, "timings": {}})

    def _spoiled(self, answer: str) -> str:
        return _SPOILT.get(self.mood, lambda whole: whole)(answer)

    def _recognised(self, pdf: bytes) -> Record | None:
        if self.mood == "another paper":
            return next(one for one in self.papers if one.branch == "cloud_jats")
        squeezed = _letters(_text_of(pdf))
        if not squeezed:
            return self.scanned_is
        fitting = (one for one in self.papers if _letters(one.plain_title) in squeezed[:2000])
        return next(fitting, None)


def parts_of(call: Call) -> dict[str, Any]:
    """The fields of a multipart form; files as bytes."""
    head = f"Content-Type: {call.header('content-type')}\r\n\r\n".encode()
    message: Message = email.message_from_bytes(head + call.body)
    parts = message.get_payload() if message.is_multipart() else []
    found: dict[str, Any] = {}
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        found[str(name)] = content if part.get_filename() else content.decode()
    return found


def _text_of(pdf: bytes) -> str:
    """The words that a PDF of this world shows."""
    shown = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            page = zlib.decompress(stream)
        except zlib.error:
            page = stream
        shown += re.findall(rb"\(((?:[^()\\]|\\.)*)\)\s*(?:Tj|')", page)
    return b" ".join(shown).decode("cp1252", "replace")


def _letters(said: str) -> str:
    return re.sub(r"[^a-z0-9]", "", said.lower())


def _p(said: str) -> str:
    return f"<p>{escape(plain(said))}</p>"


def tei_of(record: Record) -> str:
    """A paper as GROBID writes it: flat divisions, references parsed and as printed."""
    people = "".join(
        f'<author><persName {_NS}><forename type="first">{escape(given)}</forename>'
        f"<surname>{escape(family)}</surname></persName></author>"
        for family, given in record.authors
    )
    doi = f'<idno type="DOI">{escape(record.doi)}</idno>' if record.doi else ""
    title = escape(record.plain_title)
    about = "".join(f"<div {_NS}>{_p(said)}</div>" for _, said in abstract(record))
    parts = "\n".join(
        f'<div {_NS}><head n="{number}">{escape(head)}</head>{"".join(map(_p, said))}</div>'
        for number, (head, said) in enumerate(body(record), 1)
    )
    cited = "".join(
        f'<biblStruct xml:id="b{at}"><analytic><title level="a" type="main">{escape(name)}</title>'
        f'</analytic><monogr><title level="j">{escape(journal)}</title><imprint>'
        f'<date type="published" when="{year}" /></imprint></monogr><note type="raw_reference">'
        f"{escape(f'{who}. {name}. {journal}. {year}.')}</note></biblStruct>"
        for at, (who, name, journal, year, _) in enumerate(references(record))
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:space="preserve" {_NS}>
<teiHeader xml:lang="en"><fileDesc>
<titleStmt><title level="a" type="main">{title}</title></titleStmt><publicationStmt><publisher/>
<availability status="unknown"><licence/></availability></publicationStmt>
<sourceDesc><biblStruct><analytic>{people}<title level="a" type="main">{title}</title></analytic>
<monogr><imprint><date/></imprint></monogr>{doi}</biblStruct></sourceDesc></fileDesc>
<encodingDesc><appInfo><application version="0.8.2" ident="GROBID" when="2026-11-01T10:00+0000">
<ref target="https://github.com/kermitt2/grobid"/></application></appInfo></encodingDesc>
<profileDesc><abstract>{about}</abstract></profileDesc></teiHeader>
<text xml:lang="en"><body>{parts}
<figure {_NS} type="table" xml:id="tab_0"><head>Table 1 .</head><label>1</label>
<figDesc>Results by group.</figDesc><table><row><cell>Group</cell><cell>Mean</cell></row>
<row><cell>Treated</cell><cell>4.2</cell></row><row><cell>Control</cell><cell>3.1</cell></row>
<row><cell>Third</cell><cell>2.9</cell></row><row><cell>Fourth</cell><cell>2.7</cell></row></table>
</figure></body><back><div type="references"><listBibl>{cited}</listBibl></div></back>
</text></TEI>"""


def markdown_of(record: Record) -> str:
    """A paper as docling writes it: every heading on the second level, references as a list."""
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    blocks = [f"## {record.plain_title}", people, f"https://doi.org/{record.doi}", "## Abstract"]
    blocks += [plain(said) for _, said in abstract(record)]
    for head, said in body(record):
        blocks += [f"## {head}" if head else "", *map(plain, said)]
    rows = ["| Group   | Mean   |", "|---------|--------|"]
    rows += [f"| {name} | {mean} |" for name, mean in zip("ABCDE", (4, 3, 2, 9, 7), strict=True)]
    blocks += ["Table 1: Results by group.", "\n".join(rows), "<!-- image -->", "## References"]
    cited = references(record)
    blocks.append(
        "\n".join(f"- {at}. {w}. {t}. {j}. {y}." for at, (w, t, j, y, _) in enumerate(cited, 1))
    )
    return "\n\n".join(filter(None, blocks))


def _with_entity(whole: str) -> str:
    external = '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    return whole.replace("<TEI", f"{external}<TEI", 1).replace("<body>", "<body><p>&x;</p>", 1)


def _with_bomb(whole: str) -> str:
    rungs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return (
        _with_entity(whole)
        .replace('<!ENTITY x SYSTEM "file:///etc/passwd">', (f'<!ENTITY l0 "lol">{rungs}'))
        .replace("&x;", "&l11;")
    )


_SPOILT: dict[str, Callable[[str], str]] = {
    "entity": _with_entity,
    "bomb": _with_bomb,
    "half": lambda whole: whole[: len(whole) // 2],
    "scripts": lambda whole: whole.replace("</p>", ' <a href="javascript:x()">y</a></p>', 1),
    "less": lambda whole: re.sub(r"<head.*?</head>|<biblStruct.*?</biblStruct>", "", whole),
}
_MOODS: dict[str, Callable[[], Reply]] = {
    "html": lambda: text("<!doctype html><title>Router</title><h1>Welcome</h1>", HTML),
    "hangs": lambda: Reply(200, b"", TEI, manner="slow_headers"),
    "resets": lambda: Reply(manner="reset"),
    "elsewhere": lambda: Reply(307, headers={"Location": "http://127.0.0.1:9/"}),
    "garbage": lambda: Reply(200, bytes(range(256)) * 40, TEI),
}
