"""Results as tables: a DataFrame for analysis, an HTML table where a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ..command_line import install_command
from ..errors import NotConfigured

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
_SHOWN_ROWS = 20
_SHOWN_CHARS = 120
_NOT_SHOWN = {"abstract"}  # too long for a table on a screen


class Table(NamedTuple):
    """Column names, and rows of cells in the same order."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]

    @classmethod
    def from_rows(cls, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Table:
        """Build a table from these columns of *rows*; a column missing in a row is empty."""
        return cls(columns, ([row.get(name, "") for name in columns] for row in rows))

    def to_dataframe(self) -> DataFrame:
        """Return the table as a pandas DataFrame; years become numbers, lists become text.

        Raises
        ------
        NotConfigured
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            msg = "A DataFrame needs pandas, which is not installed here."
            hint = f"Run: {install_command('notebook')}"
            raise NotConfigured(msg, hint) from None
        cells = [[*map(_to_dataframe_cell, row)] for row in self.rows]
        frame = pd.DataFrame(cells, columns=list(self.columns))
        if list(self.columns).count("year") == 1:
            frame["year"] = pd.to_numeric(frame["year"], errors="coerce").astype("Int64")
        return frame

    def to_html(self) -> str:
        """Return the first rows as an HTML table. Texts from the web are escaped."""
        rows = list(self.rows)
        head, more = rows[:_SHOWN_ROWS], len(rows) - _SHOWN_ROWS
        shown = [
            number
            for number, name in enumerate(self.columns)
            if name not in _NOT_SHOWN and any(_to_display_text(row[number]) for row in head)
        ]
        if not shown:
            return "<p>No rows.</p>"
        names = "".join(f"<th>{escape(self.columns[number])}</th>" for number in shown)
        lines = [f"<tr>{''.join(_iterate_html_cells(row, shown))}</tr>" for row in head]
        # The classes keep MathJax from reading the dollar signs of a title as a formula.
        head_line = '<table class="tex2jax_ignore mathjax_ignore"><thead>'
        note = f"<p>{more:,} more row{'s' * (more != 1)}: see to_dataframe().</p>" * (more > 0)
        return "\n".join(
            (head_line, f"<tr>{names}</tr></thead><tbody>", *lines, "</tbody></table>", note)
        )


class TabularResult:
    """A result that a notebook shows as a table."""

    __slots__ = ()

    def to_table(self) -> Table:
        """Return the result as columns and rows."""
        raise NotImplementedError

    def to_dataframe(self) -> DataFrame:
        """Return the rows as a pandas DataFrame.

        Raises
        ------
        NotConfigured
            pandas is not installed.
        """
        return self.to_table().to_dataframe()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()


class ResultList(list[T], TabularResult, Generic[T]):
    """A list of results that a notebook shows as a table.

    Parameters
    ----------
    results : iterable
    columns : sequence of str
    to_row : callable
        Makes the row of one result.
    """

    __slots__ = ("_columns", "_to_row")

    def __init__(
        self,
        results: Iterable[T],
        columns: Sequence[str],
        to_row: Callable[[T], Mapping[str, Any]],
    ) -> None:
        super().__init__(results)
        self._columns, self._to_row = columns, to_row

    def to_table(self) -> Table:
        """Return a row for each result."""
        return Table.from_rows(self._columns, map(self._to_row, self))


def _to_dataframe_cell(value: Any) -> Any:
    """Return a list as text, and any other value unchanged."""
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _to_display_text(value: Any) -> str:
    if value is None or value is False:
        return ""
    return "yes" if value is True else str(_to_dataframe_cell(value))


def _iterate_html_cells(row: Sequence[Any], shown: Iterable[int]) -> Iterator[str]:
    for number in shown:
        text = _to_display_text(row[number])
        short = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
        # Jupyter sets numbers right, and so would texts be.
        yield f'<td style="text-align: left">{escape(short)}</td>'
