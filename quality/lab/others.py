"""Fakes: other works and lists of works, of which the paper is one."""

from __future__ import annotations

from dataclasses import replace

from quality.lab.dress import abstract, composed, head, reference_list
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind, rendered
from quality.lab.landing import buttons
from quality.lab.manuscript import Block, Manuscript
from quality.lab.remarks import RULES, about, paragraphs
from quality.lab.words import MENU, RELATED, TOOLS
from utils.model.identifiers import Ids


def picked(scene: Scene, number: int) -> list[Manuscript]:
    """Some papers of the lab."""
    return scene.dice.sample(scene.pool, min(len(scene.pool), number))


def entry(paper: Manuscript) -> str:
    """As lists of works have it."""
    names = ", ".join(name for name, _ in paper.people[:4])
    return f"{names}. {paper.title}. {paper.journal}. {paper.year}."


def rules(scene: Scene, least: int, most: int) -> list[Block]:
    """What sites say about the use of themselves."""
    said = about(scene.paper, scene.dice, RULES, scene.dice.randint(least, most))
    return [Block("para", text) for text in paragraphs(said, scene.dice)]


def titled(scene: Scene) -> Block:
    """The paper's title."""
    return Block("heading", scene.paper.title, scene.dice.choice((1, 1, 2)))


@kind("record of a bibliographic database", TUNING, SCREEN)
def database(scene: Scene) -> Made:
    mesh = tuple(
        scene.some(
            (
                "Animals",
                "Humans",
                "Female",
                "Mice",
                "Risk Factors",
                "Prognosis",
                "Aged",
                "Gene Expression",
                "Cell Line",
                "Models, Biological",
                "Male",
                "Adult",
                "Signal Transduction",
                "Retrospective Studies",
            ),
            5,
            11,
        )
    )
    similar = Block("links", "Similar articles", items=tuple(map(entry, picked(scene, 12))))
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
    cited = Block("links", "Cited by", items=tuple(map(entry, picked(scene, 25))))
    listed = reference_list(scene.paper, scene.dice, word="References in this article")
    parts = [[people], [tags], abstract(scene.paper, scene.dice), [cited], listed]
    scene.dice.shuffle(parts)
    return [titled(scene), *(block for part in parts for block in part)]


@kind("author's profile", TUNING, SCREEN)
def profile(scene: Scene) -> Made:
    name, place = scene.paper.people[0] if scene.paper.people else ("A. Author", "")
    works = tuple(map(entry, (scene.paper, *picked(scene, scene.dice.randint(20, 60)))))
    counts = [
        Block("para", f"{text} {scene.dice.randrange(2, 900)}")
        for text in scene.some(("Citations", "h-index", "i10-index", "Reads", "Followers"), 2, 4)
    ]
    listed = Block(scene.dice.choice(("links", "list")), "Publications", items=works)  # type: ignore[arg-type]
    return [Block("heading", name, 1), Block("para", place), *counts, listed]


@kind("results of a search", HELD_OUT, SCREEN)
def search(scene: Scene) -> Made:
    blocks = [Block("para", f"{scene.dice.randrange(20, 4000)} results for “{scene.paper.title}”")]
    for one in (scene.paper, *picked(scene, scene.dice.randint(9, 20))):
        snippet = " ".join((one.abstract_text or one.title).split()[: scene.dice.randint(20, 60)])
        blocks += [Block("heading", one.title, 3), Block("para", f"{snippet} …")]
        blocks += buttons(scene, TOOLS, 1, 3)
    return blocks


@kind("the journal's home page", TUNING, SCREEN)
def journal(scene: Scene) -> Made:
    blocks = [Block("heading", scene.paper.journal, 1), *rules(scene, 2, 5)]
    number = scene.dice.randint(6, 15)
    blocks += [
        Block("links", title, items=scene.titles(number)) for title in scene.some(RELATED, 2, 3)
    ]
    lead = " ".join(scene.paper.abstract_text.split()[:60])
    return [*blocks, Block("heading", scene.paper.title, 3), Block("para", f"{lead} …")]


@kind("table of contents", HELD_OUT, ALL)
def contents(scene: Scene) -> Made:
    works = [scene.paper, *picked(scene, scene.dice.randint(15, 50))]
    scene.dice.shuffle(works)
    lines = tuple(f"{entry(one)} {scene.dice.randrange(1, 999)}" for one in works)
    return [Block("heading", f"{scene.paper.journal}, contents", 1), Block("list", items=lines)]


@kind("abstracts of a whole issue", TUNING, ALL)
def issue(scene: Scene) -> Made:
    works = [scene.paper, *picked(scene, scene.dice.randint(7, 15))]
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
    works = [scene.paper, *picked(scene, scene.dice.randint(10, 30))]
    scene.dice.shuffle(works)
    for at, one in enumerate(works):
        time = f"{9 + at // 4}:{at % 4 * 15:02}"
        blocks.append(Block("para", f"{time} {scene.dice.choice(rooms)} {one.title}"))
        if one is scene.paper:
            blocks += abstract(one, scene.dice, headed=False)
    return blocks


@kind("landing page of a data set", TUNING, SCREEN)
def dataset(scene: Scene) -> Made:
    files = tuple(
        f"{scene.dice.choice(('table', 'raw', 'fig', 'run', 'counts'))}_{n}.csv "
        f"({scene.dice.randrange(1, 900)} kB)"
        for n in range(scene.dice.randint(5, 60))
    )
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
        replace(scene.paper.references[0], text=entry(scene.paper))
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
    body = rendered(composed(sent, scene.dice), sent, scene.medium, scene.dice, scene.settled)
    return body, scene.paper


NOTICES = (
    "In the original version of this article, {a} was given incorrectly; this has been corrected.",
    "The authors regret that the label of the axis showing {b} was wrong.",
    "This does not change the conclusions of the article.",
    "The affiliation of the second author was omitted and is now given.",
    "The sentence on {a} should read as follows.",
    "The publisher apologises for this error.",
    "The funding statement has been completed.",
    "The legend now mentions {b}.",
)
RETRACTIONS = (
    "The article has been retracted at the request of the authors.",
    "After publication, concerns were raised about the images that show {a}.",
    "An investigation by the institution found that the data on {b} could not be confirmed.",
    "The editors no longer have confidence in the results on {a}.",
    "All authors agree to this decision.",
    "One author could not be reached for comment.",
    "The article remains online for the record, marked on every page.",
)


def notice_text(scene: Scene, templates: tuple[str, ...], most: int = 9) -> list[Block]:
    """Sentences of a notice about the paper."""
    said = about(scene.paper, scene.dice, templates, scene.dice.randint(3, most))
    return [Block("para", text) for text in paragraphs(said, scene.dice)]


@kind("correction served for the paper", TUNING, ALL)
def correction(scene: Scene) -> Made:
    word = scene.dice.choice(
        ("Correction to: ", "Erratum: ", "Author Correction: ", "Corrigendum to ")
    )
    return [
        Block("heading", word + scene.paper.title, 1),
        *head(scene.paper, scene.dice)[1:],
        *notice_text(scene, NOTICES),
    ]


@kind("retraction notice served for the paper", HELD_OUT, ALL)
def retraction(scene: Scene) -> Made:
    word = scene.dice.choice(
        ("Retraction: ", "Retracted: ", "Retraction notice to ", "Withdrawal: ")
    )
    return [
        Block("heading", word + scene.paper.title, 1),
        *head(scene.paper, scene.dice)[1:],
        *notice_text(scene, RETRACTIONS),
    ]
