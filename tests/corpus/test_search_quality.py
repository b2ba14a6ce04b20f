"""What a record speaks for its paper: golden papers, and the rules one by one."""

from datetime import date

import pytest

from utils.corpus.quality import MAX_TOTAL, score_quality
from utils.model.identifiers import Ids
from utils.model.paper import Notice, Paper
from utils.readers.pubmed import iterate_records

TODAY = date(2025, 8, 17)


def numbers(today=TODAY, **about):
    about = {"ids": Ids(pmid="1"), "journal": "J", "published": "2024", **about}
    return score_quality(Paper(**about), today)


def test_the_example_of_the_document():
    quality = numbers(
        journal="The New England Journal of Medicine",
        publication_types=("Randomized Controlled Trial",),
        published="2024-05-11",
        mesh=("Humans", "*Obesity/drug therapy"),
    )
    assert quality.to_row() == {"design": 2, "recency": 2, "journal": 2, "human": 2, "total": 8}


def test_the_best_record_there_can_be():
    quality = numbers(publication_types=("Meta-Analysis", "Journal Article"), mesh=("Humans",))
    assert quality.total == MAX_TOTAL


@pytest.mark.parametrize(
    ("types", "design"),
    [
        (("Systematic Review", "Journal Article", "Review"), 3),
        (("Journal Article", "Randomized Controlled Trial", "Comment"), 2),
        (("Journal Article", "Controlled Clinical Trial"), 2),
        (("Journal Article", "Observational Study"), 1),
        (("Journal Article", "Clinical Trial, Phase II"), 1),
        (("Journal Article",), 1),
        (("Journal Article", "Research Support, N.I.H., Extramural"), 1),
        (("Case Reports", "Journal Article"), 0),
        (("Case Reports", "Journal Article", "Retracted Publication"), 0),
        (("Editorial", "Comment"), 0),
        (("Letter",), 0),
        (("Published Erratum",), 0),
        (("Preprint",), None),
        ((), None),
    ],
)
def test_the_design_is_read_from_the_publication_types(types, design):
    assert numbers(publication_types=types).design == design


@pytest.mark.parametrize(
    ("published", "recency"),
    [("2026-01", 2), ("2020", 2), ("2019-12-31", 1), ("2015", 1), ("2014", 0), ("", None)],
)
def test_recency_counts_from_the_day_that_is_asked(published, recency):
    assert numbers(published=published).recency == recency


def test_the_same_paper_ages():
    assert numbers(date(2031, 1, 1)).recency == 1


@pytest.mark.parametrize(
    ("mesh", "human"),
    [
        (("Humans", "Adult"), 2),
        (("Animals", "Humans", "Mice"), 1),
        (("Animals", "Rats"), 0),
        (("*Coral Reefs",), 0),
        (("Humans/*genetics",), 2),
        ((), None),
    ],
)
def test_subjects_are_read_from_mesh(mesh, human):
    assert numbers(mesh=mesh).human == human


def test_a_journal_counts_by_what_nlm_says_of_it():
    assert numbers(mesh=("Humans",)).journal == 2
    assert numbers().journal == 1
    assert numbers(journal="").journal == 0
    assert numbers(journal="bioRxiv", publication_types=("Preprint",)).journal == 0


@pytest.mark.parametrize(
    "retracted",
    [
        {"publication_types": ("Journal Article", "Retracted Publication")},
        {"notices": (Notice("retraction", "J. 2025"),)},
    ],
)
def test_a_retracted_paper_has_nothing_in_total(retracted):
    quality = numbers(mesh=("Humans",), **retracted)
    assert quality.total == 0
    assert quality.human == 2


def test_what_a_record_does_not_say_is_null_and_adds_nothing():
    quality = score_quality(Paper(Ids(doi="10.1/a")), TODAY)
    assert quality.to_row() == {
        "design": None,
        "recency": None,
        "journal": 0,
        "human": None,
        "total": 0,
    }


@pytest.mark.shared
def test_real_records_stay_within_the_scale(shared):
    import gzip

    seen = set()
    for file in sorted((shared / "pubmed" / "bulk").glob("*.gz")):
        with gzip.open(file) as stream:
            for paper in iterate_records(stream):
                if isinstance(paper, Paper):
                    quality = score_quality(paper, TODAY)
                    assert 0 <= quality.total <= MAX_TOTAL
                    seen.add((quality.design, quality.human))
    assert {design for design, _ in seen} == {None, 0, 1, 2, 3}
    assert {human for _, human in seen} == {None, 0, 1, 2}
