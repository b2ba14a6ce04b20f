"""Markdown of publishers' pages and PDFs against the JATS of the same paper.

Like is compared with like. Found must be the abstract and the main text, and they must be found in
the main part of the markdown, not in its references. Not found may be what the JATS has nowhere: a
rail of related articles, a cookie banner. Tables are scored by themselves, row by row, where the
page has them as text (some publishers show a picture).
"""

from __future__ import annotations

import re
from collections import Counter

from lxml.html import fromstring

from quality.jats_scores import tables_of
from quality.jats_truth import Truth
from quality.measures import Scores, order_of_runs, recall, runs, words

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_NUMBER = re.compile(r"^(?:\d+\.?)+\s+")
# Small print every publisher prints under names of its own.
_BACK = re.compile(
    r"references?.*|acknowledge?ments?|author(s['’]?|['’]s)? contributions?|competing interests?"
    r"|conflicts? of interests?|funding.*|data availability.*|supplementary.*|supporting.*"
    r"|additional (information|files?).*|author (information|notes|details)|footnotes?"
    r"|notes on contributors|abbreviations|keywords|decision letter|author response"
    r"|article information|ethics.*|pre-publication history|rights and permissions"
    r"|about this article|declarations|disclosure statement|major datasets.*",
    re.I,
)


def html(case: str, truth: Truth, markdown: str, page: bytes, scores: Scores) -> None:
    """Main text, headings, tables and references of a page."""
    lines = markdown.split("\n")
    text = "\n".join(line for line in lines if not line.startswith("|"))
    wanted, found = words(f"{truth.abstract} {truth.main_text}"), words(main_part(text, truth))
    kept = recall(Counter(wanted), Counter(found))
    clean = recall(Counter(words(text)), Counter(words(truth.whole_text)))
    scores["HTML F1"].add(2 * kept * clean / ((kept + clean) or 1), case, good=0.95)
    scores["HTML runs"].add(recall(runs(wanted, 4), runs(found, 4)), case, good=0.95)
    heads = {_folded(found[2]) for line in lines if (found := _HEADING.match(line))}
    for title in truth.titles("body"):
        if _folded(title):
            scores["HTML headings"].count(_folded(title) in heads, f"{case}: {title.strip()[:80]}")
    output, shown = "".join(words(markdown)), "".join(words(_visible(page)))
    for reference in truth.references:
        text = "".join(words(reference))
        if text in shown:
            scores["HTML references"].count(text in output, f"{case}: {reference[:80]}")
    _table_rows(case, truth, markdown, page, scores)


def _table_rows(case: str, truth: Truth, markdown: str, page: bytes, scores: Scores) -> None:
    rows = [{_bare_cell(text) for text in row} for table in tables_of(markdown) for row in table]
    shown = [
        {_bare_cell(" ".join(cell.itertext())) for cell in row.iter("td", "th")}
        for row in fromstring(page).iter("tr")
    ]
    for number, table in enumerate(truth.tables, start=1):
        for at in sorted({cell.row for cell in table if not cell.head}):
            texts = {_bare_cell("".join(cell.pieces)) for cell in table if cell.row == at}
            if any(texts <= seen for seen in shown):
                ok = any(texts <= seen for seen in rows)
                scores["HTML table rows"].count(
                    ok, f"{case}: table {number} row {at} {texts!s:.90}"
                )


def _bare_cell(text: str) -> str:
    return "".join(words(text))


def _visible(page: bytes) -> str:
    return " ".join(fromstring(page).itertext())


def benchmark(case: str, gold: str, markdown: str, scores: Scores) -> None:
    """Words of the main content an annotator marked.

    Recall only: the recorded annotation ends in the middle of the page's discussion.
    """
    wanted = runs(words(gold), 4)
    scores["HTML benchmark runs"].add(recall(wanted, runs(words(markdown), 4)), case, good=0.95)


def pdf(case: str, running_text: str, markdown: str, scores: Scores) -> None:
    """Recall and order of the words of the paragraphs."""
    wanted, found = words(running_text), words(markdown)
    scores["PDF order"].add(order_of_runs(wanted, found), case, good=0.98)
    scores["PDF runs"].add(recall(runs(wanted, 5), runs(found, 5)), case, good=0.95)
    scores["PDF words"].add(recall(runs(wanted, 1), runs(found, 1)), case, good=0.98)


def main_part(markdown: str, truth: Truth) -> str:
    """The abstract and the main text of a paper's markdown."""
    own = {_folded(title) for title in truth.titles("body", "front")} - {""}
    outside = {_folded(title) for title in truth.titles("back", "sub-article", "response")} - own
    kept: list[str] = []
    skipped = 7  # depth of the heading whose section is left out; 7: what is before the first
    for line in markdown.split("\n"):
        if heading := _HEADING.match(line):
            depth, name = len(heading[1]), _folded(heading[2])
            is_back = name not in own and (
                name in outside or bool(_BACK.fullmatch(_bare(heading[2])))
            )
            if is_back:
                skipped = depth if not skipped else min(depth, skipped)
            elif skipped and (depth <= skipped or name in own) and depth > 1:
                skipped = 0
        if not skipped:
            kept.append(line)
    return "\n".join(kept)


def _bare(title: str) -> str:
    return _NUMBER.sub("", re.sub(r"[*\\#]", "", title)).strip(" .:")


def _folded(title: str) -> str:
    return "".join(words(_bare(title.strip())))
