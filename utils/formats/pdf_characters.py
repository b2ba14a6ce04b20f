"""The characters of a PDF page, with their boxes and fonts, by PDFium.

PDFium answers for one character at a time, and pypdfium2 checks the types of the arguments of each
call, which takes longer than the answer: here its functions are called by their addresses. Runs
only in the child process of `.pdf_child`, whose one thread may hold Python's lock meanwhile.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_MOST = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_NAME_BYTES = 100
Box = tuple[float, float, float, float]  # left, bottom, right, top


class Characters:
    """The characters of an open page, in the order of its content stream.

    Attributes
    ----------
    codes
        Their code points, as far as PDFium knows them.
    """

    def __init__(self, text_page: Any) -> None:
        self._address = ctypes.cast(text_page, ctypes.c_void_p).value
        self._functions = _functions()
        self._rectangle = (ctypes.c_float * 4)()  # left, top, right, bottom
        self._name = ctypes.create_string_buffer(_NAME_BYTES)
        self._boxes: dict[int, Box] = {}
        self.codes = self._codes()

    def _codes(self) -> list[int]:
        functions = self._functions
        count = min(max(0, functions["CountChars"](self._address)), _MOST)
        buffer = (ctypes.c_ushort * (count + 1))()
        if functions["GetText"](self._address, 0, count, buffer) == count + 1:
            return list(buffer[:count])
        # Where some have no code point, the text would be shorter.
        return [functions["GetUnicode"](self._address, index) for index in range(count)]

    def box(self, index: int) -> Box:
        """A character's box as tall as its font, so that *a* and *g* of one line agree."""
        if index not in self._boxes:
            self._functions["GetLooseCharBox"](self._address, index, self._rectangle)
            left, top, right, bottom = self._rectangle
            self._boxes[index] = left, bottom, right, top
        return self._boxes[index]

    def angle(self, index: int) -> float:
        """How far a character is turned, in radians."""
        return float(self._functions["GetCharAngle"](self._address, index))

    def weight(self, index: int) -> int:
        """The weight of a character's font, 400 where it is neither light nor bold."""
        return int(self._functions["GetFontWeight"](self._address, index))

    def font(self, index: int) -> str:
        """The name of a character's font."""
        self._name.value = b""
        self._functions["GetFontInfo"](self._address, index, self._name, _NAME_BYTES, None)
        return str(self._name.value.decode("utf-8", "replace"))


@cache
def _functions() -> dict[str, Any]:
    """PDFium's functions for the text of a page, by the ends of their names."""
    import pypdfium2.raw as pdfium

    page, number, pointer = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    kinds = {
        "CountChars": (number, page),
        "GetText": (number, page, number, number, pointer),
        "GetUnicode": (ctypes.c_uint, page, number),
        "GetLooseCharBox": (number, page, number, pointer),
        "GetCharAngle": (ctypes.c_float, page, number),
        "GetFontWeight": (number, page, number),
        "GetFontInfo": (ctypes.c_ulong, page, number, pointer, ctypes.c_ulong, pointer),
    }
    return {
        name: _by_address(getattr(pdfium, f"FPDFText_{name}"), *kind)
        for name, kind in kinds.items()
    }


def _by_address(function: Any, result: Any, *arguments: Any) -> Any:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)
