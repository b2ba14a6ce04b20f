"""True pairs: one paper, in a text and in a record that spell it differently."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from quality import real_pages
from quality.cases import Folder, read, without_ids
from quality.identity.pairs import Pair, Scene, Sides, kind, next_doi, titled
from quality.lab.foreign import iberian
from quality.lab.kinds import HELD_OUT, SCREEN, TUNING, without_abstract
from quality.lab.manuscript import Block, sentences
from quality.lab.sources import SHARED
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper


@kind("page without identifiers", TUNING, "true")
def page(scene: Scene) -> Sides:
    return titled(scene.paper, scene.paper.title, Ids()), scene.paper.paper


@kind("record without abstract", TUNING, "true")
def bare_record(scene: Scene) -> Sides:
    text = titled(scene.paper, scene.paper.title, Ids())
    return text, replace(scene.paper.paper, abstract="")


@kind("text without abstract", TUNING, "true")
def bare_text(scene: Scene) -> Sides:
    return without_abstract(titled(scene.paper, scene.paper.title, Ids())), scene.paper.paper


def _changed(scene: Scene, title: str) -> str:
    dice = scene.dice
    words = title.split()
    subtitle = re.sub(r":\s.*", "", title)
    return dice.choice((
        title if title.startswith(("A ", "The ")) else f"The {title[0].lower()}{title[1:]}",
        subtitle if len(subtitle.split()) > 4 else f"{title}: an observational study",
        f"{title} revealed by detailed analysis",
        " ".join(words[:-1]) if len(words) > 9 else title,
        title.replace(" and ", " & ").replace(" of ", " in "),
        f"Evidence for {title[0].lower()}{title[1:]}",
        " ".join((*words[: len(words) // 2], "novel", *words[len(words) // 2 :])),
    ))  # fmt: skip


def _edited(scene: Scene, abstract: str) -> str:
    told = sentences(abstract)
    if len(told) > 4:
        told.pop(scene.dice.randrange(len(told)))
    at = scene.dice.randrange(len(told))
    told[at] = " ".join(w for w in told[at].split() if scene.dice.random() > 0.25)
    return " ".join(told)


@kind("preprint, slightly changed", TUNING, "true")
def preprint(scene: Scene) -> Sides:
    paper = scene.paper
    doi = f"10.1101/2021.03.{scene.dice.randint(10, 28)}.{scene.dice.randint(100000, 499999)}"
    ids = Ids(doi=doi) if scene.dice.random() < 0.5 else Ids()
    text = titled(paper, _changed(scene, scene.title), ids)
    told = _edited(scene, paper.abstract_text)
    return replace(text, abstract=(Block("para", told),)), paper.paper


_SPELLINGS = (
    ("TGF-β and α-synuclein in", "TGF-beta and alpha-synuclein in"),
    ("CO₂ uptake and H<sub>2</sub>O in", "CO2 uptake and H2O in"),
    ("<i>In vivo</i> imaging of", "In vivo imaging of"),
    ("Tumour behaviour and anaemia in", "Tumor behavior and anemia in"),
    ("Part II. Patients’ “quality of life” in", 'Part 2: patients\' "quality of life" in'),
    ("A randomised, phase III trial of", "A randomized phase 3 trial of"),
    ("Two cases &amp; one review:", "2 cases and 1 review:"),
    ("Study protocol: health care for", "Study protocol. Healthcare for"),
    ("NF-κB p65 and 17β-estradiol in", "NF-kappaB p65 and 17 beta-estradiol in"),
    ("RETRACTED: Long-term follow-up of", "Long term followup of"),
    ("Naïve cells—Sjögren’s syndrome in", "Naive cells - Sjogren's syndrome in"),
)


@kind("title with markup, Greek or another spelling", TUNING, "true")
def spelled(scene: Scene) -> Sides:
    ours, theirs = scene.dice.choice(_SPELLINGS)
    if scene.dice.random() < 0.5:
        ours, theirs = theirs, ours
    title = scene.title
    text = titled(scene.paper, f"{theirs} {title}", Ids())
    record = replace(scene.paper.paper, title=f"{ours} {title}.")
    if scene.dice.random() < 0.3:
        record = replace(record, abstract="")
    return text, record


@kind("translated title", TUNING, "true")
def translated(scene: Scene) -> Sides:
    paper = scene.paper
    vernacular = iberian(scene.title)
    body = tuple(replace(block, text=iberian(block.text)) for block in paper.body)
    abstract = tuple(replace(block, text=iberian(block.text)) for block in paper.abstract)
    english = scene.dice.random() < 0.5  # many such papers print an English abstract, too
    text = replace(
        titled(paper, vernacular, Ids()),
        language="es",
        body=body,
        abstract=paper.abstract if english else abstract,
    )
    record = replace(
        paper.paper,
        title=f"[{scene.title}].",
        vernacular_title=vernacular,
        languages=("spa",),
        abstract=paper.paper.abstract if scene.dice.random() < 0.7 else "",
    )
    return text, record


@kind("DOI that counts versions", TUNING, "true")
def version_doi(scene: Scene) -> Sides:
    stem = f"10.12688/f1000research.{scene.dice.randint(1000, 9999)}"
    title = f"{scene.title} [version 2; peer review: 2 approved]"
    text = titled(scene.paper, title, Ids(doi=f"{stem}.2"))
    return text, replace(scene.paper.paper, ids=Ids(doi=f"{stem}.1"))


@kind("title of a notice in another wording", TUNING, "true", media=SCREEN)
def notice(scene: Scene) -> Sides:
    title = scene.title
    ours, theirs = scene.dice.choice((
        ("Correction: {}", "Correction to: {}"), ("Erratum: {}", "Correction: {}"),
        ("Correction to: {}", "Corrigendum to “{}”"), ("Reply to “{}”", "Response to: {}"),
        ("Author Correction: {}", "Correction: {}"), ("Comment on: {}", "Comment on “{}”"),
    ))  # fmt: skip
    said = scene.paper.prose()[:3]
    text = without_abstract(titled(scene.paper, theirs.format(title), Ids()))
    body = tuple(Block("para", one) for one in said)
    ids = Ids(doi=next_doi(scene.paper.paper.ids.doi))
    record = replace(scene.paper.paper, title=ours.format(title), abstract="", ids=ids)
    return replace(text, body=body, back=()), record


def recorded() -> Iterator[Pair]:
    """Yield the pairs that were recorded: articles, pages and PDFs with their records."""
    for at, article in enumerate(Folder(SHARED).articles):
        half = (TUNING, HELD_OUT)[at % 2]
        if article.expected != "full_text" or not article.paper.title:
            continue
        body = (article.folder / "jats.xml").read_bytes()
        name = article.name
        yield Pair("recorded XML", "true", half, name, read(body, "jats"), article.paper)
        nameless = read(without_ids(body), "jats")
        yield Pair("recorded XML without identifiers", "true", half, name, nameless, article.paper)
        printed = article.folder / "paper.pdf"
        if printed.exists():
            yield from _printed(printed, article.paper, at)
    for at, path in enumerate(sorted(SHARED.glob("pdf_pairs/*/paper.pdf"))):
        core = json.loads((path.parent / "europepmc_core.json").read_text("utf-8"))
        yield from _printed(path, _of_europepmc(core), at)
    yield from _real_pages()


def _of_europepmc(core: dict[str, object]) -> Paper:
    from quality.cases import _told, _without_tags

    def first(name: str, depth: int = 9) -> str:
        return _without_tags(next(iter(_told(core, name, depth)), ""))

    names = _told(core.get("authorList"), "lastName")
    return Paper(
        Ids(doi=first("doi").lower()),
        first("title", 2) or first("title"),
        first("abstractText"),
        tuple(Author(family=name) for name in names),
    )


def _printed(path: Path, paper: Paper, at: int) -> Iterator[Pair]:
    half, name = (TUNING, HELD_OUT)[at % 2], path.parent.name
    document = read(path.read_bytes(), "pdf")
    yield Pair("recorded PDF", "true", half, name, document, paper)
    nameless = replace(document, ids=Ids())
    yield Pair("recorded PDF without identifiers", "true", half, name, nameless, paper)


def _real_pages() -> Iterator[Pair]:
    for at, page in enumerate(real_pages.load(SHARED)):
        document = real_pages.read_unjudged(page) if page.label in real_pages.WHOLE else None
        if document is None:
            continue
        half, name, paper = (TUNING, HELD_OUT)[at % 2], page.path.name, page.paper
        yield Pair("real page or XML", "true", half, name, document, paper)
        if paper.title:
            nameless = replace(document, ids=Ids())
            yield Pair("real page without identifiers", "true", half, name, nameless, paper)
