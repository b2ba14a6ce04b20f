"""Lists of identifiers as people keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.errors import BadRequest
from utils.lists.pasted import (
    build_no_identifier_error,
    parse_identifier_lines,
    parse_required_identifiers,
    read_identifier_lines,
)
from utils.model.identifiers import Ids

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
    entries = parse_required_identifiers(read_identifier_lines(text.encode()))
    assert [entry.ids.names()[0] for entry in entries] == names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_spreadsheets_save_is_read(encoding):
    assert read_identifier_lines("1\n2".encode(encoding)) == ["1", "2"]


def test_an_old_encoding_is_no_obstacle():
    assert read_identifier_lines("# Müller\n10.1000/ü".encode("cp1252")) == ["", "10.1000/ü"]


def test_of_what_is_no_list_everything_unreadable_is_named_with_its_line():
    with pytest.raises(BadRequest) as refused:
        parse_required_identifiers(["1", "", "foo", "2 bar"])
    assert "'foo' (line 3)" in refused.value.message
    assert "'2 bar' (line 4)" in refused.value.message


numbers = st.integers(1, 99_999_999)
identifiers = st.one_of(
    numbers.map(str),
    numbers.map("PMC{}".format),
    numbers.map("10.1000/x{}".format),
    st.tuples(st.integers(1, 12), numbers).map(lambda n: f"26{n[0]:02}.{n[1] % 100_000:05}"),
)
slips = st.one_of(
    st.text("abcdefgh!?.-", min_size=1, max_size=20),
    numbers.map("PMCx{}".format),
    numbers.map("10.10/{}".format),
    st.integers(1_000_000_000, 10**15).map(str),
    st.just("https://example.org/paper"),
).filter(lambda text: text.strip() and not Ids.maybe(text))


@given(st.lists(identifiers, min_size=5, max_size=40), st.lists(slips, max_size=4), st.randoms())
def test_a_slip_spoils_no_other_line(good, bad, order):
    lines = [*good, *bad]
    order.shuffle(lines)
    entries = parse_required_identifiers(lines)
    assert [e.ids for e in entries if e.ids] == [Ids.parse(one) for one in lines if one in good]
    assert [e.asked for e in entries if not e.ids] == [one.strip() for one in lines if one in bad]
    assert all(build_no_identifier_error(one).hints for one in bad)


separators = st.sampled_from([*" \t\n", ", ", "; "])


@given(st.lists(identifiers, min_size=3, max_size=40), slips, separators)
def test_nor_any_other_of_its_line(good, slip, between):
    at = len(good) // 2
    text = between.join([*good[:at], slip, *good[at:]])
    entries = parse_required_identifiers(text.split("\n"))
    assert [entry.ids for entry in entries if entry.ids] == [Ids.parse(one) for one in good]
    assert any(slip.strip() in entry.asked for entry in entries if not entry.ids)


def test_a_number_among_words_is_no_pmid():
    """Prose is full of numbers: none of them is taken for a paper."""
    lines = ["31452104", "31452105", "12 patients were treated in 1998", "Smith, 2019", "Li 2; 7"]
    assert [entry.asked for entry in parse_identifier_lines(lines) if not entry.ids] == lines[2:]


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_nothing_is_said_to_be_nothing(lines):
    with pytest.raises(BadRequest, match="No identifier"):
        parse_required_identifiers(lines)
