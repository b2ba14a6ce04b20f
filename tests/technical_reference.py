"""The tables of TECHNICAL_REFERENCE.md and `utils/model/site_list.py`, made from the code.

``uv run --group dev python -m tests.technical_reference`` writes them; with ``--check`` it only
compares, and fails where the page is out of date.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.entrez.databases import Database
    from utils.http import Rate

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "TECHNICAL_REFERENCE.md"
SITE_LIST = ROOT / "utils" / "model" / "site_list.py"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def settings() -> str:
    from utils.settings import Settings

    rows = []
    for name, field in Settings.model_fields.items():
        aliases = [str(a) for a in getattr(field.validation_alias, "choices", ())] or [name.upper()]
        default = field.default
        if name == "papers_dir":
            default = "`papers/` beside `server.py`"
        elif name == "papers_pace_dir":
            default = "the user's cache folder"
        elif isinstance(default, tuple):
            default = ",".join(default)
        shown = (
            "–"
            if default in (None, "")
            else str(default).lower()
            if default in (True, False)
            else default
        )
        spelled = f"`{aliases[0]}`" + (f" (`{'`, `'.join(aliases[1:])}`)" if aliases[1:] else "")
        rows.append((spelled, shown, field.description))
    return _table(("variable", "default", "meaning"), rows)


def tools() -> str:
    from fastmcp import Client

    from utils import Library
    from utils.mcp import build
    from utils.settings import TOOLSETS

    async def listed(toolset: str) -> list[tuple[str, ...]]:
        async with Client(build(Library(mcp_toolsets=(toolset,)))) as client:
            rows = []
            for tool in await client.list_tools():
                cost = len(json.dumps(_wire(tool), separators=(",", ":"))) // 4
                takes = ", ".join(f"`{name}`" for name in tool.input_schema["properties"])
                rows.append((toolset, f"`{tool.name}`", tool.description, takes, str(cost)))
            return rows

    rows = [row for toolset in TOOLSETS for row in asyncio.run(listed(toolset))]
    sums = {name: sum(int(row[-1]) for row in rows if row[0] == name) for name in TOOLSETS}
    told = ", ".join(f"`{name}` {tokens:,}" for name, tokens in sums.items())
    told = f"Together: {told}; all {len(rows)} tools {sum(sums.values()):,}."
    return _table(("toolset", "tool", "what it does", "takes", "tokens"), rows) + f"\n\n{told}"


def _wire(tool: object) -> object:
    return tool.model_dump(by_alias=True, exclude_none=True)  # type: ignore[attr-defined]


def sources() -> str:
    from utils.sources import SOURCES

    return _table(
        ("source", "what it gives", "looks up by", "routes to full text", "`source` in results"),
        (
            (
                f"`{source.name}`",
                source.about,
                ", ".join(source.lookup.by) if source.lookup else "–",
                ", ".join(f"`{route.via}`" for route in source.routes) or "–",
                source.label or "–",
            )
            for source in SOURCES
        ),
    )


def rates() -> str:
    from utils.sources import SOURCES

    unique = {rate.bucket: rate for source in SOURCES for rate in source.rates}
    return _table(
        ("host budget", "shared by", "seconds between requests", "with a key", "in flight"),
        (
            (
                f"`{rate.bucket}`",
                ", ".join(rate.services),
                f"{rate.every:.2f}",
                f"{rate.every_with_key:.2f}" if rate.every_with_key else "–",
                _in_flight(rate),
            )
            for rate in unique.values()
        ),
    )


def _in_flight(rate: Rate) -> str:
    with_key = rate.in_flight_with_key
    return f"{rate.in_flight}, with a key {with_key}" if with_key else str(rate.in_flight)


def verdicts() -> str:
    from typing import get_args

    from utils.model.paper import Verdict
    from utils.model.verdicts import MEANINGS

    kept = ("It is the whole paper, and this one", "Kept on the shelf.")
    found = {name: (meaning.said, meaning.hint) for name, meaning in MEANINGS.items()}
    rows = ((f"`{name}`", *found.get(name, kept)) for name in get_args(Verdict))
    return _table(("verdict", "what came", "what to do"), rows)


def databases() -> str:
    from utils.entrez.databases import DATABASES

    def forms(one: Database) -> str:
        by_rettype: dict[str, list[str]] = {}
        for form in one.forms:
            by_rettype.setdefault(form.rettype or "native", []).append(form.retmode)
        return ", ".join(f"`{name}` ({'/'.join(modes)})" for name, modes in by_rettype.items())

    def row(one: Database) -> tuple[str, ...]:
        staged = one.staged.rettype or one.staged.retmode if one.staged else "summaries"
        return f"`{one.name}`", one.title, f"{one.uid}, such as {one.example}", forms(one), staged

    head = ("database", "title", "identifier", "EFetch gives: `rettype` (`retmode`)", "dataset of")
    return _table(head, map(row, DATABASES.values()))


def deviations() -> str:
    from quality.conformance.ledger import deviations

    return _table(
        ("document", "paragraph", "asked for", "what is done instead, or why"), deviations()
    )


TABLES = {
    "settings": settings, "tools": tools, "sources": sources, "rates": rates, "verdicts": verdicts,
    "databases": databases, "deviations": deviations,
}  # fmt: skip


def site_list() -> str:
    """The module that repeats what settings, reports and the shelf need of each source."""
    from utils.sources import OWN_SOURCES

    own = "\n".join(f"    {_code(source.site)}," for source in OWN_SOURCES)
    keys = [key.setting for source in OWN_SOURCES for key in source.keys]
    fields = "\n".join(f"    {key}: str | SecretStr | None" for key in keys)
    return f'''"""The facts of the sources that are needed before a source is imported.

Written by ``python -m tests.technical_reference`` from the files in ``sources/``: change those.
"""

# ruff: noqa: E501

from typing import TypedDict

from pydantic import SecretStr

from .site import Address, Key, Site, SiteRoute


class SiteKeys(TypedDict, total=False):
    """The keys of sites, as Python gives them."""

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


def generated(page: str) -> str:
    """The page with every table made anew between its markers."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name}: generated -->", f"<!-- /{name} -->"
        if begin not in page:
            msg = f"{PAGE.name} has no place for the table {name!r}."
            raise SystemExit(msg)
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{table()}\n{end}{after}"
    return page


def main() -> int:
    sites = site_list()
    if SITE_LIST.read_text(encoding="utf-8") != sites and "--check" not in sys.argv:
        SITE_LIST.write_text(sites, encoding="utf-8")
        return subprocess.call([sys.executable, "-m", __spec__.name])  # reads the new list
    page = PAGE.read_text(encoding="utf-8")
    new = {SITE_LIST: sites, PAGE: generated(page)}
    stale = [file for file, text in new.items() if file.read_text(encoding="utf-8") != text]
    if "--check" not in sys.argv:
        PAGE.write_text(new[PAGE], encoding="utf-8")
        return 0
    for file in stale:
        command = "uv run --group dev python -m tests.technical_reference"
        sys.stderr.write(f"{file.name} is out of date. Type: {command}\n")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
