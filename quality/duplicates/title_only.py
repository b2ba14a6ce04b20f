"""References without identifiers, made of recorded papers, and papers that could be taken for them.

A *way* writes a paper down as some list does; a *trap* puts another paper in the place of the one
that is meant, which is then nowhere to be found. Half of either are held out: `HELD_OUT` was not
looked at while the rules of `utils.search.resolve` were made.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from quality.duplicates.lookalikes import LOOKALIKES, _moved, _next, preprint_of
from quality.duplicates.variants import VARIANTS
from utils.citations import format_nbib_record, format_ris_record
from utils.judges.titles import split_title_words
from utils.lists.references import read_file_entries
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.search.reference_search import WantedReference
from utils.search.resolve import Resolution, choose_candidate

Way = Callable[[Paper, Random], Paper | None]


# -- ways to write a paper down --------------------------------------------------------------


def as_it_is(paper: Paper, _: Random) -> Paper:
    return replace(paper, ids=Ids(), notices=())


def bracketed(paper: Paper, rng: Random) -> Paper:
    """As Embase has translated titles."""
    return replace(as_it_is(paper, rng), title=f"[{paper.title.strip('[]. ')}].")


def family_names_only(paper: Paper, rng: Random) -> Paper | None:
    people = tuple(Author(one.family) for one in paper.authors if one.family)
    return replace(as_it_is(paper, rng), authors=people) if people else None


def without_year(paper: Paper, rng: Random) -> Paper:
    return replace(as_it_is(paper, rng), published="")


def without_first_author(paper: Paper, rng: Random) -> Paper | None:
    found = replace(as_it_is(paper, rng), authors=paper.authors[1:])
    return found if len(paper.authors) > 1 else None


def without_authors(paper: Paper, rng: Random) -> Paper:
    return replace(as_it_is(paper, rng), authors=())


def without_journal(paper: Paper, rng: Random) -> Paper:
    nothing = {"journal": "", "journal_abbreviation": "", "issn": ""}
    return replace(as_it_is(paper, rng), **nothing)  # type: ignore[arg-type]


def truncated(paper: Paper, rng: Random) -> Paper | None:
    """A field that was too short for the title, and does not say so."""
    found = replace(as_it_is(paper, rng), title=paper.title[:62])
    return found if len(paper.title) > 75 else None


def first_page_only(paper: Paper, rng: Random) -> Paper | None:
    first = paper.pages.partition("-")[0]
    return replace(as_it_is(paper, rng), pages=first, issue="", issn="") if first else None


def lower_case_journal(paper: Paper, rng: Random) -> Paper | None:
    """As somebody types it."""
    name = re.sub(r"\band\b", "&", paper.journal.lower().removeprefix("the "))
    return replace(as_it_is(paper, rng), journal=name, journal_abbreviation="", issn="")


_OLD = VARIANTS
TUNING: dict[str, Way] = {
    "as it is": as_it_is,
    "upper case": _OLD["upper_case"],
    "brackets and full stop": bracketed,
    "without subtitle": _OLD["without_subtitle"],
    "abbreviated journal": _OLD["short_journal"],
    "family names only": family_names_only,
    "wrong year": _OLD["year_off"],
    "Greek spelled": _OLD["greek_spelled"],
    "title, first author, year, journal": _OLD["bare"],
    "initials only": _OLD["initials_only"],
    "whole names": _OLD["whole_names"],
}
HELD_OUT: dict[str, Way] = {
    "no diacritics": _OLD["plain_letters"],
    "truncated": truncated,
    "cut short with dots": _OLD["cut_short"],
    "typing error": _OLD["mistyped"],
    "without year": without_year,
    "first author missing": without_first_author,
    "no authors": without_authors,
    "no journal": without_journal,
    "markup": _OLD["html_markup"],
    "British spelling": _OLD["british"],
    "original language": _OLD["original_language"],
    "first page only": first_page_only,
    "journal as typed": lower_case_journal,
    "other signs": _OLD["other_signs"],
}


# -- other papers in its place ---------------------------------------------------------------


def comment(paper: Paper, _: Random) -> Paper:
    """PubMed gives some comments the title of what they are about."""
    return _beside(paper, publication_types=("Comment",), pages=_moved(paper, -5), authors=(ZZ, ZY))


def own_comment(paper: Paper, _: Random) -> Paper:
    """The authors' answer, under the same title, some months later."""
    kinds = ("Comment", "Letter")
    return _beside(paper, publication_types=kinds, pages=_moved(paper, 210), issue="")


def retraction(paper: Paper, _: Random) -> Paper:
    kinds = ("Retraction of Publication",)
    later = str(int(paper.year) + 1) if paper.year.isdigit() else ""
    return _beside(
        paper, publication_types=kinds, published=later, volume=_next(paper, 1), pages=""
    )


def updated_review(paper: Paper, _: Random) -> Paper:
    """A Cochrane review keeps title, people and number through its versions."""
    later = str(int(paper.year) + 1) if paper.year.isdigit() else ""
    volume = _next(paper, 1) or "2"
    return _beside(paper, published=later, volume=volume, issue="11")


def in_two_journals(paper: Paper, _: Random) -> Paper:
    """A guideline that two societies publish in the same month."""
    other = {"journal": "Archives of Invented Guidelines", "journal_abbreviation": "", "issn": ""}
    return _beside(paper, volume="3", pages="7", **other)


def column(paper: Paper, _: Random) -> Paper:
    """The same heading by the same people in the next issue."""
    return _beside(
        paper, issue=_bumped(paper.issue), pages=_moved(paper, 133), published=paper.year
    )


def congress(paper: Paper, _: Random) -> Paper:
    """The talk, among the abstracts of a congress in the same volume."""
    kinds = ("Meeting Abstract",)
    return _beside(paper, publication_types=kinds, issue="15_suppl", pages="e15512")


ZZ, ZY = Author("Zzyzx", "Quinn", "Q"), Author("Zymurgy", "Una", "U")
_LIKE: Mapping[str, Way] = LOOKALIKES
TUNING_TRAPS: dict[str, Way] = {
    "nothing in its place": lambda _paper, _rng: None,
    "part two": _LIKE["second_part"],
    "reply or comment by its title": _LIKE["reply"],
    "erratum by its title": _LIKE["erratum"],
    "erratum by its type": _LIKE["erratum_by_type"],
    "next year's": _LIKE["next_year"],
    "conference abstract": _LIKE["conference_abstract"],
    "preprint": preprint_of,
    "other people": _LIKE["other_people"],
}
HELD_OUT_TRAPS: dict[str, Way] = {
    "part one": _LIKE["first_part"],
    "years later": _LIKE["years_later"],
    "update": _LIKE["update"],
    "talk in a supplement": _LIKE["talk_in_supplement"],
    "protocol": _LIKE["protocol"],
    "other organism": _LIKE["other_organism"],
    "opposite finding": _LIKE["opposite"],
    "other number": _LIKE["other_number"],
    "comment of the same title": comment,
    "authors' answer of the same title": own_comment,
    "retraction notice": retraction,
    "new version of a review": updated_review,
    "in two journals": in_two_journals,
    "column of the next issue": column,
    "congress abstract, same volume": congress,
}
# What a list says where a trap is laid: all there is, and the usual least.
_SAID: tuple[Way, ...] = (as_it_is, _OLD["bare"])


def _beside(paper: Paper, **changes: object) -> Paper:
    return replace(paper, ids=Ids(), notices=(), vernacular_title="", **changes)  # type: ignore[arg-type]


def _bumped(issue: str) -> str:
    return str(int(issue) + 1) if issue.isdigit() else "9"


# -- cases -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """A reference, the paper it means (nothing where that is nowhere), and what is in its place."""

    kind: str
    held_out: bool
    said: Paper
    meant: Paper
    there: bool = True
    beside: Paper | None = None


def cases(papers: Sequence[Paper], each: int, seed: int = 6) -> Iterator[Case]:
    """*each* cases of every kind, over papers of which enough is known to write a reference."""
    rng = Random(seed)
    known = [one for one in papers if one.title and one.year and (one.journal or one.authors)]
    for held_out, ways in ((False, TUNING), (True, HELD_OUT)):
        for kind, way in ways.items():
            yield from _of_way(kind, way, held_out, known, each, rng)
    for held_out, traps in ((False, TUNING_TRAPS), (True, HELD_OUT_TRAPS)):
        for kind, trap in traps.items():
            yield from _of_trap(kind, trap, held_out, known, each, rng)


def _of_way(
    kind: str, way: Way, held_out: bool, known: Sequence[Paper], each: int, rng: Random
) -> Iterator[Case]:
    made = 0
    for paper in rng.sample(known, len(known)):
        if made < each and (said := way(paper, rng)):
            made += 1
            yield Case(kind, held_out, as_listed(said, made), paper)


def _of_trap(
    kind: str, trap: Way, held_out: bool, known: Sequence[Paper], each: int, rng: Random
) -> Iterator[Case]:
    made = 0
    for paper in rng.sample(known, len(known)):
        beside = trap(paper, rng) if made < each else None
        if made < each and (beside or trap is TUNING_TRAPS["nothing in its place"]):
            said = _SAID[made % len(_SAID)](paper, rng)
            made += 1
            named = beside and replace(beside, ids=beside.ids or Ids(pmid=str(90_000_000 + made)))
            assert said
            yield Case(kind, held_out, as_listed(said, made), paper, there=False, beside=named)


def as_listed(said: Paper, number: int) -> Paper:
    """A reference as our readers read it out of a RIS or NBIB file, or a table."""
    bare = replace(said, abstract="", keywords=(), mesh=(), ids=Ids(), other_abstracts=())
    texts = (format_ris_record, format_nbib_record, _to_csv)
    [entry] = read_file_entries(
        texts[number % len(texts)](bare).encode("utf-8", "replace"), "list.csv"
    )
    assert entry.paper, said
    return entry.paper


def _to_csv(paper: Paper) -> str:
    """A row as Covidence writes it."""
    people = "; ".join(one.collective or f"{one.family}, {one.given or one.initials}".rstrip(", ") for one in paper.authors)  # fmt: skip  # noqa: E501
    cells = (paper.title, people, paper.year, paper.journal or paper.journal_abbreviation)
    row = [*cells, paper.volume, paper.issue, paper.pages]
    quoted = ",".join('"' + " ".join(cell.replace('"', '""').split()) + '"' for cell in row)
    return f"Title,Authors,Published Year,Journal,Volume,Issue,Pages\n{quoted}\n"


# -- candidates, without a site --------------------------------------------------------------


class Nearby:
    """All papers a reference could be taken for: those that share most words of the title.

    And those at the same page of the same volume: more than any site would name.
    """

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.papers = papers
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._by_place: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, paper in enumerate(papers):
            for word in _words(paper):
                self._by_word[word].append(at)
            self._by_place[_place(paper)].append(at)

    def of(self, case: Case, most: int = 25) -> list[Paper]:
        shared = Counter(at for word in _words(case.said) for at in self._by_word.get(word, ()))
        near = [at for at, _ in shared.most_common(most)]
        near += self._by_place.get(_place(case.said), [])[:most]
        found = [self.papers[at] for at in dict.fromkeys(near)]
        found = [one for one in found if one is not case.meant]
        found += [case.meant] if case.there else []
        return found + ([case.beside] if case.beside else [])


def _words(paper: Paper) -> set[str]:
    return {
        word
        for word in split_title_words(f"{paper.title} {paper.vernacular_title}")
        if len(word) > 3
    }


def _place(paper: Paper) -> tuple[str, str]:
    return paper.volume, paper.pages.partition("-")[0]


# -- how it went -----------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    """Of the references of one kind: resolved rightly, wrongly, and left to a person."""

    right: int = 0
    wrong: int = 0
    left: int = 0
    named: int = 0  # of those left, where the paper is among the candidates
    mistakes: list[tuple[Case, Resolution]] = field(default_factory=list)

    def add(self, case: Case, found: Resolution) -> None:
        if not found.ids:
            self.left += 1
            names = {name for one in found.candidates for name in one.paper.ids.names()}
            self.named += bool(case.there and names & set(case.meant.ids.names()))
        elif case.there and is_meant(case, found):
            self.right += 1
        else:
            self.wrong += 1
            self.mistakes.append((case, found))


def is_meant(case: Case, found: Resolution) -> bool:
    """Whether a reference was resolved to the paper that it means."""
    shared = set(found.ids.names()) & set(case.meant.ids.names())
    return bool(shared) and not found.ids.clash(case.meant.ids)


def judged(papers: Sequence[Paper], each: int, seed: int = 6) -> dict[tuple[bool, str], Score]:
    """How the rules decide about candidates, by kind; the key says whether it was held out."""
    nearby, scores = Nearby(papers), defaultdict[tuple[bool, str], Score](Score)
    for case in cases(papers, each, seed):
        wanted = WantedReference(case.said, [(one, "PubMed") for one in nearby.of(case)])
        scores[case.held_out, case.kind].add(case, choose_candidate(wanted))
    return dict(scores)
