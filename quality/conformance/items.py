"""What an item of the ledger is, what a door answered to it, and how answers are checked."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quality.conformance.operations import Operation, operation
from tests.world import Request, World


@dataclass(frozen=True)
class Met:
    """What became of one item at one door.

    ``value`` is the answer (a structure, an error's envelope, the shell's rows), ``requests`` what
    sites were asked meanwhile, ``naps`` the seconds waited for, ``shelf`` the door's folder,
    ``result`` MCP's own, ``status`` the shell's exit status.
    """

    value: Any
    requests: tuple[Request, ...] = ()
    naps: tuple[float, ...] = ()
    shelf: Path = Path()
    result: Any = None
    status: int = 0


Check = Callable[[Met], object]


@dataclass(frozen=True)
class Item:
    """A requirement of a document, how it is called, and what must come of it.

    ``deviation`` says why the product does otherwise, where it does; then the check holds it to
    what it does instead. ``meanwhile`` is what befalls the world during the call, ``settings`` what
    the door is opened with, ``before`` texts that lie on the shelf already, by file name, ``doors``
    fewer of them than the operation is offered at.
    """

    document: str
    place: str
    what: str
    operation: str
    check: Check
    arguments: Mapping[str, Any] = field(default_factory=dict)
    deviation: str = ""
    meanwhile: Callable[[World], object] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)
    doors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the tests are called after."""
        return f"{self.document} {self.place}: {self.what}"

    @property
    def called(self) -> Operation:
        """What is done at each door."""
        return operation(self.operation)

    @property
    def offered(self) -> tuple[str, ...]:
        """The doors it is called over."""
        return self.doors or self.called.doors


# -- checks of the answer


def papers(value: Any) -> list[dict[str, Any]]:
    """The papers of an answer: the shell prints each as a line."""
    return value["papers"] if isinstance(value, dict) else value


def hits(value: Any) -> list[dict[str, Any]]:
    """The passages of an answer."""
    return value["results"] if isinstance(value, dict) else value


def one(value: Any) -> dict[str, Any]:
    """The only object of an answer."""
    return value if isinstance(value, dict) else value[0]


def all_of(*checks: Check) -> Check:
    """It passes each of these."""

    def check(met: Met) -> None:
        for each in checks:
            each(met)

    return check


def has(*names: str) -> Check:
    """The answer has these members."""

    def check(met: Met) -> None:
        assert not set(names) - set(one(met.value)), sorted(set(names) - set(one(met.value)))

    return check


def is_(**wanted: Any) -> Check:
    """The answer has these values."""

    def check(met: Met) -> None:
        found = one(met.value)
        assert {name: found.get(name, "(missing)") for name in wanted} == wanted, found

    return check


def holds(name: str, *words: str) -> Check:
    """The text in a member holds these words."""

    def check(met: Met) -> None:
        text = one(met.value)[name]
        assert not [word for word in words if word not in text], text[:700]

    return check


def that(test: Callable[[Any], object]) -> Check:
    """The answer passes a test."""

    def check(met: Met) -> None:
        assert test(met.value), str(met.value)[:2_000]

    return check


def each(name: str, *members: str) -> Check:
    """The answer has a list of this name, not empty, whose rows all have these members."""

    def check(met: Met) -> None:
        rows = met.value[name] if isinstance(met.value, dict) else met.value
        assert rows
        for row in rows:
            assert not set(members) - set(row), sorted(set(members) - set(row))

    return check


def refused(code: str, *words: str) -> Check:
    """It is an error of this code, whose message holds these words, with a way out.

    The shell names a parameter by its option: ``--sort-by`` is ``sort_by``.
    """

    def check(met: Met) -> None:
        error = one(met.value).get("error")
        assert error, met.value
        assert error["code"] == code, error
        told = re.sub(r"--[a-z-]+", lambda found: found[0][2:].replace("-", "_"), error["message"])
        assert not [word for word in words if word not in told], told
        assert error["suggestions"]
        assert set(error) == {"code", "message", "details", "suggestions"}

    return check


# -- checks of what else can be seen


def asked(test: Callable[[list[Request]], object], service: str = "") -> Check:
    """What was asked of the sites meanwhile (of one service) passes a test."""

    def check(met: Met) -> None:
        sent = [r for r in met.requests if service in ("", r.service)]
        assert test(sent), [(r.service, r.method, r.path, r.params, r.status) for r in sent]

    return check


def sent(service: str, path: str = "", **params: str | None) -> Check:
    """A request to the service had these parameters (None: had them not), by whatever method."""

    def check(met: Met) -> None:
        there = [r for r in met.requests if r.service == service and path in r.path]
        assert any(
            all(r.params.get(name) == value for name, value in params.items()) for r in there
        ), [(r.path, r.params) for r in there] or [r.service for r in met.requests]

    return check


def nobody_asked(met: Met) -> None:
    """It was answered without any site."""
    assert not met.requests, [(r.service, r.path) for r in met.requests]


def waited(test: Callable[[list[float]], object], least: float = 0.9) -> Check:
    """The waits of *least* seconds and more pass a test."""

    def check(met: Met) -> None:
        naps = [nap for nap in met.naps if nap >= least]
        assert test(naps), met.naps

    return check


def kept(test: Callable[[Path], object]) -> Check:
    """The shelf afterwards passes a test."""

    def check(met: Met) -> None:
        assert test(met.shelf), sorted(path.name for path in met.shelf.rglob("*"))

    return check


def shown(test: Callable[[Any], object]) -> Check:
    """The result, as MCP sends it, passes a test."""

    def check(met: Met) -> None:
        assert test(met.result), met.result

    return check


def ended(status: int) -> Check:
    """The shell's command ended with this status."""

    def check(met: Met) -> None:
        assert met.status == status, (met.status, met.value)

    return check


# -- checks of the tools as they are listed


def tool(met: Met, name: str) -> dict[str, Any]:
    """One of the tools listed."""
    found: dict[str, Any] = {one["name"]: one for one in met.value["tools"]}[name]
    return found


def named(*names: str) -> Check:
    """These tools are listed."""

    def check(met: Met) -> None:
        assert not set(names) - {tool["name"] for tool in met.value["tools"]}

    return check


def takes(name: str, **parameters: Any) -> Check:
    """A tool takes these parameters: each of a type, or with a part of its schema."""

    def check(met: Met) -> None:
        schema = tool(met, name)["inputSchema"]
        for parameter, expected in parameters.items():
            about = schema["properties"][parameter]
            assert (parameter in schema.get("required", [])) == ("default" not in about), about
            wanted = {"type": expected} if isinstance(expected, str) else expected
            assert {key: about.get(key) for key in wanted} == wanted, (parameter, about)

    return check


def over(items: Iterable[Item], door: str) -> list[Item]:
    """Those called at a door, in their order."""
    return [one for one in items if door in one.offered]
