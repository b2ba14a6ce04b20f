"""Reject misspelt options and values of a wrong type in calls of the library's methods.

The error for a misspelt keyword lists the method's options. A value is compared with its
parameter's annotation, to find a number in place of a text, a text in place of a list, or None.
Only annotations of text, numbers, lists, paths and mappings are checked.
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
from .nearest import suggest_nearest_name

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_UNPACKED = re.compile(r"Unpack\[(\w+)\]")
_UNION = re.compile(r" \| (?![^\[]*\])")
_LIST = re.compile(r"(?:Sequence|Iterable)\[.*\]|RequestedPapers")
_SHOWN_CHARS = 60


def reject_wrong_options(homes: Mapping[str, str] | None = None) -> Callable[[C], C]:
    """Return a class decorator: public methods reject unknown keywords and values of wrong types.

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
                setattr(owner, name, _add_option_checks(member, homes or {}))
        return owner

    return decorate


def accept_former_options(**names: str) -> Callable[[F], F]:
    """Return a decorator: a method also accepts options by their former names.

    Parameters
    ----------
    **names : str
        The present name of each former name. A call with a former name gives a DeprecationWarning.
    """

    def set_former_options(method: F) -> F:
        method.former_options = names  # type: ignore[attr-defined]
        return method

    return set_former_options


def _rename_former_options(
    method: Callable[..., Any], options: dict[str, Any], former: Mapping[str, str]
) -> dict[str, Any]:
    """Return the options of a call, with former names replaced by present ones."""
    renamed = dict(options)
    for former_name in former.keys() & options.keys():
        present, value = former[former_name], renamed.pop(former_name)
        msg = f"{method.__qualname__}(): {former_name} is now {present}"
        warnings.warn(msg, DeprecationWarning, stacklevel=4)
        if present in ("min_date", "max_date"):  # formerly a year, and 0 for none
            value = str(value or "")
        renamed.setdefault(present, value)
    return renamed


def _add_option_checks(method: Callable[..., Any], homes: Mapping[str, str]) -> Callable[..., Any]:
    """Wrap a method so that it rejects unknown keywords and values of wrong types."""
    annotations_of = cache(lambda: _get_keyword_annotations(method, homes))
    former: Mapping[str, str] = getattr(method, "former_options", {})
    positional = [parameter.name for parameter in inspect.signature(method).parameters.values()][1:]

    @wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        if former and options:
            options = _rename_former_options(method, options, former)
        if options or len(args) > 1:
            known, takes_any = annotations_of()
            if not takes_any and (unknown := options.keys() - known):
                raise _build_unknown_option_error(method.__qualname__, min(unknown), tuple(known))
            values = dict(zip(positional, args[1:], strict=False)) | options
            for name, value in values.items():
                _require_type(method.__qualname__, name, value, known.get(name, ""))
        return method(*args, **options)

    return call


def _get_keyword_annotations(
    method: Callable[..., Any], homes: Mapping[str, str]
) -> tuple[dict[str, str], bool]:
    """Return each keyword's annotation, and whether the method accepts any other keyword."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    known = {
        parameter.name: _annotation_to_text(parameter.annotation)
        for parameter in parameters
        if parameter.kind in _BY_NAME
    }
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            unpacked = _UNPACKED.fullmatch(_annotation_to_text(parameter.annotation))
            if not unpacked or unpacked[1] not in homes:
                return known, True
            options = getattr(import_module(homes[unpacked[1]]), unpacked[1])
            known |= {
                name: _annotation_to_text(annotation)
                for name, annotation in options.__annotations__.items()
            }
    return known, False


def _annotation_to_text(annotation: Any) -> str:
    """Return an annotation as it is written; "" for one that is not kept as text."""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    return annotation if isinstance(annotation, str) else ""


def _require_type(method: str, name: str, value: Any, annotation: str) -> None:
    """Raise `WrongType` if a value does not fit an annotation of text, numbers or lists."""
    kinds = _UNION.split(annotation) if annotation else []
    if not kinds or (value is not None and any(_is_of_kind(value, kind) for kind in kinds)):
        return
    if value is None and {"None", "Any", "object"} & set(kinds):
        return
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
    expected = "a list" if any(map(_LIST.fullmatch, kinds)) else _WANTED.get(kinds[0], annotation)
    hint = f"Write {name}=[{shown}]." if expected == "a list" and isinstance(value, str) else ""
    if expected == "a number" and isinstance(value, str) and value.strip().isdecimal():
        hint = f"Write {name}={value.strip()}, without quotes."
    msg = f"{method}(): {name} must be {expected}, not {type(value).__name__} ({shown})."
    raise WrongType(msg, hint)


_WANTED = {"str": "text", "int": "a number", "float": "a number", "bool": "True or False"}


def _is_of_kind(value: Any, kind: str) -> bool:
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


def _build_unknown_option_error(method: str, unknown: str, known: tuple[str, ...]) -> UnknownOption:
    """Return the error for an unknown keyword, with the closest option."""
    return UnknownOption(
        f"{method}() has no option {unknown!r}.",
        suggest_nearest_name(unknown, known),
        f"Its options: {', '.join(known)}.",
    )
