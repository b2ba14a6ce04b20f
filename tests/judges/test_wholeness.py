"""A text cut short is told by what it shows of the rest; short and odd whole ones are left be."""

import pytest

from tests.own_words import prose, sentences
from utils.judges.signs import JudgedCase, weigh_signs
from utils.judges.wholeness import find_incompleteness_signs
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper
from utils.outline.sections import measure_text

ABSTRACT = (
    "Bees that had learned a colour came back to it for six days, and forgot it in rain. " * 5
)


def text(**sections: str) -> str:
    """A paper's markdown; the names of sections with blanks for underscores."""
    parts = (
        f"## {name.replace('_', ' ').capitalize()}\n\n{said}" for name, said in sections.items()
    )
    return "\n\n".join(("# Bees and light", *parts))


def found(
    markdown: str, pages: int = 0, stated: int = 0, abstract: bool = True, **record: int
) -> str:
    counted = measure_text(markdown)
    document = Document(markdown, references=counted.references, pages=pages)
    known = ABSTRACT if abstract else ""
    paper = Paper(Ids(), abstract=known, pages=f"1-{stated}" if stated else "", **record)
    finding = weigh_signs(find_incompleteness_signs(JudgedCase(document, paper, known)), "")
    return finding.evidence if finding.is_rejection else ""


def cites(*numbers: int, form: str = "[{}]") -> str:
    said = sentences(len(numbers), start=700)
    return " ".join(
        f"{text.rstrip('.')} {form.format(number)}."
        for text, number in zip(said, numbers, strict=True)
    )


def listed(count: int) -> str:
    return "\n".join(f"{n}. Roe A. Bees of {1950 + n}. Hive." for n in range(1, count + 1))


HARDLY = ", lists 20 references, but cites hardly any"
NAMES = "\n".join(f"- Roe{chr(97 + n)} A. Bees. Hive. {1980 + n}." for n in range(20))

OTHERS = "\n".join(NAMES.replace("Roe", "Poe").split("\n")[:16])


def named(start: int) -> str:
    return " ".join(
        f"{text[:-1]} (Roe{chr(97 + n)} et al., {1980 + n})."
        for n, text in enumerate(sentences(10, start))
    )


NAMED = named(600)
STOPPED = f"{prose(40, start=800)} Foragers that had learned the"
LONG, MORE = f"{prose(1200)} ", prose(1200, start=200)
SHORT, BRIEF = prose(260, start=400), prose(70, start=500)
CUT = {
    "citations stop": (text(introduction=LONG + cites(*range(1, 11)), discussion=MORE,
        references=listed(20)), {}, "cites 10 of 20 references, none after number 10"),
    "linked citations stop": (text(colours=LONG + cites(*range(1, 11),
        form="[[{0}](https://a.test/#r{0})]"), references=listed(20)), {},
        "cites 10 of 20 references, none after number 10"),
    "a page that ends without its list": (text(colours=LONG + cites(1, 2, 3, 4)), {},
        "cites 4 references, but lists none"),
    "a row of references left out": (text(introduction=LONG + cites(*range(1, 8), *range(13, 21)),
        references=listed(20)), {}, ("cites 15 of 20 references, skipping 5 in a row, "
        "no conclusion after the section 'Introduction'")),
    "a section left out": (
        "# Bees\n\n## 1. Colours\n\n"
        + LONG
        + "\n\n## 2. Scents\n\n"
        + MORE
        + "\n\n## 4. Tables 1 and 3\n\nSee Fig. 1 and Fig. 4. "
        + SHORT,
        {},
        "section 3 is missing before section 4, figure 2 is missing before 4",
    ),
    "a PDF that cites no list": (text(colours=LONG + cites(1, 2, 3, 4)), {"pages": 3},
        "cites 4 references, but lists none"),
    "a PDF that cites no list by names": (text(colours=LONG + NAMED), {"pages": 3},
        "cites 10 references, but lists none"),
    "the first page of a PDF": (text(introduction=SHORT, methods=BRIEF), {"pages": 1},
        "no conclusion after the section 'Methods'"),
    "few of the pages": (text(colours=LONG), {"pages": 3, "stated": 12}, "3 of 12 pages"),
    "half of the pages, in mid-sentence": (text(colours=f"{LONG} Foragers that had learned the"),
        {"pages": 6, "stated": 12}, "6 of 12 pages, ends mid-sentence ('had learned the')"),
    "headings without text": (text(introduction=LONG, methods=MORE, results="", discussion="",
        conclusion=""), {}, "no text under 3 of 5 headings"),
    "few words for the list": (text(colours=BRIEF, references=listed(20)), {},
        "76 words for 20 references"),
    "half of the names, nothing concluded": (text(introduction=LONG + NAMED, results=MORE,
        references=NAMES), {}, (
            "names 10 of 20 references, no conclusion after the section "
            "'Results'"
        )),
    "most of the names": (text(colours=LONG + NAMED + named(640), references=f"{NAMES}\n{OTHERS}"),
        {}, "names 10 of 36 references"),
    "numbers far beyond a list that stops, in mid-sentence": (text(colours=LONG + cites(*range(1,
        41)) + "\n\n" + listed(6) + f"\n\n{STOPPED}"), {},
        "cites 40 references, but lists 6, ends mid-sentence ('had learned the')"),
    "raised numbers of no list": (text(colours=LONG + " ".join(f"{said}{n}" for n,
        said in enumerate(sentences(14), 1))), {"pages": 3}, "cites 13 references, but lists none"),
    "a list that the record knows to be longer, nothing concluded": (text(introduction=LONG,
        results=MORE, references=listed(6)), {"reference_count": 40},
        "lists 6 of 40 references, no conclusion after the section 'Results'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CUT)
def test_a_text_that_is_not_all_there_is_told(name: str) -> None:
    markdown, circumstances, said = CUT[name]
    assert found(markdown, **circumstances).removesuffix(HARDLY) == said


WHOLE = {
    "cites all": (text(introduction=LONG + cites(*range(1, 21)), references=listed(20)), {}),
    "cites a range": (text(colours=LONG + cites(1, 2, 3) + "Seen before [4-20].",
        references=listed(20)), {}),
    "cites all but the last few": (text(colours=LONG + cites(*range(1, 18)), discussion=BRIEF,
        references=listed(20)), {}),
    "numbers that are a link each, as far as the last": (
        text(colours=LONG + " [[1](/a#r1)\u2013[20](/a#r20)].", references=listed(20)),
        {},
    ),
    "a row cited in a line that is no prose": (text(colours=LONG + cites(*range(1,
        14)) + "\n\n(see [14]-[20])", references=listed(20)), {}),
    "a row cited in what repeats the abstract": (text(colours=LONG + cites(*range(1,
        14)) + f"\n\n{ABSTRACT} [14\u201320]", references=listed(20)), {}),
    "equations with more numbers than there are citations in brackets": (
        text(
            colours=LONG
            + cites(*range(1, 13), form="<sup>{}</sup>")
            + "".join(f"\n\n({number})\n\n" for number in range(1, 31)),
            references=listed(12),
        ),
        {},
    ),
    "works that only a table cites, in a column of their own": (text(colours=LONG + cites(*range(1,
        13)) + "\n\n| Colour | Refs |\n|---|---|\n| red | 13,14 |\n| blue | 15-20 |",
        references=listed(20)), {}),
    "residues, patients and compounds in brackets": (
        text(colours=LONG + " The domain (51-75) binds another (90-131) and (396-431) too."),
        {},
    ),
    "bare numbers, of which a row stands behind quotation marks": (
        text(
            colours=LONG
            + cites(*range(1, 10), form="")
            + "".join(f" The bees rest.{number} " for number in range(1, 15))
            + "".join(f" They “rest.”{number} " for number in range(15, 20))
            + "".join(f" The bees fly.{number} " for number in range(20, 25)),
            references=listed(24),
        ),
        {},
    ),
    "the last row in another way": (text(colours=LONG + cites(*range(1, 15)) + cites(*range(15, 19),
        form="({})"), references=listed(20)), {}),
    "numbers in brackets that cite nothing": (text(colours=LONG + cites(1, 2, 3, 4, 95),
        references=listed(20)), {}),
    "most of the names, concluded": (text(introduction=LONG + NAMED, discussion=MORE,
        references="\n".join(NAMES.split("\n")[:17])), {}),
    "a list longer than the record's": (text(colours=LONG + cites(*range(1, 21)),
        references=listed(20)), {"reference_count": 16}),
    "a few names of a long list that it may cite in other ways, too": (text(colours=LONG + NAMED,
        references=f"{NAMES}\n{NAMES.replace('Roe', 'Poe')}"), {}),
    "names of a list in another form": (text(colours=LONG + NAMED, discussion=MORE,
        references=listed(30)), {}),
    "a preprint of half the pages": (text(colours=LONG), {"pages": 6, "stated": 12}),
    "a letter of a page": (text(colours=SHORT), {"pages": 1}),
    "a PDF with a list under no heading": (text(colours=LONG + cites(1, 2, 3,
        4) + "\n\n" + listed(20).replace("\n", "\n\n")), {"pages": 3}),
    "a page that loads its list later": (text(colours=LONG + cites(1, 2, 3, 4),
        references="Loading"), {}),
    "a heading over a figure": (text(introduction=LONG, discussion=MORE, figure_one=""), {}),
    "an introduction alone, of a letter": (text(introduction=SHORT), {"pages": 1,
        "abstract": False}),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_whole_texts_are_not_doubted(name: str) -> None:
    markdown, circumstances = WHOLE[name]
    assert found(markdown, **circumstances) == ""


BROKEN = "\n\n".join(said.rstrip(".") for said in sentences(12))
DOUBTED = {
    "results left out": (text(introduction=LONG, methods=MORE, discussion=SHORT),
        "no results section"),
    "results left out between two sections, after an unnamed one": (text(main_text="",
        materials_and_methods=LONG, discussion=MORE), "no results section"),
    "methods left out": (text(introduction=LONG, results=MORE, discussion=SHORT),
        "no methods section"),
    "methods behind a link": (text(introduction=LONG, methods="[Open section](/m)", results=MORE,
        discussion=SHORT), "no text under 'Methods'"),
    "two headings in the middle without text": (text(colours=LONG, scents="", sounds="", bees=MORE,
        light=SHORT), "no text under 2 of 5 headings"),
    "all sections in few words": (text(introduction=BRIEF, methods=BRIEF, results=SHORT,
        discussion=BRIEF), "340 words of text for an abstract of 90 words"),
    "hardly more words than the abstract": (text(colours=SHORT),
        "264 words of text for an abstract of 90 words"),
    "a section that the text sends to": (text(**{"1._colours": LONG, "2._scents": MORE,
        "3._bees": f"{SHORT} See section 5."}), "section 4 is missing before section 5"),
    "a list of which the record counts more than twice as many": (text(colours=LONG,
        references=listed(6)), "lists 6 of 16 references"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTED)
def test_a_text_that_breaks_a_promise_is_doubted(name: str) -> None:
    markdown, said = DOUBTED[name]
    counted = measure_text(markdown)
    document = Document(markdown, references=counted.references)
    recorded = 16 if counted.references else 0
    paper = Paper(Ids(), abstract=ABSTRACT, reference_count=recorded)
    finding = weigh_signs(find_incompleteness_signs(JudgedCase(document, paper, ABSTRACT)), "")
    assert (finding.verdict, finding.evidence) == ("doubtful", said)


def test_paragraphs_that_break_off_all_along_refuse_a_text() -> None:
    assert found(text(colours=BROKEN)).startswith("12 of 12 paragraphs end mid-sentence")
    for end in ("", "3,4", " [5]"):  # citations stand behind the full stop
        assert found(text(colours="\n\n".join(f"{said}{end}" for said in sentences(12)))) == ""


def test_figures_that_the_text_no_longer_mentions_are_a_weak_sign() -> None:
    captions = "\n\n".join(f"Figure {n}. Bees at the feeder." for n in (1, 2, 3))
    for mentioned, names in (("", {"unmentioned"}), (" See Fig. 1 and Fig. 2.", set())):
        document = Document(text(colours=f"{LONG}{mentioned}\n\n{captions}"))
        signs = find_incompleteness_signs(JudgedCase(document, Paper(Ids()), ""))
        assert {sign.name for sign in signs} & {"unmentioned"} == names


def test_methods_under_headings_of_their_own_are_there() -> None:
    markdown = text(introduction=LONG, results=MORE, discussion=SHORT)
    markdown = markdown.replace("## Results", f"### Statistical analysis\n\n{BRIEF}\n\n## Results")
    signs = find_incompleteness_signs(
        JudgedCase(Document(markdown), Paper(Ids(), abstract=ABSTRACT), ABSTRACT)
    )
    assert "no methods" not in {sign.name for sign in signs}


# Each of many citations may be of each of many entries.
SAID = " ".join(f"{text[:-1]} (Roe et al., 2010)." for text in sentences(6_000))
ENTRIES = "- Roe A. Bees. Hive. 2010.\n" * 20_000
ONE_NAME = f"{SAID}\n\n## References\n\n{ENTRIES}"


@pytest.mark.parametrize(
    "hostile",
    [
        f"# a{' ' * 900}b\n\n" * 50,  # blanks within headings
        f"## Abstract\n\na\n\n### {'.' * 40_000}\n\n",
        "[1" * 40_000,
        "(" * 80_000,
        "](" * 40_000,
        f"## References\n\n{'1. a 2010 ' * 8_000}",
        ONE_NAME,
        *(f"{name}{end * 4_000}!" for name in ("fig", "tab") for end in ("ures", "s", "le",
            "elle")),
    ],
)  # fmt: skip
def test_hostile_lengths_come_to_an_end(hostile: str) -> None:
    """What these patterns look for is bounded, or takes the square of the length, or its cube."""
    assert isinstance(found(hostile), str)


def test_a_list_counted_twice_over_does_not_refuse_a_whole_paper() -> None:
    entries = "\n\n".join(
        f"Roe{chr(97 + n % 26)} A. Bees and the light of the hive. Hive {n}, 12-15 (1980)."
        for n in range(60)
    )
    introduction = f"{cites(*range(1, 21))} {prose(900)}"
    markdown = text(introduction=introduction, discussion=cites(*range(1, 21)))
    counted = measure_text(f"{markdown}\n\n## References\n\n{entries}")
    document = Document(f"{markdown}\n\n## References\n\n{entries}", references=counted.references)
    for recorded, outcome in ((20, "full_text"), (0, "doubtful"), (60, "partial")):
        paper = Paper(Ids(), abstract=ABSTRACT, reference_count=recorded)
        assert (
            weigh_signs(
                find_incompleteness_signs(JudgedCase(document, paper, ABSTRACT)), ""
            ).verdict
            == outcome
        )


def test_entries_numbered_on_lines_of_their_own_are_counted_once() -> None:
    entries = "\n\n".join(f"{n}\n\nRoe A. Bees. Hive {n}.\n\nGo to reference" for n in range(1, 13))
    markdown = f"{text(introduction=cites(*range(1, 13)))}\n\n## References\n\n{entries}"
    document = Document(markdown, references=36)
    assert JudgedCase(document, Paper(Ids()), "").evidence.numbered == 12


def test_numbers_that_are_links_in_part_and_numbers_after_refs_are_cited() -> None:
    markdown = text(introduction=f"{cites(1)} Bees<sup>2,3,[4](#r4)</sup> fly (see refs. 5-7).")
    document = Document(f"{markdown}\n\n## References\n\n{listed(7)}", references=7)
    cited = JudgedCase(document, Paper(Ids()), "").evidence.cited
    assert {2, 3, 4, 5, 6, 7} <= cited


def test_a_protocol_needs_no_results() -> None:
    markdown = text(introduction=cites(1, 2), methods=cites(3, 4), study_design=cites(5, 6))
    document = Document(markdown)
    for title, said in (
        ("Light on bees: study protocol", set()),
        ("Light on bees", {"no results"}),
    ):
        paper = Paper(Ids(), title=title, abstract=ABSTRACT)
        names = {
            sign.name for sign in find_incompleteness_signs(JudgedCase(document, paper, ABSTRACT))
        }
        assert names & {"no results", "unfinished"} >= said
        assert bool(names & {"no results", "unfinished"}) == bool(said)


def test_a_page_that_cites_hardly_any_of_a_long_list_is_doubted() -> None:
    prose_of = text(introduction=" ".join(sentences(30)), discussion=" ".join(sentences(30, 500)))
    markdown = f"{prose_of}\n\n## References\n\n{listed(20)}"
    for pages, names in ((0, {"uncited"}), (9, set())):
        document = Document(markdown, references=20, pages=pages)
        signs = find_incompleteness_signs(
            JudgedCase(document, Paper(Ids(), abstract=ABSTRACT), ABSTRACT)
        )
        assert {sign.name for sign in signs} & {"uncited"} == names
