"""What a caller is told who got many arguments wrong: a few sentences, soon."""

from typing import Annotated

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from utils.mcp import refusals
from utils.system.plain_text import plain_json

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
    told = refusals.to_bad_request(wrong(list[str], [1, 2, 3, 4, 5, 6, 7], "ids"), SCHEMA)
    assert told.message.count("it must be text.") == 5
    assert "ids[4] is 5;" in told.message
    assert told.message.endswith("2 more.")


def test_all_are_told_where_they_are_few():
    told = refusals.to_bad_request(wrong(list[str], [1, 2, 3, 4, 5], "ids"), SCHEMA)
    assert told.message.endswith("ids[4] is 5; it must be text.")


def test_a_value_that_fits_none_of_several_types_is_told_once():
    told = refusals.to_bad_request(wrong(list[bool | int | float], ["a"], "ids"), SCHEMA)
    assert told.message.count("ids[0]") == 1
    assert "more" not in told.message


def test_no_more_is_looked_at_than_is_told(monkeypatch):
    looked_at = []
    sentence = refusals._sentence
    monkeypatch.setattr(
        refusals, "_sentence", lambda row, *more: looked_at.append(row) or sentence(row, *more)
    )
    told = refusals.to_bad_request(wrong(list[str], [*range(9000)], "ids"), SCHEMA)
    assert told.message.endswith("8,995 more.")
    assert len(looked_at) == 6
    looked_at.clear()
    same = {f"{'x' * 80}{number}": 1 for number in range(200)}
    refusals.to_bad_request(wrong(dict[str, str], same), SCHEMA)  # one sentence, when cut
    assert len(looked_at) == 50


def test_of_very_many_none_is_listed():
    told = refusals.to_bad_request(wrong(list[str], [0] * 10_001, "ids"), SCHEMA)
    assert told.message == "The arguments break the input schema in 10,001 places."


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, {"b": None}], "c": "d"},
        [[[[[[[[]]]]]]]],
        "\u202eabc",
        ["x" * 70] * 3,
        [*range(1000)],
        {"k" * 999: 1},
        1.5,
        True,
    ],
)
def test_a_value_is_shown_as_its_json_begins(value):
    assert refusals._shown(value) == refusals._cut(plain_json(value))


def test_of_a_large_value_only_the_beginning_is_looked_at():
    class Counted(list):
        seen = 0

        def __iter__(self):
            for one in super().__iter__():
                Counted.seen += 1
                yield one

    assert len(refusals._shown(Counted([Counted([1] * 1000)] * 1000))) == 60
    assert Counted.seen < 100


LISTS = {
    "type": "object",
    "properties": {
        "papers": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20},
        "doc_id": {"type": "string", "pattern": "^pmid:[0-9]+$"},
        "quotes": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {}}, "required": ["text"]},
        },
    },
}


def test_one_value_where_a_list_belongs_is_shown_as_the_list_to_call_with():
    told = refusals.to_bad_request(wrong(list[str], "31452104", "papers"), LISTS)
    assert told.message == 'papers is "31452104"; it must be a list of 1 to 20 values.'
    assert told.hints == ('Call again with papers=["31452104"].',)


def test_what_lacks_a_prefix_is_shown_with_it():
    kind = Annotated[str, Field(pattern="^pmid:[0-9]+$")]
    assert refusals.to_bad_request(wrong(kind, "31452104", "doc_id"), LISTS).hints == (
        "Did you mean pmid:31452104?",
    )
    other = refusals.to_bad_request(wrong(kind, "ten papers", "doc_id"), LISTS)
    assert "Did you mean" not in other.hint


def test_an_object_is_asked_for_with_what_it_needs():
    told = refusals.to_bad_request(wrong(list[dict], ["a sentence"], "quotes"), LISTS)
    assert told.message == 'quotes[0] is "a sentence"; it must be an object with text.'
    assert told.hints == ('Write {"text": "a sentence"} for quotes[0].',)


def test_of_a_list_that_is_too_long_it_is_said_how_many_go_at_a_time():
    kind = Annotated[list[str], Field(max_length=20)]
    told = refusals.to_bad_request(wrong(kind, ["1"] * 700, "papers"), LISTS)
    assert told.message == "papers has 700 values; it must be a list of 1 to 20 values."
    assert told.hints == ("Call again with 20 at a time.",)
