"""Small articles for the tests of the JATS reader, written for this project."""

from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched
from utils.readers import jats

_NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)
_TITLE = "<title-group><article-title>A title</article-title></title-group>"


def article(
    body: str = "", *, meta: str = _TITLE, back: str = "", more: str = "", kind: str = ""
) -> str:
    """An article around these parts; no ``body`` element when *body* is empty."""
    kind = f' article-type="{kind}"' if kind else ""
    inner = f"<body>{body}</body>" if body else ""
    back = f"<back>{back}</back>" if back else ""
    front = f"<front><article-meta>{meta}</article-meta></front>"
    return f"<article {_NAMESPACES}{kind}>{front}{inner}{back}{more}</article>"


def read(xml: str | bytes, ids: Ids | None = None) -> Document:
    """What the reader makes of this XML."""
    body = xml.encode() if isinstance(xml, str) else xml
    return jats.read_document(Fetched(body, "jats", "", "pmc", "pmc_cloud", ids=ids or Ids()))


def body_of(body: str) -> str:
    """The markdown of a body, without the title."""
    return read(article(body)).markdown.removeprefix("# A title\n\n").rstrip("\n")


def back_of(back: str) -> str:
    """The markdown of the back matter, without the title."""
    return read(article(back=back)).markdown.removeprefix("# A title\n\n").rstrip("\n")


def meta_of(meta: str, **more: str) -> Document:
    """The document of an article with this front matter only."""
    return read(article(meta=meta, **more))
