"""A new source, style or toolset: one file and one line, and the house knows it.

Each is written into a copy of the package, beside nothing else, and looked at by a process of
its own; the new source's site is a service of the stand-in internet.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.processes import run
from tests.world import services
from utils.demo.jina import markdown_of
from utils.demo.wire import TEXT, text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''"""Glade: texts of papers by DOI. https://glade.test/docs"""

from ..http import Rate
from ..model.paper import Fetched
from ..model.site import Address, Key
from .source import Route, Source, one_by_one


def full_text(paper, web):
    """The text, as markdown."""
    url = f"{web.settings.address('glade')}/texts/{paper.ids.doi}"
    yield Fetched(web.get(url).body, "markdown", url, SOURCE.name, "glade", charset="utf-8")


SOURCE = Source(
    name="glade",
    about="Glade: texts of papers by DOI",
    addresses=(Address("glade", "https://api.glade.test/v1", "Glade"),),
    keys=(Key("glade_api_key", "texts of this year's papers at Glade, too"),),
    label="DOI",
    rates=(Rate("glade", ("glade",), every=0.25, in_flight=3),),
    routes=(
        Route(
            "glade", ("doi",), one_by_one(full_text), share=0.3, label="Glade, the collection"
        ),
    ),
    kept_by="machines",
)
'''
LOOK = """
import json, sys
from pathlib import Path
from docs import reference
from utils import Library
from utils.harvest import plan
from utils.search.fused_results import get_trust_sort_key
from utils.model.paper import Paper
from utils.model.identifiers import Ids
from utils.reports.labels import get_route_label
from utils.settings import Settings, load_settings
from utils.mcp import entrez_capabilities
from fastmcp import Client
import asyncio
from utils.mcp import build

doi, usual = sys.argv[1], Library(glade_api_key="SECRET123")
library = Library()
limiter = library.web.limiter
url = library.settings.address("glade") + "/texts/x"
done = library.download(doi)
places = {one.host: one.requests for one in library.harvests.plan(query="CXCL12").hosts}
checks = {one.what: (one.state, one.detail, one.advice) for one in library.doctor()}

async def told():
    async with Client(build(Library(mcp_toolsets=("entrez",)))) as client:
        got = await client.call_tool("entrez_capabilities", {})
        return [one["name"] for one in got.structured_content["keys"]]

print(json.dumps({
    "setting": Settings.model_fields["glade_base_url"].default,
    "key": usual.settings.key("glade_api_key"),
    "hidden": "SECRET123" not in repr(usual.settings),
    "ladder": Settings.model_fields["papers_sources"].default,
    "bucket": limiter.find_bucket(url),
    "every": dict((rate.bucket, seconds) for rate, seconds in limiter.list_intervals())["glade"],
    "came": [done.stored.kind, done.stored.source, done.stored.via, done.stored.version],
    "planned": places.get("glade"),
    "label": get_route_label("glade"),
    "trust": sorted(
        ["arxiv", "glade", "pubmed"], key=lambda name: get_trust_sort_key(name, Paper(Ids()))
    ),
    "doctor": [checks.get("glade"), checks.get("GLADE_API_KEY")],
    "tools": asyncio.run(told()),
    "reference": [
        reference.addresses(), reference.sources(), reference.rates()
    ],
}))
"""


def known(record):
    """What the stand-in has under a DOI."""

    def glade(call, world):
        found = world.corpus.by_doi.get(call.path.removeprefix("/texts/").lower())
        return text(markdown_of(found), TEXT) if found else text("no such text", TEXT, 404)

    return glade


@pytest.fixture
def copy(tmp_path):
    """The package, which a newcomer may change."""
    here = tmp_path / "checkout"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "utils", here / "utils", ignore=ignore)
    (here / "docs").mkdir()
    for name in ("docs/reference.py", "pyproject.toml", "server.py"):
        shutil.copy(ROOT / name, here / name)
    return here


def inserted(file, before, what):
    page = file.read_text(encoding="utf-8")
    assert page.count(before) == 1
    file.write_text(page.replace(before, what + before), encoding="utf-8")


def environment(world, tmp_path, **more):
    folders = {"PAPERS_DIR": str(tmp_path / "papers"), "PAPERS_PACE_DIR": str(tmp_path / "pace")}
    return {"PATH": "/usr/bin:/bin", **world.environment(), **folders, **more}


@pytest.fixture
def seen(copy, world, tmp_path, monkeypatch):
    """What a process of the changed package says of the new source."""
    monkeypatch.setitem(services.SERVICES, "glade", known(world))
    (copy / "utils/sources/glade.py").write_text(SOURCE, encoding="utf-8")
    inserted(copy / "utils/sources/__init__.py", '    "publisher",\n', '    "glade",\n')
    written = "from docs.reference import SITE_LIST as f, site_list as s; f.write_text(s())"
    run([sys.executable, "-c", written], cwd=copy, check=True)
    doi = world.paper("paywall").doi
    done = run(
        [sys.executable, "-c", LOOK, doi],
        cwd=copy,
        env=environment(world, tmp_path),
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_a_source_is_known_everywhere_by_one_file_and_one_line(seen):
    assert seen["setting"] == "https://api.glade.test/v1"
    assert (seen["key"], seen["hidden"]) == ("SECRET123", True)
    assert seen["ladder"].index("glade") == seen["ladder"].index("publisher") - 1
    assert (seen["bucket"], seen["every"]) == ("glade", 0.25)
    assert seen["came"] == ["full_text", "DOI", "glade", "published"]
    assert seen["planned"] > 0
    assert seen["label"] == "Glade, the collection"
    assert seen["trust"] == ["pubmed", "glade", "arxiv"]
    site, key = seen["doctor"]
    assert site[0] == "ok"
    assert key == ["warning", "not set (optional)", "texts of this year's papers at Glade, too"]
    assert "GLADE_API_KEY" in seen["tools"]
    addresses, sources, rates = seen["reference"]
    assert re.search(r"\| `GLADE_BASE_URL` \| https://api\.glade\.test/v1 \|", addresses)
    assert "| `glade` | Glade: texts of papers by DOI | – | `glade` | DOI |" in sources
    assert "| `glade` | glade | 0.25 |" in rates


def test_a_style_is_known_everywhere_by_one_file_and_one_line(copy, world, tmp_path):
    styles = copy / "utils/citations"
    shutil.copy(styles / "csl/apa.csl", styles / "csl/house-style.csl")
    line = '    "house": StyleOptions("house", "house-style", "expanded"),\n'
    inserted(styles / "styles.py", '    "vancouver": StyleOptions(', line)
    look = """
import json, sys
from utils import Library
from utils.cli import parse_command
from utils.mcp.pubmed import Style
from typing import get_args

[(_, text)] = Library().cite([sys.argv[1]], "house")
args = parse_command(["cite", sys.argv[1], "--style", "house"])
print(json.dumps([text, args.style, get_args(Style)]))
"""
    paper = world.paper("pmc_cloud")
    done = run(
        [sys.executable, "-c", look, paper.pmid],
        cwd=copy,
        env=environment(world, tmp_path),
        check=True,
    )
    cited, typed, offered = json.loads(done.stdout)
    assert paper.plain_title[:20] in cited
    assert typed == "house"
    assert "house" in offered


TOOLSET = '''"""Moss: how much there is."""

from fastmcp.tools import Tool


def tools(library):
    """The tool, working on *library*."""

    def count_moss() -> int:
        """Return how much moss there is."""
        return library.settings.papers_moss

    return [Tool.from_function(count_moss)]
'''


def test_a_toolset_and_a_setting_are_known_by_one_file_and_a_line_each(copy, world, tmp_path):
    (copy / "utils/mcp/moss.py").write_text(TOOLSET, encoding="utf-8")
    settings = copy / "utils/settings.py"
    inserted(settings, '    "objects": (".mcp.objects",),\n', '    "moss": (".mcp.moss",),\n')
    inserted(settings, "    papers_libkey: str = Field", "    papers_moss: int = Field(3)\n")
    look = """
import asyncio, json
from fastmcp import Client
from utils import Library
from utils.mcp import build

async def called():
    async with Client(build(Library(mcp_toolsets=("moss",)))) as client:
        return [tool.name for tool in await client.list_tools()], (
            await client.call_tool("count_moss", {})
        ).structured_content

print(json.dumps(asyncio.run(called())))
"""
    done = run(
        [sys.executable, "-c", look],
        cwd=copy,
        env=environment(world, tmp_path, PAPERS_MOSS="7"),
        check=True,
    )
    assert json.loads(done.stdout) == [["count_moss"], {"result": 7}]
