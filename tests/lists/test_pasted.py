"""Lists of identifiers as people keep them."""

import pytest

from utils.errors import BadRequest
from utils.lists.pasted import identifier_lines, identifiers_in

LISTS = {
    "1\r\n\r\n2\n": ["pmid:1", "pmid:2"],
    "10.9102/ann.2025.0004,10.9102/ann.2025.0005": [
        "doi:10.9102/ann.2025.0004",
        "doi:10.9102/ann.2025.0005",
    ],
    "10.1000/a,41000001": ["doi:10.1000/a", "pmid:41000001"],
    "41000001;41000002": ["pmid:41000001", "pmid:41000002"],
    "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2": [
        "doi:10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"
    ],
    "10.1000/has,comma": ["doi:10.1000/has,comma"],
    "# my list\nPMC7\tarXiv:2601.00001v2 [q-bio.GN]": ["pmcid:PMC7", "arxiv:2601.00001"],
}


@pytest.mark.parametrize(("text", "names"), LISTS.items())
def test_any_mix_is_read(text, names):
    assert [ids.names()[0] for ids in identifiers_in(identifier_lines(text.encode()))] == names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_spreadsheets_save_is_read(encoding):
    assert identifier_lines("1\n2".encode(encoding)) == ["1", "2"]


def test_an_old_encoding_is_no_obstacle():
    assert identifier_lines("# Müller\n10.1000/ü".encode("cp1252")) == ["", "10.1000/ü"]


def test_everything_unreadable_is_named_with_its_line():
    with pytest.raises(BadRequest) as refused:
        identifiers_in(["1", "", "foo", "2 bar"])
    assert "'foo' (line 3)" in refused.value.message
    assert "'bar' (line 4)" in refused.value.message


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_nothing_is_said_to_be_nothing(lines):
    with pytest.raises(BadRequest, match="No identifier"):
        identifiers_in(lines)
