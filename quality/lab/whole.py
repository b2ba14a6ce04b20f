"""Whole papers, plain and in hard dress: every one of them deserves ``full_text``."""

from __future__ import annotations

from dataclasses import replace

from quality.lab.dress import abstract, composed, head, reference_list, translated
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.landing import crowd
from quality.lab.manuscript import Block
from quality.lab.sources import LEAST_WORDS
from quality.lab.words import COOKIES, HEADINGS, LETTERS, OFFERS, RELATED, SIGN_IN, TOOLS


def is_title(block: Block) -> bool:
    """Whether it is the title of a section."""
    return block.kind == "heading" and block.level > 1


@kind("as recorded", TUNING, ("jats",), whole=True, weight=99)
def recorded(scene: Scene) -> Made:
    return scene.paper.jats


@kind("plain", TUNING, ALL, whole=True, weight=2)
def plain(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("plain, authors and years", HELD_OUT, ALL, whole=True, cites="author_year")
def author_year(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("raised numbers", TUNING, ALL, whole=True, cites="superscript")
def raised(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("two columns, running heads", TUNING, ("pdf",), whole=True, columns=2, running_heads=True)
def columns(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("numbered lines", HELD_OUT, ("pdf",), whole=True, line_numbers=True, columns=1)
def numbered_lines(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("no headings", TUNING, ALL, whole=True)
def headless(scene: Scene) -> Made:
    paper = scene.paper
    if paper.body_words < LEAST_WORDS:
        return None
    blocks = composed(paper, scene.dice, headed=False)
    return [block for block in blocks if block.kind != "heading" or block.level == 1]


@kind("one paragraph", HELD_OUT, ALL, whole=True)
def one_paragraph(scene: Scene) -> Made:
    paper = scene.paper
    if paper.body_words < LEAST_WORDS:
        return None
    text = " ".join(block.text for block in paper.body if block.kind == "para")
    floats = [block for block in paper.body if block.kind in {"figure", "table"}]
    blocks = [*head(paper, scene.dice), *abstract(paper, scene.dice), Block("para", text)]
    return [*blocks, *floats, *reference_list(paper, scene.dice)]


@kind("figures and tables at the end", HELD_OUT, ALL, whole=True)
def floats_last(scene: Scene) -> Made:
    paper = scene.paper
    floats = [block for block in paper.body if block.kind in {"figure", "table"}]
    text = tuple(block for block in paper.body if block.kind not in {"figure", "table"})
    return [*composed(replace(paper, body=text), scene.dice), *floats]


@kind("titles in another language", TUNING, ALL, whole=True)
def foreign_titles(scene: Scene) -> Made:
    languages = [
        code for code in HEADINGS if scene.medium != "pdf" or code not in {"ru", "zh", "ja"}
    ]
    language = scene.dice.choice(languages)
    return [
        replace(block, text=translated(block.text, language)) if is_title(block) else block
        for block in composed(scene.paper, scene.dice)
    ]


@kind("thousands of authors", HELD_OUT, ALL, whole=True, weight=0.7)
def thousands(scene: Scene) -> Made:
    paper = crowd(scene, scene.dice.randint(1000, 3000))
    return composed(paper, scene.dice), paper


@kind("references in a table", TUNING, SCREEN, whole=True, references="table")
def tabled(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("references as paragraphs", HELD_OUT, SCREEN, whole=True, references="paragraphs")
def paragraphed(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("nested numbering", HELD_OUT, ALL, whole=True)
def nested(scene: Scene) -> Made:
    numbers = [0, 0, 0]
    blocks = []
    for given in composed(scene.paper, scene.dice):
        block = given
        if is_title(block) and block in scene.paper.body:
            depth = min(block.level, 4) - 2
            numbers[depth] += 1
            numbers[depth + 1 :] = [0] * (2 - depth)
            told = ".".join(str(n) for n in (1, *numbers[: depth + 1]))
            block = replace(block, text=f"{told}. {block.text.lstrip('0123456789. ')}")
        blocks.append(block)
    return blocks


@kind("site's furniture around it", TUNING, SCREEN, whole=True, furniture=40)
def furnished(scene: Scene) -> Made:
    links = [
        Block("links", scene.dice.choice(RELATED), items=scene.titles(scene.dice.randint(20, 60)))
    ]
    whole = composed(scene.paper, scene.dice)
    before = links if scene.dice.random() < 0.3 else []
    after = [] if before else links
    tools = [Block("button", text) for text in scene.some(TOOLS, 3, 9)]
    news = [Block("para", text) for text in scene.some(LETTERS, 1, 3)]
    return [*before, *tools, *whole, *news, *after]


@kind("cookie layer, sign-in and advertisement in the margin", HELD_OUT, SCREEN, whole=True)
def margin(scene: Scene) -> Made:
    dice = scene.dice
    layer = [Block("para", text) for text in scene.some(COOKIES, 2, 6)]
    form = [Block("form", dice.choice(SIGN_IN), items=tuple(scene.some(SIGN_IN, 2, 3)))]
    offer = [Block("button", text) for text in scene.some(OFFERS, 1, 2)]
    parts = [layer, form, offer, composed(scene.paper, dice)]
    dice.shuffle(parts)
    return [block for part in parts for block in part]


@kind("comments and teasers behind it", HELD_OUT, SCREEN, whole=True)
def commented(scene: Scene) -> Made:
    blocks = composed(scene.paper, scene.dice)
    blocks.append(Block("heading", scene.dice.choice(RELATED)))
    for other in scene.dice.sample(scene.pool, min(6, len(scene.pool))):
        blocks.append(Block("heading", other.title, 4))
        blocks.append(Block("para", " ".join(other.abstract_text.split()[:50]) + " …"))
    return blocks
