"""A package of somebody else's adds a source, a command, a tool and a setting.

The package is laid out as installers do it, beside a link to ours under its installed name.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.processes import run
from tests.test_new_source import environment, known
from tests.world import services
from utils import plugins
from utils.errors import NotConfigured

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "papershelf_glade/__init__.py": """
from papershelf.model.site import Address, Key, Site, SiteRoute
from papershelf.plugins import Command, Plugin, Setting

GLADE = Site(
    "glade",
    (Address("glade", "https://api.glade.test/v1", "Glade"),),
    (Key("glade_api_key", "texts of this year's papers at Glade, too"),),
    (SiteRoute("glade", "Glade, the collection"),),
)
PLUGIN = Plugin(
    "glade",
    commands={
        "glade": Command("papershelf_glade.commands", "say how deep Glade is asked"),
        "corpus glade": Command("papershelf_glade.commands", "the same in a group"),
    },
    toolsets={"glade": ("papershelf_glade.tools",)},
    settings={"glade_depth": Setting(int, 3, "how deep Glade is asked")},
    sources={"papershelf_glade.source": GLADE},
)
""",
    "papershelf_glade/source.py": '''
"""Glade: texts of papers by DOI. https://glade.test/docs"""

from papershelf.http import Rate
from papershelf.model.paper import Fetched
from papershelf.sources.source import Route, Source, one_by_one

from . import GLADE


def full_text(paper, web):
    """The text, as markdown."""
    url = f"{web.settings.address('glade')}/texts/{paper.ids.doi}"
    yield Fetched(web.get(url).body, "markdown", url, "glade", "glade", charset="utf-8")


SOURCE = Source(
    name="glade",
    about="Glade: texts of papers by DOI",
    addresses=GLADE.addresses,
    keys=GLADE.keys,
    label="DOI",
    rates=(Rate("glade", ("glade",), every=0.25, in_flight=3),),
    routes=(Route("glade", ("doi",), one_by_one(full_text), share=0.3),),
)
''',
    "papershelf_glade/commands.py": """
from papershelf.cli.commands import command


def add(commands):
    command(commands, "glade", show)
    command(commands, "corpus glade", show)


def show(args, library):
    print(library.settings.glade_depth)
    return 0
""",
    "papershelf_glade/tools.py": '''
from fastmcp.tools import Tool


def tools(library):
    def glade_depth() -> int:
        """Say how deep Glade is asked."""
        return library.settings.glade_depth

    return [Tool.from_function(glade_depth)]
''',
    "papershelf_glade-1.2.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: papershelf-glade\nVersion: 1.2\n"
    ),
    "papershelf_glade-1.2.dist-info/entry_points.txt": (
        f"[{plugins.ENTRY_POINT_GROUP}]\nglade = papershelf_glade:PLUGIN\n"
        "broken = no_such_package:PLUGIN\n"
    ),
}
LOOK = """
import asyncio, json, sys
from fastmcp import Client
from papershelf import Library
from papershelf.mcp import build
from papershelf.reports.labels import get_route_label
from papershelf.settings import Settings

doi, library = sys.argv[1], Library()
limiter, settings = library.web.limiter, library.settings
done = library.download(doi)
places = {one.host: one.requests for one in library.harvests.plan(query="CXCL12").hosts}
checks = [(one.what, one.state, one.detail) for one in library.doctor()]

async def called():
    async with Client(build(Library(mcp_toolsets=("glade",)))) as client:
        [tool] = await client.list_tools()
        got = await client.call_tool("glade_depth", {})
        return tool.name, tool.description, got.content[0].text

print(json.dumps({
    "came": [done.stored.kind, done.stored.via, get_route_label("glade")],
    "pace": dict((rate.bucket, seconds) for rate, seconds in limiter.list_intervals())["glade"],
    "bucket": limiter.find_bucket(settings.address("glade") + "/x"),
    "planned": places.get("glade"),
    "ladder": settings.papers_sources[-1],
    "setting": [settings.glade_depth, Settings.model_fields["glade_depth"].description],
    "doctor": checks,
    "tool": asyncio.run(called()),
}))
"""


@pytest.fixture
def installed(tmp_path, world, monkeypatch):
    """The environment in which both packages are installed."""
    monkeypatch.setitem(services.SERVICES, "glade", known(world))
    site = tmp_path / "site"
    for name, text in FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text.lstrip("\n"), encoding="utf-8")
    (site / "papershelf").symlink_to(ROOT / "utils", target_is_directory=True)
    return environment(world, tmp_path, PYTHONPATH=str(site), GLADE_DEPTH="7")


def test_a_package_adds_a_source_a_command_and_a_tool(installed, world):
    doi = world.paper("paywall").doi
    done = run([sys.executable, "-c", LOOK, doi], env=installed, check=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["came"] == ["full_text", "glade", "Glade, the collection"]
    assert (seen["bucket"], seen["pace"]) == ("glade", 0.25)
    assert seen["planned"] > 0
    assert seen["ladder"] == "glade"
    assert seen["setting"] == [7, "how deep Glade is asked"]
    assert seen["tool"] == ["glade_depth", "Say how deep Glade is asked.", "result: 7"]
    states = {(what, state) for what, state, _ in seen["doctor"]}
    assert {("glade", "ok"), ("GLADE_API_KEY", "warning"), ("plugin", "problem")} <= states
    told = " ".join(detail for what, _, detail in seen["doctor"] if what == "plugin")
    assert "glade 1.2 adds sources: glade; commands: glade, corpus glade; toolsets: glade" in told
    assert "broken" in told


def test_its_command_is_listed_and_runs(installed):
    shell = [sys.executable, "-m", "papershelf"]
    told = run([*shell, "--help"], env=installed, check=True).stdout
    assert "say how deep Glade is asked" in told
    for words in (["glade"], ["corpus", "glade"]):
        assert run([*shell, *words], env=installed, check=True).stdout.strip() == "7"
    told = run([*shell, "help", "corpus"], env=installed, check=True).stdout
    assert "the same in a group" in told
    assert "GLADE_DEPTH" in run([*shell, "settings"], env=installed, check=True).stdout


def test_a_part_that_cannot_be_imported_is_named():
    with pytest.raises(NotConfigured, match="no_such_package"):
        plugins.import_by_name("no_such_package.tools")


@pytest.mark.parametrize("plugin", plugins.OWN_PLUGINS, ids=lambda one: one.name)
def test_every_part_of_our_own_plugins_exists(plugin):
    for one in plugin.commands.values():
        assert callable(plugins.import_by_name(f"{one.module}:add"))
    for modules in plugin.toolsets.values():
        assert all(callable(plugins.import_by_name(f"{one}:tools")) for one in modules)
