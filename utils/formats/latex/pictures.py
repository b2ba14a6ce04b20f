r"""The image files of a LaTeX source's figures, by the labels that print gives these.

The source is read as `.read` does, and each ``\includegraphics`` is noted with the captions of the
figure around it. Tables of one picture count as figures do.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ...model.paper import Fetched
from .commands import COMMANDS
from .environments import ENVIRONMENTS, FLOATS, THEOREMS
from .submission import Submission, take_files, unpack
from .walk import Environment, Walk

_LABEL: Final = re.compile(r"\*\*((?:Figure|Table) [^*]{1,20}?)\.\*\*")
_MOST: Final = 2000  # pictures of a paper


def pictures_of(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    """By label ("Figure 2"), the files its pictures are called in the source.

    Raises
    ------
    BadContent
        There is no TeX in it.
    """
    notes = _Notes()
    walk = Walk(
        _without_bibliography(unpack(fetched.body)),
        COMMANDS | {"includegraphics": notes.picture, "includesvg": notes.picture},
        ENVIRONMENTS | {name: notes.within(ENVIRONMENTS[name]) for name in _figures()},
        THEOREMS,
    )
    walk.run()
    walk.end_document()
    return {label: tuple(dict.fromkeys(names)) for label, names in notes.by_label.items()}


def files_named(
    fetched: Fetched, names: Collection[str], most: int
) -> dict[str, tuple[str, bytes]]:
    r"""Pictures by what ``\includegraphics`` calls them: own name and bytes, *most* in all."""
    return take_files(fetched.body, names, most)


def _figures() -> list[str]:
    plain = [name for name, kind in FLOATS.items() if kind in {"figure", "table"}]
    return [name for name in (*plain, *(f"{name}*" for name in plain)) if name in ENVIRONMENTS]


def _without_bibliography(submission: Submission) -> Submission:
    """The same without lists of references, which have no figures and take most of the time."""
    files = {name: text for name, text in submission.files.items() if not name.endswith(".bib")}
    return Submission(files, submission.main, submission.cut_off)


class _Notes:
    """Which pictures stand in which figure."""

    def __init__(self) -> None:
        self.by_label: dict[str, list[str]] = {}
        self._open: list[str] = []

    def picture(self, walk: Walk) -> None:
        walk.stream.take_star()
        walk.stream.take_option()
        walk.stream.take_option()  # the corners of old
        name = walk.stream.take_text().strip().strip('"')
        if name and len(self._open) < _MOST:
            self._open.append(name)

    def within(self, environment: Environment) -> Environment:
        """A figure that hands what was noted in it to its caption."""

        def begin(walk: Walk, name: str) -> None:
            first = len(self._open)
            environment(walk, name)
            if not walk.scopes or (then := walk.scopes[-1].then) is None:
                return

            def close(blocks: list[str]) -> None:
                self._hand_over(blocks, self._open[first:])
                del self._open[first:]
                then(blocks)

            walk.scopes[-1].then = close

        return begin

    def _hand_over(self, blocks: list[str], names: list[str]) -> None:
        """Several captions get a picture each, where there are as many; else the first has all."""
        labels = [found[1] for block in blocks if (found := _LABEL.match(block))]
        if len(labels) > 1 and len(labels) == len(names):
            for label, name in zip(labels, names, strict=True):
                self.by_label.setdefault(label, []).append(name)
        elif labels:
            self.by_label.setdefault(labels[0], []).extend(names)
