"""The list of references while a paper is read, and how its citations are printed."""

from __future__ import annotations

import re
from typing import Final

_LABEL: Final = re.compile(r"(.{1,200}?)\s*\(\s*((?:\d{4}|in press|in prep)[^()\s]{0,9})\s*\)")
_NUMERIC: Final = re.compile(
    r"\bnumbers\b|\bsuper\b|style=(?:numeric|phys|nature|science|ieee)|\bnumerical\b"
)
_NAMES: Final = re.compile(r"authoryear|author-year|style=(?:apa|chicago|mla|authortitle)")


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
