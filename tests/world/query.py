"""A small Entrez: field tags, booleans from left to right, phrases, ranges, truncation, warnings.

Not PubMed's engine, but one that answers honestly over the corpus and reports what it could not
use in PubMed's own words (facts sheet, 1.3).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.world.index import Entry, words

Test = Callable[[Entry], bool]
_FIELDS = {
    "all": "all", "all fields": "all", "text word": "all", "tw": "all", "ti": "title",
    "title": "title", "tiab": "tiab", "title/abstract": "tiab", "ab": "abstract",
    "abstract": "abstract", "au": "authors", "author": "authors", "1au": "first",
    "author - first": "first", "pmid": "pmid", "uid": "pmid", "doi": "doi", "aid": "doi",
    "pmcid": "pmcid", "pmc": "pmcid", "mh": "mesh", "mesh": "mesh", "mesh terms": "mesh",
    "majr": "mesh", "pt": "types", "publication type": "types", "ta": "journal",
    "journal": "journal", "la": "language", "language": "language", "dp": "published",
    "pdat": "published", "date - publication": "published", "edat": "entered",
    "date - entry": "entered", "crdt": "entered", "mdat": "revised", "sb": "subset",
    "filter": "subset", "ad": "all",
}  # fmt: skip
_NAMES = {
    "all": "All Fields", "title": "Title", "tiab": "Title/Abstract", "abstract": "Abstract",
    "authors": "Author", "first": "Author - First", "pmid": "UID", "doi": "DOI", "pmcid": "PMCID",
    "mesh": "MeSH Terms", "types": "Publication Type", "journal": "Journal", "language": "Language",
    "published": "Date - Publication", "entered": "Date - Entry", "revised": "Date - Modification",
    "subset": "Filter",
}  # fmt: skip
_DATE = re.compile(r"\d{4}(?:/\d{1,2}){0,2}")
_TOKEN = re.compile(
    r'\s*(?:(?P<open>\()|(?P<close>\))|(?P<tag>\[[^\]]*\])|"(?P<quoted>[^"]*)"|(?P<history>#\d+)'
    r'|(?P<range>:)|(?P<word>[^\s()\[\]":][^\s()\[\]"]*))'
)
_SPAN = re.compile(r"(\d{4}(?:/\d{1,2}){0,2}):(\d{4}(?:/\d{1,2}){0,2})")
_STOP = {"a", "an", "and", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with"}


class BackendFailed(Exception):
    """The query cannot be read at all."""


@dataclass
class Understood:
    """What a query means: a test, PubMed's translation of it, and what was left unused."""

    test: Test = lambda entry: False
    translation: str = ""
    terms: list[str] = field(default_factory=list)
    translations: list[tuple[str, str]] = field(default_factory=list)
    phrases_not_found: list[str] = field(default_factory=list)
    fields_not_found: list[str] = field(default_factory=list)
    quoted_not_found: list[str] = field(default_factory=list)


def understand(term: str, entries: Sequence[Entry], history: dict[str, set[str]]) -> Understood:
    """Read *term*; ``history`` maps ``#1`` to the PMIDs found before."""
    reader = _Reader(term, entries, history)
    test, translation = reader.expression()
    if not translation:
        raise BackendFailed("Search Backend failed: syntax error in query")
    reader.found.test, reader.found.translation = test, translation
    return reader.found


class _Reader:
    def __init__(self, term: str, entries: Sequence[Entry], history: dict[str, set[str]]) -> None:
        self.tokens = [(m.lastgroup or "", m[m.lastgroup or 0]) for m in _TOKEN.finditer(term)]
        self.at = 0
        self.entries = entries
        self.history = history
        self.found = Understood()

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def expression(self) -> tuple[Test, str]:
        """Operands joined from left to right; a missing operator is AND."""
        test, told = self.operand()
        while (token := self.peek())[0] not in {"end", "close"}:
            operator = token[1].upper() if token[0] == "word" else ""
            if operator in {"AND", "OR", "NOT"}:
                self.at += 1
            else:
                operator = "AND"
            right, right_told = self.operand()
            if not right_told:
                break
            test, told = _joined(test, operator, right), f"{told} {operator} {right_told}"
        return test, told

    def operand(self) -> tuple[Test, str]:
        kind, value = self.peek()
        if kind == "open":
            self.at += 1
            test, told = self.expression()
            if self.peek()[0] == "close":
                self.at += 1
            return test, f"({told})" if told else ""
        if kind == "history":
            self.at += 1
            pmids = self.history.get(value, set())
            return (lambda entry: entry.pmid in pmids), value
        if kind == "quoted":
            self.at += 1
            return self.tagged(value, quoted=True)
        if kind == "word" and value not in {"AND", "OR", "NOT"}:
            return self.tagged(self.run(), quoted=False)
        if kind in {"tag", "range", "word"}:
            self.at += 1
            return self.operand()
        return (lambda entry: False), ""

    def run(self) -> str:
        """Words up to the next operator, bracket, quotation or tag."""
        taken = []
        while (token := self.peek())[0] == "word" and token[1] not in {"AND", "OR", "NOT"}:
            taken.append(token[1])
            self.at += 1
        return " ".join(taken)

    def tagged(self, text: str, *, quoted: bool) -> tuple[Test, str]:
        name = self.tag()
        if self.peek()[0] == "range":
            self.at += 1
            upper = self.peek()[1]
            self.at += 1
            name = self.tag() or name
            return self.range(text, upper, _FIELDS.get(name.lower(), "published"))
        place = _FIELDS.get(name.lower().split(":")[0], "")
        if text.lower() == "hasabstract" and name.lower() in {"", "text", "all fields", "all"}:
            return self.term(text, "subset", quoted=quoted, tagged=True)
        if span := _SPAN.fullmatch(text):
            return self.range(span[1], span[2], place or "published")
        if name and not place:
            self.found.fields_not_found.append(name)
        if place in {"published", "entered", "revised"}:
            return self.range(text, text, place)
        return self.term(text, place or "all", quoted=quoted, tagged=bool(place))

    def tag(self) -> str:
        kind, value = self.peek()
        if kind != "tag":
            return ""
        self.at += 1
        return value.strip("[]").strip()

    def range(self, lower: str, upper: str, place: str) -> tuple[Test, str]:
        first, last = _day(lower, "01/01"), _day(upper, "12/31")
        shown = f"[{_NAMES[place]}]"
        told = f"{lower}{shown} : {upper}{shown}"
        return (lambda entry: first <= getattr(entry, place) <= last), told

    def term(self, text: str, place: str, *, quoted: bool, tagged: bool) -> tuple[Test, str]:
        shown = f'"{text.lower()}"[{_NAMES[place]}]'
        if place in {"pmid", "pmcid", "doi", "subset"}:
            # A filter may be posted as it stands in a URL: "open+access[filter]".
            value = text.lower().replace("+", " ") if place != "pmcid" else text.upper()
            test = _holds(place, value)
            if (place, value) == ("subset", "all"):  # every record
                return (lambda entry: True), shown
            if place == "pmid":
                return (lambda entry: entry.pmid == value.lstrip("0")), shown
            # An unknown DOI is not an error: its pieces are searched for everywhere.
            if place != "doi" or any(map(test, self.entries)):
                return test, shown
            return self.words(re.sub(r"[^\w]+", " ", text), "all")
        if quoted or tagged:
            phrase = " ".join(words(text))
            # Authors are truncated by PubMed itself: "Varga I" finds "Varga IM".
            cut = text.endswith("*") or place in {"authors", "first"}
            stem = phrase if cut else f"{phrase} "
            self.found.terms.append(phrase)
            test = _holds(place, f" {stem}")
            if any(map(test, self.entries)):
                return test, shown
            if quoted and " " in phrase:
                self.found.quoted_not_found.append(f'"{text}"')
            elif not quoted and " " not in phrase:
                self.found.phrases_not_found.append(f"{text}[{_NAMES[place]}]")
        return self.words(text, place)

    def words(self, text: str, place: str) -> tuple[Test, str]:
        """Every word somewhere in the field; MeSH headings are offered as PubMed offers them."""
        tests, told = [], []
        for word in text.split():
            pieces = words(word)
            if not pieces or word.lower() in _STOP:
                continue
            needle = f" {pieces[0]}" if word.endswith("*") else f" {' '.join(pieces)} "
            test = _holds(place, needle)
            if not any(map(test, self.entries)) and word not in self.found.phrases_not_found:
                self.found.phrases_not_found.append(word)
            self.found.terms.append(pieces[0])
            tests.append(test)
            told.append(self.translated(word, place))
        if not tests:
            return (lambda entry: False), ""
        return (lambda entry: all(test(entry) for test in tests)), " AND ".join(told)

    def translated(self, word: str, place: str) -> str:
        shown = f'"{word.lower()}"[{_NAMES[place]}]'
        needle = f" {' '.join(words(word))} "
        if place == "all" and any(needle in entry.mesh for entry in self.entries):
            shown = f'("{word.lower()}"[MeSH Terms] OR {shown})'
            if (word, shown) not in self.found.translations:
                self.found.translations.append((word, shown))
        return shown


def _holds(place: str, needle: str) -> Test:
    return lambda entry: needle in getattr(entry, place)


def _joined(left: Test, operator: str, right: Test) -> Test:
    if operator == "OR":
        return lambda entry: left(entry) or right(entry)
    if operator == "NOT":
        return lambda entry: left(entry) and not right(entry)
    return lambda entry: left(entry) and right(entry)


def _day(date: str, rest: str) -> str:
    """``2024/3`` as ``2024/03/01`` or ``2024/03/31``: comparable as text."""
    if not _DATE.fullmatch(date.strip()):
        return "0000" if rest == "01/01" else "9999"
    parts = date.strip().split("/")
    whole = [parts[0], *(part.zfill(2) for part in parts[1:])]
    return "/".join(whole + rest.split("/")[len(whole) - 1 :])
