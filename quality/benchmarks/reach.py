"""What each key of a reader's brings: the same field harvested without keys, with each, with all.

``uv run python -m quality.benchmarks.reach [--papers 1000] [--only NAME …] [--fast]``

The field of ``quality.benchmarks.harvest``, of which six papers in a hundred are to be had with a
key only: two of Elsevier's, one of Wiley's and of Springer Nature's for who subscribes, one that
CORE holds and one that OpenAlex keeps. Every text is compared with what the world wrote. A world of
its own for each row, with latency and limits. ``--fast`` puts both on a fast clock: the seconds are
the processor's then; those of *at least* are what the limits of the busiest host take.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from quality.benchmarks import fast_clock
from quality.benchmarks.harvest_verdict import Score
from quality.benchmarks.harvest_world import WorldProcess
from tests.world import core, openalex, text_mining
from tests.world.field import Field
from utils import Library
from utils.demo.records import Record

KEYS: dict[str, dict[str, str]] = {
    "no key": {},
    "core": {"core_api_key": core.KEY},
    "openalex": {"openalex_api_key": openalex.KEY},
    "elsevier": {
        "elsevier_api_key": text_mining.ELSEVIER_KEY,
        "elsevier_insttoken": text_mining.ELSEVIER_TOKEN,
    },
    "wiley": {"wiley_tdm_token": text_mining.WILEY_TOKEN},
    "springer": {
        "springer_api_key": text_mining.SPRINGER_KEY,
        "springer_tdm_key": text_mining.SPRINGER_TDM_KEY,
    },
}
KEYS["all"] = {name: value for keys in KEYS.values() for name, value in keys.items()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=1000)
    parser.add_argument("--only", choices=KEYS, nargs="+", default=list(KEYS))
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    if options.fast:
        fast_clock.begin()
        fast_clock.hurry()
    records = Field(options.papers)[:]
    print("| keys | full texts | false | requests/paper | repeats | refused | seconds | at least |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            world_of = fast_clock.FastWorld if options.fast else WorldProcess
            world = world_of(len(records), Path(folder) / name, "elsevier,wiley,springer")
            _row(name, records, world)


def _row(name: str, records: list[Record], world: WorldProcess) -> None:
    score, folder = Score(), world.folder
    with world:
        places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
        library = Library(**{**world.settings, **places, **KEYS[name]})
        began = time.perf_counter()
        harvest = library.harvest(query="field[ti]")
        for _ in harvest:
            pass
        seconds = time.perf_counter() - began
    for record in records:
        stored = library.find(record.pmid)
        full = stored.kind == "full_text"
        score.add(record, Path(stored.path).read_text(encoding="utf-8") if full else None)
    library.shelf.close()
    traffic = world.traffic()
    each, busiest = traffic.hosts.total() / len(records), next(iter(traffic.bounds()), "")
    cells = [name, score.full, len(score.false), f"{each:.2f}", traffic.repeats.total()]
    cells += [traffic.refused.total(), f"{seconds:.0f}", f"{traffic.bound():.0f} ({busiest})"]
    print("|", " | ".join(map(str, cells)), "|", flush=True)
    if score.missed or score.false:
        print("  missed:", *score.missed, "false:", *score.false)


if __name__ == "__main__":
    main()
