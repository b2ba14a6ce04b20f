"""Elsevier for readers with a key, and what every key for text mining has in common."""

from pathlib import Path

import pytest

from tests.sources.reader import EVERY_KEY, fetch, reader_of
from tests.world import text_mining as keys
from utils.errors import NotAvailable, NotConfigured, NotEntitled, Unreachable
from utils.model.identifiers import Ids
from utils.sources.elsevier import full_text


@pytest.fixture
def reader(settings):
    return reader_of(settings)


@pytest.mark.parametrize(
    ("branch", "via", "media"),
    [
        ("elsevier_subscribed", "elsevier", "elsevier"),
        ("elsevier_open", "elsevier", "elsevier"),
        ("wiley_subscribed", "wiley", "pdf"),
        ("springer_open", "springer", "jats"),
        ("springer_subscribed", "springer_tdm", "jats"),
    ],
)
def test_a_reader_with_rights_gets_the_whole_text(reader, world, branch, via, media):
    world.subscribed |= {"elsevier", "wiley"}
    done = reader.download(world.paper(branch).pmid)
    assert (done.stored.kind, done.stored.via) == ("full_text", via)
    assert reader.shelf.find(Ids(pmid=world.paper(branch).pmid)).version == "published"
    assert list(reader.shelf.folder.glob(f".papershelf/raw/*.{media}.gz"))


@pytest.mark.parametrize(
    ("branch", "bound"), [("elsevier_subscribed", True), ("elsevier_open", False)]
)
def test_a_text_under_a_publishers_terms_says_so_in_its_file(reader, world, branch, bound):
    world.subscribed.add("elsevier")
    text = Path(reader.download(world.paper(branch).pmid).file_path).read_text(encoding="utf-8")
    assert ("- Terms: For your own research only" in text) == bound


@pytest.mark.parametrize("branch", ["elsevier_subscribed", "wiley_subscribed"])
def test_without_rights_the_abstract_is_no_text(reader, world, branch):
    done = reader.download(world.paper(branch).pmid)
    outcomes = {attempt.source: attempt.outcome for attempt in done.stored.attempts}
    assert done.stored.kind == "abstract"
    assert outcomes[branch.partition("_")[0]] == "not_entitled"


def test_a_token_stands_for_the_network(settings, world):
    library = reader_of(settings, elsevier_insttoken=keys.ELSEVIER_TOKEN)
    assert fetch(full_text, world, "elsevier_subscribed", library).media == "elsevier"


def test_a_societys_doi_is_known_by_where_it_leads(reader, world):
    world.subscribed.add("elsevier")
    record = world.paper("elsevier_imprint")
    with pytest.raises(NotAvailable, match="another publisher"):
        fetch(full_text, world, "elsevier_imprint", reader)
    reader.web.cache.put("landing_page", record.doi, "https://linkinghub.elsevier.com/x", 1.0)
    assert fetch(full_text, world, "elsevier_imprint", reader).media == "elsevier"


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        ({"elsevier_api_key": "x"}, "ELSEVIER_API_KEY"),
        ({"elsevier_insttoken": "x"}, "ELSEVIER_INSTTOKEN"),
    ],
)
def test_a_wrong_key_is_named(settings, world, wrong, setting):
    with pytest.raises(NotConfigured, match=setting):
        fetch(full_text, world, "elsevier_open", reader_of(settings, **wrong))


def test_a_key_that_opens_no_article_is_told_apart_and_not_tried_again(settings, world):
    library = reader_of(settings, elsevier_api_key=keys.NOT_ENABLED)
    with pytest.raises(NotEntitled, match="does not open its articles") as refused:
        fetch(full_text, world, "elsevier_open", library)
    assert "elsevier.support" in refused.value.hint
    asked = len(world.requests)
    with pytest.raises(NotEntitled):
        fetch(full_text, world, "elsevier_subscribed", library)
    assert len(world.requests) == asked
    mended = reader_of(settings)
    assert fetch(full_text, world, "elsevier_open", mended)


def test_a_right_that_came_later_is_asked_for_again(reader, world):
    with pytest.raises(NotEntitled):
        fetch(full_text, world, "elsevier_subscribed", reader)
    world.subscribed.add("elsevier")
    assert fetch(full_text, world, "elsevier_subscribed", reader)


def test_a_weeks_quota_that_is_used_up_is_waited_for(reader, world):
    world.elsevier_left = 0
    with pytest.raises(Unreachable, match="quota of the week") as spent:
        fetch(full_text, world, "elsevier_open", reader)
    assert spent.value.details["lasting"]
    assert 60_000 < spent.value.retry_after <= 86_400


def test_keys_leave_no_trace(reader, world, caplog):
    world.subscribed |= {"elsevier", "wiley"}
    for branch in ("elsevier_open", "wiley_subscribed", "springer_subscribed"):
        reader.download(world.paper(branch).pmid)
    folder = reader.shelf.folder
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert not [key for key in EVERY_KEY.values() if key.encode() in held or key in caplog.text]


def test_who_has_no_key_is_told_only_where_it_would_help(library, world):
    named = {
        branch: {
            attempt.source: attempt.detail
            for attempt in library.download(world.paper(branch).pmid).stored.attempts
        }
        for branch in ("elsevier_subscribed", "paywall")
    }
    assert named["elsevier_subscribed"]["elsevier"] == "needs ELSEVIER_API_KEY"
    assert "wiley" not in named["elsevier_subscribed"]
    assert not {"elsevier", "wiley", "springer"} & named["paywall"].keys()
