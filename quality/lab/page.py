"""Publisher-like pages of blocks, in several layouts, with class names and furniture by chance."""

from __future__ import annotations

import random
import re
from html import escape

from quality.lab.dress import Style, cited, sorted_references
from quality.lab.manuscript import Block, Manuscript
from quality.lab.words import CLASSES, LEGAL, LETTERS, MENU, SIDES, TOOLS

SITE = "https://journal.test"


def page(blocks: list[Block], paper: Manuscript, style: Style, dice: random.Random) -> bytes:
    """The page a site would send."""
    return _Page(paper, style, dice).whole(blocks).encode()


class _Page:
    """One page, its names settled once."""

    def __init__(self, paper: Manuscript, style: Style, dice: random.Random) -> None:
        self.paper, self.style, self.dice = paper, style, dice
        self.names = dice.sample(CLASSES, 8)
        self.sides = dice.sample(SIDES, 6)
        self.top = dice.choice(("article", "main", "div"))
        self.mark = dice.choice(("B", "ref-CR", "bib", "R", "cit"))

    def whole(self, blocks: list[Block]) -> str:
        dice, style = self.dice, self.style
        inner = self.table_layout(blocks) if style.layout == 3 else self.flow(blocks)
        text = f'<{self.top} class="{self.names[0]}">{inner}</{self.top}>'
        side = self.furniture(style.furniture // 2) if style.furniture else ""
        around = [text, side]
        if dice.random() < 0.4:
            around.reverse()
        head = self.head()
        return (
            f'<!DOCTYPE html><html lang="{self.paper.language}"><head>{head}</head><body>'
            f"{self.menu(style.furniture // 3)}<div class='{self.names[1]}'>{''.join(around)}</div>"
            f"{self.footer()}</body></html>"
        )

    def head(self) -> str:
        paper, title = self.paper, escape(self.paper.title)
        tags = [f"<meta charset='utf-8'><title>{title} | {escape(paper.journal)}</title>"]
        if self.style.tagged:
            tags.append(f'<meta name="citation_title" content="{title}">')
            tags.append(f'<meta name="citation_doi" content="{escape(paper.paper.ids.doi)}">')
            tags += [
                f'<meta name="citation_author" content="{escape(name)}">'
                for name, _ in paper.people[:40]
            ]
        else:
            tags.append(f'<meta property="og:title" content="{title}">')
        tags.append("<script>window.dataLayer=[];</script><style>.a{color:#123}</style>")
        return "".join(tags)

    def menu(self, number: int) -> str:
        links = self.links(self.dice.sample(MENU, min(number, len(MENU))))
        return f'<header class="{self.sides[0]}"><nav>{links}</nav></header>' if number else ""

    def footer(self) -> str:
        if not self.style.furniture:
            return ""
        text = " ".join(self.dice.sample(LEGAL, 3))
        links = self.links(self.dice.sample(MENU, 6))
        return f'<footer class="{self.sides[1]}">{links}<p>{escape(text)}</p></footer>'

    def furniture(self, number: int) -> str:
        dice = self.dice
        parts = [f"<ul>{self.items(dice.sample(TOOLS, min(number, len(TOOLS))))}</ul>"]
        parts += [f"<p>{escape(text)}</p>" for text in dice.sample(LETTERS, dice.randrange(3))]
        tag = dice.choice(("aside", "div"))
        return f'<{tag} class="{self.sides[2]}">{"".join(parts)}</{tag}>'

    def items(self, texts: list[str] | tuple[str, ...]) -> str:
        return "".join(f"<li>{self.link(text)}</li>" for text in texts)

    def links(self, texts: list[str]) -> str:
        return f"<ul>{self.items(texts)}</ul>"

    def link(self, text: str) -> str:
        return f'<a href="{SITE}/{self.dice.randrange(10**6)}">{escape(text)}</a>'

    def flow(self, blocks: list[Block]) -> str:
        out, opened = [], False
        sections = self.style.layout in {0, 5}
        for block in blocks:
            if sections and block.kind == "heading" and block.level == 2:
                out.append(("</section>" if opened else "") + f'<section class="{self.names[2]}">')
                opened = True
            out.append(self.block(block))
        return "".join(out) + ("</section>" if opened else "")

    def block(self, block: Block) -> str:
        made: str = getattr(self, f"_{block.kind}")(block)
        return made

    def text(self, text: str) -> str:
        told = cited(escape(text), self.paper, self.style, ("\ue010", "\ue011"))
        if self.style.linked and self.style.cites != "author_year":
            told = re.sub(
                "(?<=[\ue010(\\[,–])([0-9]{1,3})(?=[\ue011)\\],–])",
                rf'<a href="#{self.mark}\1">\1</a>',
                told,
            )
        return told.replace("\ue010", "<sup>").replace("\ue011", "</sup>")

    def _heading(self, block: Block) -> str:
        level = min(block.level + (self.style.layout == 1 and block.level > 1), 6)
        return f"<h{level}>{self.text(block.text)}</h{level}>"

    def _para(self, block: Block) -> str:
        if self.style.layout == 2:
            return f'<div class="{self.names[3]}">{self.text(block.text)}</div>'
        return f"<p>{self.text(block.text)}</p>"

    def _list(self, block: Block) -> str:
        items = "".join(f"<li>{self.text(item)}</li>" for item in block.items)
        return f"<ul>{items}</ul>"

    def _links(self, block: Block) -> str:
        title = f"<h3>{escape(block.text)}</h3>" if block.text else ""
        if self.style.layout % 2:
            cards = "".join(
                f'<div class="{self.sides[3]}">{self.link(t)}</div>' for t in block.items
            )
            return f'<div class="{self.sides[4]}">{title}{cards}</div>'
        return f'<div class="{self.sides[4]}">{title}{self.links(list(block.items))}</div>'

    def _refs(self, block: Block) -> str:
        items = list(block.items)
        known = {reference.text for reference in self.paper.references}
        if self.style.cites == "author_year" and set(items) <= known:
            kept = set(items)
            items = [r.text for r in sorted_references(self.paper.references) if r.text in kept]
        rows = [(at, escape(item)) for at, item in enumerate(items, start=1)]
        tail = ' <a href="https://doi.test/x">Google Scholar</a>' if self.style.linked else ""
        mark = self.mark
        if self.style.references == "table":
            cells = "".join(
                f'<tr id="{mark}{n}"><td>{n}.</td><td>{text}{tail}</td></tr>' for n, text in rows
            )
            return f"<table>{cells}</table>"
        if self.style.references == "paragraphs" or self.style.layout == 4:
            number = self.style.cites != "author_year"
            return "".join(
                f'<{"p" if number else "div"} id="{mark}{n}">{f"{n}. " if number else ""}{text}'
                f"{tail}</{'p' if number else 'div'}>"
                for n, text in rows
            )
        tag = "ul" if self.style.cites == "author_year" else "ol"
        listed = "".join(f'<li id="{mark}{n}">{text}{tail}</li>' for n, text in rows)
        return f'<{tag} class="{self.names[4]}">{listed}</{tag}>'

    def _figure(self, block: Block) -> str:
        number = self.dice.randrange(10**4)
        return (
            f'<figure><img src="{SITE}/f{number}.jpg" alt=""><figcaption>{self.text(block.text)}'
            "</figcaption></figure>"
        )

    def _table(self, block: Block) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in block.rows
        )
        caption = f'<div class="{self.names[5]}">{self.text(block.text)}</div>'
        return f"{caption}<table>{rows}</table>" if rows else f"<p>{self.text(block.text)}</p>"

    def _formula(self, block: Block) -> str:
        return f'<div class="{self.names[6]}">{escape(block.text)}</div>'

    def _button(self, block: Block) -> str:
        tag = self.dice.choice(("button", "a", "div", "span"))
        href = f' href="{SITE}/go"' if tag == "a" else ""
        return f'<div class="{self.sides[5]}"><{tag}{href}>{escape(block.text)}</{tag}></div>'

    def _form(self, block: Block) -> str:
        fields = "".join(f"<label>{escape(i)}</label><input name='f'>" for i in block.items)
        secret = "<input type='password' name='p'>" if self.dice.random() < 0.7 else ""
        return (
            f"<form action='/go' method='post'><p>{escape(block.text)}</p>{fields}{secret}</form>"
        )

    def table_layout(self, blocks: list[Block]) -> str:
        """Pages of the nineties: one cell, bold titles, line breaks."""
        out = []
        for block in blocks:
            if block.kind == "para":
                out.append(f"<font size='2'>{self.text(block.text)}</font><br><br>")
            elif block.kind == "heading" and block.level > 1:
                out.append(f"<h3><font size='3'>{self.text(block.text)}</font></h3>")
            else:
                out.append(self.block(block))
        return f"<table width='700'><tr><td valign='top'>{''.join(out)}</td></tr></table>"
