"""Restore *Th* ligatures that a font maps to another character: *These* appears as ``*ese``.

No English text has many words such as ``*is`` and ``*ese`` but hardly any that begins with *Th*, so
both together prove the replacement. A text that contains such words rarely is left unchanged.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from .lines import LinePiece, PageLines

_FEWEST = 5  # words that only *Th* completes
_RARE = 0.1  # of them, that the text begins with Th in letters
_ENDINGS = r"(?:e|is|ese|ere|us|ey|at|eir|en|erefore|ose|rough|ree)\b"
_CLIPPED = re.compile(rf"(?<!\S)[(\[\u201c]?([^\w\s.,;:()\[\]\u2018-\u201d\"'-])(?={_ENDINGS})")
_SPELLED = re.compile(rf"\bTh(?={_ENDINGS})")


def restore_th_ligatures(pages: list[PageLines]) -> list[PageLines]:
    """Return the pages with *Th* in place of the character that stands for the ligature."""
    signs: Counter[str] = Counter()
    spelled = 0
    for page in pages:
        for line in page.lines:
            signs.update(_CLIPPED.findall(line.text))
            spelled += len(_SPELLED.findall(line.text))
    sign, count = signs.most_common(1)[0] if signs else ("", 0)
    if count < _FEWEST or spelled > _RARE * count:
        return pages
    clipped = re.compile(rf"(?<![^\W_]){re.escape(sign)}(?=[a-z])")
    return [
        replace(page, lines=tuple(_expand_line_ligatures(line, clipped) for line in page.lines))
        for page in pages
    ]


def _expand_line_ligatures(line: LinePiece, clipped: re.Pattern[str]) -> LinePiece:
    rows = tuple(tuple(clipped.sub("Th", cell) for cell in row) for row in line.rows)
    return replace(
        line, text=clipped.sub("Th", line.text), lead=clipped.sub("Th", line.lead), rows=rows
    )
