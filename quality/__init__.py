"""How good the texts are: extraction and verdicts measured against the truth, and kept there.

A *folder of cases* (the recorded one in ``../shared/data``, or our own, see `own`) is scored kind
by kind; every `Score` counts things that were right (a paragraph kept, a cell in its place, a page
called by its name) and lists those that were not. ``floors.json`` holds what was reached: the gate
(``quality/test_gate.py``) fails when a score sinks below its floor, and
``python -m quality --update`` raises floors but never lowers one.

The truth comes from the cases themselves, read here by code that shares nothing with the readers.
"""

from __future__ import annotations

from quality.measures import Score

__all__ = ["Score"]
