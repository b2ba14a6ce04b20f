"""File names: those of the older program, and safe on every system."""

import pytest

from utils.model.identifiers import Ids
from utils.shelf.paper_file import append_short_hash, build_file_stem, parse_file_name, to_safe_name


def test_plain_dois_are_named_as_the_older_program_did() -> None:
    assert (
        build_file_stem(Ids(doi="10.1016/S0140-6736(20)30183-5")) == "10.1016_s0140-6736(20)30183-5"
    )
    assert build_file_stem(Ids(doi="10.1000/a:b/c")) == "10.1000_a_b_c"


HARD = [
    "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2", 'a"b', "a|b", "a?b",
    "a*b", "a\\b", "a\nb", "a\x00b", "a\u202eb", "größe", "../../etc/passwd", "..", ".hidden",
    "trailing.", "trailing ", " leading", "-rf", "con", "COM1.x", "nul", "x" * 300,
    "10.1/" + "ü" * 200,
]  # fmt: skip


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_what_a_system_would_stumble_over_is_replaced_and_marked(text: str) -> None:
    name = to_safe_name(text)
    assert name != text
    assert name == append_short_hash(
        name.rpartition("-")[0], text
    )  # the mark is the text's own hash
    assert len(name) <= 200
    assert name.isascii()
    assert not set(name) & set('<>:"/\\|?*')
    assert name.isprintable()
    assert name[0] not in ". -"
    assert name[-1] not in ". "


def test_hard_names_stay_apart() -> None:
    assert len({to_safe_name(text) for text in HARD}) == len(HARD)
    assert to_safe_name("a<b") != to_safe_name("a>b")


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("pmid_7.txt", Ids(pmid="7")),
        ("pmid_7_abstract.txt", Ids(pmid="7")),
        ("pmcid_PMC7.txt", Ids(pmcid="PMC7")),
        ("10.1038_Nature12345.txt", Ids(doi="10.1038/nature12345")),
        ("10.1000_a_b.txt", Ids()),
        ("notes.txt", Ids()),
        ("pmid_.txt", Ids()),
        ("pmid_0.txt", Ids()),
    ],
)
def test_a_name_says_only_what_is_beyond_doubt(name: str, ids: Ids) -> None:
    assert parse_file_name(name) == ids
