r"""Numbers and units of siunitx (``\SI{5}{\milli\molar}``, ``\numrange``, ``\ang``), for reading.

What siunitx prints follows from options this reader passes by, so one way stands for all: units in
a row with negative powers (its default), ranges with a dash. Nothing that was written is left out:
a number that is none stays as it is, a unit nobody knows shows its name. Options and commands are
those of siunitx's manual, versions 2 and 3; ``\unit[5]{kg}`` is of the package ``units``.

Units by the names siunitx has for them: prefixes, SI units, those beside it, abbreviations.

From the tables of siunitx's manual (version 3, "Units"), with the names of version 2 beside them.
A name that is not here is shown as it is, so abbreviations such as ``\kg`` or ``\GeV`` need none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ..jats.mathml import SYMBOLS, pairs
from ..jats.text import escape
from .tokens import PARAGRAPH, joined

if TYPE_CHECKING:
    from .macros import ExpandedStream

Kind = Literal["number", "unit", "power", "index", "blank", "text"]
Piece = tuple[Kind, str]
# Each command's numbers (none, one, a range, a list, an angle), and whether a unit follows.
QUANTITIES: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("num", "complexnum", "numproduct", "tablenum"), ("one", False)),
    **dict.fromkeys(("SI", "qty", "complexqty", "qtyproduct"), ("one", True)),
    **dict.fromkeys(("si", "unit"), ("none", True)),
    **dict.fromkeys(("SIrange", "qtyrange"), ("range", True)),
    **dict.fromkeys(("SIlist", "qtylist"), ("list", True)),
    "numrange": ("range", False),
    "numlist": ("list", False),
    "ang": ("angle", False),
    "unitfrac": ("fraction", True),
}
_NUMBER: Final = re.compile(r"([\d.,()+−±<>≤≥∼≈≪≫x×\s]*)(?:[eEdD]\s*\+?(−?\d+))?")
MICRO: Final = "\N{MICRO SIGN}"
_SIGNS: Final = {tex: sign for sign, tex in reversed(SYMBOLS.items()) if tex[:1] == "\\"} | {
    **dict.fromkeys((r"\ ", r"\,", r"\;", r"\:", r"\quad", r"\cdot"), " "),
    **dict.fromkeys((r"\circ", r"\textdegree", r"\degree"), "°"),
    **dict.fromkeys((r"\mu", r"\textmu"), MICRO),
    r"\le": "≤",
    r"\ge": "≥",
    r"\%": "%",
    r"\AA": "Å",
    r"\!": "",
}
_UNPRINTED: Final = frozenset(("{", "}", "$", PARAGRAPH)) | frozenset(
    rf"\{name}"
    for name in ("text", "textrm", "textup", "mathrm", "mathit", "mbox", "rm", "ensuremath", "ce")
)
_SPECIAL: Final = re.compile("[#$%&_{}]")
_ANGLE: Final = "°′″"
_RAISED: Final = {"°": r"^{\circ}", "′": r"^{\prime}", "″": r"^{\prime\prime}"}
_PREFIXES: Final = (
    "quecto q ronto r yocto y zepto z atto a femto f pico p nano n milli m centi c deci d deca da "
    "deka da hecto h kilo k mega M giga G tera T peta P exa E zetta Z yotta Y ronna R quetta Q "
    "kibi Ki mebi Mi gibi Gi tebi Ti pebi Pi exbi Ei"
)
_NAMES: Final = (
    "ampere A candela cd kelvin K kilogram kg metre m meter m mole mol second s gram g "
    "becquerel Bq coulomb C farad F gray Gy hertz Hz henry H joule J katal kat lumen lm lux lx "
    "newton N ohm Ω pascal Pa radian rad siemens S sievert Sv steradian sr tesla T volt V watt W "
    "weber Wb celsius °C degreeCelsius °C degreeFahrenheit °F degree ° arcminute ′ arcsecond ″ "
    "arcmin ′ arcsec ″ percent % permille ‰ perthousand ‰ astronomicalunit au bel B dalton Da "
    "amu u day d decibel dB electronvolt eV electronVolt eV hectare ha hour h litre L liter L "
    "minute min neper Np tonne t ton t angstrom Å bar bar barn b knot kn mmHg mmHg mmhg mmHg "
    "nauticalmile M atomicmassunit u molar M Molar M curie Ci gal Gal rad rad rem rem roentgen R "
    "are a bit bit byte B atm atm torr Torr poise P gauss G calorie cal kWh kWh parsec pc year yr "
    "clight c planckbar ħ electronmass m_e bohr a₀ hartree E_h micron µm px px rpm rpm ppm ppm"
)
PREFIXES: Final = {**pairs(_PREFIXES), **dict.fromkeys(("micro", "mu", "upmu", "textmu"), MICRO)}
_ABBREVIATED: Final = "g m s A mol l L V W J N F H Pa Hz eV K C T"
_SHORT: Final = {
    f"{written}{unit}": f"{prefix}{symbol}"
    for written, prefix in [("", ""), ("u", MICRO), *zip("fpnmcdkMGT", "fpnmcdkMGT", strict=True)]
    for unit, symbol in [*((unit, unit) for unit in _ABBREVIATED.split()), ("ohm", "Ω")]
}
UNITS: Final = {**_SHORT, **pairs(_NAMES)}
POWERS_BEFORE: Final = {"square": "2", "cubic": "3"}
POWERS_AFTER: Final = {"squared": "2", "cubed": "3"}


def take_quantity(stream: ExpandedStream, name: str) -> list[Piece] | None:
    r"""Take the arguments of a command of `QUANTITIES`: the pieces it prints.

    None, and nothing is taken, where ``\qty`` is the bracket of the package ``physics``.
    """
    numbers, has_unit = QUANTITIES[name]
    if name == "qty" and stream.peek() not in ("{", "["):
        return None
    option = stream.take_option()
    if name == "qty":
        if stream.peek() != "{":
            stream.put_back(["[", *(option or []), "]"])
            return None
        if _is_bracket(stream):
            return None
    value = option if numbers in ("none", "fraction") and _has_number(option) else None
    pieces = _take_numbers(stream, numbers, value)
    before = stream.take_option() if has_unit and numbers in ("one", "range") else None
    if before:
        pieces.insert(0, ("text", _plain(stream, before)))
    if has_unit:
        unit = _Units(stream, stream.take_argument()).pieces()
        if numbers == "fraction":
            unit += [("unit", "/"), *_Units(stream, stream.take_argument()).pieces()]
        glued = unit and unit[0][1] in _ANGLE
        pieces += [("blank", " ")] if pieces and unit and not glued and not before else []
        pieces += unit
    return pieces


def _is_bracket(stream: ExpandedStream) -> bool:
    """Whether only one argument follows; looking so far ahead is bounded, as brackets nest."""
    if stream.left <= 0:
        return False
    value = stream.take_argument()
    alone = stream.peek() not in ("{", "[")
    stream.put_back(["{", *value, "}"])
    return stream.spend(sum(map(len, value)) + 1) and alone


def _has_number(option: list[str] | None) -> bool:
    text = joined(option or [])
    return "=" not in text and any(sign.isdigit() for sign in text)


def _take_numbers(stream: ExpandedStream, numbers: str, value: list[str] | None) -> list[Piece]:
    if numbers in ("none", "fraction"):
        return _number(_plain(stream, value)) if value else []
    first = _plain(stream, stream.take_argument())
    if numbers == "range":
        ends = _number(first), _number(_plain(stream, stream.take_argument()))
        plain = all(len(end) == 1 and not end[0][1].startswith("−") for end in ends)
        return [*ends[0], ("text", "–" if plain else " to "), *ends[1]]
    if numbers == "one":
        return _number(first)
    parts = [_number(part) for part in first.split(";") if part.strip() or numbers == "angle"]
    made: list[Piece] = []
    for at, part in enumerate(parts):
        if numbers == "angle":
            made += [*part, ("unit", _ANGLE[min(at, 2)])] if part else []
        else:
            made += [("text", " and " if at == len(parts) - 1 else ", ")] if at else []
            made += part
    return made


def _number(plain: str) -> list[Piece]:
    """A number in siunitx's notation: ``1.23(4)e-5``, ``1.2 +- 0.3``."""
    plain = plain.replace("+-", "±").replace("-", "−").strip()
    match = _NUMBER.fullmatch(plain)
    if match is None:
        return [("text", plain)]
    mantissa = re.sub(r"\s+", "", match[1])
    mantissa = re.sub(r"(?<=[\d)])±", " ± ", re.sub("[x×]", " × ", mantissa)).strip()
    if match[2] is None:
        return [("number", mantissa)] if mantissa else []
    mantissa = f"({mantissa})" if "±" in mantissa[1:] else mantissa
    return [("number", f"{mantissa} × 10" if mantissa else "10"), ("power", match[2])]


def _plain(stream: ExpandedStream, tokens: list[str]) -> str:
    """Tokens as plain text: signs for their commands, names for commands without one."""
    made: list[str] = []
    with stream.apart(tokens):
        while lexeme := stream.take_expanded():
            if lexeme not in _UNPRINTED:
                made.append(_sign(lexeme))
    return "".join(made)


def _sign(lexeme: str) -> str:
    if lexeme[0] != "\\":
        return " " if lexeme == "~" else lexeme
    return _SIGNS.get(lexeme, lexeme[1:])


# --- units ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Unit:
    """A unit with its prefix, and what it is raised to."""

    symbol: str
    power: str
    inverse: bool
    index: str = ""
    glued: bool = False

    def pieces(self) -> list[Piece]:
        power = self.power.replace("-", "−")
        if self.inverse:
            power = power[1:] if power.startswith("−") else f"−{power or 1}"
        made: list[Piece] = [("unit", self.symbol)]
        made += [("index", self.index)] if self.index else []
        return made + ([("power", power)] if power else [])


class _Units:
    """The units of one argument."""

    def __init__(self, stream: ExpandedStream, tokens: list[str]) -> None:
        self._stream = stream
        self._units: list[_Unit] = []
        self._prefix = self._power = ""
        self._inverse = False
        with stream.apart(tokens):
            while lexeme := self._take_next():
                self._take(lexeme)
        if self._prefix:
            self._put("")

    def pieces(self) -> list[Piece]:
        """All of them, blanks between."""
        made: list[Piece] = []
        for unit in self._units:
            made += [("blank", " ")] if made and not unit.glued else []
            made += unit.pieces()
        return made

    def _take_next(self) -> str:
        """The next lexeme; siunitx's names come before any the paper gives a meaning."""
        lexeme = self._stream.take()
        if lexeme[:1] == "\\" and lexeme[1:] not in UNITS:
            self._stream.put_back([lexeme])
            lexeme = self._stream.take_expanded()
        return lexeme

    def _take(self, lexeme: str) -> None:
        name = lexeme[1:] if lexeme[0] == "\\" else ""
        if name in PREFIXES:
            self._prefix += PREFIXES[name]
        elif name in UNITS:
            self._put(UNITS[name])
        elif lexeme not in _UNPRINTED and not self._take_power(lexeme, name):
            for part in re.split(r"[.~\s·⋅]+", _sign(lexeme)):
                if part:
                    self._put(part)

    def _take_power(self, lexeme: str, name: str) -> bool:
        """Follow a command for a power or an index of a unit; whether *lexeme* is one."""
        if name in POWERS_BEFORE:
            self._power = POWERS_BEFORE[name]
        elif name == "per":
            self._inverse = True
        elif name == "raiseto":
            self._power = self._take_plain()
        elif name in POWERS_AFTER or name == "tothe" or lexeme == "^":
            self._raise(POWERS_AFTER.get(name) or self._take_plain())
        elif name == "of" or lexeme == "_":
            index = self._take_plain()
            if self._units:
                self._units[-1].index += index
        else:
            return False
        return True

    def _take_plain(self) -> str:
        return _plain(self._stream, self._stream.take_argument())

    def _raise(self, power: str) -> None:
        if power == "°":  # as authors write degrees: ^\circ C
            self._prefix += power
        elif self._units:
            self._units[-1].power = power

    def _put(self, symbol: str) -> None:
        glued = symbol.startswith("/") or bool(self._units and self._units[-1].symbol.endswith("/"))
        unit = _Unit(f"{self._prefix}{symbol}", self._power, self._inverse, glued=glued)
        self._units.append(unit)
        self._prefix = self._power = ""
        self._inverse = False


# --- writing --------------------------------------------------------------------------------------


def to_markdown(pieces: list[Piece]) -> str:
    """A quantity as markdown."""
    tags = {"power": "sup", "index": "sub"}
    return "".join(
        f"<{tags[kind]}>{escape(text)}</{tags[kind]}>" if kind in tags else escape(text)
        for kind, text in pieces
    )


def to_tex(pieces: list[Piece]) -> str:
    """A quantity as TeX that needs no package."""
    return "".join(_formula(kind, text) for kind, text in pieces)


def _formula(kind: Kind, text: str) -> str:
    if kind == "blank":
        return "\\,"
    if kind == "text":
        return "\\text{" + _SPECIAL.sub(r"\\\g<0>", text) + "}"
    if kind != "unit":
        tex = _tex(text)
        return {"power": f"^{{{tex}}}", "index": rf"_{{\mathrm{{{tex}}}}}"}.get(kind, tex)
    if raised := _RAISED.get(text[:1]):
        return f"{{}}{raised}\\mathrm{{{_tex(text[1:])}}}" if text[1:] else raised
    return f"\\mathrm{{{_tex(text)}}}"


def _tex(text: str) -> str:
    made = "".join(f"{SYMBOLS[sign]} " if sign in SYMBOLS else sign for sign in text)
    return re.sub(r"(?<![A-Za-z]) +| +(?= )", " ", re.sub(r"(?<=[-%_}]) ", "", made)).strip()
