"""Near pairs that the rules were written with."""

from __future__ import annotations

import re
from dataclasses import replace

from quality.identity.pairs import Scene, Sides, kind, next_doi, titled
from quality.lab.dress import abstract, composed, head
from quality.lab.kinds import TUNING, without_abstract
from quality.lab.manuscript import Block, Manuscript, Reference
from utils.model.identifiers import Ids
from utils.outline.words import fold_words


@kind("Part II for Part I", TUNING)
def part(scene: Scene) -> Sides:
    title = scene.title
    one, other = scene.dice.choice((
        ("{}. Part I", "{}. Part II"),
        ("{}: part 1", "{}: part 2"),
        ("{} (I)", "{} (II)"),
        ("{} III", "{} IV"),
        ("{}", "{}. Part 2"),
        ("{}. Part one", "{}. Part two"),
        ("I. {}", "II. {}"),
    ))  # fmt: skip
    return scene.companion(*scene.either(one.format(title), other.format(title)))


@kind("protocol for results", TUNING)
def protocol(scene: Scene) -> Sides:
    title = scene.title
    planned = scene.dice.choice((
        "{}: study protocol", "Protocol for {}", "{}: a study protocol for a randomised trial",
        "{}: protocol", "{}: rationale and design", "{} - study design and rationale",
    ))  # fmt: skip
    return scene.companion(*scene.either(title, planned.format(title)))


_OPPOSITES = (
    ("men", "women"), ("mice", "rats"), ("left", "right"), ("boys", "girls"), ("males", "females"),
    ("dogs", "cats"), ("upper", "lower"), ("acute", "chronic"), ("mothers", "fathers"),
)  # fmt: skip


@kind("men for women", TUNING)
def opposite(scene: Scene) -> Sides:
    forms = ("{title} in {word}", "{title}: a study of {word}", "{word}: {title}")
    return scene.swapped(_OPPOSITES, forms)


@kind("one telling word", TUNING)
def telling_word(scene: Scene) -> Sides | None:
    title = scene.title
    words = re.findall(r"[A-Za-z]{6,}", title)
    others = [w for one in scene.pool for w in re.findall(r"[a-z]{6,}", one.title)]
    if len(words) < 3:
        return None
    word = scene.dice.choice(words)
    other = scene.dice.choice([w for w in others if w.lower() not in title.lower()])
    return scene.companion(title, title.replace(word, other, 1))


@kind("head of one, body of another", TUNING)
def head_and_body(scene: Scene) -> Sides:
    paper, other = scene.paper, scene.neighbour
    ids = paper.paper.ids if scene.dice.random() < 0.6 else Ids()
    text = replace(paper, body=other.body, back=other.back, references=other.references)
    return replace(text, paper=replace(text.paper, ids=ids)), paper.paper


_CORRECTIONS = (
    "Correction: {}", "Correction to: {}", "Erratum: {}", "Corrigendum to “{}”",
    "Author Correction: {}", "Publisher Correction: {}", "Addendum: {}", "{}: erratum",
    "{} (correction)",
)  # fmt: skip
_AMENDED = (
    "In the original article the values of the third column of Table 2 were exchanged.",
    "The name of the fourth author was spelled incorrectly, and an affiliation was missing.",
    "The legend of Figure 3 should read as it does in the corrected version published here.",
    "The authors apologise for the error, which does not affect the conclusions of the study.",
    "The funding statement omitted a grant of the national research council.",
)


@kind("correction for the paper", TUNING)
def correction(scene: Scene) -> Sides:
    title = scene.dice.choice(_CORRECTIONS).format(scene.title)
    return _short(scene, title, list(_AMENDED), scene.paper), scene.paper.paper


@kind("paper for its correction", TUNING)
def corrected(scene: Scene) -> Sides:
    paper = scene.paper.paper
    title = scene.dice.choice(_CORRECTIONS).format(scene.title)
    record = replace(paper, title=title, abstract="", ids=Ids(doi=next_doi(paper.ids.doi)))
    ids = paper.ids if scene.dice.random() < 0.6 else Ids()
    return titled(scene.paper, scene.paper.title, ids), record


@kind("comment or reply", TUNING)
def comment(scene: Scene) -> Sides:
    title = scene.dice.choice((
        "Comment on: {}", "Reply to: {}", "Re: {}", "Comment on “{}”", "{}: reply", "{}: comment",
        "Response to “{}”", "Letter to the editor: {}", "Commentary: {}", "Invited commentary: {}",
        "{} - Authors' reply",
    )).format(scene.title)  # fmt: skip
    other = scene.neighbour
    said = [
        f"We read with interest the article “{scene.paper.title}” that appeared in this journal.",
        *scene.dice.sample(other.prose(), 6),
    ]
    people = scene.paper if scene.dice.random() < 0.5 else other
    return _short(scene, title, said, people), scene.paper.paper


def _short(scene: Scene, title: str, said: list[str], people: Manuscript) -> Manuscript:
    dice, doi = scene.dice, scene.paper.paper.ids.doi
    said = [*said, f"The original article can be found online at https://doi.org/{doi}."]
    text = titled(scene.paper, title, Ids(doi=next_doi(doi)) if dice.random() < 0.5 else Ids())
    body = tuple(Block("para", text) for text in said)
    return replace(
        without_abstract(text),
        body=body,
        back=(),
        people=people.people,
        references=scene.paper.references[:3],
    )


@kind("phase", TUNING)
def phase(scene: Scene) -> Sides:
    one, other = scene.dice.choice((
        ("II", "III"), ("1", "2"), ("I", "II"), ("2a", "2b"), ("I/II", "III"),
    ))  # fmt: skip
    form = scene.dice.choice((
        "{title}: a phase {phase} trial", "Phase {phase} study of {title}",
        "{title}: results of a phase {phase} study",
    ))  # fmt: skip
    ours, theirs = (form.format(title=scene.title, phase=name) for name in (one, other))
    return scene.companion(*scene.either(ours, theirs))


@kind("two years", TUNING)
def years(scene: Scene) -> Sides:
    year = scene.dice.randint(1995, 2023)
    form = scene.dice.choice((
        "{}, {}", "{}: {} annual report", "{} update: {}", "{} in {}", "{} ({})"
    ))  # fmt: skip
    ours, theirs = (form.format(scene.title, one) for one in (year, year + 1))
    return scene.companion(*scene.either(ours, theirs))


@kind("version", TUNING)
def version(scene: Scene) -> Sides:
    one, other = scene.dice.choice((
        ("version 1", "version 2"), ("v2.0", "v3.0"), ("2.0", "3.0"), ("version 2", "version 2.1"),
        ("second edition", "third edition"), ("2nd edition", "3rd edition"), ("", "version 3"),
    ))  # fmt: skip
    ours, theirs = (f"{scene.title} {name}".strip() for name in (one, other))
    return scene.companion(*scene.either(ours, theirs))


@kind("number in a name", TUNING)
def gene(scene: Scene) -> Sides:
    one, other = scene.dice.choice((
        ("BRCA1", "BRCA2"), ("IL-6", "IL-8"), ("SARS-CoV", "SARS-CoV-2"), ("CYP2C9", "CYP2C19"),
        ("type 1 diabetes", "type 2 diabetes"), ("HIV-1", "HIV-2"), ("Nav1.7", "Nav1.8"),
        ("vitamin B6", "vitamin B12"), ("TLR2", "TLR4"), ("PM2.5", "PM10"),
    ))  # fmt: skip
    form = scene.dice.choice(("{name} and {title}", "{title}: the role of {name}"))
    ours, theirs = (form.format(name=name, title=scene.title) for name in (one, other))
    return scene.companion(*scene.either(ours, theirs))


@kind("title among related articles", TUNING)
def related(scene: Scene) -> Sides:
    paper, other = scene.paper, scene.neighbour
    title = paper.title
    link = scene.dice.choice((
        Block("links", "Related articles", items=(title, *(one.title for one in scene.pool[:3]))),
        Block("para", f"See also: {title}"),
        Block("para", title),
        Block("list", items=(title, scene.pool[0].title)),
    ))  # fmt: skip
    ids = other.paper.ids if scene.dice.random() < 0.5 else Ids()
    text = titled(other, other.title, ids)
    blocks = composed(text, scene.dice)
    place = scene.dice.choice((0, len(head(text, scene.dice))))
    scene.settled["blocks"] = [*blocks[:place], link, *blocks[place:]]
    return text, paper.paper


@kind("companion that cites the paper's DOI", TUNING)
def citing(scene: Scene) -> Sides:
    title = scene.title
    text, record = scene.companion(title, f"{title}. Part II")
    doi = scene.paper.paper.ids.doi
    families = tuple(fold_words(name)[-1] for name, _ in scene.paper.people[:3] if fold_words(name))
    cited = f"{', '.join(families)}. {title}. {text.journal}. {text.year}. doi:{doi}"
    listed = (*text.references, Reference(families, text.year, cited))
    return replace(text, references=listed), record


_GENERAL = (
    "Management of acute pancreatitis", "Recent advances in the treatment of heart failure",
    "Clinical features of community-acquired pneumonia", "Genetics of rare diseases",
    "Climate change and human health", "Quality of life after stroke",
)  # fmt: skip


@kind("same general title, other people", TUNING)
def general(scene: Scene) -> Sides:
    title, other = scene.dice.choice(_GENERAL), scene.neighbour
    own = Ids(doi=other.paper.ids.doi) if scene.dice.random() < 0.5 else Ids()
    record = replace(scene.paper.paper, title=title, pages="")
    return titled(other, title, own), record


@kind("same people, next paper", TUNING)
def next_paper(scene: Scene) -> Sides:
    paper, other = scene.paper, scene.neighbour
    own = Ids(doi=other.paper.ids.doi) if scene.dice.random() < 0.5 else Ids()
    text = replace(titled(other, other.title, own), people=paper.people, journal=paper.journal)
    if scene.dice.random() < 0.3:  # a list of the group's papers above the text
        blocks = composed(text, scene.dice)
        scene.settled["blocks"] = [*abstract(paper, scene.dice, word="Previously"), *blocks]
    return text, paper.paper
