"""OpenAlex: copies nobody else names, and a search that is paid for."""

import pytest

from utils.errors import NotConfigured
from utils.sources.openalex import search
from utils.sources.source import Query


def test_a_search_needs_a_key(library, world):
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        search(Query("moss", sort_by="relevance"), library.web)
    assert not world.requests
