"""Which paper a text is: identifiers, marks, the wording of abstracts, and what a body is about."""

from dataclasses import replace

import pytest

from tests.judges.test_check import ABSTRACT, PAPER, article
from tests.own_words import prose
from utils.judges.agreement import find_body_mismatch
from utils.judges.identity import judge_identity, measure_shared_author_share
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document
from utils.model.verdicts import DOUBT, REFUSE

OTHER_ABSTRACT = (
    "Wolves follow the herds of red deer into the lower valleys when snow closes the passes. We"
    " tracked eleven packs with collars through four winters and examined each carcass that they"
    " left. Packs killed older deer in deep snow, and calves after mild weather. Losses of cattle"
    " rose where deer were few, which makes counting deer the best forecast of damage to farms."
)
NAMED = replace(article(), authors=("Doe", "Öztürk", "Li"))
NAMELESS = replace(NAMED, ids=Ids())
OTHER_DOI = replace(NAMED, ids=Ids(doi="10.1000/other"))


def retitled(document: Document, title: str) -> Document:
    text = document.markdown.replace(document.title, title)
    return replace(document, title=title, markdown=text)


def with_abstract(document: Document, abstract: str) -> Document:
    text = document.markdown.replace(document.abstract, abstract)
    return replace(document, abstract=abstract, markdown=text)


@pytest.mark.parametrize("text", [NAMED, NAMELESS])
def test_a_text_of_the_paper_is_the_same_without_doubts(text):
    found = judge_identity(text, PAPER)
    assert (found.answer, found.signs) == ("same", ())


@pytest.mark.parametrize(
    "title",
    [
        f"{PAPER.title}. Part II",
        f"{PAPER.title}: study protocol",
        f"Comment on: {PAPER.title}",
        f"{PAPER.title} 2020",
    ],
)
def test_marks_are_overridden_by_neither_authors_nor_abstract(title):
    assert judge_identity(retitled(NAMELESS, title), PAPER).answer == "other"


HEADED = NAMED.markdown.replace(PAPER.title, "Winter grazing of red deer in the upper valleys")


@pytest.mark.parametrize(
    ("authors", "answer"),
    [
        ("", "other"),
        ("Doe, Öztürk and Li", "other"),
        ("Doe, Öztürk and Li. https://doi.org/10.1000/deer", "other"),
        ("Doe, Öztürk and Li. https://doi.org/10.1000/bees", "same"),
    ],
)
def test_tags_of_a_paper_above_the_article_of_other_people_are_not_the_paper(authors, answer):
    text = HEADED.replace(PAPER.abstract, OTHER_ABSTRACT).replace("##", f"{authors}\n\n##", 1)
    found = judge_identity(replace(NAMED, markdown=text, abstract=PAPER.abstract), PAPER)
    assert found.answer == answer
    assert "under a different title" in f"{found.evidence} {found.signs}"


def test_a_text_printed_years_after_the_paper_is_doubted():
    paper = replace(PAPER, published="2004")
    for line, doubted in (("Hive 2019;12:3-9", True), ("Hive 2005;2:3-9", False), ("2019", False)):
        text = NAMED.markdown.replace("## Abstract", f"{line}\n\n## Abstract")
        found = judge_identity(replace(NAMED, markdown=text), paper)
        assert [sign.name for sign in found.signs] == ["other year"] * doubted


def test_marks_beside_the_papers_own_identifier_make_a_doubt():
    found = judge_identity(retitled(NAMED, f"{PAPER.title}. Part II"), PAPER)
    assert found.answer == "same"
    assert [sign.name for sign in found.signs] == ["title marks"]


def test_a_notice_that_prints_the_papers_doi_is_not_the_paper():
    assert judge_identity(retitled(NAMED, f"Erratum: {PAPER.title}"), PAPER).answer == "other"


def test_a_telling_word_exchanged_makes_the_abstracts_decide():
    wasps = retitled(NAMELESS, PAPER.title.replace("honeybees", "bumblebees"))
    assert judge_identity(wasps, PAPER).answer == "same"
    assert judge_identity(with_abstract(wasps, OTHER_ABSTRACT), PAPER).answer != "same"
    assert judge_identity(wasps, replace(PAPER, abstract="")).answer == "unknown"


def test_an_abstract_that_differs_is_evidence_against_the_same_title():
    assert judge_identity(with_abstract(NAMELESS, OTHER_ABSTRACT), PAPER).answer == "other"


def test_highlights_in_place_of_the_abstract_are_no_other_abstract():
    bullets = "\u2022" + OTHER_ABSTRACT.replace(". ", ".\u2022")
    assert judge_identity(with_abstract(NAMED, OTHER_ABSTRACT), PAPER).signs
    assert judge_identity(with_abstract(NAMED, bullets), PAPER).signs == ()


def test_shared_authors_do_not_excuse_another_doi():
    assert judge_identity(OTHER_DOI, PAPER).answer == "same"
    assert judge_identity(OTHER_DOI, replace(PAPER, abstract="")).answer == "other"
    preprint = replace(OTHER_DOI, ids=Ids(doi="10.1101/2021.03.04.123456"))
    assert judge_identity(preprint, replace(PAPER, abstract="")).answer == "same"


def test_dois_that_count_versions_do_not_clash():
    first = replace(PAPER, ids=Ids(doi="10.12688/f1000research.7.1"), abstract="")
    second = replace(NAMED, ids=Ids(doi="10.12688/f1000research.7.2"))
    assert judge_identity(second, first).answer == "same"


def test_the_head_of_one_paper_on_the_body_of_another_is_not_the_paper():
    paper = replace(PAPER, abstract=OTHER_ABSTRACT)
    text = with_abstract(NAMED, OTHER_ABSTRACT)
    assert judge_identity(text, paper).answer == "other"
    assert judge_identity(replace(text, ids=Ids()), paper).answer == "other"


def test_a_short_title_alone_does_not_tell():
    record = replace(PAPER, title="Memory of honeybees", abstract="", authors=(Author("Quist"),))
    assert judge_identity(retitled(NAMELESS, record.title), record).answer != "same"


def test_other_authors_speak_against_the_same_title():
    record = replace(PAPER, abstract="", authors=(Author("Quist"), Author("Vos")))
    assert judge_identity(NAMELESS, record).answer != "same"


def test_a_byline_that_a_reader_ran_into_the_title_tells_no_marks():
    title = f"{PAPER.title} Jane Doe, A. Öztürk, L. Li • 1Institute of Bees, 2004"
    assert judge_identity(retitled(NAMELESS, title), PAPER).answer == "same"
    part = f"{PAPER.title}. Part II. Jane Doe, A. Öztürk, L. Li • 1Institute of Bees, 2004"
    assert judge_identity(retitled(NAMELESS, part), PAPER).answer == "other"


def test_a_mark_in_the_first_line_counts_where_no_title_was_read():
    untitled = replace(NAMELESS, title="")
    assert judge_identity(untitled, PAPER).answer == "same"
    part = untitled.markdown.replace(PAPER.title, f"{PAPER.title}. Part II")
    assert judge_identity(replace(untitled, markdown=part), PAPER).answer == "other"


@pytest.mark.parametrize(("cited", "answer"), [(True, "same"), (False, "other")])
def test_a_doi_that_a_pdf_only_cites_is_not_its_own(cited, answer):
    markdown = OTHER_DOI.markdown + "\n4. Roe R. Hive. 2001. doi:10.1000/other\n"
    if not cited:
        markdown = f"doi:10.1000/other\n\n{markdown}"
    printed = replace(OTHER_DOI, pages=4, markdown=markdown)
    assert judge_identity(printed, replace(PAPER, abstract="")).answer == answer


def test_the_doi_of_a_part_does_not_clash():
    part = replace(OTHER_DOI, ids=Ids(doi=f"{PAPER.ids.doi}.001"))
    assert judge_identity(part, replace(PAPER, abstract="")).answer == "same"


def test_a_pdf_that_prints_none_of_the_authors_is_not_the_paper_by_its_title():
    record = replace(PAPER, abstract="", authors=(Author("Quist"), Author("Vos")))
    anonymous = replace(NAMELESS, authors=())
    assert judge_identity(anonymous, record).answer == "same"
    assert judge_identity(replace(anonymous, pages=4), record).answer == "unknown"


def test_a_preprint_of_the_same_title_needs_no_authors_where_the_record_has_none():
    preprint = replace(OTHER_DOI, ids=Ids(doi="10.1101/2021.03.04.123456"))
    assert judge_identity(preprint, replace(PAPER, abstract="", authors=())).answer == "same"


def test_a_summary_at_the_end_is_not_another_abstract():
    text = f"{NAMELESS.markdown}\n{prose(1200, 40)}\n\n## Summary\n\n{OTHER_ABSTRACT}\n"
    text = text.replace(ABSTRACT, "")
    found = replace(NAMELESS, markdown=text, abstract=OTHER_ABSTRACT)
    assert judge_identity(found, PAPER).answer == "same"


def test_a_record_whose_abstract_is_the_page_around_it_is_compared_by_the_texts_own():
    menu = " ".join(f"reprints{one}{two}" for one in "abcdefghijklmnopqrst" for two in "abcdefghij")
    scraped = f"Download PDF {ABSTRACT} {menu}"
    text = article(times=12)
    assert judge_identity(text, replace(PAPER, abstract=scraped)).answer == "same"
    assert find_body_mismatch(text.markdown, scraped, "") is not None


def test_a_notice_need_not_speak_of_its_title():
    title = "Correction: Ultrasonic hunting calls of European bats in the woodland"
    body = f"# {title}\n\n{prose(900)}"
    assert find_body_mismatch(body, "", title.partition(": ")[2]) is not None
    notice = Document(body, title=title)
    assert judge_identity(notice, replace(PAPER, title=title, abstract="")).answer == "same"


def test_few_pairs_and_few_long_words_refuse_what_pairs_alone_leave_in_doubt():
    shared = "We tracked eleven packs with collars."
    alone = find_body_mismatch(f"{prose(900)} {shared}", OTHER_ABSTRACT, "")
    assert alone is not None
    assert alone.weight == REFUSE
    wolves = " ".join(word for word in OTHER_ABSTRACT.split()[::-1] if len(word) > 5)
    beside = find_body_mismatch(f"{prose(900)} {shared} {wolves}", OTHER_ABSTRACT, "")
    assert beside is not None
    assert beside.weight == DOUBT


def test_initials_in_the_text_agree_with_names_in_full():
    assert measure_shared_author_share(("Talita O. Assis",), (), "T. O. Assis, A. Roe") == 1.0
    assert measure_shared_author_share(("Talita O. Assis",), ("Roe",), "A. Roe") == 0.0


def test_a_body_in_another_language_says_nothing():
    body = " ".join(
        ["Las abejas regresan a la flor y al color que han aprendido en el campo."] * 60
    )
    assert find_body_mismatch(body, ABSTRACT, PAPER.title) is None
    found = find_body_mismatch(prose(900), OTHER_ABSTRACT, PAPER.title)
    assert found is not None
    assert found.verdict == "wrong_paper"
    assert find_body_mismatch(prose(900), ABSTRACT, PAPER.title) is None
    assert find_body_mismatch(prose(300), OTHER_ABSTRACT, PAPER.title) is None
