"""Publishers' text-mining interfaces: what a key opens, and what each refusal is called."""

import pytest

from tests.world import text_mining as keys
from utils import Library
from utils.errors import NotConfigured, NotEntitled, NotOffered, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources import elsevier, springer, wiley


@pytest.fixture
def reader(settings):
    """A reader with every key."""
    return Library(
        **settings,
        elsevier_api_key=keys.ELSEVIER_KEY,
        wiley_tdm_token=keys.WILEY_TOKEN,
        springer_api_key=keys.SPRINGER_KEY,
        springer_tdm_key=keys.SPRINGER_TDM_KEY,
    )


def paper_of(record):
    return Paper(Ids(doi=record.doi, pmid=record.pmid), title=record.title)


def fetch(route, world, branch, library):
    [fetched] = route(paper_of(world.paper(branch)), library.web)
    return fetched


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


@pytest.mark.parametrize("branch", ["elsevier_subscribed", "wiley_subscribed"])
def test_without_rights_the_abstract_is_no_text(reader, world, branch):
    done = reader.download(world.paper(branch).pmid)
    outcomes = {attempt.source: attempt.outcome for attempt in done.stored.attempts}
    assert done.stored.kind == "abstract"
    assert outcomes[branch.partition("_")[0]] == "not_entitled"


def test_a_token_stands_for_the_network(settings, world):
    library = Library(
        **settings,
        elsevier_api_key=keys.ELSEVIER_KEY,
        elsevier_insttoken=keys.ELSEVIER_TOKEN,
    )
    assert fetch(elsevier.full_text, world, "elsevier_subscribed", library).media == "elsevier"


def test_a_societys_doi_is_known_by_where_it_leads(reader, world, monkeypatch):
    world.subscribed.add("elsevier")
    record = world.paper("elsevier_imprint")
    with pytest.raises(NotOffered, match="another publisher"):
        fetch(elsevier.full_text, world, "elsevier_imprint", reader)
    reader.web.memory.keep("landing_page", record.doi, "https://linkinghub.elsevier.com/x", 1.0)
    assert fetch(elsevier.full_text, world, "elsevier_imprint", reader).media == "elsevier"


@pytest.mark.parametrize(
    ("route", "branch", "wrong", "setting"),
    [
        (elsevier.full_text, "elsevier_open", {"elsevier_api_key": "x"}, "ELSEVIER_API_KEY"),
        (elsevier.full_text, "elsevier_open", {"elsevier_insttoken": "x"}, "ELSEVIER_INSTTOKEN"),
        (wiley.full_text, "wiley_subscribed", {"wiley_tdm_token": "x"}, "WILEY_TDM_TOKEN"),
        (springer.open_text, "springer_open", {"springer_api_key": "x"}, "SPRINGER_API_KEY"),
        (springer.agreed_text, "springer_open", {"springer_tdm_key": "x"}, "SPRINGER_TDM_KEY"),
    ],
)
def test_a_wrong_key_is_named(settings, world, route, branch, wrong, setting):
    given = {"elsevier_api_key": keys.ELSEVIER_KEY} | wrong
    with pytest.raises(NotConfigured, match=setting):
        fetch(route, world, branch, Library(**settings, **given))


def test_a_key_that_opens_no_article_is_told_apart_and_not_tried_again(settings, world):
    library = Library(**settings, elsevier_api_key=keys.NOT_ENABLED)
    with pytest.raises(NotEntitled, match="does not open its articles") as refused:
        fetch(elsevier.full_text, world, "elsevier_open", library)
    assert "elsevier.support" in refused.value.hint
    asked = len(world.requests)
    with pytest.raises(NotEntitled):
        fetch(elsevier.full_text, world, "elsevier_subscribed", library)
    assert len(world.requests) == asked
    mended = Library(**settings, elsevier_api_key=keys.ELSEVIER_KEY)
    assert fetch(elsevier.full_text, world, "elsevier_open", mended)


def test_a_right_that_came_later_is_asked_for_again(reader, world):
    with pytest.raises(NotEntitled):
        fetch(elsevier.full_text, world, "elsevier_subscribed", reader)
    world.subscribed.add("elsevier")
    assert fetch(elsevier.full_text, world, "elsevier_subscribed", reader)


def test_a_weeks_quota_that_is_used_up_is_waited_for(reader, world):
    world.elsevier_left = 0
    with pytest.raises(Unreachable, match="quota of the week") as spent:
        fetch(elsevier.full_text, world, "elsevier_open", reader)
    assert spent.value.details["lasting"]
    assert 60_000 < spent.value.retry_after <= 86_400


def test_what_is_closed_at_springer_nature_is_no_error(reader, world):
    with pytest.raises(NotOffered, match="no open text"):
        fetch(springer.open_text, world, "springer_subscribed", reader)


def test_keys_leave_no_trace(reader, world, caplog):
    world.subscribed |= {"elsevier", "wiley"}
    for branch in ("elsevier_open", "wiley_subscribed", "springer_subscribed"):
        reader.download(world.paper(branch).pmid)
    secrets = (keys.ELSEVIER_KEY, keys.WILEY_TOKEN, keys.SPRINGER_KEY, keys.SPRINGER_TDM_KEY)
    folder = reader.shelf.folder
    held = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert not [key for key in secrets if key.encode() in held or key in caplog.text]


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
