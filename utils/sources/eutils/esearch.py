"""ESearch: the hits of a term in any Entrez database; `..pubmed` adds what only PubMed has.

Errors come with status 200 in a member ``ERROR``; phrases that were not found and fields that were
ignored come beside the hits. PubMed hands out the first 9,999 hits of a search only.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import EntrezFailed, Unreachable
from ...system.plain_text import shortened
from ...web import Answer, Web
from ..loose_json import line, mapping, text, whole
from . import ask

_WARNINGS = {
    "phrasesnotfound": "Not found: {}.",
    "fieldsnotfound": "Field tag ignored, this database does not know it: [{}].",
    "phrasesignored": "Ignored: {}.",
    "quotedphrasesnotfound": "No such phrase, its words were searched one by one: {}.",
    "outputmessages": "Entrez says: {}",
}


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found: one page of identifiers, and how the database read the term.

    ``web_env`` and ``query_key`` point to the whole result on NCBI's history server, where it was
    to be kept.
    """

    uids: tuple[str, ...]
    total: int
    translation: str = ""
    warnings: tuple[str, ...] = ()
    web_env: str = ""
    query_key: str = ""


def esearch(database: str, params: Mapping[str, Any], web: Web) -> Hits:
    """Search *database*; *params* are ESearch's own, ``term`` among them.

    Raises
    ------
    EntrezFailed
        The database could not run the search: never shown as no hits.
    Unreachable
        NCBI did not answer, or not with hits.
    """
    result = _search(database, params, web)
    uids = result.get("idlist")
    return Hits(
        uids=tuple(filter(None, map(line, uids if isinstance(uids, list) else ()))),
        total=total_of(result),
        translation=line(result.get("querytranslation")),
        warnings=warnings_of(result, _WARNINGS),
        web_env=text(result.get("webenv")),
        query_key=text(result.get("querykey")),
    )


def count(database: str, term: str, web: Web) -> int:
    """How many records of *database* a term finds; raises as `esearch` does."""
    return total_of(_search(database, {"term": term, "rettype": "count"}, web))


def _search(database: str, params: Mapping[str, Any], web: Web) -> dict[str, Any]:
    request = {"db": database, "retmode": "json", **params}
    answer = ask(web, "esearch", request, read=Answer.json)
    result = mapping(mapping(answer.json()).get("esearchresult"))
    if error := line(result.get("ERROR")):
        msg = f"{database} could not run the search: {shortened(error, 200)}."
        hints = ("Check brackets, quotes and field tags.", "Try again in a minute.")
        raise EntrezFailed(msg, *hints, database=database)
    return result


def total_of(result: Mapping[str, Any]) -> int:
    """The number of hits; anything else in its place is no answer."""
    total = whole(result.get("count"))
    if total is None:
        raise Unreachable("NCBI sent no number of hits.", "Try again in a minute.")
    return total


def warnings_of(result: Mapping[str, Any], sentences: Mapping[str, str]) -> tuple[str, ...]:
    """What was not found or ignored, each once; *sentences* say it, by NCBI's name for the kind."""
    return tuple(dict.fromkeys(_warnings(result, sentences)))


def _warnings(result: Mapping[str, Any], sentences: Mapping[str, str]) -> Iterator[str]:
    lists = {**mapping(result.get("errorlist")), **mapping(result.get("warninglist"))}
    for kind, sentence in sentences.items():
        items = lists.get(kind)
        for item in map(line, items if isinstance(items, list) else ()):
            if item and item != "No items found.":
                yield sentence.format(shortened(item, 200))
