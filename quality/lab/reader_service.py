"""Markdown as a reader service delivers a page: envelope, links written out, furniture kept."""

from __future__ import annotations

import random
import re

from quality.lab.dress import Style, cited, sorted_references
from quality.lab.manuscript import Block, Manuscript
from quality.lab.page import SITE
from quality.lab.words import LEGAL, LETTERS, MENU, TOOLS


def delivered(blocks: list[Block], paper: Manuscript, style: Style, dice: random.Random) -> bytes:
    """The answer of a reader service for the page of these blocks."""
    return _Answer(paper, style, dice).whole(blocks).encode()


class _Answer:
    def __init__(self, paper: Manuscript, style: Style, dice: random.Random) -> None:
        self.paper, self.style, self.dice = paper, style, dice
        self.setext = dice.random() < 0.4
        self.bullet = dice.choice(("*   ", "- ", "*   "))
        self.pictures = 0

    def whole(self, blocks: list[Block]) -> str:
        dice, number = self.dice, self.style.furniture
        lines = [f"Title: {self.paper.title}", f"URL Source: {SITE}/{dice.randrange(10**5)}"]
        if dice.random() < 0.4:
            lines.append(f"Published Time: {self.paper.year}-03-01T00:00:00Z")
        lines.append("Markdown Content:")
        before = [*dice.sample(MENU, min(len(MENU), number // 3))]
        after = [*dice.sample(TOOLS, min(len(TOOLS), number // 3)), *dice.sample(MENU, 3)]
        parts = [self.links(before), *map(self.block, blocks)]
        if number:
            parts += [*dice.sample(LETTERS, dice.randrange(2)), self.links(after)]
            parts.append(dice.choice(LEGAL))
        return "\n\n".join([*lines, *(part for part in parts if part)])

    def link(self, text: str) -> str:
        return f"[{text}]({SITE}/{self.dice.randrange(10**6)})"

    def links(self, texts: list[str] | tuple[str, ...]) -> str:
        return "\n".join(f"{self.bullet}{self.link(text)}" for text in texts)

    def block(self, block: Block) -> str:
        made: str = getattr(self, f"_{block.kind}")(block)
        return made

    def text(self, text: str) -> str:
        told = cited(text, self.paper, self.style, ("\ue010", "\ue011"))
        if self.style.linked and self.style.cites != "author_year":
            told = re.sub(
                "(?<=[\ue010(\\[,–])([0-9]{1,3})(?=[\ue011)\\],–])", rf"[\1]({SITE}/a#ref\1)", told
            )
        told = re.sub("\ue010([^\ue011]*)\ue011", r"\1" if self.style.linked else r" \1", told)
        return told.replace("*", "\\*") if "](" not in told else told

    def _heading(self, block: Block) -> str:
        text = self.text(block.text)
        if self.setext and block.level < 3:
            return f"{text}\n{('=' if block.level == 1 else '-') * max(3, len(text))}"
        return f"{'#' * min(block.level, 6)} {text}"

    def _para(self, block: Block) -> str:
        return self.text(block.text)

    def _list(self, block: Block) -> str:
        return "\n".join(f"{self.bullet}{self.text(item)}" for item in block.items)

    def _links(self, block: Block) -> str:
        title = f"### {block.text}\n\n" if block.text else ""
        return title + self.links(block.items)

    def _refs(self, block: Block) -> str:
        items = list(block.items)
        known = {reference.text for reference in self.paper.references}
        named = self.style.cites == "author_year"
        if named and set(items) <= known:
            kept = set(items)
            items = [r.text for r in sorted_references(self.paper.references) if r.text in kept]
        tail = f" [Google Scholar]({SITE}/s)" if self.style.linked else ""
        if self.style.references == "table":
            rows = "\n".join(f"| {n}. | {item}{tail} |" for n, item in enumerate(items, start=1))
            return f"|  |  |\n| --- | --- |\n{rows}"
        lines = (
            f"{self.bullet if named else f'{n}.  '}{item}{tail}"
            for n, item in enumerate(items, start=1)
        )
        apart = self.style.references == "paragraphs"
        return ("\n\n" if apart else "\n").join(lines)

    def _figure(self, block: Block) -> str:
        self.pictures += 1
        return f"![Image {self.pictures}]({SITE}/f{self.pictures}.jpg)\n\n{self.text(block.text)}"

    def _table(self, block: Block) -> str:
        width = max((len(row) for row in block.rows), default=0)
        rows = [
            "| "
            + " | ".join([*(c.replace("|", "\\|") for c in row), *[""] * (width - len(row))])
            + " |"
            for row in block.rows
        ]
        rule = ["|" + " --- |" * width] if rows else []
        return f"{self.text(block.text)}\n\n" + "\n".join([*rows[:1], *rule, *rows[1:]])

    def _formula(self, block: Block) -> str:
        return block.text

    def _button(self, block: Block) -> str:
        return self.link(block.text) if self.dice.random() < 0.6 else block.text

    def _form(self, block: Block) -> str:
        return "\n\n".join((block.text, *block.items))
