"""The demo's NCBI E-utilities: esearch by words, and efetch by number."""

from __future__ import annotations

import hashlib
import random
import re
from typing import TYPE_CHECKING

from . import jats
from .pubmed_xml import DOCTYPE, pubmed_article
from .records import Corpus, Record, strip_markup
from .wire import XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from .internet import Internet

EMPTY = "ID list is empty! Possibly it has no correct IDs."


def eutils(call: Call, internet: Internet) -> Reply:
    """Return the reply to an esearch or efetch request."""
    if call.path == "/esearch.fcgi":
        return _answer_esearch(call.params.get("term", ""), internet.corpus)
    ids = [name for name in call.params.get("id", "").split(",") if name]
    if call.path != "/efetch.fcgi" or not ids:
        return fetch_error(EMPTY, 400)
    if call.params.get("db") == "pmc":
        return article_set(ids, internet.corpus)
    by_pmid = internet.corpus.by_pmid
    return build_record_set([by_pmid[name] for name in shuffled(ids) if name in by_pmid])


def _answer_esearch(term: str, corpus: Corpus) -> Reply:
    """Return the PMIDs of records with all words of one alternative (joined by OR)."""
    alternatives = [set(re.findall(r"\w+", part.lower())) for part in term.split(" OR ")]
    found = [
        record.pmid
        for record in corpus.by_pmid.values()
        if any(words and words <= _collect_record_words(record) for words in alternatives)
    ]
    count = str(len(found))
    result = {"count": count, "retmax": count, "retstart": "0", "idlist": found}
    result |= {"translationset": [], "querytranslation": term}
    return as_json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})


def _collect_record_words(record: Record) -> set[str]:
    return set(re.findall(r"\w+", strip_markup(pubmed_article(record)).lower()))


def fetch_error(message: str, status: int) -> Reply:
    """Return an error in efetch's form."""
    return text(
        f'<?xml version="1.0"?><eFetchResult><ERROR>{message}</ERROR></eFetchResult>', XML, status
    )


def shuffled(ids: list[str]) -> list[str]:
    """Return identifiers in a fixed order that differs from the requested one."""
    unique = list(dict.fromkeys(name.removeprefix("PMC").lstrip("0") for name in ids))
    random.Random(
        hashlib.md5(",".join(unique).encode(), usedforsecurity=False).hexdigest()
    ).shuffle(unique)
    return unique


def build_record_set(records: list[Record]) -> Reply:
    """Return PubMed records as XML."""
    rows = "".join(pubmed_article(record) for record in records)
    return text(f"{DOCTYPE}<PubmedArticleSet>{rows}</PubmedArticleSet>", XML)


def article_set(ids: list[str], corpus: Corpus) -> Reply:
    """Return PMC articles as XML, by their numbers."""
    rows = [_format_pmc_article(name, corpus.by_pmcid.get(f"PMC{name}")) for name in shuffled(ids)]
    return text(
        '<?xml version="1.0" ?>\n<!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pmc/articleset/nlm-articleset-2.0.dtd">'
        f"<pmc-articleset>{''.join(rows)}</pmc-articleset>",
        XML,
    )


def _format_pmc_article(number: str, record: Record | None) -> str:
    if record is None or not record.efetch:
        return f'<Reply Id="{number}" error="The following PMCID is not available: {number}"/>'
    return re.sub(r"^<\?xml[^>]*\?>", "", jats.article(record, full=record.efetch == "body"))
