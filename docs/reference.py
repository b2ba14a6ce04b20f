"""The reference, made from the code: TECHNICAL_REFERENCE.md, the man page, the site's pages.

``uv run --group dev python -m docs.reference`` writes TECHNICAL_REFERENCE.md, the man page and
`utils/model/site_list.py`; with ``--check`` it only compares, and fails where one of them is out of
date. ``mkdocs build`` calls `on_pre_build`, which writes the pages of ``docs/pages/reference/``.
Each table is one function, used for the one page and for the site.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.entrez.databases import EntrezDatabase
    from utils.http import Rate

ROOT = Path(__file__).resolve().parent.parent

PAGE = ROOT / "TECHNICAL_REFERENCE.md"
PAGES = ROOT / "docs" / "pages" / "reference"
MANUAL = ROOT / "docs" / "papershelf.1"
SITE_LIST = ROOT / "utils" / "model" / "site_list.py"
COMMAND = "uv run --group dev python -m docs.reference"
NONE = "–"
_OF_TESTS = " (a mirror, or the stand-in of the tests)"
_DEFAULTS = {
    "papers_dir": "`papers/` beside `server.py`; installed, in the home folder",
    "papers_pace_dir": "the user's cache folder",
}
KINDS = {
    "full_text": "both judges accepted the text, or a person did",
    "abstract": "the abstract; served while there is no full text",
    "record": "the citation of a paper without an abstract; served in the same way",
    "rejected": "not a text of the paper; never served, and the paper is asked for again",
}
FILES = {
    "10.1038_nature12345.txt": "a full text; `/` and `:` of the DOI become `_`",
    "pmid_33239918.txt": "a full text whose DOI is unknown",
    "pmid_10492251_abstract.txt": "an abstract",
    "pmid_5100029_record.txt": "a citation, because there is no abstract",
    "arxiv_2601.00001.txt": "a preprint; other versions end in `_preprint` and `_accepted`",
    "10.1038_nature12345.md": "the same text as a note, with `PAPERS_FORM=md` or `shelf convert`",
    "10.1038_nature12345.pdf": "the PDF of a text (`PAPERS_KEEP_PDF`, `shelf pdf`)",
    "10.1038_nature12345.files/": "figures, tables and supplementary files (`shelf media`)",
    "index.csv": "one row for each text, for spreadsheets; it is written, never read",
    "references.ris, references.bib": "written by `export`; `tables.csv` by `export --tables`",
    "inbox/": "put files here that you downloaded by hand",
    "reports/JOB/": "the report, worklist and lists of a harvest",
    "reviews/NAME/": "the protocol, records and reports of a review",
    "exports/": "results of SQL statements",
    "packs/JOB-PROGRAM/": "references with their PDFs for another program (`export pack`)",
    ".papershelf/catalogue.db": "the index over all texts; `shelf rebuild` makes it again",
    ".papershelf/records/": "the full record of each text, as JSON",
    ".papershelf/raw/": "what the site sent for each text, compressed",
    ".papershelf/quarantine/": "what was fetched and rejected",
    ".papershelf/renderings/": "PDFs printed from texts (`export pack --render`); can be deleted",
    ".papershelf/jobs/": "the ledger of each harvest",
    ".papershelf/fetched/": "answers of sites, kept for 30 days or up to 2 GB",
    ".papershelf/cache/": "answers to queries, kept for a day",
    ".papershelf/corpus/": "records and passages of the corpus",
    ".papershelf/datasets/": "results of Entrez queries as SQLite files",
    ".papershelf/mirror/": "PubMed and PMC in bulk, unless `PAPERS_MIRROR_DIR` names a folder",
    ".papershelf/leases/, looked_at/, pace/": "locks, fingerprints of files, rate limits",
}


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _setting_rows() -> Iterator[tuple[str, str, str]]:
    """Yield the variable, default and meaning of each setting."""
    from utils.settings import Settings

    for name, field in Settings.model_fields.items():
        aliases = [str(a) for a in getattr(field.validation_alias, "choices", ())] or [name.upper()]
        default = _DEFAULTS.get(name, field.default)
        if isinstance(default, tuple):
            default = ", ".join(default)
        if default in (True, False):
            default = str(default).lower()
        spelled = f"`{aliases[0]}`" + (f" (`{'`, `'.join(aliases[1:])}`)" if aliases[1:] else "")
        yield spelled, NONE if default in (None, "") else str(default), field.description or ""


def settings() -> str:
    """Return the table of settings, without the addresses of services."""
    rows = (row for row in _setting_rows() if not row[2].endswith(_OF_TESTS))
    return table(("variable", "default", "meaning"), rows)


def addresses() -> str:
    """Return the table of the settings that hold a service's address."""
    rows = (
        (name, default, meaning.removesuffix(_OF_TESTS))
        for name, default, meaning in _setting_rows()
        if meaning.endswith(_OF_TESTS)
    )
    return table(("variable", "default", "service"), rows)


def keys() -> str:
    """Return the table of keys: what each brings, and where to get it."""
    from utils.model.sites import KEYS

    return table(
        ("key", "what it brings", "where to get it"),
        ((f"`{key.setting.upper()}`", key.gives, key.page or NONE) for key in KEYS),
    )


def _tool_rows() -> list[tuple[str, str, str, str, int]]:
    """Return each tool with its toolset, description, parameters and tokens."""
    from fastmcp import Client

    from utils import Library
    from utils.mcp import build
    from utils.settings import TOOLSETS

    async def listed(toolset: str) -> list[tuple[str, str, str, str, int]]:
        async with Client(build(Library(mcp_toolsets=(toolset,)))) as client:
            return [
                (
                    toolset,
                    f"`{tool.name}`",
                    tool.description or "",
                    ", ".join(f"`{name}`" for name in tool.input_schema["properties"]),
                    len(json.dumps(_wire(tool), separators=(",", ":"))) // 4,
                )
                for tool in await client.list_tools()
            ]

    return [row for toolset in TOOLSETS for row in asyncio.run(listed(toolset))]


def _wire(tool: object) -> object:
    return tool.model_dump(by_alias=True, exclude_none=True)  # type: ignore[attr-defined]


def tools() -> str:
    """Return the table of tools, and the tokens of each toolset."""
    rows = _tool_rows()
    sums: dict[str, int] = {}
    for row in rows:
        sums[row[0]] = sums.get(row[0], 0) + row[4]
    listed = ", ".join(f"`{name}` {tokens:,}" for name, tokens in sums.items())
    listed = f"Tokens of the definitions: {listed}; all {len(rows)} tools {sum(sums.values()):,}."
    return f"{table(('toolset', 'tool', 'what it does', 'takes', 'tokens'), rows)}\n\n{listed}"


def hosts() -> str:
    """Return the table of the form that each MCP host is sent."""
    from utils.mcp.delivery import FORM_BY_HOST

    words = {"structured": "the structure, and the text in brief", "text": "the text"}
    return table(
        ("name of the host begins with", "it is sent"),
        ((f"`{name}`", words.get(form, "both")) for name, form in FORM_BY_HOST.items()),
    )


def sources() -> str:
    """Return the table of sources."""
    from utils.sources import SOURCES

    return table(
        ("source", "what it gives", "looks up by", "routes to full text", "`source` in results"),
        (
            (
                f"`{source.name}`",
                source.about,
                ", ".join(source.lookup.by) if source.lookup else NONE,
                ", ".join(f"`{route.via}`" for route in source.routes) or NONE,
                source.label or NONE,
            )
            for source in SOURCES
        ),
    )


def rates() -> str:
    """Return the table of rate limits."""
    from utils.sources import SOURCES

    unique = {rate.bucket: rate for source in SOURCES for rate in source.rates}
    return table(
        ("host budget", "shared by", "seconds between requests", "with a key", "in flight"),
        (
            (
                f"`{rate.bucket}`",
                ", ".join(rate.services),
                f"{rate.every:.2f}",
                f"{rate.every_with_key:.2f}" if rate.every_with_key else NONE,
                _in_flight(rate),
            )
            for rate in unique.values()
        ),
    )


def _in_flight(rate: Rate) -> str:
    with_key = rate.in_flight_with_key
    return f"{rate.in_flight}, with a key {with_key}" if with_key else str(rate.in_flight)


def verdicts() -> str:
    """Return the table of verdicts."""
    from typing import get_args

    from utils.model.paper import Verdict
    from utils.model.verdicts import MEANINGS

    kept = ("It is the whole paper, and this one", "Kept on the shelf.")
    found = {name: (meaning.said, meaning.hint) for name, meaning in MEANINGS.items()}
    rows = ((f"`{name}`", *found.get(name, kept)) for name in get_args(Verdict))
    return table(("verdict", "what came", "what to do"), rows)


def kinds() -> str:
    """Return the table of the kinds of texts."""
    from typing import get_args

    from utils.model.paper import Kind

    return table(("kind", "meaning"), ((f"`{name}`", KINDS[name]) for name in get_args(Kind)))


def files() -> str:
    """Return the table of the files on a shelf."""
    rows = ((f"`{name}`", text) for name, text in FILES.items())
    return table(("in the folder", "content"), rows)


def exit_statuses() -> str:
    """Return the table of exit statuses."""
    from utils.cli.command_list import EXIT_STATUSES

    return table(("status", "meaning"), EXIT_STATUSES.items())


def databases() -> str:
    """Return the table of Entrez databases."""
    from utils.entrez.databases import DATABASES

    def forms(one: EntrezDatabase) -> str:
        by_rettype: dict[str, list[str]] = {}
        for form in one.forms:
            by_rettype.setdefault(form.rettype or "native", []).append(form.retmode)
        return ", ".join(f"`{name}` ({'/'.join(modes)})" for name, modes in by_rettype.items())

    def row(one: EntrezDatabase) -> tuple[str, ...]:
        staged = one.staged.rettype or one.staged.retmode if one.staged else "summaries"
        return f"`{one.name}`", one.title, f"{one.uid}, such as {one.example}", forms(one), staged

    head = ("database", "title", "identifier", "EFetch gives: `rettype` (`retmode`)", "dataset of")
    return table(head, map(row, DATABASES.values()))


def deviations() -> str:
    """Return the table of deviations from the documents that the product follows."""
    from quality.conformance.ledger import deviations

    return table(
        ("document", "paragraph", "asked for", "what is done instead, or why"), deviations()
    )


def commands() -> str:
    """Return the help of every command."""
    from utils.cli.command_list import COMMANDS
    from utils.cli.commands import build_parser
    from utils.command_line import PROGRAM

    os.environ["COLUMNS"] = "84"
    helps = {name: build_parser(name).format_help().rstrip() for name in sorted(COMMANDS)}
    return "\n\n".join(
        f"## `{name}`\n\n```text\n{text.replace(PROGRAM, 'papershelf')}\n```"
        for name, text in helps.items()
    )


def parameters() -> str:
    """Return the table of parameters: one idea a row, with its name at each door."""
    from docs.parameters import list_rows

    heads = ("shell", "Python", "MCP", "why a name differs")
    return f"{ABOUT_PARAMETERS}\n\n{table(heads, list_rows())}"


def members() -> str:
    """Return library, namespaces, results and public names, for mkdocstrings to document."""
    import utils

    modules = utils._MODULE_BY_NAME
    public = [f"{modules[name]}.{name}" for name in utils.__all__ if name in modules]
    return "\n\n".join(
        f"## `{place.rpartition('.')[2]}`\n\n::: utils.{place}"
        for place in dict.fromkeys(("library.Library", *_NAMESPACES, *_RESULTS, *public))
    )


_NAMESPACES = (
    *("library.harvests.Harvests", "library.reviews.Reviews", "library.references.References"),
    *("library.texts.Texts", "library.maintenance.Upkeep", "library.services.PubMed"),
    *("library.services.ArXiv", "library.services.SemanticScholar"),
)
_RESULTS = ("harvest.jobs.Harvest", "review.review.Review", "model.tabular.TabularResult")


WHERE_SETTINGS_ARE = """Where several places have a setting, the first of these wins:

1. the environment;
2. `.env` next to `server.py`, or in the current folder for an installed package;
3. your settings file: `~/.config/papershelf/settings.env` on Linux,
   `~/Library/Application Support/papershelf/settings.env` on macOS,
   `%LOCALAPPDATA%\\papershelf\\settings.env` on Windows.

A key can be kept in a file of its own. The variable with `_FILE` at its end names that file, as in
`NCBI_API_KEY_FILE=/run/secrets/ncbi`. A blank value counts as unset."""
ABOUT_PARAMETERS = (
    "Each idea has one name. The shell writes it as `--output`, Python and MCP as `output`; "
    "`--no-widen` is `widen=False`."
)
ABOUT_DEVIATIONS = (
    "What the reference documents ask for and the product does differently, with the reason. "
    "`python -m quality.conformance` lists every requirement."
)
SECTIONS = {
    "Settings": lambda: f"{WHERE_SETTINGS_ARE}\n\n{settings()}",
    "Addresses of services": addresses,
    "Tools": tools,
    "Sources": sources,
    "Rates": rates,
    "Verdicts": verdicts,
    "Kinds of texts": kinds,
    "Files on the shelf": files,
    "Exit statuses": exit_statuses,
    "Deviations": lambda: f"{ABOUT_DEVIATIONS}\n\n{deviations()}",
}
"""The sections of TECHNICAL_REFERENCE.md."""
_SITE = {
    "commands": ("Commands", {"": commands}),
    "settings": ("Settings", {"": SECTIONS["Settings"], "Addresses of services": addresses}),
    "tools": ("MCP tools", {"": tools, "What each host is sent": hosts}),
    "sources": ("Sources and rates", {"": sources, "Rates": rates, "Keys": keys}),
    "verdicts": ("Verdicts", {"": verdicts, "Kinds of texts": kinds}),
    "files": ("Files on the shelf", {"": files}),
    "exit-statuses": ("Exit statuses", {"": exit_statuses}),
    "databases": ("Entrez databases", {"": databases}),
    "deviations": ("Deviations", {"": SECTIONS["Deviations"]}),
    "python": ("Python", {"": members}),
    "parameters": ("Parameters of the three doors", {"": parameters}),
}
_INTRODUCTION = f"""# Technical reference

The tables of Papershelf, made from the code by `{COMMAND}`; do not edit this file.
The documentation in `docs/` explains them: tutorials, how-to guides, reasons."""


def technical_reference() -> str:
    """Return the text of TECHNICAL_REFERENCE.md."""
    sections = (f"## {heading}\n\n{make()}" for heading, make in SECTIONS.items())
    return "\n\n".join((_INTRODUCTION, *sections)) + "\n"


def page_of(name: str) -> str:
    """Return one of the site's pages of reference, such as ``settings``."""
    title, parts = _SITE[name]
    sections = (
        f"## {heading}\n\n{make()}" if heading else make() for heading, make in parts.items()
    )
    return "\n\n".join((f"# {title}", *sections)) + "\n"


def on_pre_build(config: object) -> None:
    """Write the site's pages of reference before MkDocs reads them."""
    sys.path.insert(0, str(ROOT))  # MkDocs starts in no folder of ours
    PAGES.mkdir(exist_ok=True)
    for name in _SITE:
        file, text = PAGES / f"{name}.md", page_of(name)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def site_list() -> str:
    """The module that repeats what settings, reports and the shelf need of each source."""
    from utils.sources import OWN_SOURCES

    own = "\n".join(f"    {_code(source.site)}," for source in OWN_SOURCES)
    keys = [key.setting for source in OWN_SOURCES for key in source.keys]
    fields = "\n".join(f"    {key}: str | SecretStr | None" for key in keys)
    return f'''"""Facts about the sources, available before a source's module is imported.

Written by ``python -m docs.reference`` from the files in ``sources/``: change those.
"""

# ruff: noqa: E501

from typing import TypedDict

from pydantic import SecretStr

from .site import Address, Key, Site, SiteRoute


class SiteKeys(TypedDict, total=False):
    """The keys of sites, in the form of Python objects."""

{fields}


OWN = (
{own}
)
'''


def _code(fact: object) -> str:
    """Return the code of a fact, without what its fields are by default."""
    if isinstance(fact, tuple):
        return "(" + "".join(f"{_code(one)}, " for one in fact).strip() + ")"
    if not dataclasses.is_dataclass(fact):
        return repr(fact)
    given = [
        f"{field.name}={_code(getattr(fact, field.name))}"
        for field in dataclasses.fields(fact)
        if getattr(fact, field.name) != field.default
    ]
    return f"{type(fact).__name__}({', '.join(given)})"


def main() -> int:
    sites = site_list()
    if SITE_LIST.read_text(encoding="utf-8") != sites and "--check" not in sys.argv:
        SITE_LIST.write_text(sites, encoding="utf-8")
        return subprocess.call([sys.executable, "-m", __spec__.name])  # reads the new list
    from docs.manual import manual_page

    new = {SITE_LIST: sites, PAGE: technical_reference(), MANUAL: manual_page()}
    if "--check" not in sys.argv:
        for file in (PAGE, MANUAL):
            file.write_text(new[file], encoding="utf-8")
        return 0
    stale = [file for file, text in new.items() if file.read_text(encoding="utf-8") != text]
    for file in stale:
        sys.stderr.write(f"{file.name} is out of date. Type: {COMMAND}\n")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
