"""A summary of a paper is not the paper, however many works it cites."""

from typing import Any

import pytest

from tests.own_words import sentences
from utils.judges.commentary import find_commentary_signs
from utils.judges.signs import JudgedCase, weigh_signs
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper

ABSTRACT = "Bees that had learned a colour came back to it for six days, and forgot it in rain."


def outcome(every: int, title: str = "Bees and light") -> str:
    said = [
        f"The authors report that {text[0].lower()}{text[1:]}" if number % every == 0 else text
        for number, text in enumerate(sentences(120))
    ]
    document = Document(f"# {title}\n\n## Overview\n\n" + "\n\n".join(said))
    case = JudgedCase(document, Paper(Ids(), title=title, abstract=ABSTRACT), ABSTRACT)
    return weigh_signs(find_commentary_signs(case), "").verdict


@pytest.mark.parametrize(("every", "verdict"), [(2, "not_a_paper"), (60, "full_text")])
def test_a_text_that_keeps_speaking_of_the_authors_is_about_the_paper(
    every: int, verdict: str
) -> None:
    assert outcome(every) == verdict


ABOUT = {
    "reports of reviewers": ("# Bees and light", ("Reviewer 1", "Reviewer #2"), "doubtful"),
    "digest and letters": ("# Bees and light", ("eLife digest", "Decision letter"), "doubtful"),
    "a supplement": ("# Supporting information for: Bees and light", ("Colours",), "doubtful"),
    "notes of a supplement": ("# Bees and light", ("Supplementary note S1", "Text S2"), "doubtful"),
    "the paper": ("# Bees and light", ("Colours", "Scents", "Supplementary material"), "full_text"),
    "a reviewed paper": ("# Bees and light", ("Colours", "Scents", "Reviewer 1"), "full_text"),
}


@pytest.mark.parametrize("name", ABOUT)
def test_headings_of_reviews_and_supplements_tell_what_a_text_is(name: str) -> None:
    title, headings, verdict = ABOUT[name]
    parts = [
        f"## {heading}\n\n{' '.join(sentences(20, 20 * number))}"
        for number, heading in enumerate(headings)
    ]
    document = Document("\n\n".join([title, *parts]))
    case = JudgedCase(document, Paper(Ids(), title="Bees and light", abstract=ABSTRACT), ABSTRACT)
    assert weigh_signs(find_commentary_signs(case), "").verdict == verdict


def verdict_of(said: str) -> str:
    paper = Paper(Ids(), title="Bees and light", abstract=ABSTRACT)
    case = JudgedCase(Document(f"# Bees and light\n\n{said}"), paper, ABSTRACT)
    return weigh_signs(find_commentary_signs(case), "").verdict


def test_quotations_of_what_somebody_says_make_news() -> None:
    told = "\n\n".join(sentences(100))
    quoted = "\n\n".join(f"“{text}” says the first author." for text in sentences(6, 200))
    interview = "\n\n".join(f"“{text}” (woman, 34)" for text in sentences(6, 200))
    assert verdict_of(f"{told}\n\n{quoted}") == "doubtful"
    assert verdict_of(f"{told}\n\n{interview}") == "full_text"


def test_points_without_sentences_are_slides() -> None:
    def slides(number: int) -> str:
        points = [f"- {' '.join(text.split()[:9])}" for text in sentences(number, 200)]
        return "\n".join(points)

    told = "\n\n".join(sentences(100))
    assert verdict_of(f"{told}\n\n{slides(120)}") == "doubtful"
    assert verdict_of(f"{told}\n\n{slides(10)}") == "full_text"
    assert verdict_of("\n".join(f"- {text}" for text in sentences(100))) == "full_text"
    menu = "\n".join(f"- [Issues of the year {n}](https://a.test/{n})" for n in range(400))
    assert verdict_of(f"{told}\n\n{menu}") == "full_text"


def test_research_on_publishing_is_only_doubted() -> None:
    assert outcome(2, "How authors write papers") == "doubtful"


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        ({}, "doubtful"),
        ({"publication_types": ("Comment",)}, "full_text"),
        ({"title": "Retraction: Bees and light"}, "full_text"),
    ],
)
def test_remarks_and_notices_without_an_abstract_may_speak_of_the_authors(
    record: dict[str, Any], verdict: str
) -> None:
    said = "\n\n".join(f"The authors say: {text}" for text in sentences(40))
    paper = Paper(Ids(), **{"title": "Bees and light", **record})
    case = JudgedCase(Document(f"# {paper.title}\n\n{said}"), paper, "")
    assert weigh_signs(find_commentary_signs(case), "").verdict == verdict
