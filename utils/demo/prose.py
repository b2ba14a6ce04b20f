"""A small generator of original scientific prose.

Each topic has words of its own, so that two papers of the world are as different as two papers
are: judging *is it this paper* must be possible and must be able to fail. Same seed, same text.
"""

import random
from functools import lru_cache

from .records import Record
from .topics import TOPICS

# How many works a paper cites.
CITED = 12

Sections = tuple[tuple[str, tuple[str, ...]], ...]

_SENTENCES = (
    "We asked whether {a} depends on {b} in {s}.",
    "In {s}, {a} rose {n}-fold within {h} hours, whereas {b} hardly changed.",
    "Loss of {a} lowered {b} to {p}% of the control, and adding it back restored {c}.",
    "{A} and {b} were measured in the same {s} by {m}.",
    "Because {a} precedes {b}, we treated {c} as a consequence rather than a cause.",
    "Earlier work had linked {a} to {c}, but only in cultures without {b}.",
    "Of {k} {s} examined, {j} showed {a} together with {b} (P &lt; 0.0{d}).",
    "The effect on {a} was dose dependent between {d} and {p} nM and saturated thereafter.",
    "{M} confirmed that {b} follows {a} with a delay of about {h} minutes.",
    "When {c} was blocked, {a} no longer responded, which argues against a role of {b} alone.",
    "These {s} kept {a} for at least {d} days after {b} had been withdrawn.",
    "We therefore propose that {a} sets the threshold at which {b} begins.",
    "A simple model with {c} as the only reservoir explains {p}% of the variance in {a}.",
    "No difference in {b} was seen between sexes, ages or batches of {s}.",
    "{A} varied more between {s} than within them, as expected if {c} is inherited.",
    "The slope relating {a} to {b} was 0.{p} ± 0.0{d} over {k} observations.",
    "Neither {m} nor its negative control produced {c} in the absence of {a}.",
    "Samples with little {b} were kept in the analysis, since leaving them out would favour {a}.",
    "Taken alone, {c} predicted {a} poorly; taken with {b}, it predicted it well.",
    "Our data do not decide whether {b} acts on {a} directly or by way of {c}.",
    "{M} was repeated by a second person who did not know which {s} had been treated.",
    "At {d} °C the order reversed, and {b} appeared before {a}.",
    "It remains open how {s} without {c} avoid the loss of {a} described here.",
    "Between the two seasons, {a} moved by {h} units while {c} stayed where it was.",
)
_METHODS = (
    "{M} followed the protocol in the supplement, with {k} {s} per group.",
    "{S} were kept at {d} °C under a {h} hour light cycle until {a} was stable.",
    "Images of {b} were scored blind, and {p} fields were counted per sample.",
    "{A} was quantified against a standard curve of {d} points measured in triplicate.",
    "Differences in {c} were tested with mixed models in which {s} were the random effect.",
    "Sample size was set so that a change of {p}% in {a} would be found with a power of 0.8.",
    "Reagents for {m} came from a single batch, and {b} served as the loading control.",
    "Data on {c} were log transformed because their spread grew with the mean.",
)
_PARTS = (
    ("Introduction", 0.18, _SENTENCES), ("Materials and methods", 0.2, _METHODS + _SENTENCES[:6]),
    ("Results", 0.34, _SENTENCES), ("Discussion", 0.22, _SENTENCES),
    ("Conclusions", 0.06, _SENTENCES),
)  # fmt: skip


def _write_sentence(template: str, topic: dict[str, tuple[str, ...]], dice: random.Random) -> str:
    a, b, c = dice.sample(topic["things"], 3)
    s, m = dice.choice(topic["systems"]), dice.choice(topic["methods"])
    words = {"a": a, "b": b, "c": c, "s": s, "m": m}
    capital = {key.upper(): word[:1].upper() + word[1:] for key, word in words.items()}
    numbers = {
        "n": f"{dice.uniform(1.4, 9.6):.1f}", "h": dice.randint(2, 24), "p": dice.randint(11, 89),
        "k": dice.randint(24, 190), "j": dice.randint(11, 23), "d": dice.randint(1, 9),
    }  # fmt: skip
    return template.format(**words, **capital, **numbers)


def _write_paragraphs(
    templates: tuple[str, ...], topic: str, words: int, dice: random.Random
) -> tuple[str, ...]:
    made: list[str] = []
    written = 0
    while written < words:
        count = min(len(templates), dice.randint(4, 7))
        chosen = dice.sample(templates, count)
        made.append(" ".join(_write_sentence(template, TOPICS[topic], dice) for template in chosen))
        written += len(made[-1].split())
    return tuple(made)


@lru_cache(maxsize=256)
def body(record: Record) -> Sections:
    """Return the sections of the main text, with about ``record.words`` words."""
    if record.recorded:
        return record.recorded.sections()
    dice = random.Random(record.doi or record.pmid or record.title)
    if record.kind in {"editorial", "notice"}:
        return (("", _write_paragraphs(_SENTENCES, record.topic, record.words, dice)),)
    return tuple(
        (name, _write_paragraphs(templates, record.topic, int(record.words * share), dice))
        for name, share, templates in _PARTS
    )


@lru_cache(maxsize=256)
def abstract(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the labelled paragraphs of the abstract; a plain abstract has an empty label."""
    if record.recorded:
        return record.recorded.abstract()
    dice = random.Random(f"abstract {record.doi or record.pmid or record.title}")
    if record.abstract == "none":
        return ()
    if record.abstract == "plain":
        return (("", _write_paragraphs(_SENTENCES, record.topic, 120, dice)[0]),)
    labels = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
    pools = (_SENTENCES[:6], _METHODS, _SENTENCES, _SENTENCES)
    return tuple(
        (
            label,
            " ".join(_write_sentence(t, TOPICS[record.topic], dice) for t in dice.sample(pool, 2)),
        )
        for label, pool in zip(labels, pools, strict=True)
    )


@lru_cache(maxsize=256)
def references(record: Record) -> tuple[tuple[str, str, str, str, str], ...]:
    """Return (authors, title, journal, year, DOI) of the cited works."""
    if record.recorded:
        return record.recorded.references()
    dice = random.Random(f"references {record.doi or record.pmid}")
    if record.kind in {"notice", "editorial"} or not record.topic or record.files:
        return ()
    topic = TOPICS[record.topic]
    names = ("Marlow", "Oyelaran", "Szabo", "Tanaka", "Quispe", "Lindt")
    made = []
    for number in range(1, CITED + 1):
        a, b = dice.sample(topic["things"], 2)
        year = str(dice.randint(1988, 2024))
        people = f"{dice.choice(names)} {dice.choice('ABCDE')}, {dice.choice(names)} K"
        title = f"{a[:1].upper() + a[1:]} and {b} in {dice.choice(topic['systems'])}"
        journal = dice.choice(("Cell Notes", "Annals of Tissue", "Letters on Membranes"))
        doi = f"10.9998/ref.{year}.{number}{dice.randint(100, 999)}"
        made.append((people, title, journal, year, doi))
    return tuple(made)
