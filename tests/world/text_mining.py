"""Publishers' services for text mining: Elsevier, Wiley, Springer Nature.

``Record.mined`` says which of them has a paper; ``world.subscribed`` which of them know this
network as a subscriber's. Every form of an answer is that of the publisher's documentation or of a
client's code or fixtures, as `../shared/facts/reach-and-bulk.md` cites them; what is only
remembered is marked so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from utils.demo.jats import article
from utils.demo.records import Record
from utils.demo.wire import PDF, XML, Call, Reply, as_json, redirect, text

from . import elsevier_xml
from .pdf import pdf_of

if TYPE_CHECKING:
    from . import World

ELSEVIER_KEY, ELSEVIER_TOKEN = "elsevier-key-of-a-reader", "elsevier-token-of-the-institution"
WILEY_TOKEN = "4a5a3f6e-0000-4000-8000-5ad00c0ffee5"
SPRINGER_KEY, SPRINGER_TDM_KEY = "springer-key-of-a-reader", "springer-tdm-key/metric"
_DOCTYPE = (
    '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/resources/x.xsl"?>'
    '<!DOCTYPE response [ <!ENTITY % article SYSTEM "https://jats.nlm.nih.gov/x.dtd"> %article; ]>'
)


def _paper(doi: str, publisher: str, world: World) -> Record | None:
    record = world.corpus.by_doi.get(unquote(doi).lower())
    return record if record and record.mined == publisher else None


def elsevier(call: Call, world: World) -> Reply:
    """``/article/doi/{doi}``: dev.elsevier.com, Article Retrieval API."""
    key, token = call.header("x-els-apikey"), call.header("x-els-insttoken")
    if key != ELSEVIER_KEY:  # the body is remembered, not documented
        return _error("APIKEY_INVALID", "API Key is not valid", 401, key)
    if token and token != ELSEVIER_TOKEN:
        said = "Institution Token is not associated with API Key"
        return _error("AUTHENTICATION_ERROR", said, 401, key)
    record = _paper(call.path.removeprefix("/article/doi/"), "elsevier", world)
    if record is None:
        said = "The resource specified cannot be found."
        return _error("RESOURCE_NOT_FOUND", said, 404, key)
    entitled = record.license.startswith("CC") or bool(token) or "elsevier" in world.subscribed
    body = elsevier_xml.answer(record, entitled=entitled)
    return text(body, XML, 200, X_ELS_Status="OK", X_ELS_APIKey=key)


def _error(code: str, said: str, status: int, key: str, **headers: str) -> Reply:
    body = (
        f"<service-error><status><statusCode>{code}</statusCode><statusText>{said}</statusText>"
        "</status></service-error>"
    )
    return text(body, XML, status, X_ELS_APIKey=key, **headers)


def wiley(call: Call, world: World) -> Reply:
    """``/articles/{doi}``: the client wiley-tdm 1.2.0 follows the redirect and reads the status."""
    if call.path.startswith("/content/"):
        record = _paper(call.path.removeprefix("/content/"), "wiley", world)
        assert record
        return Reply(200, pdf_of(record), PDF)
    token = call.header("wiley-tdm-client-token")
    if len(token) != len(WILEY_TOKEN):  # the status is remembered, not documented
        return text("", "text/plain", 400)
    record = _paper(call.path.removeprefix("/articles/"), "wiley", world)
    if record is None:
        return text("", "text/plain", 404)
    if token != WILEY_TOKEN or not (record.license.startswith("CC") or "wiley" in world.subscribed):
        return text("", "text/plain", 403)
    return redirect(f"{world.url('wiley')}/content/{record.doi}")


def springer(call: Call, world: World) -> Reply:
    """``/openaccess/jats`` and ``/xmldata/jats``: springernature-api-client 0.0.10."""
    key, doi = call.params.get("api_key", ""), call.params.get("q", "").removeprefix("doi:")
    is_open = call.path == "/openaccess/jats"
    if key != (SPRINGER_KEY if is_open else SPRINGER_TDM_KEY):  # the body is remembered
        return as_json({"status": "Fail", "message": "Authentication failed"}, 401)
    record = _paper(doi.strip('"'), "springer", world)
    there = record and (record.license.startswith("CC") if is_open else True)
    found = article(record) if there and record else ""
    total = int(bool(found))
    body = (
        f"{_DOCTYPE}<response><apiMessage/><query>doi:{doi}</query><result><total>{total}</total>"
        f"<start>1</start><pageLength>1</pageLength><recordsDisplayed>{total}</recordsDisplayed>"
        f"</result><records>{found}</records><facets/></response>"
    )
    return text(body, XML)
