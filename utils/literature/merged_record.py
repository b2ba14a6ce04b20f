"""One record of a paper out of several sources' records of it.

The most trusted record wins field by field, and the others fill its gaps. Trust follows who keeps
the record: indexers that check it (PubMed, then Europe PMC, which takes most of its from PubMed),
then what publishers deposited (Crossref), then what machines gathered (Semantic Scholar, OpenAlex),
then preprint servers. Whatever its source, a preprint's record comes after a published version's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..model.paper import Notice, Paper
from ..model.sites import BY_TRUST
from .likeness import is_preprint

# Gaps that another record of the same paper may fill.
_FIELDS = (
    *("title", "abstract", "authors", "journal", "journal_abbreviation", "issn", "volume"),
    *("issue", "pages", "published", "languages", "vernacular_title", "other_abstracts"),
    *("publication_types", "mesh", "keywords", "version", "categories"),
)
# Facts of one record's history or terms: filled from a record of the same version only.
_OF_THE_VERSION = ("entered", "revised", "released", "license", "reference_count")


def by_trust(source: str, paper: Paper) -> tuple[bool, int]:
    """What sorts the most trusted record to the front."""
    place = BY_TRUST.index(source) if source in BY_TRUST else len(BY_TRUST)
    return is_preprint(paper), place


def as_one(records: Sequence[Paper]) -> Paper:
    """The first record, its gaps filled from the others in turn; all identifiers and notices."""
    paper, ids = records[0], records[0].ids
    for other in records[1:]:
        ids |= other.ids
        one_version = is_preprint(paper) == is_preprint(other)
        names = _FIELDS + (_OF_THE_VERSION if one_version else ())
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
