"""How fast articles of PMC become parts of a mirror: read, judged, cut and written, on one core.

Run from the checkout: ``python -m benchmarks.mirror_pmc FOLDER [--most N]``. FOLDER holds real
articles as ``PMC…/jats.xml``; a bundle is made of them with metadata as the Cloud Service has them,
for what the articles say of themselves is not measured here.

- *read and judged*: JATS to markdown and both judges; *and cut*: into passages; *and written*: from
  the ZIP to two Parquet files on the disk. Articles a second of processor time, one after the
  other: what others do on the machine is not in it;
- *memory*: the largest resident size of this process.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from utils.mirror.bundles import Member, md5_of, pack
from utils.mirror.parts import ReadJob
from utils.mirror.pmc import BATCH
from utils.mirror.texts import TextRow, _passages, read_member, read_texts
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
    options = parser.parse_args()
    some = members_of(options.folder, options.most)
    read_member(some[0])  # imports
    rows: list[TextRow] = []
    timed("read and judged", len(some), lambda: rows.extend(map(read_member, some)))
    timed("passages alone", len(some), lambda: list(_passages(0, rows)))
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        batches = [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
        bundles = [pack(one, place / "source", f"{n:07}") for n, one in enumerate(batches, 1)]
        jobs = [
            ReadJob(str(path), "pmc", path.name, f"{n:07}", n, md5_of(path), name)
            for n, path in enumerate(bundles, 1)
        ]
        made = [*map(read_texts, jobs[:0])]
        timed("and written", len(some), lambda: made.extend(map(read_texts, jobs)))
        sizes = [path.stat().st_size for path in bundles]
    size = sum(len(one.xml) for one in some)
    print(
        f"{size / 1e6:,.1f} MB of JATS, {sum(sizes) / 1e6:,.1f} MB in ZIP files, "
        f"{sum(one.bytes for one in made) / 1e6:,.1f} MB of parts; "
        f"{sum(one.records for one in made):,} full texts, "
        f"{sum(one.deletions for one in made):,} refused, "
        f"{sum(one.passages for one in made):,} passages"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:,.0f} MB, all articles in memory among it")


if __name__ == "__main__":
    main()
