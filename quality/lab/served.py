"""Fakes: what sites serve under a paper's address that is something else altogether."""

from __future__ import annotations

from quality.lab.dress import abstract, head, reference_list
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.landing import buttons
from quality.lab.manuscript import Block, sentences
from quality.lab.others import entry, picked, rules, titled
from quality.lab.words import COOKIES, FAMILIES, OFFERS, SIGN_IN


@kind("article in press, nothing there yet", TUNING, ALL)
def in_press(scene: Scene) -> Made:
    said = scene.some(
        (
            "Article in press.",
            "Accepted manuscript; the full version will follow.",
            "Available soon.",
            "This is a just-accepted article that has not been typeset.",
            "Im Druck.",
            "Sous presse.",
            "What you are reading is an unedited notice of acceptance.",
            "Uncorrected proof expected in May.",
            "The text will be published after copy editing.",
            "Received 3 March; accepted 9 May.",
            "To be published in the next issue.",
            "Online first: metadata only.",
        ),
        2,
        6,
    )
    told = [Block("para", text) for text in said]
    extra = abstract(scene.paper, scene.dice) if scene.dice.random() < 0.6 else []
    return [*head(scene.paper, scene.dice), *told, *extra]


@kind("a version that was replaced or withdrawn", HELD_OUT, SCREEN)
def replaced(scene: Scene) -> Made:
    said = scene.some(
        (
            "A newer version of this work is available.",
            "This version is not the most recent one.",
            "This manuscript has been withdrawn by its authors.",
            "Version 1 was superseded by version 3.",
            "The authors do not wish it to be cited.",
            "View the latest version",
            "History of versions",
            "Une version plus récente existe.",
            "Es gibt eine neuere Fassung.",
            "Removed for legal reasons.",
            "If you have questions, please write to the corresponding author.",
        ),
        2,
        6,
    )
    parts = [[Block("para", text) for text in said], abstract(scene.paper, scene.dice)]
    scene.dice.shuffle(parts)
    return [*head(scene.paper, scene.dice), *(block for part in parts for block in part)]


@kind("a library's proxy", TUNING, SCREEN)
def proxy(scene: Scene) -> Made:
    form = Block("form", scene.dice.choice(SIGN_IN), items=tuple(scene.some(SIGN_IN, 2, 3)))
    place = Block("para", f"https://proxy.test/login?url={scene.paper.paper.ids.doi}")
    parts = [[titled(scene)], [form], [place], rules(scene, 4, 20)]
    scene.dice.shuffle(parts)
    return [block for part in parts for block in part]


@kind("form for an interlibrary loan", HELD_OUT, SCREEN)
def loan(scene: Scene) -> Made:
    fields = (
        "Title of the article",
        "Authors",
        "Journal",
        "Pages",
        "Your library card",
        "Pick-up place",
    )
    form = Block(
        "form",
        scene.dice.choice(("Order a copy", "Document delivery", "Fernleihe", "PEB")),
        items=fields,
    )
    known = [Block("para", entry(scene.paper)), *abstract(scene.paper, scene.dice)]
    return [Block("heading", "Interlibrary loan", 1), *known, form, *rules(scene, 3, 12)]


@kind("page of maintenance", TUNING, SCREEN)
def maintenance(scene: Scene) -> Made:
    return [titled(scene), *rules(scene, 15, 40)]


@kind("page for robots", HELD_OUT, SCREEN)
def robots(scene: Scene) -> Made:
    title = scene.dice.choice(
        ("Too many requests", "Access limited", "Usage notice", "Service message")
    )
    short = [titled(scene)] if scene.dice.random() < 0.7 else []
    return [Block("heading", title, 1), *short, *rules(scene, 8, 40)]


@kind("terms of use before the abstract", HELD_OUT, ALL)
def terms_of_use(scene: Scene) -> Made:
    return [titled(scene), *rules(scene, 40, 90), *abstract(scene.paper, scene.dice)]


@kind("list of cookies before the abstract", TUNING, SCREEN)
def cookie_list(scene: Scene) -> Made:
    rows = tuple(
        (
            f"_{scene.dice.choice('abcdefgh')}id{n}",
            scene.dice.choice(COOKIES),
            f"{scene.dice.randrange(1, 730)} days",
        )
        for n in range(scene.dice.randint(15, 60))
    )
    layer = [Block("para", text) for text in scene.some(COOKIES, 3, 12)]
    table = Block("table", scene.dice.choice(COOKIES), rows=rows)
    return [*layer, table, titled(scene), *abstract(scene.paper, scene.dice)]


@kind("numbers of readers and mentions", HELD_OUT, SCREEN)
def metrics(scene: Scene) -> Made:
    rows = tuple(
        (month, str(scene.dice.randrange(900)), str(scene.dice.randrange(90)))
        for month in (
            "Jan",
            "Feb",
            "Mar",
            "Apr",
            "May",
            "Jun",
            "Jul",
            "Aug",
            "Sep",
            "Oct",
            "Nov",
            "Dec",
        )
    )
    said = [
        Block("para", f"@{scene.dice.choice(FAMILIES)}: {one.title}") for one in picked(scene, 25)
    ]
    table = Block("table", "Views and downloads", rows=rows)
    return [
        titled(scene),
        table,
        Block("heading", "Mentions"),
        *said,
        *abstract(scene.paper, scene.dice),
    ]


@kind("first paragraph and an offer", TUNING, SCREEN)
def first_paragraph(scene: Scene) -> Made:
    told = scene.paper.prose()
    if len(told) < 6:
        return None
    shown = [Block("para", told[0] + scene.dice.choice((" …", "", " [continues]")))]
    listed = reference_list(scene.paper, scene.dice) if scene.dice.random() < 0.5 else []
    front = [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]
    return [*front, *shown, *buttons(scene, OFFERS, 1, 4), *listed]


@kind("introduction and an offer", HELD_OUT, SCREEN)
def introduction(scene: Scene) -> Made:
    from quality.lab.cuts import parts

    first = next((p for p in parts(scene.paper) if sum(b.words for b in p) > 120), None)
    if first is None or sum(b.words for b in first) > 0.5 * scene.paper.body_words:
        return None
    front = [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]
    listed = reference_list(scene.paper, scene.dice) if scene.dice.random() < 0.6 else []
    return [*front, *first, *buttons(scene, OFFERS, 1, 4), *listed]


@kind("snippets of the sections", TUNING, SCREEN)
def snippets(scene: Scene) -> Made:
    from quality.lab.cuts import parts

    blocks = [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]
    sections = parts(scene.paper)
    if len(sections) < 3 or scene.paper.body_words < 1200:
        return None
    for part in sections:
        text = next((b.text for b in part if b.kind == "para"), "")
        first = " ".join(sentences(text)[: scene.dice.randint(1, 3)])
        blocks += [b for b in part[:1] if b.kind == "heading"]
        blocks += [Block("para", f"{first} …")] if first else []
    return [*blocks, *reference_list(scene.paper, scene.dice)]


@kind("a look inside", HELD_OUT, ALL)
def look_inside(scene: Scene) -> Made:
    told = scene.paper.prose()
    if len(told) < 10:
        return None
    blocks = head(scene.paper, scene.dice)
    for place in sorted(scene.dice.sample(range(len(told)), 4)):
        words = told[place].split()
        blocks.append(Block("para", f"… {' '.join(words[3 : scene.dice.randint(25, 70)])} …"))
        blocks += buttons(scene, OFFERS, 0, 1)
    return blocks
