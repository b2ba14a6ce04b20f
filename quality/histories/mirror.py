"""Years of a mirror, played at random: ``python -m quality.histories.mirror FOLDER SEED DAYS``.

Each day NLM issues files and PMC changes objects, some of what is fetched comes torn, with another
MD5, not at all or cannot be reached, and now and then whoever takes it in is killed, at any step.
After each run the mirror is held against a model that knows none of our code: dictionaries, and
what NLM's and PMC's documents say.

PubMed (https://www.nlm.nih.gov/databases/download/pubmed_medline.html, and its page on update
files): a baseline is all of PubMed, and takes the place of the year before; update files go on in
its numbering and are to be taken in by number; a record in one takes the place of those before it,
``DeleteCitation`` at its end takes records out; who is deleted may come again. PMC
(https://pmc.ncbi.nlm.nih.gov/tools/cloud/): of an article its highest version counts; what is
listed no more was withdrawn, a version or the whole of it.

Our own rules beside these: a file that came broken is left out until it comes whole, and the rest
goes on; one that could only not be reached holds back what follows and is not published yet; a new
year counts when its baseline is whole; nothing that was published drops out for any of this.

A process of its own, because it forks: nothing but the stand-in internet may be running here.
"""

from __future__ import annotations

import importlib
import json
import random
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from quality.histories.mirror_deaths import in_a_child
from tests.killed import Stage
from tests.mirror.small_mirror import article, mirror_of, titles, updated
from tests.world import World
from tests.world.pubmed_files import Bulk, name_of, packed
from utils.mirror import Mirror, compaction, pmc
from utils.mirror.pmc import Choice

_LATE = (
    *("pyarrow.parquet", "pyarrow.csv", "duckdb", "lxml.etree", "requests"),
    *("utils.mirror.verify", "utils.mirror.pmc", "utils.mirror.texts", "utils.mirror.pubmed"),
)
_MOST_STEPS = 60
_PMIDS = range(1, 40)
_FILES = 3  # of a baseline


@dataclass(frozen=True)
class Issue:
    """A file of NLM's: records and, after them, deletions."""

    number: int
    records: tuple[tuple[int, str], ...]
    gone: tuple[int, ...] = ()

    def apply(self, live: dict[int, str]) -> None:
        live.update(self.records)
        for pmid in self.gone:
            live.pop(pmid, None)

    def packed(self) -> bytes:
        told = [article(pmid, title) for pmid, title in self.records]
        return packed(told, map(str, self.gone))


@dataclass
class Nlm:
    """What NLM has issued this year, and knows."""

    year: int
    live: dict[int, str]
    issues: dict[int, Issue] = field(default_factory=dict)
    late: Issue | None = None

    def begin_year(self, chance: random.Random) -> None:
        """A baseline of all there is, in any order, a few records as they are nowhere else."""
        self.year, self.late = self.year + 1, None
        for pmid in chance.sample(sorted(self.live), 2):
            self.live[pmid] = f"in 20{self.year} {pmid}"
        rows = list(self.live.items())
        chance.shuffle(rows)
        size = -(-len(rows) // _FILES)
        self.issues = {
            at + 1: Issue(at + 1, tuple(rows[at * size : (at + 1) * size])) for at in range(_FILES)
        }

    def issue(self, chance: random.Random, day: int) -> None:
        """The next file; now and then it comes a day after the one that follows it."""
        number = max([*self.issues, self.late.number if self.late else 0]) + 1
        chosen = chance.choices(_PMIDS, k=5)  # one may come twice, the last of them counts
        told = tuple((pmid, f"day {day} {number} {at}") for at, pmid in enumerate(chosen))
        made = Issue(number, told, tuple(chance.sample(_PMIDS, 3)))
        if self.late:
            self.issues[self.late.number], self.late = self.late, None
        elif chance.random() < 0.2:
            self.late = made
            return
        self.issues[number] = made

    def revise(self, chance: random.Random, day: int) -> int:
        """Another file under the name of one of this year's updates; its number, 0 for none."""
        updates = [number for number in self.issues if number > _FILES]
        if not updates:
            return 0
        number = chance.choice(updates)
        self.issues[number] = Issue(number, ((chance.choice(_PMIDS), f"revised on {day}"),))
        return number

    def known(self) -> dict[int, str]:
        """What NLM itself has by all its files of the year."""
        live: dict[int, str] = {}
        for _, one in sorted(self.issues.items()):
            one.apply(live)
        return live


@dataclass
class Model:
    """What must be live in a mirror."""

    year: int = 0
    came: dict[int, dict[int, Issue]] = field(default_factory=dict)
    broken: set[int] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)

    def take(self, nlm: Nlm, listed: set[int], broken: set[int], down: set[int]) -> None:
        """A day's run."""
        came = self.came.setdefault(nlm.year, {})
        for number in listed - broken - down:
            came[number] = nlm.issues[number]
        if nlm.year != self.year:
            if not set(range(1, _FILES + 1)) <= set(came):
                return
            self.year, self.counted, self.broken = nlm.year, set(), set()
        self.broken = (self.broken | broken) - set(came)
        waited = min((n for n in down - set(came) - self.broken), default=10_000)
        self.counted |= {number for number in came if number < waited}

    def live(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for number in sorted(self.counted):
            self.came[self.year][number].apply(found)
        return found


class History:
    """One mirror, and one of PMC, day by day."""

    def __init__(self, world: World, folder: Path, seed: int) -> None:
        self.world, self.chance = world, random.Random(seed)
        world.reset()
        self.mirror: Mirror = mirror_of(world, folder)
        self.nlm = Nlm(25, {pmid: f"first {pmid}" for pmid in _PMIDS if pmid % 3})
        self.nlm.begin_year(self.chance)
        self.model, self.days = Model(), dict[str, str]()
        self.articles = {one.pmcid: one for one in world.papers if one.cloud}
        self.texts = {name: set[int]() for name in self.articles}
        self.met = Counter[str]()

    def play(self, days: int) -> None:
        for day in range(days):
            self.pubmed(day)
            self.pmc(day)

    # PubMed

    def pubmed(self, day: int) -> None:
        """NLM does something, and it is taken in."""
        chance, nlm = self.chance, self.nlm
        partly, revised = False, 0
        if day and day % 5 == 0:
            nlm.live = nlm.known()
            nlm.begin_year(chance)
            self.days.clear()
            partly = chance.random() < 0.5
            self.met["a year, partly" if partly else "a year"] += 1
        elif day and chance.random() < 0.25:
            revised = nlm.revise(chance, day)
            self.days[name_of(nlm.year, revised)] = f"2026-02-{day % 28 + 1:02} 10:00"
            self.met["another under the same name"] += bool(revised)
        elif day:
            for _ in range(chance.randrange(1, 3)):
                nlm.issue(chance, day)
        listed = set(nlm.issues)
        if partly:
            listed = set(chance.sample(sorted(listed), 2))
        kinds = {kind: set[int]() for kind in ("torn", "wrong_md5", "vanished", "down")}
        for number in listed - {revised} if day else ():
            if number not in self.model.came.get(nlm.year, {}) and chance.random() < 0.3:
                kind = chance.choice(sorted(kinds))
                kinds[kind].add(number)
                self.met[kind] += 1
        self._lay_out(listed, kinds)
        before = self.model.live()
        broken = kinds["torn"] | kinds["wrong_md5"] | kinds["vanished"]
        self.model.take(nlm, listed, broken, kinds["down"])
        self._run(lambda: updated(self.mirror), self._is_live(before), self._is_live(), day)
        self.world.calm()

    def _lay_out(self, listed: set[int], kinds: dict[str, set[int]]) -> None:
        nlm, names = self.nlm, {n: name_of(self.nlm.year, n) for n in self.nlm.issues}
        files = {names[n]: nlm.issues[n].packed() for n in listed}
        first = {names[n] for n in range(1, _FILES + 1)}
        odd = {kind: {names[n] for n in some} for kind, some in kinds.items() if kind != "down"}
        self.world.bulk = Bulk(
            baseline={name: data for name, data in files.items() if name in first},
            updates={name: data for name, data in files.items() if name not in first},
            last=name_of(nlm.year, _FILES), days=dict(self.days), **odd,
        )  # fmt: skip
        for number in kinds["down"]:
            self.world.mood("down", "pubmed_files", path=names[number])

    def _is_live(self, expected: dict[int, str] | None = None):
        wanted = self.model.live() if expected is None else expected

        def look() -> str:
            if not wanted and self.mirror.current() is None:
                return ""
            found = titles(self.mirror)
            return "" if found == wanted else f"PubMed: {_differences(found, wanted)}"

        return look

    # PMC

    def pmc(self, day: int) -> None:
        """PMC does something, and it is taken in."""
        chance, cloud = self.chance, self.world.cloud
        cloud.torn, cloud.vanished = set(), set()
        now = {name: cloud.edited.get(name, one) for name, one in self.articles.items()}
        if day:
            for name in chance.sample(sorted(now), 3):
                self._edit(name, now)
            cloud.edited = now
        before = self._texts()
        for name, one in now.items():
            newest, had = max(one.cloud, default=0), self.texts[name]
            had -= {version for version in had if version not in one.cloud}  # was withdrawn
            if newest and newest not in had and day and chance.random() < 0.3:
                kind = chance.choice(["torn", "vanished"])
                getattr(cloud, kind).add(f"{name}.{newest}")
                self.met[f"PMC {kind}"] += 1
            elif newest:
                had.add(newest)
        after = self._texts()

        def run() -> None:
            [*self.mirror.update_pmc(Choice(), retry=True)]

        self._run(run, self._has_texts(before), self._has_texts(after), day)

    def _texts(self) -> dict[str, int]:
        """Of each article the highest version that is listed and came whole."""
        return {name: max(had) for name, had in self.texts.items() if had}

    def _edit(self, name: str, now: dict) -> None:
        one, withdrawn = now[name], sum(not other.cloud for other in now.values())
        deed = self.chance.choice(["newer", "newer", "withdrawn", "back"])
        if deed == "newer" and one.cloud:
            versions = (*one.cloud, max(one.cloud) + 1)
        elif deed == "withdrawn" and one.cloud and withdrawn < 2:
            versions = one.cloud[:-1]
        elif deed == "back" and not one.cloud:
            versions = self.articles[name].cloud
        else:
            return
        self.met[f"PMC {deed}"] += 1
        now[name] = replace(one, cloud=versions)

    def _has_texts(self, wanted: dict[str, int]):
        def look() -> str:
            from pyarrow import parquet

            current = self.mirror.pmc_generations.get_published()
            if current is None:
                return "" if not wanted else "PMC: nothing is published"
            path = self.mirror.pmc_generations.folder / current.name / "live.parquet"
            rows = parquet.read_table(path).to_pylist()
            found = {f"PMC{row['pmcid']}": row["version"] for row in rows}
            return "" if found == wanted else f"PMC: {_differences(found, wanted)}"

        return look

    # Both

    def _run(self, work, before, after, day: int) -> None:
        """Do it, now and then after a death or two; what is seen is of before or after."""
        while self.chance.random() < 0.3:
            at = round(_MOST_STEPS ** self.chance.random())
            status = in_a_child(work, at=at)
            if status == 0:
                break
            assert status == -signal.SIGKILL, status
            self.met["deaths"] += 1
            self._see(lambda: before() and after(), f"after a death on day {day}")

        def through() -> None:
            work()
            assert not (said := after()), said

        assert in_a_child(through) == 0, f"on day {day}, see above: {self.model}"

    def _see(self, look, when: str) -> None:
        def seen() -> None:
            assert not (said := look()), said

        assert in_a_child(seen) == 0, when


def _differences(found: dict, wanted: dict) -> list:
    keys = sorted(set(found) | set(wanted))
    return [(key, found.get(key), wanted.get(key)) for key in keys
            if found.get(key) != wanted.get(key)]  # fmt: skip


def main() -> None:
    """Play histories of so many days, and say in JSON what was met in them."""
    folder, seed, days = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    pmc.BATCH, compaction.MIN_SMALL_FILES = 4, 2
    Stage()
    for module in _LATE:
        importlib.import_module(module)
    with World() as world:
        history = History(world, folder, seed)
        history.play(days)
    sys.stdout.write(json.dumps(history.met))


if __name__ == "__main__":
    main()
