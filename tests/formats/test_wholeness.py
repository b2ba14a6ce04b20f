"""A text cut short is told by what it shows of the rest; short and odd whole ones are left be."""

from __future__ import annotations

import pytest

from utils.formats.sections import measure
from utils.formats.wholeness import missing
from utils.paper import Document

SENTENCE = "Observers counted landings on each disc and noted the wind of that day. "  # 13 words


def text(**sections: str) -> str:
    """A paper's markdown; the names of sections with blanks for underscores."""
    parts = (
        f"## {name.replace('_', ' ').capitalize()}\n\n{said}" for name, said in sections.items()
    )
    return "\n\n".join(("# Bees and light", *parts))


def found(markdown: str, pages: int = 0, stated: int = 0, abstract: bool = True) -> str:
    counted = measure(markdown)
    document = Document(
        markdown,
        body_words=counted.body_words,
        headings=counted.headings,
        references=counted.references,
        pages=pages,
    )
    return missing(document, counted.body_words, stated, abstract)


def cites(*numbers: int, form: str = "[{}]") -> str:
    return "".join(f"{SENTENCE.rstrip('. ')} {form.format(number)}. " for number in numbers)


def listed(count: int) -> str:
    return "\n".join(f"{n}. Roe A. Bees of {1950 + n}. Hive." for n in range(1, count + 1))


NAMES = "\n".join(f"- Roe{chr(97 + n)} A. Bees. Hive. {1980 + n}." for n in range(20))
NAMED = "".join(f"{SENTENCE[:-2]} (Roe{chr(97 + n)} et al., {1980 + n}). " for n in range(10))
LONG = SENTENCE * 90
CUT = {
    "citations stop": (
        text(introduction=LONG + cites(*range(1, 11)), discussion=LONG, references=listed(20)),
        {},
        "cites 10 of 20 references and none after 10",
    ),
    "linked citations stop": (
        text(
            colours=LONG + cites(*range(1, 11), form="[[{0}](https://a.test/#r{0})]"),
            references=listed(20),
        ),
        {},
        "cites 10 of 20 references and none after 10",
    ),
    "a PDF that cites no list": (
        text(colours=LONG + cites(1, 2, 3, 4)),
        {"pages": 3},
        "cites 4 references and lists none",
    ),
    "a PDF that cites no list by names": (
        text(colours=LONG + NAMED),
        {"pages": 3},
        "cites 10 references and lists none",
    ),
    "the first page of a PDF": (
        text(introduction=SENTENCE * 20, methods=SENTENCE * 5),
        {"pages": 1},
        "325 words that end before the results, and no references",
    ),
    "few of the pages": (text(colours=LONG), {"pages": 3, "stated": 12}, "3 of 12 pages"),
    "half of the pages, in mid-sentence": (
        text(colours=f"{LONG} Foragers that had learned the"),
        {"pages": 6, "stated": 12},
        "6 of 12 pages, ends in mid-sentence ('had learned the')",
    ),
    "headings without text": (
        text(introduction=LONG, methods=LONG, results="", discussion="", conclusion=""),
        {},
        "no text under the last 3 of 5 headings",
    ),
    "few words for the list": (
        text(colours=SENTENCE * 8, references=listed(20)),
        {},
        "104 words for 20 references",
    ),
    "half of the names, nothing concluded": (
        text(introduction=LONG + NAMED, results=LONG, references=NAMES),
        {},
        "names 10 of 20 references, no section after 'Results' concludes",
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_a_text_that_is_not_all_there_is_told(name: str) -> None:
    markdown, circumstances, said = CUT[name]
    assert found(markdown, **circumstances) == said


WHOLE = {
    "cites all": (text(introduction=LONG + cites(*range(1, 21)), references=listed(20)), {}),
    "cites a range": (
        text(colours=LONG + cites(1, 2, 3) + "Seen before [4-20].", references=listed(20)),
        {},
    ),
    "cites all but the last few": (
        text(colours=LONG + cites(*range(1, 17)), discussion=SENTENCE, references=listed(20)),
        {},
    ),
    "numbers in brackets that cite nothing": (
        text(colours=LONG + cites(1, 2, 3, 4, 95), references=listed(20)),
        {},
    ),
    "half of the names, concluded": (
        text(introduction=LONG + NAMED, discussion=LONG, references=NAMES),
        {},
    ),
    "a preprint of half the pages": (text(colours=LONG), {"pages": 6, "stated": 12}),
    "a letter of a page": (text(colours=SENTENCE * 20), {"pages": 1}),
    "a PDF with a list under no heading": (
        text(colours=LONG + cites(1, 2, 3, 4) + "\n\n" + listed(20).replace("\n", "\n\n")),
        {"pages": 3},
    ),
    "a page that loads its list later": (text(colours=LONG + cites(1, 2, 3, 4)), {}),
    "a heading over a figure": (text(introduction=LONG, discussion=LONG, figure_one=""), {}),
    "an introduction alone, of a letter": (
        text(introduction=SENTENCE * 20),
        {"pages": 1, "abstract": False},
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_texts_are_not_doubted(name: str) -> None:
    markdown, circumstances = WHOLE[name]
    assert found(markdown, **circumstances) == ""


@pytest.mark.parametrize(
    "hostile",
    [
        f"# a{' ' * 900}b\n\n" * 50,  # blanks within headings
        f"## Abstract\n\na\n\n### {'.' * 40_000}\n\n",
        "[1" * 40_000,
        "(" * 80_000,
        "](" * 40_000,
        f"## References\n\n{'1. a 2010 ' * 8_000}",
    ],
    ids=["blanks", "dots", "brackets", "parentheses", "links", "entries"],
)
def test_hostile_lengths_come_to_an_end(hostile: str) -> None:
    """What these patterns look for is bounded, or takes the square of the length, or its cube."""
    assert isinstance(found(hostile), str)
