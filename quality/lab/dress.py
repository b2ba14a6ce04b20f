"""How a paper is dressed: the style a rendering follows, drawn at random or set by a kind."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from quality.lab.manuscript import GROUP, Block, Manuscript, Reference
from quality.lab.words import ABSTRACT, HEADINGS, REFERENCES

Cites = Literal["brackets", "parens", "superscript", "author_year"]


@dataclass(frozen=True)
class Style:
    """Choices of layout; those of paper print (columns, margins) and of screens."""

    cites: Cites = "brackets"
    columns: int = 1
    line_numbers: bool = False
    running_heads: bool = False
    references: Literal["list", "table", "paragraphs", "none"] = "list"
    linked: bool = True
    tagged: bool = True  # citation_* tags in the head
    layout: int = 0
    furniture: int = 12  # links around the text
    hyphens: bool = False  # words broken where a line of print ends
    noise: float = 0.0  # share of letters a scanner misreads


def drawn(dice: random.Random, **settled: object) -> Style:
    """A style by chance, with what a kind has settled."""
    style = Style(
        cites=dice.choice(("brackets", "parens", "superscript", "author_year", "brackets")),
        columns=dice.choice((1, 1, 2)),
        running_heads=dice.random() < 0.6,
        linked=dice.random() < 0.6,
        tagged=dice.random() < 0.8,
        layout=dice.randrange(6),
        furniture=dice.randrange(6, 40),
    )
    return replace(style, **settled)  # type: ignore[arg-type]


def composed(paper: Manuscript, dice: random.Random, *, headed: bool = True) -> list[Block]:
    """The paper from its title to its last reference."""
    blocks = [*head(paper, dice), *abstract(paper, dice, headed=headed), *paper.body, *paper.back]
    return [*blocks, *reference_list(paper, dice, headed=headed)]


def head(paper: Manuscript, dice: random.Random) -> list[Block]:
    """Title, authors and where it appeared."""
    names = ", ".join(name for name, _ in paper.people)
    places = tuple(dict.fromkeys(place for _, place in paper.people if place))
    blocks = [Block("heading", paper.title, 1)]
    blocks += [Block("para", names)] if names else []
    blocks += [Block("list", items=places)] if places and dice.random() < 0.7 else []
    doi = f" https://doi.org/{paper.paper.ids.doi}" if paper.paper.ids.doi else ""
    return [*blocks, Block("para", f"{paper.journal} {paper.year}; {paper.paper.pages}{doi}")]


def abstract(
    paper: Manuscript, dice: random.Random, *, headed: bool = True, word: str = ""
) -> list[Block]:
    """The abstract with its heading; nothing where the paper has none."""
    told = list(paper.abstract) or [Block("para", paper.abstract_text)]
    told = [block for block in told if block.text]
    if told and headed:
        return [Block("heading", word or dice.choice(ABSTRACT[:4])), *told]
    return told


def reference_list(
    paper: Manuscript, dice: random.Random, *, headed: bool = True, word: str = ""
) -> list[Block]:
    """The list of references, alphabetical or not as the renderer numbers them."""
    if not paper.references:
        return []
    items = tuple(reference.text for reference in paper.references)
    title = Block("heading", word or dice.choice(REFERENCES))
    return [*([title] if headed else []), Block("refs", items=items)]


def cited(text: str, paper: Manuscript, style: Style, marks: tuple[str, str] = ("", "")) -> str:
    """The text with its citations as *style* prints them; *marks* around what is raised."""

    def one(numbers: str) -> str:
        places = [int(part) for part in numbers.split(",")]
        if style.cites == "author_year":
            works = [paper.references[at] for at in places if at < len(paper.references)]
            return f"({'; '.join(work.short for work in works)})"
        told = ranges([at + 1 for at in places])
        if style.cites == "superscript":
            return f"{marks[0]}{told}{marks[1]}"
        return f"({told})" if style.cites == "parens" else f"[{told}]"

    text = GROUP.sub(lambda found: one(found.group(1)), text)
    return text.replace(f" {marks[0]}", marks[0]) if marks[0] else text


def ranges(numbers: Iterable[int]) -> str:
    """1, 2, 3, 7 as ``1–3,7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    one = (f"{a}" if a == b else f"{a},{b}" if b == a + 1 else f"{a}–{b}" for a, b in runs)
    return ",".join(one)


def sorted_references(references: tuple[Reference, ...]) -> list[Reference]:
    """As lists by author and year stand."""
    return sorted(references, key=lambda one: (one.families or (one.text,), one.year))


def translated(text: str, language: str) -> str:
    """A section's title in another language; as it is where we know no word for it."""
    words, lower = HEADINGS[language], text.lower()
    for key, stems in _STEMS.items():
        if any(stem in lower for stem in stems) and "supple" not in lower:
            return words[key]
    return text


_STEMS = {
    "introduction": ("introduc",), "background": ("background",),
    "abstract": ("abstract", "summary"),
    "methods": ("method", "material", "procedure"), "results": ("result", "finding"),
    "discussion": ("discussion",), "conclusion": ("conclu",),
    "acknowledgements": ("acknowledg",), "references": ("reference", "literature", "bibliograph"),
}  # fmt: skip
