r"""Mathematics: kept as TeX, with the authors' own commands spelled out and equations numbered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from ..displayed import displayed, plain_tex
from .quantities import QUANTITIES, take_quantity, to_tex
from .signs import BETWEEN, DINGBATS, REFERRED, REFERS
from .tokens import PARAGRAPH, joined

if TYPE_CHECKING:
    from .walk import Walk

Counts = Literal["each", "once", "never"]
# Environments of formulas: which of their lines take a number, and how many arguments they have.
ENVIRONMENTS: Final[dict[str, tuple[Counts, int]]] = {
    **dict.fromkeys(("equation", "multline", "dmath"), ("once", 0)),
    **dict.fromkeys(("align", "gather", "eqnarray", "flalign", "dgroup"), ("each", 0)),
    **dict.fromkeys(("alignat", "xalignat"), ("each", 1)),
    "displaymath": ("never", 0),
}
_DROPPED: Final = frozenset(("\\nonumber", "\\notag", "\\displaystyle", "\\allowdisplaybreaks"))
_REFERENCES: Final = {"\\ref": "r", "\\eqref": "e", "\\cref": "c", "\\Cref": "C", "\\autoref": "C"}
DRAWN: Final = frozenset(
    (
        *("tikzpicture", "pspicture", "picture", "pgfpicture", "feynmandiagram", "fmffile", "asy"),
        *("overpic", "circuitikz", "forest", "tikzcd", "axis"),
    )
)
_COUNTER: Final = re.compile(r"\\the([A-Za-z]{1,40})")
_BETWEEN_COLUMNS: Final = re.compile(r"[@!<>]\s{0,9}\{[^{}]{0,99}\}|\{[^{}]{0,99}\}")
_BREAKS: Final = ("\\\\", "\\cr", "\\tabularnewline")


class _FormulaReader:
    """One formula, read up to its end."""

    def __init__(self, walk: Walk, end: str, counts: Counts) -> None:
        self.walk, self.stream = walk, walk.stream
        self.end = end
        self.counts = counts
        self.lines: list[tuple[str, str]] = []
        self.tex: list[str] = []
        self.labels: list[str] = []
        self.tag: str | None = None
        self.bare = False  # no number for this line

    def read(self) -> list[tuple[str, str]]:
        """The formula's lines with their numbers."""
        depth = 0
        while lexeme := self.stream.take_expanded():
            if depth <= 0 and self._take_end(lexeme):
                break
            if lexeme == PARAGRAPH:
                if self.end == "$":
                    self.stream.put_back([lexeme])
                    break
                continue
            if lexeme in ("\\begin", "\\end"):
                depth += self._take_environment(lexeme)
                continue
            depth += (lexeme == "{") - (lexeme == "}")
            if lexeme in _BREAKS and not depth:
                self.stream.take_star()
                self.stream.take_option()
                self._end_line()
            elif lexeme[0] != "\\" or not self._take_instruction(lexeme):
                self.tex.append(lexeme)
        self._end_line(last=True)
        return self.lines

    def _take_end(self, lexeme: str) -> bool:
        if lexeme == "$" and self.end == "$$":
            if self.stream.peek() == "$":
                self.stream.take()
            return True
        if lexeme == "\\end":
            name = self.stream.take_argument()
            if joined(name).strip() == self.end:
                return True
            self.stream.put_back(["{", *name, "}"])
        return lexeme == self.end

    def _take_environment(self, lexeme: str) -> int:
        """Take the beginning or end of an inner environment; its change of depth. Drawings go."""
        name = self.stream.take_text()
        if lexeme == "\\begin" and name.rstrip("*") in DRAWN:
            self.stream.take_raw(f"\\end{{{name}}}")
            self.tex.append(r"\text{[diagram]}")
            return 0
        if name == "tabular":  # not allowed in mathematics
            name = "array"
            if lexeme == "\\begin":
                self.stream.take_option()
                columns = re.findall("[lcr]", _BETWEEN_COLUMNS.sub("", self.stream.take_text()))
                name = f"array}}{{{''.join(columns) or 'c'}"
        self.tex += [lexeme, "{", name, "}"]
        return 1 if lexeme == "\\begin" else -1

    def _take_instruction(self, lexeme: str) -> bool:
        """Follow a command about the formula, such as a label; whether it is one."""
        if lexeme == "\\label":
            self.labels.append(self.stream.take_text())
        elif lexeme == "\\tag":
            self.stream.take_star()
            self.tag = self._with_counters(self.stream.take_text().strip("$ "))
        elif lexeme in ("\\stepcounter", "\\refstepcounter"):
            self.walk.numbers.step(self.stream.take_text())
        elif lexeme in ("\\eqno", "\\leqno"):
            self._take_equation_number()
        elif lexeme in _DROPPED:
            self.bare = self.bare or lexeme in ("\\nonumber", "\\notag")
        elif lexeme in _REFERENCES:
            self.tex.append(
                f"{REFERS}{_REFERENCES[lexeme]}{BETWEEN}{self.stream.take_text()}{REFERRED}"
            )
        elif lexeme == "\\ensuremath":
            self.stream.put_back(["{", *self.stream.take_argument(long=True), "}"])
        elif lexeme == "\\ding":
            self.tex.append(f"\\text{{{DINGBATS.get(self.stream.take_text(), '')}}}")
        else:
            return self._take_quantity(lexeme)
        return True

    def _take_equation_number(self) -> None:
        r"""``\eqno``: the rest of the formula is its number, but for a label."""
        number = []
        while (lexeme := self.stream.take_expanded()) not in ("", "$", PARAGRAPH):
            if lexeme == "\\label":
                self.labels.append(self.stream.take_text())
            else:
                number.append(lexeme)
        self.stream.put_back_one(lexeme)
        self.tag = self._with_counters(joined(number).strip(" ()"))

    def _with_counters(self, tag: str) -> str:
        """A tag, the counters named in it replaced by their numbers."""
        return _COUNTER.sub(lambda counter: self.walk.numbers.number(counter[1]), tag)

    def _take_quantity(self, lexeme: str) -> bool:
        """Write out a command of siunitx, which renderers do not know; whether it is one."""
        name = lexeme[1:]
        pieces = take_quantity(self.stream, name) if name in QUANTITIES else None
        self.tex += [] if pieces is None else [to_tex(pieces)]
        return pieces is not None

    def _end_line(self, *, last: bool = False) -> None:
        """End a line."""
        tex, self.tex = joined(self.tex).strip(), []
        if last and not tex and self.lines and self.counts == "once":
            tex, _ = self.lines.pop()
        if not tex:
            return
        if self.counts == "once" and not last:
            self.lines.append((tex, ""))
            return
        self.lines.append((tex, self._number()))
        for key in self.labels:
            self.walk.numbers.add_label(key)
        self.labels, self.tag, self.bare = [], None, False

    def _number(self) -> str:
        if self.tag is not None:
            self.walk.numbers.set_current(self.tag, "equation")
            return self.tag
        return "" if self.bare or self.counts == "never" else self.walk.numbers.step("equation")


def write_inline(walk: Walk, end: str = "$") -> None:
    """Write a formula in the line."""
    tex = plain_tex(" ".join(tex for tex, _ in _read(walk, end, "never")))
    if tex:
        walk.write(f"${tex}$")


def write_display(walk: Walk, end: str, counts: Counts = "never") -> None:
    """Write a displayed formula, up to *end*: a sign, or the name of its environment."""
    found = _read(walk, end, counts)
    walk.end_paragraph()
    for formula in displayed(found):
        walk.add(formula)


def _read(walk: Walk, end: str, counts: Counts) -> list[tuple[str, str]]:
    outer, walk.stream.in_math = walk.stream.in_math, True
    try:
        return _FormulaReader(walk, end, counts).read()
    finally:
        walk.stream.in_math = outer
