"""Near pairs of kinds that the rules were not written for. Look at their counts only."""

from __future__ import annotations

import re
from dataclasses import replace

from quality.identity.pairs import Scene, Sides, kind, next_doi, titled
from quality.lab.dress import abstract, composed, head
from quality.lab.kinds import HELD_OUT, without_abstract
from quality.lab.manuscript import Block
from utils.model.identifiers import Ids


@kind("length of follow-up", HELD_OUT)
def follow_up(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("12-month results", "24-month results"), ("five-year follow-up", "ten-year follow-up"),
            ("short-term outcomes", "long-term outcomes"), ("one-year results", "final results"),
            ("6-week follow up", "6-month follow up"),
        ),
        ("{title}: {word}", "{title} - {word}", "{word} of {title}"),
    )  # fmt: skip


@kind("another country", HELD_OUT)
def country(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("Kenya", "Uganda"), ("Denmark", "Norway"), ("rural India", "urban India"),
            ("northern Italy", "southern Italy"), ("Wuhan", "Beijing"), ("Peru", "Chile"),
            ("the United States", "the United Kingdom"),
        ),
        ("{title} in {word}", "{title}: evidence from {word}", "{title}: the case of {word}"),
    )  # fmt: skip


@kind("update of a review", HELD_OUT)
def update(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("a systematic review", "an updated systematic review"), ("a review", "an update"),
            ("a systematic review", "a network meta-analysis"), ("revisited", "a reappraisal"),
            ("a scoping review", "a scoping review protocol"), ("overview", "revisited"),
        ),
        ("{title}: {word}", "{title} - {word}"),
    )  # fmt: skip


@kind("ending of a chemical's name", HELD_OUT)
def chemical(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("sodium sulfate", "sodium sulfite"), ("nitrate", "nitrite"), ("ethanol", "ethanal"),
            ("butane", "butene"), ("iron(II) chloride", "iron(III) chloride"),
            ("L-carnitine", "D-carnitine"), ("methylamine", "ethylamine"), ("α-pinene", "β-pinene"),
            ("cisplatin", "carboplatin"), ("omega-3 fatty acids", "omega-6 fatty acids"),
        ),
        ("{word} and {title}", "{title}: effects of {word}"),
    )  # fmt: skip


@kind("prefix of one word", HELD_OUT)
def prefix(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("hypertension", "hypotension"), ("intercellular", "intracellular"),
            ("preoperative", "postoperative"), ("adduction", "abduction"),
            ("afferent", "efferent"), ("macroglia", "microglia"), ("prenatal", "perinatal"),
            ("hyperthyroidism", "hypothyroidism"), ("absorption", "adsorption"),
            ("monotherapy", "polytherapy"), ("symmetric", "asymmetric"),
        ),
        ("{title}: {word}", "{title} with regard to {word}", "{word} in {title}"),
    )  # fmt: skip


@kind("pilot or interim report", HELD_OUT)
def pilot(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("a pilot study", "a randomised trial"), ("interim analysis", "final analysis"),
            ("preliminary report", "full report"), ("a feasibility study", "a cohort study"),
            ("a case report", "a case series"), ("baseline findings", "main findings"),
        ),
        ("{title}: {word}", "{title}. {word}"),
    )  # fmt: skip


@kind("secondary analysis", HELD_OUT)
def secondary(scene: Scene) -> Sides:
    title = scene.title
    added = scene.dice.choice((
        "{}: a secondary analysis", "{}: a post hoc analysis", "{}: a qualitative substudy",
        "{}: an economic evaluation", "{}: process evaluation", "{}: author's perspective",
        "{}: lessons learned",
    ))  # fmt: skip
    return scene.companion(*scene.either(title, added.format(title)))


@kind("another dose", HELD_OUT)
def dose(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("5 mg", "10 mg"), ("low-dose aspirin", "high-dose aspirin"), ("1.5 T", "3 T"),
            ("single dose", "repeated doses"), ("0.5% solution", "5% solution"), ("3D", "2D"),
        ),
        ("{title} at {word}", "{title}: {word}", "{word} for {title}"),
    )  # fmt: skip


@kind("retraction or concern", HELD_OUT)
def retraction(scene: Scene) -> Sides:
    title = scene.dice.choice((
        "Retraction notice to “{}”", "Retraction: {}", "Expression of concern: {}",
        "Notice of retraction: {}", "Withdrawal: {}", "Editorial expression of concern: {}",
        "{}: retraction", "Statement of retraction: {}", "In reply to: {}", "Editor's note: {}",
    )).format(scene.title)  # fmt: skip
    said = (
        "The editors have been made aware of concerns about the images of this article.",
        "An investigation by the institution found that the data could not be verified.",
        "The authors could not provide the original records and agree with this notice.",
        f"It concerns the article “{scene.paper.title}”, which remains available for reference.",
    )
    doi = scene.paper.paper.ids.doi
    ids = Ids(doi=next_doi(doi)) if scene.dice.random() < 0.5 else Ids()
    text = without_abstract(titled(scene.paper, title, ids))
    body = tuple(Block("para", one) for one in said)
    return replace(text, body=body, back=(), references=text.references[:1]), scene.paper.paper


@kind("another subtitle", HELD_OUT)
def subtitle(scene: Scene) -> Sides | None:
    words = scene.title.split()
    if len(words) < 9:
        return None
    stem = " ".join(words[:6]).rstrip(":,;. ")
    ours = f"{stem}: {' '.join(words[6:])}"
    other = " ".join(scene.neighbour.title.split()[-6:])
    return scene.companion(ours, f"{stem}: {other}")


@kind("another species", HELD_OUT)
def species(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("Escherichia coli", "Escherichia fergusonii"), ("Aedes aegypti", "Aedes albopictus"),
            ("Plasmodium falciparum", "Plasmodium vivax"), ("wheat", "barley"),
            ("Candida albicans", "Candida auris"), ("zebrafish", "medaka"), ("bovine", "ovine"),
        ),
        ("{title} in {word}", "{word}: {title}"),
    )  # fmt: skip


@kind("another age group", HELD_OUT)
def ages(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("children", "adolescents"), ("infants", "toddlers"), ("adults", "older adults"),
            ("children aged 2-5 years", "children aged 6-11 years"), ("nurses", "physicians"),
            ("patients with cancer", "survivors of cancer"),
        ),
        ("{title} in {word}", "{title} among {word}"),
    )  # fmt: skip


@kind("stage or grade", HELD_OUT)
def stage(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("stage II", "stage III"), ("grade 1", "grade 2"), ("stage IIIA", "stage IIIB"),
            ("first-line", "second-line"), ("class I", "class III"), ("early-stage", "late-stage"),
            ("level 1", "level 2"),
        ),
        ("{title}: {word} disease", "{word} {title}"),
    )  # fmt: skip


@kind("parts counted otherwise", HELD_OUT)
def parts(scene: Scene) -> Sides:
    return scene.swapped(
        (
            ("Teil 1", "Teil 2"), ("première partie", "deuxième partie"), ("Paper A", "Paper B"),
            ("first communication", "second communication"), ("chapter 3", "chapter 4"),
            ("report 1 of 3", "report 2 of 3"), ("Volume 1", "Volume 2"), ("No. 7", "No. 8"),
            ("Lecture 1", "Lecture 2"), ("Part A", "Part B"), ("Episode VII", "Episode VIII"),
        ),
        ("{title}. {word}", "{title}: {word}", "{title} ({word})", "{word}: {title}"),
    )  # fmt: skip


@kind("tags of one, article of another", HELD_OUT, media=("html",))
def tags(scene: Scene) -> Sides:
    paper, other = scene.paper, scene.neighbour
    scene.settled["tagged"] = True
    scene.settled["blocks"] = composed(other, scene.dice)
    return replace(paper, language=other.language, references=other.references), paper.paper


@kind("abstract of one above another article", HELD_OUT)
def digest(scene: Scene) -> Sides:
    paper, other = scene.paper, scene.neighbour
    ids = other.paper.ids if scene.dice.random() < 0.5 else Ids()
    text = titled(other, other.title, ids)
    before = [*head(titled(paper, paper.title, Ids()), scene.dice), *abstract(paper, scene.dice)]
    scene.settled["blocks"] = [*before, *composed(text, scene.dice)]
    return text, paper.paper


@kind("same title, next edition by the same people", HELD_OUT)
def edition(scene: Scene) -> Sides | None:
    title = re.sub(r"\s*[:–-].*", "", scene.title) or scene.title
    if len(title.split()) < 4:
        return None
    text, record = scene.companion(title, title)
    doi = scene.paper.paper.ids.doi
    text = titled(text, title, Ids(doi=next_doi(doi)))
    return text, record
