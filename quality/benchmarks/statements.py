"""Count what `check` says of planted statements: agrees, differs or not judged.

``python -m quality.benchmarks.statements STATEMENTS.jsonl [--articles FOLDER] [--mistakes]``

A line of STATEMENTS has ``statement``, ``truth`` and ``kind``, and either ``cited`` (the cited
text) or ``pmid`` (an article of FOLDER). The goals: at most 1 % of the false statements agree, and
at most 3 % of the true ones differ.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from utils.manuscript.claims import check_sentence
from utils.manuscript.parts import Block, split_sentences
from utils.manuscript.passages import CitedText
from utils.manuscript.statements import Statement
from utils.model.paper import Fetched
from utils.readers import jats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("statements", type=Path)
    parser.add_argument("--articles", type=Path, default=Path())
    parser.add_argument("--mistakes", action="store_true")
    asked = parser.parse_args()
    counts: dict[tuple[bool, str], Counter[str]] = defaultdict(Counter)
    for line in asked.statements.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = read_text(row, asked.articles)
        statements = check(row["statement"], text)
        result = summarize(statements)
        counts[row["truth"], row["kind"]][result] += 1
        if asked.mistakes and result == ("differs" if row["truth"] else "agrees"):
            show(row, statements)
    print_counts(counts)


@cache
def read_articles(folder: Path) -> dict[str, Path]:
    rows = map(json.loads, (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["pmid"]: folder / row["files"]["jats"] for row in rows if "jats" in row["files"]}


@cache
def read_article(path: Path) -> CitedText:
    """Return an article of the recorded data as `check` reads it from the shelf."""
    body = path.read_bytes()
    return CitedText("", jats.read(Fetched(body, "jats", "", "", "")).markdown, is_full=True)


def read_text(row: dict[str, Any], articles: Path) -> CitedText:
    if "cited" in row:
        return CitedText("", f"# Title\n\n{row['cited']}\n", is_full=True)
    return read_article(read_articles(articles)[row["pmid"]])


def check(statement: str, text: CitedText) -> list[Statement]:
    sentences = split_sentences(Block(statement))
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
