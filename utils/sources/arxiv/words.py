"""The words of a search in arXiv's syntax.

Text with prefixes (``ti: au: abs: …``) or operators (``AND OR ANDNOT``) is taken for that syntax
and sent once its quotes, brackets and operators fit together. Any other text is words, all of
which must occur; nothing in them may turn into an operator by accident.
https://info.arxiv.org/help/api/user-manual.html#51-details-of-query-construction
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...errors import BadRequest
from .categories import clause

PREFIXES = ("ti", "au", "abs", "co", "jr", "cat", "rn", "id", "all")
EXAMPLE = 'For example: graph "attention network", or ti:"graph network" ANDNOT cat:cs.SE'

_WITH_HYPHENS = ("cat", "id", "rn")
_NAMES = "|".join(PREFIXES)
_PIECE = re.compile(
    r"(?P<range>(?:submittedDate|lastUpdatedDate):\s*\[[^\]]*\])"
    rf"|(?P<group>(?:{_NAMES}):\()"
    rf'|(?P<field>(?:{_NAMES}):(?:"[^"]*"|[^\s()":]+(?=[\s()"]|$)))'
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


def search_words(text: str) -> tuple[str, list[str]]:
    """*text* in arXiv's syntax, and warnings about what was read otherwise than written.

    >>> search_words('deep "protein folding" COVID-19')[0]
    'all:deep AND all:"protein folding" AND all:"COVID 19"'
    >>> search_words("ti:qubit ANDNOT (au:doe OR cat:hep-ex)")[0]
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
        return _checked(pieces)
    warnings = []
    if any(kind == "stray" for kind, _ in pieces):
        warnings.append("A quotation mark in the query is not closed; it was left out.")
    terms = [_bare(kind, piece) for kind, piece in pieces if kind in {"word", "phrase"}]
    return " AND ".join(dict.fromkeys(filter(None, terms))), warnings


def term(piece: str, *, phrase: bool = False) -> str:
    """A word as it is, anything with signs in it as a phrase; empty when no letter is left.

    >>> term("CD8+"), term("p53/MDM2"), term("transform*"), term("AND"), term("?!")
    ('CD8', '"p53 MDM2"', 'transform*', '"AND"', '')
    """
    if not phrase and re.fullmatch(r"\w{3,}\*", piece):
        return piece  # a wildcard at the end is arXiv's own
    # Dots and apostrophes are part of names. Other signs mean something to the engine: what follows
    # a hyphen is excluded (arXiv/arxiv-search issue 322), and the index splits words there anyway.
    words = re.sub(r"[^\w.'\u2019]+", " ", piece).split()
    made = " ".join(bare for word in words if (bare := word.strip(".'\u2019_")))
    return made if made.isalnum() and made not in _OPERATORS else f'"{made}"' if made else ""


def _bare(kind: str, piece: str) -> str:
    """A term that names no field: it may be in any."""
    made = term(piece[1:-1], phrase=True) if kind == "phrase" else term(piece)
    return f"all:{made}" if made else ""


def _checked(pieces: Sequence[Piece]) -> tuple[str, list[str]]:
    """A query that is in arXiv's syntax already; words side by side must all occur."""
    warnings: list[str] = []
    made: list[str] = []
    open_groups: list[bool] = []  # whether each names a field for all that is in it
    before = "open"
    for kind, piece in _joined(pieces):
        _require_place(before, kind, piece)
        if before in {"close", "term"} and kind not in {"close", "operator"}:
            made.append("AND")
        if kind == "close":
            if not open_groups:
                raise _unbalanced()
            open_groups.pop()
        elif kind in {"open", "group"}:
            open_groups.append(kind == "group" or any(open_groups))
        if piece == "NOT":
            warnings.append("arXiv writes NOT as ANDNOT; so it was sent.")
        made.append(_spelled(kind, piece, warnings, named=any(open_groups)))
        before = (
            kind
            if kind in {"close", "operator"}
            else "open"
            if kind in {"open", "group"}
            else "term"
        )
    if open_groups:
        raise _unbalanced()
    _require_place(before, "close", "")
    return re.sub(r"\(\s+|\s+(?=\))", lambda found: found[0].strip(), " ".join(made)), warnings


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """``AND NOT`` as one operator."""
    for at, (kind, piece) in enumerate(pieces):
        following = pieces[at + 1][1] if at + 1 < len(pieces) else ""
        if not (piece == "AND" and kind == "operator" and following == "NOT"):
            yield kind, piece


def _require_place(before: str, kind: str, piece: str) -> None:
    """An operator has something on both sides, and brackets are not empty."""
    if kind == "stray":
        raise BadRequest("A quotation mark in the query is not closed.", "Close or remove it.")
    if kind == "operator" and before in {"open", "operator"}:
        msg = f"There is nothing before {piece} in the query."
        raise BadRequest(msg, f"A word that means nothing special is put in quotes. {EXAMPLE}")
    if kind == "close" and before in {"open", "operator"}:
        after = "an opening bracket" if before == "open" else "the last operator"
        raise BadRequest(f"There is nothing after {after} in the query.", EXAMPLE)


def _unbalanced() -> BadRequest:
    return BadRequest("The brackets () in the query do not match.", "Count or remove them.")


def _spelled(kind: str, piece: str, warnings: list[str], *, named: bool) -> str:
    if kind == "range":
        if match := _RANGE.fullmatch(piece):
            return f"{match[1]}:[{match[2]} TO {match[3]}]"
        msg = f"{piece[:60]} is no range of dates."
        raise BadRequest(msg, "For example submittedDate:[202401010000 TO 202412312359].")
    if kind == "operator":
        return "ANDNOT" if piece == "NOT" else piece
    if kind in {"word", "phrase"}:
        made = _bare(kind, piece).removeprefix("all:" if named else "")
    elif kind == "field":
        made = _field(piece, warnings)
    else:
        return piece
    if not made:
        raise BadRequest(f"{piece[:60]!r} holds no word to look for.", EXAMPLE)
    return made


def _field(piece: str, warnings: list[str]) -> str:
    name, _, value = piece.partition(":")
    if name == "cat":
        try:
            clause(value.strip('"'))
        except BadRequest as error:
            warnings.append(f"{error.message} {error.hint}")
    signs = r"/\-" if name in _WITH_HYPHENS else ""
    if re.fullmatch(rf"""[\w.'\u2019*?{signs}]+|"[^"\\]*\w[^"\\]*\"""", value):
        return piece
    made = term(value.strip('"'), phrase=value.startswith('"'))
    return f"{name}:{made}" if made else ""
