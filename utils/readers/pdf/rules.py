"""Find the straight lines drawn on a PDF page: rules of tables, edges of shaded fields."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .characters import Box
from .native import NUMBER, POINTER, REAL, get_pointer, load_pdfium_functions

_MOST_OBJECTS = 40_000  # of a page, with the sides of paths; a figure of points may have millions
_MOST_SEGMENTS = 500
_THIN = 3.0  # points: a drawn thing that is thinner is a rule
_SHORT = 6.0  # points: shorter lines belong to letters and pictures
_DEEP = 4  # forms within forms
_PATH, _IMAGE, _FORM = 2, 3, 5  # FPDF_PAGEOBJ_…
_LINE, _MOVE = 0, 2  # FPDF_SEGMENT_…
Matrix = tuple[float, float, float, float, float, float]
_AS_IT_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A drawn straight line, or an edge of a shaded field, as a box without thickness."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_horizontal(self) -> bool:
        """True if the rule is horizontal."""
        return self.right - self.left >= self.top - self.bottom


def box_to_rule(box: Box) -> RuleLine:
    """Return a thin box as a line through its middle."""
    left, bottom, right, top = box
    if right - left >= top - bottom:
        return RuleLine(left, (bottom + top) / 2, right, (bottom + top) / 2)
    return RuleLine((left + right) / 2, bottom, (left + right) / 2, top)


def merge_horizontal_rules(rules: Iterable[RuleLine]) -> list[RuleLine]:
    """Return the horizontal rules, with adjoining ones merged."""
    made: list[RuleLine] = []
    for rule in sorted(rules, key=lambda rule: (-round(rule.top), rule.left)):
        last = made[-1] if made else None
        if (
            last
            and abs(last.top - rule.top) < 1.6
            and -5 < rule.left - last.left <= last.right - last.left + 4
        ):
            made[-1] = RuleLine(last.left, last.bottom, max(last.right, rule.right), last.top)
        else:
            made.append(rule)
    return made


def iterate_drawn_lines(page: Any) -> Iterator[Box]:
    """Yield the straight lines drawn parallel to a page's edges, and the edges of fields."""
    work = _MOST_OBJECTS
    for kind, thing, placing in _iterate_page_objects(get_pointer(page.raw)):
        work -= 1
        if work < 0:
            return
        if kind not in (_PATH, _IMAGE):
            continue
        box = _get_object_bounds(thing, placing)
        if min(box[2] - box[0], box[3] - box[1]) < _THIN:
            parts = [box]
        elif kind == _PATH:
            parts = list(_iterate_path_lines(thing, placing))
            work -= len(parts)
        else:
            continue
        yield from (part for part in parts if _is_straight_line(part))


def _iterate_page_objects(
    holder: int, depth: int = 0, placing: Matrix = _AS_IT_IS
) -> Iterator[tuple[int, int, Matrix]]:
    """Yield the objects painted on a page and in its forms.

    Each has its kind, its PDFium pointer, and the matrix to the page's coordinates.
    """
    ask = _load_object_functions()
    count, get = (
        ("FormObj_CountObjects", "FormObj_GetObject")
        if depth
        else ("Page_CountObjects", "Page_GetObject")
    )
    for at in range(ask[count](holder)):
        thing = ask[get](holder, at)
        kind = ask["PageObj_GetType"](thing)
        yield kind, thing, placing
        if kind == _FORM and depth + 1 < _DEEP:
            yield from _iterate_page_objects(
                thing, depth + 1, _compose_matrices(_get_object_matrix(thing), placing)
            )


def _get_object_matrix(thing: int) -> Matrix:
    numbers = (REAL * 6)()
    _load_object_functions()["PageObj_GetMatrix"](thing, numbers)
    return tuple(numbers)


def _compose_matrices(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that applies first *inner* and then *outer*."""
    a, b, c, d, e, f = inner
    g, h, i, j, *_ = outer
    return (
        *(a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j),
        *_transform_point((e, f), outer),
    )


def _transform_point(point: tuple[float, float], matrix: Matrix) -> tuple[float, float]:
    (x, y), (a, b, c, d, e, f) = point, matrix
    return a * x + c * y + e, b * x + d * y + f


def _get_object_bounds(thing: int, placing: Matrix) -> Box:
    edges = (REAL * 4)()
    begin = ctypes.addressof(edges)
    _load_object_functions()["PageObj_GetBounds"](thing, *range(begin, begin + 16, 4))
    left, bottom, right, top = edges
    if placing is _AS_IT_IS:
        return left, bottom, right, top
    return _points_to_box(
        _transform_point((left, bottom), placing), _transform_point((right, top), placing)
    )


def _iterate_path_lines(path: int, placing: Matrix) -> Iterator[Box]:
    """Yield the straight lines of a path."""
    ask = _load_object_functions()
    count = ask["Path_CountSegments"](path)
    if count > _MOST_SEGMENTS:  # a curve
        return
    place = (REAL * 2)()
    matrix = _compose_matrices(_get_object_matrix(path), placing)
    at_x = ctypes.addressof(place)
    first = last = (0.0, 0.0)
    for at in range(count):
        segment = ask["Path_GetPathSegment"](path, at)
        ask["PathSegment_GetPoint"](segment, at_x, at_x + 4)
        point = _transform_point((place[0], place[1]), matrix)
        kind = ask["PathSegment_GetType"](segment)
        if kind == _MOVE:
            first = point
        elif kind == _LINE:
            yield _points_to_box(last, point)
        last = point
        if ask["PathSegment_GetClose"](segment):
            yield _points_to_box(last, first)


def _points_to_box(a: tuple[float, float], b: tuple[float, float]) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def _is_straight_line(box: Box) -> bool:
    """Return whether a box is a horizontal or vertical line longer than a letter's."""
    wide, high = box[2] - box[0], box[3] - box[1]
    return min(wide, high) < _THIN and max(wide, high) >= _SHORT


@cache
def _load_object_functions() -> dict[str, Any]:
    return load_pdfium_functions(
        Page_CountObjects=(NUMBER, POINTER),
        Page_GetObject=(POINTER, POINTER, NUMBER),
        FormObj_CountObjects=(NUMBER, POINTER),
        FormObj_GetObject=(POINTER, POINTER, ctypes.c_ulong),
        PageObj_GetType=(NUMBER, POINTER),
        PageObj_GetBounds=(NUMBER, POINTER, POINTER, POINTER, POINTER, POINTER),
        PageObj_GetMatrix=(NUMBER, POINTER, POINTER),
        Path_CountSegments=(NUMBER, POINTER),
        Path_GetPathSegment=(POINTER, POINTER, NUMBER),
        PathSegment_GetPoint=(NUMBER, POINTER, POINTER, POINTER),
        PathSegment_GetType=(NUMBER, POINTER),
        PathSegment_GetClose=(NUMBER, POINTER),
    )
