"""Markdown of authors' LaTeX sources against what print makes of them, known by construction."""

from __future__ import annotations

import re

from tests.quality.cases import Source
from tests.quality.measures import Scores, order_of_runs, recall, runs, words
from utils.model.paper import Document

_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.S)
_NUMBER = re.compile(r"\\tag\{([^}]*)\}")
_LAYOUT = re.compile(r"\\(?:begin|end)\{aligned\}|\\tag\{[^}]*\}|\\;|[\s&]")


def score(source: Source, document: Document, scores: Scores) -> None:
    """Words in their order, formulas with the authors' commands spelled out, references."""
    wanted = words(source.printed)
    found = words(_FORMULA.sub(_number, document.markdown))
    scores["LaTeX words"].add(recall(runs(wanted, 1), runs(found, 1)), source.name)
    scores["LaTeX order"].add(order_of_runs(wanted, found), source.name)
    made = _bare(document.markdown)
    for tex in source.formulas:
        scores["LaTeX formulas"].count(_bare(tex) in made, f"{source.name}: {tex}")
    told = f"{source.name}: {document.references} instead of {source.references}"
    scores["LaTeX references"].count(document.references == source.references, told)


def _number(formula: re.Match[str]) -> str:
    """What print shows of a formula beside it."""
    return f" {' '.join(_NUMBER.findall(formula[0]))} "


def _bare(tex: str) -> str:
    return _LAYOUT.sub("", tex.replace("\\vert", "|").replace("\\lt ", "<"))
