"""Quotations made of real sentences: verbatim in many prints, or with one thing changed.

Each kind has a maker that turns a sentence (or two) of a paper into a quotation, or into None where
the sentence has nothing of the kind to change. The makers know nothing of the judge: they have
words, signs and rules of their own. Kinds that are held out were not looked at while the judge was
written or mended.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, takewhile
from pathlib import Path

from tests.corpus.small_corpus import corpus_in, paper
from tests.shelf.papers import save
from utils.corpus import Corpus
from utils.corpus.quotations import Quotation
from utils.model.identifiers import Ids
from utils.model.paper import Fetched
from utils.outline.blocks import build_anchors
from utils.readers import jats


@dataclass(frozen=True)
class Kind:
    """What is made: the verdict that is right, and differences one of which must be named."""

    make: Callable[[Stretch, random.Random], str | None]
    verdict: str
    named: tuple[str, ...] = ()
    held_out: bool = False


@dataclass(frozen=True)
class Stretch:
    """Sentences in a row from a paragraph, one from another section, one from another paper.

    All are as the paper has them, without markup; ``marked`` is one that has some.
    """

    sentences: tuple[str, ...]
    apart: str
    elsewhere: str
    marked: str = ""

    @property
    def first(self) -> str:
        return self.sentences[0]


@dataclass(frozen=True)
class Case:
    """A quotation of a paper, and what is right to say about it."""

    kind: str
    paper: str
    text: str
    original: str


# --- verbatim -------------------------------------------------------------------------------------


def _as_it_is(of: Stretch, _: random.Random) -> str:
    return of.first


def _two_sentences(of: Stretch, _: random.Random) -> str | None:
    return " ".join(of.sentences[:2]) if len(of.sentences) > 1 else None


def _straight(of: Stretch, _: random.Random) -> str | None:
    """Typewriter's quotes and hyphens for the printer's."""
    return _if_changed(of.first.translate(str.maketrans("“”‘’–−—", "\"\"''---")), of.first)


def _curly(of: Stretch, _: random.Random) -> str | None:
    """The printer's quotes and dashes for the typewriter's."""
    text = re.sub(r'"([^"]*)"', r"“\1”", of.first).replace("'", "’")
    return _if_changed(re.sub(r"(?<=\d)-(?=\d)", "–", text), of.first)


def _ligatures(of: Stretch, _: random.Random) -> str | None:
    text = of.first
    for letters, one in (("ffi", "ﬃ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        text = text.replace(letters, one)
    return _if_changed(text, of.first)


def _other_blanks(of: Stretch, dice: random.Random) -> str:
    return re.sub(" ", lambda _: dice.choice((" ", "\u00a0", "\u2009", "\u202f", "  ")), of.first)


def _lines(of: Stretch, dice: random.Random) -> str:
    return re.sub(" ", lambda _: dice.choice((" ", " ", " ", "\n", " \r\n")), of.first)


def _hyphenated(of: Stretch, dice: random.Random) -> str | None:
    """Broken at the end of a line, as a PDF hands it out."""
    long = list(re.finditer(r"\b[a-z]{8,}\b", of.first))
    if not long:
        return None
    at = dice.choice(long).start() + dice.randint(3, 5)
    return f"{of.first[:at]}-\n{of.first[at:]}"


def _decomposed(of: Stretch, _: random.Random) -> str | None:
    return _if_changed(unicodedata.normalize("NFD", of.first), of.first)


def _micro(of: Stretch, _: random.Random) -> str | None:
    return _if_changed(of.first.translate(str.maketrans("µμ", "μµ")), of.first)


def _gap(of: Stretch, _: random.Random) -> str | None:
    """A clause left out, and marked."""
    words = of.first.split()
    third = len(words) // 3
    if len(words) < 15 or _turns(" ".join(words[third : 2 * third])):
        return None
    return f"{' '.join(words[:third])} … {' '.join(words[2 * third :])}"


def _gap_of_a_sentence(of: Stretch, _: random.Random) -> str | None:
    if len(of.sentences) < 3 or _turns(of.sentences[1]) or len(of.sentences[1]) > 400:
        return None
    return f"{of.sentences[0]} [...] {of.sentences[2]}"


def _within(of: Stretch, _: random.Random) -> str | None:
    """Some words from the middle, a capital where quoting begins."""
    words = of.first.split()
    some = " ".join(words[3:-3])
    if len(words) < 14 or not (some[0].islower() and some[-1].isalpha()):
        return None
    return f"“{some[0].upper()}{some[1:]}”"


_MARKUP = re.compile(r"</?(?:sup|sub|i|b)>|(?<!\w)[*_]{1,3}(?=\w)|(?<=[\w.])[*_]{1,3}(?!\w)")
_SUPERSCRIPT = str.maketrans("0123456789+−-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")


def _without_markup(of: Stretch, _: random.Random) -> str | None:
    """As it stands on a screen, italics and what is lowered told by nothing."""
    if not of.marked or re.search(r"<sup>|\\", of.marked):
        return None
    return _if_changed(_MARKUP.sub("", of.marked), of.marked)


def _raised(of: Stretch, _: random.Random) -> str | None:
    """Raised figures in letters of their own."""
    raised = re.sub(
        r"<sup>([\d+−-]+)</sup>", lambda m: m[1].translate(_SUPERSCRIPT), of.marked or ""
    )
    return _if_changed(_MARKUP.sub("", raised), of.marked) if raised != of.marked else None


# --- near -----------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.,\[/^-])\d+(?:\.\d+)?(?![\w,\]/^-]|\.\d)")


def _number(of: Stretch, dice: random.Random) -> str | None:
    return _one(_NUMBER, of.first, lambda m: _other_digit(m[0], dice), dice)


def _decimal_point(of: Stretch, dice: random.Random) -> str | None:
    def moved(match: re.Match[str]) -> str:
        whole, part = match[0].split(".")
        return f"{whole}{part[0]}.{part[1:] or '0'}"

    return _one(re.compile(r"(?<![\w.,/-])\d+\.\d+(?![\w,/-]|\.\d)"), of.first, moved, dice)


def _comparison(of: Stretch, dice: random.Random) -> str | None:
    return _one(re.compile("[<>]"), of.first, lambda m: ">" if m[0] == "<" else "<", dice)


_UNIT_SWAPS = {"mg": "g", "kg": "g", "ml": "μl", "mL": "μL", "cm": "mm", "%": "mg", "°C": "°F"}
_OTHER_UNITS = {
    "h": "min", "min": "h", "days": "weeks", "weeks": "months", "months": "years",
    "years": "months", "hours": "minutes", "minutes": "hours", "μM": "nM", "mM": "μM", "nM": "mM",
    "km": "m", "nm": "μm", "μg": "mg", "mmHg": "kPa",
}  # fmt: skip


def _unit(of: Stretch, dice: random.Random) -> str | None:
    return _swapped_unit(of.first, _UNIT_SWAPS, dice)


def _other_unit(of: Stretch, dice: random.Random) -> str | None:
    return _swapped_unit(of.first, _OTHER_UNITS, dice)


def _swapped_unit(text: str, swaps: Mapping[str, str], dice: random.Random) -> str | None:
    names = "|".join(map(re.escape, sorted(swaps, key=len, reverse=True)))
    pattern = re.compile(rf"(?<=\d)(\s?)({names})(?!\w)")
    return _one(pattern, text, lambda m: f"{m[1]}{swaps[m[2]]}", dice)


def _not_removed(of: Stretch, dice: random.Random) -> str | None:
    return _one(re.compile(r"\bnot "), of.first, lambda _: "", dice)


def _not_added(of: Stretch, dice: random.Random) -> str | None:
    pattern = re.compile(r"\b(?:was|were|is|are|has|have|did|can|could|may|will)\b(?! not)")
    return _one(pattern, of.first, lambda m: f"{m[0]} not", dice)


def _other_negation_removed(of: Stretch, dice: random.Random) -> str | None:
    swaps = {
        "no": "a",
        "No": "A",
        "neither": "both",
        "without": "with",
        "cannot": "can",
        "never": "",
    }
    pattern = re.compile(r"\b(?:no|No|neither|without|cannot|never)\b")
    return _one(pattern, of.first, lambda m: swaps[m[0]], dice)


_DIRECTIONS = (("increase", "decrease"), ("increased", "decreased"), ("increases", "decreases"))
_OTHER_DIRECTIONS = (
    ("higher", "lower"), ("high", "low"), ("more", "less"), ("positive", "negative"),
    ("positively", "negatively"), ("improved", "worsened"), ("upregulated", "downregulated"),
    ("enhanced", "reduced"), ("larger", "smaller"), ("greater", "smaller"), ("longer", "shorter"),
    ("above", "below"), ("activation", "inhibition"), ("older", "younger"), ("gain", "loss"),
    ("before", "after"), ("promotes", "inhibits"),
)  # fmt: skip


def _direction(of: Stretch, dice: random.Random) -> str | None:
    return _turned(of.first, _DIRECTIONS, dice)


def _other_direction(of: Stretch, dice: random.Random) -> str | None:
    return _turned(of.first, _OTHER_DIRECTIONS, dice)


def _turned(text: str, pairs: Sequence[tuple[str, str]], dice: random.Random) -> str | None:
    ways = {**dict(pairs), **{two: one for one, two in reversed(pairs)}}
    pattern = re.compile(rf"\b(?:{'|'.join(ways)})\b")
    return _one(pattern, text, lambda m: ways[m[0]], dice)


_NUMERIC = re.compile(r"\b(?:first|second|third|half|once|twice|double|t\w+|days?|weeks?|years?)\b")


def _left_out(of: Stretch, dice: random.Random) -> str | None:
    """Two to four plain words less, and no mark."""
    words = of.first.split()
    many = dice.randint(2, 4)
    for at in dice.sample(range(3, max(4, len(words) - 3 - many)), k=max(1, len(words) - 6 - many)):
        gone = " ".join(words[at : at + many])
        plain = not _turns(gone) and not _NUMERIC.search(gone)
        if plain and re.fullmatch(r"[a-z ]+", gone):
            return " ".join((*words[:at], *words[at + many :]))
    return None


def _sentence_left_out(of: Stretch, _: random.Random) -> str | None:
    if len(of.sentences) < 3 or _turns(of.sentences[1]) or len(of.sentences[1]) > 400:
        return None
    return f"{of.sentences[0]} {of.sentences[2]}"


def _joined(of: Stretch, _: random.Random) -> str:
    return f"{of.first} … {of.apart}"


def _joined_backwards(of: Stretch, _: random.Random) -> str | None:
    return f"{of.sentences[1]} [...] {of.sentences[0]}" if len(of.sentences) > 1 else None


def _halves_joined(of: Stretch, _: random.Random) -> str | None:
    """The subject of one sentence with what another says of its own."""
    one, other = of.first.split(), of.apart.split()
    if min(len(one), len(other)) < 12:
        return None
    return f"{' '.join(one[: len(one) // 2])} … {' '.join(other[len(other) // 2 :])}"


_SYNONYMS = {
    "showed": "revealed", "used": "employed", "observed": "noted", "significant": "marked",
    "however": "though", "study": "trial", "suggest": "indicate", "found": "detected",
    "performed": "carried", "important": "key", "several": "various", "using": "with",
}  # fmt: skip


def _synonym(of: Stretch, dice: random.Random) -> str | None:
    pattern = re.compile(rf"\b(?:{'|'.join(_SYNONYMS)})\b")
    return _one(pattern, of.first, lambda m: _SYNONYMS[m[0]], dice)


def _added(of: Stretch, dice: random.Random) -> str | None:
    words = of.first.split()
    if len(words) < 10:
        return None
    at = dice.randint(3, len(words) - 3)
    return " ".join((*words[:at], dice.choice(("clearly", "of course", "remarkably")), *words[at:]))


_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


def _number_word(of: Stretch, dice: random.Random) -> str | None:
    pattern = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")

    def other(match: re.Match[str]) -> str:
        return dice.choice([one for one in _NUMBER_WORDS if one != match[0]])

    return _one(pattern, of.first, other, dice)


def _range(of: Stretch, dice: random.Random) -> str | None:
    pattern = re.compile(r"(?<=\d[–-])\d+(?![\w.,\]-])")
    return _one(pattern, of.first, lambda m: _other_digit(m[0], dice), dice)


def _ordinal(of: Stretch, dice: random.Random) -> str | None:
    swaps = {"first": "second", "second": "third", "third": "first", "once": "twice"}
    return _one(re.compile(rf"\b(?:{'|'.join(swaps)})\b"), of.first, lambda m: swaps[m[0]], dice)


def _prefix(of: Stretch, dice: random.Random) -> str | None:
    """A "not" within a word."""
    turned = {
        "significant": "non-significant", "significantly": "insignificantly", "able": "unable",
        "likely": "unlikely", "dependent": "independent", "consistent": "inconsistent",
        "known": "unknown", "similar": "dissimilar", "sufficient": "insufficient",
    }  # fmt: skip
    return _turned(of.first, tuple(turned.items()), dice)


def _presence(of: Stretch, dice: random.Random) -> str | None:
    return _turned(of.first, (("presence", "absence"), ("present", "absent")), dice)


_PREFIXED = re.compile(r"\b(?:hyper|hypo|over|under|up|down|post|pre)(?=-?[a-z]{5,})")


def _opposite_prefix(of: Stretch, dice: random.Random) -> str | None:
    """Hyper- for hypo-, and the like."""
    ways = {"hyper": "hypo", "over": "under", "up": "down", "post": "pre"}
    ways |= {two: one for one, two in ways.items()}
    return _one(_PREFIXED, of.first, lambda m: ways[m[0]], dice)


def _capital(of: Stretch, dice: random.Random) -> str | None:
    """A gene's name in another species' spelling."""
    return _one(re.compile(r"(?<= )[A-Z]{3,}\d*\b"), of.first, lambda m: m[0].capitalize(), dice)


def _comma(of: Stretch, dice: random.Random) -> str | None:
    return _one(re.compile(r"(?<=[a-z]), (?=[a-z])"), of.first, lambda _: " ", dice)


def _names_swapped(of: Stretch, dice: random.Random) -> str | None:
    """What one did, the other did."""
    names = list(re.finditer(r"(?<= )[A-Z][\w-]*[A-Z0-9]\b", of.first))
    if len(names) < 2 or names[0][0] == names[-1][0]:
        return None
    one, other, text = names[0], names[-1], of.first
    middle = text[one.end() : other.start()]
    return f"{text[: one.start()]}{other[0]}{middle}{one[0]}{text[other.end() :]}"


def _two_changes(of: Stretch, dice: random.Random) -> str | None:
    text = _synonym(of, dice)
    return text and _number(Stretch((text,), "", ""), dice)


# --- absent ---------------------------------------------------------------------------------------


def _of_another_paper(of: Stretch, _: random.Random) -> str:
    return of.elsewhere


def _invented(_: Stretch, dice: random.Random) -> str:
    things = ("velvet harbours", "copper orchards", "paper lanterns", "idle glaciers")
    deeds = ("outlast", "mistrust", "rehearse", "embroider")
    return (
        f"{dice.choice(things)} {dice.choice(deeds)} {dice.choice(things)} beneath wry umbrellas."
    )


ELSEWHERE = "of another paper"
KINDS: dict[str, Kind] = {
    "as it is": Kind(_as_it_is, "verbatim"),
    "two sentences": Kind(_two_sentences, "verbatim"),
    "straight quotes and hyphens": Kind(_straight, "verbatim"),
    "ligatures": Kind(_ligatures, "verbatim"),
    "other lines": Kind(_lines, "verbatim"),
    "a gap, marked": Kind(_gap, "verbatim"),
    "without its markup": Kind(_without_markup, "verbatim", held_out=True),
    "raised figures": Kind(_raised, "verbatim", held_out=True),
    "curly quotes and dashes": Kind(_curly, "verbatim", held_out=True),
    "other blanks": Kind(_other_blanks, "verbatim", held_out=True),
    "hyphenated at the end of a line": Kind(_hyphenated, "verbatim", held_out=True),
    "decomposed letters": Kind(_decomposed, "verbatim", held_out=True),
    "micro and mu": Kind(_micro, "verbatim", held_out=True),
    "a gap of a sentence, marked": Kind(_gap_of_a_sentence, "verbatim", held_out=True),
    "from the middle": Kind(_within, "verbatim", held_out=True),
    "one digit": Kind(_number, "near", ("number",)),
    "unit": Kind(_unit, "near", ("unit",)),
    "not removed": Kind(_not_removed, "near", ("negation",)),
    "increase and decrease": Kind(_direction, "near", ("direction",)),
    "words left out, no mark": Kind(_left_out, "near", ("left out",)),
    "joined by … from another section": Kind(_joined, "near", ("stitched",)),
    "a word added": Kind(_added, "near", ("added",)),
    "number in words": Kind(_number_word, "near", ("number",)),
    "un-, in-, non-": Kind(_prefix, "near", ("negation",)),
    "hyper and hypo, up and down": Kind(_opposite_prefix, "near", ("direction",)),
    "capitals": Kind(_capital, "near", ("capitals",)),
    "comma": Kind(_comma, "near", ("punctuation",)),
    "end of a range": Kind(_range, "near", ("number",), held_out=True),
    "first and second": Kind(_ordinal, "near", ("number",), held_out=True),
    "presence and absence": Kind(_presence, "near", ("direction", "negation"), held_out=True),
    "names swapped": Kind(_names_swapped, "near", ("words", "number"), held_out=True),
    "a number and a word": Kind(_two_changes, "near", ("number",), held_out=True),
    "decimal point": Kind(_decimal_point, "near", ("number",), held_out=True),
    "< and >": Kind(_comparison, "near", ("number",), held_out=True),
    "other units": Kind(_other_unit, "near", ("unit",), held_out=True),
    "not added": Kind(_not_added, "near", ("negation",), held_out=True),
    "no, without, neither removed": Kind(
        _other_negation_removed, "near", ("negation",), held_out=True
    ),
    "other directions": Kind(_other_direction, "near", ("direction",), held_out=True),
    "sentence left out, no mark": Kind(_sentence_left_out, "near", ("left out",), held_out=True),
    "joined backwards": Kind(_joined_backwards, "near", ("stitched",), held_out=True),
    "halves joined by …": Kind(_halves_joined, "near", ("stitched",), held_out=True),
    "another word": Kind(_synonym, "near", ("words",), held_out=True),
    ELSEWHERE: Kind(_of_another_paper, "absent"),
    "invented": Kind(_invented, "absent", held_out=True),
}


# --- making them ----------------------------------------------------------------------------------


def cases(texts: Mapping[str, str], number: int, seed: int = 0) -> list[Case]:
    """So many quotations of *texts* (by the name of the paper), of all kinds in turn.

    Fewer where the sentences have too little that could be changed: none is made twice.
    """
    dice = random.Random(seed)
    stretches = list(_stretches(texts, dice))
    ways = {name: _made(name, texts, stretches, random.Random(f"{name} {seed}")) for name in KINDS}
    turns = (next(way, None) for way in cycle(ways.values()))
    return [case for case in islice(turns, number) if case]


def _made(
    name: str,
    texts: Mapping[str, str],
    stretches: Sequence[tuple[str, Stretch]],
    dice: random.Random,
) -> Iterator[Case]:
    """Quotations of one kind, each of another stretch."""
    kind = KINDS[name]
    for paper_, of in dice.sample(stretches, len(stretches)):
        quoted = kind.make(of, dice)
        if quoted and (kind.verdict == "verbatim" or quoted not in texts[paper_]):
            yield Case(name, paper_, quoted, of.first)


def truth_of(case: Case, *, anywhere: bool = False) -> str:
    """The right verdict where one paper is asked for, or all of them."""
    return "verbatim" if anywhere and case.kind == ELSEWHERE else KINDS[case.kind].verdict


def fault_of(case: Case, found: Quotation, *, anywhere: bool = False) -> str:
    """What is wrong with the answer about a quotation; empty when nothing."""
    kind, truth = KINDS[case.kind], truth_of(case, anywhere=anywhere)
    if found.verdict != truth:
        return f"{found.verdict} for {truth}"
    named = {one.kind for one in found.differences}
    if kind.named and not named & {*kind.named}:
        return f"{', '.join(sorted(named)) or 'nothing'} for {' or '.join(kind.named)}"
    if truth != "absent" and "#" not in found.handle:
        return "no handle"
    return ""


def _stretches(texts: Mapping[str, str], dice: random.Random) -> Iterator[tuple[str, Stretch]]:
    """Runs of up to three plain sentences of each paragraph that stand in the text once."""
    paragraphs = {name: list(_paragraphs(text)) for name, text in texts.items()}
    plain = [one for each in paragraphs.values() for _, told in each for one in told]
    every = [one for one in plain if not _has_markup(one)]
    for name, told in paragraphs.items():
        for section, sentences in told:
            others = [one for other, some in told if other != section for one in some]
            others = [one for one in others if not _has_markup(one)]
            for at in range(0, len(sentences) - 1, 3):
                run = tuple(sentences[at : at + 3])
                marked = next(filter(_has_markup, run), "")
                elsewhere = dice.choice(every)
                if others and elsewhere not in texts[name] and not _has_markup(run[0]):
                    plain_run = tuple(takewhile(lambda one: not _has_markup(one), run))
                    yield name, Stretch(plain_run, dice.choice(others), elsewhere, marked)


def _has_markup(said: str) -> bool:
    return bool(re.search(r"^>|[*_|\\$`#]|</?\w|&\w+;", said))


def _paragraphs(text: str) -> Iterator[tuple[str, list[str]]]:
    """Main section of each paragraph, and its sentences."""
    for block in build_anchors(text):
        said = " ".join(text[block.start : block.end].split())
        sentences = re.split(r"(?<=[a-z)\]][.!?]) (?=[A-Z])", said)
        whole = all(8 <= len(one.split()) <= 45 and text.count(one) <= 1 for one in sentences)
        if block.kind == "paragraph" and whole and len(sentences) > 1:
            yield block.section.partition(" › ")[0], sentences


def _one(
    pattern: re.Pattern[str],
    text: str,
    make: Callable[[re.Match[str]], str],
    dice: random.Random,
) -> str | None:
    """*text* with one match of *pattern*, any, made anew; None where there is none."""
    found = list(pattern.finditer(text))
    if not found:
        return None
    one = dice.choice(found)
    return " ".join(f"{text[: one.start()]}{make(one)}{text[one.end() :]}".split())


def _other_digit(number: str, dice: random.Random) -> str:
    at = dice.choice([place for place, sign in enumerate(number) if sign.isdigit()])
    digit = dice.choice([one for one in "123456789" if one != number[at]])
    return f"{number[:at]}{digit}{number[at + 1 :]}"


def _if_changed(made: str, text: str) -> str | None:
    return made if made != text else None


def _turns(words: str) -> bool:
    """Whether leaving these words out would turn the meaning round."""
    pattern = r"\b(?:not?|nor|neither|never|none|without|cannot|fail\w*|absen\w*|lack\w*)\b"
    return bool(re.search(pattern, words, re.I))


def recorded_texts(data: Path, number: int) -> dict[str, str]:
    """The texts of so many recorded articles, as the shelf would have them, by PMID."""
    rows = map(json.loads, (data / "articles.jsonl").read_text("utf-8").splitlines())
    whole = [row for row in rows if row["jats_status"] == "full" and row["pmid"]]
    every = max(1, len(whole) // number)
    return {row["pmid"]: _read(data / row["files"]["jats"]) for row in whole[::every][:number]}


def _read(path: Path) -> str:
    return jats.read_document(Fetched(path.read_bytes(), "jats", "", "", "")).markdown


@contextmanager
def shelved(texts: Mapping[str, str], folder: Path) -> Iterator[Corpus]:
    """A corpus whose shelf has these texts."""
    corpus = corpus_in(folder, vectors=False)
    for pmid, text in texts.items():
        save(corpus.shelf, paper(pmid, ids=Ids(pmid=pmid), title=f"Paper {pmid}"), text)
    try:
        yield corpus
    finally:
        corpus.finder.close()
        corpus.database.close()
        corpus.shelf.close()
