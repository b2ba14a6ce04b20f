"""Tables: spans, header rows, footnotes, and what may stand in a cell."""

import sys

import pytest

from tests.readers.jats_snippets import article, body_of, read


def rows(*lines: str) -> str:
    return "\n".join(lines)


def test_several_header_rows_are_joined_column_by_column() -> None:
    assert body_of(
        '<table-wrap><table><thead><tr><th rowspan="2">Drug</th><th colspan="2">Dose</th></tr>'
        "<tr><th>low</th><th>high</th></tr></thead><tbody><tr><td>A</td><td>1</td><td>2</td></tr>"
        "</tbody></table></table-wrap>"
    ) == rows("| Drug | Dose / low | Dose / high |", "| --- | --- | --- |", "| A | 1 | 2 |")


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ('<tr><th rowspan="2">Drug</th><th colspan="2">Dose</th></tr>',
            "<tr><th>low</th><th>high</th></tr>"),
        ('<tr><th/><th colspan="2">Dose</th></tr>',
            "<tr><th>Drug</th><th>low</th><th>high</th></tr>"),
    ],
)  # fmt: skip
def test_two_rows_of_names_are_the_head_of_a_table_without_one(above: str, below: str) -> None:
    body = "<tr><td>A</td><td>1</td><td>2</td></tr>"
    assert body_of(f"<table><tbody>{above}{below}{body}</tbody></table>") == rows(
        "| Drug | Dose / low | Dose / high |", "| --- | --- | --- |", "| A | 1 | 2 |"
    )


def test_a_group_named_across_the_table_is_no_second_row_of_its_head() -> None:
    assert body_of(
        '<table><tr><th>Drug</th><th>Dose</th></tr><tr><th colspan="2">Adults</th></tr>'
        "<tr><td>A</td><td>1</td></tr></table>"
    ) == rows("| Drug | Dose |", "| --- | --- |", "| Adults |  |", "| A | 1 |")


def test_spans_keep_every_cell_in_its_column() -> None:
    assert body_of(
        "<table><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody>"
        '<tr><td rowspan="2">x</td><td>1</td><td rowspan="3">y</td></tr>'
        '<tr><td>2</td></tr><tr><td colspan="2">wide</td></tr><tr><td>z</td></tr></tbody></table>'
    ) == rows(
        "| a | b | c |",
        "| --- | --- | --- |",
        "| x | 1 | y |",
        "| x | 2 | y |",
        "| wide |  | y |",
        "| z |  |  |",
    )


def test_caption_label_and_footnotes_surround_the_table() -> None:
    assert body_of(
        "<table-wrap><label>Table 1</label><caption><title>Doses</title><p>In mg.</p></caption>"
        "<table><tr><th>a</th></tr><tr><td>1<sup>a</sup></td></tr></table><table-wrap-foot>"
        "<fn><label><sup>a</sup></label><p>Once.</p></fn><fn><p>*P &lt; 0.05</p></fn>"
        "<p>Source: us.</p></table-wrap-foot></table-wrap>"
    ) == (
        "**Table 1.** Doses\n\nIn mg.\n\n| a |\n| --- |\n| 1<sup>a</sup> |\n\n"
        "<sup>a</sup> Once.\n\n\\*P < 0.05\n\nSource: us."
    )


def test_pipes_lines_lists_and_formulas_fit_into_a_cell() -> None:
    assert body_of(
        "<table><thead><tr><th>a|b</th><th>c</th></tr></thead><tbody><tr><td>1<break/>2</td>"
        "<td><p>p</p><list><list-item><p>i</p></list-item><list-item><p>j</p></list-item></list>"
        "</td></tr><tr><td>\n  # x\n  y</td><td><disp-formula><mml:math><mml:mo>|</mml:mo>"
        "<mml:mi>x</mml:mi></mml:math></disp-formula></td></tr></tbody></table>"
    ) == rows(
        r"| a\|b | c |",
        "| --- | --- |",
        "| 1<br>2 | p<br>• i<br>• j |",
        r"| # x y | $\vert x$ |",
    )


def test_tables_without_header_have_an_empty_one() -> None:
    table = "<table><tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></tbody></table>"
    assert body_of(table) == rows("|  |  |", "| --- | --- |", "| 1 | 2 |", "| 3 |  |")


def test_the_foot_comes_last_wherever_it_is_written() -> None:
    table = (
        "<table><tfoot><tr><td>sum</td></tr></tfoot><thead><tr><th>h</th></tr></thead><tbody>"
        "<tr><td>1</td></tr><tr><td><hr/></td></tr></tbody></table>"
    )
    assert body_of(table) == rows("| h |", "| --- |", "| 1 |", "| sum |")


def test_several_tables_in_a_wrap_and_arrays_are_all_kept() -> None:
    table = "<table><tr><th>h{0}</th></tr><tr><td>{0}</td></tr></table>"
    xml = f"<table-wrap>{table.format(1)}{table.format(2)}</table-wrap>"
    xml += "<array><tbody><tr><td>p</td><td>q</td></tr></tbody></array>"
    markdown = body_of(xml)
    assert "| 1 |\n\n| h2 |" in markdown
    assert "| p | q |" in markdown


def test_a_table_of_one_cell_is_a_frame_around_text() -> None:
    assert body_of("<table><tr><td><p>One.</p><p>Two.</p></td></tr></table>") == "One.\n\nTwo."


def test_a_table_that_is_a_picture_says_so() -> None:
    xml = "<table-wrap><label>Table 2</label><graphic xlink:href='t2.jpg'/></table-wrap>"
    assert body_of(xml) == "**Table 2.**\n\n[Table as an image: t2.jpg]"


def test_tables_floating_at_the_end_or_in_the_back_are_kept() -> None:
    table = "<table-wrap><table><tr><th>h{0}</th></tr><tr><td>{0}</td></tr></table></table-wrap>"
    markdown = read(
        article(
            "<p>x</p>",
            back=f"<sec><title>S</title>{table.format('back')}</sec>",
            more=f"<floats-group>{table.format('float')}</floats-group>",
        )
    ).markdown
    assert "| float |" in markdown
    assert "| back |" in markdown


def test_nested_tables_and_nonsense_spans_lose_no_text() -> None:
    markdown = body_of(
        '<table><tr><th colspan="two">h</th><th>i</th></tr><tr><td rowspan="-1">1</td><td><table>'
        "<tr><td>in</td><td>ner</td></tr></table></td></tr></table>"
    )
    for text in ("| h | i |", "| 1 |", "in", "ner"):
        assert text in markdown


@pytest.mark.parametrize("span", ['rowspan="5000"', 'colspan="400"'])
def test_spans_add_a_bounded_number_of_cells(span: str) -> None:
    """Without a bound each row of the first table is one cell longer than the row before."""
    rows = 1500
    made = body_of(f"<table>{f'<tr><td {span}>a</td><td>b</td></tr>' * rows}</table>")
    assert made.count("b") == rows
    assert made.count("a") < 110_000


def test_a_cell_of_a_crowded_table_is_placed_without_looking_at_all_that_hangs() -> None:
    """Work is counted: looking through what hangs above, once a cell, is one call for each."""
    hanging = "<tr>" + '<td rowspan="2">a</td>' * 300 + "</tr>"
    table = f"<table>{hanging}<tr>{'<td>b</td>' * 90}</tr></table>"
    seen: list[int] = []

    def note(_frame: object, _event: str, argument: object) -> None:
        if argument is max:
            seen.append(1)

    sys.setprofile(note)
    try:
        body_of(table)
    finally:
        sys.setprofile(None)
    assert len(seen) < 50


def test_what_is_wider_than_any_table_is_kept_in_its_last_column() -> None:
    made = body_of(f"<table><tr>{''.join(f'<td>c{n}</td>' for n in range(450))}</tr></table>")
    assert all(f"c{n} " in made for n in range(450))


def test_alternatives_that_are_different_tables_are_all_kept() -> None:
    def grid(word: str) -> str:
        return f"<table><tr><td>{word}</td><td>1</td></tr></table>"

    picture = '<graphic xlink:href="t1.jpg"/>'
    two = f"<alternatives>{picture}{grid('gull')}{grid('tern')}{grid(' gull ')}</alternatives>"
    made = body_of(f"<table-wrap><label>Table 1</label>{two}</table-wrap>")
    assert (made.count("| gull | 1 |"), made.count("| tern | 1 |")) == (1, 1)
    assert made.index("gull") < made.index("tern")
    assert "t1.jpg" not in made


def test_lists_in_cells_are_lines_with_the_marks_of_print() -> None:
    def listed(kind: str, *items: str) -> str:
        items_ = "".join(f"<list-item><p>{item}</p></list-item>" for item in items)
        return f'<list list-type="{kind}">{items_}</list>'

    nested = f"b</p>{listed('bullet', 'c', 'd')}<p>e"
    cells = (listed("simple", "x", "y"), listed("bullet", "a", nested), listed("order", "f", "g"))
    made = body_of(f"<table><tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr></table>")
    assert "| x<br>y | • a<br>• b<br>• c<br>• d<br>e | 1. f<br>2. g |" in made


def test_line_breaks_in_a_cell_have_no_blanks_around_them() -> None:
    cell = "<tr><td>a <break/> b<break/>\n c</td><td>d</td></tr>"
    assert "| a<br>b<br>c | d |" in body_of(f"<table-wrap><table>{cell}</table></table-wrap>")
