r"""Commands with a meaning of their own: parts, labels, citations, notes, the front matter.

Functions that are no factories are named after the command they carry out.
"""

from __future__ import annotations

import re
from typing import Final

from ..jats.text import link
from . import environments, formulas
from .environments import STEPS
from .front import FRONT, learn_package
from .numbers import SECTIONS
from .quantities import QUANTITIES, take_quantity, to_markdown
from .references import add_source, cite, cite_silently, define_alias, read_list
from .signs import DINGBATS, HIGH, ITEM, LINE, ROW, RULE, SPANS, WIDE
from .tables import DELUXE
from .walk import Command, Walk

_LEVELS: Final = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_PICTURES: Final = (
    *("_tex", "_t", ".tikz", ".pgf", ".eepic", ".epic", ".png", ".jpg", ".eps", ".ps", ".pdf"),
    ".tkz",
)
_LONGEST_NAME: Final = 100  # characters of a file's
_RUN_IN: Final = ("paragraph", "subparagraph")
_REFERENCES: Final = {
    **dict.fromkeys(("ref", "subref", "vref", "nameref", "labelcref", "fullref"), "r"),
    **dict.fromkeys(("autoref", "Autoref", "Cref"), "C"),
    "eqref": "e",
    "pageref": "page",
    "cref": "c",
}
_CITES: Final = {
    **dict.fromkeys(("citep", "parencite", "autocite", "footcite"), "p"),
    **dict.fromkeys(("cite", "cites"), "c"),
    **dict.fromkeys(("citealp", "citealt"), "n"),
    **dict.fromkeys(("citenum", "onlinecite", "supercite", "Citep", "fullcite"), "p"),
    **dict.fromkeys(("citet", "textcite", "Citet", "citeasnoun", "shortcite", "newcite"), "t"),
    **dict.fromkeys(("citeauthor", "Citeauthor", "citefullauthor"), "a"),
    **dict.fromkeys(("citeyear", "citeyearpar", "citedate"), "y"),
    "citetalias": "alias",
    "citepalias": "(alias)",
}
_DIMENSION: Final = re.compile(r"=?-?\d*\.?\d+(?:pt|em|ex|cm|mm|in|true\w\w|sp|bp|pc|mu|fil+)?")
_DIMENSIONS: Final = (
    *("penalty", "kern", "hskip", "vskip", "parindent", "parskip", "baselineskip", "hsize"),
    *("vsize", "hoffset", "voffset", "tolerance", "widowpenalty", "clubpenalty", "mskip"),
    *("textwidth", "textheight", "leftskip", "rightskip", "hangindent", "tabcolsep"),
)


# --- parts of the text ----------------------------------------------------------------------------


def _section(name: str) -> Command:
    def begin_section(walk: Walk) -> None:
        starred = walk.stream.take_star()
        walk.stream.take_option()
        title = walk.take_line()
        walk.end_paragraph()
        if walk.in_abstract:  # where it heads a line, and counts nothing
            walk.lead = f"**{title.strip('* ').rstrip(':.')}.** " if title else ""
            return
        walk.front.is_opening = False
        number = "" if starred else walk.numbers.step(name)
        if number and walk.in_appendix and name in ("section", "chapter"):
            number = f"Appendix {number}"
        elif number and not number[:1].isdigit():
            number = f"{number}."
        level = max(2, _LEVELS[name] + walk.has_chapters)
        if title:
            walk.add(f"{'#' * min(level, 6)} {f'{number} {title}'.strip()}")

    return begin_section


def _run_in(walk: Walk) -> None:
    walk.stream.take_star()
    walk.stream.take_option()
    title = walk.take_line().strip("* ")
    walk.end_paragraph()
    walk.lead = f"**{title}** " if title else ""


def _appendix(walk: Walk) -> None:
    walk.in_appendix = True
    walk.numbers.begin_appendix()


def _caption(walk: Walk) -> None:
    starred = walk.stream.take_star()
    walk.stream.take_option()
    tokens = walk.stream.take_argument(long=True)
    kind = next((s.kind for s in reversed(walk.scopes) if s.kind in _CAPTIONED), "figure")
    _put_caption(walk, "" if starred else kind, tokens)


_CAPTIONED: Final = ("figure", "table", "algorithm", "subfigure")


def _captionof(walk: Walk) -> None:
    kind = walk.stream.take_text()
    walk.stream.take_option()
    kind = kind if kind in _CAPTIONED else "figure"
    _put_caption(walk, kind, walk.stream.take_argument(long=True))


def _put_caption(walk: Walk, kind: str, tokens: list[str]) -> None:
    number = walk.numbers.step(kind) if kind else ""
    text = walk.line(tokens)
    if kind == "subfigure":
        lead = f"({number}) "
    else:
        lead = f"**{kind.capitalize()} {number}.** " if kind else ""
    if text or lead.startswith("**"):
        walk.add(f"{lead}{text}".rstrip())


def _subfloat(walk: Walk) -> None:
    caption = walk.stream.take_option()
    if caption is not None and (second := walk.stream.take_option()) is not None:
        caption = second  # the first is for the list of figures
    _put_caption(walk, "subfigure", caption or [])


def _footnote(walk: Walk) -> None:
    walk.stream.take_option()
    text = walk.take_line()
    if text and walk.in_document:
        walk.note_count += 1
        walk.notes.append(f"[^{walk.note_count}]: {text}")
        walk.write(f"[^{walk.note_count}]")


# --- labels, citations, links ---------------------------------------------------------------------


def _label(walk: Walk) -> None:
    walk.numbers.add_label(walk.stream.take_text())


def _ref(kind: str) -> Command:
    def refer(walk: Walk) -> None:
        walk.stream.take_star()
        walk.refer(kind, walk.stream.take_text())

    return refer


def _href(walk: Walk) -> None:
    walk.stream.take_option()
    address = _address(walk)
    walk.write(link(walk.take_line(), address))


def _url(walk: Walk) -> None:
    address = _address(walk)
    walk.write(link("", address) or address)


def _address(walk: Walk) -> str:
    address = walk.stream.spelled_out(walk.stream.take_address())
    return re.sub(r"\\([%#&_~{}$])", r"\1", address).replace("\\", "").strip()


def _verb(walk: Walk) -> None:
    delimiter = walk.stream.take_character()
    if delimiter == "*":
        delimiter = walk.stream.take_character()
    end = "}" if delimiter == "{" else delimiter
    text = walk.stream.take_raw(end, same_line=True) if end else ""
    walk.write(f"`{text}`" if text.strip() and "`" not in text else text)


# --- files, counters ------------------------------------------------------------------------------


def _input(walk: Walk) -> None:
    name = walk.stream.take_file_name()
    _read_in(walk, name, walk.submission.find(name, walk.folder))


def _input_if_there(walk: Walk) -> None:
    if file := walk.submission.find(walk.stream.take_text(), walk.folder):
        walk.insert(file)


def _import(walk: Walk) -> None:
    walk.stream.take_star()
    folder, name = walk.stream.take_text(), walk.stream.take_text()
    _read_in(walk, name, walk.submission.find(name, folder.strip()))


def _read_in(walk: Walk, name: str, file: str) -> None:
    """Read a file in; a missing one leaves the paper incomplete.

    Not before the text, where files of TeX itself are read, and not a picture, which has no words.
    """
    if file.endswith((".sty", ".cls")):
        learn_package(walk, file)
    elif file:
        walk.insert(file)
    elif walk.in_document and name.strip() and not name.strip().lower().endswith(_PICTURES):
        walk.missing_file = walk.missing_file or name.strip()[:_LONGEST_NAME]


def _setcounter(add: bool) -> Command:
    def set_counter(walk: Walk) -> None:
        name, value = walk.stream.take_text(), walk.stream.take_text()
        if re.fullmatch(r"\s*-?\d{1,6}\s*", value):
            walk.numbers.set(name, int(value), add=add)

    return set_counter


def _stepcounter(walk: Walk) -> None:
    walk.numbers.step(walk.stream.take_text())


def _within(written: bool) -> Command:
    def put_within(walk: Walk) -> None:
        inner, outer = walk.stream.take_text(), walk.stream.take_text()
        walk.numbers.put_within(inner.strip(), outer.strip(), written=written)

    return put_within


def _for_print(walk: Walk) -> None:
    """The first of two texts; the other is for a PDF's outline."""
    printed = walk.stream.take_argument(long=True)
    walk.stream.take_argument(long=True)
    walk.stream.put_back(["{", *printed, "}"])


# --- tables, lists, algorithms --------------------------------------------------------------------


def _line_break(walk: Walk) -> None:
    walk.stream.take_star()
    walk.stream.take_option()
    is_row = bool(walk.scopes) and walk.scopes[-1].kind == "tabular"
    is_opening = walk.in_document and walk.front.is_opening
    walk.write(ROW if is_row else f"{LINE} " if is_opening else " ")


def _paragraph(walk: Walk) -> None:
    if any(scope.kind == "tabular" for scope in walk.scopes):
        walk.write(" ")
    else:
        walk.end_paragraph()


def _dimension(walk: Walk) -> None:
    r"""``\\kern-2pt``, ``\\parindent=0pt plus 1em``: a number that is not text."""
    if walk.stream.peek() == "=":
        walk.stream.take()
    walk.stream.peek()
    following = walk.stream.take()
    if following[:1] == "\\":  # a register
        return
    rest = following[match.end() :] if (match := _DIMENSION.match(following)) else following
    walk.stream.put_back_one(rest)


def _rule(spec: str) -> Command:
    def rule(walk: Walk) -> None:
        walk.skip(spec)
        walk.write(RULE)

    return rule


def _cmidrule(walk: Walk) -> None:
    """Rules under a part of the header."""
    walk.stream.take_option()
    if walk.stream.peek().startswith("("):
        walk.stream.take()
    walk.stream.take_argument()


def _multicolumn(walk: Walk) -> None:
    count = walk.stream.take_text()
    walk.stream.take_argument()
    _put_span(walk, WIDE, count)


def _multirow(walk: Walk) -> None:
    walk.stream.take_option()
    count = walk.stream.take_text()
    walk.stream.take_option()
    walk.stream.take_argument()
    walk.stream.take_option()
    _put_span(walk, HIGH, count)


def _put_span(walk: Walk, mark: str, count: str) -> None:
    """Write a cell that spans *count* columns or rows."""
    text = walk.take_line()
    walk.write(f"{mark}{count if count.isdecimal() and len(count) < 4 else ''}{SPANS}{text}")


def _ensuremath(walk: Walk) -> None:
    walk.stream.put_back(["$", *walk.stream.take_argument(long=True), "$"])


def _dollar(walk: Walk) -> None:
    following = walk.stream.take()
    if following == "$":
        formulas.write_display(walk, "$$")
        return
    walk.stream.put_back_one(following)
    formulas.write_inline(walk)


def _bibitem(walk: Walk) -> None:
    label = walk.stream.take_option()
    key = walk.stream.take_text()
    walk.end_paragraph()
    if label is not None:
        walk.bibliography.add_label(key, walk.line(label))
    walk.blocks.append(f"{ITEM}{key}")


def _ding(walk: Walk) -> None:
    walk.write(DINGBATS.get(walk.stream.take_text(), ""))


def _quantity(name: str) -> Command:
    def put_quantity(walk: Walk) -> None:
        walk.write(to_markdown(take_quantity(walk.stream, name) or []))

    return put_quantity


def _fraction(walk: Walk) -> None:
    walk.stream.take_option()
    over, under = walk.stream.take_argument(), walk.stream.take_argument()
    walk.write(f"{walk.line(over)}/{walk.line(under)}")


def _heading_only(title: str) -> Command:
    return lambda walk: walk.add(f"## {title}")


COMMANDS: Final[dict[str, Command]] = {
    **{name: _section(name) for name in SECTIONS},
    **dict.fromkeys(_RUN_IN, _run_in),
    **{name: _ref(kind) for name, kind in _REFERENCES.items()},
    **{name: cite(kind) for name, kind in _CITES.items()},
    **{name: _quantity(name) for name in QUANTITIES},
    **dict.fromkeys(("nicefrac", "sfrac"), _fraction),
    **STEPS,
    **dict.fromkeys(("hline", "toprule", "midrule", "bottomrule"), _rule("")),
    **dict.fromkeys(("hhline", "Xhline", "specialrule"), _rule("m")),
    **dict.fromkeys(("cmidrule", "cline"), _cmidrule),
    **FRONT,
    **dict.fromkeys(("input", "include", "subfile", "@input", "@@input"), _input),
    "InputIfFileExists": _input_if_there,
    **dict.fromkeys(("import", "subimport", "includefrom", "subincludefrom"), _import),
    **dict.fromkeys(("footnote", "footnotetext", "endnote", "tablefootnote"), _footnote),
    **dict.fromkeys(("acknowledgments", "acknowledgements"), _heading_only("Acknowledgments")),
    **dict.fromkeys(("bibliography", "printbibliography"), read_list),
    **dict.fromkeys(("verb", "lstinline"), _verb),
    **dict.fromkeys(("subfloat", "subfigure"), _subfloat),
    **dict.fromkeys(_DIMENSIONS, _dimension),
    **dict.fromkeys(("addbibresource", "addglobalbib", "addsectionbib"), add_source),
    **dict.fromkeys(("stepcounter", "refstepcounter"), _stepcounter),
    **DELUXE,
    "nocite": cite_silently,
    "defcitealias": define_alias,
    "ding": _ding,
    "begin": environments.begin,
    "end": environments.end,
    "item": environments.item,
    "par": _paragraph,
    "\\": _line_break,
    "tabularnewline": _line_break,
    "[": lambda walk: formulas.write_display(walk, "\\]"),
    "(": lambda walk: formulas.write_inline(walk, "\\)"),
    "math shift": _dollar,
    "ensuremath": _ensuremath,
    "appendix": _appendix,
    "caption": _caption,
    "captionof": _captionof,
    "label": _label,
    "href": _href,
    "url": _url,
    "nolinkurl": _url,
    "setcounter": _setcounter(add=False),
    "addtocounter": _setcounter(add=True),
    "numberwithin": _within(written=True),
    "@addtoreset": _within(written=False),
    "ifthenelse": lambda walk: walk.skip("mm"),
    "texorpdfstring": _for_print,
    "arrayrulecolor": lambda walk: walk.skip("om", star=True),
    "multicolumn": _multicolumn,
    "multirow": _multirow,
    "bibitem": _bibitem,
    "endinput": lambda walk: walk.stream.stop(),
}
