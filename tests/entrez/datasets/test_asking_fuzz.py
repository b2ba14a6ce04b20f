"""Statements nobody wrote: random trees in the SQL of several databases, whole and mangled."""

import random
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from tests.entrez.datasets.test_sql_safety import attempted
from utils.entrez.datasets.sql_query import SqlResultPage

pytestmark = pytest.mark.slow

_COLUMNS = {
    "gene": ("uid", "name", "description", "chromosome", "weight", "score", "updated", "extra"),
    "gene_alias": ("id", "gene_uid", "position", "alias"),
    "gene_location": ("id", "gene_uid", "chr_start", "chr_stop", "strand"),
    "_dataset": ("name", "value"),
}
_DIALECTS = ("sqlite", "sqlite", "sqlite", "postgres", "mysql", "tsql", "duckdb", "bigquery")
_FUNCTIONS: tuple[Any, ...] = (exp.Lower, exp.Upper, exp.Length, exp.Abs, exp.Trim)
_PAIRS: tuple[Any, ...] = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.EQ, exp.NEQ, exp.LT, exp.GTE),
    *(exp.And, exp.Or, exp.Like, exp.ILike, exp.Is, exp.Glob, exp.BitwiseAnd, exp.RegexpLike),
)
_ODD = ("'", '"', ";", "--", "/*", "*/", "\0", "(", ")", "`", "[", "\\", "\ud800", "é", "?", "$a")


class Writer:
    """Random statements about the genes; the same *seed*, the same statements."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._names = 0

    def statement(self) -> str:
        """A reading statement mostly; in the SQL of a database that is mostly SQLite."""
        roll = self._random.random()
        tree = self._write() if roll < 0.15 else self._query(3)
        sql = tree.sql(dialect=self._random.choice(_DIALECTS))
        return f"EXPLAIN {sql}" if roll > 0.97 else sql

    def mangled(self) -> str:
        """A statement in which a few things were lost, doubled, exchanged or put in."""
        text = list(self.statement())
        for _ in range(self._random.randint(1, 6)):
            at = self._random.randrange(len(text) + 1)
            stretch = slice(at, at + self._random.randint(1, 8))
            match self._random.randrange(5):
                case 0:
                    del text[stretch]
                case 1:
                    text[at:at] = text[stretch]
                case 2:
                    text[at:at] = self._random.choice(_ODD)
                case 3:
                    text[stretch] = reversed(text[stretch])
                case 4:
                    text[at:at] = self.statement()[:40]
        return "".join(text)

    def _query(self, depth: int) -> exp.Query:
        query: Any = self._select(depth)
        if depth and self._random.random() < 0.15:
            kind = self._random.choice([exp.union, exp.except_, exp.intersect])
            query = kind(query, self._select(depth - 1), distinct=self._random.random() < 0.5)
        if depth and self._random.random() < 0.2:
            name = self._random.choice(["t", "gene", "sqlite_schema"])
            recursive = self._random.random() < 0.3
            query = query.with_(name, as_=self._query(depth - 1), recursive=recursive)
        return query  # type: ignore[no-any-return]

    def _select(self, depth: int) -> exp.Select:
        sources = [self._source(depth) for _ in range(self._random.choice([1, 1, 1, 2, 3]))]
        columns = [self._value(depth, sources) for _ in range(self._random.randint(1, 4))]
        query = exp.select(*columns).from_(self._from(sources[0], depth))
        for source in sources[1:]:
            on = exp.EQ(this=self._column([source]), expression=self._column(sources))
            kind = self._random.choice(["", "left", "cross"])
            joined = None if kind == "cross" else on
            query = query.join(self._from(source, depth), on=joined, join_type=kind or None)
        if self._random.random() < 0.6:
            query = query.where(self._value(depth, sources))
        if self._random.random() < 0.3:
            query = query.group_by(self._column(sources))
        if self._random.random() < 0.4:
            query = query.order_by(self._value(1, sources))
        if self._random.random() < 0.5:
            query = query.limit(self._random.randint(-1, 50))
        return query

    def _source(self, depth: int) -> tuple[str, str]:
        """(alias, table); a table of ours mostly."""
        self._names += 1
        odd = ("genes", "sqlite_schema", "dbstat", "t", "json_tree")
        table = self._random.choice([*_COLUMNS, *_COLUMNS, *_COLUMNS, self._random.choice(odd)])
        return f"s{self._names}", table

    def _from(self, source: tuple[str, str], depth: int) -> exp.Expression:
        alias, table = source
        if depth and self._random.random() < 0.1:
            inner = exp.select("*").from_(table).limit(self._random.randint(0, 9))
            return inner.subquery(alias)
        return exp.alias_(exp.to_table(table), alias, table=True)

    def _column(self, sources: list[tuple[str, str]]) -> exp.Column:
        alias, table = self._random.choice(sources)
        odd = self._random.choice(["nme", "ROWID", "value", "a b", "order"])
        names = _COLUMNS.get(table, ("name",))
        name = odd if self._random.random() < 0.03 else self._random.choice(names)
        quoted = self._random.random() < 0.3
        return exp.column(name, table=alias, quoted=quoted)

    def _value(self, depth: int, sources: list[tuple[str, str]]) -> Any:
        roll = self._random.random()
        if depth <= 0 or roll < 0.35:
            return self._column(sources)
        if roll < 0.5:
            return exp.convert(
                self._random.choice([0, 1, -7, 2.5, 10**18, "GEN1", "%1%", "", None])
            )
        if roll < 0.65:
            return self._random.choice(_FUNCTIONS)(this=self._value(depth - 1, sources))
        if roll < 0.85:
            left, right = self._value(depth - 1, sources), self._value(depth - 1, sources)
            return exp.paren(self._random.choice(_PAIRS)(this=left, expression=right))
        return self._rarer(depth, sources)

    def _rarer(self, depth: int, sources: list[tuple[str, str]]) -> Any:
        inner = self._value(depth - 1, sources)
        match self._random.randrange(7):
            case 0:
                return exp.Subquery(this=self._query(depth - 1).limit(1))
            case 1:
                return exp.Exists(this=self._query(depth - 1))
            case 2:
                return exp.In(this=inner, expressions=[self._value(0, sources), exp.convert(1)])
            case 3:
                return exp.cast(inner, self._random.choice(["int", "text", "real", "date"]))
            case 4:
                return exp.case().when(inner, exp.convert("a")).else_(self._value(0, sources))
            case 5:
                order = exp.Order(expressions=[exp.Ordered(this=self._value(0, sources))])
                return exp.Window(this=exp.RowNumber(), order=order)
            case _:
                name = self._random.choice(
                    ["max", "count", "printf", "zeroblob", "load_extension", "x"]
                )
                return exp.Anonymous(this=name, expressions=[inner, self._value(0, sources)])

    def _write(self) -> Any:
        table, columns = self._random.choice(list(_COLUMNS.items()))
        match self._random.randrange(6):
            case 0:
                return exp.insert(self._select(1), table, columns=list(columns[:2]))
            case 1:
                return exp.update(table, {columns[0]: 1}, where=f"{columns[0]} IS NOT NULL")
            case 2:
                return exp.delete(table, where="1 = 1")
            case 3:
                return exp.Create(
                    this=exp.to_table("made"), kind="TABLE", expression=self._select(1)
                )
            case 4:
                return exp.Drop(this=exp.to_table(table), kind="TABLE", exists=True)
            case _:
                words = ["ATTACH 'made.db' AS a", "PRAGMA query_only = 0", "VACUUM", "BEGIN"]
                return exp.Command(this=self._random.choice(words))


@pytest.mark.parametrize("seed", range(6))
def test_random_statements_are_answered_or_refused(genes: Path, seed: int) -> None:
    writer = Writer(seed)
    told = [attempted(genes, writer.statement()) for _ in range(100)]
    answered = sum(isinstance(one, SqlResultPage) for one in told)
    assert 20 < answered < 95  # both ways are gone


@pytest.mark.parametrize("seed", range(6))
def test_mangled_statements_are_answered_or_refused(genes: Path, seed: int) -> None:
    writer = Writer(1000 + seed)
    for _ in range(60):
        attempted(genes, writer.mangled())


def test_random_bytes_are_refused(genes: Path) -> None:
    dice = random.Random(7)
    for size in (1, 3, 10, 100, 1_000, 10_000) * 5:
        attempted(genes, dice.randbytes(size).decode("latin-1"))
        attempted(genes, "SELECT " + dice.randbytes(size).decode("utf-8", "surrogateescape"))
