r"""Commands with a meaning of their own: parts, labels, citations, notes, the front matter."""

from __future__ import annotations

import re
from typing import Final

from ..jats.text import link
from . import environments, formulas
from .numbers import SECTIONS
from .references import cite, read_list
from .signs import HIGH, ITEM, ROW, RULE, SPANS, WIDE
from .tokens import joined
from .walk import Command, Walk

_LEVELS: Final = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_RUN_IN: Final = ("paragraph", "subparagraph")
_BREAKS: Final = frozenset(("\\and", "\\And", "\\AND", "\\\\", "\\newline", "\\par", "\\quad"))
_NOT_NAMES: Final = frozenset(
    rf"\{name}"
    for name in (
        *(
            "thanks",
            "footnote",
            "inst",
            "email",
            "orcid",
            "orcidlink",
            "footnotemark",
            "textsuperscript",
        ),
        *("affiliation", "address", "IEEEauthorrefmark", "IEEEmembership", "altaffilmark", "fnref"),
        *(
            "thanksref",
            "institute",
            "corref",
            "cor",
            "orcidID",
            "affil",
            "url",
            "href",
            "ead",
            "vspace",
        ),
    )
)
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
}
_STEPS: Final = {
    "State": ("", ""),
    "STATE": ("", ""),
    "Statex": ("", ""),
    "Require": ("", "Require:"),
    "Ensure": ("", "Ensure:"),
    "Input": ("", "Input:"),
    "Output": ("", "Output:"),
    "Else": ("-+", "else"),
    "Repeat": ("+", "repeat"),
    "Loop": ("+", "loop"),
    "EndFor": ("-", ""),
    "EndWhile": ("-", ""),
    "EndIf": ("-", ""),
    "EndLoop": ("-", ""),
    "EndFunction": ("-", ""),
    "EndProcedure": ("-", ""),
}
_LOOPS: Final = {
    "For": ("+", "for", "do"),
    "ForAll": ("+", "for all", "do"),
    "While": ("+", "while", "do"),
    "If": ("+", "if", "then"),
    "ElsIf": ("-+", "else if", "then"),
    "Until": ("-", "until", ""),
    "Procedure": ("+", "procedure", ""),
    "Function": ("+", "function", ""),
}


# --- parts of the text ----------------------------------------------------------------------------


def _section(name: str) -> Command:
    def begin_section(walk: Walk) -> None:
        starred = walk.gullet.star()
        walk.gullet.option()
        said = walk.line(walk.gullet.argument(long=True))
        walk.end_paragraph()
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
    written = joined(walk.gullet.argument())
    return re.sub(r"\\([%#&_~{}$])", r"\1", written).replace("\\", "").strip()


def _verb(walk: Walk) -> None:
    delimiter = walk.gullet.raw_sign()
    if delimiter == "*":
        delimiter = walk.gullet.raw_sign()
    text = (
        walk.gullet.raw({"{": "}"}.get(delimiter, delimiter), same_line=True) if delimiter else ""
    )
    walk.write(f"`{text}`" if text.strip() and "`" not in text else text)


# --- front matter ---------------------------------------------------------------------------------


def _title(walk: Walk) -> None:
    walk.gullet.option()
    tokens = walk.gullet.argument(long=True)
    walk.front.title = walk.front.title or walk.line(_without_notes(tokens))


def _author(walk: Walk) -> None:
    walk.gullet.option()
    told: list[str] = []
    for lexeme in _without_notes(walk.gullet.argument(long=True)):
        if lexeme in _BREAKS:
            walk.front.authors.append(walk.line(told))
            # After a line break comes where the author works.
            walk.front.authors.append("\n" if lexeme in ("\\\\", "\\newline", "\\par") else "")
            told = []
        else:
            told.append(lexeme)
    walk.front.authors += [walk.line(told), ""]


def _without_notes(tokens: list[str]) -> list[str]:
    """Without thanks, addresses and marks."""
    kept: list[str] = []
    depth, dropping = 0, -1
    awaiting = False  # the argument of a command that is no name
    for lexeme in tokens:
        depth += lexeme == "{"
        if awaiting and lexeme == "{":
            dropping, awaiting = depth, False
        elif lexeme in _NOT_NAMES and dropping < 0:
            awaiting = True
        elif dropping < 0 and not (awaiting and lexeme in (" ", "*")):
            awaiting = False
            kept.append(lexeme)
        depth -= lexeme == "}"
        if depth < dropping:
            dropping = -1
    return kept


def _abstract(walk: Walk) -> None:
    r"""``\abstract{…}``, in some journals several arguments long."""
    while walk.gullet.peek() == "{":
        with walk.apart(walk.gullet.argument(long=True)) as blocks:
            pass
        walk.front.abstract += blocks


def _keywords(walk: Walk) -> None:
    walk.front.keywords = walk.front.keywords or walk.line(walk.gullet.argument(long=True))


def _doi(walk: Walk) -> None:
    walk.front.doi = walk.front.doi or joined(walk.gullet.argument()).strip()


def _document_class(walk: Walk) -> None:
    options = joined(walk.gullet.option() or [])
    name = joined(walk.gullet.argument()).strip()
    walk.numbers.follow(name)
    walk.has_chapters = name.endswith(("book", "report", "thesis"))
    walk.bibliography.follow(name, options)


def _usepackage(walk: Walk) -> None:
    options = joined(walk.gullet.option() or [])
    for name in joined(walk.gullet.argument()).split(","):
        walk.bibliography.follow(name.strip(), options)
        if file := walk.submission.find(name, walk.folder, ".sty"):
            walk.insert(file)


def _newtheorem(walk: Walk) -> None:
    starred = walk.gullet.star()
    name = joined(walk.gullet.argument()).strip()
    shared = walk.gullet.option()
    said = walk.line(walk.gullet.argument(long=True))
    within = walk.gullet.option()
    counter = joined(shared).strip() if shared else name
    if shared and counter in walk.theorems:
        counter = walk.theorems[counter][0]
    if within and not shared:
        walk.numbers.put_within(counter, joined(within).strip())
    if len(walk.theorems) < 500:
        walk.theorems[name] = ("" if starred else counter, said)


# --- files, counters ------------------------------------------------------------------------------


def _input(walk: Walk) -> None:
    if file := walk.submission.find(joined(walk.gullet.argument()), walk.folder):
        walk.insert(file)


def _import(walk: Walk) -> None:
    walk.gullet.star()
    folder, name = joined(walk.gullet.argument()), joined(walk.gullet.argument())
    if file := walk.submission.find(name, folder.strip()):
        walk.insert(file)


def _setcounter(add: bool) -> Command:
    def set_counter(walk: Walk) -> None:
        name, value = joined(walk.gullet.argument()).strip(), joined(walk.gullet.argument())
        if re.fullmatch(r"\s*-?\d{1,6}\s*", value):
            walk.numbers.set(name, int(value), add=add)

    return set_counter


def _within(written: bool) -> Command:
    def put_within(walk: Walk) -> None:
        inner, outer = joined(walk.gullet.argument()), joined(walk.gullet.argument())
        walk.numbers.put_within(inner.strip(), outer.strip(), written=written)

    return put_within


def _ifthenelse(walk: Walk) -> None:
    walk.skip("mm", known=False)


# --- tables, lists, algorithms --------------------------------------------------------------------


def _line_break(walk: Walk) -> None:
    walk.gullet.star()
    walk.gullet.option()
    is_row = bool(walk.scopes) and walk.scopes[-1].kind == "tabular"
    walk.write(ROW if is_row else " ")


def _paragraph(walk: Walk) -> None:
    if any(scope.kind == "tabular" for scope in walk.scopes):
        walk.write(" ")
    else:
        walk.end_paragraph()


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


def _step(change: str, word: str, loops: bool = False, after: str = "") -> Command:
    def step(walk: Walk) -> None:
        if not any(scope.kind == "algorithmic" for scope in walk.scopes):
            if not loops:
                walk.skip("o", known=False)
            return
        walk.end_paragraph()
        said = walk.line(walk.gullet.argument(long=True)) if loops else ""
        text = " ".join(part for part in (word, said, after) if part)
        walk.blocks.append(f"{ITEM}{change}\x1f{f'**{word}**' + text[len(word) :] if word else ''}")

    return step


def _comment(walk: Walk) -> None:
    said = walk.line(walk.gullet.argument(long=True))
    walk.write(f" (▷ {said})" if said else "")


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


def _heading_only(said: str) -> Command:
    return lambda walk: walk.add(f"## {said}")


COMMANDS: Final[dict[str, Command]] = {
    **{name: _section(name) for name in SECTIONS},
    **dict.fromkeys(_RUN_IN, _run_in),
    **{name: _ref(kind) for name, kind in _REFERENCES.items()},
    **{name: cite(kind) for name, kind in _CITES.items()},
    **{name: _step(*how) for name, how in _STEPS.items()},
    **{name: _step(change, word, True, after) for name, (change, word, after) in _LOOPS.items()},
    **{name.upper(): _step(*how) for name, how in _STEPS.items() if name != "State"},
    **{
        name.upper(): _step(change, word, True, after)
        for name, (change, word, after) in _LOOPS.items()
    },
    **dict.fromkeys(("hline", "toprule", "midrule", "bottomrule"), _rule("")),
    **dict.fromkeys(("hhline", "Xhline", "specialrule"), _rule("m")),
    **dict.fromkeys(("cmidrule", "cline"), _cmidrule),
    **dict.fromkeys(("title", "icmltitle", "Title"), _title),
    **dict.fromkeys(("author", "Author", "IEEEauthorblockN", "icmlauthor"), _author),
    **dict.fromkeys(("keywords", "keyword"), _keywords),
    **dict.fromkeys(("input", "include", "subfile", "InputIfFileExists"), _input),
    **dict.fromkeys(("import", "subimport", "includefrom", "subincludefrom"), _import),
    **dict.fromkeys(("footnote", "footnotetext", "endnote", "tablefootnote"), _footnote),
    **dict.fromkeys(("acknowledgments", "acknowledgements"), _heading_only("Acknowledgments")),
    **dict.fromkeys(("bibliography", "printbibliography"), read_list),
    **dict.fromkeys(("verb", "lstinline"), _verb),
    **dict.fromkeys(("usepackage", "RequirePackage"), _usepackage),
    **dict.fromkeys(("documentclass", "documentstyle"), _document_class),
    **dict.fromkeys(("subfloat", "subfigure"), _subfloat),
    "begin": environments.begin,
    "end": environments.end,
    "item": environments.item,
    "par": _paragraph,
    "\\": _line_break,
    "tabularnewline": _line_break,
    "[": lambda walk: formulas.display(walk, "\\]"),
    "(": lambda walk: formulas.inline(walk, "\\)"),
    "$": _dollar,
    "ensuremath": _ensuremath,
    "abstract": _abstract,
    "doi": _doi,
    "appendix": _appendix,
    "caption": _caption,
    "captionof": _captionof,
    "label": _label,
    "href": _href,
    "url": _url,
    "nolinkurl": _url,
    "newtheorem": _newtheorem,
    "setcounter": _setcounter(add=False),
    "addtocounter": _setcounter(add=True),
    "numberwithin": _within(written=True),
    "@addtoreset": _within(written=False),
    "ifthenelse": _ifthenelse,
    "arrayrulecolor": lambda walk: walk.skip("om"),
    "multicolumn": _multicolumn,
    "multirow": _multirow,
    "Comment": _comment,
    "COMMENT": _comment,
    "bibitem": _bibitem,
    "endinput": lambda walk: walk.gullet.stop(),
}
