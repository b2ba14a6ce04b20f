"""The nouns of a corpus: passages, and the filters of a search (papers: `.paper`)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import lru_cache

from .paper import Kind

# Of uuid5: the same passage of the same paper has the same UUID on every machine, for ever.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://pubmed.ncbi.nlm.nih.gov/passages")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one paper, and where it stands.

    ``paper`` is the paper's key (``pmid:31452104``, else ``doi:…``, ``arxiv:…``); ``chunk_id`` the
    section and the number within it, so that a change elsewhere keeps it. ``start`` and ``end`` are
    characters into ``file`` on the shelf, or, where there is no file, into title, blank line and
    abstract of the record. ``digest`` is the SHA-256 of what is embedded: title, section and text.
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
        """The name of the passage in every index: ``uuid5(NAMESPACE, "<pmid>:<chunk_id>")``."""
        return _uuid(self.paper, self.chunk_id)

    @property
    def embedded(self) -> str:
        """The passage with its title and section, as a model reads it."""
        return embedded(self.title, self.section, self.text)


@lru_cache(maxsize=8192)  # asked for several times on the way of a passage into the indexes
def _uuid(paper: str, chunk_id: str) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{paper.removeprefix('pmid:')}:{chunk_id}"))


def embedded(title: str, section: str, text: str) -> str:
    """The text of a passage that a model reads."""
    return "\n".join(filter(None, (title, section, text)))


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of a search; retracted papers count only on request.

    ``journal`` is as somebody calls it, ``journals`` the names under which passages have it; with
    none, they have it under that very name. ``mesh`` (headings without qualifiers, one of them)
    is known of a mirror's passages only.
    """

    year_from: int | None = None
    year_to: int | None = None
    journal: str = ""
    publication_types: tuple[str, ...] = ()
    kind: Kind | None = None
    retracted: bool = False
    journals: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()

    @property
    def journal_names(self) -> tuple[str, ...]:
        """The journals of which one must be the passage's; none where any may be."""
        return self.journals or ((self.journal,) if self.journal else ())


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage an index found.

    ``sim`` is the cosine of the vectors (-1 to 1), ``bm25`` the score of the words (higher is
    better); None where that way did not find it. ``score`` orders the hits of one index.
    """

    uuid: str
    paper: str
    score: float
    sim: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place of words in a site's answer: an XPath in XML and pages, page and box in PDFs.

    ``id`` is that of the element or of the nearest one around it. ``box`` is left, bottom, right
    and top in points, from the page's lower left corner.
    """

    path: str = ""
    id: str = ""
    page: int = 0
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A paragraph, list, table, figure or fence of code of a text, under a name that lasts.

    ``name`` comes from its words (``p-3f9a1c2e``) or its label (``table-2``): it stays the same
    when the text is read anew, as long as the words do. ``start`` and ``end`` count in the file.
    ``sources`` is where it stands in what the site sent, empty where that could not be told.
    """

    name: str
    kind: str
    section: str
    start: int
    end: int
    sources: tuple[SourcePlace, ...] = ()
