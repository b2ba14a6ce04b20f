"""Sources asked at their public addresses: `mocked` answers where the network would."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sources.reader import EVERY_KEY
from utils import Library
from utils.http import Web


@pytest.fixture
def client(mocked: Any) -> Iterator[Callable[..., Web]]:
    """Return a function that makes a client with no settings but these."""
    made = []

    def make(**settings: Any) -> Web:
        made.append(Library(**{"pubmed_email": "tester@lab.edu", **settings}))
        return made[-1].web

    yield make
    for library in made:
        library.shelf.close()


@pytest.fixture
def web(client: Callable[..., Web]) -> Web:
    """Return the client of a reader with every key of a publisher's."""
    return client(**EVERY_KEY)
