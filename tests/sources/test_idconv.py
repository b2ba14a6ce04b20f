"""From PMCID to the paper's other names.

Rows: https://pmc.ncbi.nlm.nih.gov/tools/id-converter-api/.
"""

from utils.model.identifiers import Ids
from utils.sources.idconv import look_up_papers

KNOWN, UNKNOWN, REFUSED = Ids(pmcid="PMC9100001"), Ids(pmcid="PMC8999999"), Ids(pmcid="PMC1")


def test_many_are_one_request_and_the_unknown_are_left_out(web, mocked):
    rows = [
        {"pmcid": "PMC9100001", "pmid": 41000001, "doi": "10.1000/A"},
        {"requested-id": "PMC8999999", "errmsg": "Identifier not found in PMC"},
        {"pmcid": "PMC1", "status": "error"},
        None,
    ]
    mocked.get("https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/", json={"records": rows})
    found = look_up_papers([KNOWN, UNKNOWN, REFUSED], web)
    assert {ids: paper.ids for ids, paper in found.items()} == {
        KNOWN: Ids(pmcid="PMC9100001", pmid="41000001", doi="10.1000/a")
    }
    [call] = mocked.calls
    asked = call.request.params
    assert (asked["ids"], asked["idtype"]) == ("PMC9100001,PMC8999999,PMC1", "pmcid")
