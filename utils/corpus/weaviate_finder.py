"""Store and find passages in Weaviate, through its official client (v4, extra ``[weaviate]``).

Weaviate searches words (BM25F) and meaning (HNSW, cosine); the scores are fused here, as for every
other store (`.ranking`), because Weaviate's own fusion neither returns the scores nor weighs the
two searches by their confidence. Passages carry their own UUIDs and vectors, so writes are
idempotent. The client needs HTTP and gRPC: ``WEAVIATE_URL=http://host:8080`` uses gRPC port 50051,
``…:8080?grpc_port=50061`` another; Weaviate Cloud has a gRPC host of its own, which the client
knows.

Of the class's properties ``pmid``, ``chunk_id`` and ``text`` are always there; ``journal``,
``pub_types``, ``year``, ``quality_total``, ``edat``, ``lr`` and ``source_url`` where they are known
(`.finders.SharedFacts`). The rest is ours.
``journal_key`` and ``type_keys`` are whole names in lower case, since a filter over words would
take "Lancet" for "The Lancet Oncology". ``title_terms``, ``section_terms`` and ``text_terms`` are
what is searched (`..outline.terms`), to be split at blanks. Weaviate reads a weight as a whole
number, and takes "1.5" for 0 (``bm25_searcher.go``, ``wand``: ``strconv.Atoi``), so that all
weights are twice those of the other stores, and k1 too, which makes the same of them. The
description of the class says whose vectors it has.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from operator import mul
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from ..command_line import install_command
from ..errors import NotConfigured, WeaviateFailed
from ..model.passage import Filters, Passage, PassageHit
from ..outline.terms import to_index_terms, to_query_terms, to_term_groups
from .finders import FinderStatus, SharedFacts
from .ranking import (
    WORD_SEARCH_DEPTH,
    Scored,
    compute_term_share,
    fold_filter_value,
    fuse_scores,
    get_candidate_limit,
    to_query_vector,
    to_storable_text,
    to_vector_rows,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from weaviate import WeaviateClient
    from weaviate.collections import Collection
    from weaviate.collections.classes.config import Property
    from weaviate.collections.classes.filters import _Filters

    from ..settings import Settings
    from .finders import ShownOf, Vectors

_BATCH = 200  # a message of gRPC holds some 10 MB
_ASKED = 500
_GRPC_PORT = 50051
_CLOUD = (".weaviate.cloud", ".weaviate.network", ".semi.technology")
_FORMAT = 2  # of the class: before, there were no terms
_COUNTED_S = 10.0  # two aggregates take longer than a search
_WORDS = ("title", "section", "text")
_TERMS = [f"{name}_terms" for name in _WORDS]
SEARCHED = [f"{name}^{weight}" for name, weight in zip(_TERMS, (6, 3, 2), strict=True)]
_LISTS = ("pub_types", "type_keys")
_K1 = 2.4


def _return_no_facts(papers: Sequence[str]) -> dict[str, SharedFacts]:
    """Return an empty dict: no paper has facts to share."""
    return {}


class WeaviateFinder:
    """A finder in one collection of a Weaviate server; see `.Finder`.

    Parameters
    ----------
    url : str
        The server's address; see the module.
    key : str
        The API key; empty if the server needs none.
    collection : str
        The name of the class, made by `prepare_for_model`.
    shown : callable, optional
        Returns the facts of papers that the store shows.
    """

    name = "weaviate"

    def __init__(
        self,
        url: str,
        key: str = "",
        collection: str = "PubMedChunk",
        shown: ShownOf = _return_no_facts,
    ) -> None:
        self._url = urlsplit(url if "//" in url else f"//{url}", scheme="http")
        self._key = key
        self._collection = collection
        self._shown = shown
        self._lock = threading.Lock()
        self._client: WeaviateClient | None = None
        self._counted: tuple[float, FinderStatus] | None = None

    @classmethod
    def from_settings(cls, settings: Settings, shown: ShownOf) -> WeaviateFinder:
        """Return the finder for these settings.

        Raises
        ------
        NotConfigured
            ``WEAVIATE_URL`` is not set.
        WeaviateFailed
            Its client is not installed.
        """
        if not settings.weaviate_url:
            msg = "VECTOR_STORE=weaviate needs WEAVIATE_URL."
            raise NotConfigured(msg, "Set it, for example http://localhost:8080.")
        if find_spec("weaviate") is None:
            msg = "Weaviate's client is not installed here."
            hint = f"Run: {install_command('weaviate')}, or leave VECTOR_STORE out."
            raise WeaviateFailed(msg, hint)
        key = settings.weaviate_api_key
        secret = key.get_secret_value() if key else ""
        return cls(settings.weaviate_url, secret, settings.weaviate_class, shown)

    def prepare_for_model(self, model: str, dim: int) -> None:
        """Create the collection, or add properties; another model needs an empty one.

        A class holds vectors of one width, so that another model means an empty class:
        `find_uuids_without_vectors` then names every passage.
        """
        self._counted = None
        with self._open_connection() as client:
            if client.collections.exists(self._collection):
                description = self._get_collection(client).config.get().description
                known, _ = facts = parse_model_and_width(description)
                old = parse_format_number(description) < _FORMAT
                if not old and (not model or facts == (model, dim)):
                    self._add_missing_properties(client)
                    return
                if known or old:
                    model, dim = (model, dim) if model else facts
                    client.collections.delete(self._collection)
                else:
                    self._add_missing_properties(client)
                    self._get_collection(client).config.update(
                        description=build_collection_description(model, dim)
                    )
                    return
            self._create_collection(client, model, dim)

    def store_passages(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Store passages; unchanged passages without a new vector keep their old one.

        Raises
        ------
        InvariantFailed
            The vectors are not those of the model this was prepared for.
        WeaviateFailed
            It did not answer, or refused a passage.
        """
        from weaviate.classes.data import DataObject

        self._counted = None
        with self._open_connection() as client:
            found = self._get_collection(client)
            _, dim = parse_model_and_width(found.config.get().description)
            rows = None if vectors is None else to_vector_rows(vectors, passages, dim)
            latest = {passage.uuid: at for at, passage in enumerate(passages)}
            for some in _iterate_batches(list(latest), _BATCH):
                batch = {uuid: passages[latest[uuid]] for uuid in some}
                if rows is None:
                    known = self._find_unchanged_vectors(found, batch)
                else:
                    known = {uuid: rows[latest[uuid]].tolist() for uuid in some}
                objects: list[DataObject[Any, None]] = []
                shown = self._shown(list({passage.paper: 0 for passage in batch.values()}))
                for uuid, passage in batch.items():
                    fields = passage_to_properties(passage, uuid in known, shown.get(passage.paper))
                    objects.append(DataObject(properties=fields, uuid=uuid, vector=known.get(uuid)))
                if refused := found.data.insert_many(objects).errors:
                    first = next(iter(refused.values())).message
                    raise self._to_weaviate_error(f"refused {len(refused)} passages: {first}")

    def delete_passages(self, uuids: Sequence[str]) -> None:
        """Delete passages; unknown UUIDs are ignored."""
        from weaviate.classes.query import Filter

        self._counted = None
        with self._open_connection() as client:
            if not client.collections.exists(self._collection):
                return
            for some in _iterate_batches(uuids, _ASKED):
                among = Filter.by_id().contains_any(some)
                outcome = self._get_collection(client).data.delete_many(where=among)
                if outcome.failed:
                    raise self._to_weaviate_error(f"did not delete {outcome.failed} passages")

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """Return the best passages by words and, with a vector, by meaning.

        Raises
        ------
        InvariantFailed
            The vector is of another width than those of the passages.
        WeaviateFailed
            It did not answer.
        """
        terms = to_query_terms(query)
        with self._open_connection() as client:
            if not client.collections.exists(self._collection):
                return []
            found = self._get_collection(client)
            _, dim = parse_model_and_width(found.config.get().description)
            row = to_query_vector(vector, dim).tolist() if vector is not None and dim else []
            depth = get_candidate_limit(limit)
            words = (
                _search_words(found, terms, max(WORD_SEARCH_DEPTH, limit), filters) if terms else []
            )
            near = _search_vectors(found, row, depth, filters) if row else []
            first = [uuid for uuid, _, _ in words[:depth]]
            others = set(first) - {uuid for uuid, _, _ in near}
            share, cosines = _complete_scores(found, first, others, to_term_groups(query), row)
        candidates = {*first, *(uuid for uuid, _, _ in near)}
        known = [one for one in words if one[0] in candidates]
        return fuse_scores(known, [*near, *cosines], query, share, limit)

    def find_absent_uuids(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs of passages that the index lacks."""
        return self._find_missing_uuids(uuids, with_vectors=False)

    def find_uuids_without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs without a vector, or, before a model was prepared, the unknown UUIDs."""
        return self._find_missing_uuids(uuids, with_vectors=True)

    def _find_missing_uuids(self, uuids: Sequence[str], *, with_vectors: bool) -> set[str]:
        with self._open_connection() as client:
            if not client.collections.exists(self._collection):
                return set(uuids)
            found = self._get_collection(client)
            model, _ = parse_model_and_width(found.config.get().description)
            any_will_do = not (with_vectors and model)
            held: set[str] = set()
            for some in _iterate_batches(uuids, _ASKED):
                answer = found.query.fetch_objects_by_ids(
                    some, limit=len(some), return_properties=["vectored"]
                )
                held |= {
                    str(each.uuid)
                    for each in answer.objects
                    if any_will_do or each.properties.get("vectored")
                }
            return set(uuids) - held

    def get_status(self) -> FinderStatus:
        """Return the counts of passages and vectors, at most ten seconds old."""
        from weaviate.classes.query import Filter

        if self._counted and time.monotonic() - self._counted[0] < _COUNTED_S:
            return self._counted[1]
        with self._open_connection() as client:
            if not client.collections.exists(self._collection):
                return FinderStatus(0, 0)
            found = self._get_collection(client)
            model, dim = parse_model_and_width(found.config.get().description)
            vectored = Filter.by_property("vectored").equal(True)
            passages = found.aggregate.over_all(total_count=True).total_count
            vectors = found.aggregate.over_all(filters=vectored, total_count=True).total_count
            status = FinderStatus(passages or 0, vectors or 0, model, dim)
            self._counted = (time.monotonic(), status)
            return status

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _get_collection(self, client: WeaviateClient) -> Collection[Any, Any]:
        return client.collections.use(self._collection)

    def _create_collection(self, client: WeaviateClient, model: str, dim: int) -> None:
        from weaviate.classes.config import Configure, VectorDistances

        index = Configure.VectorIndex.hnsw(distance_metric=VectorDistances.COSINE)
        client.collections.create(
            self._collection,
            description=build_collection_description(model, dim),
            properties=build_collection_properties(),
            inverted_index_config=Configure.inverted_index(bm25_k1=_K1, bm25_b=0.75),
            vector_config=Configure.Vectors.self_provided(vector_index_config=index),
        )

    def _add_missing_properties(self, client: WeaviateClient) -> None:
        """Add properties that an older version, or another program, did not create."""
        config = self._get_collection(client).config
        known = {each.name for each in config.get().properties}
        for each in build_collection_properties():
            if each.name not in known:
                config.add_property(each)

    def _find_unchanged_vectors(
        self, found: Collection[Any, Any], passages: dict[str, Passage]
    ) -> dict[str, list[float]]:
        """Return the vectors of passages whose text has not changed."""
        answer = found.query.fetch_objects_by_ids(
            list(passages), limit=len(passages), include_vector=True, return_properties=["digest"]
        )
        kept: dict[str, list[float]] = {}
        for each in answer.objects:
            digest, vector = passages[str(each.uuid)].digest, _get_object_vector(each)
            if vector and digest and each.properties.get("digest") == digest:
                kept[str(each.uuid)] = vector
        return kept

    @contextmanager
    def _open_connection(self) -> Iterator[WeaviateClient]:
        from weaviate.exceptions import WeaviateBaseError

        try:
            with self._lock:
                if self._client is None:
                    self._client = self._open_client()
            yield self._client
        except WeaviateBaseError as error:
            raise self._to_weaviate_error(f"{type(error).__name__}: {error}") from error

    def _open_client(self) -> WeaviateClient:
        import weaviate
        from weaviate.classes.init import AdditionalConfig, Auth, Timeout

        auth = Auth.api_key(self._key) if self._key else None
        more = AdditionalConfig(timeout=Timeout(init=10, query=30, insert=120))
        host, secure = self._url.hostname or "", self._url.scheme == "https"
        if auth and host.endswith(_CLOUD):
            return weaviate.connect_to_weaviate_cloud(
                host, auth_credentials=auth, additional_config=more
            )
        given = parse_qs(self._url.query).get("grpc_port", [""])[0]
        return weaviate.connect_to_custom(
            http_host=host,
            http_port=self._url.port or (443 if secure else 8080),
            http_secure=secure,
            grpc_host=host,
            grpc_port=int(given) if given.isdigit() else _GRPC_PORT,
            grpc_secure=secure,
            additional_config=more,
            auth_credentials=auth,
        )

    def _to_weaviate_error(self, reason: str) -> WeaviateFailed:
        if self._key:
            reason = reason.replace(self._key, "…")
        reason = " ".join(reason.split())[:300]
        host = self._url.hostname or ""
        return WeaviateFailed(f"Weaviate at {host}: {reason}", host=host)


def _search_words(
    found: Collection[Any, Any], terms: Sequence[str], limit: int, filters: Filters
) -> list[Scored]:
    from weaviate.classes.query import MetadataQuery

    answer = found.query.bm25(
        " ".join(terms),
        query_properties=SEARCHED,
        filters=build_weaviate_filter(filters),
        limit=limit,
        return_properties=["pmid"],
        return_metadata=MetadataQuery(score=True),
    )
    hits = [_to_scored_hit(one, float(one.metadata.score or 0.0)) for one in answer.objects]
    return sorted(hits, key=lambda hit: (-hit[2], hit[0]))


def _search_vectors(
    found: Collection[Any, Any], vector: list[float], limit: int, filters: Filters
) -> list[Scored]:
    from weaviate.classes.query import MetadataQuery

    answer = found.query.near_vector(
        vector,
        filters=build_weaviate_filter(filters),
        limit=limit,
        return_properties=["pmid"],
        return_metadata=MetadataQuery(distance=True),
    )
    return [
        _to_scored_hit(one, 1.0 - float(one.metadata.distance or 0.0)) for one in answer.objects
    ]


def _complete_scores(
    found: Collection[Any, Any],
    first: Sequence[str],
    others: set[str],
    asked: Sequence[Sequence[str]],
    vector: list[float],
) -> tuple[float, list[Scored]]:
    """Return the best word hit's share of the terms, and the cosine similarities of *others*."""
    if not first:
        return 0.0, []
    names = [*{first[0], *(others if vector else ())}]
    answer = found.query.fetch_objects_by_ids(
        names, limit=len(names), include_vector=bool(vector), return_properties=["pmid", *_TERMS]
    )
    share, cosines = 0.0, []
    for one in answer.objects:
        if str(one.uuid) == first[0]:
            texts = (str(one.properties.get(name) or "") for name in _TERMS)
            share = compute_term_share(asked, set(" ".join(texts).split()))
        if str(one.uuid) in others and (its := _get_object_vector(one)):
            cosines.append(_to_scored_hit(one, float(sum(map(mul, vector, its)))))
    return share, cosines


def _to_scored_hit(found: Any, score: float) -> Scored:
    return str(found.uuid), get_paper_key(found.properties), score


def _get_object_vector(found: Any) -> list[float]:
    """Return the vector of an object; newer servers and clients name it "default"."""
    vector = found.vector
    return list(vector.get("default") or []) if isinstance(vector, dict) else list(vector or [])


def _iterate_batches(values: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


def build_collection_properties() -> list[Property]:
    """Return the properties of the collection."""
    from weaviate.classes.config import DataType, Property, Tokenization

    def make_property(name: str, kind: DataType, **options: Any) -> Property:
        return Property(name=name, data_type=kind, **options)

    whole: dict[str, Any] = {"tokenization": Tokenization.FIELD, "index_searchable": False}
    kept: dict[str, Any] = {"index_searchable": False, "index_filterable": False}
    terms: dict[str, Any] = {"tokenization": Tokenization.WHITESPACE, "index_filterable": False}
    names = ("pmid", "chunk_id", "journal", "source_url", "kind", "digest", "journal_key")
    return [
        *(make_property(name, DataType.TEXT, **whole) for name in names),
        *(make_property(name, DataType.TEXT, **kept) for name in _WORDS),
        *(make_property(name, DataType.TEXT, **terms) for name in _TERMS),
        *(make_property(name, DataType.TEXT_ARRAY, **whole) for name in _LISTS),
        *(make_property(name, DataType.INT) for name in ("year", "quality_total")),
        *(make_property(name, DataType.DATE) for name in ("edat", "lr")),
        *(make_property(name, DataType.BOOL) for name in ("retracted", "vectored")),
    ]


def build_collection_description(model: str, dim: int) -> str:
    """Return the description of a collection whose vectors *model* made."""
    facts = {"about": "passages of papers", "format": _FORMAT, "model": model, "dim": dim}
    return json.dumps(facts)


def parse_format_number(description: str | None) -> int:
    """Return the format number in a collection's description; the current one if it has none."""
    try:
        facts = json.loads(description or "{}")
        return int(facts.get("format", 1 if "model" in facts else _FORMAT))
    except (ValueError, AttributeError, TypeError):
        return _FORMAT


def parse_model_and_width(description: str | None) -> tuple[str, int]:
    """Return the model and the vector width in a description; ("", 0) if it has none."""
    try:
        facts = json.loads(description or "{}")
        return str(facts.get("model", "")), int(facts.get("dim", 0))
    except (ValueError, AttributeError, TypeError):  # a class somebody else described
        return "", 0


def passage_to_properties(
    passage: Passage, vectored: bool, shown: SharedFacts | None
) -> dict[str, Any]:
    """Return a passage as an object's properties."""
    pmid = passage.paper.removeprefix("pmid:")
    kept: dict[str, Any] = {
        "pmid": pmid,
        "chunk_id": passage.chunk_id,
        "text": to_storable_text(passage.text),
        "title": to_storable_text(passage.title),
        "section": to_storable_text(passage.section),
        **{f"{name}_terms": to_index_terms(getattr(passage, name)) for name in _WORDS},
        "journal": to_storable_text(passage.journal),
        "journal_key": fold_filter_value(passage.journal),
        "pub_types": [to_storable_text(name) for name in passage.publication_types],
        "type_keys": [fold_filter_value(name) for name in passage.publication_types],
        "kind": passage.kind,
        "retracted": passage.retracted,
        "digest": passage.digest,
        "vectored": vectored,
    }
    if passage.year is not None:
        kept["year"] = passage.year
    if pmid.isdigit():
        kept["source_url"] = f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    if shown:
        times = {"edat": shown.edat, "lr": shown.lr}
        kept |= {name: time_ for name, time_ in times.items() if time_}
        kept["quality_total"] = shown.quality
    return kept


def get_paper_key(kept: dict[str, Any]) -> str:
    """Return the paper's key in an object's properties."""
    pmid = str(kept.get("pmid", ""))
    return f"pmid:{pmid}" if pmid.isdigit() else pmid


def build_weaviate_filter(filters: Filters) -> _Filters | None:
    """Return the filters in Weaviate's form; None if all passages pass."""
    from weaviate.classes.query import Filter

    conditions: list[_Filters] = []
    if not filters.retracted:
        conditions.append(Filter.by_property("retracted").equal(False))
    if filters.year_from is not None:
        conditions.append(Filter.by_property("year").greater_or_equal(filters.year_from))
    if filters.year_to is not None:
        conditions.append(Filter.by_property("year").less_or_equal(filters.year_to))
    if names := filters.journal_names:
        journals = [fold_filter_value(name) for name in names]
        conditions.append(Filter.by_property("journal_key").contains_any(journals))
    if filters.publication_types:
        types = [fold_filter_value(name) for name in filters.publication_types]
        conditions.append(Filter.by_property("type_keys").contains_any(types))
    if filters.kind:
        conditions.append(Filter.by_property("kind").equal(filters.kind))
    if not conditions:
        return None
    return Filter.all_of(conditions) if len(conditions) > 1 else conditions[0]
