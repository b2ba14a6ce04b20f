"""One paper under several names is one paper; a contradiction is told, not hidden."""

from hypothesis import given
from hypothesis import strategies as st

from utils.lists.pasted import ListEntry, merge_duplicate_entries
from utils.model.identifiers import Ids


def entry(asked, **names):
    return ListEntry(asked, Ids(**names))


def test_entries_that_share_an_identifier_are_one_paper_under_its_first_name():
    found = merge_duplicate_entries(
        [entry("a", pmid="1"), entry("b", pmid="1", doi="10.1/a"), entry("c", pmid="2")]
    )
    assert found.papers == (entry("a", pmid="1", doi="10.1/a"), entry("c", pmid="2"))
    assert (found.duplicates, found.contradictions) == (1, ())


def test_two_papers_become_one_when_a_later_entry_ties_them_together():
    found = merge_duplicate_entries(
        [
            entry("a", pmid="1"),
            entry("b", doi="10.1/a"),
            entry("c", pmcid="PMC7"),
            entry("d", pmid="1", doi="10.1/a", pmcid="PMC7"),
        ]
    )
    assert found.papers == (entry("a", pmid="1", doi="10.1/a", pmcid="PMC7"),)
    assert found.duplicates == 3


def test_contradictions_are_kept_apart_and_named():
    found = merge_duplicate_entries(
        [entry("a", doi="10.1/a", pmid="1"), entry("b", doi="10.1/a", pmid="2")]
    )
    assert [paper.ids.pmid for paper in found.papers] == ["1", "2"]
    assert found.duplicates == 0
    [said] = found.contradictions
    assert "a and b share doi:10.1/a" in said
    assert "pmid 1 and pmid 2" in said


def test_a_contradiction_that_arises_from_merging_is_seen():
    found = merge_duplicate_entries(
        [
            entry("a", pmid="1", doi="10.1/a"),
            entry("b", doi="10.1/b"),
            entry("c", pmid="1", doi="10.1/b"),
        ]
    )
    assert len(found.papers) == 2
    assert len(found.contradictions) == 1


def test_without_an_identifier_the_same_words_are_the_same_paper():
    found = merge_duplicate_entries(
        [entry("Smith 2019. A title"), entry("SMITH 2019.  A title"), entry("Other")]
    )
    assert [paper.asked for paper in found.papers] == ["Smith 2019. A title", "Other"]


IDS = st.builds(
    Ids,
    doi=st.sampled_from(["", "10.1/a", "10.1/b", "10.1/c"]),
    pmid=st.sampled_from(["", "1", "2", "3"]),
    pmcid=st.sampled_from(["", "PMC1", "PMC2"]),
)


@given(st.lists(IDS, max_size=20))
def test_nothing_is_lost_and_no_paper_contradicts_itself(wanted):
    found = merge_duplicate_entries(
        ListEntry(str(number), ids) for number, ids in enumerate(wanted)
    )
    assert len(found.papers) + found.duplicates == len(wanted)
    for ids in filter(None, wanted):
        assert any(set(ids.names()) <= set(paper.ids.names()) for paper in found.papers)
    if not found.contradictions:
        names = [name for paper in found.papers for name in paper.ids.names()]
        assert len(names) == len(set(names))
