"""Markdown of PDFs against the JATS of the same paper: tables, headings, runs, references.

A row counts where one row of the markdown has its cells, each whole, in order, in a table that
stands under the right caption; each row of the markdown counts once. Every second paper, in the
order of their names, is for tuning; the others are looked at by nobody who works on the reader.

``python -m quality.pdf_scores [FOLDER]`` shows the scores of both halves, without what was
missed, and how fast the reader is beside PDFium's text of the same pages.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from lxml import etree

from quality.__main__ import SHARED, say
from quality.jats_scores import tables_of
from quality.jats_truth import Cell, Truth
from quality.measures import Scores, recall, runs, words
from quality.page_scores import _BACK, _bare, _folded
from utils.readers.pdf.child import read_pages_here

_HEADING = re.compile(r"#{2,6}\s+(.*)")
_LABEL = re.compile(
    r"\W*(?:supplement\w* |additional )?table\.?\s*([A-Z]?\d{1,3}|[IVX]{1,4})\b", re.I
)
_NUMBER = re.compile(r"\d+(?:[.,\u00b7]\d+)*")
_MOST_WORDS = 0.75  # of an entry's, that its line has
_MUCH_LONGER, _IDENTIFIERS = 1.3, 25  # words: a line that has more is two entries
HALVES = ("held_out", "tuning")


@dataclass(frozen=True, slots=True)
class Pair:
    """A paper as PDF and as JATS."""

    name: str
    half: str
    pdf: Path
    jats: Path


def pairs(root: Path) -> list[Pair]:
    """All papers under *root* that are there in both forms."""
    pdfs = [*root.glob("*/*/paper.pdf"), *root.glob("html/publisher/*/*/fulltext.pdf")]
    both = [pdf for pdf in pdfs if pdf.with_name("jats.xml").exists()]
    both.sort(key=lambda pdf: pdf.parent.name)
    return [
        Pair(pdf.parent.name, HALVES[at % 2], pdf, pdf.with_name("jats.xml"))
        for at, pdf in enumerate(both)
    ]


def score(case: str, truth: Truth, markdown: str, scores: Scores) -> None:
    """Everything the JATS can say of a PDF's markdown."""
    table_rows(case, _labelled(truth), markdown, scores)
    headings(case, truth, markdown, scores)
    references(case, truth, markdown, scores)
    found = runs(words(markdown), 4)
    scores["4-word runs"].add(recall(runs(words(truth.running_text), 4), found), case, good=0.98)
    # Between two paragraphs print has titles, figures and tables that the JATS has elsewhere.
    within = sum((runs(words(text), 4) for text in truth.running_paragraphs), Counter())
    scores["4-word runs within paragraphs"].add(recall(within, found), case, good=0.985)


def table_rows(
    case: str, tables: Iterable[tuple[str, list[Cell]]], markdown: str, scores: Scores
) -> None:
    """Rows whole and in place, and the numbers of tables that are anywhere in the text."""
    written = _by_label(markdown)
    numbers = Counter(_numbers(markdown))
    for label, table in tables:
        rows = _rows([cell for cell in table if not cell.head])
        unused = [list(row) for row in written.get(label, [])]
        if head := [cell for cell in table if cell.head]:
            ok = _holds_head(unused, head)
            scores["table heads"].count(ok, f"{case}: {label} {_rows(head)!s:.150}")
        for at, row in enumerate(rows):
            match = next((seen for seen in unused if _holds(seen, row)), None)
            if match is not None:
                unused.remove(match)
            scores["table rows"].count(match is not None, f"{case}: {label} row {at} {row!s:.100}")
        for number in _numbers(" ".join(" ".join(cell.pieces) for cell in table)):
            numbers[number] -= 1
            scores["table numbers"].count(numbers[number] >= 0, f"{case}: {label} {number}")


def headings(case: str, truth: Truth, markdown: str, scores: Scores) -> None:
    """Titles of the body's sections that are headings; headings that are no title of anything."""
    lines = markdown.split("\n")
    heads = [_folded(found[1]) for line in lines if (found := _HEADING.match(line))]
    left = Counter(heads)
    for title in truth.titles("body"):
        if name := _folded(title):
            left[name] -= 1
            scores["headings"].count(left[name] >= 0, f"{case}: {title.strip()[:80]}")
    whole = {_folded("".join(el.itertext())) for el in truth.tree.iter("title", "article-title")}
    known = whole | {"abstract", "references", "summary"}
    false = [
        found[1]
        for line in lines
        if (found := _HEADING.match(line))
        and _folded(found[1]) not in known
        and not _BACK.fullmatch(_bare(found[1]))
    ]
    scores["papers without false headings"].count(not false, f"{case}: {false!s:.400}")
    scores["false headings"].total += 1
    scores["false headings"].right += len(false)


def references(case: str, truth: Truth, markdown: str, scores: Scores) -> None:
    """Entries of the list of references that are a line of their own, with most of their words."""
    lines = [Counter(words(line)) for line in markdown.split("\n") if line.strip()]
    for el in truth.tree.iterfind("back//ref"):
        parts = el.iterfind(".//*[@pub-id-type]"), el.iterfind("label")
        unprinted = Counter(word for part in parts for one in part for word in _words_of(one))
        entry = Counter(_words_of(el)) - unprinted
        size = entry.total()
        at = max(
            range(len(lines)), key=lambda at: (lines[at] & entry).total() - _over(lines[at], size)
        )
        whole = (lines[at] & entry).total() >= _MOST_WORDS * size
        scores["references"].count(
            whole and not _over(lines[at], size), f"{case}: {' '.join(entry)!s:.100}"
        )


def _over(line: Counter[str], size: int) -> int:
    """How many words too many a line has for an entry of so many; identifiers may be printed."""
    return max(0, line.total() - round(_MUCH_LONGER * size) - _IDENTIFIERS)


def _words_of(el: etree._Element) -> list[str]:
    return words(" ".join(str(text) for text in el.itertext()))


def _labelled(truth: Truth) -> Iterator[tuple[str, list[Cell]]]:
    """Each table with the number in its label; the parts of one table with the same."""
    from quality.jats_truth import cells_of

    for wrap in truth.tree.iter("table-wrap"):
        found = _LABEL.match(
            "".join(wrap.find("label").itertext()) if wrap.find("label") is not None else ""
        )
        for table in wrap.iter("table"):
            cells = cells_of(table)
            if found and len(cells) > 1:
                yield found[1].upper(), cells


def _by_label(markdown: str) -> dict[str, list[list[str]]]:
    """Rows of markdown tables by the number in the caption above, each cell in bare letters."""
    found: dict[str, list[list[str]]] = {}
    label, gathered = "", list[str]()
    for line in [*markdown.split("\n"), ""]:
        if line.startswith("|"):
            gathered.append(line)
            continue
        for table in tables_of("\n".join(gathered)):
            rows = ([text for cell in row if (text := _bare_cell(cell))] for row in table)
            found.setdefault(label, []).extend(rows)
        gathered = []
        if caption := _LABEL.match(line):
            label = caption[1].upper()
    return found


def _rows(table: list[Cell]) -> list[list[str]]:
    rows: dict[int, list[str]] = {}
    for cell in table:
        if text := _bare_cell("".join(cell.pieces)):
            rows.setdefault(cell.row, []).append(text)
    return list(rows.values())


def _holds(seen: list[str], row: list[str]) -> bool:
    """Whether the cells of *row* stand in *seen*, each whole, one after the other."""
    rest = iter(seen)
    return all(cell in rest for cell in row)


def _holds_head(written: list[list[str]], head: list[Cell]) -> bool:
    """Whether the names of the columns stand in one row, in order, or the head row by row."""
    rows = _rows(head)
    last = rows[-1]
    for row in written:
        rest = iter(row)
        if all(any(name in cell for cell in rest) for name in last):
            everything = "".join(row)
            if all(text in everything for names in rows for text in names):
                return True
    return all(any(_holds(seen, row) for seen in written) for row in rows)


def _bare_cell(text: str) -> str:
    return "".join(words(text))


def _numbers(text: str) -> list[str]:
    return [found.replace("\u00b7", ".") for found in _NUMBER.findall(text)]


def main() -> None:
    """Show the scores of both halves, and the speed."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    known = pairs(root)
    for half in HALVES:
        scores = Scores()
        for pair in known:
            if pair.half == half:
                found = read_pages_here(pair.pdf.read_bytes())["markdown"]
                score(pair.name, Truth(pair.jats.read_bytes()), found, scores)
        for name, value in sorted(scores.items()):
            say(f"{half:9} {name:34} {value.value:.3f}  of {value.total:g}")
    bodies = [pair.pdf.read_bytes() for pair in known]
    ours, raw = (min(_seconds(read, bodies) for _ in range(3)) for read in (read_pages_here, _raw))
    say(f"speed: {raw / ours:.2f} of PDFium's text alone, {ours / len(bodies):.2f} s a paper")


def _seconds(read: Callable[[bytes], object], bodies: list[bytes]) -> float:
    start = time.process_time()
    for body in bodies:
        read(body)
    return time.process_time() - start


def _raw(body: bytes) -> list[str]:
    """What pypdfium2 gives by itself."""
    document = pypdfium2.PdfDocument(body)
    return [document[at].get_textpage().get_text_bounded() for at in range(len(document))]


if __name__ == "__main__":
    main()
