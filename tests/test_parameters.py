"""One idea has one name in the shell, in Python and over MCP."""

import warnings

import pytest

from docs import parameters
from docs.parameters import Parameter
from utils import Library
from utils.errors import BadRequest


@pytest.fixture(scope="module")
def rows():
    return parameters.group_by_idea()


def test_an_idea_has_one_name_at_all_doors_or_a_reason(rows):
    assert not parameters.find_second_names(rows)


def test_every_exception_is_needed(rows):
    words = {one.word for doors in rows.values() for found in doors.values() for one in found}
    assert words >= parameters.EXCEPTIONS.keys()


@pytest.mark.parametrize(
    ("parameter", "idea"),
    [
        (Parameter("shell", "search", "--max-records"), "max_results"),
        (Parameter("python", "library.search", "year_from"), "min_date"),
        (Parameter("mcp", "read_paper", "identifier"), "paper"),
        (Parameter("shell", "corpus_find", "--no-quality"), "quality_bias"),
    ],
)
def test_a_second_name_is_found(parameter, idea):
    assert parameters.find_idea(parameter) == idea
    found = parameters.find_second_names({idea: {parameter.door: {parameter}}})
    assert found == {idea: {parameter.word}}


def test_the_table_names_every_door(rows):
    listed = {cells[:3] for cells in parameters.list_rows()}
    assert ("`--dry-run`", "`dry_run`", "`dry_run`") in listed
    [limit] = [cells for cells in listed if "`max_results`" in cells[1]]
    assert limit[0] == "`--limit`"
    assert "`max_results`" in limit[2]


def test_former_names_of_options_are_taken_with_a_warning(tmp_path):
    library = Library(papers_dir=tmp_path)
    with pytest.warns(DeprecationWarning, match="year_from is now min_date"):
        assert library.list_papers(year_from=2020) == (0, [])  # type: ignore[call-arg]
    with (
        pytest.warns(DeprecationWarning, match="most is now max_results"),
        pytest.raises(BadRequest),
    ):
        library.entrez.search("gene", "human", most=20_000)  # type: ignore[call-arg]


def test_a_present_name_of_an_option_gives_no_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Library(papers_dir=tmp_path).list_papers(min_date=2020) == (0, [])
