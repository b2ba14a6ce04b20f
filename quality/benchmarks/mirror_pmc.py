"""How fast articles of PMC become parts of a mirror: read, judged, cut and written, on one core.

Run from the checkout: ``python -m quality.benchmarks.mirror_pmc FOLDER [--most N] [--workers N]
[--times N] [--rounds N] [--engine NAME]``. FOLDER holds real articles as ``PMC…/jats.xml``; a
bundle is made of them with metadata as the Cloud Service has them, for what the articles say of
themselves is not measured.

- *read and judged*: JATS to markdown and both judges; *and cut*: into passages; *and written*: from
  the ZIP to two Parquet files on the disk. Articles a second of processor time, one after the
  other: what others do on the machine is not in it;
- *CPU efficiency*, *wall*, *memory a worker*: as in `quality.benchmarks.mirror`; at last the memory
  of a worker that reads a whole bundle of the tenth of the articles that is largest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from quality.benchmarks.mirror import compare, measured
from utils.mirror.bundles import Member, get_bundle_md5, write_bundle
from utils.mirror.engines import ENGINES
from utils.mirror.parts import Part, ReadJob
from utils.mirror.pmc import BATCH
from utils.mirror.texts import _cut_passages, read_member, read_texts
from utils.sources.pmc_inventory import ObjectVersion

_DOI = re.compile(rb'pub-id-type="doi">([^<]+)<')


def members_of(folder: Path, most: int) -> list[Member]:
    """The articles of a folder, as objects of the Cloud Service."""
    made = []
    for path in sorted(folder.glob("PMC*/jats.xml"))[: most or None]:
        xml, name = path.read_bytes(), path.parent.name
        front = _DOI.search(xml)
        record = {
            "pmcid": name,
            "doi": front[1].decode() if front else None,
            "license_code": "CC BY",
            "xml_url": f"s3://pmc-oa-opendata/{name}.1/{name}.1.xml",
        }
        listed = ObjectVersion(int(name.removeprefix("PMC")), 1, "")
        made.append(Member(listed, "text", "", False, json.dumps(record).encode(), xml))
    return made


def heaviest(some: list[Member]) -> list[Member]:
    """A whole bundle of the tenth that is largest, each as often as it takes, by other names."""
    largest = sorted(some, key=lambda one: -len(one.xml))[: max(1, len(some) // 10)]
    return [
        replace(one, listed=one.listed._replace(pmcid=number))
        for number, one in enumerate(islice(cycle(largest), BATCH), 1)
    ]


def timed(name: str, articles: int, work: Callable[[], object]) -> object:
    """Do it, and say how fast it was."""
    began = time.process_time()
    made = work()
    seconds = time.process_time() - began
    print(f"{name:<18}{articles:>6,} articles {articles / seconds:>8,.1f} articles/s a core")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--engine", choices=ENGINES, default="processes")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    some = members_of(options.folder, options.most)
    read_member(some[0])  # imports
    rows: list[dict[str, Any]] = []
    timed("read and judged", len(some), lambda: rows.extend(map(read_member, some)))
    numbered = [row | {"position": at} for at, row in enumerate(rows)]
    timed("passages alone", len(some), lambda: list(_cut_passages(numbered)))
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        batches = [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
        bundles = [
            write_bundle(one, place / "source", f"{n:07}") for n, one in enumerate(batches, 1)
        ]
        jobs = [
            ReadJob(str(path), "pmc", path.name, f"{n:07}", n, get_bundle_md5(path), name)
            for n, path in enumerate(bundles, 1)
        ]
        made: list[Part] = []
        timed("and written", len(some), lambda: made.extend(map(read_texts, jobs)))
        sizes = [path.stat().st_size for path in bundles]
        shards = [some[at :: options.workers * 2] for at in range(options.workers * 2)]
        compare(options, [write_bundle(one, place, f"{n:07}") for n, one in enumerate(shards, 101)])
        heavy = write_bundle(heaviest(some), place, "0000201")
        print(f"{BATCH} of the largest: {measured('here', 1, [heavy], 1)['memory']:,.0f} MB")
    size = sum(len(one.xml) for one in some)
    print(
        f"{size / 1e6:,.1f} MB of JATS, {sum(sizes) / 1e6:,.1f} MB in ZIP files, "
        f"{sum(one.bytes for one in made) / 1e6:,.1f} MB of parts; "
        f"{sum(one.records for one in made):,} full texts, "
        f"{sum(one.deletions for one in made):,} refused, "
        f"{sum(one.passages for one in made):,} passages"
    )


if __name__ == "__main__":
    main()
