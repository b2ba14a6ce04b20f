"""What a section is by its title, in the languages of PubMed."""

from typing import get_args

import pytest

from utils.model.paper import Role
from utils.outline.roles import (
    TITLE_PHRASES,
    find_hinted_roles,
    find_roles,
    parse_role,
    parse_sec_type_roles,
    to_title_key,
)

# One journal's words in each of the ten languages: introduction, methods, results, discussion,
# conclusion, references.
JOURNALS = {
    "English": "Introduction | Experimental procedures | Results | Discussion | Conclusions"
    " | References",
    "German": "Einleitung | Material und Methoden | Ergebnisse | Diskussion | Schlussfolgerung"
    " | Literatur",
    "French": "Introduction | Matériel et méthodes | Résultats | Discussion | Conclusion"
    " | Références",
    "Russian": "Введение | Материалы и методы | Результаты | Обсуждение | Заключение"
    " | Список литературы",
    "Japanese": "はじめに | 対象と方法 | 結果 | 考察 | 結論 | 引用文献",
    "Chinese": "引言 | 材料与方法 | 结果 | 讨论 | 结论 | 参考文献",
    "Spanish": "Introducción | Pacientes y métodos | Resultados | Discusión | Conclusiones"
    " | Bibliografía",
    "Italian": "Introduzione | Materiali e metodi | Risultati | Discussione | Conclusioni"
    " | Bibliografia",
    "Polish": "Wstęp | Materiał i metody | Wyniki | Dyskusja | Wnioski | Piśmiennictwo",
    "Portuguese": "Introdução | Métodos | Resultados | Discussão | Conclusões | Referências",
}
PARTS = ("introduction", "methods", "results", "discussion", "conclusion", "references")


@pytest.mark.parametrize("language", JOURNALS)
def test_the_parts_of_a_paper_are_known_in_ten_languages(language: str) -> None:
    titles = JOURNALS[language].split(" | ")
    assert [find_roles(title) for title in titles] == [(part,) for part in PARTS]


@pytest.mark.parametrize("language", JOURNALS)
def test_case_numbers_accents_and_markup_do_not_matter(language: str) -> None:
    for title, part in zip(JOURNALS[language].split(" | "), PARTS, strict=True):
        for dress in ("2. {}", "II. {}:", "**3.1 {}**", "{} (continued)", "A) {}.", "4|{}"):
            assert find_roles(dress.format(title.upper())) == (part,), dress


@pytest.mark.parametrize(
    "title",
    [
        *("Materials and Methods", "Methodology", "Patients and methods", "Experimental section"),
        *("STAR★Methods", "M E T H O D S", "Méthodologie", "Métodos", "材料与方法", "方法"),
        *("1材料与方法", "一、材料与方法", "Методы", "Methods: cell lines", "Gereç ve Yöntem"),
    ],
)
def test_methods_are_methods_whatever_a_journal_calls_them(title: str) -> None:
    assert find_roles(title) == ("methods",)


@pytest.mark.parametrize(
    ("title", "roles"),
    [
        ("Results and discussion", ("results", "discussion")),
        ("結果と考察", ("results", "discussion")),
        ("结果与讨论", ("results", "discussion")),
        ("Результаты и обсуждение", ("results", "discussion")),
        ("Discussion and conclusions", ("discussion", "conclusion")),
        ("Conflict of interest and funding", ("conflicts", "funding")),
        ("Availability of data and materials", ("data availability",)),
        ("Data, Materials, and Software Availability", ("data availability",)),
        ("Ethics approval and consent to participate", ("ethics",)),
        ("Appendix A. Supplementary data", ("supplementary", "appendix")),
        ("Supplementary methods", ("supplementary",)),
        ("Authors’ contributions", ("author contributions",)),
        ("Déclaration de liens d’intérêts", ("conflicts",)),
        ("Fallbericht", ("case report",)),
    ],
)
def test_a_title_may_name_several_parts_or_small_print(title: str, roles: tuple[Role, ...]) -> None:
    assert find_roles(title) == roles


@pytest.mark.parametrize(
    "title",
    [
        *("Binding of CXCL12", "Methods for detecting leaks", "Introduction to deep learning"),
        *("A comparison of results", "Stable isotopes", "3D processing", "Diet", "", "***", "1."),
    ],
)
def test_a_title_of_the_papers_own_has_no_role(title: str) -> None:
    assert find_roles(title) == ()


def test_parts_of_the_methods_only_hint_at_them() -> None:
    for title in ("2.1 Study design", "Statistical analysis", "Statistical methods", "统计学方法"):
        assert (find_roles(title), find_hinted_roles(title)) == ((), ("methods",))


@pytest.mark.parametrize(
    ("word", "roles"),
    [
        ("intro", ("introduction",)),
        ("materials|methods", ("methods",)),
        ("results|discussion", ("results", "discussion")),
        ("subjects", ("methods",)),
        ("cases", ("case report",)),
        ("COI-statement", ("conflicts",)),
        ("data-availability", ("data availability",)),
        ("supplementary-material", ("supplementary",)),
        ("display-objects", ("figures",)),
        ("subsection", ()),
    ],
)
def test_the_publishers_own_words_are_read(word: str, roles: tuple[Role, ...]) -> None:
    assert parse_sec_type_roles(word) == roles


def test_every_role_has_words_and_answers_to_its_name() -> None:
    assert set(TITLE_PHRASES) == set(get_args(Role))
    for role in get_args(Role):
        for name in (role, role.upper(), role.replace(" ", "_"), role.replace(" ", "-")):
            assert parse_role(name) == role
    assert parse_role("method") == "methods"
    assert parse_role("Experimental procedures") is None


def test_no_phrase_stands_for_two_roles_by_mistake() -> None:
    """But for one that does: the Russian heading over results and their discussion."""
    roles: dict[str, set[str]] = {}
    for role, phrases in TITLE_PHRASES.items():
        for phrase in phrases.split(" | "):
            roles.setdefault(to_title_key(phrase), set()).add(role)
    several = {name for name, found in roles.items() if len(found) > 1}
    assert several == {to_title_key("результаты и их обсуждение")}
