"""Fetch MDPI's articles from its public file host.

www.mdpi.com rejects programs, and the file host behind it does not. A file is named after the
journal, the volume and the article number, which the DOI contains: ``10.3390/life15091404`` is
``life-15-01404``. The journal's name in the address is its code in the DOI, or its title without
blanks; the name that worked is remembered. Of 17 articles in 14 journals 16 were found
(https://github.com/drpwchen/paper-fetch/issues/3, September 2026; the same addresses are in
fulltext-article-downloader 0.2.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ..errors import NotAvailable, SourceMiss
from ..http import Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address
from .crossref import look_up_papers, recall_cached_papers
from .source import Route, Source, one_by_one

_PREFIX = "10.3390/"
_SUFFIX = re.compile(r"([a-z]+)(\d{5,})")
_ISSUE_DIGITS = 2
_NAMES = {"app": "applsci"}  # neither the code nor the title
_NAME_DAYS = 90.0


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the article as PDF.

    Raises
    ------
    NotAvailable
        The DOI is not one of an MDPI journal, or the host has no file of that name.
    Unreachable
        The host, or Crossref for a record without a volume, did not answer.
    """
    doi = paper.ids.doi
    match = _SUFFIX.fullmatch(doi.removeprefix(_PREFIX))
    if not doi.startswith(_PREFIX) or not match:
        raise NotAvailable(f"doi:{doi} is not an article of an MDPI journal.")
    code, digits = match.groups()
    if not paper.volume:
        found = recall_cached_papers([paper.ids], web) or look_up_papers([paper.ids], web)
        paper = found.get(paper.ids, paper)
    number = digits.removeprefix(paper.volume)[_ISSUE_DIGITS:]
    if not (paper.volume.isdecimal() and digits.startswith(paper.volume) and number):
        raise NotAvailable(f"The volume of doi:{doi} is unknown, so its file has no known name.")
    for name in _list_names(code, paper.journal, web):
        file = f"{name}-{int(paper.volume):02d}-{int(number):05d}"
        url = f"{web.settings.address('mdpi')}/d_attachment/{name}/{file}/article_deploy/{file}.pdf"
        with suppress(NotAvailable):
            answer = web.get(url, kept=True)
            web.cache.put("mdpi_name", code, name, _NAME_DAYS)
            yield Fetched(answer.body, "pdf", answer.url, SOURCE.name, "mdpi", status=answer.status)
            return
    raise NotAvailable(f"MDPI's file host has no file of doi:{doi} under its usual names.")


def _list_names(code: str, journal: str, web: Web) -> list[str]:
    """Return the names that a journal may have in addresses, the likeliest first."""
    kept = web.cache.get("mdpi_name", code)
    title = re.sub(r"[^a-z0-9]", "", re.sub(r"\(.*", "", journal.lower()))
    names = (str(kept or ""), _NAMES.get(code, ""), code, title)
    return list(dict.fromkeys(filter(None, names)))


SOURCE = Source(
    name="mdpi",
    about="MDPI: its articles as PDF, from its public file host",
    addresses=(Address("mdpi", "https://mdpi-res.com", "MDPI's files"),),
    label="DOI",
    # No published limit: one a second, as for any publisher's site.
    rates=(Rate("mdpi", ("mdpi",), every=1.0, in_flight=1),),
    routes=(
        Route(
            "mdpi",
            ("doi",),
            one_by_one(fetch_full_text),
            share=0.01,
            prefixes=(_PREFIX,),
            has_pdfs=True,
            label="MDPI (file host)",
        ),
    ),
)
