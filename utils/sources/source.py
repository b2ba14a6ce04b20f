"""What a source is: a record of the things one site can do for us.

A record of functions, not a class hierarchy: what a site cannot do is left out, so nobody raises
``NotImplementedError``, and the ladder, the rate table and the conformance tests read the same
fields. Adding a site = one file with its ``SOURCE`` + one line in ``sources/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import PaperError
from ..paper import Fetched, IdName, Ids, Paper, SearchResult
from ..web import Rate, Web

Lookup = Callable[[Sequence[Ids], Web], Iterator[tuple[Ids, Paper | PaperError]]]


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the user meant it; each source spells it in its own words.

    Dates are ``YYYY[/MM[/DD]]`` and come in pairs; ``start`` counts from 0.
    """

    text: str
    max_results: int = 10
    start: int = 0
    sort_by: str = "pub_date"
    min_date: str = ""
    max_date: str = ""
    date_type: str = "pdat"
    publication_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """One way to full text: its name (``via``) and a function yielding candidates, best first.

    ``needs`` names the identifiers of which the paper must have at least one.
    """

    via: str
    needs: tuple[IdName, ...]
    fetch: Callable[[Paper, Web], Iterator[Fetched]]


@dataclass(frozen=True, slots=True)
class Source:
    """One site. Abilities it lacks are None or empty.

    ``label`` is the word of the download contract (``PMC``, ``DOI``, ``arXiv``). ``lookup`` takes
    many identifiers at once and yields one outcome for each, in any order.
    """

    name: str
    about: str
    label: str = ""
    rates: tuple[Rate, ...] = ()
    search: Callable[[Query, Web], SearchResult] | None = None
    lookup: Lookup | None = None
    routes: tuple[Route, ...] = ()
