"""Data classes of a corpus: passages, hits, anchors, and the filters of a search."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import lru_cache

from .paper import Kind

# With uuid5, the same passage of the same paper always has the same UUID, on every machine.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://pubmed.ncbi.nlm.nih.gov/passages")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of one paper, with its position.

    ``paper`` is the paper's key (``pmid:31452104``, else ``doi:…``, ``arxiv:…``); ``chunk_id`` is
    the section and the number within the section, so that it survives changes elsewhere. ``start``
    and ``end`` are character positions in ``file`` on the shelf or, without a file, in the title,
    blank line and abstract of the record. ``digest`` is the SHA-256 of the embedding text.
    """

    paper: str
    chunk_id: str
    section: str
    ordinal: int
    text: str
    start: int
    end: int
    kind: Kind
    file: str = ""
    digest: str = ""
    title: str = ""
    year: int | None = None
    journal: str = ""
    publication_types: tuple[str, ...] = ()
    retracted: bool = False

    @property
    def uuid(self) -> str:
        """The passage's identifier in every index: ``uuid5(NAMESPACE, "<pmid>:<chunk_id>")``."""
        return _build_passage_uuid(self.paper, self.chunk_id)

    @property
    def embedding_text(self) -> str:
        """The passage with its title and section, as input for an embedding model."""
        return build_embedding_text(self.title, self.section, self.text)


@lru_cache(maxsize=8192)  # asked for several times on the way of a passage into the indexes
def _build_passage_uuid(paper: str, chunk_id: str) -> str:
    """Return the UUID of a passage; cached, because each index asks for the UUID again."""
    name = f"{paper.removeprefix('pmid:')}:{chunk_id}".encode()
    digest = hashlib.sha1(NAMESPACE.bytes + name, usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]  # as `uuid.uuid5` does, in a third of the time
    head, version = f"{digest[:8]}-{digest[8:12]}", f"5{digest[13:16]}"
    return f"{head}-{version}-{variant}{digest[17:20]}-{digest[20:32]}"


def build_embedding_text(title: str, section: str, text: str) -> str:
    """Return the text of a passage as input for an embedding model."""
    return "\n".join(filter(None, (title, section, text)))


def hash_embedding_text(title: str, section: str, text: str) -> str:
    """Return the digest of a passage: the SHA-256 of its embedding text."""
    words = build_embedding_text(title, section, text)
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a search; retracted papers are included only on request.

    ``journal`` is the name that the user gave, ``journals`` the names of this journal in passages;
    if ``journals`` is empty, ``journal`` itself is compared. ``mesh`` (headings without
    qualifiers, any of them) works for passages of a mirror only. ``keep`` returns those of some
    papers that may be in the answer, as a filter of the shelf does; a corpus is then searched
    deeper, until enough passages are of such papers.
    """

    year_from: int | None = None
    year_to: int | None = None
    journal: str = ""
    publication_types: tuple[str, ...] = ()
    kind: Kind | None = None
    retracted: bool = False
    journals: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    keep: Callable[[set[str]], Container[str]] | None = None

    @property
    def journal_names(self) -> tuple[str, ...]:
        """The accepted names of the journal; empty if any journal is accepted."""
        return self.journals or ((self.journal,) if self.journal else ())


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that an index found for a query.

    ``sim`` is the cosine of the vectors (-1 to 1), ``bm25`` the score of the words (higher is
    better); None if that ranking did not find the passage. ``score`` orders the hits of one index.
    """

    uuid: str
    paper: str
    score: float
    sim: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The position of words in a site's response: an XPath in XML and HTML; page and box in PDFs.

    ``id`` is the id of the element or of the nearest enclosing element that has one. ``box`` is
    left, bottom, right and top in points, from the page's lower left corner.
    """

    path: str = ""
    id: str = ""
    page: int = 0
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A paragraph, list, table, figure or code block of a text, with a permanent name.

    ``name`` is derived from the words (``p-3f9a1c2e``) or the label (``table-2``): it stays the
    same when the text is read again, as long as the words do. ``start`` and ``end`` are positions
    in the file. ``sources`` are the positions in the site's response, empty if unknown.
    """

    name: str
    kind: str
    section: str
    start: int
    end: int
    sources: tuple[SourcePlace, ...] = ()
