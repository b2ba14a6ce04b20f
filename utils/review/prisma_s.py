"""``prisma-s.md``: how a review searched, item by item, for the appendix of its paper.

The items are those of PRISMA-S (Rethlefsen ML et al., Syst Rev 2021;10:39,
https://doi.org/10.1186/s13643-020-01542-z, CC BY 4.0). What no program knows is the authors' to
say, and an item without an answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model.job import Search
from ..reports.prisma import TO_FILL
from ..system.plain_text import clean_text, one_line

_OPEN = f"*{TO_FILL}*"


@dataclass(frozen=True, slots=True)
class Reported:
    """One search for the appendix: the kind of source, and its limits in words."""

    search: Search
    kind: str
    limits: str = ""


def appendix(
    title: str,
    searches: Sequence[Reported],
    answers: Mapping[str, str],
    *,
    duplicates: int | None,
    runs: int,
    software: str,
) -> str:
    """The appendix, in Markdown.

    Parameters
    ----------
    answers : mapping of str to str
        What the authors say: ``registries``, ``browsing``, ``contacts``, ``other_methods``,
        ``filters``, ``prior_work``, ``peer_review``.
    duplicates : int or None
        Records removed as duplicates.
    runs : int
        How often the searches were run.
    software : str
        What removed duplicates, with its version.
    """
    parts = [
        f"# How we searched{f': {_line(title)}' if title else ''}",
        "After PRISMA-S (Rethlefsen et al., Syst Rev 2021;10:39, doi 10.1186/s13643-020-01542-z).",
        *_sources(searches, answers),
        *_strategies(searches),
        f"**10. Search filters.** {_answer(answers, 'filters')}",
        f"**11. Prior work.** {_answer(answers, 'prior_work')}",
        f"**12. Updates.** {_updates(runs)}",
        f"**13. Dates of searches.** {_dates(searches)}",
        f"**14. Peer review.** {_answer(answers, 'peer_review')}",
        f"**15. Total records.** {_totals(searches)}",
        f"**16. Deduplication.** {_deduplication(duplicates, software)}",
    ]
    return "\n\n".join(parts) + "\n"


def _sources(searches: Sequence[Reported], answers: Mapping[str, str]) -> Iterator[str]:
    """Items 1 to 7: where was searched."""
    of_kind = {one.kind: [] for one in searches}  # type: dict[str, list[str]]
    for one in searches:
        of_kind[one.kind].append(_line(one.search.name))
    named = {kind: ", ".join(dict.fromkeys(names)) for kind, names in of_kind.items()}
    several = len({one.search.query for one in searches}) < len(searches)
    together = "Some strategies were run in several databases; see item 8." if several else "No."
    sites = [named[kind] for kind in ("website", "organisation") if kind in named]
    browsing = "; ".join(filter(None, [*sites, answers.get("browsing", "")]))
    yield f"**1. Database name.** {named.get('database') or _OPEN}"
    yield f"**2. Multi-database searching.** {together}"
    registers = "; ".join(filter(None, [named.get("register", ""), answers.get("registries", "")]))
    yield f"**3. Study registries.** {registers or _OPEN}"
    yield f"**4. Online resources and browsing.** {browsing or _OPEN}"
    yield f"**5. Citation searching.** {named.get('citation searching') or _OPEN}"
    yield f"**6. Contacts.** {_answer(answers, 'contacts')}"
    yield f"**7. Other methods.** {_answer(answers, 'other_methods')}"


def _strategies(searches: Sequence[Reported]) -> Iterator[str]:
    """Items 8 and 9: each search as it was run, and its limits."""
    yield "**8. Full search strategies**, copied exactly as run; **9. limits and restrictions**:"
    for number, one in enumerate(searches, 1):
        search = one.search
        day = search.searched_at[:10] or TO_FILL
        yield f"{number}. {_line(search.name)}, {day}: {search.hits:,} records"
        yield _quoted(search.query) if search.query else f"   {_OPEN}"
        if search.effective_query and search.effective_query != search.query:
            yield f"   As the site understood it:\n\n{_quoted(search.effective_query)}"
        yield f"   Limits: {_line(one.limits) or 'none'}."


def _quoted(query: str) -> str:
    """A query as an indented block: no sign in it is taken for markup."""
    return "\n".join(f"       {line}" for line in clean_text(query).splitlines())


def _updates(runs: int) -> str:
    times = "once" if runs == 1 else f"{runs:,} times"
    return f"All searches were run {times}; the last run is reported."


def _dates(searches: Sequence[Reported]) -> str:
    days = (f"{_line(one.search.name)} {one.search.searched_at[:10]}" for one in searches)
    return "; ".join(dict.fromkeys(days)) + "." if searches else _OPEN


def _totals(searches: Sequence[Reported]) -> str:
    if not searches:
        return _OPEN
    each = "; ".join(f"{_line(one.search.name)} {one.search.hits:,}" for one in searches)
    return f"{sum(one.search.hits for one in searches):,}: {each}."


def _deduplication(duplicates: int | None, software: str) -> str:
    removed = _OPEN if duplicates is None else f"{duplicates:,} duplicates were removed"
    return (
        f"{removed} by {software}: records that share an identifier and contradict each other in "
        "none are one, else those whose title, authors, year and place in a journal agree."
    )


def _answer(answers: Mapping[str, str], name: str) -> str:
    return _line(answers.get(name, "")) or _OPEN


def _line(text: str) -> str:
    return one_line(clean_text(text))
