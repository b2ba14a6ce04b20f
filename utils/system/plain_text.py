"""Remove characters that deceive from foreign text, before the text is shown, kept or sent.

Titles, abstracts and pages come from the web. A control sequence in one can rewrite a terminal,
a direction override can turn a sentence round, invisible letters can carry words nobody sees, and
half a surrogate pair cannot be written as UTF-8 at all. `clean_text` is the one function that takes
them out; what a site answers passes it where bytes become values (`..http.Answer`,
`..readers.safe_xml`, `unescape_text`), so that no source can forget it.

Which characters go: ECMA-48's controls (C0 and C1), Unicode's bidi controls and marks, its tag
letters and what else it calls default-ignorable (UAX #44). Which stay, because somebody's language
needs them: letters of every script and direction, combining marks, a joiner (U+200C, U+200D) beside
a letter of a script that joins or behind a pictograph, one variation selector behind a sign, an
ideograph or a Mongolian letter. Elsewhere the latter two are invisible letters like any other. A
text that runs from right to left keeps its order: it is in the letters; only marks that overrule it
are gone.
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
# A form of the sign before it: of symbols, ideographs, pictographs, and letters of three scripts.
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
# All that any of these rules begins with, and pictographs: where none is, nothing is to be done.
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
# What a spreadsheet reads as a number, a range or a test, and never runs.
_NUMERIC = r"\d.,\s()\[\]%±×–−;:<>≤≥*^⁰¹²³⁴-⁹⁻-"
_FIGURES = re.compile(rf"[-+−–]?[{_NUMERIC}]*")
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean_text(text: str) -> str:
    r"""Remove characters that deceive; keep tabs, and turn every kind of line break into a newline.

    >>> clean_text("a\x1b[2Jb\u202ec\r\nd")
    'a[2Jbc\nd'
    >>> clean_text("sal\u200dine"), ascii(clean_text("\u0645\u06cc\u200c\u062e"))
    ('saline', "'\\u0645\\u06cc\\u200c\\u062e'")
    """
    if (text.isascii() and text.isprintable()) or not _SUSPECT.search(_drop_ascii(text)):
        return text  # as most do, and there are millions
    if "\n" in text:  # most lines of a whole paper are so, and no rule looks beyond its line
        return "\n".join(map(clean_text, text.replace("\r\n", "\n").split("\n")))
    text = _DECEPTIVE.sub("", _LINE_BREAK.sub("\n", text))
    return text if text.isascii() else _STRAY_JOINER.sub("", _STRAY_SELECTOR.sub("", text))


def _drop_ascii(text: str) -> str:
    """Return a text without its printable ASCII characters, which are fast to remove."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_PRINTABLE)
    return rest.decode("utf-8", "surrogatepass")


def clean_values(value: Any) -> Any:
    r"""Clean all texts in a JSON value, member names included (`clean_text`).

    >>> clean_values({"a\u202e": ["b\x9b", 1, None]})
    {'a': ['b', 1, None]}
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | tuple):
        return [clean_values(one) for one in value]
    if isinstance(value, dict):
        return {clean_text(name): clean_values(one) for name, one in value.items()}
    return value


def unescape_text(text: str) -> str:
    r"""Decode the character references of a text, and clean the result.

    >>> unescape_text("a &lt; b&#x202e;")
    'a < b'
    """
    return clean_text(html.unescape(text)) if "&" in text else clean_text(text)


def one_line(text: str) -> str:
    r"""Return *text* on one line, without characters that deceive.

    >>> one_line("A title\n- DOI: 10.1/false\x07")
    'A title - DOI: 10.1/false'
    """
    if text.isascii() and text.isprintable():  # the only blank in it is a space
        return " ".join(text.split()) if "  " in text else text.strip()
    return " ".join(clean_text(text).split())


def replace_surrogates(text: str) -> str:
    r"""Replace halves of surrogate pairs, which cannot be encoded, by U+FFFD.

    >>> replace_surrogates("J \ud800")
    'J \ufffd'
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def prepare_query_text(text: str, name: str, most: int) -> str:
    r"""Return *text* fit for a query: tabs and line breaks become blanks.

    >>> prepare_query_text("coral\nreef", "query", 100)
    'coral reef'

    Raises
    ------
    BadRequest
        *name*, the words for the text, holds another control character, half a surrogate pair, or
        more than *most* characters. None of it is left out in silence: another text would be asked.
    """
    if len(text) > most:
        msg = f"The {name} has {len(text):,} characters; {most:,} is the most."
        raise BadRequest(msg, "Shorten or split it.")
    if found := _CONTROL.search(asked := _TAB_OR_BREAK.sub(" ", text)):
        kind = f"U+{ord(found[0]):04X}"
        msg = f"Character {found.start() + 1} of the {name} is {kind}, a control character."
        raise BadRequest(msg, "Remove it.")
    return asked


def shorten(text: str, most: int) -> str:
    """Return *text*, or its beginning and a note on the length of the whole.

    >>> shorten("abcdef", 3)
    'abc… [cut: 6 characters]'
    """
    return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters]"


def to_plain_json(value: object, ascii_only: bool = False) -> str:
    r"""Return *value* as one line of JSON; characters that deceive are escaped, not removed.

    >>> to_plain_json({"title": "δ\x9b\u202e"})
    '{"title": "δ\\u009b\\u202e"}'
    """
    return _DECEPTIVE.sub(_escape_character, json.dumps(value, ensure_ascii=ascii_only))


def _escape_character(found: re.Match[str]) -> str:
    """Return a matched character as a JSON escape."""
    # By hand below U+0080, where json escapes what it must, and DEL is not among that.
    return f"\\u{ord(found[0]):04x}" if found[0] < "\x80" else json.dumps(found[0])[1:-1]


def to_cell(value: object) -> str:
    r"""Return a spreadsheet cell on one line; a formula is marked as text, so that it does not run.

    >>> to_cell("=HYPERLINK(1)"), to_cell("A\ntitle"), to_cell(-1)
    ("'=HYPERLINK(1)", 'A title', "'-1")
    """
    text = str(value)
    if text.isalnum():  # most cells, and there are millions
        return text
    if not text.isprintable() or "  " in text:
        text = one_line(text)
    text = text.strip()
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def to_figure_cell(text: str) -> str:
    """Return a spreadsheet cell like `to_cell`, but leave a signed number as it is.

    >>> to_figure_cell("-0.5 (0.1)"), to_figure_cell("−3"), to_figure_cell("-1+cmd|x")
    ('-0.5 (0.1)', '−3', "'-1+cmd|x")
    """
    return text if _FIGURES.fullmatch(text) else to_cell(text)


def to_superscript(text: str) -> str:
    """Write a superscript in plain text: 10⁵ is not 105, and 5.2ᵃ not 5.2a.

    >>> to_superscript("−5"), to_superscript("a,b"), to_superscript("†"), to_superscript("NaCl")
    ('⁻⁵', 'ᵃ,ᵇ', '†', '^NaCl')
    """
    made = text.translate(_SUPERSCRIPTS)
    return made if set(filter(str.isalnum, made)) <= _SUPERSCRIPT_CHARS else f"^{text}"


def to_subscript(text: str) -> str:
    """Write a subscript in plain text; letters have no such form and stay: ``CO₂``, ``Tmax``.

    >>> to_subscript("2"), to_subscript("max")
    ('₂', 'max')
    """
    return text.translate(_SUBSCRIPTS)
