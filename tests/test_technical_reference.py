"""The reference page says what the code does."""

from tests.technical_reference import PAGE, generated


def test_tables_are_those_the_code_makes():
    page = PAGE.read_text(encoding="utf-8")
    assert generated(page) == page, "run: uv run --group dev python -m tests.technical_reference"
