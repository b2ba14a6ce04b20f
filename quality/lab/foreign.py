"""Text in other scripts and tongues: shaped like a language, and not translated."""

from __future__ import annotations

import re
import zlib

from quality.lab.manuscript import Manuscript

_CYRILLIC = dict(zip("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувщъыз", strict=True))
_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所"
    "民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日"
    "那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想"
    "已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指"
    "几九区强放决西被干做必战先回则任取据处理世车"
)
_SYLLABLES = "ba be bi co da de di eta fa gra la le lo ma mi na no per qua ra re ri sa so ta te ti tra va vi zo ña çã ré ü".split()  # noqa: E501, SIM905
_SMALL = {
    "the": "el", "of": "de", "and": "y", "in": "en", "to": "a", "a": "un", "is": "es", "was": "fue",
    "were": "fueron", "with": "con", "for": "para", "by": "por", "that": "que", "on": "sobre",
    "from": "desde", "as": "como", "we": "nosotros", "this": "este", "are": "son", "not": "no",
}  # fmt: skip


def cyrillic(text: str) -> str:
    """In letters of Russian."""
    return _swapped(text, lambda word: "".join(_CYRILLIC.get(c, c) for c in word.lower()))


def han(text: str) -> str:
    """In characters without blanks; numbers, citations and names of genes stay."""

    def one(word: str) -> str:
        at = zlib.crc32(word.lower().encode())
        return "".join(_HAN[(at >> 7 * n) % len(_HAN)] for n in range(1 + len(word) // 5))

    told = _swapped(text, one)
    told = re.sub(r"(?<=[\u4e00-\u9fff])[ \t]+(?=[\u4e00-\u9fff])", "", told)
    return told.replace(". ", "。").replace(", ", "，")


def iberian(text: str) -> str:
    """In words that sound Spanish, with its small words."""

    def one(word: str) -> str:
        if word.lower() in _SMALL:
            return _SMALL[word.lower()]
        at = zlib.crc32(word.lower().encode())
        number = max(1, len(word) // 3)
        return "".join(_SYLLABLES[(at >> 5 * n) % len(_SYLLABLES)] for n in range(number))

    return _swapped(text, one)


def _swapped(text: str, one: object) -> str:
    return re.sub(r"[A-Za-z]{1,30}(?![A-Za-z0-9])", lambda found: one(found.group(0)), text)  # type: ignore[operator]


TONGUES = {"ru": cyrillic, "zh": han, "es": iberian}


def usable(paper: Manuscript) -> bool:
    """Whether it is in English, so that it can be turned into something else."""
    return paper.language == "en"
