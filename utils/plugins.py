"""Packages that add to Papershelf: commands, tools, settings, sources, records on this machine.

A package describes itself in a `Plugin`. A package of somebody else's names it as an entry point::

    [project.entry-points."papershelf.plugins"]
    glade = "papershelf_glade:PLUGIN"

A `Plugin` names modules as text, so that each is imported when it is used; the module of the
`Plugin` itself is imported at every start and must import little. Our own optional packages are in
`OWN`: the core asks this module and never imports one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import NotConfigured

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .model.site import Site

GROUP = "papershelf.plugins"
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Command(NamedTuple):
    """A command: the module whose function `add` registers it, and what it does in one line."""

    module: str
    about: str


class Setting(NamedTuple):
    """A setting: its type, its default and its meaning."""

    type: Any
    default: Any
    about: str


class Plugin(NamedTuple):
    """The additions of one package; module names are absolute, or relative to this package.

    Parameters
    ----------
    name : str
    commands : dict, optional
        Commands of the shell, by name.
    toolsets : dict, optional
        Toolsets of MCP, by name: each the modules whose function `tools` returns tools.
    settings : dict, optional
        Settings by name in small letters, which begins with the plugin's name.
    sources : dict, optional
        Sites by the module that holds their ``SOURCE``. Its addresses, keys and route names are
        those of the site.
    record_source : str, optional
        A module that has the functions of `.sources.local.RecordSource`.
    routes : str, optional
        ``module:function``: takes the settings and returns routes to texts on this machine, by the
        name of the source that each goes before.
    version : str, optional
        The version of the package; filled in for entry points.
    """

    name: str
    commands: Mapping[str, Command] = _NOTHING
    toolsets: Mapping[str, tuple[str, ...]] = _NOTHING
    settings: Mapping[str, Setting] = _NOTHING
    sources: Mapping[str, Site] = _NOTHING
    record_source: str = ""
    routes: str = ""
    version: str = ""


OWN = (
    Plugin(
        "review",
        commands={
            "review": Command(
                ".cli.reviews",
                "a systematic review as a folder: protocol, searches, decisions, PRISMA figure",
            ),
            "snowball": Command(
                ".cli.snowballing",
                "what the papers of a list cite and who cites them, the most led to first",
            ),
        },
        toolsets={"review": (".mcp.review",)},
    ),
    Plugin(
        "manuscript",
        commands={
            "check": Command(
                ".cli.checking", "check a manuscript: references, retractions, quotations, numbers"
            )
        },
    ),
    Plugin(
        "corpus",
        commands={
            "sync": Command(".cli.corpus", "bring the records of a PubMed query up to date"),
            "checkpoint": Command(".cli.corpus", "how far a query is synced"),
            "index": Command(".cli.corpus", "cut and embed what changed, to be found"),
            "learn": Command(".cli.corpus", "learn other names from NLM's lists"),
            "find": Command(".cli.corpus", "find passages by words and by meaning"),
            "quote": Command(".cli.corpus", "say where a quotation stands, word for word"),
            "stats": Command(".cli.corpus", "what is in the corpus, and what is out of date"),
        },
        toolsets={"rag": (".mcp.rag",)},
    ),
    Plugin(
        "entrez",
        commands={
            "stage": Command(".cli.datasets", "make tables of the records of an Entrez query"),
            "datasets": Command(".cli.datasets", "the datasets there are"),
            "sql": Command(".cli.datasets", "ask a dataset one reading SQL statement"),
        },
        toolsets={"entrez": (".mcp.entrez", ".mcp.entrez_capabilities")},
    ),
    Plugin(
        "mirror",
        commands={
            "mirror": Command(
                ".cli.mirror",
                "keep all of PubMed on your own disk, without E-utilities (extra mirror)",
            )
        },
        record_source=".mirror.lookup",
        routes=".mirror.articles:local_routes",
    ),
)
"""The optional packages that come with Papershelf."""


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return our own plugins and those of installed packages."""
    return (*OWN, *(one for one in installed() if isinstance(one, Plugin)))


@cache
def installed() -> tuple[Plugin | NotConfigured, ...]:
    """Return the plugins of installed packages, or why one of them is left out."""
    if not _is_any_installed():
        return ()
    from importlib.metadata import entry_points

    return tuple(_loaded(entry) for entry in entry_points(group=GROUP))


def _is_any_installed() -> bool:
    """Say whether a package has entry points of ours: importing importlib.metadata takes 50 ms."""
    files = (
        file
        for folder in filter(None, sys.path)
        for file in Path(folder).glob("*.dist-info/entry_points.txt")
    )
    return any(GROUP.encode() in file.read_bytes() for file in files)


def _loaded(entry: EntryPoint) -> Plugin | NotConfigured:
    """Import the plugin of an installed package; one that cannot be used stops nothing else."""
    try:
        plugin = entry.load()
    except Exception as error:  # noqa: BLE001 - code of others, whatever it raises
        return _unusable(entry.name, f"{type(error).__name__}: {error}")
    if not isinstance(plugin, Plugin):
        return _unusable(entry.name, f"{entry.value} is not a Plugin")
    return plugin._replace(version=entry.dist.version if entry.dist else "")


def import_part(name: str) -> Any:
    """Import ``module`` or ``module:attribute``, as a plugin names them.

    Raises
    ------
    NotConfigured
        It cannot be imported.
    """
    module, _, attribute = name.partition(":")
    try:
        found = import_module(module, __package__)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as error:
        raise _unusable(module, str(error)) from error


def _unusable(name: str, why: str) -> NotConfigured:
    """Return the error about a plugin that cannot be used."""
    return NotConfigured(f"The plugin {name} cannot be used: {why}.", "Update it, or uninstall it.")
