"""The small world: about fifty invented papers, one or more for each branch of the ladder."""

from tests.world import archives, papers_elsewhere, papers_in_pmc, papers_mined, papers_withheld
from tests.world.records import Corpus


def small_corpus() -> Corpus:
    """Every invented paper."""
    return Corpus(
        [
            *papers_in_pmc.PAPERS,
            *papers_elsewhere.PAPERS,
            *papers_withheld.PAPERS,
            *papers_mined.PAPERS,
            *archives.PAPERS,
        ]
    )
