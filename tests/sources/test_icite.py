"""NIH iCite: both lists of a paper, and an empty list that is not believed.

Rows: https://icite.od.nih.gov/api, as dvklopfenstein/pmidcite reads them.
"""

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.sources.europepmc import LinkedPaper
from utils.sources.icite import fetch_linked

PAPER = Ids(pmid="7")
WHOLE = {"pmid": 7, "citation_count": 2, "cited_by": [8, 9, 8, "x"], "references": [5]}


@pytest.mark.parametrize(
    ("row", "kind", "total", "pmids"),
    [
        (WHOLE, "citations", 2, ["8", "9"]),
        (WHOLE, "references", 1, ["5"]),
        ({"pmid": 7, "citation_count": 12, "cited_by": []}, "citations", 12, []),  # only a part
        ({"pmid": 7, "citation_count": 12, "references": []}, "references", 0, []),
    ],
)
def test_either_list(web, mocked, row, kind, total, pmids):
    mocked.get("https://icite.od.nih.gov/api/pubs", json={"data": [row]})
    found = fetch_linked(PAPER, kind, 5, web)
    assert found == (total, [LinkedPaper(pmid=pmid) for pmid in pmids], found[2])
    assert fetch_linked(PAPER, kind, 1, web)[:2] == (total, found[1][:1])


@pytest.mark.parametrize(
    ("ids", "data", "error"),
    [
        (Ids(doi="10.1000/a"), [WHOLE], NotAvailable),
        (PAPER, [], NotAvailable),
        (PAPER, [{**WHOLE, "pmid": 8}], NotAvailable),  # another paper's lists
        (PAPER, [{"pmid": 7, "cited_by": "x"}], Unreachable),
    ],
)
def test_a_paper_it_does_not_know_has_no_empty_list(web, mocked, ids, data, error):
    mocked.get("https://icite.od.nih.gov/api/pubs", json={"data": data})
    with pytest.raises(error):
        fetch_linked(ids, "citations", 5, web)
