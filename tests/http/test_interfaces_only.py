"""Sites that let programs use their interfaces only are never read page by page."""

import pytest

from utils.errors import NotAvailable
from utils.http.address_policy import AddressPolicy
from utils.settings import Settings

CLOSED = [
    "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1/pdf/x.pdf",
    "https://pubmed.ncbi.nlm.nih.gov/1/", "https://europepmc.org/articles/PMC1?pdf=render",
    "https://arxiv.org/abs/2601.00001", "https://ARXIV.org/abs/2601.00001",
]  # fmt: skip
OPEN = [
    "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=pmc",
    "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/?ids=PMC1",
    "https://www.ebi.ac.uk/europepmc/webservices/rest/search",
    "https://export.arxiv.org/pdf/2601.00001",
    "https://notarxiv.org/x",
    "https://publisher.test/article",
]


@pytest.mark.parametrize("url", CLOSED)
def test_pages_for_people_are_not_asked(url):
    with pytest.raises(NotAvailable, match="does not let programs"):
        AddressPolicy(Settings()).require_open_to_programs(url)


@pytest.mark.parametrize("url", OPEN)
def test_interfaces_and_everybody_else_are(url):
    AddressPolicy(Settings()).require_open_to_programs(url)
