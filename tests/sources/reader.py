"""A reader with every key of a publisher's, and what they ask a route for."""

from typing import Any

from hypothesis import strategies as st

from tests.world import World, core
from tests.world import text_mining as keys
from utils import Library
from utils.demo.records import Record
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper

EVERY_KEY = {
    "core_api_key": core.KEY, "elsevier_api_key": keys.ELSEVIER_KEY,
    "wiley_tdm_token": keys.WILEY_TOKEN, "springer_api_key": keys.SPRINGER_KEY,
    "springer_tdm_key": keys.SPRINGER_TDM_KEY,
}  # fmt: skip


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def reader_of(settings: dict[str, Any], **other: str) -> Library:
    """A library with every key, or with *other* ones instead."""
    return Library(**(settings | EVERY_KEY | other))


def article_of(doi: str) -> Paper:
    return Paper(Ids(doi=doi), title="A title")


def paper_of(record: Record) -> Paper:
    return Paper(Ids(doi=record.doi, pmid=record.pmid), title=record.title)


def fetch(route: Any, world: World, branch: str, library: Library) -> Fetched:
    """The one thing a route brings for the first paper of a branch."""
    [fetched] = route(paper_of(world.paper(branch)), library.web)
    return fetched
