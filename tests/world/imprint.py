"""Journals, people and the one way to make a paper of the small world. All of it is invented."""

from typing import Any

from tests.world.records import Journal, Record

MEMBRANE = Journal(
    "Journal of Membrane Traffic", "J Membr Traffic", "2917-0012", "Meadow Press", "10.9101"
)
TISSUE = Journal("Annals of Tissue Ecology", "Ann Tissue Ecol", "2917-0039", "Harbour", "10.9102")
SIGNALS = Journal("Signals and Cells", "Signals Cells", "2917-0047", "Summit", "10.9103")
OLD = Journal("Proceedings in Old Medicine", "Proc Old Med", "0917-0055", "Harbour", "10.9104")
ARXIV = Journal("arXiv", "arXiv", "", "arXiv", "10.48550")
BIORXIV = Journal("bioRxiv", "bioRxiv", "", "Preprints in Common", "10.1101")
SQUARE = Journal("Research Square", "Research Square", "", "Square", "10.21203")
BOOKS = Journal("Field Guide to the Clinic", "Field Guide Clin", "", "Meadow Press", "10.9105")

_PEOPLE = (
    (("Varga", "Ilona M"), ("Okonkwo", "Chidi"), ("Lindqvist", "Per")),
    (("Sørensen", "Åse"), ("Nakagawa", "Rin"), ("Delgado-Ruiz", "Tomás E")),
    (("Abernathy", "Joan"), ("Petrović", "Zoran"), ("Wu", "Mei-Ling"), ("Kaplan", "Daniel")),
    (("Müller", "Jürgen"), ("O'Leary", "Niamh")),
    (("Haddad", "Samir"), ("Van der Berg", "Lotte"), ("Achterberg", "Jo")),
)
RICH = frozenset({"table", "formula", "figure", "greek", "box"})


def paper(number: int, branch: str, title: str, journal: Journal, **more: Any) -> Record:
    """A paper with identifiers, people and dates that follow from its number."""
    month, day = 1 + number % 12, 1 + number * 7 % 28
    given = {
        "topic": "moss", "pmid": f"4100{number:04d}",
        "doi": f"{journal.prefix}/{journal.short.split()[0].lower()}.2025.{number:04d}",
        "authors": _PEOPLE[number % len(_PEOPLE)], "published": f"2025-{month:02d}-{day:02d}",
        "entered": f"2025-{month:02d}-{min(day + 2, 28):02d}",
        "pages": f"{number * 10 + 1}-{number * 10 + 9}",
    }  # fmt: skip
    return Record(branch=branch, title=title, journal=journal, **{**given, **more})
