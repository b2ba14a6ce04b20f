"""Toolset ``pubmed`` under arguments of every kind: a valid result or the envelope."""

import json
from collections import Counter

import jsonschema
import pytest
from fastmcp import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from utils import Library
from utils.errors import (
    BadContent,
    BadRequest,
    Miss,
    NotConfigured,
    NotFound,
    NotOffered,
    StoreFailed,
    Unreachable,
)
from utils.tools import build

EXAMPLES = 30  # of 10 to 20 calls each
CODES = {
    *("UPSTREAM", "RATE_LIMIT"),
    *(kind.code for kind in (BadRequest, NotConfigured, NotFound, StoreFailed)),
    *(kind("").code for kind in (Miss, NotOffered, BadContent, Unreachable)),
}
PIECES = (
    *("41000001", "41000007", "39999999", "PMC9100001", "10.9103/signals.2025.0001", "cells", "0"),
    *(
        "",
        " ",
        "((",
        '"',
        "|",
        "\r",
        "\x00",
        "\ud7ff",
        "\u202e",
        "2020/02/30",
        "2020",
        "-1",
        "9" * 40,
    ),
    *("{}", "%00", "../x", "a[ti] AND b", "é" * 300, "neoplasms", "J Membr Traffic", "null"),
)
odd = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.lists(st.integers()))
text = st.one_of(st.sampled_from(PIECES), st.text(max_size=30))
pmids = st.one_of(*[st.sampled_from(("41000001", 41000002, "39999999"))] * 9, text)


def values(schema, name=""):
    """Values that a schema allows, and now and then one that it does not."""
    if "anyOf" in schema:
        return st.one_of(*map(values, schema["anyOf"]))
    if "enum" in schema:
        return st.one_of(*[st.sampled_from(schema["enum"])] * 9, text)
    kind = schema.get("type")
    if kind == "object":
        return arguments(schema)
    fitting = st.none()
    if kind == "array":
        fitting = st.lists(values(schema["items"], name), max_size=4)
    elif kind == "integer":
        least, most = schema.get("minimum", -5), schema.get("maximum", 50_000)
        fitting = st.integers(least - 1, min(most, 50_000) + 1)
    elif kind == "boolean":
        fitting = st.booleans()
    elif kind == "string":
        fitting = pmids if "pmid" in name else text
    return st.one_of(*[fitting] * 9, odd)


def arguments(schema):
    properties = {name: values(one, name) for name, one in schema["properties"].items()}
    required = {name: properties.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=properties)


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture
def served(settings):
    library = Library(**settings, mcp_toolsets=("pubmed",))
    yield build(library)
    library.shelf.close()


def test_any_call_gets_a_valid_result_or_the_envelope(served, world):
    import anyio

    answered = Counter()

    async def listed():
        async with Client(served) as client:
            return await client.list_tools()

    tools = anyio.run(listed)
    calls = st.one_of(*(st.tuples(st.just(tool), arguments(tool.input_schema)) for tool in tools))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(calls, min_size=10, max_size=20))
    def check(several):
        async def made():
            async with Client(served) as client:
                for tool, given_ in several:
                    result = await client.call_tool(tool.name, given_, raise_on_error=False)
                    judge(tool, result)
                    answered[result.is_error] += 1

        anyio.run(made)

    check()
    # Neither only refusals nor only results.
    assert min(answered.values()) > answered.total() / 20, answered


def judge(tool, result):
    json.dumps(result.structured_content)
    if not result.is_error:
        jsonschema.validate(result.structured_content, tool.output_schema)
        return
    error = result.meta["error"]
    assert error["code"] in CODES, error
    assert error["message"]
