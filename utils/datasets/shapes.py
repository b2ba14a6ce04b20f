"""The shape of many trees at once: which members there are, whether several, and of what kinds.

An object and a list of one object count as the same, as do a scalar and an object that has it as
its own text: records of one database differ so. What no table could hold well (objects with
hundreds of members, such as maps by identifier, and very deep ones) is marked to be kept as JSON.
Everything is bounded, for the trees come from the web.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .scalars import Kind, Scalar, kind_of
from .trees import INNER, OWN, Tree

_DEEPEST = 12  # levels of members
_WIDEST = 120  # members of an object
_WIDEST_RECORD = 600  # members of a record
_MOST = 4000  # members in all


@dataclass(slots=True)
class Shape:
    """One field over all records.

    ``kinds`` are those of its own scalars, ``members`` the fields in it, ``many`` whether several
    came at once; ``as_json`` that it is to be kept as JSON, ``more`` that it has members that were
    not counted.
    """

    depth: int = 0
    kinds: set[Kind] = field(default_factory=set)
    members: dict[str, Shape] = field(default_factory=dict)
    many: bool = False
    as_json: bool = False
    more: bool = False

    @property
    def seen(self) -> bool:
        """Whether any record has a value here; NCBI's date for none is no value."""
        return bool(self.kinds - {"no date"} or self.as_json or self.more) or any(
            member.seen for member in self.members.values()
        )


class Shapes:
    """Learns the shape of records one by one, in ``root``."""

    def __init__(self) -> None:
        self.root = Shape()
        self._left = _MOST

    def learn(self, fields: dict[str, Tree]) -> None:
        """Take one record into account."""
        self._item(fields, self.root)

    def _value(self, value: Tree, shape: Shape) -> None:
        if isinstance(value, list):
            shape.many = True
        for item in items_of(value):
            self._item(item, shape)

    def _item(self, item: Tree, shape: Shape) -> None:
        if not isinstance(item, dict):
            shape.kinds.add(kind_of(item))
            return
        if shape.as_json:
            return
        if shape.depth >= _DEEPEST:
            self._give_up(shape)
            return
        for name, value in item.items():
            if name == OWN and not isinstance(value, dict | list):
                if not is_nothing(value):
                    shape.kinds.add(kind_of(value))
            elif (member := self._member(shape, name)) is not None:
                self._value(value, member)

    def _member(self, shape: Shape, name: str) -> Shape | None:
        if member := shape.members.get(name):
            return member
        if shape.depth and len(shape.members) >= _WIDEST:
            self._give_up(shape)
        elif not self._left or len(shape.members) >= _WIDEST_RECORD:
            shape.more = True
        if shape.as_json or shape.more:
            return None
        self._left -= 1
        shape.members[name] = Shape(shape.depth + 1)
        return shape.members[name]

    def _give_up(self, shape: Shape) -> None:
        shape.as_json = True
        self._left += sum(1 for _ in _below(shape))
        shape.members.clear()


def _below(shape: Shape) -> Iterator[Shape]:
    for member in shape.members.values():
        yield member
        yield from _below(member)


def is_nothing(value: Tree) -> bool:
    """Whether a value is empty."""
    return value is None or value == "" or value == [] or value == {}


def items_of(value: Tree) -> list[dict[str, Tree] | Scalar]:
    """What stands in a field, as a list; a list within a list is an object around it.

    >>> items_of("a"), items_of([1, None, [2]]), items_of("")
    (['a'], [1, {'values': [2]}], [])
    """
    if not isinstance(value, list):
        return [] if is_nothing(value) else [value]
    return [
        {INNER: item} if isinstance(item, list) else item for item in value if not is_nothing(item)
    ]
