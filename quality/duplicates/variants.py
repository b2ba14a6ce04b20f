"""One paper, written down the way other databases, other people and other decades do it.

Each variant takes a record and says what it becomes, or None where it would change nothing. Most
lose their identifiers: with a shared one, there is nothing to judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from random import Random

from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

Variant = Callable[[Paper, Random], Paper | None]

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "μ": "mu"}
_SPELLINGS = (("ise", "ize"), ("our", "or"), ("aem", "em"), ("oed", "ed"), ("tre", "ter"))


def upper_case(paper: Paper, _: Random) -> Paper | None:
    """An old record in capitals."""
    return _differs(paper, title=paper.title.upper())


def title_case(paper: Paper, _: Random) -> Paper | None:
    return _differs(paper, title=paper.title.title().rstrip("."))


def html_markup(paper: Paper, rng: Random) -> Paper | None:
    """A word in italics, figures lowered, signs as entities."""
    words = paper.title.replace("&", "&amp;").split(" ")
    at = rng.randrange(len(words))
    words[at] = f"<i>{words[at]}</i>"
    return _differs(paper, title=re.sub(r"(?<=[A-Za-z])(\d)\b", r"<sub>\1</sub>", " ".join(words)))


def latex_markup(paper: Paper, rng: Random) -> Paper | None:
    words = paper.title.split(" ")
    at = rng.randrange(len(words))
    words[at] = rf"\textit{{{words[at]}}}"
    title = re.sub(r"(?<=[A-Za-z])(\d)\b", r"$_{\1}$", " ".join(words))
    for letter, name in _GREEK.items():
        title = title.replace(letter, rf"$\{name}$")
    return _differs(paper, title=title)


def greek_spelled(paper: Paper, _: Random) -> Paper | None:
    title = paper.title
    for letter, name in _GREEK.items():
        title = title.replace(letter, name)
    return _differs(paper, title=title) if title != paper.title else None


def greek_letter(paper: Paper, _: Random) -> Paper | None:
    title = paper.title
    for letter, name in _GREEK.items():
        title = re.sub(rf"\b{name}\b", letter, title)
    return _differs(paper, title=title) if title != paper.title else None


def other_signs(paper: Paper, _: Random) -> Paper | None:
    """Curly quotes, long dashes, hyphens left out, no full stop."""
    title = paper.title.replace("'", "’").replace(" - ", " — ").replace("-", " ").rstrip(".")
    return _differs(paper, title=title.replace(": ", ". "))


def without_subtitle(paper: Paper, _: Random) -> Paper | None:
    main, colon, rest = paper.title.partition(": ")
    enough = len(main.split()) >= 5 and rest
    return _differs(paper, title=main) if colon and enough else None


def cut_short(paper: Paper, _: Random) -> Paper | None:
    return _differs(paper, title=paper.title[:70] + "…") if len(paper.title) > 80 else None


def mistyped(paper: Paper, rng: Random) -> Paper | None:
    """Two letters of a long word changed places."""
    words = paper.title.split(" ")
    long = [at for at, word in enumerate(words) if len(word) > 7 and word.isalpha()]
    if not long or len(words) < 6:
        return None
    at, word = (chosen := rng.choice(long)), words[chosen]
    words[at] = word[:3] + word[4] + word[3] + word[5:]
    return _differs(paper, title=" ".join(words)) if words[at] != word else None


def british(paper: Paper, _: Random) -> Paper | None:
    title = paper.title
    for one, other in _SPELLINGS:
        title = re.sub(rf"(?<=\w\w){one}(?=\w)", other, title, count=1)
    return _differs(paper, title=title) if title != paper.title else None


def no_doi(paper: Paper, _: Random) -> Paper | None:
    """Nothing but the DOI is missing."""
    return _differs(paper)


def bare(paper: Paper, _: Random) -> Paper | None:
    """What a reference list says: title, first author, year, journal."""
    return _differs(paper, authors=paper.authors[:1], volume="", issue="", pages="", issn="")


def year_off(paper: Paper, rng: Random) -> Paper | None:
    """Online first: one source names the year before."""
    if not paper.year.isdigit() or not (paper.volume or paper.pages):
        return None
    return _differs(paper, published=str(int(paper.year) + rng.choice((-1, 1))))


def initials_only(paper: Paper, _: Random) -> Paper | None:
    people = tuple(
        replace(one, given="", initials=_initials(one)) if one.family else one
        for one in paper.authors
    )
    return _differs(paper, authors=people) if people else None


def whole_names(paper: Paper, _: Random) -> Paper | None:
    """Semantic Scholar and arXiv print names whole; the last word is taken for the family."""
    people = []
    for one in paper.authors:
        given, _space, family = f"{one.given} {one.family}".strip().rpartition(" ")
        people.append(Author(family=family, given=given) if one.family else one)
    return _differs(paper, authors=tuple(people), volume="", issue="") if people else None


def plain_letters(paper: Paper, _: Random) -> Paper | None:
    """Accents dropped, in names and title."""
    people = tuple(
        replace(one, family=_plain(one.family), given=_plain(one.given)) for one in paper.authors
    )
    title = _plain(paper.title)
    if (title, people) == (paper.title, paper.authors):
        return None
    return _differs(paper, title=title, authors=people)


def short_journal(paper: Paper, _: Random) -> Paper | None:
    short = paper.journal_abbreviation
    return _differs(paper, journal=short, journal_abbreviation="", issn="") if short else None


def full_pages(paper: Paper, _: Random) -> Paper | None:
    """``123-9`` written out, the volume without its part."""
    match = re.fullmatch(r"(\d+)-(\d+)", paper.pages)
    if not match or len(match[2]) >= len(match[1]):
        return None
    last = match[1][: -len(match[2])] + match[2]
    return _differs(paper, pages=f"{match[1]}–{last}", issue="")


def original_language(paper: Paper, _: Random) -> Paper | None:
    """The publisher's record, in the language of the paper."""
    if not paper.vernacular_title:
        return None
    return _differs(paper, title=paper.vernacular_title, vernacular_title="")


def retracted_title(paper: Paper, _: Random) -> Paper | None:
    """What publishers put in front of a title, and PubMed does not."""
    return _differs(paper, title=f"RETRACTED: {paper.title}") if paper.retracted else None


def group_only(paper: Paper, _: Random) -> Paper | None:
    """A consortium's paper, without the names of its people."""
    groups = tuple(one for one in paper.authors if one.collective)
    return _differs(paper, authors=groups) if groups and len(paper.authors) > 1 else None


VARIANTS: dict[str, Variant] = {
    one.__name__: one
    for one in (
        *(upper_case, title_case, html_markup, latex_markup, greek_spelled, greek_letter),
        *(other_signs, without_subtitle, cut_short, mistyped, british, no_doi, bare, year_off),
        *(initials_only, whole_names, plain_letters, short_journal, full_pages),
        *(original_language, retracted_title, group_only),
    )
}


def _differs(paper: Paper, **changes: object) -> Paper:
    kinds = paper.publication_types
    if paper.ids.doi and paper.ids.arxiv:  # other databases record the version of the journal
        kinds = tuple(kind for kind in kinds if kind != "Preprint")
    gone = {"ids": Ids(), "notices": (), "publication_types": kinds}
    return replace(paper, **{**gone, **changes})  # type: ignore[arg-type]


def _initials(one: Author) -> str:
    return one.initials or "".join(part[0] for part in re.split(r"[\s-]+", one.given) if part)


def _plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
