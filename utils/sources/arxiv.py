"""Search arXiv, and fetch the records of its preprints and their texts.

Requests: one every three seconds, one at a time, summed over everything a user runs, for the
search, the files and the licenses together. Its refusals are 429, 406 or 503, mostly without
``Retry-After`` and at any rate of requests, and they last. So all processes send it nothing for a
minute, then for two, and the caller gets the error.
https://info.arxiv.org/help/api/tou.html · https://github.com/lukasschwab/arxiv.py/issues/203

Records: entries of Atom. Names come whole and are taken apart here; titles keep their formulas
(``$…$``) while TeX's accents around them become letters; a reference to the journal is taken apart
only where its form leaves no doubt. ``published`` is the day of the first version, ``updated`` that
of the version shown.
https://info.arxiv.org/help/api/user-manual.html#52-details-of-atom-results-returned

Texts: HTML, else LaTeX, else the PDF, from the host arXiv keeps for programs. No request is made
that cannot help: arXiv converts to HTML what was submitted as LaTeX since December 2023, and the
source of a paper without LaTeX is its PDF.
https://info.arxiv.org/about/accessible_HTML.html · https://info.arxiv.org/help/mimetypes.html
Licenses: https://info.arxiv.org/help/oa/index.html
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import BadContent, NotAvailable, RefusedRequest, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..http.messages import MAX_BODY_BYTES
from ..model.identifiers import Ids, find_arxiv_version
from ..model.paper import (
    Author,
    Fetched,
    Media,
    Notice,
    Paper,
    SearchResult,
    paper_from_row,
    to_row,
)
from ..model.site import Address
from .arxiv_query import LAST_HIT, LAST_RELIABLE_HIT, ArxivQuery, build_query
from .loose_json import MAX_NAME_CHARS, to_count
from .publisher import require_picture
from .source import Lookup, Query, Route, Source, add_search_cache, one_by_one, recall_papers

_IDS_PER_REQUEST = 100
_FIRST_HTML = "2023-12"
_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_LICENSE = "{http://arxiv.org/OAI/arXiv/}license"
_LICENSE_DAYS = 30.0
# The line arXiv puts on top of its pages. Licenses elsewhere on a page may be those of a figure.
_LICENSE_LINE = re.compile(rb'id="license-tr"[^<>]{0,200}>\s*Licen[sc]e:\s*([^<>]{2,80}?)\s*<')
_ARXIV = "{http://arxiv.org/schemas/atom}"
WITHDRAWN = "Withdrawn"
"""The publication type of a paper whose authors, or arXiv, took it back."""
_WITHDRAWN_NOTE = re.compile(
    r"(?:^|[.;:(]\s*)(?:(?:this|the|our)\s+)?(?:(?:paper|article|manuscript|submission|preprint"
    r"|work|note|letter|e-?print)\s+)?(?:(?:has|have)\s+been\s+|is\s+|was\s+)?(?:now\s+)?"
    r"(?:temporarily\s+)?withdrawn(?:\s+(?:by|due|because|as|since|from\s+arxiv|for|until)\b|\s*[.;:,)]|$)",
    re.I,
)
_GROUP_NAME = re.compile(
    r"\b(?:Collaborations?|Consortium|Team|Group|Project|Initiative|Community|Committee|Network"
    r"|Observatory|Partnership)\b(?:\s*\([^()]*\))?$",
    re.I,
)
_ON_BEHALF = re.compile(r"\((?:for|on behalf of|and)\b")
_SUFFIX = re.compile(r",?\s+(Jr\.?|Sr\.?|II|III|IV)$")
_PARTICLES = frozenset(
    (
        "af", "al", "ap", "aus", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "di",
        "do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "op", "ten", "ter", "van", "von",
        "vom", "zu", "zum", "zur", "'t", "’t",
    )
)  # fmt: skip
# With a capital only where they can hardly be a given name: Le and Van are, in Vietnam.
_CAPITAL_PARTICLES = frozenset(("Del", "Della", "De", "Dos", "Von"))
_AFTER_VAN = frozenset(("de", "den", "der", "het", "'t"))
_COMBINING_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_TEX_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
}  # fmt: skip
_ACCENT = re.compile(
    r"""\\(?:(?P<sign>["'`^~=.])|(?P<word>[uvHckrdb])(?=[\s{\\]))\s*"""
    r"(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<bare>[A-Za-z]))"
)
_LETTER = re.compile(
    r"\\(ss|oe|OE|ae|AE|aa|AA|dh|DH|th|TH|[oOlLij])(?![A-Za-z])(?:\{\}|\s+(?=\w))?"
)
_ESCAPED_SIGN = re.compile(r"\\([&%#_])")
_BRACED_LETTER = re.compile(r"\{(\w)\}")
_PAGES = r"(?P<pages>[A-Za-z]{0,2}\d+(?:\.\d+)?(?:\s*[-\u2013]+\s*[A-Za-z]?\d+)?)"
_NAME = r"(?P<journal>[A-Z][^\d;:()\[\]]*?[A-Za-z.&])"
_VOLUME = r"(?P<volume>\d{1,4})(?:\s*\(\s*(?P<issue>\d{1,3}(?:[-/]\d+)?)\s*\))?"
_YEAR = r"\(\s*(?:[A-Z][a-z]+\.?\s+)?(?:19|20)\d\d\s*\)"
_REFERENCES = tuple(
    re.compile(form)
    for form in (
        # Phys. Rev. B 85, 115117 (2012)
        rf"{_NAME},?\s*(?:[Vv]ol\.?\s*)?{_VOLUME}\s*[,:]\s*(?:pp?\.?\s*)?{_PAGES}\s*,?\s*{_YEAR}",
        # J. Stat. Phys. 12 (2026) 11
        rf"{_NAME},?\s*(?:[Vv]ol\.?\s*)?{_VOLUME}\s*{_YEAR}\s*[,:]?\s*(?:pp?\.?\s*)?{_PAGES}",
        # Phys.Rev.Lett.98:010505,2007
        rf"{_NAME}\s*{_VOLUME}\s*:\s*{_PAGES}\s*,\s*(?:19|20)\d\d",
    )
)
RATE = Rate(
    "arxiv", ("arxiv", "arxiv_oai"), every=3.0, in_flight=1, backoff=60.0, hosts=("arxiv.org",)
)
CACHE_DAYS = 1.0
"""The index changes at midnight; asking the same more than once a day is against the rules."""
ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_REFUSAL_STATUSES = frozenset({406, 429, 503})
_ERROR_FEED = "arxiv.org/api/errors"
Check = Callable[[Answer], object]


@dataclass(frozen=True, slots=True)
class _Page:
    """One page of a search: arXiv's number of hits, the number of entries, and their papers."""

    total: int
    entries: int
    papers: tuple[Paper, ...]


def search(query: Query, web: Web, *, sort_order: str = "descending") -> SearchResult:
    """Search arXiv's index; the same query is sent once a day.

    Raises
    ------
    BadRequest
        The query has no such form at arXiv, or arXiv refuses it.
    Unreachable
        arXiv is down, asks for a pause, or keeps sending pages without the hits it counted.
    """
    request = build_query(query, sort_order)
    page = _fetch_page(request, web)
    total, end = page.total, request.start + page.entries
    more = page.entries > 0 and end < total
    warnings = list(request.warnings)
    if unread := page.entries - len(page.papers):
        warnings.append(f"{unread:,} of arXiv's entries could not be read and are left out.")
    if more and end >= LAST_HIT:
        warnings.append(
            f"arXiv shows the first {LAST_HIT:,} hits only; narrow the search by years."
        )
    elif total > LAST_RELIABLE_HIT:
        warnings.append(
            f"Of {total:,} hits those after {LAST_RELIABLE_HIT:,} come unreliably; "
            "narrow the search by years."
        )
    return SearchResult(
        query.text,
        request.search_query,
        total,
        page.papers,
        tuple(warnings),
        end if more and end < LAST_HIT else None,
    )


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind arXiv identifiers, in their newest versions."""
    known = fetch_records([ids.arxiv for ids in wanted], web)
    return {ids: known[ids.arxiv] for ids in wanted if ids.arxiv in known}


def recall_cached_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind arXiv identifiers that were fetched within the last day."""
    kept = recall_papers("arxiv", [ids.arxiv for ids in wanted if ids.arxiv], web)
    return {ids: kept[ids.arxiv] for ids in wanted if ids.arxiv in kept}


def fetch_records(names: Sequence[str], web: Web) -> dict[str, Paper]:
    """Return the records of *names* (``2601.00001``, ``2601.00001v1``), by these names.

    Raises
    ------
    NotAvailable
        One of several names is none in arXiv's eyes (``details["status"]`` is 400).
    Unreachable
        arXiv is down, or asks for a pause.
    """
    known = recall_papers("arxiv", names, web)
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if not unknown:
        return known
    # Without max_results even a list of identifiers is cut to ten.
    params = {"id_list": ",".join(unknown), "max_results": len(unknown)}
    try:
        answer = _send_search(params, web, read_feed)
    except NotAvailable as refused:
        if refused.details.get("status") == 400 and len(unknown) == 1:
            return known  # no name at all, such as 1234.12345 of a 34th month: nobody's paper
        raise
    for paper in _read_papers(answer):
        # An entry names its version, whether or not one was asked for.
        for name in (f"{paper.ids.arxiv}v{paper.version}", paper.ids.arxiv):
            if name in unknown:
                known[name] = paper
                _cache_record(name, paper, web)
    return known


def fetch_version(name: str, version: str, web: Web) -> Paper | None:
    """Return the record of a version, or of the newest if *version* is empty; None if unknown."""
    name_of_version = f"{name}v{version}" if version else name
    return fetch_records([name_of_version], web).get(name_of_version)


def _fetch_page(request: ArxivQuery, web: Web) -> _Page:
    """Return one page of a search; the page is cached for a day."""
    name = json.dumps(request.params, sort_keys=True)
    if kept := web.cache.get("arxiv_search", name):
        with suppress(LookupError, TypeError, AttributeError):  # another version's is forgotten
            return _Page(kept["total"], kept["entries"], tuple(map(paper_from_row, kept["papers"])))
    try:
        answer = _send_search(request.params, web, _require_hits)
    except NotAvailable as refused:
        if refused.details.get("status") != 400:
            raise
        raise RefusedRequest(
            refused.message, "Simplify the query, or ask for fewer hits."
        ) from None
    entries = sum(1 for _ in read_feed(answer).iter(f"{ATOM}entry"))
    page = _Page(_get_total(answer), entries, tuple(_read_papers(answer)))
    web.cache.put("arxiv_search", name, asdict(page), CACHE_DAYS)
    for paper in page.papers:  # a search shows the newest versions: no need to look them up again
        _cache_record(paper.ids.arxiv, paper, web)
    return page


def _send_search(params: Mapping[str, Any], web: Web, check: Check) -> Answer:
    """Send a request to arXiv's search."""
    url = f"{web.settings.address('arxiv')}/api/query"
    return send_request(url, web, params, allow=frozenset({400}), check=check)


def _require_hits(answer: Answer) -> None:
    """Raise for an empty page within the total, a temporary error of arXiv."""
    root = read_feed(answer)
    start = _parse_number(answer, "startIndex", "where the page begins")
    if _get_total(answer) > start and root.find(f"{ATOM}entry") is None:
        msg = "arXiv counted hits and sent a page without any."
        raise Unreachable(msg, "Try again later, or narrow the search by years.")


def _cache_record(name: str, paper: Paper, web: Web) -> None:
    """Cache a record for a day."""
    web.cache.put("arxiv", name, to_row(paper), CACHE_DAYS)


def _get_total(answer: Answer) -> int:
    """Return the number of hits that a feed declares."""
    return _parse_number(answer, "totalResults", "how many hits there are")


def _parse_number(answer: Answer, tag: str, meaning: str) -> int:
    """Return a number of a feed; raise `Unreachable` if it is missing."""
    number = to_count(read_feed(answer).findtext(f"{OPENSEARCH}{tag}"))
    if number is None:
        raise Unreachable(f"arXiv did not say {meaning}.", "Try again later.")
    return number


def _read_papers(answer: Answer) -> list[Paper]:
    """Return the papers of a feed; skip entries without authors (unknown identifiers)."""
    entries = read_feed(answer).iter(f"{ATOM}entry")
    papers = (to_paper(entry) for entry in entries if entry.find(f"{ATOM}author") is not None)
    return [replace(paper, recorded_by=SOURCE.name) for paper in papers if paper.ids.arxiv]


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the newest version's text, the form with the best formulas first.

    Raises
    ------
    NotAvailable
        The paper was withdrawn.
    Unreachable
        arXiv is down, or asks for a pause.
    """
    _require_not_withdrawn(paper)
    license_ = None
    for kind in _list_forms(paper):
        url = f"{web.settings.address('arxiv')}/{kind}/{paper.ids.arxiv}"
        try:
            answer = send_request(url, web, kept=True)
        except (NotAvailable, BadContent) as miss:
            yield miss
            continue
        media = _detect_media(answer.body)
        stated = _find_license(answer.body) if media == "html" else ""
        if not stated and license_ is None:
            license_ = _fetch_license(paper.ids.arxiv, web)
        yield Fetched(
            answer.body,
            media,
            url,
            "arxiv",
            "arxiv",
            license=stated or license_ or "",
            charset=answer.charset if media == "html" else "",
            ids=Ids(arxiv=paper.ids.arxiv),
        )
        if kind == "e-print" and media == "pdf":
            return  # there is no other


def _require_not_withdrawn(paper: Paper) -> None:
    if WITHDRAWN in paper.publication_types:
        msg = f"arXiv:{paper.ids.arxiv} was withdrawn, and its text is not offered."
        raise NotAvailable(msg, "Earlier versions may still be read at arxiv.org.")


def fetch_pdf(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch the PDF of the requested version, else of the newest.

    Raises
    ------
    NotAvailable
        The paper was withdrawn.
    Unreachable
        arXiv is down, or asks for a pause.
    """
    _require_not_withdrawn(paper)
    url = f"{web.settings.address('arxiv')}/pdf/{paper.ids.arxiv}"
    body = send_request(url, web, kept=True).body
    yield Fetched(
        body, _detect_media(body), url, "arxiv", "arxiv_pdf", ids=Ids(arxiv=paper.ids.arxiv)
    )


def fetch_picture(url: str, web: Web, most_bytes: int) -> bytes:
    """Fetch a picture of an arXiv page, within arXiv's rate limit.

    Raises
    ------
    BadContent
        What came is no picture, or has more than *most_bytes*.
    Unreachable
        arXiv is down, or asks for a pause.
    """
    return send_request(url, web, check=require_picture, limit=most_bytes).body


def _list_forms(paper: Paper) -> tuple[str, ...]:
    """Return the forms to request: HTML if it exists, LaTeX if it can be read, PDF.

    Only arXiv's own record says when the preprint was revised.
    """
    from ..readers.latex import is_pandoc_available

    day = max(paper.revised if paper.version else "", _find_submission_month(paper.ids.arxiv))
    pages = ("html",) if day >= _FIRST_HTML else ()
    return (*pages, "e-print", "pdf") if is_pandoc_available() else (*pages, "pdf")


def _find_submission_month(name: str) -> str:
    """Return the month in an identifier.

    >>> _find_submission_month("2601.00001"), _find_submission_month("hep-ex/0307015")
    ('2026-01', '')
    """
    match = re.match(r"(\d\d)(\d\d)\.", name)
    return f"20{match[1]}-{match[2]}" if match else ""


def _detect_media(body: bytes) -> Media:
    """Return the media type by the first bytes, since arXiv declares no type of source files."""
    if b"%PDF-" in body[:1024]:
        return "pdf"
    return "latex" if body[:2] == b"\x1f\x8b" or _is_tar(body) else "html"


def _is_tar(body: bytes) -> bool:
    """Return whether a body is an uncompressed tar archive."""
    return body[257:262] == b"ustar"


def _find_license(page: bytes) -> str:
    """Return the license that a page states; else ""."""
    match = _LICENSE_LINE.search(page)
    return match[1].decode("utf-8", "replace") if match else ""


def _fetch_license(name: str, web: Web) -> str:
    """Return the license in arXiv's OAI record; "" if arXiv does not answer."""
    from ..readers.safe_xml import parse_untrusted_xml

    if (kept := web.cache.get("arxiv_license", name)) is not None:
        return str(kept)
    params = {
        "verb": "GetRecord",
        "identifier": f"oai:arXiv.org:{name}",
        "metadataPrefix": "arXiv",
    }
    try:
        root = parse_untrusted_xml(
            send_request(web.settings.address("arxiv_oai"), web, params, patient=False).body
        )
    except SourceMiss:
        return ""
    if root.tag != f"{_OAI}OAI-PMH" or root.find(f"{_OAI}error") is not None:
        return ""
    license_ = (root.findtext(f".//{_LICENSE}") or "").strip()
    web.cache.put("arxiv_license", name, license_, _LICENSE_DAYS)
    return license_


def to_paper(entry: Any) -> Paper:
    """Return the paper that an ``<entry>`` describes, in the version that the entry names."""

    def text(tag: str) -> str:
        return _join_words(entry.findtext(tag) or "")[:MAX_NAME_CHARS]

    where, comment = text(f"{ATOM}id"), text(f"{_ARXIV}comment")
    abstract = _join_words(entry.findtext(f"{ATOM}summary") or "")
    withdrawal = next(
        (words for words in (comment, abstract[:300]) if _WITHDRAWN_NOTE.search(words)), ""
    )
    primary = entry.find(f"{_ARXIV}primary_category")
    classes = [] if primary is None else [primary.get("term", "")]
    classes += [one.get("term", "") for one in entry.iter(f"{ATOM}category")]
    reference = _parse_reference(text(f"{_ARXIV}journal_ref"))
    authors = (to_author(one) for one in entry.iter(f"{ATOM}author"))
    return Paper(
        ids=Ids(
            arxiv=Ids.maybe(where).arxiv, doi=Ids.maybe(text(f"{_ARXIV}doi").split(" ")[0]).doi
        ),
        title=tex_to_text(text(f"{ATOM}title")),
        abstract=tex_to_text(abstract),
        authors=tuple(author for author in authors if author.name),
        journal=reference.get("journal", "arXiv"),
        volume=reference.get("volume", ""),
        issue=reference.get("issue", ""),
        pages=reference.get("pages", ""),
        published=text(f"{ATOM}published")[:10],
        revised=text(f"{ATOM}updated")[:10],
        publication_types=("Preprint", WITHDRAWN) if withdrawal else ("Preprint",),
        notices=(Notice("comment", withdrawal),) if withdrawal else (),
        version=find_arxiv_version(where),
        # arXiv also lists classes of the ACM and MSC, such as "68T05; I.2.6".
        categories=tuple(
            dict.fromkeys(one for one in classes if re.fullmatch(r"[a-z][\w.-]+", one))
        ),
    )


def to_author(author: Any) -> Author:
    """Return the author of an ``<author>`` element: a person or a collaboration."""

    def words(element: Any) -> str:
        return tex_to_text(_join_words("".join(element.itertext()))[:MAX_NAME_CHARS])

    name = author.find(f"{ATOM}name")
    places = tuple(filter(None, (words(one) for one in author.iter(f"{_ARXIV}affiliation"))))
    return parse_author_name(words(name) if name is not None else "", places)


def parse_author_name(name: str, affiliations: tuple[str, ...] = ()) -> Author:
    """Parse a printed author name; return an empty author for text such as ``et al.``.

    >>> parse_author_name("Peter H. N. de With").family
    'de With'
    >>> parse_author_name("Ludwig van der Berg").family
    'van der Berg'
    >>> parse_author_name("Sammy Davis Jr.").suffix
    'Jr.'
    >>> parse_author_name("The ATLAS Collaboration").collective
    'The ATLAS Collaboration'
    """
    if name.endswith(")") and (led := _ON_BEHALF.search(name)):
        name = name[: led.start()]
    name = name.strip(" ,;:")
    if not re.search(r"\w", name) or re.fullmatch(r"(?:and\s+)?(?:et\s+al\.?|others)", name, re.I):
        return Author()
    if _GROUP_NAME.search(name):
        return Author(collective=name, affiliations=affiliations)
    suffix = match[1] if (match := _SUFFIX.search(name)) else ""
    bare = name[: match.start()] if match else name
    if "," in bare:
        family, _, given = bare.partition(",")
        return Author(family.strip(), given.strip(), suffix=suffix, affiliations=affiliations)
    words = bare.split()
    first = len(words) - 1
    while first > 1 and _is_particle(words[first - 1], words[first]):
        first -= 1
    family, given = " ".join(words[first:]), " ".join(words[:first])
    return Author(family, given, suffix=suffix, affiliations=affiliations)


def _join_words(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def _is_particle(word: str, following: str) -> bool:
    """Return whether a word is a particle of a family name."""
    if word == "Van":
        return following in _AFTER_VAN
    return word in _PARTICLES or word in _CAPITAL_PARTICLES


def tex_to_text(text: str) -> str:
    r"""Replace TeX's accents by letters; leave formulas as they are.

    >>> tex_to_text(r"Schr\"odinger and Erd{\H o}s on $\hat{H}$")
    'Schrödinger and Erdős on $\\hat{H}$'
    """
    if "\\" not in text:
        return text
    parts = re.split(r"(?<!\\)(\$[^$]*\$)", text)
    return "".join(part if at % 2 else _replace_accents(part) for at, part in enumerate(parts))


def _replace_accents(text: str) -> str:
    """Replace TeX's accents and letters outside formulas."""

    def accented(found: re.Match[str]) -> str:
        letter = found["braced"] or found["bare"]
        return unicodedata.normalize(
            "NFC", letter + _COMBINING_ACCENTS[found["sign"] or found["word"]]
        )

    text = _LETTER.sub(lambda found: _TEX_LETTERS[found[1]], _ACCENT.sub(accented, text))
    return _ESCAPED_SIGN.sub(r"\1", _BRACED_LETTER.sub(r"\1", text))


def _parse_reference(reference: str) -> dict[str, str]:
    """Return journal, volume, issue and pages; if unsure, the whole reference as the journal.

    >>> _parse_reference("Phys. Rev. B 85, 115117 (2012)")["pages"], _parse_reference("ICML 2019")
    ('115117', {'journal': 'ICML 2019'})
    """
    for form in _REFERENCES:
        if found := form.fullmatch(reference.strip().rstrip(".")):
            parts = {name: value for name, value in found.groupdict().items() if value}
            pages = re.sub(r"\s*[-\u2013]+\s*", "-", parts["pages"])
            return {**parts, "journal": parts["journal"].rstrip(", "), "pages": pages}
    return {"journal": tex_to_text(reference)} if reference else {}


def send_request(
    url: str,
    web: Web,
    params: Mapping[str, Any] | None = None,
    *,
    allow: frozenset[int] = frozenset(),
    check: Check | None = None,
    patient: bool = True,
    kept: bool = False,
    limit: int = MAX_BODY_BYTES,
) -> Answer:
    """Send a request to arXiv.

    Parameters
    ----------
    patient
        False where a refusal is to be raised at once and not waited out.
    kept, limit
        See `Web.get`.

    Raises
    ------
    NotAvailable
        There is no such thing.
    Unreachable
        arXiv is down, or refuses us for a while; ``retry_after`` is the backoff in seconds.
    """

    def check_refusal(answer: Answer) -> None:
        if answer.status in _REFUSAL_STATUSES:
            pause = web.limiter.record_rejection(answer.url)
            msg = f"arXiv answered {answer.status}: it asks for a pause."
            raise Unreachable(msg, status=answer.status, retry_after=pause, lasting=not patient)
        if check is not None:
            check(answer)

    return web.get(
        url, params, allow=allow | _REFUSAL_STATUSES, check=check_refusal, kept=kept, limit=limit
    )


def read_feed(answer: Answer) -> Any:
    """Return the root of an Atom feed.

    Raises
    ------
    NotAvailable
        arXiv refuses the request: a feed with one entry, at status 400 or 200.
    Unreachable
        It is no feed at all.
    """
    from ..readers.safe_xml import parse_untrusted_xml

    try:
        root = parse_untrusted_xml(answer.body)
    except BadContent:
        root = None
    if root is None or root.tag != f"{ATOM}feed":
        msg = "arXiv answered with something that is not a feed."
        raise Unreachable(msg, "Try again later.")
    for entry in root.iter(f"{ATOM}entry"):
        if _ERROR_FEED in (entry.findtext(f"{ATOM}id") or ""):
            reason = " ".join((entry.findtext(f"{ATOM}summary") or "no reason given").split())
            msg = f"arXiv refused the request: {reason[:200]}"
            raise NotAvailable(msg.rstrip(".") + ".", status=400)
    return root


SOURCE = Source(
    name="arxiv",
    about="arXiv: search, preprints' records, and their texts as HTML, LaTeX or PDF",
    addresses=(
        Address("arxiv", "https://export.arxiv.org", "arXiv API and its files"),
        Address("arxiv_oai", "https://oaipmh.arxiv.org/oai", "arXiv licenses (OAI-PMH)"),
    ),
    kept_by="preprint servers",
    searched=3,
    label="arXiv",
    rates=(RATE,),
    search=add_search_cache("arxiv", search),
    lookup=Lookup(("arxiv",), _IDS_PER_REQUEST, look_up_papers, recall_cached_papers),
    routes=(
        Route(
            "arxiv",
            ("arxiv",),
            one_by_one(fetch_full_text),
            label="arXiv",
            version="preprint",
        ),
    ),
    pdf_routes=(
        Route(
            "arxiv_pdf",
            ("arxiv",),
            one_by_one(fetch_pdf),
            has_pdfs=True,
            label="arXiv (PDF)",
            version="preprint",
        ),
    ),
)
