"""``yield.svg``: papers with a text after each route of the ladder, one row a route.

Each bar begins where the one above it ended, so the ends of the bars are the curve. Drawn as the
flow diagram is: stands alone, needs no font of its own, prints on white.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..model.paper import now
from ..system.plain_text import clean_text, encodable
from ..system.safe_files import replacing
from .charts import ticks_up_to
from .labels import counted, share
from .letter_widths import text_width
from .yield_figures import RouteYield, YieldFigures

CURVE = "yield.svg"
_WIDTH = 980
_LEFT, _RIGHT = 252, 790  # of the bars
_NEW, _SUM = 850, 956  # right edges of the columns of numbers
_TOP, _ROW, _BAR = 150, 36, 20
_INK, _SOFT, _RULE, _PAPER = "#1d2228", "#59616b", "#dcd6ca", "#ffffff"
_SHARED, _ONLY, _LINE, _BARE = "#7fbfb8", "#12726b", "#1d2228", "#b03a4a"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_DASH = ' stroke-dasharray="5 4"'
_SIZE, _SMALL = 14, 12
_APART = 40  # pixels between two labels of the scale


@dataclass(frozen=True, slots=True)
class _Scale:
    most: int

    def x(self, papers: int) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * papers / max(1, self.most), 1)


def write_curve(figures: YieldFigures, title: str, folder: Path) -> Path:
    """Write the figure; return its file.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    path = folder / CURVE
    with replacing(path) as file:
        file.write(svg(figures, title, now()[:10]))
    return path


def svg(figures: YieldFigures, title: str, day: str = "") -> str:
    """The figure of a list called *title*."""
    shown = [one for one in figures.routes() if one.asked or one.had or not one.has_key]
    scale = _Scale(figures.total)
    bottom = _TOP + _ROW * max(1, len(shown))
    height = bottom + 66
    keyed = any(one.key and one.first for one in shown)
    parts = [
        *_head(figures, title, day, keyed),
        *_grid(figures.total, scale, bottom),
        *(_row(one, place, scale, figures.total) for place, one in enumerate(shown)),
        # Below the other line, which it leaves where keys begin to bring something.
        _curve([one.without_keys for one in shown], scale, _BARE, _DASH) if keyed else "",
        _curve([one.cumulative for one in shown], scale, _LINE),
        _text(_LEFT, height - 18, _foot(figures), _SMALL, _SOFT),
    ]
    said = "; ".join(f"{one.label}: {one.first} more, {one.cumulative} in all" for one in shown)
    size = f'width="{_WIDTH}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {size}'
        f' role="img" aria-labelledby="yield-title yield-text" font-family="{_FONT}"'
        f' font-size="{_SIZE}" fill="{_INK}">\n<title id="yield-title">{_safe(_headline(figures))}'
        f'</title><desc id="yield-text">{_safe(said)}</desc>\n'
        f'<rect class="ground" {size} fill="{_PAPER}"/>\n'
        + "\n".join(filter(None, parts))
        + "\n</svg>\n"
    )


def _headline(figures: YieldFigures) -> str:
    found = figures.with_text
    return f"Full text of {found:,} of {counted(figures.total, 'paper')}, route by route"


def _head(figures: YieldFigures, title: str, day: str, keyed: bool) -> list[str]:
    under = " · ".join(filter(None, (_shortened(title, 700, _SIZE), day)))
    legend = [
        ("only this route had it", _ONLY, ""),
        ("others had it, too", _SHARED, ""),
    ]
    if not figures.all_asked:
        legend = [("first at this route", _SHARED, "")]
    drawn = [
        f'<text x="24" y="40" font-size="22" font-weight="bold">{_safe(_headline(figures))}</text>',
        _text(24, 64, under, _SIZE, _SOFT),
    ]
    at = 24.0
    for words, colour, _ in legend:
        drawn.append(f'<rect x="{at:g}" y="84" width="12" height="12" fill="{colour}"/>')
        drawn.append(_text(at + 18, 95, words, _SMALL))
        at += 18 + text_width(words, _SMALL) + 24
    lines = [("papers with a text so far", _LINE, "")]
    lines += [("the same without your keys", _BARE, _DASH)] if keyed else []
    for words, colour, dash in lines:
        drawn.append(
            f'<path d="M{at:g} 90h22" stroke="{colour}" stroke-width="2" fill="none"{dash}/>'
        )
        drawn.append(_text(at + 28, 95, words, _SMALL))
        at += 28 + text_width(words, _SMALL) + 24
    return drawn


def _grid(total: int, scale: _Scale, bottom: float) -> list[str]:
    drawn = []
    end = scale.x(total)
    for tick in ticks_up_to(total, 1):
        x = scale.x(tick.value)
        if x > end - _APART:
            continue
        drawn.append(f'<path d="M{x:g} {_TOP - 6}V{bottom:g}" stroke="{_RULE}"/>')
        drawn.append(_text(x, _TOP - 12, f"{tick.value:,}", _SMALL, _SOFT, "middle"))
    drawn.append(f'<path d="M{end:g} {_TOP - 6}V{bottom:g}" stroke="{_SOFT}"/>')
    drawn.append(_text(end, _TOP - 12, f"{total:,}", _SMALL, _INK, "middle"))
    heads = ((_NEW, "new"), (_SUM, "so far"))
    return drawn + [_text(x, _TOP - 12, words, _SMALL, _SOFT, "end") for x, words in heads]


def _row(one: RouteYield, place: int, scale: _Scale, total: int) -> str:
    y = _TOP + _ROW * place
    middle = y + _ROW / 2
    asked = one.has_key or one.asked or one.had
    colour = _INK if asked else _SOFT
    name = _text(
        _LEFT - 14, middle + 5, _shortened(one.label, _LEFT - 40, _SIZE), _SIZE, colour, "end"
    )
    if not asked:
        needs = f"not asked: needs {one.key.upper()}"
        at = scale.x(one.cumulative)
        if at + 16 + text_width(needs, _SMALL) > _RIGHT:  # then to the left of the curve
            at = scale.x(min(one.cumulative, one.without_keys))
            return name + _text(at - 10, middle + 4, needs, _SMALL, _SOFT, "end")
        return name + _text(at + 10, middle + 4, needs, _SMALL, _SOFT)
    before, top = one.cumulative - one.first, y + (_ROW - _BAR) / 2
    alone = min(one.only or 0, one.first)
    bars = [
        (before, one.first - alone, _SHARED),
        (one.cumulative - alone, alone, _ONLY),
    ]
    drawn = "".join(
        f'<rect x="{scale.x(start):g}" y="{top:g}" height="{_BAR}" fill="{colour}"'
        f' width="{scale.x(start + size) - scale.x(start):.1f}"/>'
        for start, size, colour in bars
        if size
    )
    new = f"+{one.first:,}" if one.first else "–"
    so_far = f"{one.cumulative:,} · {share(one.cumulative, total)}"
    return (
        name
        + drawn
        + _text(_NEW, middle + 5, new, _SIZE, colour, "end")
        + _text(_SUM, middle + 5, so_far, _SIZE, colour, "end")
    )


def _curve(sums: list[int], scale: _Scale, colour: str, dash: str = "") -> str:
    """The line along the ends of the bars, from the first route down to the last."""
    steps, y = [f"M{scale.x(0):g} {_TOP}"], float(_TOP)
    for number in sums:
        steps.append(f"H{scale.x(number):g}V{y + _ROW:g}")
        y += _ROW
    return f'<path d="{"".join(steps)}" stroke="{colour}" stroke-width="2" fill="none"{dash}/>'


def _foot(figures: YieldFigures) -> str:
    parts = []
    if unknown := figures.total - figures.known:
        parts.append(f"{counted(unknown, 'paper')} not asked for yet.")
    if not figures.all_asked:
        parts.append("Each paper was asked for until a text came: who else had it is not known.")
    elif figures.complete < figures.known:
        untold = counted(figures.known - figures.complete, "paper")
        parts.append(f"Of {untold}, some route could not tell.")
    else:
        parts.append("Every route that is open to us was asked for every paper.")
    if any(figures.lost_without().values()):
        bare = figures.routes()[-1].without_keys
        at_least = "" if figures.all_asked else "at least "
        parts.append(f"Without keys: {at_least}{bare:,} ({share(bare, figures.total)}).")
    return " ".join(parts)


def _text(x: float, y: float, words: str, size: int, colour: str = _INK, anchor: str = "") -> str:
    hung = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"{hung}>{_safe(words)}</text>'
    )


def _shortened(words: str, room: float, size: int) -> str:
    words = clean_text(words)[:200]
    while words and text_width(words, size) > room:
        words = words[:-2].rstrip() + "…" if len(words) > 2 else ""
    return words


def _safe(text: str) -> str:
    return escape(encodable(text))
