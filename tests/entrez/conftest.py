import pytest


@pytest.fixture
def entrez(library):
    return library.entrez
