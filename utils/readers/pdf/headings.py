"""Decide which lines and blocks of a PDF are headings, by words, number, font and size.

Not headings: banners and authors above the text, names of compounds, labels of figures, notes in
the margin, titles of works in the reference list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from ...outline.roles import find_roles
from ...outline.sections import classify_heading
from ...outline.words import fold_words
from .lines import LinePiece, is_directly_below, is_same_size

ABSTRACT = re.compile(r"(abstract|summary)\s*(?:[:.\u2014\u2013-]\s*|\s(?=[A-Z]))(?=\S)", re.I)
ENDS = (".", "!", "?", ":", ".\u201d", '."', ".)", ".]")
_HEADING_SIZE = 1.12  # of the body's: less is another font, not a heading
HEADING_WORDS = 18
_FEW_WORDS = 7  # of titles that all papers have
_SPELLED = re.compile(r"[^\W\d_]{2}")
BY_FONT, RUN_IN = 3, 4  # the levels of headings that only their font tells from text
_DISPLAY_SHARE = 0.06  # of the text's characters, that a font of headings has at most
_FAMILY_SHARE = 0.35  # of the text's characters, that a family of titles has at most
FEWEST_HEADINGS, _HEADING_RUNS = 3, 0.7  # in a font, that show it is one of headings
LONGEST = 32  # words of a heading on several lines
_LONGEST_NAME, _MOST_BLANKS = 60, 5  # characters and blanks of the title of a part
_NAMED_WORDS, _SPELLED_WORD = 40, re.compile(r"(?<!\S)[(]?[^\W\d_]{3,}[,.;)]{0,2}(?!\S)")
_READ_WORDS = 12  # of a text that ends in no full stop
_SMALL_WORD = re.compile(r"(?<!\S)[^\w\s]?[a-z]+[^\w\s]{0,2}(?!\S)")
_CAPTION = re.compile(r"(?:\(?[A-Za-z]\)?\s){0,4}(?:fig(?:ure)?|scheme|chart)\b\.?\s?\d", re.I)
_GOES_ON = re.compile(r"[,;:.&)\]]|[a-z]{2,}[\s,]")
_TEXT_WORDS = 5  # of a line of text below a heading; labels of figures have fewer
_HEADING_LEAST = 0.85  # of the size of the text below; the boxes of fonts of one size differ
_CANONICAL = re.compile(
    r"(?:\d+\.?\d*\.?\s+|[IVX]+\.\s+)?(?:introduction|background|(?:materials?|patients?|subjects?)"
    r" and methods?|methods?(?: and materials?)?|methodology|experimental(?: section| procedures)?"
    r"|results?(?: and discussions?)?|discussions?(?: and conclusions?)?|conclusions?"
    r"|concluding remarks|case (?:report|presentation)|limitations|objectives?|aims?)\W*",
    re.I,
)
_THINGS = r"table|fig(?:ure)?|scheme|box|chart|plate|text|file|data(?:set)?|movie|video|audio"
LABEL = re.compile(  # Figure 2, Additional file 1, S3 Text
    rf"(?:continued\W+|additional |supplementa(?:ry|l) )?(?:{_THINGS}|protocol)\b\.?\s?[A-Z]?\d"
    rf"|S\d{{1,2}} (?:{_THINGS}|protocol|appendix|checklist|code)\b",
    re.I,
)
NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?(?:\s?\|)?\s+[^\W\d_]")
SIDEBAR = re.compile(
    r"(?:key ?words?|correspondence|corresponding author|edited by|reviewed by|citation|received"
    r"|accepted|published|open access|how to cite|copyright|(?:please |to )?cite this|orcid"
    r"|address(?:es)? for|for reprints|reprint requests|access this article|quick response"
    r"|(?:academic |handling |associate )?editors?:|sources? of support"
    r"|(?:author )?affiliations?)\b",
    re.I,
)
_KIND = re.compile(  # of an article, or of access to it
    r"(?:(?:original|research|review|short|brief|clinical|mini|full|regular|invited|rapid) ?-?)+"
    r"(?:articles?|papers?|communications?|contributions?|research)|(?:mini[ -]?)?reviews?"
    r"|(?:free |full )*open(?: access)?(?: full text(?: article)?)?|editorial|articles?",
    re.I,
)
_NAME = r"(?:[^\W\d_a-z][\w.'\u2019-]*\s){1,4}[^\W\d_a-z][\w'\u2019-]+"
_MARKS = r"\s?(?:(?<=[^\W\d_])\d|[*\u2020\u2021\u00a7])[\d,*\u2020\u2021\u00a7\s]*"
_NAMES = re.compile(rf"[,;|&\s]*{_NAME}{_MARKS}(?:(?:[,;|&\s]|and\b)*{_NAME}(?:{_MARKS})?)+\W*")
_NAME_ALONE = re.compile(rf"[,;|&\s]*(?:and\s)?{_NAME}{_MARKS}\W*")
BULLETS = "\u25a0\u25aa\u25b6\u25ba\u25cf\u2022 "
_SMALL_PRINT = re.compile(r"([A-Z][^.:]{5,60}):\s+(?=[A-Z])")
_OFTEN = 4
_AUTHORS = re.compile(r"[^\W\d_],?\d{1,2}\b.{3,80}[^\W\d_],?\d{1,2}\b")
_LOCANT = re.compile(r"(?:^|[(\[\-\u2013])\d{1,2}[a-zA-Z']?(?:,\d{1,2}[a-zA-Z']?)*-\S*[a-z]{3}")
_COMPOUND = re.compile(r"\(?\d{1,3}[a-z]?(?:[\u2013-]\d{0,3}[a-z]?)?\)?\W*$")  # 3a, (12a-c)
_MEASURE = re.compile(r"\d+(?:[.,]\d+)? ?[a-z\u00b5\u03bc%]")  # 24 hours
_DECLARED = re.compile(r"([A-Z][^.:]{3,60}):\s+\S")
_RUN_ON = re.compile(
    r"[^\W\d_]{3}\. [^\W\d_a-z][^\W\d_]* "
)  # a sentence behind a title in its line
_PARAGRAPH_WORDS = 80  # so long a text is not a banner
_PREFIX = re.compile(  # of a heading: 2.1., 3 |, 4), (a), ii), IV.
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}(?:[.)]|\s?\|)?|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])\)|[IVX]{1,4}\.)"
    r"\s+(?=[^\W\d_])"
)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading (``level`` above 0), a paragraph, a table or a remark about a table.

    A block is *aside* if it interrupts the text without being part of it: tables, remarks, margins.
    """

    text: str
    level: int = 0
    size: float = 0.0  # of its first line
    rows: tuple[tuple[str, ...], ...] = ()  # of a table, which has no text
    is_remark: bool = False
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class Typography:
    """The typography of a paper: size and weight of the body, and styles of headings."""

    body: float
    is_bold: bool
    display: frozenset[tuple[str, float]]

    @classmethod
    def measure_typography(cls, lines: list[LinePiece], body: float) -> Typography:
        """Measure the typography of *lines*, most of which have the size *body*."""
        bold = sum(len(line.text) for line in lines if line.bold)
        is_bold = 2 * bold > sum(len(line.text) for line in lines)
        text = [line for line in select_lines_before_references(lines) if line.kind == "text"]
        return cls(body, is_bold, _find_heading_styles(text) | _find_minor_heading_styles(text))

    def is_heading_style(self, line: LinePiece) -> bool:
        """Return whether a line is set like a heading."""
        return (line.bold and not self.is_bold) or get_font_and_size(line) in self.display


def select_lines_before_references(lines: list[LinePiece]) -> list[LinePiece]:
    """Return the lines above the references, whose fonts and sizes differ."""
    return lines[: find_reference_heading(lines)]


def find_reference_heading(lines: list[LinePiece]) -> int | None:
    """Return the index of the last line that is the title of a reference list."""
    backwards = range(len(lines) - 1, -1, -1)
    return next(
        (at for at in backwards if is_major_section_title(lines[at].text, "references")), None
    )


def is_major_section_title(text: str, *parts: str) -> bool:
    """Return whether a line is the title of a main part such as the methods."""
    return (
        len(text) < _LONGEST_NAME
        and text.count(" ") <= _MOST_BLANKS
        and classify_heading(text) in parts
    )


def get_font_and_size(line: LinePiece) -> tuple[str, float]:
    """Return the font and size of a line, which a paper's headings share."""
    return line.font, round(2 * line.size) / 2


def _find_heading_styles(lines: list[LinePiece]) -> frozenset[tuple[str, float]]:
    """Return the rare styles of short lines that are above running text.

    The names of fonts seldom show that they are bold.
    """
    runs = [list(run) for _, run in groupby(lines, key=get_font_and_size)]
    shares: Counter[tuple[str, float]] = Counter()
    for run in runs:
        shares[get_font_and_size(run[0])] += sum(len(line.text) for line in run)
    counts = Counter(get_font_and_size(run[0]) for run in runs)
    fits = Counter(
        get_font_and_size(run[0])
        for run, (text, *_) in pairwise(runs)
        if _can_be_heading(run, text)
    )
    return frozenset(
        style
        for style, count in fits.items()
        if style[0]
        and count >= max(FEWEST_HEADINGS, _HEADING_RUNS * counts[style])
        and shares[style] <= _DISPLAY_SHARE * shares.total()
    )


def _find_minor_heading_styles(lines: list[LinePiece]) -> frozenset[tuple[str, float]]:
    """Return the styles of rare titles in the font family of the main titles."""
    chief = {
        family
        for line in lines
        if is_usual_section_title(line.text) and (family := _get_font_family(line))
    }
    letters = Counter[str]()
    for line in lines:
        letters[_get_font_family(line)] += len(line.text)
    rare = {family for family in chief if letters[family] <= _FAMILY_SHARE * letters.total()}
    runs = [list(run) for _, run in groupby(lines, key=get_font_and_size)]
    heads = ((run, text) for run, (text, *_) in pairwise(runs) if _get_font_family(run[0]) in rare)
    found: dict[tuple[str, float], bool] = {}
    for run, text in heads:
        style = get_font_and_size(run[0])
        found[style] = found.get(style, True) and _can_be_heading(run, text)
    return frozenset(style for style, is_head in found.items() if is_head)


def _get_font_family(line: LinePiece) -> str:
    """Return the family of a line's font: *Helvetica* for ``ABCDEF+Helvetica-Cn``."""
    return line.font.rpartition("+")[2].partition("-")[0] if "-" in line.font else ""


def _can_be_heading(run: list[LinePiece], text: LinePiece) -> bool:
    """Return whether lines of one font can be a heading above *text*."""
    first = run[0]
    return (
        sum(len(line.text.split()) for line in run) <= HEADING_WORDS
        and len(text.text.split()) >= _TEXT_WORDS
        and first.size > _HEADING_LEAST * text.size
        and not first.holes
        and starts_like_title(first.text)
        and not run[-1].text.endswith((".", ",", ";"))
    )


def guess_heading_level(line: LinePiece, look: Typography) -> int:
    """Return the heading level of a line by its typography; 0 for running text."""
    text = line.text.lstrip(BULLETS)
    words = text.split()
    if line.kind == "title":
        return RUN_IN
    is_text = line.kind == "text" and not line.holes and bool(_SPELLED.search(text))
    if not is_text or len(words) > HEADING_WORDS:
        return 0
    is_large = line.size >= _HEADING_SIZE * look.body
    is_display = look.is_heading_style(line)
    if len(words) > _FEW_WORDS and not is_display and not is_large:
        return 0
    if is_usual_section_title(text) or (
        len(words) <= 5 and classify_heading(text) in ("abstract", "references")
    ):
        return 2
    if _is_impossible_title(text):
        return 0
    is_back = len(words) <= 6 and classify_heading(text) == "back" and not text.endswith(".")
    if is_back and (line.bold or line.size > look.body):
        return 2
    if is_large and len(text) > 3:
        return 2 if line.size >= 1.25 * look.body else 3
    short = len(words) <= 12 and not text.endswith((".", ",", ";", ":")) and starts_like_title(text)
    numbered = _PREFIX.match(text) and starts_like_title(text) and not text.endswith(".")
    is_title = is_display and (short or numbered) and not LABEL.match(text)
    return BY_FONT if is_title else 0


def _is_impossible_title(text: str) -> bool:
    """Return whether the words of a line cannot be a section title in any style."""
    return bool(
        text.endswith(":")
        or SIDEBAR.match(text)
        or _KIND.fullmatch(text)
        or _NAMES.fullmatch(text)
        or is_compound_name(text)
        or _RUN_ON.search(text)
        or _MEASURE.match(text)
        or ((declared := _DECLARED.match(text)) and classify_heading(declared[1]) == "back")
    )


def starts_like_title(text: str) -> bool:
    """Return whether a text begins with a capital or a digit, after an optional number."""
    number = _PREFIX.match(text)
    first = text[number.end() if number else 0]
    return first.isupper() or first.isdigit()


def is_compound_name(text: str) -> bool:
    """Return whether a line is the name of a chemical compound, which titles a synthesis.

    >>> texts = "2-(4-Chlorophenyl)-4H-chromen-4-one (3a)", "3-Month outcomes"
    >>> [is_compound_name(text) for text in texts]
    [True, False]
    """
    if "-" not in text:
        return False
    words = text.split()
    named = sum(bool(_LOCANT.search(word)) for word in words)
    return 2 * named > len(words) or (named > 0 and len(words) > 1 and bool(_COMPOUND.search(text)))


def is_usual_section_title(text: str) -> bool:
    """Return whether a line is a usual section title and does not end a sentence."""
    return not text[:1].islower() and bool(_CANONICAL.fullmatch(text))


def demote_front_headings(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; headings before the text, and repeated ones, become paragraphs.

    These are names of journals, article types and authors, and labels of pages and figures.
    """
    begins = next((at for at, block in enumerate(blocks) if _is_start_of_text(block)), 0)
    above = blocks[begins - 1]
    if begins and not blocks[begins].level and above.level and not _AUTHORS.search(above.text):
        begins -= 1  # what stands right above the first paragraph is its title
    often = Counter(key for block in blocks if block.level and (key := _to_heading_key(block)))
    for at, block in enumerate(blocks):
        if not block.level:
            yield block
            continue
        is_author = 4 * at < len(blocks) and _are_personal_names(block.text)
        is_banner = at < begins or is_author or often[_to_heading_key(block)] >= _OFTEN
        yield replace(block, level=0) if is_banner else block


def _is_list_of_names(text: str, words: list[str]) -> bool:
    return len(words) >= _NAMED_WORDS and len(_SPELLED_WORD.findall(text)) > 0.7 * len(words)


def _are_personal_names(text: str) -> bool:
    return bool(_NAME_ALONE.fullmatch(text) or _NAMES.fullmatch(text))


def demote_column_headings(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; headings inside a table that was not rebuilt become paragraphs."""
    in_table = False
    for block, below in zip(blocks, [*blocks[1:], TextBlock("")], strict=True):
        named = block.level and (_PREFIX.match(block.text) or find_roles(block.text))
        text = below if block.level else block
        ends = named or (_is_long_paragraph(text) and _is_running_text_block(text.text))
        in_table = block.is_remark or (in_table and not ends)
        yield replace(block, level=0) if in_table else block


def _is_long_paragraph(block: TextBlock) -> bool:
    """Return whether a block is long enough to be a paragraph."""
    return not block.level and len(block.text.split()) >= _PARAGRAPH_WORDS


def demote_advertisement_headings(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; unusual headings after the references become paragraphs."""
    is_behind = False
    for block in blocks:
        if not block.level:
            yield block
            continue
        part = classify_heading(block.text)
        is_named = part != "body" or find_roles(block.text) or is_usual_section_title(block.text)
        is_behind = part == "references" or (is_behind and not (is_named and part == "body"))
        yield replace(block, level=0) if is_behind and not is_named else block


def _to_heading_key(block: TextBlock) -> str:
    """Return the key of a heading for comparison; empty if several sections may have this title."""
    return "" if find_roles(block.text) else "".join(fold_words(block.text))


def _is_start_of_text(block: TextBlock) -> bool:
    if block.level:
        is_own = bool(find_roles(block.text)) and classify_heading(block.text) in (
            "abstract",
            "body",
        )
        return is_usual_section_title(block.text) or is_own
    return bool(ABSTRACT.match(block.text)) or _is_long_paragraph(block)


def split_small_print(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks with *Conflict of interest: …* split into a heading and its text."""
    for at, block in enumerate(blocks):
        may_be = not block.level and 2 * at > len(blocks) and not SIDEBAR.match(block.text)
        match = _SMALL_PRINT.match(block.text) if may_be else None
        if match and classify_heading(match[1]) == "back":
            yield TextBlock(match[1], BY_FONT, block.size)
            yield replace(block, text=block.text[match.end() :])
        else:
            yield block


def promote_numbered_headings(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; consecutive section numbers (2.1, 2.2, 2.2.1) become headings in any style.

    Numbers show the level of headings more reliably than fonts do.
    """
    last: tuple[int, ...] = ()
    for block in blocks:
        match = NUMBERED_TITLE.match(block.text)
        number = tuple(map(int, match[1].split("."))) if match else ()
        deep = min(6, 1 + len(number))
        goes_on = bool(number) and (number == (1,) or _is_next_section_number(number, last))
        if block.level and number:
            last = number
            yield replace(block, level=deep) if goes_on or len(number) > 1 else block
        elif len(number) > 1 and goes_on and _can_be_section_title(block.text):
            last = number
            yield replace(block, level=deep)
        else:
            yield block


def _is_next_section_number(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    shorter = last[: len(number)]
    return number == (*last, 1) or (
        number[:-1] == shorter[:-1]
        and len(shorter) == len(number)
        and number[-1] == shorter[-1] + 1
    )


def _can_be_section_title(text: str) -> bool:
    return len(text.split()) <= HEADING_WORDS and not text.endswith((".", ",", ";", ":"))


def is_heading_continuation(previous: LinePiece, line: LinePiece) -> bool:
    """Return whether *line* is directly below in the same font."""
    together = is_same_size(previous, line) and is_directly_below(previous, line)
    alike = previous.font == line.font != "" or (previous.bold and line.bold)
    return together and alike and not is_separate_title(previous, line)


def is_separate_title(previous: LinePiece, line: LinePiece) -> bool:
    """Return whether a heading right below another is separate: *Methods*, *2.1 Animals*."""
    if _PREFIX.match(line.text) or is_usual_section_title(line.text):
        return True
    if is_major_section_title(line.text, "abstract", "references"):
        return True
    if not starts_like_title(line.text):
        return False
    is_capital = len(previous.text) > 3 and previous.text.isupper() and not line.text.isupper()
    is_other = "" != previous.font != line.font != "" and previous.bold != line.bold
    return is_usual_section_title(previous.text) or is_capital or is_other


def is_line_ended_early(previous: LinePiece, line: LinePiece) -> bool:
    """Return whether a line ends although the next word would have fitted."""
    if not starts_like_title(line.text) or abs(previous.left - line.left) > line.size / 2:
        return False
    width = (line.right - line.left) / max(1, len(line.text))
    return previous.right + width * (len(line.text.split()[0]) + 2) < line.right


def is_sentence_continuation(text: str) -> bool:
    """Return whether a text begins like the continuation of a sentence or list."""
    return bool(_GOES_ON.match(text))


def demote_figure_lettering(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; headings above words of figures and formulas become paragraphs."""
    is_text = False  # whether what follows is, other headings aside
    kept: list[TextBlock] = []
    for block in reversed(blocks):
        if not block.level:
            is_text = is_text if block.is_aside else _is_running_text_block(block.text)
            kept.append(block)
            continue
        named = (
            _PREFIX.match(block.text)
            or find_roles(block.text)
            or classify_heading(block.text) != "body"
        )
        named = named or is_usual_section_title(block.text)
        is_title = len(block.text.split()) <= LONGEST and (named or is_text)
        is_text = is_text or bool(is_title and named)
        kept.append(block if is_title else replace(block, level=0))
    yield from reversed(kept)


def _is_running_text_block(text: str) -> bool:
    """Return whether a block is running text."""
    if is_sentence_continuation(text) or _CAPTION.match(text):
        return False
    words, small = text.split(), len(_SMALL_WORD.findall(text))
    if text.endswith(ENDS) and len(words) >= _TEXT_WORDS:
        return small >= 0.3 * len(words) or _is_list_of_names(text, words)
    return len(words) >= _READ_WORDS and small >= 0.45 * len(words)
