"""Refuse misspelt options and values of a wrong type in calls of the library's methods.

A misspelt keyword is answered with the options of the method. A value is compared with the
annotation of its parameter: a number where text is wanted, one text where a list is wanted, None.
Annotations that name other types than text, numbers and lists are not checked.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from importlib import import_module
from numbers import Real
from os import PathLike
from typing import Any, TypeVar

from ..errors import UnknownOption, WrongType
from .nearest import suggest_nearest

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_UNION = re.compile(r" \| (?![^\[]*\])")
_LIST = re.compile(r"(?:Sequence|Iterable)\[.*\]|RequestedPapers")
_SHOWN_CHARS = 60


def explain_options(homes: Mapping[str, str] | None = None) -> Callable[[C], C]:
    """Return a class decorator: public methods refuse unknown keywords and values of wrong types.

    They raise `UnknownOption` and `WrongType`.

    Parameters
    ----------
    homes : mapping, optional
        The modules of the typed dictionaries that methods take as ``**options: Unpack[Name]``.
        They are imported when such a method is first called with an option.
    """

    def decorate(owner: C) -> C:
        for name, member in list(vars(owner).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(owner, name, _check_call(member, homes or {}))
        return owner

    return decorate


def accept_former_options(**names: str) -> Callable[[F], F]:
    """Return a decorator: a method of an `explain_options` class takes options by former names.

    Parameters
    ----------
    **names : str
        The present name of each former one. A call with a former name gives a DeprecationWarning.
    """

    def set_former_options(method: F) -> F:
        method.former_options = names  # type: ignore[attr-defined]
        return method

    return set_former_options


def _rename_options(
    method: Callable[..., Any], options: dict[str, Any], former: Mapping[str, str]
) -> dict[str, Any]:
    """Return the options of a call with present names in place of former ones."""
    renamed = dict(options)
    for old in former.keys() & options.keys():
        name, value = former[old], renamed.pop(old)
        msg = f"{method.__qualname__}(): {old} is now {name}"
        warnings.warn(msg, DeprecationWarning, stacklevel=4)
        if name in ("min_date", "max_date"):  # formerly a year, and 0 for none
            value = str(value or "")
        renamed.setdefault(name, value)
    return renamed


def _check_call(method: Callable[..., Any], homes: Mapping[str, str]) -> Callable[..., Any]:
    """Wrap a method to refuse unknown keywords and values of wrong types."""
    annotations_of = cache(lambda: _list_annotations(method, homes))
    former: Mapping[str, str] = getattr(method, "former_options", {})
    positional = [one.name for one in inspect.signature(method).parameters.values()][1:]

    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        if former and options:
            options = _rename_options(method, options, former)
        if options or len(args) > 1:
            known, takes_any = annotations_of()
            if not takes_any and (unknown := options.keys() - known):
                raise _build_unknown_error(method.__qualname__, min(unknown), tuple(known))
            given = dict(zip(positional, args[1:], strict=False)) | options
            for name, value in given.items():
                _check_type(method.__qualname__, name, value, known.get(name, ""))
        return method(*args, **options)

    return call


def _list_annotations(
    method: Callable[..., Any], homes: Mapping[str, str]
) -> tuple[dict[str, str], bool]:
    """Return the annotation of each keyword of a method, and whether it takes others, too."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    known = {one.name: _to_text(one.annotation) for one in parameters if one.kind in _BY_NAME}
    for one in parameters:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            unpacked = _UNPACKED.fullmatch(_to_text(one.annotation))
            if not unpacked or unpacked[1] not in homes:
                return known, True
            options = getattr(import_module(homes[unpacked[1]]), unpacked[1])
            known |= {name: _to_text(said) for name, said in options.__annotations__.items()}
    return known, False


def _to_text(annotation: Any) -> str:
    """Return an annotation as it is written; "" for one that is not kept as text."""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    return annotation if isinstance(annotation, str) else ""


def _check_type(method: str, name: str, value: Any, annotation: str) -> None:
    """Raise `WrongType` if a value does not fit an annotation of text, numbers or lists."""
    kinds = _UNION.split(annotation) if annotation else []
    if not kinds or (value is not None and any(_fits(value, kind) for kind in kinds)):
        return
    if value is None and {"None", "Any", "object"} & set(kinds):
        return
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
    wanted = "a list" if any(map(_LIST.fullmatch, kinds)) else _WANTED.get(kinds[0], annotation)
    hint = f"Write {name}=[{shown}]." if wanted == "a list" and isinstance(value, str) else ""
    if wanted == "a number" and isinstance(value, str) and value.strip().isdecimal():
        hint = f"Write {name}={value.strip()}, without quotes."
    msg = f"{method}(): {name} must be {wanted}, not {type(value).__name__} ({shown})."
    raise WrongType(msg, hint)


_WANTED = {"str": "text", "int": "a number", "float": "a number", "bool": "True or False"}


def _fits(value: Any, kind: str) -> bool:
    """Return whether a value is of a kind; True for kinds that are not checked."""
    if kind == "str":
        return isinstance(value, str)
    if kind in ("int", "float"):
        return isinstance(value, Real)
    if kind == "Path":
        return isinstance(value, PathLike)
    if kind == "None":
        return value is None
    if _LIST.fullmatch(kind):
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if kind.startswith("Mapping["):
        return isinstance(value, Mapping)
    return True


def _build_unknown_error(method: str, unknown: str, known: tuple[str, ...]) -> UnknownOption:
    """Return the error for an unknown keyword, with the closest option."""
    return UnknownOption(
        f"{method}() has no option {unknown!r}.",
        suggest_nearest(unknown, known),
        f"Its options: {', '.join(known)}.",
    )
