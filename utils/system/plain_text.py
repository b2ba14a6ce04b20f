"""Remove deceptive characters from foreign text before it is shown, stored or sent.

Titles, abstracts and pages come from the web. Their control sequences could rewrite a terminal,
direction overrides reorder a sentence, and invisible letters hide words; an unpaired surrogate
cannot be encoded as UTF-8. `clean_text` is the only function that removes them. Answers of sites
are cleaned where bytes become values (`..http.Answer`, `..readers.safe_xml`, `decode_references`),
so that no source can forget it.

Removed are the controls of ECMA-48 (C0 and C1), Unicode's bidi controls and marks, tag letters, and
other default-ignorable characters (UAX #44). Kept are letters of every script and direction,
combining marks, a joiner (U+200C, U+200D) next to a letter of a joining script or after a
pictograph, and one variation selector after a symbol, an ideograph or a Mongolian letter. Elsewhere
joiners and selectors are removed like other invisible characters. Right-to-left text keeps its
order, which follows from its letters.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from ..errors import BadRequest

_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls and separators; marks that reorder, hide or annotate text; tag letters, fillers and
# others that print nothing; halves of surrogate pairs, which cannot be written as UTF-8.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_PICTOGRAPHS = "\U0001f000-\U0001faff"
# A variant selector after anything but a symbol, ideograph, pictograph or letter of three scripts.
_STRAY_SELECTOR = re.compile(
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef](?<![\xa9\xae\u1000-\u109f\u2010-\u2bff\u3001-\u303d\u3297"
    f"\u3299\u3400-\u9fff\ua840-\ua877\uf900-\ufaff{_PICTOGRAPHS}\U00020000-\U0003ffff].)"
    "|[\u180b-\u180f](?<![\u1820-\u18aa].)"
)
# Arabic to Sinhala, Myanmar, Khmer to Balinese and their kin.
_JOINING = (
    "\u0600-\u0dff\u1000-\u109f\u1700-\u1c7f\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010d00-\U00011fff"
)
# Pictographs are joined to make others of several.
_STRAY_JOINER = re.compile(
    f"[\u200c\u200d](?<![{_JOINING}\u2600-\u27bf\ufe0f{_PICTOGRAPHS}].)(?![{_JOINING}])"
    "|[\u200c\u200d](?<=[\u200c\u200d].)"
)
# The first characters of all these rules, and pictographs: a text without them is clean.
_SUSPECT = re.compile(
    f"[{_DECEPTIVE.pattern[1:-1]}\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U0001bca0-\U0010ffff]"
)
_ASCII_PRINTABLE = b"\t\n" + bytes(range(0x20, 0x7F))
_SURROGATE = re.compile("[\ud800-\udfff]")
_TAB_OR_BREAK = re.compile("[\t\n\r]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DIGITS = "0123456789+-−()="
_SUPERSCRIPTS = str.maketrans(
    f"{_DIGITS}abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
)
_SUPERSCRIPT_CHARS = set(map(chr, _SUPERSCRIPTS.values()))
_SUBSCRIPTS = str.maketrans(_DIGITS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎₌")
# Characters of numbers, ranges and comparisons, which a spreadsheet never runs.
_NUMERIC = r"\d.,\s()\[\]%±×–−;:<>≤≥*^⁰¹²³⁴-⁹⁻-"
_FIGURES = re.compile(rf"[-+−–]?[{_NUMERIC}]*")
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean_text(text: str) -> str:
    r"""Remove deceptive characters; keep tabs, and convert every line break to a newline.

    >>> clean_text("a\x1b[2Jb\u202ec\r\nd")
    'a[2Jbc\nd'
    >>> clean_text("sal\u200dine"), ascii(clean_text("\u0645\u06cc\u200c\u062e"))
    ('saline', "'\\u0645\\u06cc\\u200c\\u062e'")
    """
    if (text.isascii() and text.isprintable()) or not _SUSPECT.search(_drop_printable_ascii(text)):
        return text  # as in most of millions of texts
    if "\n" in text:  # most lines are clean, and no rule looks beyond its line
        return "\n".join(map(clean_text, text.replace("\r\n", "\n").split("\n")))
    text = _DECEPTIVE.sub("", _LINE_BREAK.sub("\n", text))
    return text if text.isascii() else _STRAY_JOINER.sub("", _STRAY_SELECTOR.sub("", text))


def _drop_printable_ascii(text: str) -> str:
    """Return a text without printable ASCII characters, a fast first test."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_PRINTABLE)
    return rest.decode("utf-8", "surrogatepass")


def clean_json_texts(value: Any) -> Any:
    r"""Clean all texts in a JSON value, including member names (`clean_text`).

    >>> clean_json_texts({"a\u202e": ["b\x9b", 1, None]})
    {'a': ['b', 1, None]}
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | tuple):
        return [clean_json_texts(part) for part in value]
    if isinstance(value, dict):
        return {clean_text(name): clean_json_texts(part) for name, part in value.items()}
    return value


def decode_references(text: str) -> str:
    r"""Decode the character references in a text, and clean the result.

    >>> decode_references("a &lt; b&#x202e;")
    'a < b'
    """
    return clean_text(html.unescape(text)) if "&" in text else clean_text(text)


def one_line(text: str) -> str:
    r"""Return *text* on one line, without deceptive characters.

    >>> one_line("A title\n- DOI: 10.1/false\x07")
    'A title - DOI: 10.1/false'
    """
    if text.isascii() and text.isprintable():  # the only blank in it is a space
        return " ".join(text.split()) if "  " in text else text.strip()
    return " ".join(clean_text(text).split())


def replace_surrogates(text: str) -> str:
    r"""Replace unpaired surrogates, which cannot be encoded, by U+FFFD.

    >>> replace_surrogates("J \ud800")
    'J \ufffd'
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def prepare_query_text(text: str, name: str, most: int) -> str:
    r"""Return *text* prepared for a query: tabs and line breaks become spaces.

    >>> prepare_query_text("coral\nreef", "query", 100)
    'coral reef'

    Raises
    ------
    BadRequest
        The text, which the message calls *name*, contains another control character or an unpaired
        surrogate, or is longer than *most* characters. Removing these would change the query.
    """
    if len(text) > most:
        msg = f"The {name} has {len(text):,} characters; {most:,} is the most."
        raise BadRequest(msg, "Shorten or split it.")
    if control := _CONTROL.search(prepared := _TAB_OR_BREAK.sub(" ", text)):
        kind = f"U+{ord(control[0]):04X}"
        msg = f"Character {control.start() + 1} of the {name} is {kind}, a control character."
        raise BadRequest(msg, "Remove it.")
    return prepared


def shorten(text: str, most: int) -> str:
    """Return *text*, shortened to *most* characters with a note on its full length.

    >>> shorten("abcdef", 3)
    'abc… [cut: 6 characters]'
    """
    return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters]"


def to_escaped_json(value: object, ascii_only: bool = False) -> str:
    r"""Return *value* as one line of JSON; deceptive characters are escaped, not removed.

    >>> to_escaped_json({"title": "δ\x9b\u202e"})
    '{"title": "δ\\u009b\\u202e"}'
    """
    return _DECEPTIVE.sub(_to_json_escape, json.dumps(value, ensure_ascii=ascii_only))


def _to_json_escape(match: re.Match[str]) -> str:
    """Return a matched character as a JSON escape."""
    # By hand below U+0080, where json escapes what it must, and DEL is not among that.
    return f"\\u{ord(match[0]):04x}" if match[0] < "\x80" else json.dumps(match[0])[1:-1]


def to_spreadsheet_cell(value: object) -> str:
    r"""Return a spreadsheet cell on one line; a formula is marked as text, so that it cannot run.

    >>> [to_spreadsheet_cell(value) for value in ("=HYPERLINK(1)", "A\ntitle", -1)]
    ["'=HYPERLINK(1)", 'A title', "'-1"]
    """
    text = str(value)
    if text.isalnum():  # most cells, and there are millions
        return text
    if not text.isprintable() or "  " in text:
        text = one_line(text)
    text = text.strip()
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def to_number_cell(text: str) -> str:
    """Return a spreadsheet cell like `to_spreadsheet_cell`, but leave a signed number unchanged.

    >>> to_number_cell("-0.5 (0.1)"), to_number_cell("−3"), to_number_cell("-1+cmd|x")
    ('-0.5 (0.1)', '−3', "'-1+cmd|x")
    """
    return text if _FIGURES.fullmatch(text) else to_spreadsheet_cell(text)


def to_superscript(text: str) -> str:
    """Return *text* in Unicode superscript, so that 10⁵ does not become 105, nor 5.2ᵃ 5.2a.

    >>> to_superscript("−5"), to_superscript("a,b"), to_superscript("†"), to_superscript("NaCl")
    ('⁻⁵', 'ᵃ,ᵇ', '†', '^NaCl')
    """
    raised = text.translate(_SUPERSCRIPTS)
    return raised if set(filter(str.isalnum, raised)) <= _SUPERSCRIPT_CHARS else f"^{text}"


def to_subscript(text: str) -> str:
    """Return *text* in Unicode subscript; letters without one stay: ``CO₂``, ``Tmax``.

    >>> to_subscript("2"), to_subscript("max")
    ('₂', 'max')
    """
    return text.translate(_SUBSCRIPTS)
