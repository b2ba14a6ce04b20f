"""Check that each reference exists, matches its record and is not retracted.

An identifier is looked up (`..download.records`: mirror, PubMed, Europe PMC, Crossref, arXiv). An
entry without identifiers is searched by its words (`..search.resolve`). Then the entry is compared
with the record, field by field. If the service did not respond, the record on the shelf is used and
the result says how old that record is; without one, the result is *could not tell*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ..download.records import look_up_records
from ..errors import NotConfigured, NotFound, PaperError
from ..judges.titles import is_notice_title, measure_title_likeness, split_title_words
from ..lists.pasted import ListEntry, format_citation
from ..model.identifiers import Ids
from ..model.paper import Author, Notice, Paper
from ..model.versions import is_only_preprint
from ..outline.words import fold_words
from ..search.compared_records import (
    ComparedRecord,
    compare_journals,
    compare_pages,
    compare_titles,
    compare_volumes,
)
from ..search.reference_search import (
    WantedReference,
    find_at_crossref,
    find_by_title,
    iterate_candidates,
)
from ..search.resolve import Resolution, resolve_entries
from ..search.same_paper import judge_pair
from .parts import ListedReference
from .printed_comparison import find_printed_differences, is_entry_of_paper, is_same_journal_place
from .reading import compute_finding_fingerprint

if TYPE_CHECKING:
    from ..http import Web
    from ..shelf import Shelf
    from ..sources import Source

Status = Literal["verified", "differs", "wrong_paper", "not_found", "unsure", "could_not_tell"]
WarningKind = Literal[
    "retracted", "retraction_notice", "expression_of_concern", "corrected", "preprint"
]
_NOTICES: dict[str, WarningKind] = {
    "retraction": "retracted",
    "expression_of_concern": "expression_of_concern",
    "erratum": "corrected",
    "republication": "corrected",
}
# PubMed has used two names for this type; Crossref's records have the title only.
_RETRACTION_NOTICES = frozenset(("Retraction Notice", "Retraction of Publication"))
_SAME_TITLE_LIKENESS = 0.8  # below this likeness, two titles are of different papers
_PRINTED_MIN_SHARE = 0.9  # share of a record's title that a printed entry must contain
_ARTICLE_MIN_CONFIDENCE = 0.75  # confidence that an article is the published version of a preprint
_UNINDEXED_KINDS = re.compile(
    r"book|thesis|dissertation|online|webpage|website|misc|software|dataset|manual|report|standard"
    r"|patent|unpublished|legislation|electronic",
    re.I,
)


@dataclass(frozen=True, slots=True)
class CheckedReference:
    """The result of checking one reference.

    ``paper`` is the record that the reference was compared with, or None. ``status`` is one of
    ``verified``, ``differs`` (the right paper, with ``differences`` in its fields),
    ``wrong_paper`` (the identifier is of another paper), ``not_found``, ``unsure`` (candidates
    only) and ``could_not_tell``. ``said`` is the reason in words. ``warnings`` lists later notices
    about the paper, each with its kind. ``meant`` is the paper that the entry's words name if its
    identifier names another paper or is missing. ``silent`` says why a preferred source did not
    respond, if the record is from another source.
    """

    reference: ListedReference
    status: Status
    paper: Paper | None = None
    differences: tuple[str, ...] = ()
    said: str = ""
    warnings: tuple[tuple[WarningKind, str], ...] = ()
    meant: str = ""
    silent: str = ""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the reference's fault, with which the user can accept it."""
        return self._build_fingerprint(self.status, *self.differences)

    def build_warning_fingerprint(self, warned: WarningKind) -> str:
        """Return the fingerprint of one warning."""
        return self._build_fingerprint(warned)

    def _build_fingerprint(self, *found: str) -> str:
        entry = self.reference.words or f"{self.reference.key} {self.reference.paper.title}"
        return compute_finding_fingerprint("reference", entry, str(self.reference.ids), *found)

    @property
    def ids(self) -> Ids:
        """The identifiers of the cited paper, from its record if there is one."""
        return self.paper.ids if self.paper else self.reference.ids


def check_references(
    references: Sequence[ListedReference], web: Web, shelf: Shelf, sources: Sequence[Source]
) -> list[CheckedReference]:
    """Check references; return one result for each, in order."""
    known, silent = _fetch_records(
        [reference.ids for reference in references if reference.ids], web, sources
    )
    checked = [
        replace(
            _check_reference_with_ids(reference, known[reference.ids], shelf),
            silent=silent.get(reference.ids, ""),
        )
        if reference.ids
        else None
        for reference in references
    ]
    sought = [
        at
        for at, one in enumerate(checked)
        if (one is None or one.status in ("wrong_paper", "not_found"))
        and (references[at].paper.title or references[at].paper.pages)
    ]
    found = _resolve_by_words([references[at] for at in sought], web, sources)
    for at, resolution in zip(sought, found, strict=True):
        checked[at] = _merge_resolution(references[at], checked[at], resolution)
    return [
        _add_published_version(one or _build_unreadable_result(reference), web, sources)
        for reference, one in zip(
            references, _check_resolved_references(checked, web, sources), strict=True
        )
    ]


def _fetch_records(
    named: Sequence[Ids], web: Web, sources: Sequence[Source]
) -> tuple[dict[Ids, Paper | PaperError], dict[Ids, str]]:
    """Return the records by identifiers, and the message of each preferred source that failed."""
    silent: dict[Ids, PaperError] = {}
    known = look_up_records(list(dict.fromkeys(named)), web, sources, silent) if named else {}
    return known, {ids: miss.message for ids, miss in silent.items()}


def _check_reference_with_ids(
    reference: ListedReference, found: Paper | PaperError, shelf: Shelf
) -> CheckedReference:
    """Compare a reference that has an identifier with the record of that identifier."""
    said = ""
    if isinstance(found, PaperError) and not isinstance(found, NotFound):
        stored = shelf.find_text(reference.ids)
        if not (stored and stored.paper.title):
            return CheckedReference(reference, "could_not_tell", said=found.text)
        said = f"By the record on the shelf of {stored.saved_at[:10]}: {found.message}"
        found = stored.paper
    if isinstance(found, PaperError):
        return CheckedReference(reference, "not_found", said=found.message)
    return (
        replace(compare_with_record(reference, found), said=said)
        if said
        else compare_with_record(reference, found)
    )


def compare_with_record(reference: ListedReference, paper: Paper) -> CheckedReference:
    """Compare a reference with a record."""
    if _is_other_paper(reference, paper):
        said = f"{reference.ids or paper.ids} is “{paper.title}”."
        return CheckedReference(reference, "wrong_paper", paper, said=said)
    differences = tuple(_find_field_differences(reference, paper))
    status: Status = "differs" if differences else "verified"
    return CheckedReference(
        reference, status, paper, differences, warnings=_find_notice_warnings(paper)
    )


def _is_other_paper(reference: ListedReference, paper: Paper) -> bool:
    """Return whether the titles differ; False if the entry has neither a text nor a title."""
    if not paper.title:
        return False
    if reference.words:
        if is_same_journal_place(reference.words, paper):
            return False
        return _measure_title_share_in_entry(
            paper.title, reference.words
        ) < _PRINTED_MIN_SHARE - 0.3 and not any(
            _measure_title_share_in_entry(other, reference.words) >= _PRINTED_MIN_SHARE
            for other in (paper.vernacular_title,)
            if other
        )
    if not reference.paper.title:
        return False
    return measure_title_likeness(
        reference.paper.title, paper.title
    ) < _SAME_TITLE_LIKENESS - 0.2 and (
        compare_titles(ComparedRecord(reference.paper), ComparedRecord(paper)) == "differ"
    )


def _measure_title_share_in_entry(title: str, words: str) -> float:
    """Return the share of a title's words that an entry contains in order."""
    from difflib import SequenceMatcher

    ours, theirs = split_title_words(title), fold_words(words)
    if not ours:
        return 1.0
    if " ".join(ours) in " ".join(theirs):
        return 1.0
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    same = sum(size for _, _, size in matcher.get_matching_blocks())
    return same / len(ours)


def _find_field_differences(reference: ListedReference, paper: Paper) -> Iterator[str]:
    """Yield the fields in which the entry and the record differ."""
    if reference.words:
        yield from find_printed_differences(reference.words, paper)
        return
    ours, theirs = ComparedRecord(reference.paper), ComparedRecord(paper)
    if ours.titles and compare_titles(ours, theirs) == "differ":
        yield f"title: “{reference.paper.title}”, the record has “{paper.title}”"
    yield from _find_author_differences(reference, paper)
    years = {paper.year, paper.entered[:4]} - {""}
    year = reference.paper.year
    if year and paper.year and year not in years:
        yield f"year: {year}, the record has {paper.year}"
    if compare_journals(ours, theirs) == "differ" and not is_only_preprint(paper):
        yield f"journal: “{reference.paper.journal}”, the record has “{paper.journal}”"
    if compare_volumes(ours, theirs) == "differ":
        yield f"volume: {reference.paper.volume}, the record has {paper.volume}"
    if compare_pages(ours, theirs) == "differ":
        yield f"pages: {reference.paper.pages}, the record has {paper.pages}"


def _find_author_differences(reference: ListedReference, paper: Paper) -> Iterator[str]:
    """Yield the difference between the entry's authors and the record's."""
    real = [author for author in paper.authors if author.family or author.collective]
    if not real:
        return
    said = [
        author
        for author in reference.paper.authors
        if author.family.lower() not in ("others", "et al")
    ]
    if not said:
        return
    if not _is_same_name(said[0], real[0]) and not said[0].collective:
        yield f"authors: {said[0].name} first, the record has {real[0].name}"
        return
    strange = [one for one in said if not any(_is_same_name(one, other) for other in real)]
    if strange and not any(one.collective for one in strange):
        yield f"authors: {strange[0].name} is none of the record's"
    elif turned := _find_swapped_authors(said, real):
        yield f"authors: {turned[0].name} before {turned[1].name}, in the record behind"


def _find_swapped_authors(
    said: Sequence[Author], real: Sequence[Author]
) -> tuple[Author, Author] | None:
    """Return two authors whose order differs in the record; repeated names are skipped."""
    placed = []
    for one in said:
        at = [place for place, other in enumerate(real) if _is_same_name(one, other)]
        if len(at) == 1 and not one.collective:
            placed.append((at[0], one))
    return next(((one, other) for (at, one), (to, other) in pairwise(placed) if at > to), None)


def _is_same_name(ours: Author, theirs: Author) -> bool:
    one, other = ("".join(fold_words(a.family or a.collective)) for a in (ours, theirs))
    short, long = sorted((one, other), key=len)
    if short == long:
        return True
    parted = (
        fold_words(f"{theirs.given} {theirs.family}"),
        fold_words(f"{ours.given} {ours.family}"),
    )
    turned = sorted(parted[0]) == sorted(parted[1])  # given and family name may be swapped
    return turned or (len(short) >= 4 and (long.startswith(short) or long.endswith(short)))


def _find_notice_warnings(paper: Paper) -> tuple[tuple[WarningKind, str], ...]:
    """Return a paper's later notices, and a warning if the paper itself is a retraction notice."""
    found: dict[WarningKind, str] = {}
    if _is_retraction_notice(paper):
        found["retraction_notice"] = "it announces that another paper is retracted; cite it as such"
    for notice in paper.notices:
        if kind := _NOTICES.get(notice.kind):
            found.setdefault(kind, _format_notice(notice))
    if paper.retracted:
        found.setdefault("retracted", "its record says so")
    return tuple(found.items())


def _is_retraction_notice(paper: Paper) -> bool:
    titled = is_notice_title(paper.title) and "retraction" in split_title_words(paper.title)[:3]
    return titled or not _RETRACTION_NOTICES.isdisjoint(paper.publication_types)


def _format_notice(notice: Notice) -> str:
    pmid = f"PMID {notice.pmid}" if notice.pmid else ""
    return ", ".join(filter(None, (notice.reference, pmid)))


def _resolve_by_words(
    references: Sequence[ListedReference], web: Web, sources: Sequence[Source]
) -> list[Resolution]:
    """Search for references by their words, and return the result for each."""
    entries = [ListEntry(_format_query(one), Ids(), one.paper) for one in references]
    try:
        return list(resolve_entries(entries, web, sources)) if entries else []
    except NotConfigured as missing:
        return [
            Resolution(entry.asked, "could_not_tell", message=missing.text) for entry in entries
        ]


def _format_query(reference: ListedReference) -> str:
    """Return the citation text to search for."""
    paper = reference.paper
    first = paper.authors[0].family if paper.authors else ""
    return format_citation(first, paper.year, paper.title, paper.journal) or reference.key


def _merge_resolution(
    reference: ListedReference, checked: CheckedReference | None, found: Resolution
) -> CheckedReference:
    """Return the check of the identifier, with the paper that was found by words."""
    if found.status == "resolved":
        if checked:
            return replace(checked, meant=", ".join(found.ids.names()))
        return CheckedReference(reference, "unsure", Paper(found.ids), meant=str(found.ids))
    if checked:
        return checked
    if meant := _check_found_paper(reference, found):
        return meant
    if found.status == "candidates":
        told = "; ".join(map(str, found.candidates[:3]))
        return CheckedReference(reference, "unsure", said=f"It may be {told}")
    if found.status == "not_found" and not _UNINDEXED_KINDS.search(reference.kind):
        return CheckedReference(reference, "not_found", said="No source that was asked has it.")
    if found.status == "not_found":
        said = f"No database of papers has it; it is said to be {reference.kind}."
        return CheckedReference(reference, "could_not_tell", said=said)
    return CheckedReference(reference, "could_not_tell", said=found.message)


def _check_found_paper(reference: ListedReference, found: Resolution) -> CheckedReference | None:
    """Compare an entry with the paper that has its title; return None without such a paper.

    Where a site did not answer, only agreement counts: that site may have a better record.
    """
    held = [
        compare_with_record(reference, paper)
        for paper in found.titled
        if _is_entry_without_id_of_paper(reference, paper)
    ]
    if not held:
        return None
    best = min(held, key=lambda one: len(one.differences))
    if best.status == "verified" or found.status != "could_not_tell":
        return replace(best, said=f"Found as {best.ids}.")
    return None


def _is_entry_without_id_of_paper(reference: ListedReference, paper: Paper) -> bool:
    """Return whether an entry without identifier means a paper, although a field may be wrong."""
    if reference.words:
        return is_entry_of_paper(reference.words, paper)
    if measure_title_likeness(reference.paper.title, paper.title) < _SAME_TITLE_LIKENESS:
        return False
    said, real = reference.paper.authors, paper.authors
    return any(_is_same_name(one, other) for one in said for other in real)


def _check_resolved_references(
    checked: Sequence[CheckedReference | None], web: Web, sources: Sequence[Source]
) -> list[CheckedReference | None]:
    """Compare the references that were resolved by words with the records found."""
    found = [one.ids for one in checked if one and one.status == "unsure" and one.paper]
    known, silent = _fetch_records(found, web, sources)
    made: list[CheckedReference | None] = []
    for one in checked:
        paper = known.get(one.ids) if one and one.status == "unsure" and one.paper else None
        if one and isinstance(paper, Paper):
            said = f"Found as {paper.ids}."
            held = compare_with_record(one.reference, paper)
            made.append(replace(held, said=said, silent=silent.get(one.ids, "")))
        elif one and isinstance(paper, PaperError):
            made.append(replace(one, status="could_not_tell", paper=None, said=paper.message))
        else:
            made.append(one)
    return made


def _build_unreadable_result(reference: ListedReference) -> CheckedReference:
    """Return the result for a reference without identifier and title."""
    said = "It names neither an identifier nor a title that could be read."
    return CheckedReference(reference, "could_not_tell", said=said)


def _add_published_version(
    checked: CheckedReference, web: Web, sources: Sequence[Source]
) -> CheckedReference:
    """Add a warning with the published version of a cited preprint."""
    paper = checked.paper
    if not paper or checked.status not in ("verified", "differs") or not is_only_preprint(paper):
        return checked
    named = next((notice for notice in paper.notices if notice.kind == "update"), None)
    article = _format_notice(named) if named else _describe_published_version(paper, web, sources)
    if not article:
        return checked
    return replace(checked, warnings=(*checked.warnings, ("preprint", f"published as {article}")))


def _describe_published_version(paper: Paper, web: Web, sources: Sequence[Source]) -> str:
    """Return a description of the article that a preprint became; empty if none was found."""
    wanted = WantedReference(replace(paper, ids=Ids(), journal="", publication_types=()))
    for step in (find_by_title, find_at_crossref):
        try:
            step([wanted], web, sources)
        except PaperError:  # a failed search does not show that the preprint has no article
            continue
        for other, _ in iterate_candidates(wanted):
            said = judge_pair(paper, other)
            if said.relation == "preprint_of" and said.confidence >= _ARTICLE_MIN_CONFIDENCE:
                return f"{other.ids} ({other.journal or 'journal unknown'}, {other.year})"
    return ""
