"""How fast PubMed's records become a corpus that is found by words, on one core.

``uv run python -m quality.benchmarks.corpus_ingest [--data FOLDER] [--records 20000] [--runs 3]``

FOLDER holds ``PubmedArticleSet`` files (``*.xml.gz``); their records are repeated under new PMIDs.
Two ways take turns, and processor time is told (nothing is waited for; all runs in one thread):

- ``papershelf``: what a sync and the indexing behind it do with XML that has come: all fields
  read, staged in batches of 200, merged page by page, cut into passages, indexed by words;
- ``sqlite-utils way``: PMID, title, abstract and year by a bare lxml loop, `executemany` into a
  table, an FTS5 index over it. No versions, no passages, no staging: what a script would do.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from utils.corpus import Corpus
from utils.corpus.sync_jobs import SyncJob
from utils.readers.pubmed import iterate_records
from utils.settings import Settings
from utils.shelf import Shelf

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "pubmed" / "bulk"
BATCH = 200
_RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.S)
_PMID = re.compile(rb"(<PMID[^>]*>)\d+(</PMID>)")
_OWN_ID = re.compile(rb'(<ArticleId IdType="pubmed">)\d+(</ArticleId>)')


def batches(data: Path, count: int) -> Iterator[tuple[list[int], bytes]]:
    """PMIDs and XML of *count* records, as EFetch would send them."""
    real = [
        record
        for path in sorted(data.glob("*.xml.gz"))
        for record in _RECORD.findall(gzip.decompress(path.read_bytes()))
    ]
    for start in range(0, count, BATCH):
        numbers = list(range(start, min(start + BATCH, count)))
        some = [_renamed(real[number % len(real)], 40_000_001 + number) for number in numbers]
        body = b"<PubmedArticleSet>" + b"".join(some) + b"</PubmedArticleSet>"
        yield [40_000_001 + number for number in numbers], body


def _renamed(record: bytes, pmid: int) -> bytes:
    new = rb"\g<1>%d\g<2>" % pmid
    return _OWN_ID.sub(new, _PMID.sub(new, record, count=1), count=1)


def ours(made: list[tuple[list[int], bytes]], folder: Path) -> dict[str, float]:
    corpus = Corpus(Settings(papers_dir=folder, embeddings_provider="none"), None, Shelf(folder))
    spent = dict.fromkeys(("parse", "store", "words"), 0.0)

    def took(name: str, since: float) -> float:
        spent[name] += (now := time.process_time()) - since
        return now

    clock = time.process_time()
    job = SyncJob.open_or_create(corpus.database, "all", "all[sb]", 5, full=False)
    while stretch := job.get_next_date_range():
        if stretch.date_type == "edat":
            job.stage_hits(stretch, [str(n) for numbers, _ in made for n in numbers], ())
        else:
            job.stage_lost_members(stretch)
    clock = took("store", clock)
    for _, body in made:
        papers = list(iterate_records(body))
        clock = took("parse", clock)
        job.stage_records(papers)
        clock = took("store", clock)
    while job.merge_next_page():
        pass
    synced = job.complete_job()
    clock = took("store", clock)
    *_, indexed = corpus.index()
    took("words", clock)
    assert synced.inserted == sum(len(numbers) for numbers, _ in made)
    assert not synced.warnings, synced.warnings
    spent["passages"] = indexed.passages
    corpus.finder.close()
    return spent


def script(made: list[tuple[list[int], bytes]], folder: Path) -> dict[str, float]:
    from lxml import etree

    def rows() -> Iterator[tuple[str | None, ...]]:
        for _, body in made:
            for _, record in etree.iterparse(io.BytesIO(body), tag="PubmedArticle"):
                abstract = record.findall(".//AbstractText")
                yield (
                    record.findtext(".//PMID"),
                    "".join(record.find(".//ArticleTitle").itertext()),
                    "\n".join("".join(part.itertext()) for part in abstract),
                    record.findtext(".//PubDate/Year"),
                )
                record.clear()

    begun = time.process_time()
    with sqlite3.connect(folder / "script.db") as db:
        db.execute("CREATE TABLE papers (pmid INTEGER PRIMARY KEY, title, abstract, year)")
        db.executemany("INSERT INTO papers VALUES (?, ?, ?, ?)", rows())
        db.execute(
            "CREATE VIRTUAL TABLE words "
            "USING fts5(title, abstract, content='papers', tokenize='porter')"
        )
        db.execute("INSERT INTO words (words) VALUES ('rebuild')")
    db.close()
    return {"all": time.process_time() - begun}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, default=DEFAULT)
    asked.add_argument("--records", type=int, default=20_000)
    asked.add_argument("--runs", type=int, default=3)
    given = asked.parse_args()
    made = list(batches(given.data, given.records))
    megabytes = sum(len(body) for _, body in made) / 1e6
    print(f"{given.records:,} records, {megabytes:.0f} MB of XML\n")
    runs: list[dict[str, float]] = []
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory() as folder:
            spent = ours(made, Path(folder))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        with tempfile.TemporaryDirectory() as folder:
            runs.append({**spent, "disk": size / 1e6, **script(made, Path(folder))})
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    print("| | records/s |\n|---|---|")
    for name in ("parse", "store", "words"):
        print(f"| papershelf, {name} | {given.records / median[name]:,.0f} |")
    stored = median["store"] + median["words"]
    print(f"| papershelf, into SQLite with words | {given.records / stored:,.0f} |")
    print(f"| papershelf, all of it | {given.records / (stored + median['parse']):,.0f} |")
    print(f"| a script, all of it | {given.records / median['all']:,.0f} |")
    print(f"\n{median['passages']:,.0f} passages, {median['disk']:.0f} MB on disk")


if __name__ == "__main__":
    main()
