"""Figures and tables: where they stand, and who speaks of them first."""

import pytest

from tests.fixtures import fixture_text
from utils.outline import build_outline, find_figures_and_tables

TEXT = fixture_text("outline/floats_text.md")


@pytest.fixture(scope="module")
def found():
    return {one.label: one for one in find_figures_and_tables(TEXT, build_outline(TEXT))}


def test_each_stands_with_the_section_that_mentions_it_first() -> None:
    by_title = {section.title: section.floats for section in build_outline(TEXT)}
    assert by_title["Introduction"] == ("Table 1", "Table 2")
    assert by_title["Methods"] == ("Figure 1", "Figure 2", "Figure S1", "Scheme 1")
    assert by_title["Counting"] == by_title["Abstract"] == by_title["References"] == ()


def test_a_figure_of_a_section_of_figures_goes_to_the_next(found) -> None:
    one = found["Figure 1"]
    assert TEXT[one.start : one.end].startswith("**Figure 1.** A culture.\n\nIt was")
    assert TEXT[one.start : one.end].endswith("round.]")


def test_a_table_in_running_text_ends_with_its_notes(found) -> None:
    one = found["Table 1"]
    assert TEXT[one.start : one.end].endswith("| 1 | 30 |\n\nNote: by hand.")


@pytest.mark.parametrize(
    ("caption", "mention", "label"),
    [
        ("**Abbildung 2.** Zellen", "siehe Abb. 2", "Figure 2"),
        ("**Tabelle 1:** Werte", "in Tabelle 1", "Table 1"),
        ("**Tableau 1.** Valeurs", "le tableau 1", "Table 1"),
        ("**Figura 3.** Células", "(fig. 3)", "Figure 3"),
        ("**Tabla 2.** Valores", "Tablas 1 y 2", "Table 2"),
        ("**Tabela 2.** Wyniki", "w tabeli 2", "Table 2"),
        ("**Рис. 4.** Клетки", "на рис. 4", "Figure 4"),
        ("**Таблица 1.** Данные", "в таблице 1, табл. 1", "Table 1"),
        ("**表1** 结果", "见表1", "Table 1"),
        ("**图 2.** 细胞", "如图2所示", "Figure 2"),
        ("**図3.** 細胞", "(図3)", "Figure 3"),
        ("TABLE I: Values", "in Table I", "Table I"),
        ("Fig. 1\n\nCells", "[Figure [1](#f1)", "Figure 1"),
        ("### TABLE 1 | Primers", "see Table 1", "Table 1"),
        ("**Extended Data Fig. 1.** x", "Extended Data Fig. 1", "Extended Data Figure 1"),
        ("**Supplementary Table 2.** x", "Table S2", "Table S2"),
    ],
)
def test_labels_are_known_as_they_are_printed(caption: str, mention: str, label: str) -> None:
    text = f"# T\n\n## A\n\nWords {mention}.\n\n## B\n\n{caption}\n"
    [one] = find_figures_and_tables(text, build_outline(text))
    assert one.label == label
    assert text.index("Words") < one.mentioned < text.index("## B")


@pytest.mark.parametrize(
    "line", ["Table 5 presents the rest.", "Figure 2(b) shows it.", "Tab in 5"]
)
def test_a_sentence_that_begins_with_a_label_is_no_caption(line: str) -> None:
    assert find_figures_and_tables(f"# T\n\n{line}\n", ()) == []
