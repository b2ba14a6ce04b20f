"""What a caller is told who got many arguments wrong: a few sentences, soon."""

from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from utils.mcp import arguments

SCHEMA = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
}


def wrong(kind, value, *where):
    """What pydantic says of *value*, as if it stood in the argument *where*."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    errors = caught.value.errors(include_url=False)
    rows = [
        {name: e[name] for name in ("type", "input", "ctx") if name in e}
        | {"loc": (*where, *e["loc"])}
        for e in errors
    ]
    return ValidationError.from_exception_data("call", rows)


def test_five_are_told_and_the_others_counted():
    told = arguments.to_bad_request(wrong(list[str], [1, 2, 3, 4, 5, 6, 7], "ids"), SCHEMA)
    assert told.message.count("it should be a valid string.") == 5
    assert "ids[4] is 5;" in told.message
    assert told.message.endswith("2 more.")


def test_all_are_told_where_they_are_few():
    told = arguments.to_bad_request(wrong(list[str], [1, 2, 3, 4, 5], "ids"), SCHEMA)
    assert told.message.endswith("ids[4] is 5; it should be a valid string.")


def test_a_value_that_fits_none_of_several_types_is_told_once():
    told = arguments.to_bad_request(wrong(list[bool | int | float], ["a"], "ids"), SCHEMA)
    assert told.message.count("ids[0]") == 1
    assert "more" not in told.message


def test_one_sentence_about_each_place_even_where_names_are_cut():
    told = arguments.to_bad_request(wrong(list[str], [*range(9000)], "ids"), SCHEMA)
    assert told.message.endswith("8,995 more.")
    same = {f"{'x' * 80}{number}": 1 for number in range(200)}
    told = arguments.to_bad_request(wrong(dict[str, str], same), SCHEMA)
    assert len(told.message) < 200


def test_of_very_many_none_is_listed():
    told = arguments.to_bad_request(wrong(list[str], [0] * 10_001, "ids"), SCHEMA)
    assert told.message == "The arguments break the input schema in 10,001 places."


def test_of_a_large_value_only_the_beginning_is_looked_at():
    class Counted(list):
        seen = 0

        def __iter__(self):
            for one in super().__iter__():
                Counted.seen += 1
                yield one

    value = {"a": Counted([Counted([1] * 1000)] * 1000), "b": "\u202e" * 9000}
    told = arguments.to_bad_request(wrong(list[str], [value], "ids"), SCHEMA)
    assert len(told.message) < 300
    assert "\u202e" not in told.message
    assert Counted.seen < 100


LISTS = {
    "type": "object",
    "properties": {"papers": {"type": "array", "items": {"type": "string"}, "minItems": 1,
        "maxItems": 20}, "doc_id": {"type": "string", "pattern": "^pmid:[0-9]+$"},
        "quotes": {"type": "array", "items": {"type": "object", "properties": {"text": {}},
        "required": ["text"]}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "name", "said"),
    [
        (list[str], "31452104", "papers", "papers is '31452104'; it should be a valid list."),
        (Annotated[str, Field(pattern="^pmid:[0-9]+$")], "31452104", "doc_id",
            "doc_id is '31452104'; it should match pattern '^pmid:[0-9]+$'."),
        (list[dict], ["a"], "quotes", "quotes[0] is 'a'; it should be a valid dictionary."),
        (Annotated[list[str], Field(max_length=20)], ["1"] * 700, "papers",
            "papers should have at most 20 items; it has 700."),
    ],
)  # fmt: skip
def test_a_sentence_names_the_argument_its_value_and_what_is_wanted(kind, value, name, said):
    assert arguments.to_bad_request(wrong(kind, value, name), LISTS).message == said
