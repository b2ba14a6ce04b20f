"""Questions whose right answer is known, made from any folder of articles and records.

``uv run python -m quality.benchmarks.questions [FOLDER]`` shows how many of each kind there are,
and one.

FOLDER holds ``PubmedArticleSet`` files (``*.xml.gz``, ``pubmed*.xml``) and articles (``jats.xml``,
with or without their ``pubmed*.xml`` beside them), anywhere below it. Half of the papers are
articles where there are so many of both. A paper belongs to one of two parts by the digest of its
key: *tuning*, which may be looked at, and *held out*, which is asked when all is chosen. What is
indexed are titles and abstracts; right is any passage of the paper the question was made from.
Asked are

- ``keywords``: the authors', three at least;
- ``MeSH``: the major headings, three at least: words of NLM's indexers, often not the authors';
- ``unseen sentence``: one that was taken out of the indexed abstract;
- ``half a sentence``: half of the words, by chance, of one that is still there;
- ``figure``, ``table``: a caption of the article, of which only the abstract is indexed;
- ``symbol + 1 word``: a name with figures or a Greek letter, as somebody else would write it, and
  one of the paper's rarer words;
- ``other spelling``: a third of a sentence with other endings, dashes, letters and case;
- ``synonym``: some words of a sentence in which a term stands as its abbreviation, or the reverse,
  as other papers of the folder introduce them, and as this paper never does;
- ``numbers``: which study reports one or two numbers of a sentence with their units, written as
  somebody else would (``12.5mg``, ``p = .03``, ``1234``, ``10 to 20``), for two of its words;
- ``negated fact``: what a sentence denies, asked with two thirds of its words and another negation;
- ``British/American``: six words of a sentence, those that the other variety of English spells
  otherwise in its spelling. The list is that of the package ``breame``, and not that of the
  product; without the package there are no such questions.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import importlib.util
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.outline.blocks import iterate_sentence_spans
from utils.readers import jats
from utils.readers.pubmed import iterate_records

_WORD = re.compile(r"[^\W_][\w'’-]*")
_SYMBOL = re.compile(r"(?<!\w)(?=[\w-]*\d|[\w-]*[α-ω])[A-Za-zα-ωΑ-Ω][\w-]{1,10}(?!\w)")
_SHORT_FORM = re.compile(r"\(([A-Z][A-Za-z]{1,7})\)")
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "ω": "omega"}
_QUANTITY = re.compile(
    r"(?<![\w.,/])(?:(?:[pPnN]\s?)?[<>=≤≥]\s?)?\d[\d,]*(?:[.·]\d+)?"
    r"(?:\s?[–-]\s?\d+(?:[.·]\d+)?)?"
    r"(?:\s?(?:%|[μµmnk]?[gLlM]\b(?:/(?:kg|d|day|mL|L|l)\b)?|m[mM]\b|cm\b|kg\b|h\b|(?:year|month|week|day|hour)s?\b))?"
)
_NEGATION = re.compile(r"\b(?:(?:did|was|were|is|are|does) not|without|no|not)\b", re.I)
_OTHER_NEGATION = {"did not": "does not", "does not": "did not", "was not": "is not",
                   "were not": "are not", "is not": "was not", "are not": "were not",
                   "no": "no", "without": "no", "not": "not"}  # fmt: skip
_RARE = 3  # papers that have the word, at most
Part = Literal["", "tuning", "held out"]
Known = tuple[Paper, list[tuple[str, str]]]
"""A paper, and its captions: *figure* or *table*, and the words."""


class Question(NamedTuple):
    """What is asked, and the key of the paper that must come."""

    kind: str
    paper: str
    text: str


class Case(NamedTuple):
    """A paper as it is indexed: its title, and its abstract without what is asked for."""

    key: str
    paper: Paper
    abstract: str


def papers(folder: Path, most: int, part: Part = "") -> dict[str, Known]:
    """At most so many papers with an abstract, by key, and the captions of the articles."""
    found: dict[str, Known] = {}
    for path in sorted([*folder.rglob("pubmed*.xml"), *folder.rglob("*.xml.gz")]):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        article = path.with_name("jats.xml")
        captions = _captions(article) if path.suffix == ".xml" and article.exists() else []
        if b"<PubmedArticleSet" not in body[:2000]:
            continue
        for paper in iterate_records(body):
            if isinstance(paper, Paper):
                found.setdefault(f"pmid:{paper.ids.pmid}", (paper, captions))
    for path in sorted(folder.rglob("jats.xml")):
        if not list(path.parent.glob("pubmed*.xml")) and (paper := _claimed(path)):
            key = f"pmid:{paper.ids.pmid}" if paper.ids.pmid else paper.ids.key
            found[key] = found.get(key, (paper, []))[0], _captions(path)
    told = {
        key: one
        for key, one in found.items()
        if one[0].abstract and one[0].title and (not part or part_of(key) == part)
    }
    articles = sorted(key for key, (_, captions) in told.items() if captions)
    records = sorted(key for key, (_, captions) in told.items() if not captions)
    fewest = max(most // 2, most - len(records))
    chosen = [*spread(articles, fewest), *spread(records, most - min(len(articles), fewest))]
    return {key: told[key] for key in chosen}


def part_of(key: str) -> Part:
    """Which part a paper belongs to."""
    return "held out" if hashlib.sha256(key.encode()).digest()[0] % 2 else "tuning"


def spread(keys: Sequence[str], most: int) -> list[str]:
    """At most so many of *keys*, from the whole of them."""
    return [keys[at * len(keys) // most] for at in range(most)] if len(keys) > most else [*keys]


def _captions(path: Path) -> list[tuple[str, str]]:
    from lxml import etree

    root = etree.parse(path).getroot()
    found = []
    for kind, tag in (("figure", "fig"), ("table", "table-wrap")):
        for caption in root.iterfind(f".//body//{tag}/caption"):
            words = " ".join("".join(caption.itertext()).split()).split()
            if len(words) >= 6:
                found.append((kind, " ".join(words[:30])))
    return found


def _claimed(path: Path) -> Paper | None:
    """What an article says of itself; None where it is none."""
    try:
        parsed = jats.parse_jats(path.read_bytes())
        document = jats.convert_article_element(
            jats.choose_article_element(parsed.root, Ids()), parsed.cut_off
        )
    except BadContent:
        return None
    words = (" ".join("".join(one.itertext()).split()) for one in parsed.root.iter("kwd"))
    keywords = tuple(dict.fromkeys(filter(None, words)))
    told = Paper(document.ids, document.title, document.abstract, keywords=keywords)
    return told if document.ids else None


def cases(known: Mapping[str, Known], seed: int = 7) -> tuple[list[Case], list[Question]]:
    """What is indexed, and everything that is asked."""
    chance = random.Random(seed)
    words = Counter(
        word for paper, _ in known.values() for word in set(_words(_text_of(paper)))
    )  # fmt: skip
    short_forms = dict(_short_forms(paper for paper, _ in known.values()))
    made, asked = [], []
    for key, (paper, captions) in known.items():
        case, taken = _without_a_sentence(key, paper, chance)
        made.append(case)
        asked += taken
        if captions:
            by_kind = defaultdict(list)
            for kind, text in captions:
                by_kind[kind].append(text)
            asked += [Question(kind, key, chance.choice(some)) for kind, some in by_kind.items()]
        major = [term.replace("*", "").replace("/", " ") for term in paper.mesh if "*" in term]
        for kind, terms in (("keywords", paper.keywords), ("MeSH", major)):
            if len(terms) >= 3:
                asked.append(Question(kind, key, " ".join(terms)))
        asked += _symbol(case, words, chance)
        asked += _spelling(case, chance)
        asked += _synonym(case, short_forms, chance)
        own = random.Random(f"{seed} {key}")
        asked += [*_ask_numbers(case, own), *_ask_negated(case, own), *_ask_variety(case, own)]
    return made, asked


def sampled(questions: Iterable[Question], most: int, seed: int = 11) -> list[Question]:
    """At most so many of each kind."""
    kinds: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        kinds[question.kind].append(question)
    chance = random.Random(seed)
    return [one for some in kinds.values() for one in chance.sample(some, min(most, len(some)))]


def _text_of(paper: Paper) -> str:
    return f"{paper.title} {paper.abstract}"


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _without_a_sentence(
    key: str, paper: Paper, chance: random.Random
) -> tuple[Case, list[Question]]:
    text = paper.abstract
    spans = list(iterate_sentence_spans(text, 0, len(text)))
    fit = [(start, end) for start, end in spans if 8 <= len(text[start:end].split()) <= 40]
    if len(spans) < 4 or len(fit) < 2:
        return Case(key, paper, text), []
    (start, end), kept = chance.sample(fit, 2)
    words = text[slice(*kept)].split()
    half = sorted(chance.sample(range(len(words)), len(words) // 2))
    asked = [
        Question("unseen sentence", key, text[start:end]),
        Question("half a sentence", key, " ".join(words[at] for at in half)),
    ]
    return Case(key, paper, text[:start] + text[end:]), asked


def _symbol(case: Case, words: Counter[str], chance: random.Random) -> Iterator[Question]:
    text = f"{case.paper.title} {case.abstract}"
    symbols = [one for one in _SYMBOL.findall(text) if words[one.casefold()] <= _RARE * 10]
    rare = [
        word
        for word in set(_words(text))
        if len(word) > 4 and word.isalpha() and 2 <= words[word] <= 30
    ]
    if symbols and rare:
        symbol = chance.choice(sorted(set(symbols)))
        yield Question(
            "symbol + 1 word", case.key, f"{_other(symbol, chance)} {chance.choice(sorted(rare))}"
        )


def _other(symbol: str, chance: random.Random) -> str:
    """A name as somebody else writes it: another dash or none, Greek letters spelled out."""
    spelled = "".join(_GREEK.get(letter, letter) for letter in symbol)
    if "-" in spelled:
        return spelled.replace("-", chance.choice(["", "\u2010", " "]))
    cut = re.search(r"(?<=[A-Za-z]{2})(?=\d)", spelled)
    if cut and chance.random() < 0.5:
        return f"{spelled[: cut.start()]}-{spelled[cut.start() :]}"
    lowered = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return spelled.translate(lowered) if chance.random() < 0.3 else spelled


def _spelling(case: Case, chance: random.Random) -> Iterator[Question]:
    spans = list(iterate_sentence_spans(case.abstract, 0, len(case.abstract)))
    fit = [case.abstract[start:end] for start, end in spans if end - start > 60]
    if fit:
        words = _WORD.findall(chance.choice(fit))
        chosen = sorted(chance.sample(range(len(words)), max(3, len(words) // 3)))
        text = " ".join(_respelled(words[at], chance) for at in chosen)
        yield Question("other spelling", case.key, text)


def _respelled(word: str, chance: random.Random) -> str:
    if "-" in word:
        return word.replace("-", chance.choice([" ", "\u2011", "\u2013"]))
    if any(letter in _GREEK for letter in word):
        return "".join(_GREEK.get(letter, letter) for letter in word)
    if len(word) > 4 and word.isalpha() and word.islower():
        return word[:-1] if word.endswith("s") and word[-2] not in "su" else f"{word}s"
    return word.upper() if chance.random() < 0.5 else word


def _short_forms(known: Iterable[Paper]) -> Iterator[tuple[str, str]]:
    """Long and short forms as papers introduce them: initials of the words before the brackets."""
    for paper in known:
        for found in _SHORT_FORM.finditer(paper.abstract):
            short = found[1]
            before = _WORD.findall(paper.abstract[: found.start()])[-len(short) :]
            initials = "".join(word[0] for word in before).casefold()
            if len(short) >= 2 and initials == short.casefold():
                yield " ".join(before).casefold(), short


def _synonym(case: Case, short_forms: dict[str, str], chance: random.Random) -> Iterator[Question]:
    text = f"{case.paper.title}. {case.abstract}"
    low = text.casefold()
    for long, short in short_forms.items():
        has_long, has_short = long in low, re.search(rf"\b{re.escape(short)}\b", text) is not None
        if has_long == has_short:
            continue
        given, other = (long, short) if has_long else (short, long)
        spans = list(iterate_sentence_spans(text, 0, len(text)))
        for start, end in spans:
            one = text[start:end]
            if given.casefold() in one.casefold() and len(one.split()) > 8:
                rest = re.sub(rf"\b{re.escape(given)}\b", " ", one, flags=re.I)
                words = [word for word in _WORD.findall(rest) if len(word) > 4]
                if len(words) >= 3:
                    some = " ".join(chance.sample(words, 3))
                    yield Question("synonym", case.key, f"{other} {some}")
                    return


def _ask_numbers(case: Case, chance: random.Random) -> Iterator[Question]:
    """Ask which study has one or two numbers of a sentence, written otherwise, and two words."""
    for sentence in _shuffled_sentences(case, chance):
        if "doi" in sentence.lower():
            continue
        quantities = [found[0].strip() for found in _QUANTITY.finditer(sentence)]
        quantities = [one for one in quantities if len(re.sub(r"\D", "", one)) > 1]
        words = [word for word in _WORD.findall(sentence) if len(word) > 3 and word.isalpha()]
        if quantities and len(words) >= 4:
            some = chance.sample(quantities, min(len(quantities), chance.choice((1, 2))))
            told = " and ".join(_rewrite_quantity(one, chance) for one in some)
            text = f"Which study reports {told} for {' '.join(chance.sample(words, 2))}?"
            yield Question("numbers", case.key, text)
            return


def _rewrite_quantity(text: str, chance: random.Random) -> str:
    """Write a number with its unit as somebody else would."""
    text = text.replace("·", ".")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text) if "," in text else text
    if chance.random() < 0.5:
        text = re.sub(r"^([<>=≤≥pPnN]+\s?[<>=≤≥]?\s?)?0\.(?=\d)", r"\1.", text)
    joined = re.search(r"\d\s?[–-]\s?\d", text)
    if joined:
        text = re.sub(r"\s?[–-]\s?", chance.choice((" to ", "-", "–")), text)
    if " " in text and chance.random() < 0.5 and not joined:
        return text.replace(" ", "")
    return re.sub(r"(?<=\d)(?=[%A-Za-zµμ])", " ", text) if chance.random() < 0.5 else text


def _ask_negated(case: Case, chance: random.Random) -> Iterator[Question]:
    """Ask what one sentence denies, with two thirds of its words and another negation."""
    for sentence in _shuffled_sentences(case, chance):
        if not (found := _NEGATION.search(sentence)):
            continue
        before, after = (_WORD.findall(part) for part in sentence.split(found[0], 1))
        if len(before) + len(after) >= 9:
            kept = [[word for word in part if chance.random() < 2 / 3] for part in (before, after)]
            other = _OTHER_NEGATION[found[0].lower()]
            text = " ".join([*kept[0], other, *kept[1]])
            yield Question("negated fact", case.key, f"Which study found that {text}?")
            return


def _ask_variety(case: Case, chance: random.Random) -> Iterator[Question]:
    """Ask in the other variety of English with six words of one sentence."""
    other = _load_varieties()
    for sentence in _shuffled_sentences(case, chance) if other else ():
        words = _WORD.findall(sentence)
        respelled = [at for at, word in enumerate(words) if word.lower() in other]
        rest = [at for at, word in enumerate(words) if at not in respelled and len(word) > 3]
        if respelled and len(rest) >= 4:
            some = sorted([*respelled[:3], *chance.sample(rest, min(len(rest), 4))])
            text = " ".join(other.get(words[at].lower(), words[at]) for at in some)
            yield Question("British/American", case.key, text)
            return


@lru_cache
def _load_varieties() -> dict[str, str]:
    """Return each word's spelling in the other variety, from the package ``breame``."""
    if importlib.util.find_spec("breame") is None:
        return {}
    known = importlib.import_module("breame.spelling")
    return {**known.AMERICAN_ENGLISH_SPELLINGS, **known.BRITISH_ENGLISH_SPELLINGS}


def _shuffled_sentences(case: Case, chance: random.Random) -> list[str]:
    text = case.abstract
    found = [text[start:end] for start, end in iterate_sentence_spans(text, 0, len(text))]
    return chance.sample(found, len(found))


def main() -> None:
    """Show how many questions of each kind a folder gives, and one of each."""
    shared = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else shared
    made, asked = cases(papers(folder, 6_000))
    print(f"{len(made):,} papers")
    for kind, count in Counter(one.kind for one in asked).items():
        print(f"{kind:18} {count:6,}  {next(one.text for one in asked if one.kind == kind)[:120]}")


if __name__ == "__main__":
    main()
