"""Texts whose letters are wrong: garbage of bad scans and lost fonts, and readable scans."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import replace

from quality.lab.dress import composed
from quality.lab.foreign import TONGUES, usable
from quality.lab.kinds import HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.manuscript import GROUP, Block

_LETTERS = string.ascii_lowercase
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_HAN = [chr(0x4E00 + 37 * n) for n in range(500)]
# What programs that recognise letters take for one another.
_ALIKE = {
    "l": "1", "e": "c", "o": "0", "h": "b", "i": "l", "s": "5", "a": "o", "n": "u", "t": "f",
    "r": "v", "c": "e", "u": "n", "g": "q", "b": "h", "m": "rn", "d": "cl", "w": "vv",
}  # fmt: skip


def _changed(blocks: list[Block], change: Callable[[str], str]) -> list[Block]:
    """All text but the title, through *change*; marks of citations stay."""

    def one(text: str) -> str:
        parts, at = [], 0
        for mark in GROUP.finditer(text):
            parts += [change(text[at : mark.start()]), mark[0]]
            at = mark.end()
        return "".join([*parts, change(text[at:])])

    return [
        block
        if block.level == 1 and block.kind == "heading"
        else replace(block, text=one(block.text), items=tuple(map(one, block.items)))
        for block in blocks
    ]


def _replaced(dice: random.Random, share: float, letters: str | list[str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        return "".join(
            dice.choice(letters) if mark.isalpha() and dice.random() < share else mark
            for mark in text
        )

    return change


def _misread(dice: random.Random, share: float) -> Callable[[str], str]:
    def change(text: str) -> str:
        return "".join(_ALIKE.get(mark, mark) if dice.random() < share else mark for mark in text)

    return change


@kind("garbage, every seventh letter replaced", TUNING)
def replaced_15(scene: Scene) -> Made:
    return _changed(composed(scene.paper, scene.dice), _replaced(scene.dice, 0.15, _LETTERS))


@kind("garbage, four letters of ten replaced", HELD_OUT)
def replaced_40(scene: Scene) -> Made:
    return _changed(composed(scene.paper, scene.dice), _replaced(scene.dice, 0.4, _LETTERS))


@kind("garbage, every fourth letter taken for one alike", HELD_OUT)
def misread_25(scene: Scene) -> Made:
    return _changed(composed(scene.paper, scene.dice), _misread(scene.dice, 0.3))


@kind("garbage in Cyrillic, every sixth letter replaced", TUNING)
def cyrillic_garbage(scene: Scene) -> Made:
    return _foreign_garbage(scene, "ru", 0.17, _CYRILLIC)


@kind("garbage in Chinese, every third character replaced", HELD_OUT)
def chinese_garbage(scene: Scene) -> Made:
    return _foreign_garbage(scene, "zh", 0.34, _HAN)


def _foreign_garbage(scene: Scene, tongue: str, share: float, letters: str | list[str]) -> Made:
    if not usable(scene.paper):
        return None
    blocks = _changed(composed(scene.paper, scene.dice), TONGUES[tongue])
    return _changed(blocks, _replaced(scene.dice, share, letters))


@kind("a font whose letters are exchanged", TUNING)
def exchanged(scene: Scene) -> Made:
    """A PDF's font without a table of its letters: each stands for another, always the same."""
    other = list(_LETTERS)
    scene.dice.shuffle(other)
    table = str.maketrans(_LETTERS + _LETTERS.upper(), "".join(other) + "".join(other).upper())
    return _changed(composed(scene.paper, scene.dice), lambda text: text.translate(table))


@kind("Cyrillic read in the wrong encoding", HELD_OUT)
def wrong_encoding(scene: Scene) -> Made:
    if not usable(scene.paper):
        return None

    def change(text: str) -> str:
        return TONGUES["ru"](text).encode().decode("cp1252", "replace")

    return _changed(composed(scene.paper, scene.dice), change)


@kind("letters replaced by marks of unknown glyphs", TUNING)
def unknown_glyphs(scene: Scene) -> Made:
    return _changed(composed(scene.paper, scene.dice), _replaced(scene.dice, 0.2, "\ufffd\uf0b7"))


@kind("an old scan, a letter in seventy misread", TUNING, SCREEN, whole=True)
def readable(scene: Scene) -> Made:
    return _changed(composed(scene.paper, scene.dice), _misread(scene.dice, 0.02))


@kind("an old scan, a letter in a hundred replaced", HELD_OUT, SCREEN, whole=True)
def readable_otherwise(scene: Scene) -> Made:
    change = _replaced(scene.dice, 0.012, _LETTERS)
    return _changed(composed(scene.paper, scene.dice), change)
