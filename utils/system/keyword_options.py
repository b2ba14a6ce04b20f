"""Answer a misspelt keyword option of a method with the options of that method."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from importlib import import_module
from typing import Any, TypeVar

from ..errors import UnknownOption

C = TypeVar("C", bound=type)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")


def explain_options(homes: Mapping[str, str] | None = None) -> Callable[[C], C]:
    """Return a class decorator: public methods raise `UnknownOption` for an unknown keyword.

    Parameters
    ----------
    homes : mapping, optional
        The modules of the typed dictionaries that methods take as ``**options: Unpack[Name]``.
        They are imported when such a method is first called with an option.
    """

    def decorate(owner: C) -> C:
        for name, member in list(vars(owner).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(owner, name, _check_options(member, homes or {}))
        return owner

    return decorate


def _check_options(method: Callable[..., Any], homes: Mapping[str, str]) -> Callable[..., Any]:
    """Wrap a method to raise `UnknownOption` for an unknown keyword."""
    options_of = cache(lambda: _list_options(method, homes))

    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        if options and (known := options_of()) and (unknown := options.keys() - known):
            raise _build_error(method.__qualname__, min(unknown), known)
        return method(*args, **options)

    return call


def _list_options(method: Callable[..., Any], homes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keywords of a method; () if the method takes any keyword."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    known = [one.name for one in parameters if one.kind in _BY_NAME]
    for one in parameters:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            unpacked = _UNPACKED.fullmatch(str(one.annotation))
            if not unpacked or unpacked[1] not in homes:
                return ()
            options = getattr(import_module(homes[unpacked[1]]), unpacked[1])
            known += options.__annotations__
    return tuple(known)


def _build_error(method: str, unknown: str, known: tuple[str, ...]) -> UnknownOption:
    """Return the error for an unknown keyword, with the closest option."""
    near = get_close_matches(unknown, known, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownOption(
        f"{method}() has no option {unknown!r}.{meant}", f"Its options: {', '.join(known)}."
    )
