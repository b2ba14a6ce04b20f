"""One record of a paper out of several sources' records of it.

The most trusted record wins field by field, and the others fill its gaps. Trust follows who keeps
the record: indexers that check it (PubMed, then Europe PMC, which takes most of its from PubMed),
then what publishers deposited (Crossref), then what machines gathered (Semantic Scholar, OpenAlex),
then preprint servers. Whatever its source, a preprint's record comes after a published version's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .paper import Notice, Paper

TRUST = ("pubmed", "europepmc", "crossref", "semantic_scholar", "openalex", "arxiv")
# Gaps that another record of the same paper may fill.
_FIELDS = (
    *("title", "abstract", "authors", "journal", "journal_abbreviation", "issn", "volume"),
    *("issue", "pages", "published", "languages", "vernacular_title", "other_abstracts"),
    *("publication_types", "mesh", "keywords", "version", "categories"),
)
# Facts of one record's history or terms: filled from a record of the same version only.
_OF_THE_VERSION = ("entered", "revised", "released", "license")
_SERVER_WORDS = ("arxiv", "biorxiv", "medrxiv", "preprint", "research square", "ssrn", "authorea")


def by_trust(source: str, paper: Paper) -> tuple[bool, int]:
    """What sorts the most trusted record to the front."""
    place = TRUST.index(source) if source in TRUST else len(TRUST)
    return only_preprint(paper), place


def only_preprint(paper: Paper) -> bool:
    """Whether a record is that of a preprint, and says nothing of a journal.

    >>> from .identifiers import Ids
    >>> only_preprint(Paper(Ids(arxiv="2601.00001"), journal="arXiv"))
    True
    """
    kinds = {kind.casefold() for kind in paper.publication_types}
    journal = paper.journal.casefold()
    server = any(word in journal for word in _SERVER_WORDS)
    unpublished = bool(paper.ids.arxiv) and not (paper.volume or paper.ids.pmid or paper.ids.doi)
    return "preprint" in kinds or server or (unpublished and not journal)


def as_one(records: Sequence[Paper]) -> Paper:
    """The first record, its gaps filled from the others in turn; all identifiers and notices."""
    paper, ids = records[0], records[0].ids
    for other in records[1:]:
        ids |= other.ids
        names = _FIELDS
        if only_preprint(paper) == only_preprint(other):
            names += _OF_THE_VERSION
        gaps = {name: getattr(other, name) for name in names if not getattr(paper, name)}
        paper = replace(paper, ids=ids, notices=_notices(paper, other), **gaps)
    return paper


def _notices(paper: Paper, other: Paper) -> tuple[Notice, ...]:
    """Those of both; a retraction that one of them knows of is never lost."""
    known = {notice.kind for notice in paper.notices}
    more = tuple(notice for notice in other.notices if notice.kind not in known)
    if other.retracted and not paper.retracted and "retraction" not in {n.kind for n in more}:
        more = (*more, Notice("retraction"))
    return (*paper.notices, *more)
