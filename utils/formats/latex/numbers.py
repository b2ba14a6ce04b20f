r"""Counters and labels: what LaTeX would print for ``\ref``.

A counter is written by a pattern, the one authors themselves set with
``\renewcommand{\theequation}`` or the class's. Defaults are those of LaTeX's ``article``,
of ``revtex`` and ``IEEEtran`` where they differ.

The list of references while a paper is read, and how its citations are printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ..jats.text import roman

SECTIONS: Final = ("part", "chapter", "section", "subsection", "subsubsection")
_PATTERNS: Final = {
    "chapter": r"\arabic{chapter}",
    "subsection": r"\thesection.\arabic{subsection}",
    "subsubsection": r"\thesubsection.\arabic{subsubsection}",
    "part": r"\Roman{part}",
    "enumii": r"(\alph{enumii})",
    "subfigure": r"\alph{subfigure}",
    "subtable": r"\alph{subtable}",
}
_ROMAN_CLASSES: Final = {
    "section": r"\Roman{section}",
    "subsection": r"\Alph{subsection}",
    "subsubsection": r"\arabic{subsubsection}",
    "table": r"\Roman{table}",
}
_WITHIN: Final = {
    "section": "chapter",
    "subsection": "section",
    "subsubsection": "subsection",
    "subfigure": "figure",
    "subtable": "table",
}
_PART: Final = re.compile(
    r"\\the([A-Za-z]+)|\\(arabic|[rR]oman|[aA]lph)\s?\{?\s?\*?\s?([A-Za-z]+)\s?\}?|([^\\{}$^_#&]+)"
)
_MOST_COUNTERS: Final = 100
_DEEPEST: Final = 5  # counters within counters, patterns in patterns
_MOST_PARTS: Final = 200  # of all patterns that make up a number
_LONGEST: Final = 40  # characters of a number
_GREATEST: Final = 4000
_LABEL: Final = re.compile(r"(.{1,200}?)\s*\(\s*((?:\d{4}|in press|in prep)[^()\s]{0,9})\s*\)")
_NUMERIC: Final = re.compile(
    r"\bnumbers\b|\bsuper\b|style=(?:numeric|phys|nature|science|ieee)|\bnumerical\b"
)
_NAMES: Final = re.compile(r"authoryear|author-year|style=(?:apa|chicago|mla|authortitle)")


class Label(NamedTuple):
    """What a label stands for: a number, and of what (``equation``, ``section``, ``Lemma`` …)."""

    number: str
    kind: str


class Numbers:
    """All counters of a paper.

    Parameters
    ----------
    redefined : Callable[[str], str]
        The paper's own pattern for a counter, by the name of its command; empty if it has none.
    """

    def __init__(self, redefined: Callable[[str], str]) -> None:
        self.labels: dict[str, Label] = {}
        self.current = Label("", "")
        self._redefined = redefined
        self._values: dict[str, int] = {}
        self._within = dict(_WITHIN)
        self._patterns = dict(_PATTERNS)
        self._parts = ("", 0)

    def adopt(self, document_class: str) -> None:
        """Number as a document class does."""
        if document_class.startswith(("revtex", "IEEEtran")):
            self._patterns |= _ROMAN_CLASSES
        if document_class.endswith(("book", "report")):
            self._patterns["section"] = r"\thechapter.\arabic{section}"
            for counter in ("equation", "figure", "table"):
                self.put_within(counter, "chapter")

    def put_within(self, counter: str, outer: str, *, written: bool = True) -> None:
        """Have *counter* begin anew with each *outer*."""
        if len(self._within) < _MOST_COUNTERS:
            self._within[counter] = outer
            if written:
                self._patterns[counter] = rf"\the{outer}.\arabic{{{counter}}}"

    def begin_appendix(self) -> None:
        """Number what comes by letters."""
        top = "chapter" if self._values.get("chapter") else "section"
        self._patterns[top] = rf"\Alph{{{top}}}"
        if top == "section" and self._patterns["subsection"].startswith(r"\Alph"):
            self._patterns["subsection"] = r"\arabic{subsection}"
        self.set(top, 0)

    def set(self, counter: str, value: int, *, add: bool = False) -> None:
        """Set a counter, or add to it."""
        if counter in self._values or len(self._values) < _MOST_COUNTERS:
            value += self._values.get(counter, 0) if add else 0
            self._values[counter] = max(0, min(value, _GREATEST))

    def step(self, counter: str, kind: str = "") -> str:
        """Count one more, which labels now mean, and its number."""
        self.set(counter, 1, add=True)
        outer = {counter}
        for _ in range(_DEEPEST):
            outer = {name for name, above in self._within.items() if above in outer} - {counter}
            for name in outer:
                self._values.pop(name, None)
        self.current = Label(self.number(counter), kind or counter)
        return self.current.number

    def number(self, counter: str) -> str:
        """A counter as it is printed."""
        return self._format(counter, 0, iter(range(_MOST_PARTS)))

    def _format(self, counter: str, depth: int, left: Iterator[int]) -> str:
        """A counter by its pattern; *left* is used up by the parts of all patterns in it."""
        if depth > _DEEPEST:
            return ""
        pattern = self._patterns.get(counter) or rf"\arabic{{{counter}}}"
        if not pattern.endswith(r"\alph{equation}"):
            pattern = self._redefined(f"\\the{counter}") or pattern
        made = ""
        for _, part in zip(left, _PART.finditer(pattern[:200]), strict=False):
            if part[1]:
                made += self._format(part[1], depth + 1, left)
            elif part[3]:
                made += _numeral(self._values.get(part[3], 0), part[2])
            else:
                made += part[4]
            if len(made) >= _LONGEST:
                break
        return made.strip()[:_LONGEST]

    def set_current(self, number: str, kind: str) -> None:
        """Have labels stand for this number, which no counter gave."""
        self.current = Label(number, kind)

    def begin_parts(self) -> None:
        """Number the equations to come as parts of one: 3a, 3b."""
        whole = self.step("equation")
        self._parts = (self._patterns.get("equation", ""), self._values["equation"])
        self._patterns["equation"] = whole + r"\alph{equation}"
        self._values["equation"] = 0

    def end_parts(self) -> None:
        """Number equations as wholes again."""
        pattern, self._values["equation"] = self._parts
        self._patterns["equation"] = pattern or r"\arabic{equation}"

    def add_label(self, key: str) -> None:
        """Give what was counted last a label."""
        self.labels.setdefault(key, self.current)


def _numeral(value: int, way: str) -> str:
    """A number in figures, as Roman numerals or as a letter."""
    if way == "arabic" or value <= 0:
        return str(value)
    if way in ("alph", "Alph"):
        letters = chr(ord("a") + (value - 1) % 26)
        return letters.upper() if way == "Alph" else letters
    return roman(value).upper() if way == "Roman" else roman(value)


class Bibliography:
    """The list of references, and how the text cites it."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.files: dict[str, None] = {}
        self._labels: dict[str, tuple[str, str]] = {}
        self.aliases: dict[str, str] = {}
        self._by_names: bool | None = None
        self._natbib = False
        self._numbers: dict[str, str] = {}
        self.is_composed = False  # from data files; then the labels are ours
        self.is_complete = False  # a ready list was read; a paper has one

    def adopt(self, package: str, options: str) -> None:
        """Cite as a class or package does."""
        self._natbib = self._natbib or package == "natbib"
        if package.startswith("revtex") and not _NAMES.search(options):
            self._by_names = False
        elif package in ("natbib", "biblatex", "cite") or package.startswith("elsarticle"):
            if _NUMERIC.search(options) or package == "cite":
                self._by_names = False
            elif _NAMES.search(options):
                self._by_names = True
            elif package == "biblatex":
                self._by_names = False

    def add(self, key: str, text: str) -> None:
        """Add an entry, unless it is there."""
        self.entries.setdefault(key, text)

    def add_label(self, key: str, text: str) -> None:
        """Keep names and year of a label by natbib: ``Roe et al.(2024)Roe, Doe, and Poe``."""
        if match := _LABEL.match(text):
            self._labels.setdefault(key, (match[1].strip(), match[2]))

    def by_names(self) -> bool:
        """Whether the text cites by names and years."""
        if self.is_composed and not self._natbib and self._by_names is None:
            return False
        if self._by_names is not None:
            return self._by_names and bool(self._labels)
        return bool(self._labels) and 2 * len(self._labels) >= len(self.entries)

    def citation(self, kind: str, keys: str, before: str, after: str) -> str:
        """A citation as the text shows it."""
        cited = list(dict.fromkeys(key for part in keys.split(",") if (key := part.strip())))
        if kind in ("alias", "(alias)"):
            names = ", ".join(self.aliases.get(key) or self._label(key)[0] for key in cited)
            inner = _with_notes(before, names, after)
            return f"({inner})" if kind == "(alias)" else inner
        if self.by_names() or kind in ("a", "y"):
            return self._by_name(kind, cited, before, after)
        if len(self._numbers) != len(self.entries):
            self._numbers = {key: str(number) for number, key in enumerate(self.entries, 1)}
        inner = _with_notes(before, ", ".join(self._numbers.get(key, "?") for key in cited), after)
        names = self._labels.get(cited[0], ("", ""))[0] if kind == "t" and len(cited) == 1 else ""
        return f"{names} [{inner}]".strip()

    def _label(self, key: str) -> tuple[str, str]:
        """Names and year of an entry; the key where they are unknown."""
        return self._labels.get(key, (key, ""))

    def _by_name(self, kind: str, keys: list[str], before: str, after: str) -> str:
        labels = [self._label(key) for key in keys]
        if kind == "a":
            return "; ".join(names for names, _ in labels)
        if kind == "y":
            return ", ".join(year or names for names, year in labels)
        if kind in ("t", "c"):
            more = f", {after}" if after else ""
            return "; ".join(f"{names} ({year}{more})" if year else names for names, year in labels)
        cited = "; ".join(", ".join(filter(None, label)) for label in labels)
        inner = _with_notes(before, cited, after)
        return inner if kind == "n" else f"({inner})"


def _with_notes(before: str, cited: str, after: str) -> str:
    """``see Roe, 2020, p. 5``: a citation between its notes."""
    return " ".join(filter(None, (before, ", ".join(filter(None, (cited, after))))))
