"""Manuscripts made of recorded articles, with planted faults: what `check` must not pass.

Each cites recorded articles by their own front matter (JATS, which PubMed's record was not made
of), quotes a sentence of each and tells the numbers of another in other words. One in so many
statements is changed. Kinds that are ``HELD_OUT`` were not run while `check` was made to find
faults. Nothing of the articles is kept.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.world import Record, World
from utils import Library
from utils.manuscript.checking import Check
from utils.manuscript.passages import CitedText
from utils.manuscript.quantities import (
    Quantity,
    compare_quantities,
    find_quantities,
    is_distinctive_number,
)

SEEN = ("invented", "wrong DOI", "another year", "number shifted", "word changed")
HELD_OUT = (
    *("retracted", "authors swapped", "figures transposed", "decimal point moved", "unit changed"),
    *("negated", "stitched"),
)
_OF_REFERENCES = {*SEEN[:3], *HELD_OUT[:2]}
_OF_NUMBERS = {"number shifted", "figures transposed", "decimal point moved", "unit changed"}
_OTHER_UNITS = {
    "mg": "g", "g": "mg", "kg": "g", "μg": "mg", "ml": "μl", "mL": "μl", "μl": "ml", "min": "h",
    "h": "min", "days": "weeks", "weeks": "days", "years": "months", "months": "years",
    "mM": "μM", "μM": "mM", "nM": "μM", "cm": "mm", "mm": "cm", "hours": "minutes",
    "minutes": "hours", "day": "week", "nm": "μm", "μm": "nm", "%": "fold",
}  # fmt: skip
_OTHER_WORDS = {
    "significantly": "markedly", "showed": "displayed", "increased": "rose", "compared": "set",
    "observed": "seen", "however": "yet", "approximately": "about", "respectively": "in turn",
    "revealed": "made clear", "demonstrated": "found", "obtained": "gained", "using": "with",
}  # fmt: skip


@dataclass
class Statement:
    """A sentence of a manuscript, or a reference, and the kind of fault in it ("": none)."""

    key: str
    text: str
    what: str
    kind: str = ""


@dataclass
class Made:
    """One manuscript: what it says, and which references it has."""

    path: Path
    statements: list[Statement] = field(default_factory=list)


@dataclass
class Cited:
    """A paper that can be cited: its front matter, its text, and sentences of it."""

    record: Record
    fields: dict[str, str]
    text: CitedText
    prose: list[str]
    counting: list[str]


def citable(
    world: World, library: Library, most: int, seed: int, retracted: int = 8
) -> list[Cited]:
    """Recorded articles whose full texts are on the shelf now."""
    records = [one for one in world.papers if one.cloud and one.authors]
    random.Random(seed).shuffle(records)
    found: list[Cited] = []
    for sound in records:
        if len(found) == most:
            break
        record = _retracted(sound) if len(found) < retracted else sound
        if record is not sound:
            world.put(record)
        stored = library.download(record.pmid).stored
        fields = _front(record.files["jats"])
        if stored.kind != "full_text" or not fields:
            continue
        text = CitedText("", library.shelf.read_text(stored), is_full=True)
        prose = [one.words for one in text.passages if _is_prose(one.words)]
        counting = [one for one in prose if any(map(is_distinctive_number, find_quantities(one)))]
        if len(prose) > 20 and len(counting) > 5:
            found.append(Cited(record, fields, text, prose, counting))
    return found


def _retracted(record: Record) -> Record:
    """The record as PubMed would have it after a retraction."""
    files = {kind: path for kind, path in record.files.items() if kind != "pubmed"}
    return replace(record, files=files, types=("Journal Article", "Retracted Publication"))


def _is_prose(words: str) -> bool:
    plain = " ".join(words.split())
    odd = "  " in words or re.search(r"[|{}@#$\\<>\[\]\"“”„*_^=]|\bet al\b", plain)
    return 12 <= len(plain.split()) <= 45 and not odd and plain.endswith(".") and plain[0].isupper()


def _front(path: Path) -> dict[str, str]:
    """The front matter as BibTeX fields; empty where it is not whole."""
    meta = ET.parse(path).getroot().find(".//article-meta")
    journal = ET.parse(path).getroot().findtext(".//journal-title") or ""
    if meta is None:
        return {}
    title = meta.find(".//article-title")
    names = [
        (one.findtext("name/surname") or "", one.findtext("name/given-names") or "")
        for one in meta.iterfind(".//contrib-group/contrib[@contrib-type='author']")
    ]
    dates = {
        one.get("pub-type") or one.get("date-type") or "": one for one in meta.iterfind("pub-date")
    }
    date = next(
        (dates[kind] for kind in ("ppub", "collection", "epub", "pub") if kind in dates), None
    )
    words = " ".join("".join(title.itertext()).split()) if title is not None else ""
    year = date.findtext("year") if date is not None else ""
    people = [f"{family}, {given}" for family, given in names if family]
    if not (words and year and people and journal):
        return {}
    return {
        "title": words,
        "author": " and ".join(people[:8]) + (" and others" if len(people) > 8 else ""),
        "year": year or "",
        "journal": " ".join(journal.split()),
        "volume": meta.findtext("volume") or "",
    }


def faults_of(names: Sequence[str], number: int, seed: int) -> list[str]:
    """So many kinds of fault, each as often as the others."""
    made = [names[at % len(names)] for at in range(number)]
    random.Random(seed).shuffle(made)
    return made


def manuscripts(
    papers: Sequence[Cited], faults: Sequence[str], folder: Path, number: int, seed: int
) -> Iterator[Made]:
    """Manuscripts in Markdown and LaTeX, with the faults spread over them."""
    chance = random.Random(seed)
    retracted = [one for one in papers if one.record.retracted]
    sound = [one for one in papers if not one.record.retracted]
    for at in range(number):
        mine = list(faults[at::number])
        cited = chance.sample(sound, min(len(sound), max(12, len(mine))))
        yield _manuscript(cited, retracted, mine, folder / f"m{at}", at, chance)


def _manuscript(
    cited: Sequence[Cited],
    retracted: Sequence[Cited],
    faults: list[str],
    folder: Path,
    at: int,
    chance: random.Random,
) -> Made:
    folder.mkdir()
    is_latex = bool(at % 2)
    made = Made(folder / ("paper.tex" if is_latex else "paper.md"))
    entries, lines = [], []
    for number, one in enumerate(cited):
        key, fault = f"k{number}", faults.pop() if faults else ""
        about = chance.choice(retracted) if fault == "retracted" else one
        of_reference = fault if fault in _OF_REFERENCES else ""
        fields = _cited_fields(about, of_reference, cited, chance)
        entries.append(_entry(key, fields))
        made.statements.append(Statement(key, "", "reference", of_reference))
        if of_reference:  # its sentences are held against no text, or against another
            lines.append(("See this", key))
            continue
        for what, text, kind in _sentences(one, fault, chance):
            made.statements.append(Statement(key, text, what, kind))
            lines.append((text, key))
    (folder / "refs.bib").write_text("\n".join(entries), "utf-8")
    made.path.write_text(_body(lines, is_latex=is_latex), "utf-8")
    return made


def _sentences(one: Cited, fault: str, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    quotation, kind = chance.choice(one.prose), ""
    if fault in ("word changed", "negated", "stitched"):
        quotation, kind = _altered(quotation, fault, one, chance), fault
    yield "quotation", f"They wrote “{quotation.rstrip('.')}” there", kind
    for _ in range(20):
        source = chance.choice([other for other in one.counting if other != quotation])
        if fault not in _OF_NUMBERS:
            yield "number", _told(source, chance), ""
            return
        if changed := _recounted(source, fault, one, chance):
            yield "number", _told(changed, chance, restyle=False), fault
            return


def _told(source: str, chance: random.Random, *, restyle: bool = True) -> str:
    """A sentence in somewhat other words, its numbers in another style."""
    words = source.rstrip(".").split()
    words = [_OTHER_WORDS.get(word, word) for word in words]
    text = " ".join(words)
    if restyle:
        text = re.sub(r"(?<![\d.])(\d{4,6})(?![\d.])(?!\s?(?:[A-Z]|$))", _with_commas, text)
        if chance.random() < 0.5:
            text = re.sub(r"(\d)\s?%", r"\1 percent", text)
    first = text[0].lower() if text[1:2].islower() else text[0]
    begin = chance.choice(("It was found that ", "They report that ", "In this work "))
    return f"{begin}{first}{text[1:]}"


def _with_commas(found: re.Match[str]) -> str:
    number = int(found[1])
    return found[1] if 1800 <= number <= 2099 else f"{number:,}"


def _recounted(source: str, fault: str, one: Cited, chance: random.Random) -> str:
    """The sentence with one number changed; empty where that says the same or cannot be."""
    asked = [
        q
        for q in find_quantities(source)
        if is_distinctive_number(q) and q.sign != "word" and q.value
    ]
    for quantity in chance.sample(asked, len(asked)):
        stretch = source[quantity.start : quantity.end]
        new = _CHANGED[fault](stretch, chance)
        if not new or new == stretch:
            continue
        changed = source[: quantity.start] + new + source[quantity.end :]
        now = next((q for q in find_quantities(changed) if q.start == quantity.start), None)
        if now and is_distinctive_number(now) and not _says_the_same(now, source):
            return changed
    return ""


def _says_the_same(now: Quantity, source: str) -> bool:
    return any(compare_quantities(now, q) not in ("", "unit") for q in find_quantities(source))


def _shifted(text: str, chance: random.Random) -> str:
    figures = [found.start() for found in re.finditer(r"\d", text.split("×", maxsplit=1)[0])]
    at = chance.choice(figures)
    others = [one for one in "123456789" if one != text[at]]
    return text[:at] + chance.choice(others) + text[at + 1 :]


def _transposed(text: str, _: random.Random) -> str:
    pairs = [m for m in re.finditer(r"(?=(\d)(\d))", text) if m[1] != m[2] and m[2] != "0"]
    return (
        text[: pairs[0].start()] + pairs[0][2] + pairs[0][1] + text[pairs[0].start() + 2 :]
        if pairs
        else ""
    )


def _moved(text: str, _: random.Random) -> str:
    found = re.search(r"(\d+)\.(\d)(\d*)", text)
    return (
        f"{text[: found.start()]}{found[1]}{found[2]}.{found[3] or 0}{text[found.end() :]}"
        if found
        else ""
    )


def _in_other_unit(text: str, _: random.Random) -> str:
    found = re.search(r"([\d.]\s?)(\D+)$", text)
    unit = _OTHER_UNITS.get(found[2].strip()) if found else None
    return f"{text[: found.start(2)].rstrip()} {unit}" if found and unit else ""


_CHANGED: dict[str, Callable[[str, random.Random], str]] = {
    "number shifted": _shifted,
    "figures transposed": _transposed,
    "decimal point moved": _moved,
    "unit changed": _in_other_unit,
}


def _altered(quotation: str, fault: str, one: Cited, chance: random.Random) -> str:
    words = quotation.split()
    if fault == "word changed":
        long = [at for at, word in enumerate(words[1:-1], 1) if word.isalpha() and len(word) > 4]
        words[chance.choice(long or [2])] = chance.choice(
            ("orchard", "velvet", "seldom", "granite")
        )
    elif fault == "negated":
        words.insert(chance.randrange(3, len(words) - 2), "not")
    else:
        other = chance.choice([p for p in one.prose if p != quotation]).split()
        words = [*words[: len(words) // 2], *other[len(other) // 2 :]]
    return " ".join(words)


def _cited_fields(
    one: Cited, fault: str, cited: Sequence[Cited], chance: random.Random
) -> dict[str, str]:
    fields = {**one.fields, "doi": one.record.doi}
    if fault == "invented":
        nouns = chance.sample(
            ("lichens", "gearboxes", "sonnets", "tides", "violins", "glaciers"), 2
        )
        fields["title"] = (
            f"Slow {nouns[0]} and the inner life of {nouns[1]} in {chance.randint(3, 99)} valleys"
        )
        fields |= {"author": "Quillfeather, Ada and Marrowby, Otto", "doi": ""}
        fields |= {
            "journal": "Annals of Improbable Valleys",
            "volume": str(chance.randint(200, 900)),
        }
    elif fault == "wrong DOI":
        fields["doi"] = chance.choice([o.record.doi for o in cited if o is not one])
    elif fault == "another year":
        fields["year"] = str(int(fields["year"]) + chance.choice((-3, -2, 2, 3)))
    elif fault == "authors swapped":
        people = fields["author"].split(" and ")
        other = (
            chance.choice([o for o in cited if o is not one]).fields["author"].split(" and ", 1)[0]
        )
        fields["author"] = " and ".join([other, *people[1:]])
    return fields


def _entry(key: str, fields: dict[str, str]) -> str:
    inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@article{{{key},\n{inside}\n}}\n"


def _body(lines: Sequence[tuple[str, str]], *, is_latex: bool) -> str:
    if not is_latex:
        told = "\n\n".join(f"{text} [@{key}]." for text, key in lines)
        return f"---\nbibliography: refs.bib\n---\n\n# Made\n\n{told}\n"
    told = "\n\n".join(f"{_in_tex(text)} \\cite{{{key}}}." for text, key in lines)
    head = "\\documentclass{article}\n\\begin{document}\n"
    return f"{head}{told}\n\n\\bibliography{{refs}}\n\\end{{document}}\n"


def _in_tex(text: str) -> str:
    escaped = re.sub(r"([%&#_$])", r"\\\1", text).replace("~", r"\textasciitilde{}")
    return escaped.replace("“", "``").replace("”", "''")


def passed(statement: Statement, checked: Check) -> str:
    """``verified``, ``questioned`` or ``open`` (no word on it): what became of a statement."""
    if statement.what == "reference":
        one = next(one for one in checked.references if one.reference.key == statement.key)
        grave = [kind for kind, _ in one.warnings if kind != "corrected"]
        if one.status == "verified":
            return "questioned" if grave else "verified"
        return "open" if one.status == "could_not_tell" else "questioned"
    mine = [
        claim
        for claim in checked.claims
        if claim.keys == (statement.key,) and claim.kind == statement.what
    ]
    outcomes = {claim.outcome for claim in mine}
    if any(claim.differs for claim in mine):
        return "questioned"
    return "verified" if outcomes == {"same"} else "open"
