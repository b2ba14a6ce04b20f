"""Text from elsewhere, made fit to be shown, kept and sent: no character in it acts or hides.

Titles, abstracts and pages come from the web. A control sequence in one can rewrite a terminal,
a direction override can turn a sentence round, invisible letters can carry words nobody sees, and
half a surrogate pair cannot be written as UTF-8 at all. Which characters do so: Unicode's bidi
and format controls, and ECMA-48 (C0 and C1).
"""

from __future__ import annotations

import json
import re

from ..errors import BadRequest

_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls and separators; marks that reorder, hide or annotate text; invisible tag letters; halves
# of surrogate pairs, which cannot be written as UTF-8. Joiners stay: some scripts need them.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile("[\t\n\r]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DIGITS = "0123456789+-−()="
_RAISED = str.maketrans(
    f"{_DIGITS}abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾⁼ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
)
_RAISED_SIGNS = set(map(chr, _RAISED.values()))
_LOWERED = str.maketrans(_DIGITS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎₌")
# What a spreadsheet reads as a number, a range or a test, and never runs.
_NUMERIC = r"\d.,\s()\[\]%±×–−;:<>≤≥*^⁰¹²³⁴-⁹⁻-"
_FIGURES = re.compile(rf"[-+−–]?[{_NUMERIC}]*")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean_text(text: str) -> str:
    r"""*text* without characters that deceive; tabs stay, and every kind of break is a new line.

    >>> clean_text("a\x1b[2Jb\u202ec\r\nd")
    'a[2Jbc\nd'
    """
    return _DECEPTIVE.sub("", _BREAK.sub("\n", text))


def one_line(text: str) -> str:
    r"""*text* as one line without characters that deceive.

    >>> one_line("A title\n- DOI: 10.1/false\x07")
    'A title - DOI: 10.1/false'
    """
    return " ".join(_DECEPTIVE.sub(" ", text).split())


def encodable(text: str) -> str:
    r"""*text* as it can be written: a half of a surrogate pair becomes U+FFFD.

    >>> encodable("J \ud800")
    'J \ufffd'
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def sendable(text: str, name: str, most: int) -> str:
    r"""*text* fit for a query to a site: tabs and line breaks become blanks, no other control.

    >>> sendable("coral\nreef", "query", 100)
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
    if found := _CONTROL.search(asked := _BLANK.sub(" ", text)):
        kind = f"U+{ord(found[0]):04X}"
        msg = f"Character {found.start() + 1} of the {name} is {kind}, a control character."
        raise BadRequest(msg, "Remove it.")
    return asked


def shortened(text: str, most: int) -> str:
    """*text*, or its beginning and a word on how much is left out.

    >>> shortened("abcdef", 3)
    'abc… [cut: 6 characters]'
    """
    return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters]"


def plain_json(value: object, ascii_only: bool = False) -> str:
    r"""*value* as one line of JSON in which characters that deceive are escaped, none is lost.

    >>> plain_json({"title": "δ\x9b\u202e"})
    '{"title": "δ\\u009b\\u202e"}'
    """
    return _DECEPTIVE.sub(_escape, json.dumps(value, ensure_ascii=ascii_only))


def _escape(found: re.Match[str]) -> str:
    # By hand below U+0080, where json escapes what it must, and DEL is not among that.
    return f"\\u{ord(found[0]):04x}" if found[0] < "\x80" else json.dumps(found[0])[1:-1]


def cell(value: object) -> str:
    r"""A cell that a spreadsheet shows as text, on one line; a formula would be run.

    >>> cell("=HYPERLINK(1)"), cell("A\ntitle"), cell(-1)
    ("'=HYPERLINK(1)", 'A title', "'-1")
    """
    text = str(value)
    if text.isalnum():  # most cells, and there are millions
        return text
    if not text.isprintable() or "  " in text:
        text = one_line(text)
    text = text.strip()
    return f"'{text}" if text.startswith(_FORMULA) else text


def figure_cell(text: str) -> str:
    """As `cell`, but a number stays one, whatever its sign.

    >>> figure_cell("-0.5 (0.1)"), figure_cell("−3"), figure_cell("-1+cmd|x")
    ('-0.5 (0.1)', '−3', "'-1+cmd|x")
    """
    return text if _FIGURES.fullmatch(text) else cell(text)


def raised(text: str) -> str:
    """A superscript in plain text: 10⁵ is not 105, and 5.2ᵃ not 5.2a.

    >>> raised("−5"), raised("a,b"), raised("†"), raised("NaCl")
    ('⁻⁵', 'ᵃ,ᵇ', '†', '^NaCl')
    """
    made = text.translate(_RAISED)
    return made if set(filter(str.isalnum, made)) <= _RAISED_SIGNS else f"^{text}"


def lowered(text: str) -> str:
    """A subscript in plain text; letters have no such form and stay: ``CO₂``, ``Tmax``.

    >>> lowered("2"), lowered("max")
    ('₂', 'max')
    """
    return text.translate(_LOWERED)
