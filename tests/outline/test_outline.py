"""The sections of a text by title and place."""

from functools import partial

import pytest

from tests.readers.test_html_work import lines_run
from utils.model.paper import Role, Section
from utils.outline import (
    MAX_HEADINGS,
    build_outline,
    collect_declared_section_types,
    find_outermost_sections,
    iterate_sections_with_own_roles,
)


def written(*headings: str) -> str:
    """A text with these headings, each with a sentence under it."""
    return "".join(f"{heading}\n\nSome words.\n\n" for heading in headings)


def roles(*headings: str, **words: str) -> list[tuple[Role, ...]]:
    return [section.roles for section in build_outline(written(*headings), words)]


def test_a_subsection_is_what_it_stands_in() -> None:
    assert roles("# T", "## 2 Methods", "### Statistical analysis", "### Funding", "## Notes") == [
        (),
        ("methods",),
        ("methods",),
        ("funding", "methods"),
        (),
    ]


def test_what_a_structured_abstract_calls_methods_is_abstract() -> None:
    found = build_outline(written("# T", "## Abstract", "### Methods", "## Patients and methods"))
    assert [section.title for section in find_outermost_sections(found, "methods")] == [
        "Patients and methods"
    ]
    assert found[2].roles == ("abstract",)


def test_the_methods_of_a_letter_to_the_authors_are_not_the_papers() -> None:
    found = build_outline(written("# T", "## Methods", "## Decision letter", "### Methods"))
    assert [section.roles for section in found[2:]] == [("peer review",)] * 2


def test_a_study_design_under_no_parent_is_found_where_there_are_no_methods() -> None:
    alone = build_outline(
        written("# T", "## Introduction", "## 2.1 Study design", "## 2.2 Participants")
    )
    assert [s.title for s in find_outermost_sections(alone, "methods")] == [
        "2.1 Study design",
        "2.2 Participants",
    ]
    beside = build_outline(
        written("# T", "## Methods", "## Results", "### Participants", "## Sampling")
    )
    assert [s.roles for s in beside] == [(), ("methods",), ("results",), ("results",), ()]


def test_the_outermost_of_a_role_are_those_of_the_highest_level() -> None:
    found = build_outline(
        written("# T", "## Study 1", "### Method", "#### Materials", "## Study 2", "### Method")
    )
    assert [s.start for s in find_outermost_sections(found, "methods")] == [
        found[2].start,
        found[5].start,
    ]
    found = build_outline(
        written("# T", "## Study 1", "### Methods", "## General methods", "## Methodik")
    )
    assert [s.title for s in find_outermost_sections(found, "methods")] == ["Methodik"]


@pytest.mark.parametrize(
    ("headings", "role"),
    [
        (("# T", "## Summary", "## Introduction", "## Results"), "abstract"),
        (("# T", "## Introduction", "## Results", "## Summary"), "conclusion"),
    ],
)
def test_a_summary_opens_a_paper_or_ends_it(headings: tuple[str, ...], role: Role) -> None:
    [found] = [s for s in build_outline(written(*headings)) if s.title == "Summary"]
    assert found.roles == (role,)


def test_a_main_text_introduces_only_what_follows_it() -> None:
    assert roles("# T", "## Main text", "## Methods", "## Results")[1] == ("introduction",)
    assert roles("# T", "## Main text", "## Methods")[1] == ()  # the results are in it
    assert roles("# T", "## Introduction", "## Main text", "## Results")[2] == ()


def test_the_title_of_a_paper_has_no_role() -> None:
    assert roles("# Introduction", "## Methods") == [(), ("methods",)]
    assert roles("# Introduction", "# Methods") == [("introduction",), ("methods",)]


def test_numbers_tell_levels_that_a_page_hides() -> None:
    found = build_outline(
        written("# T", "## 1 Introduction", "### 2 Growth", "### 2.1 Light", "## 3 Conclusion")
    )
    assert [(s.level, s.roles) for s in found] == [
        (1, ()),
        (2, ("introduction",)),
        (2, ()),
        (3, ()),
        (2, ("conclusion",)),
    ]


def test_no_introduction_holds_the_conclusion() -> None:
    found = build_outline(
        written("# T", "## INTRODUCTION", "### GROWTH", "### CONCLUSIONS AND OUTLOOK")
    )
    assert [s.roles for s in found[1:]] == [("introduction",)] * 2 + [("conclusion",)]
    assert found[1].end == found[3].start


def test_the_publishers_word_tells_what_a_title_does_not_and_never_more() -> None:
    found = build_outline(
        written("# T", "## How it was done", "## Discussion"),
        {"howitwasdone": "materials|methods", "discussion": "conclusions"},
    )
    assert [s.roles for s in found[1:]] == [("methods",), ("discussion",)]
    assert collect_declared_section_types(found) == {
        "howitwasdone": "materials|methods",
        "discussion": "conclusions",
    }


def test_an_outline_shows_the_roles_that_are_new() -> None:
    shown = [
        r
        for _, r in iterate_sections_with_own_roles(
            build_outline(written("# T", "## Methods", "### Mice", "### Ethics"))
        )
    ]
    assert shown == ["", "methods", "", "ethics"]


def test_places_are_exact_and_sections_hold_their_subsections() -> None:
    text = written("# T", "## Methods", "### Mice", "## Results")
    for section in build_outline(text):
        assert text[section.start :].startswith(f"{'#' * section.level} {section.title}\n")
    methods = build_outline(text)[1]
    assert text[methods.start : methods.end] == written("## Methods", "### Mice")


def test_code_holds_no_headings_and_a_lone_fence_is_none() -> None:
    assert len(build_outline("# T\n\n```\n# no\n~~~\n# no\n```\n\n## A\n")) == 2
    assert len(build_outline("# T\n\n```\n\n## A\n\n## B\n")) == 3


HOSTILE = {
    "headings": lambda n: "".join(f"## Part {i} of the methods\n\nx\n\n" for i in range(n)),
    "nested headings": lambda n: "".join(f"{'#' * (i % 6 + 1)} Methods\n" for i in range(n)),
    "fences": lambda n: "```\n# a\n~~~\n" * n,
    "captions": lambda n: "".join(f"**Table {i % 999}.** x\n\n" for i in range(n)),
    "mentions": lambda n: f"{'Fig. 1, 2 and 4-9 table ' * n}\n\n**Figure 1.** x\n",
    "figures": lambda n: "".join(f"## Figures\n\n**Table {i}.** x\n\nFig. 1\n\n" for i in range(n)),
    "numbers": lambda n: "".join(f"## {i} x\n" for i in range(1, n)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_text_only(name: str) -> None:
    def work(size: int) -> list[Section]:
        return build_outline(HOSTILE[name](size))

    work(10)
    none, once, four = (lines_run(partial(work, size)) for size in (0, 300, 1200))
    assert four - once <= 3.5 * (once - none)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"## Methods {i}\n" for i in range(100_000)),
        "# " + "a " * 500_000,
        "# " + " " * 1_000_000 + "x",
        "## a" + " " * 1_000_000 + "\n## b\n",
        "```\n" * 100_000,
        "\n" + "\t" * 1_000_000 + "\nx",
        "**Figure 1.** x\n\n" + "Fig. [" * 200_000,
        "**Figure 1.** x\n\n" + "supplementary " * 100_000 + "fig",
        "## " + "<b" * 200 + "\n" + ("## " + "[a](" * 100 + "\n") * 1000,
    ],
)
def test_no_pattern_takes_the_square_of_a_text(text: str) -> None:
    """Each of these would take from minutes to hours."""
    assert len(build_outline(text)) <= MAX_HEADINGS


def test_an_untitled_text_before_the_subjects_of_a_review_introduces_them() -> None:
    subjects = "".join(
        f"## {name}\n\n{'Perch swim in the lake. ' * 20}\n\n" for name in ("Gut", "Gill")
    )
    review = f"# T\n\n## Main text\n\nPerch are fish.\n\n{subjects}## Conclusion\n\nThey swim.\n"
    assert build_outline(review)[1].roles == ("introduction",)
    letter = review.replace("Perch are fish.", "Perch are fish. " * 100)
    assert build_outline(letter)[1].roles == ()


def test_what_stands_before_a_titled_introduction_is_none() -> None:
    assert roles("# T", "## Main text", "## Introduction", "## Results")[1] == ()


def test_a_summary_behind_the_subjects_of_a_tutorial_ends_it() -> None:
    assert roles("# T", "## Abstract", "## Plots", "## Summary")[3] == ("conclusion",)
    assert roles("# T", "## Abstract", "## Summary", "## Plots")[2] == ("abstract",)
    assert roles("# T", "## Perch", "## Summary")[2] == ("abstract",)
