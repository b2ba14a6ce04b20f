"""Packages are imported by one thread, before the first tool is called.

Tools work in threads and import what they need when it is first needed, so that a host has the list
of tools within a second. Where one thread imports a package that imports its own modules, and
another one of these modules, each holds what the other waits for: Python notices, and fails one of
them with a deadlock. With packages that are there already that cannot happen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from anyio import to_thread
from fastmcp.server.middleware import Middleware

_WORK = {"tools/call", "resources/read", "prompts/get", "completion/complete"}
_OURS = __name__.rpartition(".mcp.")[0]
_OTHER_DOORS = {f"{_OURS}.cli"}
# Of others' packages those whose modules are imported beside them by different modules of ours.
_OTHERS = ("requests",)
_turn = threading.Lock()
_done = threading.Event()


class FirstImports(Middleware):
    """Lets the first call wait until the packages are imported, and those beside it too."""

    async def on_request(self, context: Any, call_next: Any) -> Any:
        """Pass the request on; what only asks what there is need not wait."""
        if context.method in _WORK and not _done.is_set():
            # A host that hangs up does not wait for the imports of a call it never hears of.
            await to_thread.run_sync(import_packages, abandon_on_cancel=True)
        return await call_next(context)


def import_packages() -> None:
    """Import every package that a tool may want a module of; later calls find it done."""
    with _turn:
        if not _done.is_set():
            for name in _OTHERS:
                import_module(name)
            _import_below(import_module(_OURS).__path__, _OURS)
            _done.set()


def _import_below(path: Iterable[str], name: str) -> None:
    for found in iter_modules(path, f"{name}."):
        if found.ispkg and found.name not in _OTHER_DOORS:
            _import_below(import_module(found.name).__path__, found.name)
