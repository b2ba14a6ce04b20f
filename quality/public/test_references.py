"""Public citations are split, answered and counted as the module says."""

from dataclasses import replace

from quality.public.references import (
    RecordIndex,
    VerdictScore,
    check_citations,
    judge,
    print_fields,
    read_arxiv_records,
    split_halves,
    to_comparable,
)

TRUE = "Jane Roe, Adam Poe, and Li Wu. Green mosses and bright light in deep forests. 2025."
FALSE = "Jane Roe, Adam Poe, and Bo Smith. Green mosses and bright light in deep forests. 2025."
OTHER = "Bo Smith. Ferns of the northern lakes and rivers of Asia. 2024."


def test_a_changed_copy_is_told_from_its_original():
    index = RecordIndex(read_arxiv_records([TRUE]))
    assert [index.has_title(one) for one in (TRUE, FALSE, OTHER)] == [True, True, False]
    true, false = check_citations([TRUE, FALSE], index)
    assert (judge(true), judge(false)) == ("as cited", "cited wrongly")
    assert false.differences[0].startswith("authors: Bo Smith")


def test_what_no_record_can_answer_is_never_an_accusation():
    score = VerdictScore()
    [true] = check_citations([TRUE], RecordIndex(read_arxiv_records([TRUE])))
    score.add(None, OTHER, is_true=True)
    score.add(replace(true, status="unsure"), TRUE, is_true=True)
    score.add(true, FALSE, is_true=False)
    assert score.true == {"no record": 1, "could not tell": 1}
    assert score.faulty == {"as cited": 1}
    assert score.mistakes == [f"faulty: {FALSE} ()"]


def test_halves_do_not_depend_on_the_order_of_the_texts():
    first, second = split_halves(["a", "b", "c"])
    assert (first, second) == split_halves(["c", "a", "b"])
    assert (len(first), len(second)) == (2, 1)


def test_a_field_counts_by_its_letters_and_digits(capsys):
    label = to_comparable({"title": "On Moss.", "authors": "J. Roe et al.", "first page": "pp 5-9"})
    assert (label["title"], label["authors"], label["first page"]) == ("onmoss", "roe", "5")
    print_fields("ours", [label], [{**label, "title": "onmosses"}])
    assert "title 0.000, authors 1.000" in capsys.readouterr().out
