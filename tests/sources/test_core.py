"""CORE for readers with a key: copies, its own file, its words; tokens, and where the key goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answering import answering
from tests.sources.reader import paper_of, reader_of
from tests.world import core
from utils import Library
from utils.errors import NotAvailable, NotConfigured, Unreachable
from utils.http.retry import LONGEST
from utils.model.paper import Fetched
from utils.sources.core import SOURCE, full_text, stay_away

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@pytest.fixture
def reader(settings):
    reader = reader_of(settings)
    yield reader
    reader.shelf.close()


def brought(world, branch, reader):
    return list(full_text(paper_of(world.paper(branch)), reader.web))


def asked(world, service="core"):
    return [request for request in world.requests if request.service == service]


def only_core(settings, **other):
    return reader_of({**settings, "papers_sources": ("core",)}, **other)


# -- what it brings ------------------------------------------------------------------------------


def test_its_file_comes_before_its_words(reader, world):
    pdf, words = brought(world, "paywall", reader)
    assert (pdf.media, pdf.body[:5], pdf.via) == ("pdf", b"%PDF-", "core")
    assert (words.media, words.charset) == ("markdown", "utf-8")
    assert world.paper("paywall").plain_title in words.body.decode()


def test_a_copy_at_a_repository_is_fetched_there_and_costs_no_download(reader, world):
    [copy] = brought(world, "unpaywall_pdf", reader)
    assert copy.media == "pdf"
    assert len(asked(world)) == 1
    assert world.core_purse.today == core.PER_DAY - 1


def test_words_without_a_file_are_not_asked_for_twice(reader, world):
    [words] = brought(world, "gone", reader)
    assert words.media == "markdown"
    assert [request.path for request in asked(world)] == ["/search/works/"]


@pytest.mark.parametrize(
    ("branch", "said"), [("jina_only", "know"), ("scanned_pdf", "has no text")]
)
def test_what_it_has_not_is_a_plain_no(reader, world, branch, said):
    with pytest.raises(NotAvailable, match=said):
        brought(world, branch, reader)


def test_the_public_placeholder_is_no_text(settings, world):
    with pytest.raises(NotAvailable, match="no text"):
        brought(world, "gone", Library(**settings))


def test_a_work_of_another_doi_is_not_taken(reader, world, monkeypatch):
    other = {"doi": "10.9101/another", "fullText": "x", "id": 1}
    answering(monkeypatch, {"results": [other, {"doi": None, "fullText": "y"}]})
    with pytest.raises(NotAvailable, match="does not know"):
        brought(world, "gone", reader)


# -- what the judges say -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("branch", "kind"),
    [
        ("paywall", "full_text"),
        ("gone", "full_text"),
        ("unpaywall_pdf", "full_text"),
        ("partial", "abstract"),
        ("wrong_paper", "abstract"),
        ("html_as_pdf", "abstract"),
    ],
)
def test_the_judges_decide_what_is_kept(settings, world, branch, kind):
    library = only_core(settings)
    assert library.download(world.paper(branch).pmid).stored.kind == kind
    library.shelf.close()


@pytest.mark.parametrize(
    ("branch", "outcome"),
    [("wrong_paper", "wrong_paper"), ("html_as_pdf", "bot_check"), ("partial", "abstract_only")],
)
def test_what_the_judges_refuse_has_its_name(settings, world, branch, outcome):
    library = only_core(settings)
    attempts = library.download(world.paper(branch).pmid).stored.attempts
    assert outcome in [one.outcome for one in attempts if one.source == "core"]
    library.shelf.close()


def test_a_text_says_what_binds_its_keeper(settings, world):
    library = only_core(settings)
    done = library.download(world.paper("gone").pmid)
    assert "not for commerce" in Path(done.file_path).read_text("utf-8")
    library.shelf.close()


# -- the key -------------------------------------------------------------------------------------


def test_it_is_off_until_a_key_is_set(settings, world):
    library = Library(**{**settings, "papers_sources": ("core",)})
    [attempt] = library.download(world.paper("paywall").pmid).stored.attempts
    assert (attempt.outcome, attempt.detail) == ("skipped", "needs CORE_API_KEY")
    assert not asked(world)
    library.shelf.close()


def test_a_wrong_key_is_named_and_asked_once(settings, world):
    with pytest.raises(NotConfigured, match="CORE_API_KEY"):
        brought(world, "paywall", reader_of(settings, core_api_key="x"))
    assert len(asked(world)) == 1


def test_the_key_goes_to_the_interface_alone(reader, world):
    for branch in ("paywall", "unpaywall_pdf", "html_as_pdf"):
        brought(world, branch, reader)
    assert all(one.headers["authorization"] == f"Bearer {core.KEY}" for one in asked(world))
    others = [one for one in world.requests if one.service != "core"]
    assert {one.host for one in others} == {"core_files", "repository"}
    assert not [one for one in others if core.KEY in str(one)]
    assert not [one for one in asked(world) if core.KEY in one.path + str(one.params)]


# -- tokens --------------------------------------------------------------------------------------


def test_no_more_tokens_are_spent_than_there_are(reader, world, clock):
    for branch in ("paywall", "wrong_paper", "html_as_pdf", "gone"):
        assert brought(world, branch, reader)
    assert not world.refused
    assert sum(clock.naps) >= 60  # sixteen tokens and three downloads, of ten a minute


def test_who_is_over_the_limit_waits_as_long_as_it_says(reader, world, clock):
    world.core_purse.minute, world.core_purse.left = clock.time() - 10, 0
    [words] = brought(world, "gone", reader)
    assert words.media == "markdown"
    assert [request.status for request in asked(world)] == [429, 200]
    assert sum(clock.naps) >= 48


def test_a_spent_day_is_told_at_once_and_to_everybody(reader, settings, world):
    world.core_purse.today = 0
    with pytest.raises(Unreachable) as caught:
        brought(world, "gone", reader)
    assert caught.value.code == "RATE_LIMIT"
    assert caught.value.retry_after > LONGEST or len(asked(world)) > 1  # just before midnight
    before = len(asked(world))
    with pytest.raises(Unreachable):
        brought(
            world, "paywall", reader_of({**settings, "papers_dir": settings["papers_dir"] / "b"})
        )
    assert len(asked(world)) == before


@pytest.mark.parametrize("said", ["soon", "", "-", "9999-99-99", "2026-10-21T07:27:00"])
def test_a_moment_nobody_can_read_or_that_is_over_is_no_wait(said):
    assert stay_away({"X-RateLimit-Remaining": "0", "X-RateLimit-Retry-After": said}) == 0


@pytest.mark.parametrize("mood", ["garbage", "empty", "deep_nesting", "down", "reset", "captcha"])
def test_a_bad_mood_is_no_news_about_the_paper(reader, world, mood):
    world.mood(mood, "core")
    with pytest.raises(Unreachable):
        brought(world, "paywall", reader)


# -- what it sends -------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from(
            ["id", "fullText", "downloadUrl", "sourceFulltextUrls", "links", "title", "outputs"]
        ),
        ANY_JSON,
    )
)
def test_any_json_is_a_work_with_gaps(work):
    from utils.sources.core import _is_own, _links

    assert all(isinstance(link, str) and link for link in _links(work))
    assert not any(_is_own(link) for link in _links(work))


def test_one_link_without_its_list_is_a_link(reader, world, monkeypatch):
    from utils.sources.core import _links

    assert list(_links({"sourceFulltextUrls": "https://a.test/x"})) == ["https://a.test/x"]


def test_the_health_check_says_whether_the_key_is_right(settings, world):
    assert "tokens are left" in SOURCE.greet(reader_of(settings).web)
    assert SOURCE.greet(Library(**settings).web) == ""
    with pytest.raises(NotConfigured):
        SOURCE.greet(reader_of(settings, core_api_key="x").web)


def test_a_miss_at_the_repository_does_not_end_it(reader, world):
    world.mood("down", "repository")
    [miss] = brought(world, "unpaywall_pdf", reader)
    assert not isinstance(miss, Fetched)
