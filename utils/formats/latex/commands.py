r"""Commands with a meaning of their own: parts, labels, citations, notes, the front matter."""

from __future__ import annotations

import re
from typing import Final

from ..jats.text import link
from . import environments, formulas
from .algorithms import STEPS
from .deluxe import DELUXE
from .front import FRONT
from .numbers import SECTIONS
from .packages import learn
from .quantities import QUANTITIES, in_text, quantity
from .references import add_source, cite, cite_silently, define_alias, read_list
from .signs import DINGBATS, HIGH, ITEM, LINE, ROW, RULE, SPANS, WIDE
from .tokens import joined
from .walk import Command, Walk

_LEVELS: Final = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_PICTURES: Final = (
    "_tex",
    "_t",
    ".tikz",
    ".pgf",
    ".eepic",
    ".epic",
    ".png",
    ".jpg",
    ".eps",
    ".ps",
    ".pdf",
    ".tkz",
)
_LONGEST_NAME: Final = 100  # characters of a file's
_RUN_IN: Final = ("paragraph", "subparagraph")
_REFERENCES: Final = {
    "ref": "r",
    "eqref": "e",
    "pageref": "page",
    "autoref": "C",
    "cref": "c",
    "Cref": "C",
    "subref": "r",
    "vref": "r",
    "nameref": "r",
    "labelcref": "r",
    "fullref": "r",
    "Autoref": "C",
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
        starred = walk.gullet.star()
        walk.gullet.option()
        said = walk.line(walk.gullet.argument(long=True))
        walk.end_paragraph()
        if walk.in_abstract:  # where it heads a line, and counts nothing
            walk.lead = f"**{said.strip('* ').rstrip(':.')}.** " if said else ""
            return
        walk.front.opens = False
        number = "" if starred else walk.numbers.step(name)
        if number and walk.in_appendix and name in ("section", "chapter"):
            number = f"Appendix {number}"
        elif number and not number[:1].isdigit():
            number = f"{number}."
        level = max(2, _LEVELS[name] + (0 if not walk.has_chapters else 1))
        if said:
            walk.add(f"{'#' * min(level, 6)} {f'{number} {said}'.strip()}")

    return begin_section


def _run_in(walk: Walk) -> None:
    walk.gullet.star()
    walk.gullet.option()
    said = walk.line(walk.gullet.argument(long=True)).strip("* ")
    walk.end_paragraph()
    walk.lead = f"**{said}** " if said else ""


def _appendix(walk: Walk) -> None:
    walk.in_appendix = True
    walk.numbers.begin_appendix()


def _caption(walk: Walk) -> None:
    starred = walk.gullet.star()
    walk.gullet.option()
    tokens = walk.gullet.argument(long=True)
    kind = next((s.kind for s in reversed(walk.scopes) if s.kind in _CAPTIONED), "figure")
    _put_caption(walk, "" if starred else kind, tokens)


_CAPTIONED: Final = ("figure", "table", "algorithm", "subfigure")


def _captionof(walk: Walk) -> None:
    kind = joined(walk.gullet.argument()).strip()
    walk.gullet.option()
    _put_caption(walk, kind if kind in _CAPTIONED else "figure", walk.gullet.argument(long=True))


def _put_caption(walk: Walk, kind: str, tokens: list[str]) -> None:
    number = walk.numbers.step(kind) if kind else ""
    said = walk.line(tokens)
    if kind == "subfigure":
        lead = f"({number}) "
    else:
        lead = f"**{kind.capitalize()} {number}.** " if kind else ""
    if said or lead.startswith("**"):
        walk.add(f"{lead}{said}".rstrip())


def _subfloat(walk: Walk) -> None:
    said = walk.gullet.option()
    if said is not None and (more := walk.gullet.option()) is not None:
        said = more
    _put_caption(walk, "subfigure", said or [])


def _footnote(walk: Walk) -> None:
    walk.gullet.option()
    said = walk.line(walk.gullet.argument(long=True))
    if said and walk.in_document:
        walk.noted += 1
        walk.notes.append(f"[^{walk.noted}]: {said}")
        walk.write(f"[^{walk.noted}]")


# --- labels, citations, links ---------------------------------------------------------------------


def _label(walk: Walk) -> None:
    walk.numbers.name(joined(walk.gullet.argument()).strip())


def _ref(kind: str) -> Command:
    def refer(walk: Walk) -> None:
        walk.gullet.star()
        walk.refer(kind, joined(walk.gullet.argument()).strip())

    return refer


def _href(walk: Walk) -> None:
    walk.gullet.option()
    address = _address(walk)
    walk.write(link(walk.line(walk.gullet.argument(long=True)), address))


def _url(walk: Walk) -> None:
    address = _address(walk)
    walk.write(link("", address) or address)


def _address(walk: Walk) -> str:
    written = walk.gullet.spelled_out(walk.gullet.address())
    return re.sub(r"\\([%#&_~{}$])", r"\1", written).replace("\\", "").strip()


def _verb(walk: Walk) -> None:
    delimiter = walk.gullet.raw_sign()
    if delimiter == "*":
        delimiter = walk.gullet.raw_sign()
    text = (
        walk.gullet.raw({"{": "}"}.get(delimiter, delimiter), same_line=True) if delimiter else ""
    )
    walk.write(f"`{text}`" if text.strip() and "`" not in text else text)


# --- files, counters ------------------------------------------------------------------------------


def _input(walk: Walk) -> None:
    name = walk.gullet.file_name()
    _read_in(walk, name, walk.submission.find(name, walk.folder))


def _input_if_there(walk: Walk) -> None:
    if file := walk.submission.find(joined(walk.gullet.argument()), walk.folder):
        walk.insert(file)


def _import(walk: Walk) -> None:
    walk.gullet.star()
    folder, name = joined(walk.gullet.argument()), joined(walk.gullet.argument())
    _read_in(walk, name, walk.submission.find(name, folder.strip()))


def _read_in(walk: Walk, name: str, file: str) -> None:
    """Read a file in; one of the text's own that did not come leaves the paper incomplete.

    Before the text files of TeX itself are read, and pictures have no words.
    """
    if file.endswith((".sty", ".cls")):
        learn(walk, file)
    elif file:
        walk.insert(file)
    elif walk.in_document and name.strip() and not name.strip().lower().endswith(_PICTURES):
        walk.absent = walk.absent or name.strip()[:_LONGEST_NAME]


def _setcounter(add: bool) -> Command:
    def set_counter(walk: Walk) -> None:
        name, value = joined(walk.gullet.argument()).strip(), joined(walk.gullet.argument())
        if re.fullmatch(r"\s*-?\d{1,6}\s*", value):
            walk.numbers.set(name, int(value), add=add)

    return set_counter


def _stepcounter(walk: Walk) -> None:
    walk.numbers.step(joined(walk.gullet.argument()).strip())


def _within(written: bool) -> Command:
    def put_within(walk: Walk) -> None:
        inner, outer = joined(walk.gullet.argument()), joined(walk.gullet.argument())
        walk.numbers.put_within(inner.strip(), outer.strip(), written=written)

    return put_within


def _for_print(walk: Walk) -> None:
    """The first of two texts; the other is for a PDF's outline."""
    printed = walk.gullet.argument(long=True)
    walk.gullet.argument(long=True)
    walk.gullet.put_back(["{", *printed, "}"])


def _ifthenelse(walk: Walk) -> None:
    walk.skip("mm", known=False)


# --- tables, lists, algorithms --------------------------------------------------------------------


def _line_break(walk: Walk) -> None:
    walk.gullet.star()
    walk.gullet.option()
    is_row = bool(walk.scopes) and walk.scopes[-1].kind == "tabular"
    opens = walk.in_document and walk.front.opens
    walk.write(ROW if is_row else f"{LINE} " if opens else " ")


def _paragraph(walk: Walk) -> None:
    if any(scope.kind == "tabular" for scope in walk.scopes):
        walk.write(" ")
    else:
        walk.end_paragraph()


def _dimension(walk: Walk) -> None:
    r"""``\\kern-2pt``, ``\\parindent=0pt plus 1em``: a number that is not text."""
    if walk.gullet.peek() == "=":
        walk.gullet.take()
    walk.gullet.peek()
    following = walk.gullet.take()
    if following[:1] == "\\":  # a register
        return
    rest = following[match.end() :] if (match := _DIMENSION.match(following)) else following
    walk.gullet.put_back([rest] if rest else [])


def _rule(spec: str) -> Command:
    def rule(walk: Walk) -> None:
        walk.skip(spec, known=False)
        walk.write(RULE)

    return rule


def _cmidrule(walk: Walk) -> None:
    """Rules under a part of the header."""
    walk.gullet.option()
    if walk.gullet.peek().startswith("("):
        walk.gullet.take()
    walk.gullet.argument()


def _multicolumn(walk: Walk) -> None:
    count = joined(walk.gullet.argument()).strip()
    walk.gullet.argument()
    said = walk.line(walk.gullet.argument(long=True))
    walk.write(f"{WIDE}{count if count.isdecimal() and len(count) < 4 else ''}{SPANS}{said}")


def _multirow(walk: Walk) -> None:
    walk.gullet.option()
    count = joined(walk.gullet.argument()).strip()
    walk.gullet.option()
    walk.gullet.argument()
    walk.gullet.option()
    said = walk.line(walk.gullet.argument(long=True))
    walk.write(f"{HIGH}{count if count.isdecimal() and len(count) < 4 else ''}{SPANS}{said}")


def _ensuremath(walk: Walk) -> None:
    walk.gullet.put_back(["$", *walk.gullet.argument(long=True), "$"])


def _dollar(walk: Walk) -> None:
    following = walk.gullet.take()
    if following == "$":
        formulas.display(walk, "$$")
        return
    walk.gullet.put_back([following] if following else [])
    formulas.inline(walk)


def _bibitem(walk: Walk) -> None:
    label = walk.gullet.option()
    key = joined(walk.gullet.argument()).strip()
    walk.end_paragraph()
    if label is not None:
        walk.bibliography.label(key, walk.line(label))
    walk.blocks.append(f"{ITEM}{key}")


def _ding(walk: Walk) -> None:
    walk.write(DINGBATS.get(joined(walk.gullet.argument()).strip(), ""))


def _quantity(name: str) -> Command:
    def put_quantity(walk: Walk) -> None:
        walk.write(in_text(quantity(walk.gullet, name) or []))

    return put_quantity


def _fraction(walk: Walk) -> None:
    walk.gullet.option()
    over, under = walk.gullet.argument(), walk.gullet.argument()
    walk.write(f"{walk.line(over)}/{walk.line(under)}")


def _heading_only(said: str) -> Command:
    return lambda walk: walk.add(f"## {said}")


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
    "[": lambda walk: formulas.display(walk, "\\]"),
    "(": lambda walk: formulas.inline(walk, "\\)"),
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
    "ifthenelse": _ifthenelse,
    "texorpdfstring": _for_print,
    "arrayrulecolor": lambda walk: walk.skip("om"),
    "multicolumn": _multicolumn,
    "multirow": _multirow,
    "bibitem": _bibitem,
    "endinput": lambda walk: walk.gullet.stop(),
}
