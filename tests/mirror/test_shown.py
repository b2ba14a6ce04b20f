"""What the index stores of a passage is read whole, or reported as damaged."""

import pytest

from utils.mirror.shown import pack_shown, unpack_shown

RECORD = {"pmid": 5, "doi": "10.1/a", "pmcid": None, "arxiv": None, "title": "Corals, ß\ud800"}
ROW = {
    "kind": "abstract",
    "chunk_id": "abstract-1",
    "section": "Abstract",
    "ordinal": 0,
    "start": 0,
    "end": 9,
    "text": "What corals say of corals.",
}


def test_a_damaged_value_is_never_taken_for_a_whole_one():
    whole = pack_shown(26, RECORD, ROW)
    shown = unpack_shown(whole)
    assert (shown["text"], shown["place"]) == (ROW["text"], 26)
    assert shown["ids"] == {"pmid": 5, "doi": "10.1/a"}
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]):
            with pytest.raises(ValueError, match="damaged"):
                unpack_shown(damaged)
