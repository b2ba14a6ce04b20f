"""The desktop bundle: whole, the same every time, and it asks the user for what we read."""

import asyncio
import importlib.util
import json
import os
import re
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from utils import Library
from utils.mcp.tool import list_enabled_tools
from utils.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parent.parent
LOCK = b"anyio==4.16.0 --hash=sha256:00\n"
CERTIFICATES = os.environ.get("SSL_CERT_FILE")  # what uv trusts; a setting of ours, too
RELEASE = "https://github.com/someone/papershelf/releases/download/v1/papershelf.mcpb"


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location(
        "build_bundle", ROOT / "packaging" / "build_bundle.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bundle(builder, tmp_path_factory):
    return builder.bundle(tmp_path_factory.mktemp("dist"), LOCK)


def about(bundle):
    with zipfile.ZipFile(bundle) as archive:
        return json.loads(archive.read("manifest.json"))


def secret(variable):
    return "SecretStr" in str(Settings.model_fields[variable.lower()].annotation)


def test_every_question_becomes_a_setting_of_ours(bundle):
    manifest = about(bundle)
    asked = manifest["user_config"]
    env = manifest["server"]["mcp_config"]["env"]
    fields = {name: re.fullmatch(r"\$\{user_config\.(\w+)\}", v)[1] for name, v in env.items()}
    assert set(fields.values()) == set(asked)
    for variable, field in fields.items():
        assert variable.lower() in Settings.model_fields
        assert asked[field].get("sensitive", False) == secret(variable)
        assert asked[field].get("required", False) == (variable == "PUBMED_EMAIL")


def test_what_a_host_leaves_unfilled_is_unset(bundle, monkeypatch):
    manifest = about(bundle)
    monkeypatch.delenv("PAPERS_DIR")
    usual = load_settings()
    for name, value in manifest["server"]["mcp_config"]["env"].items():
        monkeypatch.setenv(name, value)
    assert load_settings() == usual
    monkeypatch.setenv("PAPERS_DIR", manifest["user_config"]["papers_dir"]["default"])
    assert load_settings() == usual


def test_it_names_its_version_and_tools(bundle):
    manifest = about(bundle)
    assert manifest["version"] in bundle.name
    assert {"search_pubmed", "download_paper"} <= {tool["name"] for tool in manifest["tools"]}
    assert all(tool["description"] for tool in manifest["tools"])


@pytest.mark.parametrize("chosen", ["", "core", "all", "nonsense"])
def test_its_list_of_tools_is_not_the_builders_choice(builder, bundle, monkeypatch, chosen):
    monkeypatch.setenv("MCP_TOOLSETS", chosen)
    monkeypatch.setenv("PAPERS_SOURCES", "nonsense")
    assert builder.manifest() == about(bundle)
    names = {tool["name"] for tool in about(bundle)["tools"]}
    default = about(bundle)["user_config"]["toolsets"]["default"]
    offered = list_enabled_tools(
        Library(mcp_toolsets=tuple(default.split(",")), papers_sources=("pmc",))
    )
    assert names == {tool.name for tool in offered}


def test_the_user_chooses_the_toolsets(bundle, monkeypatch):
    manifest = about(bundle)
    asked = manifest["user_config"]["toolsets"]
    assert manifest["server"]["mcp_config"]["env"]["MCP_TOOLSETS"] == "${user_config.toolsets}"
    monkeypatch.setenv("MCP_TOOLSETS", asked["default"])
    assert load_settings().mcp_toolsets == Settings.model_fields["mcp_toolsets"].default
    for choice in ("core,pubmed", "all"):
        assert choice in asked["description"]
        monkeypatch.setenv("MCP_TOOLSETS", choice)
        assert load_settings().mcp_toolsets == tuple(choice.split(","))


def test_the_same_files_make_the_same_bundle(builder, bundle, tmp_path):
    assert builder.bundle(tmp_path / "again", LOCK).read_bytes() == bundle.read_bytes()


def test_it_starts_from_the_lock_that_is_in_it(bundle):
    args = about(bundle)["server"]["mcp_config"]["args"]
    lock = args[args.index("--with-requirements") + 1].removeprefix("${__dirname}/")
    with zipfile.ZipFile(bundle) as archive:
        assert archive.read(lock) == LOCK


@pytest.mark.slow
def test_the_lock_pins_and_hashes_what_is_required_and_names_no_address(builder, monkeypatch):
    if CERTIFICATES:
        monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATES)
    try:
        lock = builder.export_lock().decode()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no uv, or no package index: {error}")
    pinned = re.findall(r"^([\w.-]+)(?:\[[^]]+\])?==", lock, re.M)
    assert len(pinned) > 50
    assert {"fastmcp", "requests", "biopython", "markdownify"} <= set(pinned)
    assert lock.count("--hash=sha256:") >= len(pinned)
    assert "://" not in lock


def test_nothing_of_ours_that_is_private_is_in_it(bundle):
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith((".", "papers", "tests", "/"))]
    assert not [name for name in names if ".env" in name or ".." in name or "__pycache__" in name]


def fill_in(text, folder, home):
    """Return a value of the manifest as a host fills it in; the host leaves unknown names."""
    answers = {
        "__dirname": folder,
        "user_config.pubmed_email": "tester@lab.edu",
        "user_config.papers_dir": home / "papers",
        "user_config.toolsets": "core",
    }
    return re.sub(r"\$\{([\w.]+)\}", lambda found: str(answers.get(found[1], found[0])), text)


@pytest.mark.slow
def test_a_host_starts_its_command_and_calls_a_tool(builder, tmp_path, monkeypatch):
    """Unpacked elsewhere, started by the manifest's own command, called by a real client."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    home, folder = tmp_path / "home", tmp_path / "extension"
    home.mkdir()
    certificates = {"SSL_CERT_FILE": CERTIFICATES} if CERTIFICATES else {}
    for name, value in certificates.items():
        monkeypatch.setenv(name, value)
    try:
        lock = builder.export_lock()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no uv, or no package index: {error}")
    with zipfile.ZipFile(builder.bundle(tmp_path, lock)) as archive:
        archive.extractall(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    started = manifest["server"]["mcp_config"]
    env = {name: fill_in(value, folder, home) for name, value in started["env"].items()}
    env |= {"HOME": str(home), "PATH": os.environ["PATH"], **certificates}
    arguments = [fill_in(word, folder, home) for word in started["args"]]

    async def call():
        async with Client(StdioTransport(started["command"], arguments, env=env)) as client:
            tools = {tool.name for tool in await client.list_tools()}
            return tools, await client.call_tool("list_papers", {})

    tools, answer = asyncio.run(call())
    assert tools == {tool["name"] for tool in manifest["tools"]}
    assert (answer.is_error, answer.structured_content["total"]) == (False, 0)


def test_it_has_an_icon_of_the_size_that_hosts_ask_for(bundle):
    with zipfile.ZipFile(bundle) as archive:
        image = archive.read(about(bundle)["icon"])
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", image[16:24]) == (512, 512)


def test_the_registry_entry_says_where_the_bundle_is_and_what_it_is(builder, bundle):
    entry = builder.registry_entry(bundle, RELEASE)
    (package,) = entry["packages"]
    # Limits of server.schema.json 2025-12-11.
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert re.fullmatch(r"[a-f0-9]{64}", package["fileSha256"])
    assert package["transport"] == {"type": "stdio"}
    required = {v["name"] for v in package["environmentVariables"] if v["isRequired"]}
    assert required == {"PUBMED_EMAIL"}
    for variable in package["environmentVariables"]:
        assert variable["isSecret"] == secret(variable["name"])


@pytest.mark.parametrize("release", ["https://evil.example/papershelf.mcpb", "dist/x.mcpb"])
def test_the_registry_takes_releases_only(builder, bundle, release):
    with pytest.raises(SystemExit):
        builder.registry_entry(bundle, release)
