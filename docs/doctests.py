"""Show the examples of docstrings as code, also outside a section of their own."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"(?:^|(?<=\n\n))(>>> .*?)(?=\n\n(?!>>>)|\Z)", re.S)


class ShowDoctests(Extension):
    """Puts each example that follows an empty line into a block of code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring and "Examples\n---" not in obj.docstring.value:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\1\n```", obj.docstring.value)
