"""Find candidates for a reference without an identifier, by the cheapest request first.

Many references go into one question as long as that is possible: fifty lines into ECitMatch, ten
titles into one search of PubMed, whose hits are then told apart by the judge. Only what is left
costs a request of its own, at Crossref, and then at the sites of the merged search.

PubMed is asked for some words of a title, not for the title: phrases that are not in its index
degrade to words anyway, and a letter in the wrong place would hide the paper. So the second
question has two halves of the words, one of which a single mistake spares.
https://pubmed.ncbi.nlm.nih.gov/help/#search-tags
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import NotConfigured, PaperError, StoreFailed
from ..http import Web
from ..judges.titles import split_title_words
from ..model.paper import Paper
from ..settings import Settings
from ..sources import Query, Source
from ..sources.crossref import find_works
from ..sources.pubmed import fetch_papers
from ..sources.pubmed import search as search_pubmed
from .compared_records import is_preprint_without_journal
from .pubmed.citation_matching import match_citations
from .search import search_papers

ECITMATCH = "ECitMatch"
_LINES_PER_REQUEST = 50  # of one request to ECitMatch; two for each reference
_TITLES_PER_SEARCH = 10  # of one search
_MAX_HITS = 100
_FIELD_MAX_CHARS = 200  # characters of a field that is sent
_MAX_TITLE_WORDS = 6  # of a title that are searched for
_MIN_TITLE_WORDS = 4  # below which a title alone finds too much
_REFERENCE_MAX_CHARS = 400  # characters of a reference that is sent
# A word by itself: what stands beside a hyphen, a figure or a Greek letter is spelled in many ways.
_LONE_WORD = re.compile(r"(?<![^\s(\[\"“:])[^\W\d_]{4,40}(?=[\s.,:;?!)\]\"”]|$)")
# Words that PubMed does not search for (PubMed Help, "Stopwords"), of four letters and more.
_PUBMED_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """about again almost also although always among another because been before being between
        both could does done during each either enough especially etc found from further have
        having here how however into itself just made mainly make most mostly must nearly
        neither obtained often overall perhaps pmid quite rather really regarding seem seen
        several should show showed shown shows significantly since some such than that their
        theirs them then there therefore these they this those through thus upon used using
        various very were what when which while with within without would""",
    )
)


@dataclass(slots=True)
class WantedReference:
    """A reference to find, with its candidates so far.

    ``found`` pairs candidates with the site that named them; ``silent`` says which sites did not
    answer, and ``crowded`` that a site had more candidates than were looked at.
    """

    paper: Paper
    found: list[tuple[Paper, str]] = field(default_factory=list)
    silent: dict[str, str] = field(default_factory=dict)
    crowded: bool = False


Step = Callable[[Sequence[WantedReference], Web, Sequence[Source]], None]


def find_by_journal_and_page(
    wanted: Sequence[WantedReference], web: Web, _: Sequence[Source]
) -> None:
    """Send references with a journal, a first page, and a year or volume to ECitMatch."""
    placed = [one for one in wanted if _to_ecitmatch_citation(one.paper)]
    for start in range(0, len(placed), _LINES_PER_REQUEST // 2):
        batch = placed[start : start + _LINES_PER_REQUEST // 2]
        with _record_missing_answers(batch, ECITMATCH):
            named = _fetch_ecitmatch_pmids(batch, web)
            known = fetch_papers(sorted({pmid for pmids in named for pmid in pmids}), web)
            for one, pmids in zip(batch, named, strict=True):
                one.found += [(known[pmid], ECITMATCH) for pmid in pmids if pmid in known]


def _fetch_ecitmatch_pmids(batch: Sequence[WantedReference], web: Web) -> list[dict[str, None]]:
    """Return the PMIDs that ECitMatch gives for each reference."""
    named: list[dict[str, None]] = [{} for _ in batch]
    lines = [
        {**line, "key": str(at)}
        for at, one in enumerate(batch)
        for line in _to_ecitmatch_lines(one.paper)
    ]
    for match in match_citations(lines, web):
        pmids = filter(None, (match.pmid, *match.candidates))
        named[int(match.key)].update(dict.fromkeys(pmids))
    return named


def _to_ecitmatch_lines(paper: Paper) -> list[Mapping[str, str]]:
    """Return the citation for ECitMatch, also without year or author, which are often wrong."""
    whole = _to_ecitmatch_citation(paper)
    loose = {**whole, "year": "", "author": ""}
    return [whole, loose] if whole["volume"] and (whole["year"] or whole["author"]) else [whole]


def _to_ecitmatch_citation(paper: Paper) -> dict[str, str]:
    page = re.match(r"[A-Za-z]{0,2}\d{1,9}", paper.pages)
    journal = paper.journal_abbreviation or paper.journal
    if not (page and journal and (paper.year or paper.volume)):
        return {}
    first = next((one for one in paper.authors if one.family), None)
    initials = first.initials or "".join(part[:1] for part in first.given.split()) if first else ""
    place = {
        "journal": journal,
        "year": paper.year,
        "volume": paper.volume,
        "first_page": page[0],
        "author": f"{first.family} {initials}".strip() if first else "",
    }
    return {name: value[:_FIELD_MAX_CHARS] for name, value in place.items()}


def find_by_title(wanted: Sequence[WantedReference], web: Web, _: Sequence[Source]) -> None:
    """Search PubMed for the words of titles."""
    _search_titles_in_batches(
        [(one, clause) for one in wanted if (clause := _build_title_query(one.paper))], web
    )


def find_by_half_titles(wanted: Sequence[WantedReference], web: Web, _: Sequence[Source]) -> None:
    """Search PubMed for half of a title's words together with the first author or the year."""
    _search_titles_in_batches(
        [(one, clause) for one in wanted if (clause := _build_half_title_query(one.paper))], web
    )


def _search_titles_in_batches(asked: Sequence[tuple[WantedReference, str]], web: Web) -> None:
    for start in range(0, len(asked), _TITLES_PER_SEARCH):
        batch = asked[start : start + _TITLES_PER_SEARCH]
        with _record_missing_answers([one for one, _ in batch], "PubMed"):
            _search_batch(batch, web)


def _search_batch(batch: Sequence[tuple[WantedReference, str]], web: Web) -> None:
    """Search for several titles at once; split the batch if there are too many hits."""
    words = " OR ".join(f"({clause})" for _, clause in batch)
    answer = search_pubmed(Query(words, max_results=_MAX_HITS, sort_by="relevance"), web)
    if answer.total > _MAX_HITS and len(batch) > 1:
        middle = len(batch) // 2
        _search_batch(batch[:middle], web)
        _search_batch(batch[middle:], web)
        return
    for one, _ in batch:
        one.crowded |= answer.total > _MAX_HITS
        one.found += [(paper, "PubMed") for paper in answer.papers]


def _build_title_query(paper: Paper) -> str:
    words = _choose_title_words(paper)
    if len(words) >= _MIN_TITLE_WORDS:
        return " AND ".join(f"{word}[ti]" for word in words[:_MAX_TITLE_WORDS])
    beside = [
        part for part in (_get_author_search_term(paper), _build_year_range(paper, 0)) if part
    ]
    return " AND ".join([*(f"{word}[ti]" for word in words), *beside]) if words and beside else ""


def _build_half_title_query(paper: Paper) -> str:
    words = _choose_title_words(paper)
    beside = _get_author_search_term(paper) or _build_year_range(paper, 1)
    if len(words) < _MIN_TITLE_WORDS or not beside:
        return ""
    halves = (words[: 2 * _MAX_TITLE_WORDS][at::2] for at in (0, 1))
    either = " OR ".join(
        "(" + " AND ".join(f"{word}[ti]" for word in half) + ")" for half in halves
    )
    return f"({either}) AND {beside}"


def _choose_title_words(paper: Paper) -> list[str]:
    """Return the words of a title to search for, the longest first."""
    lone = (word.lower() for word in _LONE_WORD.findall(paper.title[:1000]))
    words = [word for word in dict.fromkeys(lone) if word not in _PUBMED_STOP_WORDS]
    return sorted(words, key=len, reverse=True)


def _get_author_search_term(paper: Paper) -> str:
    """Return a one-word family name that PubMed can be asked for."""
    families = (one.family for one in paper.authors)
    first = next((name for name in families if name.isalpha()), "")
    return f"{first}[au]" if first else ""


def _build_year_range(paper: Paper, around: int) -> str:
    if not paper.year.isdigit():
        return ""
    year = int(paper.year)
    return f"{year - around}:{year + around}[dp]" if around else f"{year}[dp]"


def find_at_crossref(wanted: Sequence[WantedReference], web: Web, _: Sequence[Source]) -> None:
    """Search Crossref for the works most similar to each reference."""
    for one in wanted:
        words = _to_reference_text(one.paper)
        if not words:
            continue
        with _record_missing_answers([one], "Crossref"):
            one.found += [(paper, "Crossref") for paper in find_works(words, web)]


def _to_reference_text(paper: Paper) -> str:
    """Return a reference in words: title, first author, journal and year."""
    if not split_title_words(paper.title):
        return ""
    author = next((one.name for one in paper.authors), "")
    parts = (paper.title.strip("[]. "), author, paper.journal, paper.year)
    return " ".join(filter(None, parts))[:_REFERENCE_MAX_CHARS]


def find_at_other_sites(
    wanted: Sequence[WantedReference], web: Web, sources: Sequence[Source]
) -> None:
    """Search the other sites of the merged search for each title."""
    for one in wanted:
        if not (words := " ".join(split_title_words(one.paper.title)[:20])):
            continue
        among = _list_other_sites(one.paper, web.settings)
        with _record_missing_answers([one], "the merged search"):
            answer = search_papers(words, web, sources, among=among, max_results=10)
            one.found += [(hit.paper, ", ".join(hit.sources)) for hit in answer.papers]
            for site in answer.asked:
                if site.outcome != "answered":
                    one.silent[site.source] = site.message


def _list_other_sites(paper: Paper, settings: Settings) -> list[str]:
    """Return the sites beyond PubMed and Crossref that may have the paper.

    Without a key Semantic Scholar mostly refuses; arXiv has what nobody else has of preprints only.
    """
    keyed = {"semantic_scholar": "semantic_scholar_api_key", "openalex": "openalex_api_key"}
    names = ["europepmc", *(name for name, key in keyed.items() if settings.key(key))]
    return [*names, "arxiv"] if is_preprint_without_journal(paper) or not paper.journal else names


@contextmanager
def _record_missing_answers(wanted: Sequence[WantedReference], site: str) -> Iterator[None]:
    """Record that a site did not answer about some references, and continue with the next site."""
    try:
        yield
        return
    except (NotConfigured, StoreFailed):
        raise
    except PaperError as error:
        message = error.message
    except (LookupError, TypeError, ValueError, AttributeError):
        message = f"{site} answered in a form we do not understand."
    for one in wanted:
        one.silent[site] = message


STEPS: tuple[Step, ...] = (
    find_by_journal_and_page, find_by_title, find_by_half_titles, find_at_crossref,
    find_at_other_sites,
)  # fmt: skip
"""The questions in their order; each is asked only for what those before it did not settle."""


def iterate_candidates(one: WantedReference) -> Iterator[tuple[Paper, str]]:
    """Yield each candidate once, with the site that named it first."""
    seen = set()
    for paper, site in one.found:
        if paper.ids and paper.ids.key not in seen:
            seen.add(paper.ids.key)
            yield paper, site
