"""A crowd of PubMed records, so that a search can have more hits than PubMed hands out.

Entrez dates are spread evenly, so many records a day; publication dates are all the first of
January, as PubMed indexes records that carry only a year (facts sheet, 1.3): slicing by the one
works and by the other does not.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from tests.world.index import Entry, padded
from utils.demo.papers import TISSUE
from utils.demo.records import Record
from utils.demo.topics import TOPICS

_FIRST_DAY = date(2023, 1, 1)


def crowd(size: int, per_day: int = 100) -> Iterator[Record]:
    """*size* short records, all of them about a ``crowd``, of which *per_day* came in each day."""
    names = list(TOPICS)
    for at in range(size):
        topic = names[at % len(names)]
        things = TOPICS[topic]["things"]
        yield Record(
            branch="crowd",
            title=f"Crowd report {at + 1} on {things[at % len(things)]}",
            journal=TISSUE,
            topic=topic,
            pmid=str(30_000_001 + at),
            authors=(("Crowd", "Ann"),),
            abstract="plain",
            published="2023-01-01",
            entered=str(_FIRST_DAY + timedelta(days=at // per_day)),
        )


def crowd_entry(record: Record) -> Entry:
    """Indexed by its title: reading the XML of thousands would take seconds."""
    title = padded(record.title)
    return Entry(
        pmid=record.pmid,
        title=title,
        abstract=" ",
        tiab=title,
        all=title,
        authors=" crowd a ",
        first=" crowd a ",
        journal=padded(record.journal.title),
        mesh=" ",
        types=" journal article ",
        language=" eng ",
        published=record.published.replace("-", "/"),
        entered=record.entered.replace("-", "/"),
        doi=(),
        pmcid=(),
        subset=("hasabstract",),
        record=record,
    )
