r"""Mathematics: kept as TeX, with the authors' own commands spelled out and equations numbered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from ..displayed import displayed, plain_tex
from .quantities import QUANTITIES, in_formula, quantity
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


class _Reader:
    """One formula, read up to its end."""

    def __init__(self, walk: Walk, end: str, counts: Counts) -> None:
        self.walk, self.gullet = walk, walk.gullet
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
        while lexeme := self.gullet.expanded():
            if depth <= 0 and self._ends(lexeme):
                break
            if lexeme == PARAGRAPH:
                if self.end == "$":
                    self.gullet.put_back([lexeme])
                    break
                continue
            if lexeme in ("\\begin", "\\end"):
                depth += self._environment(lexeme)
                continue
            depth += (lexeme == "{") - (lexeme == "}")
            if lexeme in _BREAKS and not depth:
                self.gullet.star()
                self.gullet.option()
                self.line()
            elif lexeme[0] != "\\" or not self._is_told(lexeme):
                self.tex.append(lexeme)
        self.line(last=True)
        return self.lines

    def _ends(self, lexeme: str) -> bool:
        if lexeme == "$" and self.end == "$$":
            if self.gullet.peek() == "$":
                self.gullet.take()
            return True
        if lexeme == "\\end":
            name = self.gullet.argument()
            if joined(name).strip() == self.end:
                return True
            self.gullet.put_back(["{", *name, "}"])
        return lexeme == self.end

    def _environment(self, lexeme: str) -> int:
        """An environment's beginning or end inside, and by how much it nests; drawings go."""
        name = joined(self.gullet.argument()).strip()
        if lexeme == "\\begin" and name.rstrip("*") in DRAWN:
            self.gullet.raw(f"\\end{{{name}}}")
            self.tex.append(r"\text{[diagram]}")
            return 0
        if name == "tabular":  # which mathematics has not
            name = "array"
            if lexeme == "\\begin":
                self.gullet.option()
                columns = re.findall(
                    r"[lcr]", _BETWEEN_COLUMNS.sub("", joined(self.gullet.argument()))
                )
                name = f"array}}{{{''.join(columns) or 'c'}"
        self.tex += [lexeme, "{", name, "}"]
        return 1 if lexeme == "\\begin" else -1

    def _is_told(self, lexeme: str) -> bool:
        """Whether a command says something about the formula; it is taken."""
        if lexeme == "\\label":
            self.labels.append(self._key())
        elif lexeme == "\\tag":
            self.gullet.star()
            self.tag = self._counted(joined(self.gullet.argument()).strip("$ "))
        elif lexeme in ("\\stepcounter", "\\refstepcounter"):
            self.walk.numbers.step(self._key())
        elif lexeme in ("\\eqno", "\\leqno"):
            self._number_at_the_end()
        elif lexeme in _DROPPED:
            self.bare = self.bare or lexeme in ("\\nonumber", "\\notag")
        elif lexeme in _REFERENCES:
            self.tex.append(f"{REFERS}{_REFERENCES[lexeme]}{BETWEEN}{self._key()}{REFERRED}")
        elif lexeme == "\\ensuremath":
            self.gullet.put_back(["{", *self.gullet.argument(long=True), "}"])
        elif lexeme == "\\ding":
            self.tex.append(f"\\text{{{DINGBATS.get(self._key(), '')}}}")
        else:
            return self._is_quantity(lexeme)
        return True

    def _key(self) -> str:
        return joined(self.gullet.argument()).strip()

    def _number_at_the_end(self) -> None:
        r"""``\eqno``: the rest of the formula is its number, but for a label."""
        number = []
        while (lexeme := self.gullet.expanded()) not in ("", "$", PARAGRAPH):
            if lexeme == "\\label":
                self.labels.append(self._key())
            else:
                number.append(lexeme)
        self.gullet.put_back([lexeme] if lexeme else [])
        self.tag = self._counted(joined(number).strip(" ()"))

    def _counted(self, tag: str) -> str:
        """A number in which counters stand by name."""
        return _COUNTER.sub(lambda counter: self.walk.numbers.number(counter[1]), tag)

    def _is_quantity(self, lexeme: str) -> bool:
        """Whether a command of siunitx stands here; it is taken, as renderers do not know it."""
        if lexeme[1:] not in QUANTITIES or (told := quantity(self.gullet, lexeme[1:])) is None:
            return False
        self.tex.append(in_formula(told))
        return True

    def line(self, *, last: bool = False) -> None:
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
            self.walk.numbers.name(key)
        self.labels, self.tag, self.bare = [], None, False

    def _number(self) -> str:
        if self.tag is not None:
            self.walk.numbers.mean(self.tag, "equation")
            return self.tag
        return "" if self.bare or self.counts == "never" else self.walk.numbers.step("equation")


def inline(walk: Walk, end: str = "$") -> None:
    """A formula in the line."""
    tex = plain_tex(" ".join(tex for tex, _ in _read(walk, end, "never")))
    if tex:
        walk.write(f"${tex}$")


def display(walk: Walk, end: str, counts: Counts = "never") -> None:
    """A formula set apart, up to *end*: a sign, or the name of its environment."""
    found = _read(walk, end, counts)
    walk.end_paragraph()
    for formula in displayed(found):
        walk.add(formula)


def _read(walk: Walk, end: str, counts: Counts) -> list[tuple[str, str]]:
    outer, walk.gullet.in_math = walk.gullet.in_math, True
    try:
        return _Reader(walk, end, counts).read()
    finally:
        walk.gullet.in_math = outer
