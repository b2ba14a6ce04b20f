"""A review with included reports, and what happens to it in a year."""

import time
from dataclasses import replace

from tests.harvests import done
from tests.world import Record, World, kinship
from utils import Library
from utils.review import Review

DAY = 86_400
STAGES = ("title_abstract", "full_text")
PROTOCOL = """\
title: Fields
screeners: 1
databases:
  - {source: pubmed, query: 'field[ti]'}
  - {source: europepmc, query: 'field'}
"""


def with_included(library: Library) -> Review:
    """A review with two included reports, whose citations were searched."""
    review = library.reviews.create("fields")
    (review.folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    review.update()
    kept = [one for one in review.ledger.list_records() if one.paper.ids.pmid][:2]
    rows = [f"{one.paper.ids.doi},include,{stage}" for one in kept for stage in STAGES]
    review.read_decisions("\n".join(["doi,decision,stage", *rows]).encode(), "mine.csv")
    done(review.harvest())
    review.snowball()
    return review


def seeds_of(review: Review) -> list[str]:
    return [s.record.paper.ids.pmid for s in review.standings() if s.second == "include"]


def a_year_later(world: World, review: Review) -> Record:
    """A paper comes that cites the first included report, and no word of the searches."""
    [seed, *_] = [world.record(pmid) for pmid in seeds_of(review)]
    assert seed
    model = world.paper("abstract_only")
    for number in range(100):
        new = replace(
            model,
            title="Hedges and their shadows, looked at again",
            pmid=str(77_000_001 + number),
            doi=f"10.9106/later.{number}",
            published="2027-05-01",
            entered="2027-05-02",
        )
        if kinship._cites(new, seed):
            world.put(new)
            time.sleep(365 * DAY)
            return new
    raise AssertionError


def retract(world: World, pmid: str) -> None:
    record = world.record(pmid)
    assert record
    world.put(replace(record, types=(*record.types, "Retracted Publication")))
