"""Springer Nature: open articles with one key, those of an agreement with another."""

import pytest

from tests.sources.reader import fetch, reader_of
from utils.errors import NotAvailable, NotConfigured, NotEntitled
from utils.sources.springer import agreed_text, open_text


def test_an_open_article_is_taken_out_of_its_envelope(settings, world):
    fetched = fetch(open_text, world, "springer_open", reader_of(settings))
    assert fetched.body.startswith(b"<article")
    assert "api_key" not in fetched.url


def test_what_is_closed_is_no_error(settings, world):
    with pytest.raises(NotAvailable, match="no open text"):
        fetch(open_text, world, "springer_subscribed", reader_of(settings))


def test_an_agreement_opens_it(settings, world):
    reader = reader_of(settings)
    assert fetch(agreed_text, world, "springer_subscribed", reader).via == "springer_tdm"
    with pytest.raises(NotAvailable, match="another publisher"):
        fetch(agreed_text, world, "paywall", reader)


def test_what_no_agreement_holds_is_not_ours_to_have(settings, world, monkeypatch):
    monkeypatch.setattr("utils.sources.springer._PREFIXES", ("10.",))
    with pytest.raises(NotEntitled, match="agreement"):
        fetch(agreed_text, world, "paywall", reader_of(settings))


@pytest.mark.parametrize(
    ("route", "setting"), [(open_text, "springer_api_key"), (agreed_text, "springer_tdm_key")]
)
def test_a_wrong_key_is_named(settings, world, route, setting):
    with pytest.raises(NotConfigured, match=setting.upper()):
        fetch(route, world, "springer_open", reader_of(settings, **{setting: "x"}))
