"""Invented papers, for where no recorded ones are at hand: many fields, many kinds of title."""

from __future__ import annotations

from random import Random

from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

_SUBJECTS = (
    *("β-catenin signalling", "Coral bleaching", "Naïve T cells", "Peat moss", "IL-6 blockade"),
    *("Hypertension in pregnancy", "Quantum dots", "Müller glia", "Deep learning", "CO2 uptake"),
    *("Sleep apnoea", "Tumour hypoxia", "Oestrogen receptors", "Gut microbiota", "Solar flares"),
    *("Haemophilia A", "α-Synuclein", "Soil nematodes", "Hearing aids", "SARS-CoV-2 spike"),
)
_VERBS = ("in the developing", "and the ageing", "predicts recovery of the", "changes the")
_OBJECTS = ("human liver", "zebrafish retina", "boreal forest", "adult heart", "rat hippocampus")
_SUBTITLES = (
    *("", "", ": a randomised trial", ": evidence from 12 cohorts", "? A systematic review"),
    *(": results of the PLOVER study", ". Insights from imaging", ": methods and applications"),
)
_JOURNALS = (
    ("Journal of Invented Biology", "J Invent Biol"),
    ("Annals of Imaginary Medicine", "Ann Imag Med"),
    ("The Fictional Lancet of Physics", "Fict Lancet Phys"),
    ("Revista de Ciencias Supuestas", "Rev Cienc Supuestas"),
)
_FAMILIES = (
    *("Müller", "García", "van der Berg", "O'Neill", "Wang", "Ødegård", "Smith", "Nowak", "Kim"),
    *("Petrović", "Tanaka", "Okafor", "Dubois", "Silva", "Çelik", "Andersson", "Rossi", "Novák"),
)
_GIVEN = ("Jane", "Ximena", "Lars Erik", "Mary-Ann", "Wei", "Ada", "Chidi", "Yuki", "Émile", "José")


def invented_papers(seed: int = 6, count: int = 240) -> list[Paper]:
    """Distinct papers, half of them without a DOI."""
    rng, titles = Random(seed), set[str]()
    papers = []
    while len(papers) < count:
        words = (rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_OBJECTS))
        title = " ".join(words) + rng.choice(_SUBTITLES)
        if title in titles:
            continue
        titles.add(title)
        papers.append(_paper(title, len(papers) + 1, rng))
    return papers


def _paper(title: str, number: int, rng: Random) -> Paper:
    journal, short = rng.choice(_JOURNALS)
    first, year = rng.randrange(20, 900), rng.randrange(1995, 2026)
    foreign = rng.random() < 0.1
    people = [
        Author(name, rng.choice(_GIVEN)) for name in rng.sample(_FAMILIES, rng.randrange(1, 7))
    ]
    if rng.random() < 0.05:
        people.append(Author(collective="PLOVER Study Group"))
    return Paper(
        Ids(pmid=str(30_000_000 + number), doi=f"10.5555/{number}" if rng.random() < 0.5 else ""),
        title=f"[{title}]." if foreign else f"{title}.",
        vernacular_title=f"Título original número {number} de un estudio" if foreign else "",
        authors=tuple(people),
        journal=journal,
        journal_abbreviation=short,
        volume=str(year - 1980),
        issue=str(rng.randrange(1, 12)),
        pages=f"{first}-{first + 9}",
        published=f"{year}-{rng.randrange(1, 13):02}",
        publication_types=("Journal Article",),
    )
