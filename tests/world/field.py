"""A field of invented papers, as many as wanted: what a bulk harvest is tried on.

Nothing is stored: a paper is made from its number whenever somebody asks for it, so that a field
of 100,000 costs hardly any memory. ``field[ti]`` finds all of them. Every hundred papers in a row
hold the same mix of ways to be had, in an order of their own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from tests.world.index import padded, subsets
from utils.demo.papers import ARXIV, MEMBRANE, SIGNALS, TISSUE
from utils.demo.pubmed_xml import initials
from utils.demo.records import Journal, Person, Record
from utils.demo.topics import TOPICS

_FIRST_PMID = 60_000_001
_FIRST_DAY, _DAYS = date(2016, 1, 4), 3_650
_LICENSES = ("CC BY", "CC BY", "CC BY", "CC BY-NC", "CC BY-NC-ND")
_JOURNALS = (
    MEMBRANE, TISSUE, SIGNALS,
    Journal("Field Notes in Physiology", "Field Notes Physiol", "2917-0063", "Meadow", "10.9106"),
    Journal("Open Bench", "Open Bench", "2917-0071", "Summit", "10.9107"),
    Journal("Northern Letters on Biology", "North Lett Biol", "2917-0088", "Harbour", "10.9108"),
)  # fmt: skip
_FAMILIES = (
    *("Adeyemi", "Bergström", "Castellanos", "Dimitrova", "Eriksen", "Fontaine", "Guðmundsdóttir"),
    *("Hashimoto", "Ivanović", "Jansen", "Kowalczyk", "Laurent", "Mbeki", "Novák", "Oyarzún"),
    *("Papadaki", "Quintero", "Rasmussen", "Saarinen", "Tremblay", "Ueda", "Vasquez", "Wójcik"),
)
_GIVEN = ("Ada M", "Bruno", "Chiara", "Dmitri", "Elif S", "Farid", "Greta", "Hugo L", "Ines")
_SYLLABLES = ("ba", "do", "ki", "lu", "me", "na", "po", "ra", "si", "tu")
_SYLLABLES += ("vo", "ze", "gri", "sta", "nor", "hal", "kem", "lin", "dur", "fey")

# Share of a hundred, the branch of the ladder, and what is particular about such a record.
_IN_PMC = {"cloud": (1,), "efetch": "body", "europepmc": True}
_MIX: tuple[tuple[int, str, dict[str, Any]], ...] = (
    (40, "pmc_cloud", _IN_PMC),
    (2, "pmc_cloud_versions", _IN_PMC | {"cloud": (1, 2)}),
    (3, "pmc_manuscript", _IN_PMC | {"manuscript": True, "license": "TDM"}),
    (2, "retracted", _IN_PMC | {"types": ("Journal Article", "Retracted Publication")}),
    (6, "efetch_only", {"efetch": "body"}),
    (4, "europepmc_only", {"efetch": "front", "europepmc": True}),
    (6, "unpaywall_pdf", {"unpaywall": "pdf"}),
    (3, "unpaywall_html", {"unpaywall": "html"}),
    (3, "arxiv", {"unpaywall": "unknown"}),
    (6, "publisher_html", {"page": "article"}),
    (4, "publisher_pdf", {"page": "pdf"}),
    (1, "publisher_multi_hop", {"page": "multi_hop"}),
    (1, "publisher_meta_refresh", {"page": "meta_refresh"}),
    (1, "publisher_picky", {"page": "picky"}),
    (2, "jina_only", {"page": "forbidden"}),
    (1, "scholar_copy", {"scholar": "copy", "page": "captcha"}),
    (1, "archived", {"unpaywall": "dead"}),
    (1, "crossref_mined", {"mined": "crossref", "page": "captcha", "license": ""}),
    # These only for who has a key.
    (1, "paywall", {"page": "paywall", "mined": "elsevier", "license": ""}),
    (1, "paywall", {"page": "paywall", "mined": "wiley", "license": ""}),
    (1, "paywall", {"page": "paywall", "mined": "springer", "license": ""}),
    (1, "captcha", {"page": "captcha", "core": "file"}),
    (1, "bot_check", {"page": "bot_check", "openalex_file": "pdf"}),
    (1, "login", {"page": "login", "mined": "elsevier", "license": ""}),
    (1, "wrong_paper", {"page": "wrong_paper"}),
    (1, "partial", {"page": "partial"}),
    (5, "abstract_only", {}),
)
_PREFIXES = {"elsevier": "10.1016", "wiley": "10.1002", "springer": "10.1007"}
_KINDS = [at for at, (share, *_) in enumerate(_MIX) for _ in range(share)]


class Field(Sequence[Record]):
    """Papers by number, and by every name they go by."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [_made(at) for at in range(self.size)[number]]
        return _made(range(self.size)[number])

    def entries(self) -> list[FieldEntry]:
        """What PubMed's search sees of them."""
        return [FieldEntry(number) for number in range(self.size)]

    def by_pmid(self, name: str) -> Record | None:
        """The paper with this PMID."""
        return self._numbered(name, r"(\d{8})", _FIRST_PMID, "pmid")

    def by_pmcid(self, name: str) -> Record | None:
        """The paper with this PMCID, if it is in PMC."""
        return self._numbered(name, r"PMC(\d{8})", _FIRST_PMID, "pmcid")

    def by_doi(self, name: str) -> Record | None:
        """The paper with this DOI, arXiv's included."""
        if name.startswith("10.48550/arxiv."):
            return self.by_arxiv(name.removeprefix("10.48550/arxiv."))
        return self._numbered(name, r"10\.\d+/field\.(\d+)", 0, "doi")

    def by_arxiv(self, name: str) -> Record | None:
        """The preprint with this arXiv identifier."""
        match = re.fullmatch(r"9(\d)(0[1-9]|1[0-2])\.(\d{5})", name)
        number = (int(match[1]) * 12 + int(match[2]) - 1) * 100_000 + int(match[3]) if match else ""
        return self._numbered(str(number), r"(\d+)", 0, "arxiv")

    def _numbered(self, name: str, pattern: str, first: int, kind: str) -> Record | None:
        match = re.fullmatch(pattern, name)
        number = int(match[1]) - first if match else -1
        if not 0 <= number < self.size:
            return None
        record = _made(number)
        return record if getattr(record, kind) else None


class FieldEntry:
    """A paper of the field as the search sees it; see `index.Entry`.

    Only the title is kept: a hundred thousand whole entries would fill a hundred megabytes. Of the
    abstract nothing is searched.
    """

    __slots__ = ("number", "title")
    abstract = " "
    language = " eng "

    def __init__(self, number: int) -> None:
        self.number = number
        self.title = padded(_title(number))

    @property
    def record(self) -> Record:
        return _made(self.number)

    @property
    def revised(self) -> str:
        return self.entered

    @property
    def pmid(self) -> str:
        return str(_FIRST_PMID + self.number)

    @property
    def tiab(self) -> str:
        return self.title

    @property
    def all(self) -> str:
        return f"{self.title}|{self.authors}|{self.journal}|{self.mesh}"

    @property
    def authors(self) -> str:
        people = (f"{family} {initials(given)}" for family, given in _authors(self.number))
        return padded(" | ".join(people))

    @property
    def first(self) -> str:
        family, given = _authors(self.number)[0]
        return padded(f"{family} {initials(given)}")

    @property
    def journal(self) -> str:
        journal = _journal(self.number)
        return padded(f"{journal.title} | {journal.short}")

    @property
    def mesh(self) -> str:
        return padded(_topic(self.number))

    @property
    def types(self) -> str:
        return padded(" | ".join(self.record.types))

    @property
    def entered(self) -> str:
        return _entered(self.number).replace("-", "/")

    @property
    def published(self) -> str:
        return _published(self.number).replace("-", "/")

    @property
    def doi(self) -> tuple[str, ...]:
        return (self.record.doi.lower(),)

    @property
    def pmcid(self) -> tuple[str, ...]:
        return (self.record.pmcid, self.record.number)

    @property
    def subset(self) -> tuple[str, ...]:
        return _subset(_kind(self.number))


@lru_cache(maxsize=512)
def _made(number: int) -> Record:
    """The paper of this number: always the same."""
    _, branch, particular = _MIX[_kind(number)]
    journal = _journal(number)
    prefix = _PREFIXES.get(particular.get("mined", ""), journal.prefix)
    doi, arxiv = f"{prefix}/field.{number:06d}", ""
    if branch == "arxiv":
        month, place = divmod(number, 100_000)
        arxiv = f"9{month // 12}{month % 12 + 1:02d}.{place:05d}"
        doi = f"10.48550/arXiv.{arxiv}"
    first = number * 10 % 4000 + 1
    given: dict[str, Any] = {
        "topic": _topic(number), "pmid": str(_FIRST_PMID + number),
        "pmcid": f"PMC{_FIRST_PMID + number}" if "efetch" in particular else "",
        "doi": "" if branch == "abstract_only" else doi, "arxiv": arxiv,
        "authors": _authors(number), "published": _published(number), "entered": _entered(number),
        "volume": str(1 + number % 40), "issue": str(1 + number % 12),
        "pages": f"{first}-{first + 8}", "abstract": "plain" if number % 3 else "structured",
        "words": 1150 + number % 5 * 150,
        "features": frozenset({"table", "figure"} if number % 4 == 0 else ()),
        "mesh": (_topic(number).capitalize(),), "license": _LICENSES[number % len(_LICENSES)],
        "site": journal.publisher.split()[0].lower(),
    }  # fmt: skip
    if branch == "retracted":
        given["notices"] = (("RetractionIn", f"{journal.short}. 2026;1(1):{first}", ""),)
    return Record(branch=branch, title=_title(number), journal=journal, **{**given, **particular})


@lru_cache(maxsize=4096)
def _order(century: int) -> list[int]:
    return random.Random(century).sample(_KINDS, len(_KINDS))


def _kind(number: int) -> int:
    return _order(number // len(_KINDS))[number % len(_KINDS)]


@lru_cache(maxsize=len(_MIX))
def _subset(kind: int) -> tuple[str, ...]:
    _, branch, particular = _MIX[kind]
    pmcid = "PMC1" if "efetch" in particular else ""
    return subsets(Record(branch, "", MEMBRANE, pmcid=pmcid, **particular), abstract=True)


def _topic(number: int) -> str:
    return list(TOPICS)[number % len(TOPICS)]


def _title(number: int) -> str:
    """Two things, what they were seen in, and a place no other paper is from."""
    topic, turn = TOPICS[_topic(number)], number // len(TOPICS)
    things, systems = topic["things"], topic["systems"]
    turn, first = divmod(turn, len(things))
    turn, step = divmod(turn, len(things) - 1)
    one, other = things[first], things[(first + 1 + step) % len(things)]
    one = one[:1].upper() + one[1:]
    return (
        f"{one} and {other} in {systems[turn % len(systems)]}: a field study from {_place(number)}"
    )


def _place(number: int) -> str:
    rest, syllables = (number + 12_345) * 1_299_709 % 20**5, []
    for _ in range(5):
        rest, at = divmod(rest, 20)
        syllables.append(_SYLLABLES[at])
    return "".join(syllables).capitalize()


def _authors(number: int) -> tuple[Person, ...]:
    people = range(number * 5, number * 5 + 2 + number % 4)
    return tuple((_FAMILIES[at * 7 % len(_FAMILIES)], _GIVEN[at % len(_GIVEN)]) for at in people)


def _journal(number: int) -> Journal:
    if _MIX[_kind(number)][1] == "arxiv":
        return ARXIV
    return _JOURNALS[number % len(_JOURNALS)]


def _entered(number: int) -> str:
    """Evenly over ten years, whatever the size of the field."""
    return _days_on(number * 1_777 % _DAYS)


def _published(number: int) -> str:
    return _days_on(number * 1_777 % _DAYS - 3)


@lru_cache(maxsize=2 * _DAYS)
def _days_on(days: int) -> str:
    return str(_FIRST_DAY + timedelta(days=days))
