"""Load packages that extend Papershelf: commands, tools, settings, sources, local records.

A package describes itself in a `Plugin`. Another author's package names it as an entry point::

    [project.entry-points."papershelf.plugins"]
    glade = "papershelf_glade:PLUGIN"

A `Plugin` names modules as text, so that each is imported when it is used; the module of the
`Plugin` itself is imported at every start and must import little. Our own optional packages are in
`OWN_PLUGINS`: the core asks this module and never imports one of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import NotConfigured

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .model.site import Site

ENTRY_POINT_GROUP = "papershelf.plugins"
_EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})


class Command(NamedTuple):
    """A command of the shell.

    Parameters
    ----------
    module : str
        The module whose function `add` registers the command.
    about : str
        What the command does, in one line.
    examples : tuple of str, optional
        The arguments of the examples in the command's help, without the command's name.
    """

    module: str
    about: str
    examples: tuple[str, ...] = ()


class Setting(NamedTuple):
    """A setting: its type (``"secret"`` for a key), its default and its meaning."""

    type: Any
    default: Any
    about: str


class Plugin(NamedTuple):
    """The additions of one package; module names are absolute, or relative to this package.

    Parameters
    ----------
    name : str
    commands : dict, optional
        Commands of the shell, by the words that call them: ``glade``, or in a group
        ``corpus glade``. The groups are harvest, review, shelf, corpus, data, mirror and setup;
        another word starts a group of the plugin's own.
    toolsets : dict, optional
        Toolsets of MCP, by name: the modules whose function `tools` returns tools.
    settings : dict, optional
        Settings by name in lower case, which begins with the plugin's name.
    sources : dict, optional
        Sites by the module that holds their ``SOURCE``. Its addresses, keys and route names are
        those of the site.
    record_source : str, optional
        A module that has the functions of `.sources.source.RecordSource`.
    routes : str, optional
        ``module:function``: a function that takes the settings and returns routes to texts on this
        machine, by the name of the source before which each route is tried.
    lists : dict, optional
        Lists of papers that are not files, by the word before the colon: ``glade:NAME`` is read by
        a function, ``module:function``, that takes the settings and the name and returns entries.
    version : str, optional
        The version of the package; filled in for entry points.
    """

    name: str
    commands: Mapping[str, Command] = _EMPTY_MAPPING
    toolsets: Mapping[str, tuple[str, ...]] = _EMPTY_MAPPING
    settings: Mapping[str, Setting] = _EMPTY_MAPPING
    sources: Mapping[str, Site] = _EMPTY_MAPPING
    record_source: str = ""
    routes: str = ""
    lists: Mapping[str, str] = _EMPTY_MAPPING
    version: str = ""


OWN_PLUGINS = (
    Plugin(
        "review",
        commands={
            "review new": Command(".cli.reviews",
                "make a review's folder, with a protocol to fill in", ("moss", "moss-and-light")),
            "review update": Command(".cli.reviews",
                "run the protocol's searches; list new and retracted papers",
                ("moss", "moss --quiet")),
            "review export": Command(".cli.reviews", "write the records for a screening program",
                ("moss --for rayyan --ranked", "moss --for asreview --stage title_abstract")),
            "review import": Command(".cli.reviews", "read the decisions of screeners",
                ("moss rayyan.zip", "moss zotero.ris --as include --stage full_text")),
            "review rank": Command(".cli.reviews",
                "order what is not screened, likeliest first, and tell when to stop",
                ("moss", "moss --limit 100 --json")),
            "review snowball": Command(".cli.snowballing",
                "search citations: works that papers cite, and works that cite them",
                ("moss", "included.ris --rounds 2 --output candidates.ris")),
            "review harvest": Command(".cli.reviews", "download the papers that were not excluded",
                ("moss", "moss --with-excluded")),
            "review report": Command(".cli.reviews",
                "write the PRISMA figure, PRISMA-S and the tables",
                ("moss --open", "moss --draw png,pptx")),
            "review status": Command(".cli.reviews", "list the reviews, or show one",
                ("", "moss")),
        },
        toolsets={"review": (".mcp.review",)},
    ),
    Plugin(
        "manuscript",
        commands={
            "check": Command(".cli.checking",
                "check a manuscript: references, retractions, quotations, numbers",
                ("thesis.docx --fetch", "paper.tex --references paper.bib --output check.html")),
        },
    ),
    Plugin(
        "corpus",
        commands={
            "corpus sync": Command(".cli.corpus", "bring the records of a PubMed query up to date",
                ("glp1 'GLP-1 AND obesity'", "glp1 'GLP-1 AND obesity' --full")),
            "corpus index": Command(".cli.corpus", (
                "index new and changed papers, so that they are "
                "found"
            ),
                ("", "--all")),
            "corpus find": Command(".cli.corpus", "find passages by words and by meaning",
                ("'weight loss after one year'", "'moss light' --since 2020 --kind full_text")),
            "corpus quote": Command(".cli.corpus", "find a quotation, word for word",
                ("'a sentence somebody cites'", "'a sentence' --paper 31452104")),
            "corpus learn": Command(".cli.corpus",
                "learn synonyms and journal names from NLM's lists",
                ("desc2026.xml J_Medline.txt", "Homo_sapiens.gene_info")),
            "corpus stats": Command(".cli.corpus",
                "show what the corpus contains and what is out of date", ("", "--json")),
            "corpus checkpoint": Command(".cli.corpus",
                "show or move the date up to which a query is synced",
                ("glp1", "glp1 --set 2026-01-31")),
        },
        toolsets={"rag": (".mcp.rag",)},
    ),
    Plugin(
        "entrez",
        commands={
            "data stage": Command(".cli.datasets", "make tables of the records of an Entrez query",
                ("clinvar 'BRCA1[gene]'", "gene --ids 672,675")),
            "data datasets": Command(".cli.datasets",
                "list the datasets, or show the tables of one", ("", "clinvar_1a2b3c4d")),
            "data sql": Command(".cli.datasets", "query a dataset with one read-only SQL statement",
                ("clinvar_1a2b3c4d 'SELECT title FROM clinvar'",
                "clinvar_1a2b3c4d 'SELECT * FROM clinvar' --output found.csv")),
        },
        toolsets={"entrez": (".mcp.entrez", ".mcp.entrez_capabilities")},
    ),
    Plugin(
        "mirror",
        commands={
            "mirror plan": Command(".cli.mirror",
                "show files, GB, core-hours and disk space before anything is downloaded",
                ("", "--folder /data/mirror")),
            "mirror pubmed": Command(".cli.mirror", "make the mirror of PubMed, or update it",
                ("", "--engine dask --scheduler tcp://HOST:8786")),
            "mirror pmc": Command(".cli.mirror_pmc",
                "mirror PMC's open articles: all, or a selection, which is remembered",
                ("--where included.ris", "--license 'CC BY' --year 2020-2024 --plan")),
            "mirror index": Command(".cli.mirror",
                "index the mirror, for search --source mirror",
                ("", "--folder /data/mirror")),
            "mirror embed": Command(".cli.mirror",
                "embed the mirror's passages, to search by meaning",
                ("", "--published medcpt/")),
            "mirror citations": Command(".cli.mirror",
                "make the table of who cites whom, from NIH's and PubMed's data",
                ("", "--keep-source")),
            "mirror status": Command(".cli.mirror",
                "show the mirror's contents, age and gaps", ("", "--json")),
            "mirror verify": Command(".cli.mirror",
                "rebuild parts from their sources and compare", ("26n0001", "--sample 20")),
            "mirror use": Command(".cli.mirror", "switch to another stored generation",
                ("26n0001-1", "26n0001-1 --json")),
        },
        record_source=".mirror.lookup",
        routes=".mirror.lookup:make_local_routes",
    ),
    Plugin(
        "zotero",
        commands={
            "zotero pull": Command(".cli.zotero",
                "read a Zotero library or collection as a list of papers",
                ("--collection Moss --output moss.ris", "--database ~/Zotero/zotero.sqlite")),
            "zotero push": Command(".cli.zotero",
                "add papers to Zotero, with tags, a note, PDF and text",
                ("JOB --collection Moss --dry-run", "--undo")),
        },
        toolsets={"zotero": (".mcp.zotero",)},
        settings={
            "zotero_local_url": Setting(str, "http://localhost:23119/api",
                "the interface of the Zotero program on this computer"),
            "zotero_base_url": Setting(str, "https://api.zotero.org",
                "zotero.org's interface, used with `ZOTERO_API_KEY`"),
            "zotero_api_key": Setting("secret", None,
                "your key of zotero.org, for a Zotero that does not run on this computer"),
            "zotero_library": Setting(str, "",
                "the library: empty for your own, `groups/ID` for a group's"),
        },
        lists={"zotero": ".zotero:read_collection_as_entries"},
    ),
)  # fmt: skip
"""The optional packages that come with Papershelf."""


@cache
def list_plugins() -> tuple[Plugin, ...]:
    """Return our own plugins and the plugins of installed packages."""
    return (*OWN_PLUGINS, *(one for one in load_installed_plugins() if isinstance(one, Plugin)))


def find_list_reader(list_name: str) -> Callable[[Any], Sequence[Any]] | None:
    """Return the reader of a plugin's list, such as ``zotero:COLLECTION``; None for other words.

    The reader takes the settings, and returns entries (`.lists.pasted.ListEntry`).
    """
    prefix, colon, name = list_name.partition(":")
    for plugin in list_plugins() if colon else ():
        if prefix in plugin.lists and not os.path.exists(list_name):  # noqa: PTH110 - a word of any length
            return lambda settings: import_by_name(plugin.lists[prefix])(settings, name)
    return None


@cache
def load_installed_plugins() -> tuple[Plugin | NotConfigured, ...]:
    """Return the plugins of installed packages, or the error for each that is unusable."""
    if not _has_installed_plugins():
        return ()
    from importlib.metadata import entry_points

    return tuple(_load_plugin(entry) for entry in entry_points(group=ENTRY_POINT_GROUP))


def _has_installed_plugins() -> bool:
    """Return whether a package has a plugin; importing importlib.metadata takes 50 ms."""
    files = (
        file
        for folder in filter(None, sys.path)
        for file in Path(folder).glob("*.dist-info/entry_points.txt")
    )
    return any(ENTRY_POINT_GROUP.encode() in file.read_bytes() for file in files)


def _load_plugin(entry: EntryPoint) -> Plugin | NotConfigured:
    """Import the plugin of an installed package; return the error if it is unusable."""
    try:
        plugin = entry.load()
    except Exception as error:  # noqa: BLE001 - code of others, whatever it raises
        return _build_unusable_plugin_error(entry.name, f"{type(error).__name__}: {error}")
    if not isinstance(plugin, Plugin):
        return _build_unusable_plugin_error(entry.name, f"{entry.value} is not a Plugin")
    return plugin._replace(version=entry.dist.version if entry.dist else "")


def import_by_name(name: str) -> Any:
    """Import ``module`` or ``module:attribute``, as named by a plugin.

    Raises
    ------
    NotConfigured
        The module or attribute cannot be imported.
    """
    module, _, attribute = name.partition(":")
    try:
        found = import_module(module, __package__)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as error:
        raise _build_unusable_plugin_error(module, str(error)) from error


def _build_unusable_plugin_error(name: str, why: str) -> NotConfigured:
    """Return the error for a plugin that cannot be used."""
    return NotConfigured(f"The plugin {name} cannot be used: {why}.", "Update it, or uninstall it.")
