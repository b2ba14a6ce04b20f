"""Whether each reference exists, is the paper it says it is, and still stands.

An identifier is looked up (`..download.records`: mirror, PubMed, Europe PMC, Crossref, arXiv), what
has none is sought by its words (`..search.resolve`). Then the entry is held against the record,
field by field. A service that did not answer leaves *could not tell*; then the shelf's own record
speaks, if it has one, and it is said that it is old.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ..download.records import look_up
from ..errors import NotConfigured, NotFound, PaperError
from ..judges.titles import is_notice, title_likeness, title_words
from ..lists.pasted import Entry, format_citation
from ..model.identifiers import Ids
from ..model.paper import Author, Notice, Paper
from ..model.versions import only_a_preprint
from ..outline.words import folded
from ..search.reference_search import Wanted, find_at_crossref, find_by_title, yield_candidates
from ..search.resolve import Resolution, resolve
from ..search.same_paper import (
    ComparedRecord,
    compare_journals,
    compare_pages,
    compare_titles,
    compare_volumes,
    judge_pair,
)
from .parts import Reference
from .reading import fingerprint

if TYPE_CHECKING:
    from ..http import Web
    from ..shelf import Shelf
    from ..sources import Source

Status = Literal["verified", "differs", "wrong_paper", "not_found", "unsure", "could_not_tell"]
Warned = Literal["retracted", "retraction_notice", "expression_of_concern", "corrected", "preprint"]
_NOTICES: dict[str, Warned] = {
    "retraction": "retracted",
    "expression_of_concern": "expression_of_concern",
    "erratum": "corrected",
    "republication": "corrected",
}
# PubMed has had two names for it; Crossref's records have the title only.
_RETRACTION_NOTICES = frozenset(("Retraction Notice", "Retraction of Publication"))
_ALIKE = 0.8  # a title in other spelling; less is another title
_PRINTED = 0.9  # of a record's title that an entry must have
_SURE = 0.75  # that an article is what became of a preprint
_ELSEWHERE = re.compile(
    r"book|thesis|dissertation|online|webpage|website|misc|software|dataset|manual|report|standard"
    r"|patent|unpublished|legislation|electronic",
    re.I,
)


@dataclass(frozen=True, slots=True)
class CheckedReference:
    """What became of one reference.

    ``paper`` is the record it was held against, None where there is none. ``status``: ``verified``,
    ``differs`` (the paper, with ``differences`` in its fields), ``wrong_paper`` (its identifier is
    of another), ``not_found``, ``unsure`` (candidates only), ``could_not_tell``. ``said`` is the
    reason in words; ``warnings`` what was published about it since, with its kind; ``meant`` the
    paper that its words name, where its identifier names another or none; ``silent`` why somebody
    did not answer who is asked before the one whose record it was held against.
    """

    reference: Reference
    status: Status
    paper: Paper | None = None
    differences: tuple[str, ...] = ()
    said: str = ""
    warnings: tuple[tuple[Warned, str], ...] = ()
    meant: str = ""
    silent: str = ""

    @property
    def fingerprint(self) -> str:
        """The name of what is wrong with it, for `.checking`."""
        return self._fingerprint(self.status, *self.differences)

    def fingerprint_of(self, warned: Warned) -> str:
        """The name of one of its warnings."""
        return self._fingerprint(warned)

    def _fingerprint(self, *found: str) -> str:
        entry = self.reference.words or f"{self.reference.key} {self.reference.paper.title}"
        return fingerprint("reference", entry, str(self.reference.ids), *found)

    @property
    def ids(self) -> Ids:
        """The identifiers of the paper that is cited, as far as they are known."""
        return self.paper.ids if self.paper else self.reference.ids


def check_references(
    references: Sequence[Reference], web: Web, shelf: Shelf, sources: Sequence[Source]
) -> list[CheckedReference]:
    """One result for each, in their order."""
    known, silent = _known([one.ids for one in references if one.ids], web, sources)
    checked = [
        replace(_of_named(one, known[one.ids], shelf), silent=silent.get(one.ids, ""))
        if one.ids
        else None
        for one in references
    ]
    sought = [
        at
        for at, one in enumerate(checked)
        if (one is None or one.status in ("wrong_paper", "not_found"))
        and (references[at].paper.title or references[at].paper.pages)
    ]
    found = _sought([references[at] for at in sought], web, sources)
    for at, resolution in zip(sought, found, strict=True):
        checked[at] = _with_meant(references[at], checked[at], resolution)
    return [
        _with_article(one or _unread(reference), web, sources)
        for reference, one in zip(references, _looked_up(checked, web, sources), strict=True)
    ]


def _known(
    named: Sequence[Ids], web: Web, sources: Sequence[Source]
) -> tuple[dict[Ids, Paper | PaperError], dict[Ids, str]]:
    """What the papers are, and who was silent about those that others knew."""
    silent: dict[Ids, PaperError] = {}
    known = look_up(list(dict.fromkeys(named)), web, sources, silent) if named else {}
    return known, {ids: miss.message for ids, miss in silent.items()}


def _of_named(reference: Reference, found: Paper | PaperError, shelf: Shelf) -> CheckedReference:
    """A reference with an identifier, held against the record of that."""
    said = ""
    if isinstance(found, PaperError) and not isinstance(found, NotFound):
        stored = shelf.find(reference.ids)
        if not (stored and stored.paper.title):
            return CheckedReference(reference, "could_not_tell", said=str(found))
        said = f"By the record on the shelf of {stored.saved_at[:10]}: {found.message}"
        found = stored.paper
    if isinstance(found, PaperError):
        return CheckedReference(reference, "not_found", said=found.message)
    return replace(compare(reference, found), said=said) if said else compare(reference, found)


def compare(reference: Reference, paper: Paper) -> CheckedReference:
    """A reference held against a record."""
    if _is_another(reference, paper):
        said = f"{reference.ids or paper.ids} is “{paper.title}”."
        return CheckedReference(reference, "wrong_paper", paper, said=said)
    differences = tuple(_differences(reference, paper))
    status: Status = "differs" if differences else "verified"
    return CheckedReference(reference, status, paper, differences, warnings=_warnings(paper))


def _is_another(reference: Reference, paper: Paper) -> bool:
    """Whether the title is another one; an entry without words says nothing."""
    if not paper.title:
        return False
    if reference.words:
        return _printed_share(paper.title, reference.words) < _PRINTED - 0.3 and not any(
            _printed_share(other, reference.words) >= _PRINTED
            for other in (paper.vernacular_title,)
            if other
        )
    if not reference.paper.title:
        return False
    return title_likeness(reference.paper.title, paper.title) < _ALIKE - 0.2 and (
        compare_titles(ComparedRecord(reference.paper), ComparedRecord(paper)) == "differ"
    )


def _printed_share(title: str, words: str) -> float:
    """How much of a title an entry has, in its order."""
    from difflib import SequenceMatcher

    ours, theirs = title_words(title), folded(words)
    if not ours:
        return 1.0
    if " ".join(ours) in " ".join(theirs):
        return 1.0
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    same = sum(size for _, _, size in matcher.get_matching_blocks())
    return same / len(ours)


def _differences(reference: Reference, paper: Paper) -> Iterator[str]:
    """What the entry says otherwise than the record, field by field."""
    ours, theirs = ComparedRecord(reference.paper), ComparedRecord(paper)
    if reference.words:
        if paper.title and _printed_share(paper.title, reference.words) < _PRINTED:
            yield f"title: the record has “{paper.title}”"
    elif ours.titles and compare_titles(ours, theirs) == "differ":
        yield f"title: “{reference.paper.title}”, the record has “{paper.title}”"
    yield from _author_differences(reference, paper)
    years = {paper.year, paper.entered[:4]} - {""}
    year = reference.paper.year
    if year and paper.year and year not in years:
        yield f"year: {year}, the record has {paper.year}"
    if reference.words:
        return
    if compare_journals(ours, theirs) == "differ" and not only_a_preprint(paper):
        yield f"journal: “{reference.paper.journal}”, the record has “{paper.journal}”"
    if compare_volumes(ours, theirs) == "differ":
        yield f"volume: {reference.paper.volume}, the record has {paper.volume}"
    if compare_pages(ours, theirs) == "differ":
        yield f"pages: {reference.paper.pages}, the record has {paper.pages}"


def _author_differences(reference: Reference, paper: Paper) -> Iterator[str]:
    real = [one for one in paper.authors if one.family or one.collective]
    if not real:
        return
    if reference.words:
        if not _names_first(reference.words, real[0]):
            yield f"authors: the record's first is {real[0].name}"
        return
    said = [one for one in reference.paper.authors if one.family.lower() not in ("others", "et al")]
    if not said:
        return
    if not _same_name(said[0], real[0]) and not said[0].collective:
        yield f"authors: {said[0].name} first, the record has {real[0].name}"
        return
    strange = [one for one in said if not any(_same_name(one, other) for other in real)]
    if strange and not any(one.collective for one in strange):
        yield f"authors: {strange[0].name} is none of the record's"
    elif turned := _turned(said, real):
        yield f"authors: {turned[0].name} before {turned[1].name}, in the record behind"


def _turned(said: Sequence[Author], real: Sequence[Author]) -> tuple[Author, Author] | None:
    """Two authors that the record has the other way round; names it has twice say nothing."""
    placed = []
    for one in said:
        at = [place for place, other in enumerate(real) if _same_name(one, other)]
        if len(at) == 1 and not one.collective:
            placed.append((at[0], one))
    return next(((one, other) for (at, one), (to, other) in pairwise(placed) if at > to), None)


def _names_first(words: str, author: Author) -> bool:
    """Whether a printed entry begins with this author, as far as names can be told."""
    name = folded(author.family or author.collective)
    length = len(name)
    begins = folded(words)[: length + 4]
    return any(begins[at : at + length] == name for at in range(len(begins))) or (
        "".join(name) in "".join(begins)
    )


def _same_name(ours: Author, theirs: Author) -> bool:
    one, other = ("".join(folded(a.family or a.collective)) for a in (ours, theirs))
    short, long = sorted((one, other), key=len)
    if short == long:
        return True
    parted = folded(f"{theirs.given} {theirs.family}"), folded(f"{ours.given} {ours.family}")
    turned = sorted(parted[0]) == sorted(parted[1])  # which of the two is the family's
    return turned or (len(short) >= 4 and (long.startswith(short) or long.endswith(short)))


def _warnings(paper: Paper) -> tuple[tuple[Warned, str], ...]:
    """What was published about a paper since, and that it is itself the notice of a retraction."""
    found: dict[Warned, str] = {}
    if _is_retraction_notice(paper):
        found["retraction_notice"] = "it announces that another paper is retracted; cite it as such"
    for notice in paper.notices:
        if kind := _NOTICES.get(notice.kind):
            found.setdefault(kind, _notice(notice))
    if paper.retracted:
        found.setdefault("retracted", "its record says so")
    return tuple(found.items())


def _is_retraction_notice(paper: Paper) -> bool:
    titled = is_notice(paper.title) and "retraction" in title_words(paper.title)[:3]
    return titled or not _RETRACTION_NOTICES.isdisjoint(paper.publication_types)


def _notice(notice: Notice) -> str:
    pmid = f"PMID {notice.pmid}" if notice.pmid else ""
    return ", ".join(filter(None, (notice.reference, pmid)))


def _sought(
    references: Sequence[Reference], web: Web, sources: Sequence[Source]
) -> list[Resolution]:
    """What the words of references lead to."""
    entries = [Entry(_asked(one), Ids(), one.paper) for one in references]
    try:
        return list(resolve(entries, web, sources)) if entries else []
    except NotConfigured as missing:
        return [Resolution(one.asked, "could_not_tell", message=str(missing)) for one in entries]


def _asked(reference: Reference) -> str:
    paper = reference.paper
    first = paper.authors[0].family if paper.authors else ""
    return format_citation(first, paper.year, paper.title, paper.journal) or reference.key


def _with_meant(
    reference: Reference, checked: CheckedReference | None, found: Resolution
) -> CheckedReference:
    """What was found by the words, beside what the identifier said."""
    if found.status == "resolved":
        if checked:
            return replace(checked, meant=", ".join(found.ids.names()))
        return CheckedReference(reference, "unsure", Paper(found.ids), meant=str(found.ids))
    if checked:
        return checked
    if found.status == "candidates":
        told = "; ".join(map(str, found.candidates[:3]))
        return CheckedReference(reference, "unsure", said=f"It may be {told}")
    if found.status == "not_found" and not _ELSEWHERE.search(reference.kind):
        return CheckedReference(reference, "not_found", said="Nobody who was asked has it.")
    if found.status == "not_found":
        said = f"No database of papers has it; it is said to be {reference.kind}."
        return CheckedReference(reference, "could_not_tell", said=said)
    return CheckedReference(reference, "could_not_tell", said=found.message)


def _looked_up(
    checked: Sequence[CheckedReference | None], web: Web, sources: Sequence[Source]
) -> list[CheckedReference | None]:
    """Those that their words led to, held against the records of what was found."""
    found = [one.ids for one in checked if one and one.status == "unsure" and one.paper]
    known, silent = _known(found, web, sources)
    made: list[CheckedReference | None] = []
    for one in checked:
        paper = known.get(one.ids) if one and one.status == "unsure" and one.paper else None
        if one and isinstance(paper, Paper):
            said = f"Found as {paper.ids}."
            held = compare(one.reference, paper)
            made.append(replace(held, said=said, silent=silent.get(one.ids, "")))
        elif one and isinstance(paper, PaperError):
            made.append(replace(one, status="could_not_tell", paper=None, said=paper.message))
        else:
            made.append(one)
    return made


def _unread(reference: Reference) -> CheckedReference:
    said = "It names neither an identifier nor a title that could be read."
    return CheckedReference(reference, "could_not_tell", said=said)


def _with_article(
    checked: CheckedReference, web: Web, sources: Sequence[Source]
) -> CheckedReference:
    """With the published version, where a preprint is cited that has one."""
    paper = checked.paper
    if not paper or checked.status not in ("verified", "differs") or not only_a_preprint(paper):
        return checked
    named = next((one for one in paper.notices if one.kind == "update"), None)
    article = _notice(named) if named else _article_of(paper, web, sources)
    if not article:
        return checked
    return replace(checked, warnings=(*checked.warnings, ("preprint", f"published as {article}")))


def _article_of(paper: Paper, web: Web, sources: Sequence[Source]) -> str:
    wanted = Wanted(replace(paper, ids=Ids(), journal="", publication_types=()))
    for step in (find_by_title, find_at_crossref):
        try:
            step([wanted], web, sources)
        except PaperError:  # that the preprint has no article is not claimed
            continue
        for other, _ in yield_candidates(wanted):
            said = judge_pair(paper, other)
            if said.relation == "preprint_of" and said.confidence >= _SURE:
                return f"{other.ids} ({other.journal or 'journal unknown'}, {other.year})"
    return ""
