"""What a passage is in Weaviate: the class, its properties, and filters over them.

``pmid``, ``chunk_id`` and ``text`` are always there; ``journal``, ``pub_types``, ``year``,
``quality_total``, ``edat``, ``lr`` and ``source_url`` where they are known (quality, entry date
and revision belong to the record and are for whoever else fills the class). The rest is ours.
``journal_key`` and ``type_keys`` are whole names in lower case, since a filter over words would
take "Lancet" for "The Lancet Oncology". The description of the class says whose vectors it has.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..model.passage import Filters, Passage
from ..system.plain_text import encodable

if TYPE_CHECKING:
    from weaviate.collections.classes.config import Property
    from weaviate.collections.classes.filters import _Filters

_WORDS = ("title", "section", "text")
SEARCHED = ["title^3", "section^1.5", "text"]  # BM25F's weights


def properties() -> list[Property]:
    """The properties of the class."""
    from weaviate.classes.config import DataType, Property, Tokenization

    def named(name: str, kind: DataType, **options: Any) -> Property:
        return Property(name=name, data_type=kind, **options)

    whole: dict[str, Any] = {"tokenization": Tokenization.FIELD, "index_searchable": False}
    words: dict[str, Any] = {"tokenization": Tokenization.WORD}
    names = ("pmid", "chunk_id", "journal", "source_url", "kind", "digest", "journal_key")
    return [
        *(named(name, DataType.TEXT, **whole) for name in names),
        *(named(name, DataType.TEXT, **words) for name in _WORDS),
        *(named(name, DataType.TEXT_ARRAY, **whole) for name in ("pub_types", "type_keys")),
        *(named(name, DataType.INT) for name in ("year", "quality_total")),
        *(named(name, DataType.DATE) for name in ("edat", "lr")),
        *(named(name, DataType.BOOL) for name in ("retracted", "vectored")),
    ]


def described(model: str, dim: int) -> str:
    """The description of a class whose vectors *model* made."""
    return json.dumps({"about": "passages of papers", "model": model, "dim": dim})


def model_of(description: str | None) -> tuple[str, int]:
    """The model and width a description speaks of; empty and 0 where it does not."""
    try:
        said = json.loads(description or "{}")
        return str(said.get("model", "")), int(said.get("dim", 0))
    except (ValueError, AttributeError, TypeError):  # a class somebody else described
        return "", 0


def properties_of(passage: Passage, vectored: bool) -> dict[str, Any]:
    """A passage as Weaviate keeps it."""
    pmid = passage.paper.removeprefix("pmid:")
    kept: dict[str, Any] = {
        "pmid": pmid,
        "chunk_id": passage.chunk_id,
        "text": _plain(passage.text),
        "title": _plain(passage.title),
        "section": _plain(passage.section),
        "journal": _plain(passage.journal),
        "journal_key": _key(passage.journal),
        "pub_types": [_plain(name) for name in passage.publication_types],
        "type_keys": [_key(name) for name in passage.publication_types],
        "kind": passage.kind,
        "retracted": passage.retracted,
        "digest": passage.digest,
        "vectored": vectored,
    }
    if passage.year is not None:
        kept["year"] = passage.year
    if pmid.isdigit():
        kept["source_url"] = f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    return kept


def paper_of(kept: dict[str, Any]) -> str:
    """The paper's key."""
    pmid = str(kept.get("pmid", ""))
    return f"pmid:{pmid}" if pmid.isdigit() else pmid


def filter_of(filters: Filters) -> _Filters | None:
    """The same filters in Weaviate's words; None where all passages count."""
    from weaviate.classes.query import Filter

    asked: list[_Filters] = []
    if not filters.retracted:
        asked.append(Filter.by_property("retracted").equal(False))
    if filters.year_from is not None:
        asked.append(Filter.by_property("year").greater_or_equal(filters.year_from))
    if filters.year_to is not None:
        asked.append(Filter.by_property("year").less_or_equal(filters.year_to))
    if filters.journal:
        asked.append(Filter.by_property("journal_key").equal(_key(filters.journal)))
    if filters.publication_types:
        types = [_key(name) for name in filters.publication_types]
        asked.append(Filter.by_property("type_keys").contains_any(types))
    if filters.kind:
        asked.append(Filter.by_property("kind").equal(filters.kind))
    if not asked:
        return None
    return Filter.all_of(asked) if len(asked) > 1 else asked[0]


def _plain(given: str) -> str:
    return encodable(given).replace("\0", " ")


def _key(given: str) -> str:
    return _plain(given).casefold().strip()
