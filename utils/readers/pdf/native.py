"""PDFium's functions by their addresses.

PDFium answers for one character or drawn thing at a time, and pypdfium2 checks the types of the
arguments of each call, which takes longer than the answer. Python's lock is released during a call,
as pypdfium2 does it: a function that holds the lock (`ctypes.PYFUNCTYPE`) is taken to raise Python
errors, and Python 3.13 then reports, by chance, an error that nobody set.
"""

from __future__ import annotations

import ctypes
from typing import Any

NUMBER, REAL, POINTER = ctypes.c_int, ctypes.c_float, ctypes.c_void_p


def load_functions(**kinds: tuple[Any, ...]) -> dict[str, Any]:
    """Return PDFium's functions by their names without ``FPDF``, from their types.

    Pointers are plain numbers, None where there is nothing.
    """
    import pypdfium2.raw as pdfium

    return {
        name: _make_function(getattr(pdfium, f"FPDF{name}"), *kind) for name, kind in kinds.items()
    }


def get_address(thing: Any) -> int:
    """Return the address of a page or a page's text, as those functions take it."""
    return ctypes.cast(thing, POINTER).value or 0


def _make_function(function: Any, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)(get_address(function))
