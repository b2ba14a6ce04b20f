"""arXiv's query language, as its manual tells it: prefixes, phrases, brackets, AND OR ANDNOT."""

import re
from collections.abc import Callable
from datetime import date
from fnmatch import fnmatchcase

from tests.world.arxiv_papers import Preprint

_PREFIXES = ("ti", "au", "abs", "co", "jr", "cat", "rn", "id", "all")
_TOKEN = re.compile(
    r"\s*(?:(?P<range>(?:submittedDate|lastUpdatedDate):\[\d{8,14} TO \d{8,14}\])|(?P<open>\()"
    r"|(?P<close>\))|(?P<operator>(?:ANDNOT|AND|OR)(?=[\s(]))"
    rf"|(?P<group>(?:{'|'.join(_PREFIXES)}):(?=\())"
    rf'|(?:(?P<field>{"|".join(_PREFIXES)}):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s()":\[\]]+)))'
)
Judge = Callable[[Preprint], bool]


class MalformedError(ValueError):
    """It is no query."""


def judge_of(query: str) -> Judge:
    """Whether a preprint is a hit of *query*."""
    parser = _Parser(query)
    judge = parser.either("all")
    if parser.at < len(parser.tokens):
        raise MalformedError(query)
    return judge


class _Parser:
    def __init__(self, query: str) -> None:
        self.tokens: list[tuple[str, re.Match[str]]] = []
        self.at = place = 0
        query = query.strip()
        while place < len(query):
            match = _TOKEN.match(query, place)
            if match is None or match.end() == place:
                raise MalformedError(query)
            self.tokens.append((match.lastgroup or "", match))
            place = match.end()

    def either(self, field: str) -> Judge:
        """Terms from left to right; side by side without an operator they are alternatives."""
        judge = self.one(field)
        while self.at < len(self.tokens) and self.tokens[self.at][0] != "close":
            operator = "OR"
            if self.tokens[self.at][0] == "operator":
                operator = self.tokens[self.at][1]["operator"]
                self.at += 1
            judge = _joined(operator, judge, self.one(field))
        return judge

    def one(self, field: str) -> Judge:
        """A term, or a bracket."""
        if self.at >= len(self.tokens):
            raise MalformedError
        kind, match = self.tokens[self.at]
        self.at += 1
        if kind == "group":
            field, kind = match["group"][:-1], "open"
            self.at += 1
        if kind == "open":
            judge = self.either(field)
            if self.at >= len(self.tokens):
                raise MalformedError
            self.at += 1
            return judge
        if kind == "range":
            return _within(match["range"])
        if kind not in {"phrase", "word"}:
            raise MalformedError
        return _term(match["field"] or field, match["phrase"], match["word"] or "")


def _joined(operator: str, left: Judge, right: Judge) -> Judge:
    if operator == "AND":
        return lambda paper: left(paper) and right(paper)
    if operator == "ANDNOT":
        return lambda paper: left(paper) and not right(paper)
    return lambda paper: left(paper) or right(paper)


def _within(text: str) -> Judge:
    name, first, last = re.split(r":\[| TO |\]", text)[:3]
    at = 0 if name == "submittedDate" else -1
    try:
        date.fromisoformat(first[:8])
        date.fromisoformat(last[:8])
    except ValueError:
        raise MalformedError(text) from None
    return lambda paper: first[:8] <= paper.versions[at].replace("-", "") <= last[:8]


def _term(field: str, phrase: str | None, word: str) -> Judge:
    if field == "cat":
        wanted = word or phrase or ""
        return lambda paper: any(fnmatchcase(one, wanted) for one in paper.categories)
    if field == "id":
        return lambda paper: word.partition("v")[0] == paper.record.arxiv
    # A bare word with a hyphen finds nothing; an underscore stands for a blank.
    if phrase is None and "_" in word:
        phrase = word.replace("_", " ")
    if phrase is not None:
        needle = " ".join(_words(phrase))
        return lambda paper: f" {needle} " in f" {' '.join(_words(_text(paper, field)))} "
    wanted = word.lower()
    return lambda paper: any(fnmatchcase(one, wanted) for one in _words(_text(paper, field)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _text(paper: Preprint, field: str) -> str:
    texts = {
        "ti": paper.printed_title, "au": " , ".join(paper.printed_names), "abs": paper.summary,
        "co": paper.comment, "jr": paper.journal_ref, "rn": "",
    }  # fmt: skip
    return texts[field] if field in texts else " | ".join(texts.values())
