"""A quotation that is not verbatim says where it differs, whatever was changed in it."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from tests.fixtures import fixture_text
from utils.corpus.differences import Kind, find_nearest_stretch
from utils.corpus.wording import FoldedText, find_verbatim_spans, parse_quotation
from utils.model.paper import Fetched
from utils.readers import jats

TEXT = fixture_text("passages/differences_text.md")


@pytest.mark.parametrize(
    ("quotation", "kind", "printed"),
    [
        ("dosed with 15.2 mg/kg of the drug for 14 days", "number", "12.5"),
        ("the rest shrank by 3 mm in all tanks", "number", "-"),
        ("dosed with 12.5 g/kg of the drug for 14 days", "unit", "mg"),
        ("dosed with 12.5 mg of the drug for 14 days", "unit", "kg"),
        ("dosed with 12.5 mg/kg of the drug for 14 weeks", "unit", "days"),
        ("when lights were dimmed, it was seen again", "negation", "not"),
        ("Mortality was not higher in the treated group", "negation", ""),
        ("when lights were dimmed, it was … seen again", "negation", "not"),
        ("Mortality was lower in the treated group", "direction", "higher"),
        ("Mortality was higher in the treated group than in the placebo group", "words", "control"),
        ("Mortality was significantly higher in the treated group", "added", ""),
        ("It stopped when the lamp was off for the night", "left out", "whole of the"),
        ("Growth was measured daily. Nobody knows why it happened", "left out", "It stopped"),
        ("Growth was measured daily … Mortality was higher in the treated group", "stitched", ""),
        ("The first colony grew by 5.2 mm … Nobody knows why it happened", "stitched", ""),
    ],
)
def test_each_difference_is_named(quotation: str, kind: Kind, printed: str) -> None:
    quoted, wording = parse_quotation(quotation), FoldedText.fold(TEXT)
    assert not find_verbatim_spans(quoted, TEXT, wording)
    found = find_nearest_stretch(quoted, TEXT, wording)
    assert kind in [one.kind for one in found.differences]
    assert any(printed in one.printed for one in found.differences if one.kind == kind)
    assert 0.6 < found.likeness < 1


def test_what_nobody_said_is_like_nothing() -> None:
    found = find_nearest_stretch(parse_quotation("Quarks zigzag beneath jovial llamas"), TEXT)
    assert (found.likeness, found.start, found.end) == (0, 0, 0)


def test_the_place_is_that_of_the_sentence() -> None:
    found = find_nearest_stretch(parse_quotation("the first colony shrank by 5.2 mm"), TEXT)
    assert " ".join(TEXT[found.start : found.end].split()) == "The first colony grew by 5.2 mm"


# --- sentences of real papers, changed by rules that the code was not written against -------------

_SENTENCE = re.compile(r"(?<=[.!?] )[A-Z][^.!?\n|#*\[\]]{60,220}\.(?= [A-Z])")
_OTHERS = {"increased": "decreased", "higher": "lower", "reduced": "raised", "more": "less"}
Change = Callable[[str, Random], str]


def _figure(said: str, random: Random) -> str:
    return re.sub(
        r"(?<![\w.,-])(\d+)(?![\w.,-])",
        lambda m: str(int(m[1]) + random.randint(1, 9)),
        said,
        count=1,
    )


def _not(said: str, random: Random) -> str:
    return re.sub(r"\b(was|were|is|are|did|could)\b", r"\1 not", said, count=1)


def _turned(said: str, random: Random) -> str:
    return re.sub(r"\b(" + "|".join(_OTHERS) + r")\b", lambda m: _OTHERS[m[1]], said, count=1)


def _without_words(said: str, random: Random) -> str:
    words = said.split()
    if len(words) < 10:
        return said
    at = random.randint(3, len(words) - 6)
    return " ".join(words[:at] + words[at + 2 :])


CHANGES: dict[str, tuple[Change, set[Kind]]] = {
    "another figure": (_figure, {"number"}),
    "a not": (_not, {"negation"}),
    "a turned direction": (_turned, {"direction", "negation"}),
    "two words less": (
        _without_words,
        {"left out", "negation", "number", "direction", "unit", "words"},
    ),
}


@cache
def _articles(shared: Path) -> list[tuple[str, FoldedText]]:
    """Return every eighth recorded article, read and folded once for all tests."""
    texts = []
    for path in sorted(shared.glob("articles/*/jats.xml"))[1::8]:
        sent = Fetched(path.read_bytes(), "jats", "https://x.test/a", "PMC", "pmc_cloud")
        texts.append(jats.read_document(sent).markdown)
    return [(text, FoldedText.fold(text)) for text in texts]


def _changed(shared: Path, change: Change) -> Iterator[tuple[str, FoldedText, str, str]]:
    """Texts, a sentence of each, and what a change makes of it."""
    random = Random(7)
    for text, wording in _articles(shared):
        sentences = _SENTENCE.findall(text)
        changed = [(said, other) for said in sentences if (other := change(said, random)) != said]
        for said, other in random.sample(changed, min(4, len(changed))):
            yield text, wording, said, other


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_real_sentences_are_found_and_named(name: str, shared: Path) -> None:
    change, kinds = CHANGES[name]
    asked = named = 0
    for text, wording, said, other in _changed(shared, change):
        assert find_verbatim_spans(parse_quotation(said), text, wording), said
        quoted = parse_quotation(other)
        assert not find_verbatim_spans(quoted, text, wording), other
        asked += 1
        named += bool(
            kinds & {one.kind for one in find_nearest_stretch(quoted, text, wording).differences}
        )
    assert asked >= 20
    assert named >= 0.95 * asked


@pytest.mark.slow
def test_sentences_of_two_sections_are_never_verbatim_together(shared: Path) -> None:
    random, joined = Random(11), 0
    for text, wording in _articles(shared):
        sentences = list(_SENTENCE.finditer(text))
        for _ in range(min(6, len(sentences) // 2)):
            one, other = random.sample(sentences, 2)
            between = text[min(one.end(), other.end()) : max(one.start(), other.start())]
            if "\n\n" not in between:
                continue
            quoted = parse_quotation(f"{one[0]} … {other[0]}")
            assert not find_verbatim_spans(quoted, text, wording)
            kinds = [
                found.kind for found in find_nearest_stretch(quoted, text, wording).differences
            ]
            assert kinds == ["stitched"]
            joined += 1
    assert joined >= 30
