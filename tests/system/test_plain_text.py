"""Which characters of a text from elsewhere stay, and which go."""

import pytest

from tests.world.deceit import HIDDEN
from utils.http import Answer
from utils.readers.safe_xml import parse_untrusted_xml
from utils.system.plain_text import clean_text, decode_references, one_line

# What somebody's language needs: a joiner in Persian and in Hindi, marks, a form of an ideograph
# and of an operator, pictographs made of several, letters that run from right to left.
NEEDED = {
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi": "\u0915\u094d\u200d\u0937", "a form of its own": "\u200d\u0646\u06cc\u0645",
    "marks": "e\u0301\u0302 \u05e9\u05c1", "right to left": "\u05e9\u05dc\u05d5\u05dd CXCL12",
    "ideograph": "\u845b\U000e0100\u57ce", "operator": "a \u222a\ufe00 b",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525",
    "Mongolian": "\u182a\u180b\u1820",
}  # fmt: skip
USELESS = {
    "joiner": "a\u200db\u200c", "selector": "a\ufe0f\U000e0101",
    "two selectors": "\u845b\U000e0100\U000e0101", "two joiners": "\u0915\u094d\u200d\u200d\u0937",
    "filler": "\u3164\u115f\u034f", "joiner behind a selector": "a\ufe0f\u200db",
}  # fmt: skip


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_what_a_language_needs_stays(text):
    assert clean_text(text) == text


@pytest.mark.parametrize("text", USELESS.values(), ids=USELESS)
def test_what_hides_among_letters_goes(text):
    made = clean_text(text)
    assert len(made) < len(text)
    assert clean_text(made) == made


@pytest.mark.parametrize("letter", HIDDEN, ids=ascii)
def test_no_letter_that_hides_gets_in_by_any_way(letter):
    number = f"{ord(letter):x}"
    assert one_line(f"can{letter}cer") == "cancer"
    assert letter not in decode_references(f"can&#x{number};cer")
    pairs = f"can{letter}cer".encode("utf-16-be").hex()
    escaped = "".join(f"\\u{pairs[at : at + 4]}" for at in range(0, len(pairs), 4))
    for body in (f'["can{letter}cer"]', f'["{escaped}"]', f'[{{"can{letter}cer": 1}}]'):
        [said] = Answer(200, "https://a.org", body.encode()).json()
        assert [*said][0 if isinstance(said, dict) else slice(None)] in ("cancer", [*"cancer"])
    for coded in ("utf-8", "utf-16"):
        body = f'<?xml version="1.0" encoding="{coded}"?><a b="x{letter}">can{letter}cer<b/>'
        root = parse_untrusted_xml(f"{body}&#x{number};y</a>".encode(coded))
        assert (root.text, root.get("b"), root[0].tail) == ("cancer", "x", "y")
