"""Wiley for readers with a token: PDFs, rights by network, refusals by name."""

import pytest

from tests.sources.reader import fetch, reader_of
from tests.world import text_mining as keys
from utils.errors import NotAvailable, NotConfigured, NotEntitled, Unreachable
from utils.sources.wiley import full_text


def test_the_network_decides(settings, world):
    reader = reader_of(settings)
    with pytest.raises(NotEntitled, match="token and network"):
        fetch(full_text, world, "wiley_subscribed", reader)
    world.subscribed.add("wiley")
    assert fetch(full_text, world, "wiley_subscribed", reader).body.startswith(b"%PDF-")


def test_the_token_stays_with_the_service(settings, world):
    world.subscribed.add("wiley")
    fetch(full_text, world, "wiley_subscribed", reader_of(settings))
    asked = [request for request in world.requests if request.service == "wiley"]
    assert asked[0].headers["wiley-tdm-client-token"] == keys.WILEY_TOKEN
    assert not [request for request in world.requests if keys.WILEY_TOKEN in request.path]


def test_a_token_of_another_form_is_refused_by_name(settings, world):
    with pytest.raises(NotConfigured, match="WILEY_TDM_TOKEN"):
        fetch(full_text, world, "wiley_subscribed", reader_of(settings, wiley_tdm_token="x"))


def test_papers_of_others_are_not_asked_for(settings, world):
    with pytest.raises(NotAvailable, match="another publisher"):
        fetch(full_text, world, "paywall", reader_of(settings))
    assert "wiley" not in {request.service for request in world.requests}


def test_too_many_in_ten_minutes_are_not_repeated(settings, world):
    world.subscribed.add("wiley")
    world.mood("storm", "wiley")
    with pytest.raises(Unreachable, match="more than 30 requests in ten minutes") as caught:
        fetch(full_text, world, "wiley_subscribed", reader_of(settings))
    assert caught.value.retry_after == 120
    assert sum(request.service == "wiley" for request in world.requests) == 1
