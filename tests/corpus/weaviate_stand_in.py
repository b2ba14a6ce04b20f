"""A Weaviate of our own: what its official client asks over HTTP and gRPC, answered from memory.

It speaks the stubs of the client's wheel, keeps classes and objects, applies filters, and ranks by
cosine and by BM25F as the public server does (weaviate/weaviate at 00bd7d6,
``adapters/repos/db/inverted/bm25_searcher.go``): weights are whole numbers, and what is none counts
as 0 (``wand``: ``strconv.Atoi``, its error dropped); a property is split as its ``tokenization``
says, and stop words leave only a question to one that is split into words
(``entities`` ``helpers.TokenizeAndCountDuplicates``); ``createTerm`` adds frequencies by weight and
the lengths of those properties that have the term, and ``scoreAndAdvance`` holds them against the
mean of the properties' means; k1 and b are the class's. Hybrid search is not spoken: nobody asks.
"""

from __future__ import annotations

import json
import math
import re
import struct
import threading
import uuid as uuids
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import numpy as np
from weaviate.proto.v1 import (
    aggregate_pb2,
    base_pb2,
    batch_delete_pb2,
    batch_pb2,
    health_weaviate_pb2,
    properties_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

Stored = dict[str, Any]
_OPERATORS = base_pb2.Filters.Operator


class StandIn:
    """``with StandIn(key) as weaviate: weaviate.url``; ``weaviate.down`` makes gRPC fail."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.down = False
        self.classes: dict[str, dict[str, Any]] = {}
        self.objects: dict[str, dict[str, Stored]] = {}
        self.keys_seen: set[str] = set()
        self._http = _Http(self)
        self._grpc = grpc.server(ThreadPoolExecutor(4))
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(_Answers(self), self._grpc)
        self._grpc.add_generic_rpc_handlers((_health(),))
        self._grpc_port = self._grpc.add_insecure_port("127.0.0.1:0")

    def reset(self) -> None:
        self.down = False
        self.classes.clear()
        self.objects.clear()
        self.keys_seen.clear()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}?grpc_port={self._grpc_port}"

    def __enter__(self) -> StandIn:
        self._grpc.start()
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._grpc.stop(None).wait()


class _Http(ThreadingHTTPServer):
    def __init__(self, stand_in: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stand_in = stand_in


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, body: object = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _allowed(self) -> bool:
        told = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.server.stand_in.keys_seen.add(told)
        if self.server.stand_in.key not in {"", told}:
            self._answer(401, {"error": [{"message": f"invalid api key {told}"}]})
            return False
        return True

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/v1/.well-known/openid-configuration":
            self._answer(404)
        elif not self._allowed():
            pass
        elif path == "/v1/meta":
            self._answer(200, {"version": "1.33.0", "grpcMaxMessageSize": 10_485_760})
        elif path == "/v1/.well-known/ready":
            self._answer(200)
        elif path.startswith("/v1/schema/"):
            found = self.server.stand_in.classes.get(path.split("/")[3])
            self._answer(200, found) if found else self._answer(404)
        else:
            self._answer(404)

    def do_POST(self) -> None:
        if not self._allowed():
            return
        body = self._body()
        if self.path == "/v1/schema":
            self.server.stand_in.classes[body["class"]] = _completed(body)
            self.server.stand_in.objects[body["class"]] = {}
        else:  # /v1/schema/<class>/properties
            self.server.stand_in.classes[self.path.split("/")[3]]["properties"].append(
                _property(body)
            )
        self._answer(200, body)

    def do_PUT(self) -> None:
        body = self._body()
        self.server.stand_in.classes[body["class"]] = _completed(body)
        self._answer(200, body)

    def do_DELETE(self) -> None:
        name = self.path.split("/")[3]
        self.server.stand_in.classes.pop(name, None)
        self.server.stand_in.objects.pop(name, None)
        self._answer(200)


def _completed(given: dict[str, Any]) -> dict[str, Any]:
    """A class with what Weaviate fills in by itself, and the client reads."""
    hnsw = {
        "distance": "cosine", "ef": -1, "efConstruction": 128, "maxConnections": 32,
        "dynamicEfMin": 100, "dynamicEfMax": 500, "dynamicEfFactor": 8, "skip": False,
        "vectorCacheMaxObjects": 10**12, "flatSearchCutoff": 40000, "filterStrategy": "acorn",
        "cleanupIntervalSeconds": 300,
    }  # fmt: skip
    vectors = {
        name: {**config, "vectorIndexConfig": {**hnsw, **config.get("vectorIndexConfig", {})}}
        for name, config in given.get("vectorConfig", {}).items()
    }
    inverted = {
        "bm25": {"b": 0.75, "k1": 1.2} | given.get("invertedIndexConfig", {}).get("bm25", {}),
        "cleanupIntervalSeconds": 60,
        "stopwords": {"preset": "en", "additions": None, "removals": None}, "indexNullState": False,
        "indexPropertyLength": False, "indexTimestamps": False,
    }  # fmt: skip
    return {
        "multiTenancyConfig": {"enabled": False},
        "replicationConfig": {"factor": 1, "asyncEnabled": False},
        "shardingConfig": {
            "virtualPerPhysical": 128, "desiredCount": 1, "actualCount": 1,
            "desiredVirtualCount": 128, "actualVirtualCount": 128, "key": "_id", "strategy": "hash",
            "function": "murmur3",
        },
        **given,
        "invertedIndexConfig": inverted,
        "properties": [_property(each) for each in given.get("properties", [])],
        "vectorConfig": vectors,
    }  # fmt: skip


def _property(given: dict[str, Any]) -> dict[str, Any]:
    usual = {"indexFilterable": True, "indexSearchable": False, "indexRangeFilters": False}
    return {**usual, **{name: value for name, value in given.items() if value is not None}}


def _health() -> Any:
    """The check every gRPC server answers, by its standard name."""

    def healthy(request: Any, context: Any) -> Any:
        return health_weaviate_pb2.WeaviateHealthCheckResponse(status=1)

    check = grpc.unary_unary_rpc_method_handler(
        healthy,
        request_deserializer=health_weaviate_pb2.WeaviateHealthCheckRequest.FromString,
        response_serializer=health_weaviate_pb2.WeaviateHealthCheckResponse.SerializeToString,
    )
    return grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": check})


class _Answers(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in

    def _up(self, context: Any) -> None:
        if self.stand_in.down:
            context.abort(grpc.StatusCode.UNAVAILABLE, f"no shard, key {self.stand_in.key}")

    def BatchObjects(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._up(context)
        errors = []
        for index, given in enumerate(request.objects):
            known = self.stand_in.objects[given.collection]
            vector = _floats(next((v.vector_bytes for v in given.vectors), given.vector_bytes))
            vectored = (each["vector"] for each in known.values() if len(each["vector"]))
            if len(vector) and len(next(vectored, vector)) != len(vector):
                told = f"new node has a vector with length {len(vector)}"
                errors.append(batch_pb2.BatchObjectsReply.BatchError(index=index, error=told))
                continue
            stored = dict(given.properties.non_ref_properties)
            for each in given.properties.text_array_properties:
                stored[each.prop_name] = list(each.values)
            known[given.uuid] = {"properties": stored, "vector": vector}
        return batch_pb2.BatchObjectsReply(took=0.1, errors=errors)

    def BatchDelete(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._up(context)
        known = self.stand_in.objects[request.collection]
        gone = [name for name, each in known.items() if _passes(request.filters, name, each)]
        for name in gone:
            del known[name]
        return batch_delete_pb2.BatchDeleteReply(matches=len(gone), successful=len(gone))

    def Aggregate(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._up(context)
        found = self._filtered(request)
        single = aggregate_pb2.AggregateReply.Single(objects_count=len(found))
        return aggregate_pb2.AggregateReply(single_result=single)

    def Search(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._up(context)
        found = self._filtered(request)
        words, near = {}, {}
        if request.HasField("hybrid_search"):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this stand-in has no hybrid search")
        if request.HasField("bm25_search"):
            described = self.stand_in.classes[request.collection]
            asked = request.bm25_search
            everything = self.stand_in.objects[request.collection]
            words = _by_words(found, everything, described, asked.query, asked.properties)
        if request.HasField("near_vector"):
            near = _by_meaning(found, _asked_vector(request.near_vector))
        if not (words or near) and not request.HasField("filters"):
            return search_get_pb2.SearchReply()
        results = [
            _result(request, name, self.stand_in.objects[request.collection][name], score, why)
            for name, score, why in _ordered(request, found, words, near)
        ]
        return search_get_pb2.SearchReply(results=results[: request.limit or 10])

    def _filtered(self, request: Any) -> dict[str, Stored]:
        known = self.stand_in.objects[request.collection]
        if not request.HasField("filters"):
            return dict(known)
        return {n: each for n, each in known.items() if _passes(request.filters, n, each)}


def _ordered(
    request: Any, found: dict[str, Stored], words: dict[str, float], near: dict[str, float]
) -> list[tuple[str, float, str]]:
    if request.HasField("bm25_search") or request.HasField("near_vector"):
        way = words or near
        return [(name, way[name], "") for name in sorted(way, key=lambda n: -way[n])]
    return [(name, 0.0, "") for name in found]


def _by_words(
    found: dict[str, Stored],
    everything: dict[str, Stored],
    described: dict[str, Any],
    query: str,
    searched: Any,
) -> dict[str, float]:
    """BM25F; see the module for where it stands."""
    config = described["invertedIndexConfig"]["bm25"]
    kinds = {one["name"]: one.get("tokenization") or "word" for one in described["properties"]}
    weights = {part.partition("^")[0]: _weight(part) for part in searched}
    split = {
        name: {prop: _split(each["properties"].get(prop), kinds[prop]) for prop in weights}
        for name, each in everything.items()
    }
    means = [np.mean([len(of[prop]) for of in split.values()] or [0]) for prop in weights]
    average = float(np.mean(means)) or 1.0
    scores: dict[str, float] = {}
    for term in set(_split(query, "whitespace")):
        having = {
            name: [
                (of[prop].count(term), len(of[prop]), prop) for prop in weights if term in of[prop]
            ]
            for name, of in split.items()
        }
        count = sum(map(bool, having.values()))
        idf = math.log(1 + (len(everything) - count + 0.5) / (count + 0.5))
        for name in found:
            if not having[name]:
                continue
            frequency = sum(times * weights[prop] for times, _, prop in having[name])
            length = sum(of for _, of, _ in having[name])
            usual = 1 - config["b"] + config["b"] * length / average
            if frequency + config["k1"] * usual:
                part = frequency / (frequency + config["k1"] * usual)
                scores[name] = scores.get(name, 0.0) + part * idf
    return scores


def _weight(part: str) -> int:
    _, caret, weight = part.partition("^")
    if not caret:
        return 1
    return int(weight) if re.fullmatch(r"[+-]?\d+", weight) else 0


def _split(value: Any, tokenization: str) -> list[str]:
    text = str(value or "")
    return text.split() if tokenization == "whitespace" else re.findall(r"[^\W_]+", text.lower())


def _by_meaning(found: dict[str, Stored], vector: Any) -> dict[str, float]:
    return {n: float(e["vector"] @ vector) for n, e in found.items() if len(e["vector"])}


def _asked_vector(query: Any) -> Any:
    if "near_vector" in query.DESCRIPTOR.fields_by_name and query.HasField("near_vector"):
        return _asked_vector(query.near_vector)
    given = [query.vector_bytes, *(each.vector_bytes for each in query.vectors)]
    given += [each.vector_bytes for each in getattr(query, "vector_for_targets", ())]
    return _floats(next(data for data in given if data))


def _floats(data: bytes) -> Any:
    return np.array(struct.unpack(f"<{len(data) // 4}f", data), np.float32)


def _result(request: Any, name: str, stored: Stored, score: float, why: str) -> Any:
    asked = request.metadata
    told = search_get_pb2.MetadataResult(id=name, id_as_bytes=uuids.UUID(name).bytes)
    if asked.score:
        told.score, told.score_present = score, True
    if asked.explain_score:
        told.explain_score, told.explain_score_present = why, True
    if asked.distance:
        told.distance, told.distance_present = 1 - score, True
    if asked.vector or asked.vectors:
        data = stored["vector"].tobytes()
        kind = base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32
        if data:
            told.vectors.append(base_pb2.Vectors(name="default", vector_bytes=data, type=kind))
    fields = {
        key: _value(value)
        for key, value in stored["properties"].items()
        if key in request.properties.non_ref_properties
    }
    kept = properties_pb2.Properties(fields=fields)
    return search_get_pb2.SearchResult(
        metadata=told, properties=search_get_pb2.PropertiesResult(non_ref_props=kept)
    )


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return properties_pb2.Value(bool_value=value)
    if isinstance(value, float):
        return properties_pb2.Value(number_value=value)
    return properties_pb2.Value(text_value=str(value))


def _passes(asked: Any, name: str, stored: Stored) -> bool:
    operator = asked.operator
    if operator == _OPERATORS.OPERATOR_AND:
        return all(_passes(each, name, stored) for each in asked.filters)
    if operator == _OPERATORS.OPERATOR_OR:
        return any(_passes(each, name, stored) for each in asked.filters)
    prop = asked.target.property or (asked.on[0] if asked.on else "")
    value = name if prop == "_id" else stored["properties"].get(prop)
    if value is None:
        return False
    if operator == _OPERATORS.OPERATOR_CONTAINS_ANY:
        values = set(value) if isinstance(value, list) else {value}
        return bool(values & set(asked.value_text_array.values))
    wanted = getattr(asked, asked.WhichOneof("test_value"))
    return bool(
        {
            _OPERATORS.OPERATOR_EQUAL: lambda: value == wanted,
            _OPERATORS.OPERATOR_GREATER_THAN_EQUAL: lambda: value >= wanted,
            _OPERATORS.OPERATOR_LESS_THAN_EQUAL: lambda: value <= wanted,
        }[operator]()
    )
