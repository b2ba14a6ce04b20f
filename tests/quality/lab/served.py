"""Fakes: what sites serve under a paper's address that is something else altogether."""

from __future__ import annotations

from dataclasses import replace

from utils.identifiers import Ids

from .dress import abstract, composed, head, reference_list
from .kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from .landing import buttons
from .manuscript import Block, Manuscript, sentences
from .remarks import RULES, about, paragraphs
from .words import COOKIES, FAMILIES, MENU, OFFERS, RELATED, SIGN_IN, TOOLS


def _rules(scene: Scene, least: int, most: int) -> list[Block]:
    said = about(scene.paper, scene.dice, RULES, scene.dice.randint(least, most))
    return [Block("para", text) for text in paragraphs(said, scene.dice)]


def _title(scene: Scene) -> Block:
    return Block("heading", scene.paper.title, scene.dice.choice((1, 1, 2)))


def _others(scene: Scene, number: int) -> list[Manuscript]:
    return scene.dice.sample(scene.pool, min(len(scene.pool), number))


def _entry(paper: Manuscript) -> str:
    names = ", ".join(name for name, _ in paper.people[:4])
    return f"{names}. {paper.title}. {paper.journal}. {paper.year}."


@kind("record of a bibliographic database", TUNING, SCREEN)
def database(scene: Scene) -> Made:
    mesh = tuple(scene.some(("Animals", "Humans", "Female", "Mice", "Risk Factors", "Prognosis", "Aged",
                             "Gene Expression", "Cell Line", "Models, Biological", "Male", "Adult",
                             "Signal Transduction", "Retrospective Studies"), 5, 11))  # fmt: skip
    similar = Block("links", "Similar articles", items=tuple(map(_entry, _others(scene, 12))))
    lists = [Block("heading", "MeSH terms", 3), Block("list", items=mesh)]
    sources = Block("links", "LinkOut", items=tuple(scene.some(TOOLS, 4, 8)))
    return [
        *head(scene.paper, scene.dice),
        *abstract(scene.paper, scene.dice),
        *lists,
        similar,
        sources,
    ]


@kind("page of a reference manager", HELD_OUT, SCREEN)
def manager(scene: Scene) -> Made:
    people = Block(
        "links", "Authors", items=tuple(name for name, _ in scene.paper.people[:12]) or ("-",)
    )
    tags = Block("list", items=tuple(scene.some(MENU, 4, 9)))
    cited = Block("links", "Cited by", items=tuple(map(_entry, _others(scene, 25))))
    listed = reference_list(scene.paper, scene.dice, word="References in this article")
    parts = [[people], [tags], abstract(scene.paper, scene.dice), [cited], listed]
    scene.dice.shuffle(parts)
    return [_title(scene), *(block for part in parts for block in part)]


@kind("author's profile", TUNING, SCREEN)
def profile(scene: Scene) -> Made:
    name, place = scene.paper.people[0] if scene.paper.people else ("A. Author", "")
    works = tuple(map(_entry, (scene.paper, *_others(scene, scene.dice.randint(20, 60)))))
    counts = [Block("para", f"{text} {scene.dice.randrange(2, 900)}") for text in
              scene.some(("Citations", "h-index", "i10-index", "Reads", "Followers"), 2, 4)]  # fmt: skip
    listed = Block(scene.dice.choice(("links", "list")), "Publications", items=works)  # type: ignore[arg-type]
    return [Block("heading", name, 1), Block("para", place), *counts, listed]


@kind("results of a search", HELD_OUT, SCREEN)
def search(scene: Scene) -> Made:
    blocks = [Block("para", f"{scene.dice.randrange(20, 4000)} results for “{scene.paper.title}”")]
    for one in (scene.paper, *_others(scene, scene.dice.randint(9, 20))):
        snippet = " ".join((one.abstract_text or one.title).split()[: scene.dice.randint(20, 60)])
        blocks += [Block("heading", one.title, 3), Block("para", f"{snippet} …")]
        blocks += buttons(scene, TOOLS, 1, 3)
    return blocks


@kind("the journal's home page", TUNING, SCREEN)
def journal(scene: Scene) -> Made:
    blocks = [Block("heading", scene.paper.journal, 1), *_rules(scene, 2, 5)]
    for title in scene.some(RELATED, 2, 3):
        blocks.append(Block("links", title, items=scene.titles(scene.dice.randint(6, 15))))
    lead = " ".join(scene.paper.abstract_text.split()[:60])
    return [*blocks, Block("heading", scene.paper.title, 3), Block("para", f"{lead} …")]


@kind("table of contents", HELD_OUT, ALL)
def contents(scene: Scene) -> Made:
    works = [scene.paper, *_others(scene, scene.dice.randint(15, 50))]
    scene.dice.shuffle(works)
    lines = tuple(f"{_entry(one)} {scene.dice.randrange(1, 999)}" for one in works)
    return [Block("heading", f"{scene.paper.journal}, contents", 1), Block("list", items=lines)]


@kind("abstracts of a whole issue", TUNING, ALL)
def issue(scene: Scene) -> Made:
    works = [scene.paper, *_others(scene, scene.dice.randint(7, 15))]
    scene.dice.shuffle(works)
    blocks = [Block("heading", f"{scene.paper.journal} {scene.paper.year}: abstracts", 1)]
    for one in works:
        blocks += [
            Block("heading", one.title),
            Block("para", ", ".join(n for n, _ in one.people[:8])),
        ]
        blocks.append(Block("para", one.abstract_text or one.title))
    return blocks


@kind("conference programme with the abstract", HELD_OUT, ALL)
def programme(scene: Scene) -> Made:
    blocks = [Block("heading", "Programme", 1)]
    rooms = ("Hall A", "Room 2.04", "Auditorium", "Foyer", "Aula", "Saal 3")
    works = [scene.paper, *_others(scene, scene.dice.randint(10, 30))]
    scene.dice.shuffle(works)
    for at, one in enumerate(works):
        time = f"{9 + at // 4}:{at % 4 * 15:02}"
        blocks.append(Block("para", f"{time} {scene.dice.choice(rooms)} {one.title}"))
        if one is scene.paper:
            blocks += abstract(one, scene.dice, headed=False)
    return blocks


@kind("landing page of a data set", TUNING, SCREEN)
def dataset(scene: Scene) -> Made:
    files = tuple(f"{scene.dice.choice(('table', 'raw', 'fig', 'run', 'counts'))}_{n}.csv "
                  f"({scene.dice.randrange(1, 900)} kB)" for n in range(scene.dice.randint(5, 60)))  # fmt: skip
    title = Block("heading", f"Data from: {scene.paper.title}", 1)
    parts = [abstract(scene.paper, scene.dice, word="Description"), [Block("list", items=files)]]
    parts.append([Block("para", text) for text in scene.some(TOOLS, 3, 7)])
    scene.dice.shuffle(parts)
    return [title, *(block for part in parts for block in part)]


def _about_another(scene: Scene) -> Manuscript:
    """Another paper, whose record nobody asked for."""
    other = scene.other
    doi = f"10.{scene.dice.randrange(5000, 5999)}/other.{scene.dice.randrange(10**5)}"
    return replace(other, paper=replace(other.paper, ids=Ids(doi=doi)))


@kind("a paper that cites it", TUNING, ALL)
def citing(scene: Scene) -> Made:
    other = _about_another(scene)
    cited = (
        replace(scene.paper.references[0], text=_entry(scene.paper))
        if scene.paper.references
        else None
    )
    works = (*other.references, *([cited] if cited else []))
    return _as_sent(replace(other, references=works), scene)


@kind("another paper of the same authors", HELD_OUT, ALL)
def same_authors(scene: Scene) -> Made:
    other = _about_another(scene)
    return _as_sent(replace(other, people=scene.paper.people or other.people), scene)


def _as_sent(sent: Manuscript, scene: Scene) -> Made:
    """Rendered as *sent*, and asked for as the scene's paper."""
    from .kinds import rendered

    body = rendered(composed(sent, scene.dice), sent, scene.medium, scene.dice, scene.settled)
    return body, scene.paper


_NOTICES = (
    "In the original version of this article, {a} was given incorrectly; this has been corrected.",
    "The authors regret that the label of the axis showing {b} was wrong.",
    "This does not change the conclusions of the article.",
    "The affiliation of the second author was omitted and is now given.",
    "The sentence on {a} should read as follows.", "The publisher apologises for this error.",
    "The funding statement has been completed.", "The legend now mentions {b}.",
)  # fmt: skip
_RETRACTIONS = (
    "The article has been retracted at the request of the authors.",
    "After publication, concerns were raised about the images that show {a}.",
    "An investigation by the institution found that the data on {b} could not be confirmed.",
    "The editors no longer have confidence in the results on {a}.",
    "All authors agree to this decision.", "One author could not be reached for comment.",
    "The article remains online for the record, marked on every page.",
)  # fmt: skip


def notice_text(scene: Scene, templates: tuple[str, ...], most: int = 9) -> list[Block]:
    """Sentences of a notice about the paper."""
    said = about(scene.paper, scene.dice, templates, scene.dice.randint(3, most))
    return [Block("para", text) for text in paragraphs(said, scene.dice)]


@kind("correction served for the paper", TUNING, ALL)
def correction(scene: Scene) -> Made:
    word = scene.dice.choice(
        ("Correction to: ", "Erratum: ", "Author Correction: ", "Corrigendum to ")
    )
    return [Block("heading", word + scene.paper.title, 1), *head(scene.paper, scene.dice)[1:],
            *notice_text(scene, _NOTICES)]  # fmt: skip


@kind("retraction notice served for the paper", HELD_OUT, ALL)
def retraction(scene: Scene) -> Made:
    word = scene.dice.choice(
        ("Retraction: ", "Retracted: ", "Retraction notice to ", "Withdrawal: ")
    )
    return [Block("heading", word + scene.paper.title, 1), *head(scene.paper, scene.dice)[1:],
            *notice_text(scene, _RETRACTIONS)]  # fmt: skip


@kind("article in press, nothing there yet", TUNING, ALL)
def in_press(scene: Scene) -> Made:
    said = scene.some((
        "Article in press.", "Accepted manuscript; the full version will follow.", "Available soon.",
        "This is a just-accepted article that has not been typeset.", "Im Druck.", "Sous presse.",
        "What you are reading is an unedited notice of acceptance.", "Uncorrected proof expected in May.",
        "The text will be published after copy editing.", "Received 3 March; accepted 9 May.",
        "To be published in the next issue.", "Online first: metadata only.",
    ), 2, 6)  # fmt: skip
    told = [Block("para", text) for text in said]
    extra = abstract(scene.paper, scene.dice) if scene.dice.random() < 0.6 else []
    return [*head(scene.paper, scene.dice), *told, *extra]


@kind("a version that was replaced or withdrawn", HELD_OUT, SCREEN)
def replaced(scene: Scene) -> Made:
    said = scene.some((
        "A newer version of this work is available.", "This version is not the most recent one.",
        "This manuscript has been withdrawn by its authors.", "Version 1 was superseded by version 3.",
        "The authors do not wish it to be cited.", "View the latest version", "History of versions",
        "Une version plus récente existe.", "Es gibt eine neuere Fassung.", "Removed for legal reasons.",
        "If you have questions, please write to the corresponding author.",
    ), 2, 6)  # fmt: skip
    parts = [[Block("para", text) for text in said], abstract(scene.paper, scene.dice)]
    scene.dice.shuffle(parts)
    return [*head(scene.paper, scene.dice), *(block for part in parts for block in part)]


@kind("a library's proxy", TUNING, SCREEN)
def proxy(scene: Scene) -> Made:
    form = Block("form", scene.dice.choice(SIGN_IN), items=tuple(scene.some(SIGN_IN, 2, 3)))
    place = Block("para", f"https://proxy.test/login?url={scene.paper.paper.ids.doi}")
    parts = [[_title(scene)], [form], [place], _rules(scene, 4, 20)]
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
    form = Block("form", scene.dice.choice(("Order a copy", "Document delivery", "Fernleihe", "PEB")),
                 items=fields)  # fmt: skip
    known = [Block("para", _entry(scene.paper)), *abstract(scene.paper, scene.dice)]
    return [Block("heading", "Interlibrary loan", 1), *known, form, *_rules(scene, 3, 12)]


@kind("page of maintenance", TUNING, SCREEN)
def maintenance(scene: Scene) -> Made:
    return [_title(scene), *_rules(scene, 15, 40)]


@kind("page for robots", HELD_OUT, SCREEN)
def robots(scene: Scene) -> Made:
    title = scene.dice.choice(
        ("Too many requests", "Access limited", "Usage notice", "Service message")
    )
    short = [_title(scene)] if scene.dice.random() < 0.7 else []
    return [Block("heading", title, 1), *short, *_rules(scene, 8, 40)]


@kind("terms of use before the abstract", HELD_OUT, ALL)
def terms_of_use(scene: Scene) -> Made:
    return [_title(scene), *_rules(scene, 40, 90), *abstract(scene.paper, scene.dice)]


@kind("list of cookies before the abstract", TUNING, SCREEN)
def cookie_list(scene: Scene) -> Made:
    rows = tuple((f"_{scene.dice.choice('abcdefgh')}id{n}", scene.dice.choice(COOKIES),
                  f"{scene.dice.randrange(1, 730)} days") for n in range(scene.dice.randint(15, 60)))  # fmt: skip
    layer = [Block("para", text) for text in scene.some(COOKIES, 3, 12)]
    table = Block("table", scene.dice.choice(COOKIES), rows=rows)
    return [*layer, table, _title(scene), *abstract(scene.paper, scene.dice)]


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
        Block("para", f"@{scene.dice.choice(FAMILIES)}: {one.title}") for one in _others(scene, 25)
    ]
    table = Block("table", "Views and downloads", rows=rows)
    return [
        _title(scene),
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
    from .cuts import parts

    first = next((p for p in parts(scene.paper) if sum(b.words for b in p) > 120), None)
    if first is None or sum(b.words for b in first) > 0.5 * scene.paper.body_words:
        return None
    front = [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]
    listed = reference_list(scene.paper, scene.dice) if scene.dice.random() < 0.6 else []
    return [*front, *first, *buttons(scene, OFFERS, 1, 4), *listed]


@kind("snippets of the sections", TUNING, SCREEN)
def snippets(scene: Scene) -> Made:
    from .cuts import parts

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
