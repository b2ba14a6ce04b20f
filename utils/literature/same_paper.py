"""Whether two records are of the same paper, with a reason and how sure that is.

Identifiers decide where both records have them: one shared and none that clash is the same paper,
a clash never is. Without, title, authors, year and the place in a journal must speak for it and
nothing against it; the less a title tells (*Editorial*) or the more it differs, the more of them
are needed. Merging two papers hides one of them, showing one twice does not: in doubt records stay
apart, and are linked. A preprint and its published version are two papers, linked, unless one
record carries the identifiers of both.

The confidences rank the rules by the evidence they ask for; 1 is kept for what a record itself
says. On the labelled set of ``tests/dedup`` none of them joins two papers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from ..judges.likeness import title_likeness
from ..model.identifiers import Ids
from ..model.paper import Paper
from . import likeness
from .likeness import Looks

Relation = Literal["same", "preprint_of", "has_preprint", "version_of", "may_be", "different"]
_TURNED: dict[Relation, Relation] = {"preprint_of": "has_preprint", "has_preprint": "preprint_of"}
_TELLING = 4  # words; a title of fewer is shared by many papers
_ALIKE = 0.75  # titles of a preprint and of what came of it
_LONGEST_REVIEW = 3  # years from a preprint to its publication
_VERSION = re.compile(r"[./_-]?v?\d{1,2}$")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one record is to another, why, and how sure that is (0 to 1).

    ``different`` with confidence 1 is a contradiction; with 0, nothing speaks for anything else.
    """

    relation: Relation
    reason: str
    confidence: float

    @property
    def turned(self) -> Judgement:
        """The same, seen from the other record."""
        return replace(self, relation=_TURNED.get(self.relation, self.relation))


_NOTHING = Judgement("different", "nothing says that they are the same", 0.0)


def judged(ours: Paper, theirs: Paper) -> Judgement:
    """What *ours* is to *theirs*.

    >>> one = Paper(Ids(doi="10.1000/a"), "Bees and light", published="2024")
    >>> judged(one, Paper(Ids(doi="10.1000/a", pmid="1"), "Bees and Light."))
    Judgement(relation='same', reason='both have doi:10.1000/a', confidence=1.0)
    """
    return judged_looks(Looks(ours), Looks(theirs))


def judged_looks(ours: Looks, theirs: Looks) -> Judgement:
    """`judged`, for records whose looks are known."""
    our_ids, their_ids = ours.paper.ids, theirs.paper.ids
    clash = our_ids.clash(their_ids)
    shared = set(our_ids.names()) & set(their_ids.names())
    if shared and not clash:
        return _by_identifier(ours, theirs, min(shared))
    if noticed := _by_notice(ours, theirs) or _by_notice(theirs, ours, turned=True):
        return noticed
    if ours.preprint != theirs.preprint:
        if ours.preprint:
            return _published_later(ours, theirs)
        return _published_later(theirs, ours).turned
    if clash:
        return _version(ours, theirs, f"{clash} are two papers")
    if (ours.preprint and theirs.preprint) and (
        likeness.journals(ours, theirs) == "differ" or _both_servers(our_ids, their_ids)
    ):
        return _version(ours, theirs, "two preprint servers")
    return _by_title(ours, theirs)


def _by_identifier(ours: Looks, theirs: Looks, name: str) -> Judgement:
    """A shared identifier is proof, unless everything else says that it is a mistake."""
    unlike = likeness.titles(ours, theirs) == "differ" and likeness.authors(ours, theirs)
    if unlike == "differ" and title_likeness(ours.paper.title, theirs.paper.title) < 0.5:
        return Judgement("different", "their titles and authors are others", 1.0)
    return Judgement("same", f"both have {name}", 1.0)


def _by_notice(ours: Looks, theirs: Looks, *, turned: bool = False) -> Judgement | None:
    """What the record itself says: *Update in: …*."""
    for notice in ours.paper.notices:
        if notice.kind != "update":
            continue
        ids = theirs.paper.ids
        named = ids.doi and ids.doi in notice.reference.lower()
        if named or (notice.pmid and notice.pmid == ids.pmid):
            relation: Relation = "preprint_of" if ours.preprint else "version_of"
            said = Judgement(relation, "its record names the later version", 1.0)
            return said.turned if turned else said
    return None


def _published_later(preprint: Looks, published: Looks) -> Judgement:
    """Whether *published* is what became of *preprint*."""
    apart = likeness.years_apart(preprint, published)
    if apart is None or not 0 <= apart <= _LONGEST_REVIEW or preprint.telling < 3:
        return _NOTHING
    if preprint.notice != published.notice or _notices(preprint) != _notices(published):
        return _NOTHING
    if preprint.kinds != published.kinds or likeness.authors(preprint, published) != "same":
        return _NOTHING
    if likeness.titles(preprint, published) == "exact":
        return Judgement("preprint_of", f"same title and authors, {_later(apart)}", 0.95)
    alike = title_likeness(preprint.paper.title, published.paper.title)
    if alike < _ALIKE:
        return _NOTHING
    return Judgement(
        "preprint_of", f"like titles, same authors, {_later(apart)}", round(0.9 * alike, 2)
    )


def _version(ours: Looks, theirs: Looks, clash: str) -> Judgement:
    """Two papers for sure; perhaps one is a version of the other."""
    if likeness.titles(ours, theirs) != "exact" or likeness.authors(ours, theirs) != "same":
        return Judgement("different", clash, 1.0)
    if ours.preprint and ours.telling >= 3:
        return Judgement("version_of", "same title and authors, both preprints", 0.9)
    dois = {looks.paper.ids.doi for looks in (ours, theirs)}
    if len(dois) == 2 and all(dois) and len({_VERSION.sub("", doi) for doi in dois}) == 1:
        return Judgement("version_of", "same title and authors, DOIs that count versions", 0.9)
    if ours.telling >= _TELLING and not _against(ours, theirs):
        return Judgement("may_be", f"same title, authors and year, but {clash}", 0.5)
    return Judgement("different", clash, 1.0)


def _by_title(ours: Looks, theirs: Looks) -> Judgement:
    """Title, authors, year and place, where no identifier decides."""
    titles = likeness.titles(ours, theirs)
    if titles in ("differ", "unknown"):
        return _NOTHING
    if against := _against(ours, theirs):
        return Judgement("different", against, 1.0)
    return _by_place(ours, theirs, titles)


def _by_place(ours: Looks, theirs: Looks, titles: str) -> Judgement:
    """What speaks for it, where titles are alike and nothing is against it."""
    authors = likeness.authors(ours, theirs)
    same_year = likeness.years_apart(ours, theirs) == 0
    in_journal = likeness.journals(ours, theirs) == "same"
    in_volume = likeness.volumes(ours, theirs) == "same"
    on_page = likeness.pages(ours, theirs) == "same"
    # Without a journal, volume 12 and page 3 are a place in thousands of them.
    placed = on_page and in_journal and (in_volume or same_year)
    if placed and authors != "differ" and (titles == "exact" or authors == "same"):
        sure = 0.99 if titles == "exact" else 0.95
        return Judgement("same", f"{titles} title, same place in the journal", sure)
    told = titles == "exact" and min(ours.telling, theirs.telling) >= _TELLING
    if titles != "exact" and authors == "same" and same_year and in_journal:
        return Judgement("may_be", f"{titles} title, same authors, year and journal", 0.5)
    if not told or ours.notice or theirs.notice or ours.supplement != theirs.supplement:
        return _NOTHING
    if authors == "same" and (on_page or in_volume):
        return Judgement("same", f"same title, authors and {'page' if on_page else 'volume'}", 0.97)
    if in_journal and same_year and (authors == "same" or in_volume):
        told_by = "authors" if authors == "same" else "volume"
        return Judgement("same", f"same title, journal, year and {told_by}", 0.9)
    if authors == "same" and same_year and ours.preprint and theirs.preprint:
        return Judgement("same", "same title, authors and year, both preprints", 0.9)
    return Judgement("may_be", "same title, too little else to tell", 0.5)


def _against(ours: Looks, theirs: Looks) -> str:
    """What says that two records of the same title are of two papers; empty when nothing does."""
    apart = likeness.years_apart(ours, theirs)
    in_volume, on_page = likeness.volumes(ours, theirs), likeness.pages(ours, theirs)
    if apart is not None and abs(apart) > 1:
        return f"{abs(apart)} years apart"
    if in_volume == "differ":
        return f"volumes {ours.volume} and {theirs.volume}"
    if on_page == "differ":
        return "other pages"
    authors = likeness.authors(ours, theirs)
    if authors == "differ":
        return "other authors"
    # An abbreviation that we cannot read is no other journal.
    if likeness.journals(ours, theirs) == "differ" and not (
        authors == in_volume == on_page == "same"
    ):
        return "other journals"
    return "the one is a notice about a paper" if _notices(ours) != _notices(theirs) else ""


def _notices(looks: Looks) -> frozenset[str]:
    """The types of a record that make it a notice, where its title may be the paper's own."""
    kinds = {kind.casefold() for kind in looks.paper.publication_types}
    return frozenset(
        word
        for word in ("erratum", "retraction of", "expression of concern", "meeting abstract")
        if any(word in kind for kind in kinds)
    )


def _both_servers(ours: Ids, theirs: Ids) -> bool:
    """Whether one is on arXiv and the other has the DOI of another server."""
    return bool(ours.arxiv and theirs.doi) or bool(theirs.arxiv and ours.doi)


def _later(years: int) -> str:
    return ("in the same year", "a year later")[years] if years < 2 else f"{years} years later"
