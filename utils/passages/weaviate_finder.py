"""The finder in Weaviate, through its official client (v4, extra ``[weaviate]``).

Words (BM25F) and meaning (HNSW, cosine) are searched and fused by Weaviate itself. Passages carry
their own UUIDs and vectors, so that writing twice is writing once. The client needs HTTP and
gRPC: ``WEAVIATE_URL=http://host:8080`` uses gRPC port 50051, ``…:8080?grpc_port=50061`` another;
Weaviate Cloud has a gRPC host of its own, which the client knows.

Passages in Weaviate: the class, its properties, and filters over them.

``pmid``, ``chunk_id`` and ``text`` are always there; ``journal``, ``pub_types``, ``year``,
``quality_total``, ``edat``, ``lr`` and ``source_url`` where they are known (quality, entry date
and revision belong to the record and are for whoever else fills the class). The rest is ours.
``journal_key`` and ``type_keys`` are whole names in lower case, since a filter over words would
take "Lancet" for "The Lancet Oncology". The description of the class says whose vectors it has.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import mul
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from ..errors import NotConfigured, WeaviateFailed
from ..model.passage import Filters, Hit, Passage
from . import FinderStatus
from .ranking import key, plain, terms_of
from .vector_checks import checked, checked_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from weaviate import WeaviateClient
    from weaviate.collections import Collection
    from weaviate.collections.classes.config import Property
    from weaviate.collections.classes.filters import _Filters

    from ..settings import Settings
    from . import Vectors

_BATCH = 200  # a message of gRPC holds some 10 MB
_ASKED = 500
_GRPC_PORT = 50051
_CLOUD = (".weaviate.cloud", ".weaviate.network", ".semi.technology")
# How Weaviate explains a fused score: the score of each way.
_KEYWORDS = re.compile(r"Result Set keyword\b[^)]*\).*?original score ([-+.\deE]+)", re.S)
_WORDS = ("title", "section", "text")
SEARCHED = ["title^3", "section^1.5", "text"]  # BM25F's weights


class WeaviateFinder:
    """Passages and vectors in one class of a Weaviate; see `.Finder`.

    Parameters
    ----------
    url : str
        Where it is; see the module.
    key : str
        Its API key; empty where it wants none.
    collection : str
        The name of the class, made by `prepare`.
    """

    name = "weaviate"

    def __init__(self, url: str, key: str = "", collection: str = "PubMedChunk") -> None:
        self._url = urlsplit(url if "//" in url else f"//{url}", scheme="http")
        self._key = key
        self._collection = collection
        self._lock = threading.Lock()
        self._client: WeaviateClient | None = None

    @classmethod
    def of(cls, settings: Settings) -> WeaviateFinder:
        """The finder of these settings.

        Raises
        ------
        NotConfigured
            ``WEAVIATE_URL`` is not set.
        """
        if not settings.weaviate_url:
            msg = "VECTOR_STORE=weaviate needs WEAVIATE_URL."
            raise NotConfigured(msg, "Set it, for example http://localhost:8080.")
        key = settings.weaviate_api_key
        secret = key.get_secret_value() if key else ""
        return cls(settings.weaviate_url, secret, settings.weaviate_class)

    def prepare(self, model: str, dim: int) -> None:
        """Make the class, or add what it lacks; vectors of another model go, and all with them.

        A class holds vectors of one width, so that another model means an empty class:
        `without_vectors` then names every passage.
        """
        with self._connection() as client:
            if client.collections.exists(self._collection):
                known, _ = facts = model_of(self._class(client).config.get().description)
                if not model or facts == (model, dim):
                    self._complete(client)
                    return
                if known:
                    client.collections.delete(self._collection)
                else:
                    self._complete(client)
                    self._class(client).config.update(description=description_of(model, dim))
                    return
            self._create(client, model, dim)

    def upsert(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Keep passages; those without a new vector keep the old one while they say the same.

        Raises
        ------
        InvariantFailed
            The vectors are not those of the model this was prepared for.
        WeaviateFailed
            It did not answer, or refused a passage.
        """
        from weaviate.classes.data import DataObject

        with self._connection() as client:
            found = self._class(client)
            _, dim = model_of(found.config.get().description)
            rows = None if vectors is None else checked(vectors, passages, dim)
            latest = {passage.uuid: at for at, passage in enumerate(passages)}
            for some in _batches(list(latest), _BATCH):
                batch = {uuid: passages[latest[uuid]] for uuid in some}
                if rows is None:
                    known = self._unchanged_vectors(found, batch)
                else:
                    known = {uuid: rows[latest[uuid]].tolist() for uuid in some}
                objects: list[DataObject[Any, None]] = []
                for uuid, passage in batch.items():
                    fields = properties_of(passage, uuid in known)
                    objects.append(DataObject(properties=fields, uuid=uuid, vector=known.get(uuid)))
                if refused := found.data.insert_many(objects).errors:
                    first = next(iter(refused.values())).message
                    raise self._failed(f"refused {len(refused)} passages: {first}")

    def remove(self, uuids: Sequence[str]) -> None:
        """Forget passages; the unknown are no error."""
        from weaviate.classes.query import Filter

        with self._connection() as client:
            if not client.collections.exists(self._collection):
                return
            for some in _batches(uuids, _ASKED):
                among = Filter.by_id().contains_any(some)
                outcome = self._class(client).data.delete_many(where=among)
                if outcome.failed:
                    raise self._failed(f"did not delete {outcome.failed} passages")

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[Hit]:
        """The best passages by words and, with a vector, by meaning; fused there, by rank.

        Raises
        ------
        InvariantFailed
            The vector is of another width than those of the passages.
        WeaviateFailed
            It did not answer.
        """
        words = " ".join(terms_of(query))
        with self._connection() as client:
            if not client.collections.exists(self._collection):
                return []
            found = self._class(client)
            _, dim = model_of(found.config.get().description)
            query_vector = checked_query(vector, dim) if vector is not None and dim else None
            return _query(found, words, query_vector, limit, filters)

    def without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Which of these have no vector, or (where no model was ever prepared) are not held."""
        with self._connection() as client:
            if not client.collections.exists(self._collection):
                return set(uuids)
            found = self._class(client)
            model, _ = model_of(found.config.get().description)
            held: set[str] = set()
            for some in _batches(uuids, _ASKED):
                answer = found.query.fetch_objects_by_ids(
                    some, limit=len(some), return_properties=["vectored"]
                )
                held |= {
                    str(each.uuid)
                    for each in answer.objects
                    if not model or each.properties.get("vectored")
                }
            return set(uuids) - held

    def status(self) -> FinderStatus:
        """Count what is in it."""
        from weaviate.classes.query import Filter

        with self._connection() as client:
            if not client.collections.exists(self._collection):
                return FinderStatus(0, 0)
            found = self._class(client)
            model, dim = model_of(found.config.get().description)
            vectored = Filter.by_property("vectored").equal(True)
            passages = found.aggregate.over_all(total_count=True).total_count
            vectors = found.aggregate.over_all(filters=vectored, total_count=True).total_count
            return FinderStatus(passages or 0, vectors or 0, model, dim)

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _class(self, client: WeaviateClient) -> Collection[Any, Any]:
        return client.collections.use(self._collection)

    def _create(self, client: WeaviateClient, model: str, dim: int) -> None:
        from weaviate.classes.config import Configure, VectorDistances

        index = Configure.VectorIndex.hnsw(distance_metric=VectorDistances.COSINE)
        client.collections.create(
            self._collection,
            description=description_of(model, dim),
            properties=properties(),
            vector_config=Configure.Vectors.self_provided(vector_index_config=index),
        )

    def _complete(self, client: WeaviateClient) -> None:
        """Add properties an older version, or somebody else, did not make."""
        config = self._class(client).config
        known = {each.name for each in config.get().properties}
        for each in properties():
            if each.name not in known:
                config.add_property(each)

    def _unchanged_vectors(
        self, found: Collection[Any, Any], passages: dict[str, Passage]
    ) -> dict[str, list[float]]:
        """The vectors of passages whose text has not changed."""
        answer = found.query.fetch_objects_by_ids(
            list(passages), limit=len(passages), include_vector=True, return_properties=["digest"]
        )
        kept: dict[str, list[float]] = {}
        for each in answer.objects:
            digest, vector = passages[str(each.uuid)].digest, _vector(each)
            if vector and digest and each.properties.get("digest") == digest:
                kept[str(each.uuid)] = vector
        return kept

    @contextmanager
    def _connection(self) -> Iterator[WeaviateClient]:
        try:
            from weaviate.exceptions import WeaviateBaseError
        except ImportError as error:
            hint = 'Install the extra "weaviate" (weaviate-client), or leave VECTOR_STORE out.'
            raise WeaviateFailed("Weaviate's client is not installed here.", hint) from error
        try:
            with self._lock:
                if self._client is None:
                    self._client = self._connect()
            yield self._client
        except WeaviateBaseError as error:
            raise self._failed(f"{type(error).__name__}: {error}") from error

    def _connect(self) -> WeaviateClient:
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

    def _failed(self, reason: str) -> WeaviateFailed:
        if self._key:
            reason = reason.replace(self._key, "…")
        reason = " ".join(reason.split())[:300]
        host = self._url.hostname or ""
        return WeaviateFailed(f"Weaviate at {host}: {reason}", host=host)


def _query(
    found: Collection[Any, Any],
    words: str,
    vector: NDArray[np.float32] | None,
    limit: int,
    filters: Filters,
) -> list[Hit]:
    from weaviate.classes.query import HybridFusion, MetadataQuery

    numbers = vector.tolist() if vector is not None else []
    common: dict[str, Any] = {"limit": limit, "filters": filter_of(filters)}
    common["return_properties"] = ["pmid"]
    if words and numbers:
        wanted = MetadataQuery(score=True, explain_score=True)
        fusion = HybridFusion.RANKED
        query: dict[str, Any] = {"query": words, "query_properties": SEARCHED, "vector": numbers}
        query |= {"alpha": 0.5, "fusion_type": fusion, "include_vector": True}
        answer = found.query.hybrid(**query, **common, return_metadata=wanted)
    elif words:
        wanted = MetadataQuery(score=True)
        common["query_properties"] = SEARCHED
        answer = found.query.bm25(words, **common, return_metadata=wanted)
    elif numbers:
        wanted = MetadataQuery(distance=True)
        answer = found.query.near_vector(numbers, **common, return_metadata=wanted)
    else:
        return []
    hits = [_hit(each, numbers, bool(words)) for each in answer.objects]
    return sorted(hits, key=lambda hit: (-hit.score, hit.uuid))[:limit]


def _hit(found: Any, query_vector: Sequence[float], words: bool) -> Hit:
    metadata, uuid, paper = found.metadata, str(found.uuid), paper_of(found.properties)
    if not words:
        near = 1.0 - float(metadata.distance)
        return Hit(uuid, paper, near, near)
    score = float(metadata.score or 0.0)
    if not query_vector:
        return Hit(uuid, paper, score, None, score)
    vector = _vector(found)
    sim = float(sum(map(mul, query_vector, vector))) if vector else None
    explained = _KEYWORDS.search(metadata.explain_score or "")
    return Hit(uuid, paper, score, sim, float(explained[1]) if explained else None)


def _vector(found: Any) -> list[float]:
    """The vector of an object; newer servers and clients call it "default"."""
    vector = found.vector
    return list(vector.get("default") or []) if isinstance(vector, dict) else list(vector or [])


def _batches(values: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


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
