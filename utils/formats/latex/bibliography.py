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
        self.composed = False  # of data files, whose labels are ours
        self.is_read = False  # the list that came made, which is one for the whole paper

    def follow(self, package: str, options: str) -> None:
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

    def label(self, key: str, text: str) -> None:
        """Keep what natbib's label says: ``Roe et al.(2024)Roe, Doe, and Poe``."""
        if match := _LABEL.match(text):
            self._labels.setdefault(key, (match[1].strip(), match[2]))

    def by_names(self) -> bool:
        """Whether the text cites by names and years."""
        if self.composed and not self._natbib and self._by_names is None:
            return False
        if self._by_names is not None:
            return self._by_names and bool(self._labels)
        return bool(self._labels) and 2 * len(self._labels) >= len(self.entries)

    def citation(self, kind: str, keys: str, before: str, after: str) -> str:
        """A citation as the text shows it."""
        known = list(dict.fromkeys(key for part in keys.split(",") if (key := part.strip())))
        if kind in ("alias", "(alias)"):
            said = ", ".join(self.aliases.get(key) or self._names(key) for key in known)
            inner = " ".join(filter(None, (before, ", ".join(filter(None, (said, after))))))
            return f"({inner})" if kind == "(alias)" else inner
        if self.by_names() or kind in ("a", "y"):
            return self._by_name(kind, known, before, after)
        if len(self._numbers) != len(self.entries):
            self._numbers = {key: str(number) for number, key in enumerate(self.entries, 1)}
        marks = ", ".join(self._numbers.get(key, "?") for key in known)
        inner = " ".join(filter(None, (before, ", ".join(filter(None, (marks, after))))))
        names = self._labels.get(known[0], ("", ""))[0] if kind == "t" and len(known) == 1 else ""
        return f"{names} [{inner}]".strip()

    def _names(self, key: str) -> str:
        return self._labels.get(key, (key, ""))[0]

    def _by_name(self, kind: str, keys: list[str], before: str, after: str) -> str:
        told = [self._labels.get(key, (key, "")) for key in keys]
        if kind == "a":
            return "; ".join(names for names, _ in told)
        if kind == "y":
            return ", ".join(year or names for names, year in told)
        if kind in ("t", "c"):
            more = f", {after}" if after else ""
            return "; ".join(f"{names} ({year}{more})" if year else names for names, year in told)
        cited = "; ".join(", ".join(filter(None, pair)) for pair in told)
        inner = " ".join(filter(None, (before, ", ".join(filter(None, (cited, after))))))
        return inner if kind == "n" else f"({inner})"
