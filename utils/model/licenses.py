"""Normalise the names of licences to their short forms.

Sites write a licence as ``CC BY``, ``cc-by``, ``CCBY``, ``CC BY 4.0``, a creativecommons.org URL or
a sentence. A missed term would grant rights that the author reserved, so a code is read completely
or not at all. https://creativecommons.org/licenses/
"""

from __future__ import annotations

import re
from collections.abc import Callable

_URL = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(by[a-z-]*)/(\d\.\d)?|publicdomain/(zero|mark)/(\d\.\d)?)",
    re.I,
)
_GAP = r"[ _\u00a0\u2010-\u2013-]"
_CODE = re.compile(
    rf"\bCC{_GAP}?BY((?:{_GAP}?(?:NC|ND|SA)(?=NC|ND|SA|[^A-Z]|$))*)(?![A-Z]|[_-][A-Z]{{2}}(?![A-Z])){_GAP}?v?(\d\.\d)?",
    re.I,
)
_ZERO = re.compile(rf"(?:^\W*CC{_GAP}?0|\bCC-?0|\bCC{_GAP}?Zero)\b(?!\.\d)", re.I)
_NAME = re.compile(
    r"Creative Commons,? Attribution((?:[ \u2010-\u2013-]*(?:Non[- ]?Commercial|No[- ]?Deriv\w*"
    r"|Share[- ]?Alike))*)(?: (?:International|Unported|Generic|Public))*"
    r"(?: Licen[sc]e)?(?:,?(?: \(CC[^)]*\))? v?(?:ersion )?(\d\.\d))?",
    re.I,
)


def find_cc_license(*texts: str) -> str:
    """Return the Creative Commons licence in the first text that names one; else empty.

    >>> find_cc_license("http://creativecommons.org/licenses/by-nc/4.0/"), find_cc_license("TDM")
    ('CC BY-NC 4.0', '')
    """
    readers: tuple[Callable[[str], str], ...] = (
        _parse_license_url,
        _parse_license_code,
        _parse_license_name,
    )
    for reader in readers:
        for text in texts:
            if license_ := reader(text):
                return license_
    return ""


def choose_license(*texts: str) -> str:
    """Return the licence stated by several sources, the most trusted first.

    >>> choose_license("CC BY", "https://creativecommons.org/licenses/by/4.0/")
    'CC BY 4.0'
    >>> choose_license("", "TDM"), choose_license("")
    ('TDM', '')
    """
    names = [name for text in texts if (name := find_cc_license(text))]
    if not names:
        return next(filter(None, texts), "")
    return next((name for name in names if name.startswith(f"{names[0]} ")), names[0])


def _parse_license_url(text: str) -> str:
    """Return the licence of a creativecommons.org URL in *text*; else empty."""
    if not (match := _URL.search(text)):
        return ""
    if match[3]:
        name = "CC0" if match[3].lower() == "zero" else "Public Domain Mark"
        return f"{name} {match[4] or '1.0'}"
    return _format_license_code(f"CC {match[1].rstrip('-')}", match[2])


def _parse_license_code(text: str) -> str:
    """Return the licence of a code such as ``CC BY-NC 4.0`` in *text*; else empty."""
    if match := _CODE.search(text):
        terms = re.findall("[A-Z]{2}", match[1].upper())
        return _format_license_code("-".join(["CC BY", *terms]), match[2])
    return "CC0 1.0" if _ZERO.search(text) else ""


def _parse_license_name(text: str) -> str:
    """Return the licence whose full name is in *text*; else empty."""
    if not (match := _NAME.search(text)):
        return ""
    terms = re.sub(r"[^a-z]", "", match[1].lower())
    made = "CC BY"
    for word, code in (("noncommercial", "-NC"), ("noderiv", "-ND"), ("sharealike", "-SA")):
        made += code if word in terms else ""
    return _format_license_code(made, match[2])


def _format_license_code(code: str, number: str | None) -> str:
    """Return a licence's code joined with its version number."""
    return " ".join(filter(None, (code.upper(), number)))
