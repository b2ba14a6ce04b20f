"""Search several sources at once, and merge the results into one list of papers.

All sources are asked at the same time, each in its own pace; what they found becomes one list
(see `.fused_results`). A source that fails, or is slow, is named: it never looks like one that
found nothing.

Other sources do not know PubMed's field tags (``crispr[ti] AND 2020:2024[dp]``). A tag that only
says where a word stands is dropped and its words kept; a restriction that is not about words (a
date, a language, a type) is dropped altogether, with the operator that joined it. AND, OR, NOT,
quotes and brackets stay: each source spells those itself.
https://pubmed.ncbi.nlm.nih.gov/help/#search-tags
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeGuard
from weakref import WeakKeyDictionary

from ..errors import BadRequest, NotConfigured, PaperError, Unreachable
from ..http import Web
from ..http.work import SharedWork
from ..model.paper import NO_HITS, PAPER_COLUMNS, SearchResult
from ..model.sites import SEARCHED_SOURCES
from ..model.tabular import Table, TabularResult
from ..settings import Settings
from ..sources import Query, Source
from ..sources.source import require_valid_dates
from ..system.nearest import suggest_nearest_name
from .fused_results import FoundPaper, LinkedPaper, MergedRecord, fuse_lists
from .pubmed.search import normalize_query

__all__ = [
    "FoundPaper",
    "LinkedPaper",
    "MergedRecord",
    "MergedSearch",
    "Outcome",
    "SourceAnswer",
    "search_papers",
]

SORTS = ("relevance", "pub_date")
MAX_RESULTS = 100  # the most any of the sources sends in one answer
_TAGS_KNOWN_BY = "pubmed"
MAX_WAIT_S = 14.0  # of the twenty a call has; the rest is for merging and the door
_EARLIEST, _LATEST = 1800, 2999
Outcome = Literal["answered", "unreachable", "busy", "refused", "not_configured", "slow"]
# As word processors set them: to a search they are letters.
_STRAIGHT = str.maketrans("“”„‟«»‘’", '""""""\'\'')
# When nobody answered, the error is the first of these that occurred.
_OUTCOMES_BY_SEVERITY: tuple[Outcome, ...] = (
    "unreachable",
    "busy",
    "slow",
    "not_configured",
    "refused",
)
_OPERATORS = ("AND", "OR", "NOT")
_BORDERS = (*_OPERATORS, "(", ")")
# Tags on words of the subject, or on a name.
_OF_WORDS = (
    r"(?:ti|tiab|title|title/abstract|tw|text words?|ot|other terms?|all|all fields|ab|abstract"
    r"|mh|mesh|mesh terms?|majr|mesh major topic|mesh:noexp|mh:noexp|majr:noexp|sh|nm"
    r"|supplementary concept|rn|substance name|gene symbol|gene name|ps"
    r"|au|author|1au|fau|lastau|first author|last author|full author name)(?::~\d+)?"
)
# Tags on one word that is no subject: a date, a language, a number.
_OF_ONE = (
    r"dp|pdat|edat|mdat|crdt|mhda|lr|date - [a-z ]{1,20}|[a-z ]{0,20}date|la|lang|language|pmid|uid"
    r"|pmc|pmcid|doi|aid|vi|volume|ip|issue|pg|pagination|is|issn"
)
# Tags on several such words: a type, a subset, a journal, a place.
_OF_SEVERAL = (
    r"pt|ptyp|publication type|sb|subset|filter|ta|journal|so|ad|affiliation|gr|grants?"
    r"|grant number|ir|investigator|cn|corporate author|pl|place of publication|si"
    r"|secondary source id|pubn"
    r"|publisher|book|cois|conflict of interest statements|ed|editor|isbn|auid"
)
# Other brackets are text: [Ca2+], benzo[a]pyrene, [18F]FDG. So is one that a word goes on behind.
_BRACKET = rf"\[\s*(?:{_OF_WORDS}|{_OF_ONE}|{_OF_SEVERAL})\s*\](?!\w)"
_TAG = re.compile(_BRACKET, re.I)
_TOKEN = re.compile(rf'"[^"]*"|{_BRACKET}|[()]|(?:(?!{_BRACKET})[^\s()"])+', re.I)
# Of arXiv's language and of Europe PMC's.
_FOREIGN = re.compile(
    r"\b(?:(?:ti|au|abs|co|jr|cat|rn|all)|(?:TITLE|ABSTRACT|TITLE_ABS|AUTH|JOURNAL|PUB_YEAR|SRC"
    r"|MESH_TERM|PUB_TYPE|OPEN_ACCESS)):(?=[\w\"(])"
)
_WORDS = re.compile(_OF_WORDS, re.I)
_ONE_WORD = re.compile(_OF_ONE, re.I)


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The outcome of a search at one source.

    ``total`` is that source's own count of hits (None when it did not answer), ``returned`` how
    many of them it sent; ``query`` the query as the source understood it, or else as it was sent;
    ``message`` what is wrong, empty when nothing is.
    """

    source: str
    outcome: Outcome
    total: int | None = None
    returned: int = 0
    query: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self) | {"warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class MergedSearch(TabularResult):
    """The merged list of papers, and the outcome at each source."""

    query: str
    papers: tuple[FoundPaper, ...]
    asked: tuple[SourceAnswer, ...]
    warnings: tuple[str, ...] = ()

    def to_table(self) -> Table:
        """Return a table with a row for each paper and the sources that found it."""
        columns = (*PAPER_COLUMNS, "arxiv_id", "version", "sources")
        return Table.from_rows(columns, (found.row() for found in self.papers))


# Work that was too slow for one call goes on, and the same call joins it.
_work_by_client: WeakKeyDictionary[Web, SharedWork[SearchResult]] = WeakKeyDictionary()
_Answers = dict[str, SearchResult | PaperError | None]


def search_papers(  # noqa: PLR0913 - the filters of one search
    query: str,
    web: Web,
    sources: Sequence[Source],
    *,
    among: Sequence[str] = (),
    max_results: int = 20,
    min_date: str = "",
    max_date: str = "",
    author: str = "",
    sort_by: str = "relevance",
    wait_s: float = MAX_WAIT_S,
) -> MergedSearch:
    """Search several sources with one query; return each paper once, with all its sources.

    Parameters
    ----------
    query : str
        Words, phrases in quotes, AND/OR/NOT. PubMed's field tags reach PubMed as they are; the
        others get the words.
    among : sequence of str, optional
        Names of sources; PubMed, Europe PMC, arXiv and Semantic Scholar when none is given, and
        OpenAlex where its key is set.
    max_results : int, optional
        How many each source is asked for, and how many the merged list has at the most.
    min_date, max_date : str, optional
        Dates of publication, both included; see `..model.dates`.
    author : str, optional
        A name that every paper must carry.
    sort_by : {"relevance", "pub_date"}, optional
    wait_s : float, optional
        Seconds the call waits. A source that takes longer, or refuses and is asked again after a
        pause, is ``slow``; its work goes on as long as the process, and the same call finds it.

    Raises
    ------
    BadRequest
        The question cannot be asked; nothing was sent.
    PaperError
        No source answered: the gravest reason, with every other in its message.
    """
    dates = (
        min_date,
        max_date,
    )
    wish = _build_checked_query(query, max_results, dates, author, sort_by)
    chosen = _choose_sources(among, sources, web)
    wishes, warnings = _build_source_queries(wish, chosen)
    answers = _collect_answers(chosen, wishes, web, wait_s)
    asked = tuple(
        _to_source_answer(source, wishes[source.name], answers, wait_s) for source in chosen
    )
    if not any(one.outcome == "answered" for one in asked):
        raise _build_no_answer_error(asked, answers)
    papers, contradictions = fuse_lists(
        {name: answer.papers for name, answer in answers.items() if _is_answer(answer)},
        by_date=sort_by == "pub_date",
    )
    silent = tuple(one.message for one in asked if one.outcome != "answered")
    if not papers and not silent:
        warnings = (NO_HITS, *warnings)
    return MergedSearch(query, papers[:max_results], asked, (*warnings, *silent, *contradictions))


def get_default_sites(settings: Settings) -> list[str]:
    """Return the sites that are searched together if none is named."""
    return [name for name, key in SEARCHED_SOURCES.items() if not key or settings.key(key)]


def _build_checked_query(
    query: str, max_results: int, dates: tuple[str, str], author: str, sort_by: str
) -> Query:
    if sort_by not in SORTS:
        raise BadRequest(f"sort_by is {sort_by!r}.", f"It must be one of {', '.join(SORTS)}.")
    if not 1 <= max_results <= MAX_RESULTS:
        msg = f"max_results is {max_results}; it must lie between 1 and {MAX_RESULTS}."
        raise BadRequest(msg, "Ask a single source for more.")
    wish = Query(
        query.translate(_STRAIGHT).strip(),
        max_results=max_results,
        sort_by=sort_by,
        author=" ".join(author.split()),
        min_date=dates[0],
        max_date=dates[1],
    )
    require_valid_dates(wish)
    for name, date in (("min_date", wish.min_date), ("max_date", wish.max_date)):
        if date and not _EARLIEST <= int(date[:4]) <= _LATEST:
            msg = f"{name} is {date}; its year must lie between {_EARLIEST} and {_LATEST}."
            raise BadRequest(msg, "Leave it out for an open end.")
    if wish.min_date or wish.max_date:
        limits = wish.min_date or str(_EARLIEST), wish.max_date or str(_LATEST)
        wish = replace(wish, min_date=limits[0], max_date=limits[1])
    return normalize_query(wish)


def _choose_sources(among: Sequence[str], sources: Sequence[Source], web: Web) -> list[Source]:
    able = {source.name: source for source in sources if source.search}
    names = list(dict.fromkeys(among)) or get_default_sites(web.settings)
    if strange := [name for name in names if name not in able]:
        msg = f"{', '.join(strange)} cannot be searched."
        raise BadRequest(
            msg, suggest_nearest_name(strange[0], able), f"Choose among {', '.join(able)}."
        )
    return [able[name] for name in names]


def _build_source_queries(
    wish: Query, chosen: Sequence[Source]
) -> tuple[dict[str, Query], tuple[str, ...]]:
    """Return the query for each source; PubMed's field tags are removed for other sources."""
    bare, warnings = strip_field_tags(wish.text)
    wishes = {
        source.name: wish if source.name == _TAGS_KNOWN_BY else replace(wish, text=bare)
        for source in chosen
    }
    elsewhere = any(name != _TAGS_KNOWN_BY for name in wishes)
    return wishes, warnings if elsewhere else ()


def _collect_answers(
    chosen: Sequence[Source], wishes: Mapping[str, Query], web: Web, longest_s: float
) -> _Answers:
    """Return each source's result or error; None while the source is still searching."""
    works = {
        _build_search_key(wish, source): partial(source.search, wish, web)
        for source in chosen
        if source.search and (wish := wishes[source.name]).text
    }
    finished = _work_by_client.setdefault(web, SharedWork(workers=32)).run_in_parallel(
        works, longest_s
    )
    answers: _Answers = {}
    for source in chosen:
        key = _build_search_key(wishes[source.name], source)
        if key not in works:
            answers[source.name] = BadRequest(
                "nothing is left of this query without PubMed's field tags."
            )
        else:
            answers[source.name] = _get_outcome(finished[key]) if key in finished else None
    return answers


def _build_search_key(wish: Query, source: Source) -> Hashable:
    return source.name, wish


def _get_outcome(work: Future[SearchResult]) -> SearchResult | PaperError:
    try:
        return work.result()
    except PaperError as error:
        return error


def _to_source_answer(
    source: Source, wish: Query, answers: _Answers, longest_s: float
) -> SourceAnswer:
    answer, label = answers[source.name], source.title
    if answer is None:
        missing = "what it has is missing here. Ask the same again in a minute."
        message = f"{label} did not answer within {longest_s:.0f} s: {missing}"
        return SourceAnswer(source.name, "slow", query=wish.text, message=message)
    if isinstance(answer, PaperError):
        message = answer.text if label in answer.message else f"{label}: {answer.text}"
        return SourceAnswer(source.name, _classify_error(answer), query=wish.text, message=message)
    return SourceAnswer(
        source.name,
        "answered",
        total=answer.total,
        returned=len(answer.papers),
        query=answer.effective_query or answer.query,
        warnings=answer.warnings,
    )


def _classify_error(error: PaperError) -> Outcome:
    if isinstance(error, NotConfigured):
        return "not_configured"
    if isinstance(error, BadRequest) or error.details.get("status") in (400, 401, 403):
        return "refused"
    return "busy" if error.code == "RATE_LIMIT" else "unreachable"


def _build_no_answer_error(asked: Sequence[SourceAnswer], answers: _Answers) -> PaperError:
    """Return the error of the gravest outcome, with all sources' messages."""
    gravest = min(asked, key=lambda one: _OUTCOMES_BY_SEVERITY.index(one.outcome))
    messages = " ".join(one.message for one in asked)
    outcomes = {one.source: one.outcome for one in asked}
    error = answers[gravest.source]
    if not isinstance(error, PaperError):
        return Unreachable(f"No source answered in time. {messages}", sources=outcomes)
    details = {**error.details, "sources": outcomes}
    message = error.message if len(asked) == 1 else f"No source answered. {messages}"
    return type(error)(message, error.hint if len(asked) == 1 else "", **details)


def _is_answer(answer: SearchResult | PaperError | None) -> TypeGuard[SearchResult]:
    return isinstance(answer, SearchResult)


def strip_field_tags(query: str) -> tuple[str, tuple[str, ...]]:
    """Return *query* for sources other than PubMed, and warnings about what was left out.

    >>> strip_field_tags('"gene therapy"[ti] AND (crispr[tiab] OR talen[tiab]) AND 2020[dp]')[0]
    '"gene therapy" AND (crispr OR talen)'
    >>> strip_field_tags("english[la] AND coral NOT review[pt]")[0]
    'coral'
    >>> strip_field_tags("coral AND reef")
    ('coral AND reef', ())
    >>> strip_field_tags("benzo[a]pyrene[ti] AND [18F]FDG")[0]
    'benzo[a]pyrene AND [18F]FDG'
    >>> strip_field_tags("ti:moss")[1]
    ("“ti:” is a field of a single site's language; the others search for its letters.",)
    """
    foreign = tuple(
        f"“{name}” is a field of a single site's language; the others search for its letters."
        for name in dict.fromkeys(_FOREIGN.findall(query))
    )
    if not _TAG.search(query):
        return query, foreign
    reader = _QueryReader(_TOKEN.findall(query)[::-1])
    bare = reader.read_query()
    warning = f"Only PubMed understands field tags; the others were asked for “{bare}”"
    if reader.dropped:
        warning += f", without {', '.join(reader.dropped)}"
    return bare, (f"{warning}.", *foreign)


@dataclass(slots=True)
class _QueryReader:
    """Reads a query from left to right; omitted parts are collected in ``dropped``."""

    tokens: list[str]
    dropped: list[str] = field(default_factory=list)

    def read_query(self) -> str:
        """Return the query without tags. Open groups are kept on a stack, not by recursion."""
        groups: list[list[str]] = [[]]
        while self.tokens:
            word = self.tokens.pop()
            if word == "(":
                groups.append([])
            elif word == ")" and len(groups) > 1:
                inner = _join_operands(groups.pop())
                groups[-1].append(f"({inner})" if inner else "")
            else:
                groups[-1].append(word if word in _OPERATORS else self._read_term(word))
        return _join_operands([part for group in groups for part in group])

    def _read_term(self, first: str) -> str:
        """Read words up to an operator, bracket or tag; skip words with an unsupported tag."""
        words = [first]
        while self.tokens and self.tokens[-1] not in _BORDERS and not _TAG.fullmatch(words[-1]):
            words.append(self.tokens.pop())
        if not _TAG.fullmatch(words[-1]):
            return " ".join(words)
        tag = words.pop()
        if _WORDS.fullmatch(tag[1:-1].strip()):
            return " ".join(words)
        # A date, a language or a number is one word; a type or a subset may have several.
        gone = words[-1:] if _ONE_WORD.fullmatch(tag[1:-1].strip()) else words
        self.dropped.append(f"{' '.join(gone).strip(': ')}{tag}")
        return " ".join(words[: len(words) - len(gone)]).strip(": ")


def _join_operands(parts: Sequence[str]) -> str:
    """Join operands and operators; an operator that lost an operand is dropped.

    >>> _join_operands(["", "AND", "coral", "NOT", ""])
    'coral'
    """
    kept: list[str] = []
    operator = ""
    for part in parts:
        if part in _OPERATORS:
            # "AND NOT" is one operator.
            operator = "NOT" if part == "NOT" else operator or part
        elif part:
            if (kept and operator) or operator == "NOT":
                kept.append(operator)
            kept.append(part)
            operator = ""
        else:
            operator = ""
    return " ".join(kept)
