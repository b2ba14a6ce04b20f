"""Translate a query into arXiv's syntax: words, prefixes, operators, dates, sorts, classes.

Text with prefixes (``ti: au: abs: …``) or operators (``AND OR ANDNOT``) is taken for that syntax
and sent once its quotes, brackets and operators fit together. Any other text is words, all of
which must occur; nothing in them may turn into an operator by accident.
https://info.arxiv.org/help/api/user-manual.html#51-details-of-query-construction

Values of ``cat:``: https://arxiv.org/category_taxonomy, and the closed archives under which old
papers still are: https://info.arxiv.org/help/arxiv_identifier.html
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches

from ..errors import BadRequest
from ..model.dates import get_first_day, get_last_day
from ..system.plain_text import prepare_query_text
from .source import Query, require_valid_dates, require_valid_page

SORTS = ("relevance", "lastUpdatedDate", "submittedDate")
ORDERS = ("descending", "ascending")
LAST_HIT = 30_000
"""The last hit arXiv shows of any search; what asks for more is refused."""
LAST_RELIABLE_HIT = 10_000
"""From here on pages come back empty now and then, or not at all."""
_MAX_PAGE = 2000
_MAX_QUERY_CHARS = 4000  # characters; an address much longer is refused by gateways
_FIRST_YEAR = 1991
_HOUSE_SORTS = {"pub_date": "submittedDate"}
_DATE_FIELDS = {"pdat": "submittedDate", "edat": "submittedDate", "mdat": "lastUpdatedDate"}
PREFIXES = ("ti", "au", "abs", "co", "jr", "cat", "rn", "id", "all")
EXAMPLE = 'For example: graph "attention network", or ti:"graph network" ANDNOT cat:cs.SE'
_HYPHENATED_FIELDS = ("cat", "id", "rn")
_PREFIX_PATTERN = "|".join(PREFIXES)
_PIECE = re.compile(
    r"(?P<range>(?:submittedDate|lastUpdatedDate):\s*\[[^\]]*\])"
    rf"|(?P<group>(?:{_PREFIX_PATTERN}):\()"
    rf'|(?P<field>(?:{_PREFIX_PATTERN}):(?:"[^"]*"|[^\s()":]+(?=[\s()"]|$)))'
    r'|(?P<operator>(?:ANDNOT|AND|OR|NOT)(?=[\s()"]|$))'
    r'|(?P<phrase>"[^"]*")|(?P<open>\()|(?P<close>\))|(?P<stray>")|(?P<word>[^\s()"]+)'
)
_SYNTAX = frozenset({"range", "group", "field", "operator"})
_RANGE = re.compile(
    r"(\w+):\s*\[\s*(\d{8}(?:\d{4}(?:\d{2})?)?)\s+TO\s+(\d{8}(?:\d{4}(?:\d{2})?)?)\s*\]"
)
_PUBMED_TAG = re.compile(
    r"\[(?:mesh|mh|majr|ti|tiab|title|abstract|au|author|dp|pdat|edat|pt|la|sb|filter)[^\]]*\]",
    re.I,
)
_OPERATORS = ("AND", "OR", "ANDNOT", "NOT")
Piece = tuple[str, str]
_CLASSES = {
    "astro-ph": "CO EP GA HE IM SR",
    "cond-mat": "dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el supr-con",
    "cs": "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA MM MS NA NE "
    "NI OH OS PF PL RO SC SD SE SI SY",
    "econ": "EM GN TH",
    "eess": "AS IV SP SY",
    "math": "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA OC PR QA RA "
    "RT SG SP ST",
    "nlin": "AO CD CG PS SI",
    "physics": "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph data-an ed-ph "
    "flu-dyn gen-ph geo-ph hist-ph ins-det med-ph optics plasm-ph pop-ph soc-ph space-ph",
    "q-bio": "BM CB GN MN NC OT PE QM SC TO",
    "q-fin": "CP EC GN MF PM PR RM ST TR",
    "stat": "AP CO ME ML OT TH",
}
_WHOLE_ARCHIVES = "gr-qc hep-ex hep-lat hep-ph hep-th math-ph nucl-ex nucl-th quant-ph"
_CLOSED_ARCHIVES = (
    "acc-phys adap-org alg-geom ao-sci atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas dg-ga "
    "funct-an mtrl-th patt-sol plasm-ph q-alg solv-int supr-con"
)
# Both were archives of their own before they had classes, and old papers are under the bare name.
_FORMERLY_WHOLE = ("astro-ph", "cond-mat")
_KNOWN_CATEGORIES = {
    name.lower(): name
    for name in (
        *(f"{archive}.{one}" for archive, names in _CLASSES.items() for one in names.split()),
        *_WHOLE_ARCHIVES.split(),
        *_CLOSED_ARCHIVES.split(),
    )
}


@dataclass(frozen=True, slots=True)
class ArxivQuery:
    """A search as it is sent: ``search_query``, and the order and page of its hits."""

    search_query: str
    sort_by: str
    sort_order: str
    start: int
    max_results: int
    warnings: tuple[str, ...] = ()

    @property
    def params(self) -> dict[str, str | int]:
        """The parameters of the request."""
        return {
            "search_query": self.search_query,
            "start": self.start,
            "max_results": self.max_results,
            "sortBy": self.sort_by,
            "sortOrder": self.sort_order,
        }


def build_query(query: Query, sort_order: str = "descending") -> ArxivQuery:
    """Translate *query* into arXiv's syntax.

    Raises
    ------
    BadRequest
        It has no such form at arXiv; the message says why.
    """
    if kinds := [kind for kind in query.publication_types if kind.lower() != "preprint"]:
        msg = f"arXiv has preprints only, no publication type {kinds[0]!r}."
        raise BadRequest(msg, "Leave publication_types out for arXiv.")
    sort_by = _HOUSE_SORTS.get(query.sort_by, query.sort_by)
    if sort_by not in SORTS:
        msg = f"arXiv cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It must be one of {', '.join((*_HOUSE_SORTS, *SORTS))}.")
    _require_reachable_page(query.start, query.max_results)
    words, warnings = translate_words(prepare_query_text(query.text, "query", _MAX_QUERY_CHARS))
    parts = [words] if words else []
    if query.author.strip():
        parts.append(_build_author_clause(query.author))
    if query.categories:
        clauses = list(dict.fromkeys(build_category_clause(name) for name in query.categories))
        parts.append(clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})")
    if query.min_date or query.max_date:
        parts.append(_build_date_range(query))
    if not parts:
        raise BadRequest("The query has no word to search for.", EXAMPLE)
    if len(parts) > 1 and re.search(r" (?:OR|ANDNOT) ", words):
        parts[0] = f"({words})"
    search_query = " AND ".join(parts)
    if len(search_query) > _MAX_QUERY_CHARS:
        msg = f"The query has {len(search_query):,} characters; {_MAX_QUERY_CHARS:,} is the most."
        raise BadRequest(msg, "Use fewer words.")
    return ArxivQuery(
        search_query, sort_by, sort_order, query.start, query.max_results, tuple(warnings)
    )


def _require_reachable_page(start: int, size: int) -> None:
    """Reject a page beyond arXiv's limits."""
    require_valid_page(size, start, _MAX_PAGE)
    if start + size > LAST_HIT:
        msg = (
            f"arXiv shows the first {LAST_HIT:,} hits of a search; {start + size:,} was asked for."
        )
        raise BadRequest(msg, "Narrow the search by years, one search for each.")


def _build_author_clause(name: str) -> str:
    """Return the clause for an author's name, given names first as in arXiv's index.

    >>> _build_author_clause("Doe, Jane A."), _build_author_clause("Erdős")
    ('au:"Jane A Doe"', 'au:Erdős')
    """
    family, comma, given = prepare_query_text(name, "author", 200).partition(",")
    if spelled := to_term(f"{given} {family}" if comma else name, phrase=True):
        return f"au:{spelled}"
    raise BadRequest(f"{name!r} is not an author's name.", "For example Jane Doe.")


def _build_date_range(query: Query) -> str:
    """Return the range of days, both included; a missing end is the first or the current year."""
    require_valid_dates(query)
    this_year = time.gmtime(time.time()).tm_year
    first = _to_digits(get_first_day(query.min_date)) if query.min_date else f"{_FIRST_YEAR}0101"
    last = _to_digits(get_last_day(query.max_date)) if query.max_date else ""
    last = last or f"{max(this_year, int(first[:4]))}1231"
    if int(last[:4]) < _FIRST_YEAR:
        raise BadRequest(f"arXiv began in {_FIRST_YEAR}; it has no earlier papers.")
    first = max(first, f"{_FIRST_YEAR}0101")
    return f"{_DATE_FIELDS.get(query.date_type, 'submittedDate')}:[{first}0000 TO {last}2359]"


def _to_digits(day: date) -> str:
    """Return a day as ``YYYYMMDD``."""
    return day.isoformat().replace("-", "")


def translate_words(text: str) -> tuple[str, list[str]]:
    """Return *text* in arXiv's syntax, and warnings about differences in its reading.

    >>> translate_words('deep "protein folding" COVID-19')[0]
    'all:deep AND all:"protein folding" AND all:"COVID 19"'
    >>> translate_words("ti:qubit ANDNOT (au:doe OR cat:hep-ex)")[0]
    'ti:qubit ANDNOT (au:doe OR cat:hep-ex)'

    Raises
    ------
    BadRequest
        It is in arXiv's syntax, with a mistake, or in PubMed's.
    """
    text = re.sub("[\u201c\u201d\u201e]", '"', text)
    pieces = [(str(found.lastgroup), found[0]) for found in _PIECE.finditer(text)]
    if _PUBMED_TAG.search(" ".join(piece for kind, piece in pieces if kind == "word")):
        msg = "The query has PubMed's field tags in square brackets, which arXiv does not know."
        raise BadRequest(msg, "Use arXiv's prefixes, such as ti: abs: au: cat:.")
    if any(kind in _SYNTAX for kind, _ in pieces):
        return _translate_syntax(pieces)
    warnings = []
    if any(kind == "stray" for kind, _ in pieces):
        warnings.append("A quotation mark in the query is not closed; it was left out.")
    terms = [
        _to_any_field_term(kind, piece) for kind, piece in pieces if kind in {"word", "phrase"}
    ]
    return " AND ".join(dict.fromkeys(filter(None, terms))), warnings


def to_term(piece: str, *, phrase: bool = False) -> str:
    """Return a word as it is, or a phrase if it has signs; "" if no letter is left.

    >>> to_term("CD8+"), to_term("p53/MDM2"), to_term("transform*"), to_term("AND"), to_term("?!")
    ('CD8', '"p53 MDM2"', 'transform*', '"AND"', '')
    """
    if not phrase and re.fullmatch(r"\w{3,}\*", piece):
        return piece  # a wildcard at the end is arXiv's own
    # Dots and apostrophes are part of names. Other signs mean something to the engine: what follows
    # a hyphen is excluded (arXiv/arxiv-search issue 322), and the index splits words there anyway.
    words = re.sub(r"[^\w.'\u2019]+", " ", piece).split()
    made = " ".join(bare for word in words if (bare := word.strip(".'\u2019_")))
    return made if made.isalnum() and made not in _OPERATORS else f'"{made}"' if made else ""


def _to_any_field_term(kind: str, piece: str) -> str:
    """Return a term that matches in any field."""
    made = to_term(piece[1:-1], phrase=True) if kind == "phrase" else to_term(piece)
    return f"all:{made}" if made else ""


def _translate_syntax(pieces: Sequence[Piece]) -> tuple[str, list[str]]:
    """Check a query in arXiv's syntax; join adjacent words by AND."""
    warnings: list[str] = []
    made: list[str] = []
    open_groups: list[bool] = []  # whether each names a field for all that is in it
    before = "open"
    for kind, piece in _merge_and_not(pieces):
        _check_position(before, kind, piece)
        if before in {"close", "term"} and kind not in {"close", "operator"}:
            made.append("AND")
        if kind == "close":
            if not open_groups:
                raise _build_bracket_error()
            open_groups.pop()
        elif kind in {"open", "group"}:
            open_groups.append(kind == "group" or any(open_groups))
        if piece == "NOT":
            warnings.append("arXiv writes NOT as ANDNOT; it was sent like that.")
        made.append(_format_piece(kind, piece, warnings, named=any(open_groups)))
        before = (
            kind
            if kind in {"close", "operator"}
            else "open"
            if kind in {"open", "group"}
            else "term"
        )
    if open_groups:
        raise _build_bracket_error()
    _check_position(before, "close", "")
    return re.sub(r"\(\s+|\s+(?=\))", lambda found: found[0].strip(), " ".join(made)), warnings


def _merge_and_not(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces with ``AND NOT`` merged into one operator."""
    for at, (kind, piece) in enumerate(pieces):
        following = pieces[at + 1][1] if at + 1 < len(pieces) else ""
        if not (piece == "AND" and kind == "operator" and following == "NOT"):
            yield kind, piece


def _check_position(before: str, kind: str, piece: str) -> None:
    """Raise for an operator without words on both sides, and for empty brackets."""
    if kind == "stray":
        raise BadRequest("A quotation mark in the query is not closed.", "Close or remove it.")
    if kind == "operator" and before in {"open", "operator"}:
        msg = f"There is nothing before {piece} in the query."
        raise BadRequest(msg, f"A word that means nothing special is put in quotes. {EXAMPLE}")
    if kind == "close" and before in {"open", "operator"}:
        after = "an opening bracket" if before == "open" else "the last operator"
        raise BadRequest(f"There is nothing after {after} in the query.", EXAMPLE)


def _build_bracket_error() -> BadRequest:
    """Return the error for brackets that do not match."""
    return BadRequest("The brackets () in the query do not match.", "Count or remove them.")


def _format_piece(kind: str, piece: str, warnings: list[str], *, named: bool) -> str:
    """Return a piece as arXiv expects it."""
    if kind == "range":
        if match := _RANGE.fullmatch(piece):
            return f"{match[1]}:[{match[2]} TO {match[3]}]"
        msg = f"{piece[:60]} is not a valid range of dates."
        raise BadRequest(msg, "For example submittedDate:[202401010000 TO 202412312359].")
    if kind == "operator":
        return "ANDNOT" if piece == "NOT" else piece
    if kind in {"word", "phrase"}:
        made = _to_any_field_term(kind, piece).removeprefix("all:" if named else "")
    elif kind == "field":
        made = _format_field(piece, warnings)
    else:
        return piece
    if not made:
        raise BadRequest(f"{piece[:60]!r} has no word to search for.", EXAMPLE)
    return made


def _format_field(piece: str, warnings: list[str]) -> str:
    """Return a term with a field prefix as arXiv expects it."""
    name, _, value = piece.partition(":")
    if name == "cat":
        try:
            build_category_clause(value.strip('"'))
        except BadRequest as error:
            warnings.append(f"{error.message} {error.hint}")
    signs = r"/\-" if name in _HYPHENATED_FIELDS else ""
    if re.fullmatch(rf"""[\w.'\u2019*?{signs}]+|"[^"\\]*\w[^"\\]*\"""", value):
        return piece
    made = to_term(value.strip('"'), phrase=value.startswith('"'))
    return f"{name}:{made}" if made else ""


def build_category_clause(category: str) -> str:
    """Return the clause for a category: a class, or an archive with all its classes.

    >>> [build_category_clause(name) for name in ("cs.lg", "q-bio", "hep-ex")]
    ['cat:cs.LG', 'cat:q-bio.*', 'cat:hep-ex']

    Raises
    ------
    BadRequest
        arXiv has no such category.
    """
    wanted = category.strip().lower()
    if known := _KNOWN_CATEGORIES.get(wanted):
        return f"cat:{known}"
    archive = wanted.removesuffix(".*")
    if archive in _FORMERLY_WHOLE:
        return f"(cat:{archive} OR cat:{archive}.*)"
    if archive in _CLASSES:
        return f"cat:{archive}.*"
    near = get_close_matches(wanted, [*_KNOWN_CATEGORIES, *_CLASSES], n=3, cutoff=0.5)
    like = (
        " or ".join(_KNOWN_CATEGORIES.get(name, name) for name in near)
        or "q-bio.GN, cs.LG or hep-ex"
    )
    msg = f"arXiv has no category {category.strip()[:40]!r}."
    raise BadRequest(msg, f"For example {like}; all of them: https://arxiv.org/category_taxonomy")
