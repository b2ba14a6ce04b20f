"""Judge whether two records are of the same paper, with a reason and a confidence.

Identifiers decide where both records have them. Records that share one, without a clash, are the
same paper, unless both titles and authors differ. Records whose identifiers clash are different
papers; the exception is one PMID with two DOIs, if the titles agree.

Without identifiers, title, authors, year and the place in a journal must all agree or be unknown.
The less a title tells (*Editorial*), or the more the titles differ, the more of the others are
needed. In doubt, records stay apart and are linked, because merging two papers hides one of them,
and showing one paper twice hides nothing. A preprint and its published version are two linked
papers, unless one record has the identifiers of both.

The confidences rank the rules by the evidence that they require; 1 means that a record itself
states the relation. On the labelled set of ``quality/duplicates`` no rule joins two papers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from ..judges.titles import (
    find_title_difference,
    find_unshared_title_words,
    measure_title_likeness,
    split_into_unified_words,
)
from ..model.identifiers import Ids
from ..model.paper import Paper
from .compared_records import (
    MIN_DISTINCTIVE_WORDS,
    ComparedRecord,
    compare_abstracts,
    compare_authors,
    compare_journals,
    compare_pages,
    compare_titles,
    compare_volumes,
    count_years_between,
    is_same_person,
)

_ARTICLE_NUMBER_DIGITS = 5  # and more: an article's own number, not a page
_NOTICE_TYPES = (
    *("erratum", "retraction of", "retraction notice", "expression of concern"),
    "meeting abstract",
)
Relation = Literal["same", "preprint_of", "has_preprint", "version_of", "may_be", "different"]
_INVERSE: dict[Relation, Relation] = {"preprint_of": "has_preprint", "has_preprint": "preprint_of"}
_PREPRINT_TITLE_RATIO = 0.75  # titles of a preprint and of what came of it
_REWORDED_TITLE_RATIO = 0.6  # the same, with all authors the same and no abstract against it
_WORDING_RATIO = 0.5  # titles at one place in a journal that differ more are two papers' titles
_SERIES_MAX_WORDS = 2  # by which the titles of one series differ
_REVIEW_MAX_YEARS = 3  # years from a preprint to its publication
_PUBLICATION_MAX_YEARS = 8  # of one that stayed as it was
_VERSION_SUFFIX = re.compile(r"[./_-]?v?\d{1,2}$")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The relation of one record to another, the reason, and the confidence (0 to 1).

    ``different`` with confidence 1 is a contradiction; with 0, nothing speaks for anything else.
    """

    relation: Relation
    reason: str
    confidence: float

    @property
    def inverse(self) -> Judgement:
        """The judgement seen from the other record."""
        return replace(self, relation=_INVERSE.get(self.relation, self.relation))


_UNRELATED = Judgement("different", "nothing says that they are the same", 0.0)


def judge_pair(ours: Paper, theirs: Paper) -> Judgement:
    """Judge the relation of *ours* to *theirs*.

    >>> one = Paper(Ids(doi="10.1000/a"), "Bees and light", published="2024")
    >>> judge_pair(one, Paper(Ids(doi="10.1000/a", pmid="1"), "Bees and Light."))
    Judgement(relation='same', reason='both have doi:10.1000/a', confidence=1.0)
    """
    return judge_compared_pair(ComparedRecord(ours), ComparedRecord(theirs))


def judge_compared_pair(ours: ComparedRecord, theirs: ComparedRecord) -> Judgement:
    """Judge the relation of two records that are prepared for comparison."""
    our_ids, their_ids = ours.paper.ids, theirs.paper.ids
    clash = our_ids.clash(their_ids)
    shared = set(our_ids.names()) & set(their_ids.names())
    if shared and not clash:
        return _judge_by_identifier(ours, theirs, min(shared))
    pmid = our_ids.pmid if our_ids.pmid == their_ids.pmid else ""
    if pmid and compare_titles(ours, theirs) != "differ":  # two DOIs of one paper
        return Judgement("same", f"both have pmid:{pmid}", 1.0)
    if noticed := _judge_by_update_notice(ours, theirs) or _judge_by_update_notice(
        theirs, ours, is_inverse=True
    ):
        return noticed
    if ours.is_preprint_record != theirs.is_preprint_record:
        if ours.is_preprint_record:
            return _judge_published_version(ours, theirs)
        return _judge_published_version(theirs, ours).inverse
    if clash:
        return _judge_versions(ours, theirs, f"{clash} are two papers")
    if (ours.is_preprint_record and theirs.is_preprint_record) and (
        compare_journals(ours, theirs) == "differ" or _are_on_two_servers(our_ids, their_ids)
    ):
        return _judge_versions(ours, theirs, "two preprint servers")
    return _judge_by_title(ours, theirs)


def _judge_by_identifier(ours: ComparedRecord, theirs: ComparedRecord, name: str) -> Judgement:
    """Judge records that share an identifier: the same paper, unless all else contradicts it."""
    unlike = compare_titles(ours, theirs) == "differ" and compare_authors(ours, theirs)
    if unlike == "differ" and measure_title_likeness(ours.paper.title, theirs.paper.title) < 0.5:
        return Judgement("different", "their titles and authors are others", 1.0)
    return Judgement("same", f"both have {name}", 1.0)


def _judge_by_update_notice(
    ours: ComparedRecord, theirs: ComparedRecord, *, is_inverse: bool = False
) -> Judgement | None:
    """Judge by a notice in the record itself: *Update in: …*."""
    for notice in ours.paper.notices:
        if notice.kind != "update":
            continue
        ids = theirs.paper.ids
        named = ids.doi and ids.doi in notice.reference.lower()
        if named or (notice.pmid and notice.pmid == ids.pmid):
            relation: Relation = "preprint_of" if ours.is_preprint_record else "version_of"
            judgement = Judgement(relation, "its record names the later version", 1.0)
            return judgement.inverse if is_inverse else judgement
    return None


def _judge_published_version(preprint: ComparedRecord, published: ComparedRecord) -> Judgement:
    """Judge whether *published* is the journal version of *preprint*."""
    apart = count_years_between(preprint, published)
    if (
        apart is None
        or not 0 <= apart <= _PUBLICATION_MAX_YEARS
        or preprint.distinctive_word_count < 3
    ):
        return _UNRELATED
    if preprint.is_notice != published.is_notice or _get_notice_types(
        preprint
    ) != _get_notice_types(published):
        return _UNRELATED
    authors = compare_authors(preprint, published)
    if preprint.distinctive_marks != published.distinctive_marks or authors == "differ":
        return _UNRELATED
    if _are_in_one_series(preprint, published):
        return _UNRELATED
    exact = compare_titles(preprint, published) == "exact"
    if authors == "same" and apart <= _REVIEW_MAX_YEARS:
        if exact:
            return Judgement(
                "preprint_of", f"same title and authors, {_describe_years_apart(apart)}", 0.95
            )
        alike = measure_title_likeness(preprint.paper.title, published.paper.title)
        if alike >= _PREPRINT_TITLE_RATIO:
            said = f"like titles, same authors, {_describe_years_apart(apart)}"
            return Judgement("preprint_of", said, round(0.9 * alike, 2))
    return _judge_retitled_preprint(preprint, published, exact=exact, apart=apart)


def _judge_retitled_preprint(
    preprint: ComparedRecord, published: ComparedRecord, *, exact: bool, apart: int
) -> Judgement:
    """Judge a preprint with another title, no authors, or an early date by the abstracts."""
    abstracts = compare_abstracts(preprint, published)
    authors = compare_authors(preprint, published)
    if abstracts == "differ":
        return _UNRELATED
    if authors == "same" and exact and preprint.distinctive_word_count >= MIN_DISTINCTIVE_WORDS:
        return Judgement(
            "preprint_of", f"same title and authors, {_describe_years_apart(apart)}", 0.8
        )
    if authors == "same" and abstracts == "same":
        return Judgement(
            "preprint_of", f"same authors, like abstracts, {_describe_years_apart(apart)}", 0.85
        )
    nameless = not (preprint.first_and_last_authors or preprint.groups) or not (
        published.first_and_last_authors or published.groups
    )
    if nameless and exact and abstracts == "same":
        return Judgement(
            "preprint_of", f"same title, like abstracts, {_describe_years_apart(apart)}", 0.9
        )
    if apart > _REVIEW_MAX_YEARS:
        return _UNRELATED
    if nameless and exact and preprint.distinctive_word_count > MIN_DISTINCTIVE_WORDS:
        return Judgement(
            "preprint_of", f"same title, authors not named, {_describe_years_apart(apart)}", 0.75
        )
    if authors == "same" and _is_reworded_title(preprint, published):
        return Judgement(
            "preprint_of", f"title retouched, same authors, {_describe_years_apart(apart)}", 0.6
        )
    return _UNRELATED


def _are_in_one_series(ours: ComparedRecord, theirs: ComparedRecord) -> bool:
    """Return whether two papers are of one series: *… in men*, *… in women*.

    Authors write such papers with the same words. So the few words that one title has in place of
    the other's decide: they tell two papers apart unless an abstract uses both, or one of the
    abstracts is unknown and nothing but a title was retouched.
    """
    if not ours.titles or not theirs.titles:
        return False
    replaced = find_unshared_title_words(*(" ".join(one.titles[0]) for one in (ours, theirs)))
    if not all(0 < len(words) <= _SERIES_MAX_WORDS for words in replaced):
        return False
    told = [set(split_into_unified_words(one.paper.abstract)) for one in (ours, theirs)]
    if not all(told):
        return False
    (own, other), (our_words, their_words) = replaced, told
    return (
        bool(our_words.intersection(own) and their_words.intersection(other))
        and our_words.isdisjoint(other)
        and their_words.isdisjoint(own)
    )


def _is_reworded_title(preprint: ComparedRecord, published: ComparedRecord) -> bool:
    """Return whether two titles share most words, and all authors are the same."""
    if len(preprint.first_and_last_authors) < 3 or len(preprint.first_and_last_authors) != len(
        published.first_and_last_authors
    ):
        return False
    if not all(
        map(is_same_person, preprint.first_and_last_authors, published.first_and_last_authors)
    ):
        return False
    ours, theirs = (
        {word for word in one.titles[0] if len(word) > 3} for one in (preprint, published)
    )
    return len(ours & theirs) >= max(
        MIN_DISTINCTIVE_WORDS - 1, _REWORDED_TITLE_RATIO * min(len(ours), len(theirs))
    )


def _judge_versions(ours: ComparedRecord, theirs: ComparedRecord, clash: str) -> Judgement:
    """Judge two papers that are different for certain: one may be a version of the other."""
    if compare_titles(ours, theirs) != "exact" or compare_authors(ours, theirs) != "same":
        return Judgement("different", clash, 1.0)
    if any(
        one.is_notice or _get_notice_types(one) for one in (ours, theirs)
    ):  # each of several errata is counted, none a version
        return Judgement("different", clash, 1.0)
    if ours.is_preprint_record and ours.distinctive_word_count >= 3:
        return Judgement("version_of", "same title and authors, both preprints", 0.9)
    dois = {record.paper.ids.doi for record in (ours, theirs)}
    if len(dois) == 2 and all(dois) and len({_VERSION_SUFFIX.sub("", doi) for doi in dois}) == 1:
        return Judgement("version_of", "same title and authors, DOIs that count versions", 0.9)
    if ours.distinctive_word_count >= MIN_DISTINCTIVE_WORDS and not _find_conflict(ours, theirs):
        return Judgement("may_be", f"same title, authors and year, but {clash}", 0.5)
    return Judgement("different", clash, 1.0)


def _judge_by_title(ours: ComparedRecord, theirs: ComparedRecord) -> Judgement:
    """Judge by title, authors, year and citation, where no identifier decides."""
    titles = compare_titles(ours, theirs)
    if titles in ("differ", "unknown") and not _are_on_same_pages(ours, theirs):
        return _UNRELATED
    if against := _find_conflict(ours, theirs):
        return Judgement("different", against, 1.0) if titles != "differ" else _UNRELATED
    if opinion := _find_comment_type(ours, theirs):
        said = f"{titles} title, but only one is of type {opinion}"
        if compare_pages(ours, theirs) != "same":
            return Judgement("different", said, 1.0)
        return Judgement("may_be", f"{said}, on the same page", 0.5)
    if titles != "exact" and _are_on_same_pages(ours, theirs):
        return Judgement("same", f"title {titles}, but the same authors, year and pages", 0.94)
    return _judge_by_citation(ours, theirs, titles)


def _are_on_same_pages(ours: ComparedRecord, theirs: ComparedRecord) -> bool:
    """Return whether two records of the same authors fill the same pages of the same volume.

    Two papers may begin on one page, as abstracts of a meeting do, but they never share both ends
    of several pages, nor the number of an article: there, the titles are two wordings or
    translations of one. A journal's names may be too unlike to be known as one; then two authors
    must agree.
    """
    if count_years_between(ours, theirs) != 0 or compare_authors(ours, theirs) != "same":
        return False
    if ours.page != theirs.page or ours.is_in_supplement or theirs.is_in_supplement:
        return False
    if not _are_similar_titles(ours, theirs):
        return False
    kind, first, last = ours.page
    in_journal = compare_journals(ours, theirs) == "same"
    if not last:
        numbered = len(first) >= _ARTICLE_NUMBER_DIGITS or len(kind) > 1 < len(first)
        return in_journal and numbered
    several = min(len(ours.first_and_last_authors), len(theirs.first_and_last_authors)) > 1
    in_volume = compare_volumes(ours, theirs) == "same"
    return first != last and in_volume and (in_journal or several)


def _are_similar_titles(ours: ComparedRecord, theirs: ComparedRecord) -> bool:
    """Return whether two titles may be wordings of one: half of it is shared, or one translated."""
    if ours.is_notice or theirs.is_notice or not ours.titles or not theirs.titles:
        return False
    titles = ours.unlabelled_title, theirs.unlabelled_title
    if find_title_difference(*titles).marks:
        return False
    is_translated = any(title.startswith("[") for title in titles)
    return is_translated or measure_title_likeness(*titles) >= _WORDING_RATIO


def _judge_by_citation(ours: ComparedRecord, theirs: ComparedRecord, titles: str) -> Judgement:
    """Judge by the evidence for records whose titles are alike and do not conflict."""
    authors = compare_authors(ours, theirs)
    same_year = count_years_between(ours, theirs) == 0
    in_journal = compare_journals(ours, theirs) == "same"
    in_volume = compare_volumes(ours, theirs) == "same"
    on_page = compare_pages(ours, theirs) == "same"
    # Without a journal, volume 12 and page 3 are a place in thousands of them.
    placed = on_page and in_journal and (in_volume or same_year)
    if placed and authors != "differ" and (titles == "exact" or authors == "same"):
        sure = 0.99 if titles == "exact" else 0.95
        return Judgement("same", f"{titles} title, same place in the journal", sure)
    is_telling = (
        titles == "exact"
        and min(ours.distinctive_word_count, theirs.distinctive_word_count) >= MIN_DISTINCTIVE_WORDS
    )
    if titles != "exact" and authors == "same" and same_year and in_journal:
        return Judgement("may_be", f"{titles} title, same authors, year and journal", 0.5)
    if (
        not is_telling
        or ours.is_notice
        or theirs.is_notice
        or ours.is_in_supplement != theirs.is_in_supplement
    ):
        return _UNRELATED
    if authors == "same" and (on_page or in_volume):
        return Judgement("same", f"same title, authors and {'page' if on_page else 'volume'}", 0.97)
    if in_journal and same_year and (authors == "same" or in_volume):
        agreeing = "authors" if authors == "same" else "volume"
        return Judgement("same", f"same title, journal, year and {agreeing}", 0.9)
    if authors == "same" and same_year and ours.is_preprint_record and theirs.is_preprint_record:
        return Judgement("same", "same title, authors and year, both preprints", 0.9)
    return Judgement("may_be", "same title, too little else to tell", 0.5)


def _find_conflict(ours: ComparedRecord, theirs: ComparedRecord) -> str:
    """Return the evidence that records with the same title are different papers; else ""."""
    apart = count_years_between(ours, theirs)
    in_volume, on_page = compare_volumes(ours, theirs), compare_pages(ours, theirs)
    if apart is not None and abs(apart) > 1:
        return f"{abs(apart)} years apart"
    if in_volume == "differ":
        return f"volumes {ours.volume} and {theirs.volume}"
    if on_page == "differ":
        return "other pages"
    authors = compare_authors(ours, theirs)
    if authors == "differ":
        return "other authors"
    # An abbreviation that we cannot read is no other journal.
    if compare_journals(ours, theirs) == "differ" and not (
        authors == in_volume == on_page == "same"
    ):
        return "other journals"
    # Where both titles say so, a type that one record leaves out says nothing.
    unlike = _get_notice_types(ours) != _get_notice_types(theirs) and not (
        ours.is_notice and theirs.is_notice
    )
    return "the one is a notice about a paper" if unlike else ""


def _get_notice_types(record: ComparedRecord) -> frozenset[str]:
    """Return the types that make a record a notice, which may have the paper's own title."""
    return frozenset(word for word in _NOTICE_TYPES if any(word in kind for kind in record.types))


def _find_comment_type(ours: ComparedRecord, theirs: ComparedRecord) -> str:
    """Return the type of a comment on a paper if the other record is a paper; else "".

    A record without types, or with one that all articles have, says neither; where abstracts are
    the same, types are mistaken.
    """
    if bool(ours.opinions) == bool(theirs.opinions) or (ours.is_notice and theirs.is_notice):
        return ""
    if (
        not (ours.has_distinctive_type and theirs.has_distinctive_type)
        or compare_abstracts(ours, theirs) == "same"
    ):
        return ""
    return min(ours.opinions | theirs.opinions)


def _are_on_two_servers(ours: Ids, theirs: Ids) -> bool:
    """Return whether one record is on arXiv and the other has another server's DOI."""
    return bool(ours.arxiv and theirs.doi) or bool(theirs.arxiv and ours.doi)


def _describe_years_apart(years: int) -> str:
    return ("in the same year", "a year later")[years] if years < 2 else f"{years} years later"
