"""CSL-JSON and EndNote XML as lists of papers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures import fixture_text
from utils.citations.items import to_csl_item
from utils.errors import BadRequest
from utils.lists.references import read_file_entries
from utils.model.identifiers import Ids

# The form of EndNote 21: fonts as `style` elements, also within a title.
RECORD = fixture_text("lists/documents_record.xml")


def endnote(*more: str) -> bytes:
    records = "".join(RECORD.format(number=n, more=one) for n, one in enumerate(more, 1))
    return f'<?xml version="1.0" encoding="UTF-8"?><xml><records>{records}</records></xml>'.encode()


def field(name: str, text: str) -> str:
    return f'<{name}><style face="normal" font="default" size="100%">{text}</style></{name}>'


@pytest.mark.parametrize(
    ("more", "ids"),
    [
        (field("electronic-resource-num", "10.1000/A"), Ids(doi="10.1000/a")),
        (field("electronic-resource-num", "https://doi.org/10.1000/a"), Ids(doi="10.1000/a")),
        (field("accession-num", "31452104") + field("remote-database-provider", "NLM"),
            Ids(pmid="31452104")),
        (
            field("accession-num", "31452104") + field("remote-database-name", "Embase"),
            Ids(),  # Embase numbers its own records
        ),
        (field("custom2", "PMC6777382"), Ids(pmcid="PMC6777382")),
        ("<urls><related-urls>" + field("url",
            "https://www.ncbi.nlm.nih.gov/pubmed/31452104") + "</related-urls></urls>",
            Ids(pmid="31452104")),
    ],
)  # fmt: skip
def test_an_endnote_record_goes_by_its_identifiers(more, ids):
    [entry] = read_file_entries(endnote(more), "My.xml")
    assert entry.ids == ids


def test_an_endnote_record_without_any_is_asked_for_by_its_citation():
    [entry] = read_file_entries(endnote(""))
    assert entry.asked == "Doe 2019. On Homo cells. Journal of Cells"


def test_every_endnote_record_is_read():
    many = [field("electronic-resource-num", f"10.1000/{n}") for n in range(300)]
    assert [entry.ids.doi for entry in read_file_entries(endnote(*many))] == [
        f"10.1000/{n}" for n in range(300)
    ]


BOMB = b"""<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
<!ENTITY x SYSTEM "file:///etc/passwd">]><xml><records><record><titles><title>&b;&x;</title>
</titles></record></records></xml>"""


def test_entities_are_not_expanded():
    asked = [entry.asked for entry in read_file_entries(BOMB)]
    assert "aaaa" not in str(asked)
    assert "root:" not in str(asked)


@pytest.mark.parametrize(
    "data", [b"<html><body>x</body></html>", b"<xml><records></records></xml>", b"<xml><records>"]
)
def test_other_xml_is_refused(data):
    with pytest.raises(BadRequest, match="XML or HTML"):
        list(read_file_entries(data))


ITEM = {
    "id": "doe2019", "type": "article-journal", "title": "On cells",
    "author": [{"family": "Doe", "given": "Jane"}], "container-title": "J Cells",
    "issued": {"date-parts": [["2019", 5]]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "ids"),
    [
        ({"DOI": "10.1000/A"}, Ids(doi="10.1000/a")),
        ({"PMID": 31452104}, Ids(pmid="31452104")),
        ({"note": "PMID: 31452104\nPMCID: PMC6777382"}, Ids(pmid="31452104", pmcid="PMC6777382")),
        ({"number": "arXiv:2301.00001"}, Ids(arxiv="2301.00001")),
        ({"URL": "https://arxiv.org/abs/2301.00001"}, Ids(arxiv="2301.00001")),
    ],
)
def test_a_csl_item_goes_by_its_identifiers(more, ids):
    [entry] = read_file_entries(json.dumps([ITEM | more]).encode(), "refs.json")
    assert entry.ids == ids


def test_a_csl_item_without_any_is_asked_for_by_its_citation():
    for data in ([ITEM], {"items": [ITEM]}, ITEM):
        [entry] = read_file_entries(json.dumps(data, indent=1).encode())
        assert entry.asked == "Doe 2019. On cells. J Cells"


def test_what_our_own_json_prints_is_a_list():
    lines = b'{"pmid": "31452104", "title": "x"}\n{"doi": "10.1000/a", "title": "y"}\n'
    assert [str(entry.ids) for entry in read_file_entries(lines)] == [
        "PMID 31452104",
        "doi:10.1000/a",
    ]


def test_our_own_csl_json_comes_back(library, world):
    papers = [library.pubmed.paper(world.paper(branch).pmid) for branch in ("pmc_cloud", "paywall")]
    data = json.dumps([to_csl_item(paper) for paper in papers]).encode()
    assert [entry.ids.doi for entry in read_file_entries(data)] == [p.ids.doi for p in papers]


@pytest.mark.parametrize("data", [b'[{"rank": 1}]', b'{"a": [}', b"[[1]]", b"[" * 5000, b'["x"]'])
def test_other_json_is_refused(data):
    with pytest.raises(BadRequest, match="JSON"):
        list(read_file_entries(data))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


@given(st.dictionaries(st.sampled_from([*ITEM, "DOI", "PMID", "note", "URL"]), VALUES))
def test_no_item_is_a_surprise(item):
    data = json.dumps([item | {"title": "On cells"}]).encode()
    assert len(list(read_file_entries(data))) == 1
