"""Markdown of a JATS article against what is in the article."""

from __future__ import annotations

import re

from quality.jats_truth import Cell, Truth
from quality.measures import Scores, f1, in_order, plain, plain_markdown, words

_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+\s*$")
_NEAR = 4000  # characters between two pieces of one paragraph
_TELLING = 30  # characters that tell a paragraph from another
_REFERENCES = re.compile(r"references|bibliography|literature cited", re.I)

Table = list[list[str]]


def score(case: str, truth: Truth, markdown: str, scores: Scores, references: int = -1) -> None:
    """Count everything of one article; *references* is what the reader says it counted."""
    output = plain_markdown(markdown)
    _paragraphs(case, truth, output, scores)
    for caption in truth.captions:
        ok = all(_find(text, output) >= 0 for text in caption.texts)
        if ok and caption.label:
            ok = _labelled(caption.label, caption.texts[0], output)
        scores["captions"].count(ok, f"{case}: {caption.label} {_said(caption.texts[0])}")
    _tables(case, truth, markdown, output, scores)
    _formulas(case, truth, output, scores)
    for reference in truth.references:
        scores["references"].count(reference in output, f"{case}: {reference[:80]}")
    if references >= 0:
        expected = len(truth.references)
        scores["references counted"].count(
            references == expected, f"{case}: {references} of {expected}"
        )


def _said(pieces: tuple[str, ...]) -> str:
    return "…".join(piece[:60] for piece in pieces)[:200]


def _find(pieces: tuple[str, ...], output: str, start: int = 0) -> int:
    """Where the pieces begin to stand one after the other; -1 when they do not."""
    longest = max(pieces, key=len)
    before = pieces[: pieces.index(longest)]
    at = output.find(longest, start)
    while at >= 0:
        end = at + len(longest)
        for piece in pieces[len(before) + 1 :]:
            found = output.find(piece, end, end + _NEAR + len(piece))
            if found < 0:
                break
            end = found + len(piece)
        else:
            begin = at
            for piece in reversed(before):
                found = output.rfind(piece, max(0, begin - _NEAR - len(piece)), begin)
                if found < 0:
                    break
                begin = found
            else:
                return begin
        at = output.find(longest, at + 1)
    return -1


def _paragraphs(case: str, truth: Truth, output: str, scores: Scores) -> None:
    cursor, places = 0, []
    for pieces in truth.paragraphs:
        at = _find(pieces, output, cursor)
        at = _find(pieces, output) if at < 0 else at
        scores["paragraphs"].count(at >= 0, f"{case}: {_said(pieces)}")
        if at >= 0 and len(max(pieces, key=len)) >= _TELLING:
            places.append(at)
            cursor = at
    if places:
        scores["order"].add(in_order(places) / len(places), case)


def _labelled(label: str, text: tuple[str, ...], output: str) -> bool:
    """Whether the label stands right before the caption, but for a full stop."""
    at = output.find(text[0])
    while at >= 0:
        if label.rstrip(".:") in output[max(0, at - len(label) - 4) : at]:
            return True
        at = output.find(text[0], at + 1)
    return False


# --- tables -----------------------------------------------------------------------------------


def tables_of(markdown: str) -> list[Table]:
    r"""Pipe tables of a text, header first, cells in plain characters, empty rows dropped.

    >>> tables_of("| a | b |\n| --- | --- |\n| 1\\|2 |  |\n")
    [[['a', 'b'], ['12', '']]]
    """
    found: list[list[str]] = [[]]
    for written in markdown.split("\n"):
        line = written.strip().removeprefix("> ").strip()
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    tables = [[_split(line) for line in lines if not _RULE.match(line)] for lines in found if lines]
    return [[row for row in table if any(row)] for table in tables]


def _split(line: str) -> list[str]:
    return [plain(cell) for cell in _CELL_END.split(line)[1:-1]]


def _tables(case: str, truth: Truth, markdown: str, output: str, scores: Scores) -> None:
    unused = tables_of(markdown)
    for number, cells in enumerate(truth.tables, start=1):
        found = _best(cells, unused)
        if found is not None:
            unused.remove(found)
        heads = 1 + max((cell.row for cell in cells if cell.head), default=-1)
        for cell in cells:
            ok = found is not None and _in_place(cell, found, heads)
            where = f"{case}: table {number} row {cell.row} column {cell.column}"
            if cell.pieces:
                scores["cells"].count(ok, f"{where}: {_said(cell.pieces)}")
                kept = ok or all(piece in output for piece in cell.pieces)
                scores["cell texts"].count(kept, f"{where}: {_said(cell.pieces)}")
            if cell.formulas:
                scores["formulas"].count(ok, f"{where}: formula in a cell")


def _best(cells: list[Cell], tables: list[Table]) -> Table | None:
    """The table that has most of the cells' texts."""
    wanted = {piece for cell in cells for piece in cell.pieces}

    def likeness(table: Table) -> float:
        texts = {text for row in table for text in row if text}
        shared = len(wanted & texts)
        return shared / (len(wanted | texts) or 1)

    return max(tables, key=likeness, default=None)


def _in_place(cell: Cell, table: Table, heads: int) -> bool:
    """Whether the cell stands in its row and column; all rows of a head may be joined in one."""
    at = 0 if cell.row < heads else cell.row - max(0, heads - 1)
    if at >= len(table) or cell.column >= len(table[at]):
        return False
    text = table[at][cell.column]
    if cell.row < heads:
        return all(piece in text for piece in cell.pieces) and bool(text)
    if not cell.free:
        return text == "".join(cell.pieces)
    end = 0
    for piece in cell.pieces:
        end = text.find(piece, end) + len(piece)
        if end < len(piece):
            return False
    return len(text) >= sum(map(len, cell.pieces)) + cell.formulas


# --- formulas ---------------------------------------------------------------------------------


def _formulas(case: str, truth: Truth, output: str, scores: Scores) -> None:
    """A formula counts as kept when something stands between the texts around it."""
    cursor = 0
    for before, count, after in truth.formulas:
        start = output.find(before, cursor) if before else cursor
        if start < 0 and len(before) >= _TELLING:
            start = output.find(before)
        begin = start + len(before)
        end = output.find(after, begin, begin + _NEAR) if after and start >= 0 else -1
        # A label or number between the blocks breaks the text around; the dollar remains.
        ok = (start >= 0 and bool(before) and output[begin : begin + 1] == "$") or (
            len(after) > 5 and f"${after[:12]}" in output
        )
        ok = ok or (bool(before and after) and end - begin >= count)
        ok = ok or (not (before and after) and "$" in output[cursor : cursor + _NEAR])
        scores["formulas"].right += count * ok
        scores["formulas"].total += count
        if not ok:
            scores["formulas"].misses.append(f"{case}: {before}[…]{after}")
        if start >= 0:
            cursor = begin


# --- texts made by people -----------------------------------------------------------------------


def craft(case: str, gold: str, markdown: str, scores: Scores) -> None:
    """Token F1 against CRAFT's plain text, which has neither references nor table bodies."""
    lines = without_section(markdown, _REFERENCES).split("\n")
    text = "\n".join(line for line in lines if not line.startswith("|"))
    scores["CRAFT F1"].add(f1(words(gold), words(text)), case, good=0.99)


def without_section(markdown: str, title: re.Pattern[str]) -> str:
    """The text without the sections of that title, their subsections included."""
    kept, level = [], 0
    for line in markdown.split("\n"):
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        if heading:
            depth = len(heading[1])
            if level and depth <= level:
                level = 0
            if not level and title.fullmatch(heading[2].strip("*_:. ")):
                level = depth
        if not level:
            kept.append(line)
    return "\n".join(kept)
