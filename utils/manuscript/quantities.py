"""Find the numbers of a text with their units, and compare two numbers.

Recognised forms: ``1,200`` and ``1 200``, ``.05``, ``45 %`` and ``45 percent``, ``twelve``,
``1.2 million``, ``5–10 mg``. Names (IL-6, COVID-19), years, and numbers of figures, tables and
sections are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

Agreement = Literal["same", "rounded", "converted", "approximate", "bound", "unit", "side", ""]
_MASS = {"kg": "1e3", "g": "1", "mg": "1e-3", "μg": "1e-6", "ng": "1e-9", "pg": "1e-12"}
_VOLUME = {"l": "1", "dl": "1e-1", "ml": "1e-3", "μl": "1e-6", "nl": "1e-9"}
_LENGTH = {"km": "1e3", "m": "1", "cm": "1e-2", "mm": "1e-3", "μm": "1e-6", "nm": "1e-9"}
_MOLAR = {"M": "1", "mM": "1e-3", "μM": "1e-6", "nM": "1e-9", "pM": "1e-12"}
_AMOUNT = {"mol": "1", "mmol": "1e-3", "μmol": "1e-6", "nmol": "1e-9", "pmol": "1e-12"}
_TIME = {"ms": "1e-3", "s": "1", "min": "60", "h": "3600", "day": "86400", "week": "604800"}
_LONG_TIME = {"month": "1", "year": "12"}
_UNIT_SIZES: dict[str, tuple[str, Decimal]] = {
    unit: (name, Decimal(size))
    for name, units in (
        ("mass", _MASS), ("volume", _VOLUME), ("length", _LENGTH), ("molar", _MOLAR),
        ("amount", _AMOUNT), ("time", _TIME), ("long", _LONG_TIME),
    )
    for unit, size in units.items()
}  # fmt: skip
_UNIT_SYNONYMS = {
    "percent": "%", "per cent": "%", "point": "points",
    "percentage points": "points", "percentage point": "points", "-point": "points",
    "-fold": "fold", "times": "fold",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "mins": "min", "minute": "min",
    "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "days": "day",
    "weeks": "week", "wk": "week", "wks": "week", "months": "month", "years": "year",
    "yr": "year", "yrs": "year", "ug": "μg", "ul": "μl", "um": "μm", "uM": "μM", "mL": "ml",
    "μL": "μl", "L": "l", "dL": "dl", "litre": "l", "litres": "l", "liters": "l", "grams": "g",
    "gram": "g", "meters": "m", "metres": "m", "°c": "°C", "degrees": "°", "mcg": "μg",
    "-year": "year", "-month": "month", "-week": "week", "-day": "day", "-hour": "h",
    "d": "day", "y": "year", "mo": "month", "liter": "l", "meter": "m", "metre": "m",
    "kilodaltons": "kDa", "kilodalton": "kDa", "degrees Celsius": "°C", "degrees C": "°C",
}  # fmt: skip
_PREFIXES = {
    "kilo": "k", "deci": "d", "centi": "c", "milli": "m", "micro": "μ", "nano": "n", "pico": "p",
}  # fmt: skip
_UNIT_STEMS = {
    "gram": "g", "gramme": "g", "litre": "l", "liter": "l", "metre": "m", "meter": "m",
    "mole": "mol", "molar": "M", "second": "s",
}  # fmt: skip
_UNIT_SYNONYMS |= {
    f"{long}{stem}{ending}": f"{short}{unit}"
    for long, short in _PREFIXES.items()
    for stem, unit in _UNIT_STEMS.items()
    for ending in ("", "s")
}
_OTHER_UNITS = (
    "%", "fold", "°C", "°", "Hz", "kHz", "MHz", "kDa", "Da", "bp", "kb", "Mb", "kcal", "cal", "kJ",
    "J", "W", "V", "mV", "Pa", "kPa", "mmHg", "IU", "U", "Gy", "mSv", "rpm", "ppm", "K", "N",
    "nt", "aa", "points",
)  # fmt: skip
_UNITS = sorted({*_UNIT_SIZES, *_UNIT_SYNONYMS, *_OTHER_UNITS}, key=len, reverse=True)
_NAMED_UNIT = rf"(?:{'|'.join(map(re.escape, _UNITS))})(?![^\W\d_])"
_PERSONS = (
    r"(?:(?:person|patient|participant|subject|child|inhabitant|individual)s?|people|population"
    r"|wom[ae]n|children)"
)
_PER_MANY = (  # per 100,000 person-years
    r"(?:\s?/\s?|\sper\s)1(?:0{0,2}(?:[, ]000){1,2}|0{2,6})\b"
    rf"(?:\s(?:{_PERSONS}|(?:live\s)?births|admissions|cells)(?:[-\s](?:year|month|day)s?)?\b)?"
)
_PER = (
    r"(?:\s?/\s?(?:[a-zA-Zμ]{1,5}[\d²³]?|100\s?\w{1,4})(?![^\W\d_])|\s?[a-z]{1,3}[-\u207b][1\u00b9]"
    rf"|\sper\s{_NAMED_UNIT}(?:\s(?:of\s)?body\s?(?:weight|mass))?|\s(?:a\sday|daily|weekly)\b)"
)
_UNIT = rf"(?P<unit>{_NAMED_UNIT}(?:{_PER_MANY}|{_PER}){{0,2}}|{_PER_MANY})"
_DIGITS = (
    r"\d{1,3}(?:[,\u2009\u202f ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.\u00b7]\d+)?"
    r"|\d+,\d{1,2}(?!\d)|\.\d+"
)
_SCALE = {"thousand": 3, "million": 6, "billion": 9}
_NUMBER = re.compile(
    r"(?:(?P<sign>[<>\u2264\u2265=~\u2248])\s?|(?<![\w.,/])(?<![^\W\d_]-))(?P<minus>-)?"
    rf"(?P<digits>{_DIGITS})"
    r"(?:\s?[x\u00d7]\s?10\s?\^?(?:<sup>)?(?P<power>-?\d{1,2})(?:</sup>)?)?"
    rf"(?:\s(?P<scale>{'|'.join(_SCALE)}))?(?:[-\s]?{_UNIT})?(?![\w]|[,.]\d)"
    r"(?(unit)|(?!-[^\W\d_]))"  # 89-year-old has a number, 5-fluorouracil a name
)
_SMALL_NUMBER_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_TENS_WORDS = "thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: number for number, word in enumerate(_SMALL_NUMBER_WORDS.split())} | {
    word: 10 * number for number, word in enumerate(_TENS_WORDS.split(), 3)
}
_NUMBER_WORD = re.compile(
    rf"\b(?P<tens>{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})"
    rf"(?:[-\s](?P<ones>one|two|three|four|five|six|seven|eight|nine))?\b(?:[\s-]?{_UNIT})?",
    re.I,
)
_LABEL_BEFORE = re.compile(
    r"(?:\b(?:fig(?:ure)?s?|tab(?:le)?s?|sect(?:ion)?s?|eqs?|equations?|refs?|references?"
    r"|chapters?"
    r"|appendix|supplement(?:ary)?|stud(?:y|ies)|phase|type|stage|grade|class|step|panel|no|nr|#"
    r"|version|models?|cohort|group|box|film|pp?\.|vol|questions?|items?|aims?|hypothes[ei]s"
    r"|experiments?|exp|chromosomes?|exons?|layers?|days? post))\.?\s*"
    r"(?:\d+[a-z]?\s?(?:,|and|-)\s?)*$",
    re.I,
)
_HEDGE = re.compile(
    r"\b(?:about|approximately|approx\.?|around|nearly|almost|roughly|some|circa|ca\.|close to"
    r"|up to|over|more than|less than|fewer than|at least|below|above)\s*$|[~\u2248]\s*$",
    re.I,
)
_LESS_BEFORE = re.compile(r"\b(?:less|lower|fewer|smaller) than\s*$|\b(?:below|under)\s*$", re.I)
_MORE_BEFORE = re.compile(
    r"(?<!\bno )(?<!\bnot )\b(?:(?:more|greater|higher|larger) than|above|over|exceed\w*)\s*$", re.I
)
_P_VALUE_BEFORE = re.compile(r"\bp(?:[-\s]?values?)?[\s<>≤≥=~]*(?:of |was |is |were )?$", re.I)
_PERCENT_BEFORE = re.compile(
    r"(?:\bper\s?cent(?:ages?)?|\bproportions?|(?<!\d)(?<!\d\s)%)[^.;]{0,60}$", re.I
)
_DECREASE_BEFORE = re.compile(
    r"(?<!\bno )(?<!\bwithout a )(?<!\bwithout )"
    r"(?:\b(?:loss|decrease|reduction|drop|fall|decline)(?:\s[a-z]+){0,3}?\sof|\blost"
    r"|\b(?:decreased|decreases|fell|falls|declined|declines|dropped|drops|lower(?:ed)?|reduced)"
    r"(?:\s[a-z]+){0,3}?\sby"
    r"|\b(?:loss|decrease|reduction|drop|fall|decline)\s(?:of|in)(?:\s[a-z-]+){1,4}\s(?:was|averaged))"
    r"\s(?:(?:about|approximately|around|some|nearly|over|a mean of)\s)?$",
    re.I,
)
_JOINED = re.compile(r"\s?(?:,?\s?and|,?\s?or|-|to|\u00b1|/|,?\s?vs?\.?|,?\s?versus)\s?")
_MIN_WORD_VALUE = (
    11  # smallest spelled-out number without a unit that is checked: "two of them" is too common
)
_PLAIN_SIGNS = str.maketrans({
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "\u2010": "-", "\u2011": "-",
    "\u2013": "-", "\u00b5": "μ", "\u00b7": ".", "\u2236": ":", "\u2a7d": "≤", "\u2a7e": "≥",
    "\u207b": "-", "\uff05": "%",
})  # fmt: skip
_PLAIN_EXPONENTS = str.maketrans("²³", "23")
_PER_TIME = re.compile(r"/(?:day|week|month|year)$")  # 5 mg and 5 mg a day
_APPROXIMATE_RATIO = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text, ``text[start:end]``, with its unit; ``decimals`` places were written.

    ``is_p`` marks a p-value, ``is_decrease`` the number of "a loss of 280 mL". ``is_loose``
    marks a number whose unit may be given elsewhere, as in a column header.
    """

    value: Decimal
    decimals: int
    unit: str
    start: int
    end: int
    sign: str = ""
    hedged: bool = False
    is_p: bool = False
    is_loose: bool = False
    is_decrease: bool = False

    @property
    def base_size(self) -> tuple[str, Decimal]:
        """The unit's dimension, and the number's size in that dimension's base unit."""
        first, *behind = self.unit.split("/")
        name, size = _UNIT_SIZES.get(first, (first, Decimal(1)))
        for one in behind:
            below, many = _UNIT_SIZES.get(one, (one, Decimal(1)))
            name, size = f"{name}/{below}", size / many
        return name, size


def find_quantities(text: str, *, words: bool = True) -> list[Quantity]:
    """Return the numbers of a text in order; a list's last unit applies to all its numbers."""
    plain = text.translate(_PLAIN_SIGNS)
    found = list(_iterate_digit_numbers(plain))
    if words:
        found += _iterate_number_words(plain)
    if text.lstrip().startswith("|"):
        found = [replace(one, is_loose=True) for one in found]
    return _copy_last_unit_to_list(sorted(found, key=lambda one: one.start), plain)


def _iterate_digit_numbers(text: str) -> Iterator[Quantity]:
    """Yield the numbers written in digits."""
    for match in _NUMBER.finditer(text):
        digits, start = match["digits"], match.start("digits")
        before = text[max(0, match.start() - 40) : match.start()]
        unit = _normalize_unit(match["unit"])
        if _LABEL_BEFORE.search(before) or _is_calendar_year(digits, unit, before):
            continue
        try:
            value, decimals = _parse_decimal(digits)
        except InvalidOperation:
            continue
        shift = int(match["power"] or 0) + _SCALE.get(match["scale"] or "", 0)
        is_minus = match["minus"] and not re.search(r"[\d)%]\s?$", text[: match.start("minus")])
        value = (-value if is_minus else value).scaleb(shift)
        hedged = bool(_HEDGE.search(before)) or match["sign"] in ("~", "≈")
        yield Quantity(
            *(value, decimals - shift, unit, start, match.end()),
            sign=match["sign"] or _find_comparison_sign(before),
            hedged=hedged,
            is_p=bool(_P_VALUE_BEFORE.search(before)),
            is_loose=bool(_PERCENT_BEFORE.search(text[max(0, start - 80) : start])),
            is_decrease=bool(_DECREASE_BEFORE.search(text[max(0, start - 80) : start])),
        )


def _find_comparison_sign(before: str) -> str:
    """Return ``<`` or ``>`` for words such as "less than" before a number."""
    return "<" if _LESS_BEFORE.search(before) else ">" if _MORE_BEFORE.search(before) else ""


def _parse_decimal(digits: str) -> tuple[Decimal, int]:
    """Return the value and the number of decimals."""
    if re.fullmatch(r"\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    bare = re.sub(r"[, ]", "", digits)
    value = Decimal(f"0{bare}" if bare.startswith(".") else bare)
    return value, len(bare.partition(".")[2])


def _is_calendar_year(digits: str, unit: str, before: str) -> bool:
    year = re.fullmatch(r"1[89]\d\d|20\d\d", digits)
    return bool(year) and not unit and not re.search(r"[=<>]\s?$|\bn\s$|\ba total of $", before)


def _iterate_number_words(text: str) -> Iterator[Quantity]:
    """Yield the numbers written as words."""
    for match in _NUMBER_WORD.finditer(text):
        number = _NUMBER_WORDS[match["tens"].lower()]
        if match["ones"]:
            if number < 20 or number % 10:
                continue
            number += _NUMBER_WORDS[match["ones"].lower()]
        yield Quantity(
            Decimal(number), 0, _normalize_unit(match["unit"]), match.start(), match.end(), "word"
        )


def _normalize_unit(text: str | None) -> str:
    """Return a unit in its standard form: ``mg/day`` for "milligrams per day"."""
    parts = re.split(
        r"\s?/\s?|\s?\bper\s(?!cent)|\s(?=a day|daily|weekly|[a-z]{1,3}-)", (text or "").strip()
    )
    first, *others = (
        _UNIT_SYNONYMS.get(part, _UNIT_SYNONYMS.get(part.lower(), part)) for part in parts
    )
    return "/".join([first, *map(_normalize_denominator, others)])


def _normalize_denominator(text: str) -> str:
    """Return the standard form of the unit after "per": ``100000-person-year``."""
    bare = re.sub(r"(?<=\d)[, ](?=0)|-[1¹]$|\s(?:of\s)?body.*|(?<=\d)\s", "", text)
    bare = re.sub(rf"(?<=0){_PERSONS}", "person", bare.translate(_PLAIN_EXPONENTS)).replace(
        " ", "-"
    )
    return {"a-day": "day", "daily": "day", "weekly": "week"}.get(bare) or _UNIT_SYNONYMS.get(
        bare, re.sub(r"(year|month|day)s$", r"\1", bare)
    )


def _copy_last_unit_to_list(found: list[Quantity], text: str) -> list[Quantity]:
    """Return the numbers of a list or range, all with its last unit: ``5, 10 and 20 mg``."""
    shared = set()
    for at in range(len(found) - 2, -1, -1):
        one, following = found[at], found[at + 1]
        between = text[one.end : following.start]
        joined = _JOINED.fullmatch(between) or (at + 1 in shared and between.strip() == ",")
        if joined and following.unit and not one.unit:
            found[at] = replace(one, unit=following.unit)
            shared.add(at)
    return found


def is_distinctive_number(one: Quantity) -> bool:
    """Return whether a manuscript's number is distinctive enough to be checked."""
    return one.sign != "word" or bool(one.unit) or one.value >= _MIN_WORD_VALUE


def compare_quantities(ours: Quantity, theirs: Quantity) -> Agreement:
    """Return how a manuscript's number agrees with a number of the cited text; "" if it does not.

    ``unit`` and ``side`` (p > 0.05 for p < 0.05): the figures agree, but the unit or sign does not.
    """
    ours, theirs = _negate_decrease(ours, theirs), _negate_decrease(theirs, ours)
    if _are_signs_opposite(ours, theirs):
        return "side" if ours.value == theirs.value else ""
    if ours.unit == theirs.unit or not (ours.unit and theirs.unit):
        said = _compare_as_percent(ours, theirs) or _compare_with_rounding(
            ours, ours.value, theirs.value
        )
        if said in ("same", "rounded") and _is_percent_unclear(ours, theirs):
            return "unit" if said == "same" else ""
        if said == "rounded" and ours.unit not in (theirs.unit, "%"):
            return ""  # 16 months is not 16.43 rounded; percent columns have bare numbers
        return said or ("bound" if _is_within_bound(ours, theirs) else "")
    if bool(_PER_TIME.search(ours.unit)) is not bool(_PER_TIME.search(theirs.unit)):
        ours, theirs = (replace(one, unit=_PER_TIME.sub("", one.unit)) for one in (ours, theirs))
    (name, size), (other_name, other_size) = ours.base_size, theirs.base_size
    if name == other_name and (
        said := _compare_with_rounding(ours, ours.value, theirs.value * other_size / size)
    ):
        return said if size == other_size else "converted"
    return "unit" if ours.value == theirs.value else ""


def _negate_decrease(one: Quantity, other: Quantity) -> Quantity:
    """Return a decrease as a negative number if the other is negative: "a loss of 280" is −280."""
    is_plain = one.is_decrease and not other.is_decrease and other.value < 0 < one.value
    return replace(one, value=-one.value) if is_plain else one


def _are_signs_opposite(ours: Quantity, theirs: Quantity) -> bool:
    """Return whether two numbers have opposite comparison signs: ``p < 0.05`` and ``p > 0.05``.

    A p-value that is exactly 0.05 is not below 0.05.
    """
    sides = {"≤": "<", "≥": ">"}
    signs = {sides.get(side, side) for side in (ours.sign, theirs.sign)}
    if signs == {"<", ">"}:
        return True
    is_p = ours.is_p or theirs.is_p
    return is_p and ours.value == theirs.value and "=" in signs and len(signs - {""}) == 2


def _is_percent_unclear(ours: Quantity, theirs: Quantity) -> bool:
    """Return whether only one of two numbers is marked as percent."""
    bare = theirs if ours.unit == "%" else ours
    return {ours.unit, theirs.unit} == {"%", ""} and not bare.is_loose


def _compare_with_rounding(ours: Quantity, value: Decimal, other: Decimal) -> Agreement:
    if value == other:
        return "same"
    if abs(other) < Decimal("1e15"):
        step = Decimal(1).scaleb(-ours.decimals)
        for way in (ROUND_HALF_UP, ROUND_HALF_EVEN):
            if other.quantize(step, way) == value != 0:
                return "rounded"
    if ours.hedged and abs(value - other) <= _APPROXIMATE_RATIO * abs(other):
        return "approximate"
    return ""


def _compare_as_percent(ours: Quantity, theirs: Quantity) -> Agreement:
    """Return ``converted`` if one number is the percentage of the other: ``45 %`` and ``0.45``."""
    if ours.unit == "%" and not theirs.unit and 0 < theirs.value < 1:
        return "converted" if _compare_with_rounding(ours, ours.value, theirs.value * 100) else ""
    if theirs.unit == "%" and not ours.unit and 0 < ours.value < 1:
        return "converted" if _compare_with_rounding(ours, ours.value, theirs.value / 100) else ""
    return ""


def _is_within_bound(ours: Quantity, theirs: Quantity) -> bool:
    """Return whether the text's p-value satisfies the manuscript's: ``p < 0.001`` and 0.0004."""
    if not 0 < ours.value <= Decimal("0.1") or theirs.unit or not 0 < theirs.value <= 1:
        return False
    if ours.sign in ("<", "≤"):
        return theirs.value < ours.value and theirs.sign not in (">", "≥")
    is_p = theirs.is_p or theirs.is_loose
    return ours.sign in (">", "≥") and is_p and theirs.value > ours.value and theirs.sign != "<"
