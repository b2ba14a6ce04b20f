"""The parameters of the three doors, one row an idea: shell option, Python and MCP parameter.

The names are read from the code. `IDEAS` lists the words that mean the same; a parameter that is
listed under no idea is an idea of its own. ``tests/test_parameters.py`` fails where an idea has two
names, unless `EXCEPTIONS` gives the reason. A name can be limited to one command, method or tool:
``shelf keep: as``.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

DOORS = ("shell", "python", "mcp")
IDEAS = {
    "max_results": "limit most top_k max_papers max_rows max_records retmax page_size",
    "min_date": "since after from_date year_from start_year",
    "max_date": "until before to_date year_to end_year",
    "output": "path output_path target out entrez_data:file",
    "sources": "source among",
    "job_id": "job harvest_id",
    "publication_types": "type types article_types",
    "prefer_pmc": "pmc_first",
    "quality_bias": "quality",
    "wait_s": "wait longest_s timeout",
    "query": "term search_term search_query look_up_mesh:text lookup_mesh:text",
    "paper": "identifier paper_id id shelf_adopt:as",
    "detail_level": "level",
    "fetch_brief_summaries": "summaries",
    "relationship_type": "relationship review_related:kind related:kind",
    "program": "for",
    "decided": "shelf_keep:as",
    "form": "to",
    "everything": "all",
    "zipped": "zip zipped",
    "with_excluded": "excluded_too",
    "lookup": "asks_sources",
    "again": "anew",
    "keep": "drop_sources keep_source",
    "max_bytes": "max_mb most_bytes",
    "per_round": "snowball:most",
    "draw": "drawings",
    "directions": "backward forward",
    "kinds": "figures supplements media shelf_media:tables",
    "filled": "mirror_pubmed:from mirror_pmc:from",
    "last_edat": "corpus_checkpoint:set",
    "review": "review_name reviews.create:name reviews.open:name",
    "only": "paper_objects:which",
    "budget": "budget_tokens max_tokens",
    "host": "hosts",
    "sort_by": "sort order_by",
    "references": "check:lists",
    "to_database": "database_to",
}
"""The name of each idea, with the other words for the same."""
_SEED = "The reference document of the MCP tool requires it."
_KEYWORD = "The word of the option is a keyword of Python."
EXCEPTIONS = {
    "limit": "The shell has one short option for every number of results.",
    "top_k": _SEED,
    "max_papers": "It counts all papers of a harvest, not the rows of one page.",
    "most": "It counts source files that one run of a mirror reads.",
    "since": "The shell has one option for years, months and days.",
    "until": "As for --since.",
    "start_year": "The index of a mirror knows years, not days.",
    "end_year": "As for start_year.",
    "output_path": _SEED,
    "file": "The file lies in the folder exports/ of the shelf; a path is refused.",
    "job": "A person types it; the tools' documents require job_id.",
    "type": "A person types it; the tools' documents require publication_types.",
    "pmc_first": "The option switches the preference off: --no-pmc-first.",
    "wait": "The help states the unit, as for every option.",
    "term": _SEED,
    "as": _KEYWORD,
    "for": _KEYWORD,
    "from": _KEYWORD,
    "to": "The option reads as a sentence: shelf convert --to md.",
    "all": "The word of the option is a function of Python.",
    "zip": "The word of the option is a function of Python.",
    "kind": "A person types it; the tools' documents require relationship_type.",
    "summaries": "A keyword is written by people; the tool's document requires the long name.",
    "drop_sources": "The option switches off what is usual; the parameter is True.",
    "keep_source": "The option switches on what is unusual.",
    "max_mb": "A person types megabytes; a program counts bytes.",
    "backward": "A flag for each direction.",
    "forward": "A flag for each direction.",
    "figures": "A flag for each kind.",
    "tables": "A flag for each kind.",
    "supplements": "A flag for each kind.",
    "media": "It includes the objects of every paper of a harvest.",
    "set": "The option reads as a sentence: corpus checkpoint KEY --set DAY.",
    "name": "A method of reviews needs no longer name; a tool has other names, too.",
    "which": "A tool shows one object; the option downloads only some.",
    "budget_tokens": "A model counts tokens; a program counts characters.",
    "hosts": "Without a value it lists all hosts.",
}
"""Why an idea may have this other name, by the name."""
_COMMON = ("help", "json", "quiet", "verbose", "papers_dir")


class Parameter(NamedTuple):
    """A parameter of one door, as it is written, with its command, method or tool."""

    door: str
    owner: str
    name: str

    @property
    def word(self) -> str:
        """The name in the form that all doors share: ``--no-pmc-first`` is ``pmc_first``."""
        return self.name.removeprefix("--").removeprefix("no-").replace("-", "_")


def list_parameters() -> list[Parameter]:
    """Return all parameters of the three doors."""
    return [*_list_options(), *_list_keywords(), *_list_tool_parameters()]


def _list_options() -> Iterator[Parameter]:
    """Yield the options of all commands; the words without a name are left out."""
    from utils.cli.command_list import COMMANDS
    from utils.cli.commands import build_parser

    for command in COMMANDS:
        for action in build_parser(command)._actions:
            if action.option_strings and action.help != argparse.SUPPRESS:
                name = max(action.option_strings, key=len)
                yield Parameter("shell", command.replace(" ", "_"), name)


def _list_keywords() -> Iterator[Parameter]:
    """Yield the parameters of the public methods of a library, its namespaces and results."""
    from utils import Library
    from utils.corpus import Corpus
    from utils.entrez import Entrez
    from utils.entrez.compounds import PubChem
    from utils.entrez.datasets import Datasets
    from utils.harvest.jobs import Harvest
    from utils.library.namespace import Namespace
    from utils.mirror import Mirror
    from utils.review import Review
    from utils.shelf.listing import ListingOptions
    from utils.sources import QueryOptions

    results = (Corpus, Mirror, Entrez, Datasets, PubChem, Harvest, Review)
    for owner in (Library, *Namespace.__subclasses__(), *results):
        for name, method in vars(owner).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                place = f"{owner.__name__.lower()}.{name}"  # type: ignore[attr-defined]
                for one in list(inspect.signature(method).parameters.values())[1:]:
                    if one.kind is not one.VAR_KEYWORD:
                        yield Parameter("python", place, one.name)
    for options in (QueryOptions, ListingOptions):
        yield from (Parameter("python", "library", name) for name in options.__annotations__)


def _list_tool_parameters() -> Iterator[Parameter]:
    """Yield the parameters of all MCP tools."""
    from fastmcp import Client

    from utils import Library
    from utils.mcp import build

    async def fetch() -> list[Parameter]:
        async with Client(build(Library(mcp_toolsets=("all",)))) as client:
            return [
                Parameter("mcp", tool.name, name)
                for tool in await client.list_tools()
                for name in tool.input_schema["properties"]
            ]

    yield from asyncio.run(fetch())


def find_idea(parameter: Parameter) -> str:
    """Return the name of the idea that a parameter stands for; its own word, where none does."""
    word = parameter.word
    method = parameter.owner.rpartition(".")[2]
    places = {f"{parameter.owner}:{word}", f"{method}:{word}"}
    for idea, others in IDEAS.items():
        words = set(others.split())
        if words & places or (word in words and not _is_limited(places)):
            return idea
    return word


def _is_limited(places: set[str]) -> bool:
    """Return whether a parameter of one of these places is listed under an idea of its own."""
    return any(places & set(others.split()) for others in IDEAS.values())


def group_by_idea() -> dict[str, dict[str, set[Parameter]]]:
    """Return the parameters of each door, by idea."""
    rows: dict[str, dict[str, set[Parameter]]] = defaultdict(lambda: defaultdict(set))
    for parameter in list_parameters():
        if parameter.word not in _COMMON:
            rows[find_idea(parameter)][parameter.door].add(parameter)
    return dict(sorted(rows.items()))


def find_second_names(rows: dict[str, dict[str, set[Parameter]]]) -> dict[str, set[str]]:
    """Return the ideas that have other names than their own, without an exception."""
    wrong: dict[str, set[str]] = {}
    for idea, doors in rows.items():
        words = {parameter.word for found in doors.values() for parameter in found}
        own = {idea, f"{idea}s", idea.removesuffix("s"), f"{idea.removesuffix('y')}ies"}
        if second := words - own - EXCEPTIONS.keys():
            wrong[idea] = second
    return wrong


def list_rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each idea: its names in the shell, in Python and over MCP, and the reason."""
    for idea, doors in group_by_idea().items():
        names = [sorted({one.name for one in doors.get(door, ())}) for door in DOORS]
        words = {one.word for found in doors.values() for one in found} - {idea}
        reasons = dict.fromkeys(EXCEPTIONS[word] for word in sorted(words & EXCEPTIONS.keys()))
        yield *(", ".join(f"`{name}`" for name in some) or "–" for some in names), " ".join(reasons)
