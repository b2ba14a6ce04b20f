"""Passages in Weaviate: the class, its properties, and filters over them.

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
from .query_terms import key, plain

if TYPE_CHECKING:
    from weaviate.collections.classes.config import Property
    from weaviate.collections.classes.filters import _Filters

_WORDS = ("title", "section", "text")
SEARCHED = ["title^3", "section^1.5", "text"]  # BM25F's weights


def properties() -> list[Property]:
    """The properties of the class."""
    from weaviate.classes.config import DataType, Property, Tokenization

    def make(name: str, kind: DataType, **options: Any) -> Property:
        return Property(name=name, data_type=kind, **options)

    whole: dict[str, Any] = {"tokenization": Tokenization.FIELD, "index_searchable": False}
    words: dict[str, Any] = {"tokenization": Tokenization.WORD}
    names = ("pmid", "chunk_id", "journal", "source_url", "kind", "digest", "journal_key")
    return [
        *(make(name, DataType.TEXT, **whole) for name in names),
        *(make(name, DataType.TEXT, **words) for name in _WORDS),
        *(make(name, DataType.TEXT_ARRAY, **whole) for name in ("pub_types", "type_keys")),
        *(make(name, DataType.INT) for name in ("year", "quality_total")),
        *(make(name, DataType.DATE) for name in ("edat", "lr")),
        *(make(name, DataType.BOOL) for name in ("retracted", "vectored")),
    ]


def description_of(model: str, dim: int) -> str:
    """The description of a class whose vectors *model* made."""
    return json.dumps({"about": "passages of papers", "model": model, "dim": dim})


def model_of(description: str | None) -> tuple[str, int]:
    """The model and width in a description; empty and 0 where it has none."""
    try:
        facts = json.loads(description or "{}")
        return str(facts.get("model", "")), int(facts.get("dim", 0))
    except (ValueError, AttributeError, TypeError):  # a class somebody else described
        return "", 0


def properties_of(passage: Passage, vectored: bool) -> dict[str, Any]:
    """A passage as Weaviate keeps it."""
    pmid = passage.paper.removeprefix("pmid:")
    kept: dict[str, Any] = {
        "pmid": pmid,
        "chunk_id": passage.chunk_id,
        "text": plain(passage.text),
        "title": plain(passage.title),
        "section": plain(passage.section),
        "journal": plain(passage.journal),
        "journal_key": key(passage.journal),
        "pub_types": [plain(name) for name in passage.publication_types],
        "type_keys": [key(name) for name in passage.publication_types],
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
    """Filters for Weaviate; None where all passages count."""
    from weaviate.classes.query import Filter

    conditions: list[_Filters] = []
    if not filters.retracted:
        conditions.append(Filter.by_property("retracted").equal(False))
    if filters.year_from is not None:
        conditions.append(Filter.by_property("year").greater_or_equal(filters.year_from))
    if filters.year_to is not None:
        conditions.append(Filter.by_property("year").less_or_equal(filters.year_to))
    if filters.journal:
        conditions.append(Filter.by_property("journal_key").equal(key(filters.journal)))
    if filters.publication_types:
        types = [key(name) for name in filters.publication_types]
        conditions.append(Filter.by_property("type_keys").contains_any(types))
    if filters.kind:
        conditions.append(Filter.by_property("kind").equal(filters.kind))
    if not conditions:
        return None
    return Filter.all_of(conditions) if len(conditions) > 1 else conditions[0]
