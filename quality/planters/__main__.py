"""Count what `check` says of planted statements: agrees, differs or not judged.

``python -m quality.planters [--records FOLDER] [--mistakes]`` scores the statements of `.`: sets C
and D, and B if FOLDER has the records of PubMed that it cites (EFetch's XML, in any subfolder).
``python -m quality.planters STATEMENTS.jsonl --articles FOLDER`` scores set A.

The goals: at most 1 % of the false statements agree, and at most 3 % of the true ones differ.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

from utils.manuscript.claims import check_sentence
from utils.manuscript.parts import ManuscriptBlock, iterate_sentences
from utils.manuscript.passages import CitedText
from utils.manuscript.statements import Statement
from utils.model.paper import Fetched
from utils.readers import jats

HERE = Path(__file__).parent
WRITTEN = {name: HERE / f"statements_{name.lower()}.jsonl" for name in "BCD"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m quality.planters", description=__doc__)
    parser.add_argument("statements", nargs="?", type=Path)
    parser.add_argument("--articles", type=Path, default=Path())
    parser.add_argument("--records", type=Path, help="PubMed's records that set B cites")
    parser.add_argument("--mistakes", action="store_true")
    asked = parser.parse_args()
    if asked.statements:
        sets = {asked.statements.name: asked.statements}
    else:
        sets = {name: path for name, path in WRITTEN.items() if name != "B" or asked.records}
    for name, path in sets.items():
        print(f"Set {name}")
        counts = score(path, asked.articles, asked.records, show_mistakes=asked.mistakes)
        print_counts(counts)


def score(
    path: Path, articles: Path, records: Path | None = None, *, show_mistakes: bool = False
) -> dict[tuple[bool, str], Counter[str]]:
    """Count the results of a set's statements, by truth and kind."""
    counts: dict[tuple[bool, str], Counter[str]] = defaultdict(Counter)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        statements = check(row["statement"], read_text(row, articles, records))
        result = summarize(statements)
        counts[row["truth"], row["kind"]][result] += 1
        if show_mistakes and result == ("differs" if row["truth"] else "agrees"):
            show(row, statements)
    return counts


@cache
def read_abstracts() -> dict[str, str]:
    """Return the kept abstracts by PMCID."""
    return json.loads((HERE / "abstracts.json").read_text(encoding="utf-8"))


@cache
def read_records(folder: Path) -> dict[str, str]:
    """Return the abstracts in EFetch's XML below a folder, by PMID."""
    found = {}
    for path in sorted(folder.rglob("*.xml")):
        root = etree.parse(str(path), etree.XMLParser(recover=True)).getroot()
        for article in root.iter("PubmedArticle") if root is not None else ():
            parts = ["".join(one.itertext()) for one in article.iter("AbstractText")]
            found[article.findtext(".//PMID") or ""] = " ".join(parts)
    return found


@cache
def read_articles(folder: Path) -> dict[str, Path]:
    rows = map(json.loads, (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["pmid"]: folder / row["files"]["jats"] for row in rows if "jats" in row["files"]}


@cache
def read_article(path: Path) -> CitedText:
    """Return an article of the recorded data as `check` reads it from the shelf."""
    body = path.read_bytes()
    return CitedText(
        "", jats.read_document(Fetched(body, "jats", "", "", "")).markdown, is_full=True
    )


def read_text(row: dict[str, Any], articles: Path, records: Path | None) -> CitedText:
    """Return the text that a statement cites."""
    if "pmid" in row:
        return read_article(read_articles(articles)[row["pmid"]])
    pmid = row["source"].removeprefix("PMID ")
    known = read_records(records) if pmid != row["source"] and records else read_abstracts()
    return CitedText("", f"# Title\n\n{known[pmid]}\n", is_full=True)


def check(statement: str, text: CitedText) -> list[Statement]:
    sentences = iterate_sentences(ManuscriptBlock(statement))
    return [made for one in sentences if (made := check_sentence(one, [text]))]


def summarize(statements: list[Statement]) -> str:
    """Return the weakest result of the sentences; sentences without an element are not judged."""
    results = {one.result for one in statements}
    if "differs" in results:
        return "differs"
    return "agrees" if results == {"agrees"} else "not judged"


def show(row: dict[str, Any], statements: list[Statement]) -> None:
    print(f"{'TRUE' if row['truth'] else 'FALSE'} {row['kind']}: {row['statement']}")
    print(f"    source: {row.get('source', '')}")
    for claim in (one for made in statements for one in made.elements):
        print(f"    {claim.kind} {claim.what!r} {claim.outcome}: {claim.said}")
        print(f"        {claim.passage[:300]}")


def print_counts(counts: dict[tuple[bool, str], Counter[str]]) -> None:
    print(f"{'':34}{'agrees':>8}{'differs':>9}{'not judged':>12}")
    for truth in (False, True):
        rows = {kind: row for (is_true, kind), row in counts.items() if is_true is truth}
        total: Counter[str] = sum(rows.values(), Counter())
        for kind, row in {**rows, "all": total}.items():
            name = f"{'true' if truth else 'false'}: {kind}"
            print(f"{name:34}{row['agrees']:8}{row['differs']:9}{row['not judged']:12}")
        wrong = total["differs" if truth else "agrees"]
        print(f"  {wrong} of {total.total()} wrong ({wrong / max(1, total.total()):.1%})\n")


if __name__ == "__main__":
    main()
