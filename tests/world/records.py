"""All papers of a world: its own, and behind them those of a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from utils.demo import records
from utils.demo.records import Record

if TYPE_CHECKING:
    from tests.world.field import Field


class Corpus(records.Corpus):
    """All papers of a world, found by any of their names."""

    def __init__(self, papers: Iterable[Record], field: Field | None = None) -> None:
        own = list(papers)
        self.records = Papers(own, field or ())
        self.by_pmid = Names({r.pmid: r for r in own if r.pmid}, field and field.by_pmid)
        self.by_pmcid = Names({r.pmcid: r for r in own if r.pmcid}, field and field.by_pmcid)
        self.by_doi = Names({r.doi.lower(): r for r in own if r.doi}, field and field.by_doi)
        self.by_arxiv = Names({r.arxiv: r for r in own if r.arxiv}, field and field.by_arxiv)

    def branch(self, name: str) -> Record:
        """The first paper of a branch."""
        return next(record for record in self.records if record.branch == name)


class Names(dict[str, Record]):
    """Papers by one kind of name; those of the field are made when asked for, and not listed."""

    def __init__(
        self, known: Mapping[str, Record], field: Callable[[str], Record | None] | None
    ) -> None:
        super().__init__(known)
        self.field = field or (lambda name: None)

    def __missing__(self, name: str) -> Record:
        if record := self.field(name):
            return record
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The paper, or *default*."""
        return super().get(name) or self.field(name) or default


class Papers(Sequence[Record]):
    """Some papers, and behind them those of the field, one at a time."""

    def __init__(self, own: list[Record], field: Sequence[Record]) -> None:
        self.own = own
        self.field = field

    def __len__(self) -> int:
        return len(self.own) + len(self.field)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        at = range(len(self))[at]
        return self.own[at] if at < len(self.own) else self.field[at - len(self.own)]

    def __iter__(self) -> Iterator[Record]:
        yield from self.own
        yield from self.field
