"""Find framed tables: cells separated by ruling lines, with or without captions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from .rows import FULL
from .rules import RuleLine, merge_horizontal_rules

_NEAR = 3.0  # points: how far apart rules end that touch
_INSIDE = 4.0  # points: nearer to its side a rule is the frame's
_MOST = 400  # rules of one direction; more are a picture, not a frame
_LEAST = 30.0  # points: a smaller frame holds no table


def find_cell_frames(rules: Sequence[RuleLine]) -> list[RuleLine]:
    """Return the boxes of all groups of ruled cells, the largest first."""
    flat = merge_horizontal_rules(rule for rule in rules if rule.is_horizontal)
    lying = merge_horizontal_rules(
        _swap_rule_axes(rule) for rule in rules if not rule.is_horizontal
    )
    upright = sorted(map(_swap_rule_axes, lying), key=lambda rule: rule.left)
    if not 2 <= len(flat) <= _MOST or not 1 <= len(upright) <= _MOST:
        return []
    boxes = (
        _get_bounding_box(group)
        for group in _group_touching_rules(flat, upright)
        if _is_cell_grid(group)
    )
    return sorted(boxes, key=lambda box: (box.left - box.right) * (box.top - box.bottom))


def find_drawn_boxes(rules: Sequence[RuleLine]) -> list[RuleLine]:
    """Return the rectangles drawn around content, the largest first."""
    flat = merge_horizontal_rules(rule for rule in rules if rule.is_horizontal)
    tops = sorted(flat, key=lambda rule: rule.top)
    heights = [rule.top for rule in tops]
    found: set[RuleLine] = set()
    for side in [
        rule for rule in rules if not rule.is_horizontal and rule.top - rule.bottom > _LEAST
    ][:_MOST]:
        upper, lower = (
            [
                rule
                for rule in tops[
                    bisect_left(heights, end - _NEAR) : bisect_right(heights, end + _NEAR)
                ]
                if abs(rule.left - side.left) < _NEAR and rule.right - rule.left > _LEAST
            ]
            for end in (side.top, side.bottom)
        )
        found |= {
            RuleLine(above.left, below.top, above.right, above.top)
            for above in upper
            for below in lower
            if abs(above.right - below.right) < _NEAR
        }
    return sorted(found, key=lambda box: (box.left - box.right) * (box.top - box.bottom))


def _swap_rule_axes(rule: RuleLine) -> RuleLine:
    return RuleLine(rule.bottom, rule.left, rule.top, rule.right)


def _group_touching_rules(
    flat: list[RuleLine], upright: list[RuleLine]
) -> Iterator[list[RuleLine]]:
    """Yield the rules in groups whose members cross or touch each other."""
    groups = list(range(len(flat) + len(upright)))

    def group_of(at: int) -> int:
        while groups[at] != at:
            groups[at] = groups[groups[at]]
            at = groups[at]
        return at

    lefts = [rule.left for rule in upright]
    for at, rule in enumerate(flat):
        first, last = bisect_left(lefts, rule.left - _NEAR), bisect_right(lefts, rule.right + _NEAR)
        for number in range(first, last):
            if upright[number].bottom - _NEAR < rule.top < upright[number].top + _NEAR:
                groups[group_of(len(flat) + number)] = group_of(at)
    found: dict[int, list[RuleLine]] = {}
    for at, rule in enumerate((*flat, *upright)):
        found.setdefault(group_of(at), []).append(rule)
    return iter(found.values())


def _get_bounding_box(group: list[RuleLine]) -> RuleLine:
    return RuleLine(
        min(rule.left for rule in group),
        min(rule.bottom for rule in group),
        max(rule.right for rule in group),
        max(rule.top for rule in group),
    )


def _is_cell_grid(group: list[RuleLine]) -> bool:
    """Return whether rules separate rows and columns across the whole group."""
    box = _get_bounding_box(group)
    wide, high = box.right - box.left, box.top - box.bottom
    if min(wide, high) < _LEAST:
        return False
    across = {
        round(r.top / _NEAR) for r in group if r.is_horizontal and r.right - r.left >= FULL * wide
    }
    return len(across) > 1 and bool(list(iterate_upright_positions(group, box)))


def iterate_upright_positions(rules: Iterable[RuleLine], box: RuleLine) -> Iterator[float]:
    """Yield the positions of upright rules inside a box that span most of its height."""
    inside = sorted(
        (rule.left, rule.top - rule.bottom)
        for rule in rules
        if not rule.is_horizontal and box.left + _INSIDE < rule.left < box.right - _INSIDE
    )
    run: list[tuple[float, float]] = []
    for place, long in [*inside, (float("inf"), 0.0)]:
        if run and place - run[-1][0] > _NEAR:
            if sum(length for _, length in run) > 0.5 * (box.top - box.bottom):
                yield (run[0][0] + run[-1][0]) / 2
            run = []
        run.append((place, long))
