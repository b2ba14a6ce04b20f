"""What `doctor` says to paste starts the same server everywhere, on the same shelf."""

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests.processes import run
from utils import Library
from utils.curation.mcp_hosts import (
    build_environment,
    build_host_settings,
    build_server_command,
    build_server_entry,
    describe_missing_keys,
)
from utils.settings import Settings, get_uv_path, load_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EMAIL = "o'neil@lab.edu"
WINDOWS = ["C:\\Program Files\\Python\\python.exe", "D:\\my papers\\papershelf\\server.py"]
ODD = [
    "/opt/my tools/uv", "run", "--directory", '/home/o\'neil/"shelf" \x7f é 😀 $HOME\\x',
    "server.py",
]  # fmt: skip
PLAIN = ["/opt/uv", "run", "--directory", "/opt/papershelf", "server.py"]
# What the SDK's hosts hand to every server (mcp/client/stdio.py, DEFAULT_INHERITED_ENV_VARS), but
# PATH, which a desktop has another of.
HANDED_OVER = ("HOME", "LOGNAME", "SHELL", "TERM", "USER", "SYSTEMROOT")


def servers(settings, command, windows=False):
    """What each host starts: the command and its environment, read back as the host reads it."""
    said = build_host_settings(settings, command, windows=windows)
    by_host = {name.split(" (")[0]: text for name, text in said.items()}
    for host in ("Claude Desktop", "Cursor", "Gemini CLI", "Windsurf"):
        yield host, json.loads(by_host.pop(host))["mcpServers"]["papershelf"]
    vs_code = json.loads(by_host.pop("VS Code"))["servers"]["papershelf"]
    assert vs_code.pop("type") == "stdio"
    yield "VS Code", vs_code
    yield "Codex", tomllib.loads(by_host.pop("Codex"))["mcp_servers"]["papershelf"]
    opencode = json.loads(by_host.pop("opencode"))["mcp"]["papershelf"]
    assert opencode["type"] == "local"
    first, *rest = opencode["command"]
    yield "opencode", {"command": first, "args": rest, "env": opencode["environment"]}
    yield "Zed", json.loads(by_host.pop("Zed"))["context_servers"]["papershelf"]
    yield "Claude Code", by_claude_code(by_host.pop("Claude Code"), windows)
    assert not by_host


def by_claude_code(line, windows):
    words = windows_words(line) if windows else shlex.split(line)
    head, command = words[: words.index("--")], words[words.index("--") + 1 :]
    assert head[:6] == ["claude", "mcp", "add", "papershelf", "--scope", "user"]
    env = dict(word.split("=", 1) for word in head[7::2])
    assert head[6::2] == ["--env"] * len(env)
    return {"command": command[0], "args": command[1:], "env": env}


def windows_words(line):
    """The words of a line without escaped quotes, as Windows splits it."""
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', line)]


@pytest.mark.parametrize("command", [PLAIN, ODD, WINDOWS])
def test_every_host_starts_that_very_command(command):
    settings = load_settings(pubmed_email=EMAIL, papers_dir=command[-1] + " papers")
    for host, server in servers(settings, command):
        assert [server["command"], *server["args"]] == command, host
        assert server["env"]["PUBMED_EMAIL"] == EMAIL, host
        assert server["env"]["PAPERS_DIR"] == str(settings.papers_dir), host


def test_a_line_for_the_shell_of_windows_is_quoted_its_way():
    settings = load_settings(pubmed_email=EMAIL, papers_dir="/pa pers")
    server = dict(servers(settings, WINDOWS, windows=True))["Claude Code"]
    assert [server["command"], *server["args"]] == WINDOWS
    assert server["env"]["PAPERS_DIR"] == "/pa pers"


OTHER = {
    "pubmed_email": EMAIL, "papers_dir": "/shelf", "papers_sources": ("pmc", "arxiv"),
    "papers_shared": True, "papers_retry_abstract_days": 7.5, "papers_ca_bundle": "/ca.pem",
    "https_proxy": "http://proxy.lab:3128", "mcp_toolsets": ("core", "review"),
    "hub_base_url": "http://mirror.lab", "ncbi_request_delay_ms": 500,
}  # fmt: skip


def test_every_setting_in_force_is_handed_over_and_read_back(monkeypatch):
    settings = load_settings(**OTHER)
    env = build_environment(settings)
    assert env["HF_ENDPOINT"] == "http://mirror.lab"
    for name in list(os.environ):
        if name.lower() in Settings.model_fields:
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings


def test_what_is_as_ever_is_not_said(monkeypatch):
    for name in list(os.environ):
        if name.lower() in Settings.model_fields:
            monkeypatch.delenv(name)
    assert set(build_environment(load_settings(pubmed_email=EMAIL))) == {"PUBMED_EMAIL"}


def test_what_the_file_says_is_left_to_the_file(monkeypatch, tmp_path):
    """Else it would hold for the assistant when the file has long said something else."""
    (tmp_path / ".env").write_text(
        "PAPERS_DIR=/of/the/file\nPUBMED_EMAIL=me@lab.edu\n", encoding="utf-8"
    )
    monkeypatch.setattr("utils.settings.ENV_FILE", tmp_path / ".env")
    told = {"PAPERS_DIR", "PUBMED_EMAIL"}
    same = load_settings(papers_dir="/of/the/file", pubmed_email="me@lab.edu")
    assert not told & set(build_environment(same))
    other = build_environment(load_settings(papers_dir="/of/the/shell", pubmed_email="me@lab.edu"))
    assert other["PAPERS_DIR"] == "/of/the/shell"
    assert "PUBMED_EMAIL" not in other


def test_a_path_from_here_is_found_from_anywhere(monkeypatch, tmp_path):
    (tmp_path / "ca.pem").touch()
    monkeypatch.chdir(tmp_path)
    assert build_environment(load_settings(ssl_cert_file="ca.pem"))["SSL_CERT_FILE"] == str(
        tmp_path / "ca.pem"
    )


def test_keys_are_named_with_where_they_go_and_never_shown():
    secret = {
        name: "http://me:S3CRET@h:1" if name.endswith("_proxy") else "S3CRET"
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }
    settings = load_settings(**secret, weaviate_url="http://me:S3CRET@lab.edu")
    said = [*build_host_settings(settings, PLAIN).values(), describe_missing_keys(settings, ROOT)]
    assert not any("S3CRET" in text for text in said)
    for name in ("NCBI_API_KEY", "HTTPS_PROXY", "DATABASE_URL", "WEAVIATE_URL"):
        assert name in said[-1]
    assert str(ROOT / ".env") in said[-1]
    assert "MCP_AUTH_SECRET_KEY" not in said[-1]


def test_a_shelf_served_over_http_is_served_to_hosts_over_stdio():
    settings = load_settings(pubmed_email=EMAIL, mcp_transport_type="http", mcp_http_port=1)
    for host, server in servers(settings, PLAIN):
        assert server["args"][-2:] == ["--transport", "stdio"], host
        assert not [name for name in server["env"] if name.startswith("MCP_")], host


def test_without_an_address_its_place_is_shown_in_what_is_pasted_but_never_written():
    without = load_settings(pubmed_email="")
    for _, server in servers(without, PLAIN):
        assert server["env"]["PUBMED_EMAIL"] == "YOUR ADDRESS"
    assert "PUBMED_EMAIL" not in build_server_entry(without, PLAIN)["env"]


# -- really started ---------------------------------------------------------------------------


def doctor(arguments, told):
    """What `doctor` says to paste into Claude Desktop, in a shell that is *told* this."""
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env |= {name.upper(): str(value) for name, value in told.items()}
    done = run([*arguments, "doctor", "--hosts"], env=env | {"NCBI_API_KEY": "S3CRET"}, cwd=ROOT)
    assert "S3CRET" not in done.stdout
    text = done.stdout.partition("claude_desktop_config.json")[2].partition("\n")[2]
    printed, _ = json.JSONDecoder().raw_decode(text)
    return printed["mcpServers"]["papershelf"]


async def shelf_of(server, folder):
    """The first titles on the shelf of a server that a host starts from *folder*."""
    env = {name: os.environ[name] for name in HANDED_OVER if name in os.environ}
    transport = StdioTransport(
        server["command"], server["args"], env=env | server["env"], cwd=str(folder)
    )
    async with Client(transport) as client:
        return (await client.call_tool("list_papers", {})).structured_content


@pytest.fixture
def told(settings, tmp_path):
    return settings | {"papers_dir": tmp_path / "a \"shelf\" of o'neil's"}


@pytest.mark.anyio
async def test_what_is_printed_starts_on_the_same_shelf(world, told, tmp_path):
    library = Library(**told)
    library.download(world.paper("pmc_cloud").pmid)
    server = doctor([sys.executable, "server.py"], told)
    assert Path(server["command"]).is_absolute()
    listed = await shelf_of(server, tmp_path)
    assert world.paper("pmc_cloud").pmid in json.dumps(listed)


@pytest.mark.anyio
@pytest.mark.skipif(
    not get_uv_path() or Path(sys.prefix) != ROOT / ".venv",
    reason="not started by uv in its own .venv",
)
async def test_who_uses_uv_is_told_where_it_is(world, told, tmp_path):
    library = Library(**told)
    library.download(world.paper("pmc_cloud").pmid)
    server = doctor([get_uv_path(), "run", "--no-sync", "server.py"], told)
    assert server["command"] == get_uv_path()
    assert server["args"] == ["run", "--directory", str(ROOT), "server.py"]
    # The checkout that is tested here is not to be changed.
    listed = await shelf_of(server | {"env": {**server["env"], "UV_NO_SYNC": "1"}}, tmp_path)
    assert world.paper("pmc_cloud").pmid in json.dumps(listed)


def test_an_installed_package_is_started_by_its_python(tmp_path):
    assert build_server_command(tmp_path) == [sys.executable, "-m", "papershelf"]
