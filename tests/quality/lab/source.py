r"""A submission in LaTeX, packed as arXiv packs it."""

from __future__ import annotations

import random

from tests.formats.latex_articles import submission
from tests.quality.lab.dress import Style, cited
from tests.quality.lab.manuscript import GROUP, Block, Manuscript

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "$": r"\$",
    "&": r"\&", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_SECTIONS = {2: "section", 3: "subsection", 4: "subsubsection"}


def submitted(blocks: list[Block], paper: Manuscript, style: Style, dice: random.Random) -> bytes:
    """The blocks as an author would have typed them."""
    options = dice.choice(("", "[12pt]", "[twocolumn]", "[a4paper,11pt]"))
    names = r" \and ".join(_escaped(name) for name, _ in paper.people[:30])
    lines = [rf"\documentclass{options}{{article}}", r"\usepackage{graphicx,amsmath}"]
    lines += [rf"\title{{{_escaped(paper.title)}}}", rf"\author{{{names}}}"]
    lines += [r"\begin{document}", r"\maketitle"]
    in_abstract = False
    for block in blocks:
        if block.kind == "heading" and block.text.lower() in {"abstract", "summary", "synopsis"}:
            lines += [] if in_abstract else [r"\begin{abstract}"]
            in_abstract = True
            continue
        if in_abstract and block.kind == "heading" and block.level > 2:
            block = Block("para", block.text)  # noqa: PLW2901
        if in_abstract and block.kind != "para":
            lines.append(r"\end{abstract}")
            in_abstract = False
        lines.append(_block(block, paper, style))
    return submission({"main.tex": "\n\n".join([*lines, r"\end{document}"])})


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def _text(text: str, paper: Manuscript, style: Style) -> str:
    if style.cites == "author_year":
        return _escaped(cited(text, paper, style))
    escaped = _escaped(text)
    return GROUP.sub(
        lambda found: r"\cite{" + ",".join(f"r{at}" for at in found.group(1).split(",")) + "}",
        escaped,
    )


def _block(block: Block, paper: Manuscript, style: Style) -> str:
    text = _text(block.text, paper, style)
    if block.kind == "heading":
        return "" if block.level == 1 else rf"\{_SECTIONS.get(block.level, 'paragraph')}{{{text}}}"
    if block.kind == "refs":
        items = "\n".join(
            rf"\bibitem{{r{at}}} {_escaped(item)}" for at, item in enumerate(block.items)
        )
        return rf"\begin{{thebibliography}}{{99}}{items}\end{{thebibliography}}"
    if block.kind in {"list", "links"}:
        items = "\n".join(rf"\item {_text(item, paper, style)}" for item in block.items)
        return rf"\begin{{itemize}}{items}\end{{itemize}}" if items else ""
    if block.kind == "figure":
        return rf"\begin{{figure}}\includegraphics{{f.pdf}}\caption{{{text}}}\end{{figure}}"
    if block.kind == "table":
        width = max((len(row) for row in block.rows), default=1)
        rows = "\\\\\n".join(" & ".join(map(_escaped, row)) for row in block.rows)
        table = rf"\begin{{tabular}}{{{'l' * width}}}{rows}\end{{tabular}}"
        return rf"\begin{{table}}\caption{{{text}}}{table}\end{{table}}"
    return text
