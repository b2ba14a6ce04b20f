"""The confusion table: kinds and media, what was accepted, and what every refusal was called."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from quality.cases import fetched
from quality.lab import (  # noqa: F401
    about,
    accounts,
    cuts,
    garbled,
    hard,
    landing,
    others,
    parts,
    promised,
    retold,
    served,
    short,
    whole,
)
from quality.lab.kinds import KINDS, Kind, made
from quality.lab.manuscript import Manuscript
from quality.lab.sources import manuscripts
from utils import readers as formats
from utils.errors import BadContent
from utils.model.paper import Media, Paper, Verdict
from utils.model.verdicts import verdict_to_outcome

# Documents of a kind in a medium, at weight 1.
USUAL: dict[Media, int] = {"html": 60, "markdown": 60, "jats": 70, "pdf": 26}
# Whole papers take longer to read, and there are more of them in a kind that is not rendered.
WHOLE = 0.42
_SUFFIX = {"jats": "xml", "html": "html", "markdown": "md", "pdf": "pdf"}


@dataclass(frozen=True)
class Outcome:
    """One document judged."""

    kind: str
    medium: Media
    article: str
    verdict: Verdict
    evidence: str
    seconds: float
    saved: str = ""

    @property
    def missed(self) -> bool:
        """Whether the judge was wrong: a whole paper refused, a fake accepted without doubt."""
        if KINDS[self.kind].whole:
            return verdict_to_outcome(self.verdict) == "not_whole"
        return self.verdict == "full_text"


@dataclass
class Row:
    """A kind in a medium."""

    kind: Kind
    medium: Media
    number: int = 0
    accepted: int = 0
    seconds: float = 0.0
    names: Counter[str] = field(default_factory=Counter)

    @property
    def misses(self) -> int:
        """Fakes accepted, or whole papers refused."""
        return self.number - self.accepted if self.kind.whole else self.accepted


Task = tuple[str, list[tuple[str, Media]], bool, str]


def planned(kinds: Iterable[Kind], *, shared: bool, share: float = 1.0) -> list[Task]:
    """Which documents are made: by article, small ones oftener than huge ones."""
    pool = manuscripts(shared)
    wanted: dict[str, list[tuple[str, Media]]] = defaultdict(list)
    for kind in kinds:
        for medium in kind.media:
            usual = USUAL[medium] * kind.weight * (WHOLE if kind.whole else 1)
            number = max(1, round(usual * share))
            # Some papers do not lend themselves to a kind: more are asked than are wanted.
            fitting = [one for one in pool if kind.fits(one, medium)]
            for name in _picked(f"{kind.name}/{medium}", fitting, round(number * 1.15)):
                wanted[name].append((kind.name, medium))
    return [(name, jobs, shared, "") for name, jobs in sorted(wanted.items())]


def _picked(seed: str, pool: list[Manuscript], number: int) -> list[str]:
    dice = random.Random(zlib.crc32(seed.encode()))
    # Weighted without replacement: each draws its own key.
    keyed = sorted(
        pool, key=lambda one: dice.random() ** (3000 / (1500 + one.body_words)), reverse=True
    )
    return [one.name for one in keyed[:number]]


def judged(task: Task) -> list[Outcome]:
    """Make and judge one article's documents."""
    name, jobs, shared, folder = task
    pool = manuscripts(shared)
    paper = next(one for one in pool if one.name == name)
    out = []
    for kind_name, medium in jobs:
        document = made(KINDS[kind_name], medium, paper, pool)
        if document is None:
            continue
        # Wall clock for PDFs, which are read in a process of their own.
        clock = time.perf_counter if medium == "pdf" else time.process_time
        start = clock()
        got, evidence = _verdict(document.body, medium, document.paper)
        seconds = clock() - start
        outcome = Outcome(kind_name, medium, name, got, evidence, seconds)
        if folder and outcome.missed:
            path = Path(folder) / f"{kind_name.replace('/', ' ')} {name}.{_SUFFIX[medium]}"
            path.write_bytes(document.body)
            outcome = Outcome(**{**asdict(outcome), "saved": str(path)})
        out.append(outcome)
    return out


def _verdict(body: bytes, medium: Media, paper: Paper) -> tuple[Verdict, str]:
    try:
        document = formats.read_and_judge(fetched(body, medium), paper)
    except BadContent as error:
        refused: Verdict = error.details.get("verdict", "not_a_paper")
        return refused, str(error)
    return document.verdict, str(getattr(document, "evidence", ""))


def outcomes(tasks: list[Task], workers: int, folder: str = "") -> Iterator[Outcome]:
    """Every document judged, in the order of the articles."""
    tasks = [(name, jobs, shared, folder) for name, jobs, shared, _ in tasks]
    if workers < 2:
        for task in tasks:
            yield from judged(task)
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for some in pool.imap_unordered(judged, tasks, chunksize=2):
            yield from some


def rows(found: Iterable[Outcome]) -> list[Row]:
    """Outcomes counted."""
    table: dict[tuple[str, Media], Row] = {}
    for one in found:
        row = table.setdefault((one.kind, one.medium), Row(KINDS[one.kind], one.medium))
        row.number += 1
        row.accepted += one.verdict == "full_text" or (row.kind.whole and not one.missed)
        row.seconds += one.seconds
        row.names[one.verdict] += 1
    order = list(KINDS)
    return sorted(
        table.values(), key=lambda row: (row.kind.whole, order.index(row.kind.name), row.medium)
    )


def shown(table: list[Row]) -> list[str]:
    """The table in lines."""
    head = f"{'kind':58} {'half':8} {'medium':8} {'n':>5} {'accepted':>9} {'share':>7} {'s':>6}"
    lines = [f"{head}  verdicts"]
    for row in table:
        names = ", ".join(f"{name} {n}" for name, n in row.names.most_common())
        lines.append(
            f"{'whole: ' * row.kind.whole}{row.kind.name:{51 if row.kind.whole else 58}} "
            f"{row.kind.half:8} {row.medium:8} {row.number:5} {row.accepted:9} "
            f"{row.accepted / row.number:7.1%} {row.seconds / row.number:6.3f}  {names}"
        )
    return [*lines, "", *totals(table)]


def totals(table: list[Row]) -> list[str]:
    """False accepts and false rejects, over all and by half."""
    lines = []
    for half in ("tuning", "held_out", "all"):
        of_half = [row for row in table if half in {"all", row.kind.half}]
        for is_whole, name in ((False, "false accepts"), (True, "false rejects")):
            some = [row for row in of_half if row.kind.whole is is_whole]
            number, missed = sum(r.number for r in some), sum(r.misses for r in some)
            if number:
                lines.append(f"{half:9} {name:14} {missed:5} of {number:6}  {missed / number:8.3%}")
    return lines


def told(outcome: Outcome) -> str:
    """A miss as a line of JSON."""
    return json.dumps(asdict(outcome), ensure_ascii=False)
