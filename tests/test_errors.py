"""Every error says what to do next, also where nobody wrote it down."""

import pytest

from utils import errors


def kinds(kind=errors.PaperError):
    yield kind
    for narrower in kind.__subclasses__():
        yield from kinds(narrower)


@pytest.mark.parametrize("kind", list(kinds()))
def test_the_envelope_always_suggests_something(kind):
    [usual] = kind("It failed.").envelope()["error"]["suggestions"]
    assert usual.strip()
    assert kind("It failed.", "Do this.").envelope()["error"]["suggestions"] == ["Do this."]
