"""How fast answers of Entrez become tables, and what asking these saves a model from reading.

``uv run python -m quality.benchmarks.staging [--data FOLDER] [--records 20000] [--runs 3]``

FOLDER holds ``PubmedArticleSet`` files (``*.xml.gz``); for the speed their records are repeated
under new PMIDs, 200 a page, as EFetch sends them. The ways take turns, and processor time is told
(nothing is waited for; all runs in one thread):

- ``papershelf``: `build`: eleven tables, checked, indexed, analysed, on the disk;
- ``script``: what one would write by hand: lxml and XPath, `executemany` into six tables
  (articles, authors, mesh, publication_types, keywords, cited_works), no keys, no indexes;
- ``summaries``: `build` on ESummary's JSON of genes, laid out by inference.

For the saving, five questions are asked of all records as they are, in the process that questions
are asked in. The answer of the SQL is held against one counted from the XML by other means. Tokens
are characters of compact JSON / 4: for the staged way those of the schema, the statement and its
answer, each time; for the other way those of the records it is about, as a search of ours gives
them or as PubMed's XML.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from lxml import etree

from quality.benchmarks.corpus_ingest import DEFAULT, batches
from tests.entrez.datasets.pages import PLACE, gene, summaries
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.schema import read_schema
from utils.entrez.datasets.sql_query import run_query, stop_idle_processes
from utils.entrez.datasets.trees import RawRecordPage
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records

Rows = list[tuple[Any, ...]]
TABLES = {
    "articles": 12, "authors": 5, "mesh": 5, "publication_types": 2, "keywords": 2,
    "cited_works": 4,
}  # fmt: skip


# --- speed --------------------------------------------------------------------------------------


def by_hand(pages: Iterable[RawRecordPage], file: Path) -> int:
    count = 0
    with closing(sqlite3.connect(file)) as database:
        for table, width in TABLES.items():
            database.execute(f"CREATE TABLE {table} ({', '.join(f'c{n}' for n in range(width))})")
        for page in pages:
            rows: dict[str, Rows] = {table: [] for table in TABLES}
            for article in etree.fromstring(page.body).iterfind("PubmedArticle"):
                _by_hand(article, rows)
                count += 1
            for table, width in TABLES.items():
                marks = ", ".join("?" * width)
                database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[table])
        database.commit()
    return count


def _by_hand(article: etree._Element, rows: dict[str, Rows]) -> None:
    def text(path: str) -> str:
        return "".join("".join(map(str, found.itertext())) for found in article.xpath(path))

    pmid = int(text("MedlineCitation/PMID"))
    cited = "MedlineCitation/Article"
    own = (
        f"{cited}/ArticleTitle", f"{cited}/Abstract/AbstractText", f"{cited}/Journal/Title",
        f"{cited}/Journal/ISSN", f"{cited}/Journal/JournalIssue/Volume",
        f"{cited}/Journal/JournalIssue/Issue", f"{cited}/Pagination/MedlinePgn",
        f"{cited}/Journal/JournalIssue/PubDate/Year", f"{cited}/Language",
        "PubmedData/ArticleIdList/ArticleId[@IdType='doi']",
        "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']",
    )  # fmt: skip
    rows["articles"].append((pmid, *map(text, own)))
    for author in article.iterfind(f"{cited}/AuthorList/Author"):
        names = [author.findtext(tag) for tag in ("LastName", "ForeName", "Initials")]
        rows["authors"].append((pmid, *names, author.findtext("AffiliationInfo/Affiliation")))
    for heading in article.iterfind("MedlineCitation/MeshHeadingList/MeshHeading"):
        term, *parts = heading
        for part in parts or [None]:
            name = None if part is None else part.text
            rows["mesh"].append((pmid, term.text, term.get("UI"), term.get("MajorTopicYN"), name))
    for kind in article.iterfind(f"{cited}/PublicationTypeList/PublicationType"):
        rows["publication_types"].append((pmid, kind.text))
    for word in article.iterfind("MedlineCitation/KeywordList/Keyword"):
        rows["keywords"].append((pmid, word.text))
    for reference in article.iterfind("PubmedData/ReferenceList/Reference"):
        ids = {el.get("IdType"): el.text for el in reference.iter("ArticleId")}
        citation = reference.findtext("Citation")
        rows["cited_works"].append((pmid, ids.get("pubmed"), ids.get("doi"), citation))


def genes(count: int) -> list[RawRecordPage]:
    """Summaries of *count* genes, 500 a page."""
    rows = [
        gene(str(n), f"GEN{n}", mim=[str(100_000 + n)], places=[PLACE, PLACE])
        for n in range(1, count + 1)
    ]
    return [summaries("gene", *rows[start : start + 500]) for start in range(0, count, 500)]


def timed(
    way: Callable[[Iterable[RawRecordPage], Path], int], pages: list[RawRecordPage], file: Path
) -> float:
    """Records a minute, on one core."""
    begun = time.process_time()
    count = way(pages, file)
    rate = 60 * count / (time.process_time() - begun)
    file.unlink()
    return rate


def staged(pages: Iterable[RawRecordPage], file: Path) -> int:
    return build_dataset(pages, file, {}).records


def speed(data: Path, records: int, runs: int, folder: Path) -> None:
    articles = [RawRecordPage("pubmed", "pubmed_xml", body) for _, body in batches(data, records)]
    ways = {
        "papershelf": (staged, articles),
        "script": (by_hand, articles),
        "summaries": (staged, genes(records)),
    }
    size = sum(len(page.body) for page in articles) / 1e6
    print(f"{records:,} records, {size:.0f} MB of PubMed's XML, {runs} interleaved runs")
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(runs):
        for name, (way, pages) in ways.items():
            rates[name].append(timed(way, pages, folder / f"{name}{run}.db"))
    for name, found in rates.items():
        print(f"{name:12}{statistics.median(found):10,.0f} records/min")
    pairs = zip(rates["papershelf"], rates["script"], strict=True)
    print(f"papershelf / script: {statistics.median(a / b for a, b in pairs):.2f}")


# --- saving -------------------------------------------------------------------------------------

QUESTIONS = {
    "Which ten journals have most of these papers?": (
        "SELECT journal, count(*) AS papers FROM articles GROUP BY journal"
        " ORDER BY papers DESC, journal LIMIT 10"
    ),
    "What are the papers mainly about?": (
        "SELECT descriptor, count(DISTINCT uid) AS papers FROM mesh WHERE is_major"
        " GROUP BY descriptor ORDER BY papers DESC, descriptor LIMIT 15"
    ),
    "Which works do they cite most?": (
        "SELECT cited_pmid, count(DISTINCT uid) AS papers FROM cited_works WHERE cited_pmid > 0"
        " GROUP BY cited_pmid ORDER BY papers DESC, cited_pmid LIMIT 10"
    ),
    "Which papers are retracted?": (
        "SELECT DISTINCT uid, year FROM articles JOIN publication_types USING (uid)"
        " WHERE publication_type = 'Retracted Publication' ORDER BY uid"
    ),
    "Who paid for most of them?": (
        "SELECT agency, count(DISTINCT uid) AS papers FROM grants WHERE agency IS NOT NULL"
        " GROUP BY agency ORDER BY papers DESC, agency LIMIT 10"
    ),
}


def said(text: str | None) -> str:
    return " ".join(html.unescape(text or "").split())


def top(found: Iterable[Any], most: int) -> Rows:
    counted = Counter(one for one in found if one)
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:most]


def truths(bodies: list[bytes]) -> list[Rows]:
    """The five answers, counted from the XML without any code of ours."""
    articles = [a for body in bodies for a in etree.fromstring(body).iterfind("PubmedArticle")]
    major = "self::*[@MajorTopicYN='Y'] or following-sibling::*[@MajorTopicYN='Y']"
    cited = "PubmedData//Reference/ArticleIdList/ArticleId[@IdType='pubmed']"
    retracted = ".//PublicationType[text()='Retracted Publication']"
    return [
        top((said(a.findtext("MedlineCitation/Article/Journal/Title")) for a in articles), 10),
        top((n for a in articles for n in _texts(a, f".//DescriptorName[{major}]")), 15),
        top((int(n) for a in articles for n in _texts(a, cited) if n.isdigit()), 10),
        sorted(
            (int(a.findtext("MedlineCitation/PMID") or 0), _year(a))
            for a in articles
            if a.xpath(retracted)
        ),
        top((n for a in articles for n in _texts(a, ".//Grant/Agency")), 10),
    ]


def _texts(article: etree._Element, path: str) -> set[str]:
    return {said("".join(map(str, found.itertext()))) for found in article.xpath(path)}


def _year(article: etree._Element) -> int:
    date = article.find("MedlineCitation/Article/Journal/JournalIssue/PubDate")
    text = "" if date is None else date.findtext("Year") or (date.findtext("MedlineDate") or "")[:4]
    return int(text)


def tokens(what: Any) -> float:
    return len(json.dumps(what, separators=(",", ":"), ensure_ascii=False)) / 4


def saving(data: Path, folder: Path) -> None:
    bodies = [gzip.decompress(path.read_bytes()) for path in sorted(data.glob("*.xml.gz"))]
    file = folder / "asked.db"
    built = build_dataset(
        (RawRecordPage("pubmed", "pubmed_xml", body) for body in bodies), file, {}
    )
    papers = [one for body in bodies for one in iterate_records(body) if isinstance(one, Paper)]
    given = tokens([paper.row() for paper in papers])
    raw = sum(len(body.decode()) for body in bodies) / 4
    print(f"\n{built.records:,} records are {given:,.0f} tokens as rows, {raw:,.0f} as XML")
    described = tokens(read_schema(file).to_text())
    for (question, sql), truth in zip(QUESTIONS.items(), truths(bodies), strict=True):
        answer = run_query(file, sql)
        rows = [tuple(row) for row in answer.rows]
        spent = described + tokens(sql) + tokens({"columns": answer.columns, "rows": rows})
        verdict = "right" if rows == truth else f"WRONG: {rows} is {truth}"
        print(
            f"{question:46}{spent:7,.0f} tokens, {1 - spent / given:.2%} less than rows,"
            f" {1 - spent / raw:.2%} less than XML; {verdict}"
        )
    stop_idle_processes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DEFAULT)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if not any(options.data.glob("*.xml.gz")):
        parser.exit(1, f"No *.xml.gz in {options.data}.\n")
    with tempfile.TemporaryDirectory() as folder:
        speed(options.data, options.records, options.runs, Path(folder))
        saving(options.data, Path(folder))


if __name__ == "__main__":
    main()
