"""OpenCitations: rows of identifiers, whole lists, and works it knows by number alone.

Rows: ``index_v2.hf`` in https://github.com/opencitations/api.
"""

import pytest

from utils.errors import NotAvailable
from utils.model.identifiers import Ids
from utils.sources.europepmc import LinkedPaper
from utils.sources.opencitations import fetch_linked

BASE = "https://api.opencitations.net/index/v2"
NAMES = [
    "omid:br/061 doi:10.1000/A pmid:7 doi:10.1000/b", "omid:br/062", "doi:../etc pmid:x", 7,
    "pmid:7 doi:10.1000/a omid:br/061", "omid:br/063 pmid:8",
]  # fmt: skip
FOUND = [LinkedPaper(pmid="7", doi="10.1000/a"), LinkedPaper(pmid="8")]


@pytest.mark.parametrize(("kind", "end"), [("citations", "citing"), ("references", "cited")])
@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (Ids(pmid="1"), "pmid:1"),
        (Ids(doi="10.1000/c"), "doi:10.1000/c"),
        (Ids(doi="10.1002/1<2:a>3.0;2-#"), "doi:10.1002/1%3C2:a%3E3.0%3B2-%23"),
    ],
)
def test_a_list_is_had_whole_by_either_name(web, mocked, ids, name, kind, end):
    mocked.get(f"{BASE}/{kind}/{name}", json=[{end: one} for one in NAMES])
    assert fetch_linked(ids, kind, 5, web)[:2] == (2, FOUND)
    assert fetch_linked(ids, kind, 1, web)[:2] == (2, FOUND[:1])


def test_a_paper_without_a_name_it_takes_is_not_asked_about(web, mocked):
    with pytest.raises(NotAvailable):
        fetch_linked(Ids(arxiv="2511.04014"), "references", 5, web)
    assert not mocked.calls


def test_what_it_does_not_know_has_an_empty_list(web, mocked):
    mocked.get(f"{BASE}/citations/pmid:9", json=[])
    assert fetch_linked(Ids(pmid="9"), "citations", 5, web)[:2] == (0, [])
