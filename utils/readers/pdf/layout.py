"""Convert the lines of a PDF to markdown: reading order, running heads, hyphens, headings.

A PDF has no paragraphs, headings or columns. `build_text_blocks` infers them from position, size
and repetition, in pure Python, so that each step can be tested without a PDF:

1. Attach accents to letters, and put the lines of each page in reading order: a vertical gap that
   hardly any line crosses separates columns; lines across the page divide the columns.
2. Drop line numbers, and lines that are repeated in the margins of most pages (running heads).
3. Measure the typography (`.headings.Typography`): the body is the largest size that many
   characters have; rare styles of short lines above running text are those of headings.
4. Split titles from the text on the same line, and mark where entries of the references begin.
5. Gather lines into blocks. A block ends at a wider distance, an indent after a short line, or a
   change of style. Words broken at a line's end are joined unless the paper spells the hyphen.
6. Rejoin paragraphs that a footnote, table or page break interrupts.
7. Demote headings that are banners, column heads, labels of figures or advertisements, and promote
   numbered ones (2.1 after 2).

For example, *Methods* in bold above running text is a heading; the same word at the top of five
pages is a running head and is dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import itemgetter
from statistics import median

from ...outline.sections import classify_heading
from ...outline.words import fold_words
from .captions import CAPTION, TITLED
from .contents import drop_table_of_contents
from .contributions import merge_contributor_roles
from .headings import (
    ABSTRACT,
    BULLETS,
    BY_FONT,
    ENDS,
    HEADING_WORDS,
    LONGEST,
    TextBlock,
    Typography,
    demote_advertisement_headings,
    demote_column_headings,
    demote_figure_lettering,
    demote_front_headings,
    guess_heading_level,
    is_heading_continuation,
    is_line_ended_early,
    is_sentence_continuation,
    is_separate_title,
    is_usual_section_title,
    promote_numbered_headings,
    select_lines_before_references,
    split_small_print,
    starts_like_title,
)
from .joining import join_printed_lines
from .lettering import merge_scattered_words
from .lines import (
    LinePiece,
    PageLines,
    combine_accents,
    is_as_short_as_mark,
    is_directly_below,
    is_same_size,
)
from .margins import (
    mark_marginal_lines,
    mark_masthead_lines,
    remove_line_numbers,
    remove_running_lines,
)
from .parts import merge_table_parts
from .references import is_reference_start, mark_reference_entries
from .run_ins import split_numbered_run_in_titles, split_run_in_titles
from .titles import unify_title_fonts

_SMALL = 0.95  # of the body's size: footnotes, captions and tables
_MANY = 0.5  # of the characters in the most frequent size
_WIDE = 0.9  # of a heading's width: how long a line of a sentence above it is at least
_MOST_BETWEEN = 12  # blocks between the halves of a sentence
_GUTTER = (0.3, 0.7)  # of the page's width: where the white between two columns may be
_CROSSING = 0.15  # of the text: titles, tables and wide figures cross the gutter
_MIXED = 0.3  # of the rows: with more pieces on both sides, PDFium read across the columns
_TOUCHES, _OVERLAP = (
    0.3,
    0.1,
)  # of a line's size: how far its torn pieces are apart or run into each other
_LEVEL = 0.5  # of the smaller piece's size: how much of it is level with the other
_TYPE = re.compile(
    r"^(?:(?:original |research |review |short |mini ?)*(?:article|review|communication|research)"
    r"|case report|open access|letter)\W+(?=[A-Z])",
    re.I,
)
_PERIODICAL = re.compile(r"\b(?:journal|annals|archives|acta|bulletin|transactions)\b", re.I)
_LONGEST_NAME = 7  # words of a journal's
_MOST_OF_TYPE = 60  # characters
_WORD = re.compile(r"[^\W\d_]{3,}")
_FEW_WORDS = 5


def build_text_blocks(pages: list[PageLines], title: str) -> list[TextBlock]:
    """Return the headings and paragraphs of the whole text in order, without the title."""
    ordered = [
        replace(page, lines=tuple(_sort_lines_by_reading_order(page)))
        for page in _combine_accents_in_pages(pages)
    ]
    clean = remove_running_lines([remove_line_numbers(page) for page in ordered])
    clean = mark_masthead_lines(mark_marginal_lines(clean), title)
    lines = merge_table_parts([line for page in clean for line in page.lines])
    if not lines:
        return []
    body = _find_body_size(select_lines_before_references(lines) or lines)
    look = Typography.measure_typography(lines, body)
    leading = _measure_line_distance(lines)
    lines = list(unify_title_fonts(lines, look, leading))
    marked_lines = list(
        mark_reference_entries(list(split_run_in_titles(lines, look)), look, leading)
    )
    blocks = list(
        demote_figure_lettering(list(_group_lines_into_blocks(marked_lines, look, leading)))
    )
    rejoined = list(_rejoin_interrupted_paragraphs(merge_scattered_words(blocks), body))
    numbered = promote_numbered_headings(split_numbered_run_in_titles(rejoined))
    is_title = _make_title_predicate(title)
    found = (block for block in numbered if block.rows or not is_title(block.text))
    headed = demote_column_headings(list(demote_front_headings(list(found))))
    text = split_small_print(list(demote_advertisement_headings(headed)))
    return list(
        _promote_abstract_label(merge_contributor_roles(drop_table_of_contents(list(text))))
    )


def _make_title_predicate(title: str) -> Callable[[str], bool]:
    """Return a function that tests if a text is the title, with or without the article type."""
    words, small = fold_words(title), title.casefold()
    wanted = "".join(words)
    telling = max((word for word in words if word in small), key=len, default="")

    def is_title(text: str) -> bool:
        if telling not in text.casefold() or len(text) > 2 * len(wanted) + _MOST_OF_TYPE:
            return False
        return wanted in ("".join(fold_words(text)), "".join(fold_words(_TYPE.sub("", text))))

    return is_title


def _rejoin_interrupted_paragraphs(blocks: Iterable[TextBlock], body: float) -> Iterator[TextBlock]:
    """Yield the blocks with paragraphs rejoined around footnotes, tables and captions.

    These are asides or have smaller type than the text, which continues in mid-sentence.
    """
    open_, between, joined = None, list[TextBlock](), 0
    for block in blocks:
        is_small = block.is_aside or (not block.level and block.size < _SMALL * body)
        if open_ and is_small and not (between or block.is_aside) and block.text[:1].islower():
            open_ = replace(
                open_, text=_append_continuation(open_.text, block.text)
            )  # small by its formulas
            continue
        if open_ and is_small and len(between) < _MOST_BETWEEN:
            between.append(block)
            continue
        goes_on = (
            not block.level and block.text[:1].islower() and _are_text_blocks(between[joined:])
        )
        if open_ and between and goes_on:
            open_, joined = (
                replace(open_, text=_append_continuation(open_.text, block.text)),
                len(between),
            )
        else:
            yield from (*([open_] if open_ else []), *between)
            open_, between, joined = block, [], 0
        if open_.level or is_small or open_.text.endswith(ENDS):
            yield from (open_, *between)
            open_, between, joined = None, [], 0
    yield from (*([open_] if open_ else []), *between)


def _are_text_blocks(blocks: list[TextBlock]) -> bool:
    """Return whether blocks are asides or running text, and not pieces of a formula."""
    if any(block.is_aside for block in blocks):
        return True
    return sum(len(_WORD.findall(block.text)) for block in blocks) >= _FEW_WORDS


def _append_continuation(text: str, rest: str) -> str:
    return text[:-1] + rest if re.search(r"[^\W\d_]-$", text) else f"{text} {rest}"


def _combine_accents_in_pages(pages: list[PageLines]) -> Iterator[PageLines]:
    """Yield the pages with separate accents combined with their letters."""
    said = [text for page in pages for line in page.lines for text in _iterate_line_texts(line)]
    accented = combine_accents(said)
    if accented == said:
        yield from pages
        return
    texts = iter(accented)
    for page in pages:
        lines = []
        for line in page.lines:
            text = next(texts)
            rows = tuple(tuple(next(texts) for _ in row) for row in line.rows)
            same = text == line.text and rows == line.rows
            lines.append(line if same else replace(line, text=text, rows=rows))
        yield replace(page, lines=tuple(lines))


def _iterate_line_texts(line: LinePiece) -> Iterator[str]:
    yield line.text
    for row in line.rows:
        yield from row


def _promote_abstract_label(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; a run-in *Abstract:* becomes a heading."""
    seen = False
    for block in blocks:
        seen = seen or (block.level > 0 and classify_heading(block.text) != "body")
        match = None if seen or block.level else ABSTRACT.match(block.text)
        if match:
            seen = True
            yield TextBlock("Abstract", 2)
        yield replace(block, text=block.text[match.end() :]) if match else block


def format_blocks_as_markdown(title: str, blocks: Iterable[TextBlock]) -> str:
    """Return the blocks as markdown, with markdown characters escaped."""
    written = [f"# {_escape_markdown(title)}"] if title else []
    for block in blocks:
        if block.rows:
            written.append(_format_markdown_table(block.rows))
            continue
        text = _escape_markdown(block.text)
        written.append(
            f"{'#' * block.level} {text}" if block.level else _format_caption_label(text)
        )
    return "\n\n".join(written)


def _format_caption_label(text: str) -> str:
    """Return a caption with its label in bold; any other text is unchanged."""
    found = CAPTION.match(text)
    if not found or not TITLED.match(found["rest"]):
        return text
    end = found.start("rest")
    return f"**{text[:end]}**{text[end:]}"


def _format_markdown_table(rows: tuple[tuple[str, ...], ...]) -> str:
    """Return a markdown table whose first row is the header."""
    lines = ["| " + " | ".join(map(_escape_table_cell, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _escape_table_cell(text: str) -> str:
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.replace("*", r"\*"))
    return text.replace("|", r"\|")


def find_largest_title(page: PageLines) -> str:
    """Return the title on the first page: its largest text of several words."""
    groups: list[list[LinePiece]] = []
    for line in _sort_lines_by_reading_order(page):
        if (
            groups
            and is_same_size(groups[-1][-1], line)
            and is_directly_below(groups[-1][-1], line)
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
    runs = [
        (group[0].size, " ".join(line.text for line in group), group[0].bold) for group in groups
    ]
    usual = _count_characters_by_size(list(page.lines)).most_common(1)[0][0] if page.lines else 0.0
    worded = [
        (size, text)
        for size, text, bold in runs
        if 3 <= len(text.split()) <= 45 and len(text) > 15 and (size > 1.05 * usual or bold)
    ]
    worded.sort(key=lambda pair: -pair[0])
    text = " ".join(fold_words(" ".join(line.text for line in page.lines)))
    for _, title in worded[:3]:
        # A journal's name is set large as well, but stands again in the running head or citation.
        is_short = len(title.split()) <= _LONGEST_NAME
        is_name = _PERIODICAL.search(title) or text.count(" ".join(fold_words(title))) > 1
        if not (is_short and is_name):
            return _TYPE.sub("", title)
    return _TYPE.sub("", worded[0][1]) if worded else ""


def _sort_lines_by_reading_order(page: PageLines) -> list[LinePiece]:
    """Return the page's rows in reading order, with mixed columns separated."""
    upright = [line for line in page.lines if line.upright]
    lines = upright if 2 * len(upright) >= len(page.lines) else list(page.lines)
    gutter = _find_column_gutter(lines, page.width)
    if gutter and _are_columns_mixed(lines, gutter):
        return _sort_lines_by_column(lines, gutter)
    return list(_merge_row_pieces(lines))


def _join_split_lines(lines: list[LinePiece]) -> Iterator[LinePiece]:
    """Yield the lines, joined where PDFium split them at raised or foreign letters."""
    last: LinePiece | None = None
    for line in lines:
        if last and _is_same_printed_line(last, line):
            longer = max(last, line, key=lambda piece: len(piece.text))
            text, span = f"{last.text} {line.text}", (last.span[0], line.span[1])
            last = replace(
                longer, text=text, left=last.left, right=line.right, row=last.row, span=span
            )
            continue
        if last:
            yield last
        last = line
    if last:
        yield last


def _is_same_printed_line(last: LinePiece, line: LinePiece) -> bool:
    """Return whether a line directly continues the line before it, and one is short."""
    is_note = not any(map(str.isalpha, last.text))  # 1 before an address, * before a remark
    if line.row == last.row or not last.kind == line.kind == "text" or is_note:
        return False
    size = min(last.size, line.size)
    overlap = min(last.top, line.top) - max(last.bottom, line.bottom)
    beside = -_OVERLAP * size < line.left - last.right < _TOUCHES * size
    return (
        beside
        and overlap > _LEVEL * size
        and last.upright
        and line.upright
        and is_as_short_as_mark(last) != is_as_short_as_mark(line)
    )


def _merge_row_pieces(lines: list[LinePiece]) -> Iterator[LinePiece]:
    """Yield the pieces of each row as one line."""
    row: list[LinePiece] = []
    for line in _join_split_lines(lines):
        if row and line.row != row[0].row:
            yield _join_row_pieces(row)
            row = []
        row.append(line)
    if row:
        yield _join_row_pieces(row)


def _join_row_pieces(row: list[LinePiece]) -> LinePiece:
    if len(row) == 1:
        return row[0]
    return replace(
        row[0],
        text=" ".join(line.text for line in row),
        left=min(line.left for line in row),
        right=max(line.right for line in row),
        bold=all(line.bold for line in row),
        holes=len(row) - 1,
    )


def _find_column_gutter(lines: list[LinePiece], width: float) -> float:
    """Return the position between two columns that hardly any text crosses; 0 without one."""
    total = sum(len(line.text) for line in lines)
    ends = sorted((line.right, len(line.text)) for line in lines)
    starts = sorted((-line.left, len(line.text)) for line in lines)
    ended = [0, *accumulate(count for _, count in ends)]
    begun = [0, *accumulate(count for _, count in starts)]
    best, least = 0.0, _CROSSING * total
    for step in range(int(_GUTTER[0] * 100), int(_GUTTER[1] * 100)):
        x = width * step / 100
        left = ended[bisect_right(ends, x, key=itemgetter(0))]
        right = begun[bisect_right(starts, -x, key=itemgetter(0))]
        crossing = total - left - right
        if min(left, right) > 0.2 * total and crossing < least:
            best, least = x, crossing
    return best


def _are_columns_mixed(lines: list[LinePiece], gutter: float) -> bool:
    """Return whether rows cross both columns, or the order alternates between them."""
    rows: dict[int, set[bool]] = {}
    sides = [line.left >= gutter for line in lines if not _is_line_crossing(line, gutter)]
    for line in lines:
        if not _is_line_crossing(line, gutter):
            rows.setdefault(line.row, set()).add(line.left >= gutter)
    across = sum(len(seen) == 2 for seen in rows.values())
    jumps = sum(a != b for a, b in pairwise(sides))
    return across > _MIXED * len(rows) or jumps > _MIXED * len(sides)


def _is_line_crossing(line: LinePiece, x: float) -> bool:
    return line.left < x < line.right


def _sort_lines_by_column(lines: list[LinePiece], gutter: float) -> list[LinePiece]:
    """Return the lines from top to bottom, the left column before the right one."""
    ordered: list[LinePiece] = []
    left: list[LinePiece] = []
    right: list[LinePiece] = []
    for line in sorted(lines, key=lambda line: (-round(line.top), line.left)):
        if _is_line_crossing(line, gutter):
            ordered += [*left, *right, line]
            left, right = [], []
        else:
            (right if line.left >= gutter else left).append(line)
    return [*ordered, *left, *right]


def _find_body_size(lines: list[LinePiece]) -> float:
    """Return the largest font size that many characters have.

    Notes, tables and references have smaller type, and may be longer than the text.
    """
    sizes = _count_characters_by_size(lines)
    most = max(sizes.values())
    return max(size for size, count in sizes.items() if count >= _MANY * most)


def _count_characters_by_size(lines: list[LinePiece]) -> Counter[float]:
    """Return the number of characters of each font size."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes


def _group_lines_into_blocks(
    lines: list[LinePiece], look: Typography, leading: float
) -> Iterator[TextBlock]:
    """Yield headings and paragraphs made of the lines."""
    gathered: list[LinePiece] = []
    level = 0
    part = "lead"
    page_text = "\n".join(text for line in lines for text in _iterate_line_texts(line))
    spoken = set(re.findall(r"[\w-]+", page_text.lower()))
    for line in lines:
        if line.kind in ("table", "remark"):
            if gathered:
                yield _build_block(gathered, level, spoken)
            rows = _join_cell_lines(line.rows, spoken)
            yield TextBlock(line.text, rows=rows, is_remark=not rows, is_aside=True)
            gathered, level = [], 0
            continue
        this = guess_heading_level(line, look)
        if this == BY_FONT and part == "references":
            this = 0  # titles of works in another font
        if gathered and level and _is_paragraph_in_heading_style(gathered, line, this):
            level = 0
        if gathered:
            this = _guess_level_below(gathered[-1], level, line, this, leading)
        if gathered and (this != level or _is_block_start(gathered, line, leading, this, part)):
            yield (block := _build_block(gathered, level, spoken))
            named = classify_heading(block.text) if level else "body"
            # The title and a banner are headings, too; the text begins under a name of its own.
            if named != "body" or (
                level and (part != "lead" or is_usual_section_title(gathered[0].text))
            ):
                part = named
            gathered = []
        gathered.append(line)
        level = this
    if gathered:
        yield _build_block(gathered, level, spoken)


def _guess_level_below(
    previous: LinePiece, level: int, line: LinePiece, this: int, leading: float
) -> int:
    """Return the level of a line that looks like *this* and is below a line of *level*."""
    if line.kind == "title":
        return this
    if (
        this == BY_FONT or (level and not starts_like_title(line.text))
    ) and is_heading_continuation(previous, line):
        return level
    if not level and this >= BY_FONT and _is_within_sentence(previous, line, leading):
        return 0
    is_second = level and is_directly_below(previous, line)
    return 0 if this and not is_second and is_sentence_continuation(line.text) else this


def _is_paragraph_in_heading_style(gathered: list[LinePiece], line: LinePiece, this: int) -> bool:
    """Return whether lines that look like a heading begin a whole paragraph in that style."""
    last = gathered[-1]
    fills = last.right > line.right - 2 * line.size and abs(last.left - line.left) < 2 * line.size
    words = sum(len(line_.text.split()) for line_ in (*gathered, line))
    most = LONGEST if this else HEADING_WORDS
    may_be = words > most and this in (0, BY_FONT) and last.kind == line.kind
    return may_be and fills and not last.text.endswith(ENDS) and is_heading_continuation(last, line)


def _is_within_sentence(previous: LinePiece, line: LinePiece, leading: float) -> bool:
    """Return whether the line directly above ends in the middle of a sentence."""
    step = previous.top - line.top
    is_near = 0 < step < 1.2 * leading and previous.left < line.right and line.left < previous.right
    wide = previous.right - previous.left > _WIDE * (line.right - line.left)
    return is_near and wide and not previous.text.endswith(ENDS) and previous.kind == line.kind


def _build_block(lines: list[LinePiece], level: int, spoken: set[str]) -> TextBlock:
    text = join_printed_lines([line.text for line in lines], spoken)
    if level:
        text = text.lstrip(BULLETS) or text
    return TextBlock(text, level, lines[0].size, is_aside=lines[0].kind == "margin")


def _join_cell_lines(
    rows: tuple[tuple[str, ...], ...], spoken: set[str]
) -> tuple[tuple[str, ...], ...]:
    """Return a table with the lines of each cell joined into one text."""
    return tuple(
        tuple(join_printed_lines(cell.split("\n"), spoken) for cell in row) for row in rows
    )


def _measure_line_distance(lines: list[LinePiece]) -> float:
    """Return the usual distance between the tops of two lines, in points."""
    steps = [a.top - b.top for a, b in pairwise(lines)]
    close = [step for a, step in zip(lines, steps, strict=False) if 0 < step < 3 * a.size]
    return median(close) if close else 12.0


def _is_block_start(
    gathered: list[LinePiece], line: LinePiece, leading: float, level: int, part: str
) -> bool:
    """Return whether a line begins another block than the lines before it."""
    previous = gathered[-1]
    if line.kind in ("entry", "cited") and previous.kind in ("entry", "cited"):
        return line.kind == "entry"
    if previous.kind != line.kind:
        return True
    if level:
        together = is_same_size(previous, line) and is_directly_below(previous, line)
        if part != "lead" and line.kind == "text" and is_line_ended_early(previous, line):
            return True
        return not together or is_separate_title(previous, line)
    if part == "lead" and ABSTRACT.match(line.text):
        return True
    telling = next((text for text in reversed(gathered) if not is_as_short_as_mark(text)), previous)
    if part != "references" and not is_same_size(telling, line):
        return True
    step = previous.top - line.top
    ended = previous.text.endswith(ENDS)
    if part == "references":
        return is_reference_start(previous, line, leading)
    if step < 0 or step > 4 * leading:  # another column or page
        return ended and line.text[:1].isupper() and _is_after_short_line(previous, line)
    if step > 1.45 * leading:
        return True
    return ended and line.left > previous.left + 0.6 * line.size and line.text[:1].isupper()


def _is_after_short_line(previous: LinePiece, line: LinePiece) -> bool:
    """Return whether the previous line is much shorter, like the last line of a paragraph."""
    return (previous.right - previous.left) < 0.9 * (line.right - line.left)


def _escape_markdown(text: str) -> str:
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.replace("*", r"\*"))
    return re.sub(r"^(#{1,6}(?:\s|$)|[-+>]\s|```)", r"\\\1", text)
