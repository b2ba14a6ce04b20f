r"""Units by the names siunitx has for them: prefixes, SI units, those beside it, abbreviations.

From the tables of siunitx's manual (version 3, "Units"), with the names of version 2 beside them.
A name that is not here is shown as it is, so abbreviations such as ``\kg`` or ``\GeV`` need none.
"""

from __future__ import annotations

from typing import Final

from ..jats.symbols import pairs

MICRO: Final = "\N{MICRO SIGN}"
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
