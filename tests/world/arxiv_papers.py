"""What arXiv has: the corpus's preprints, and some that nobody else knows. All invented."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from utils.demo.papers import ARXIV
from utils.demo.prose import abstract
from utils.demo.records import Record, strip_markup
from utils.demo.topics import TOPICS

if TYPE_CHECKING:
    from tests.world import World

CC_BY = "http://creativecommons.org/licenses/by/4.0/"
PERPETUAL = "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"
_CLASSES = (
    ("q-bio.QM",), ("q-bio.CB", "physics.bio-ph"), ("cs.LG", "stat.ML", "q-bio.QM"), ("hep-ex",),
    ("math.PR", "q-bio.PE", "60J80"),
)  # fmt: skip


@dataclass(frozen=True)
class Preprint:
    """One preprint.

    ``versions`` are the days of its versions; ``names`` and ``submitted`` its authors and title as
    they were typed in, the record's when empty; ``html`` whether arXiv converted it; ``source``
    what was submitted: ``tar``, ``gz`` (a single file) or ``pdf``.
    """

    record: Record
    categories: tuple[str, ...] = ("q-bio.QM",)
    versions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    submitted: str = ""
    comment: str = "12 pages"
    journal_ref: str = ""
    doi: str = ""
    html: bool = False
    source: str = "pdf"
    license: str = CC_BY
    affiliations: tuple[str, ...] = field(default=())

    @property
    def withdrawn(self) -> bool:
        """Whether the newest version is the news that there is none."""
        return "withdrawn" in self.comment

    @property
    def printed_title(self) -> str:
        """The title as submitted."""
        return self.submitted or self.record.plain_title

    @property
    def printed_names(self) -> tuple[str, ...]:
        """The authors as submitted."""
        return self.names or tuple(f"{given} {family}" for family, given in self.record.authors)

    @property
    def summary(self) -> str:
        """The abstract as arXiv shows it."""
        return " ".join(strip_markup(body) for _, body in abstract(self.record))


def find(name: str, world: World) -> Preprint | None:
    """The preprint called *name*, without a version."""
    if preprint := _ELSEWHERE.get(name):
        return preprint
    record = world.corpus.by_arxiv.get(name)
    return _of_record(record) if record else None


def everything(world: World) -> list[Preprint]:
    """All that a search can find."""
    return [*map(_of_record, world.corpus.by_arxiv.values()), *_ELSEWHERE.values()]


@lru_cache(maxsize=256)
def _of_record(record: Record) -> Preprint:
    return Preprint(
        record,
        versions=(record.published, record.entered),
        doi="" if record.journal.title == "arXiv" else record.doi,
        html="formula" not in record.features,
    )


def _made(number: int, arxiv: str, title: str, day: str, topic: str, **more: object) -> Preprint:
    record = Record(
        "preprint",
        title,
        ARXIV,
        topic=topic,
        arxiv=arxiv,
        doi=f"10.48550/arXiv.{arxiv}",
        authors=(("Ferrante", f"Gil {number}"), ("Moravcová", "Ida")),
        published=day,
        entered=day,
        abstract="plain",
    )
    given = {"versions": (day,), **more}
    return Preprint(record, **given)  # type: ignore[arg-type]


_CHOSEN = [
    _made(
        1, "2601.00001", "Branching walks of moss filaments", "2026-01-02", "moss",
        versions=("2026-01-02", "2026-03-01"), categories=("q-bio.PE", "math.PR"), html=True,
        source="tar", journal_ref="J. Moss Phys. 12 (2026) 11-19", doi="10.9101/moss.2026.1",
        names=("Lotte van der Berg", "Zoë de la Cruz Jr.", "The MOSS Collaboration"),
        affiliations=("Institute of Wet Walls",),
    ),
    _made(
        2, "2602.00002", "Kinetics of ERK pulses under ligand depletion", "2026-02-03", "kinase",
        source="tar", categories=("q-bio.MN",), license=PERPETUAL,
        submitted=r'Schr\"oder\'s kinetics of ERK pulses at $\alpha_{0} = 1/\sqrt{2}$',
    ),
    _made(
        3, "1207.0003", "Replicative age seen from the vacuole", "2012-07-03", "yeast",
        source="gz", categories=("q-bio.CB",), comment="4 figures; accepted",
        journal_ref="Proceedings of the 3rd Workshop on Old Cells, Delft 2012",
    ),
    _made(
        4, "2603.00004", "Spindle density in a printed report", "2026-03-04", "sleep",
        categories=("q-bio.NC",),
    ),
    _made(
        5, "2604.00005", "Antigen load measured twice", "2026-04-05", "checkpoint", html=True,
        versions=("2026-04-05", "2026-05-06"), source="tar", categories=("q-bio.QM",),
        comment="This paper has been withdrawn by the authors due to an error in equation 3",
    ),
    _made(
        6, "hep-ex/0307015", "Alkalinity anomaly as a detector background", "2003-07-06", "coral",
        source="gz", categories=("hep-ex",), journal_ref="Phys.Rev.Lett.91:010505,2003",
        names=("CORAL Collaboration", ":", "A. Del Maestro", "Peter H. N. de With"),
    ),
]  # fmt: skip


def _many() -> list[Preprint]:
    """Enough preprints to turn pages, over twenty years."""
    topics = [name for name in TOPICS if name not in {"moss", "kinase", "yeast", "sleep"}]
    made = []
    for number in range(45):
        year, month = 2007 + number % 20, 1 + number * 5 % 12
        digits = 5 if year >= 2015 else 4
        topic = topics[number % len(topics)]
        one, other = TOPICS[topic]["things"][:2]
        made.append(
            _made(
                number,
                f"{year % 100:02d}{month:02d}.{9000 + number:0{digits}d}",
                f"Testing {one} and {other} {number}",
                f"{year}-{month:02d}-{1 + number % 28:02d}",
                topic,
                categories=_CLASSES[number % len(_CLASSES)],
            )
        )
    return made


_ELSEWHERE = {preprint.record.arxiv: preprint for preprint in (*_CHOSEN, *_many())}
