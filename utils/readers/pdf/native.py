"""Call PDFium's C functions by their addresses.

PDFium's functions take one character or drawn object at a time, and pypdfium2 checks the argument
types of each call, which takes longer than the call. The GIL is released during a call, as in
pypdfium2: a function that keeps it (`ctypes.PYFUNCTYPE`) is expected to raise Python errors, and
Python 3.13 then sometimes reports an error that was never set.
"""

from __future__ import annotations

import ctypes
from typing import Any

NUMBER, REAL, POINTER = ctypes.c_int, ctypes.c_float, ctypes.c_void_p


def load_pdfium_functions(**kinds: tuple[Any, ...]) -> dict[str, Any]:
    """Return PDFium's functions by name (without ``FPDF``), given their argument and result types.

    Pointers are plain numbers; a null pointer is None.
    """
    import pypdfium2.raw as pdfium

    return {
        name: _make_ctypes_function(getattr(pdfium, f"FPDF{name}"), *kind)
        for name, kind in kinds.items()
    }


def get_pointer(thing: Any) -> int:
    """Return the address of a page or text page, as PDFium's functions expect it."""
    return ctypes.cast(thing, POINTER).value or 0


def _make_ctypes_function(function: Any, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)(get_pointer(function))
