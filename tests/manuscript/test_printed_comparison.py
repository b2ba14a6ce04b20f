"""A printed reference is compared with a record by title, authors and year."""

import pytest

from utils.manuscript.printed_comparison import find_printed_differences, is_entry_of_paper
from utils.manuscript.printed_entries import extract_printed_fields
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

RECORD = Paper(
    Ids(doi="10.1000/moss.1"),
    title="Optimal growth of aperiodic mosses in deep forests",
    authors=(
        Author(family="Roe", given="Jane"),
        Author(family="van der Poe", given="Adam"),
        Author(family="Li", given="Xiaoping"),
    ),
    journal="Bryology",
    published="2021-05-01",
)


def differences(words: str, record: Paper = RECORD) -> list[str]:
    return [one.partition(":")[0] for one in find_printed_differences(words, record)]


@pytest.mark.parametrize(
    "words",
    [
        (
            "Jane Roe, Adam van der Poe, and Xiaoping Li. Optimal growth of aperiodic mosses in "
            "deep forests. Bryology, 3(1):1-9, 2021."
        ),
        (
            "Roe J, van der Poe A, Li X. Optimal growth of aperiodic mosses in deep forests. "
            "Bryology. 2021;3(1):1-9."
        ),
        (
            "Roe, J., van der Poe, A., & Li, X. (2021). Optimal growth of aperiodic mosses in deep "
            "forests. Bryology, 3(1), 1-9."
        ),
        (
            "J. Roe, A. van der Poe, X. Li, “Optimal growth of aperiodic mosses in deep forests,” "
            "Bryology, vol. 3, no. 1, pp. 1-9, 2021."
        ),
        "Jane Roe, et al. Optimal growth of aperiodic mosses in deep-forests. Bryology, 2021.",
        "J. Roe et al. Optimal growth of aperiodc mosses in deep forests. Bryology, 2021.",
        (
            "Jane Roe, Adam van der Poe, and Li Xiaoping. Optimal growth of aperiodic mosses in "
            "deep forests. In Proceedings of the Moss Society, pages 1-9, 2022."
        ),
    ],
)
def test_a_reference_in_any_style_agrees_with_its_record(words: str) -> None:
    assert is_entry_of_paper(words, RECORD)
    assert not differences(words)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Jane Roe and Adam van der Poe. Optimal growth of periodic mosses in deep forests. 2021.",
         "title"),
        ("Jane Roe and Xiaoping Li. Optimal growth of aperiodic ferns in deep forests. 2021.",
         "title"),
        ("Jane Roe and Mary Smith. Optimal growth of aperiodic mosses in deep forests. 2021.",
         "authors"),
        ("Jame Roe and Xiaoping Li. Optimal growth of aperiodic mosses in deep forests. 2021.",
         "authors"),
        ("Roe Jane and Xiaoping Li. Optimal growth of aperiodic mosses in deep forests. 2021.",
         "authors"),
        ("Jane Roe. Optimal growth of aperiodic mosses in deep forests. Bryology, 2017.", "year"),
    ],
)  # fmt: skip
def test_the_changed_field_is_named(words: str, field: str) -> None:
    assert is_entry_of_paper(words, RECORD)
    assert differences(words) == [field]


@pytest.mark.parametrize(
    "words",
    [
        "Jane Roe. On ferns. In Optimal growth of aperiodic mosses in deep forests, 2021.",
        "Bo Wu. Growth of mosses. Bryology, 2021.",
        "Bo Wu. Optimal growth of aperiodic mosses in deep lakes and rivers of Asia. 2021.",
    ],
)
def test_another_work_is_not_the_record(words: str) -> None:
    assert not is_entry_of_paper(words, RECORD)


@pytest.mark.parametrize(
    ("words", "title", "journal", "place"),
    [
        ("M .Fattori ,J .Roe ,Nat .Phys .5 ( 2009)586 .", "", "Nat. Phys", ("5", "586", "2009")),
        ("Roe J., Poe A., 2012, ApJ, 756, 93", "", "ApJ", ("756", "93", "2012")),
        ("A. Roe, Sudakov safety in moss, Phys. Rev. D 91 (2015) 111501 [arXiv:1502.01719]",
         "Sudakov safety in moss", "Phys. Rev. D", ("91", "111501", "2015")),
        (("Gokul Roe, Rutvij H Poe, and Sang Li. Moss and light: A survey. In Proceedings of the "
         "Moss Society, volume 139, pp. 8748-8763, 2021."),
         "Moss and light: A survey", "Proceedings of the Moss Society", ("139", "8748", "2021")),
        ("[12] Roe, J. Moss and light. J. Moss 12, 33-35 (2000).", "Moss and light", "J. Moss",
         ("12", "33", "2000")),
    ],
)  # fmt: skip
def test_fields_are_read_from_styles_with_and_without_titles(
    words: str, title: str, journal: str, place: tuple[str, str, str]
) -> None:
    paper = extract_printed_fields(words)
    assert (paper.title, paper.journal) == (title, journal)
    assert (paper.volume, paper.pages.partition("-")[0], paper.year) == place
    assert paper.authors[0].family in ("Fattori", "Roe")
