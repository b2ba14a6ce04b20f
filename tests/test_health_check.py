"""The doctor says what a report of a fault begins with, and what to paste where."""

import json
import shlex
import sqlite3
import tomllib
from pathlib import Path

import pytest

from utils.health_check import client_snippets
from utils.settings import load_settings, version

ROOT = Path(__file__).resolve().parent.parent
EMAIL = "o'neil@lab.edu"


@pytest.fixture
def snippets():
    settings = load_settings(pubmed_email=EMAIL, ncbi_api_key="SECRET123")
    return {name.split(" (")[0]: text for name, text in client_snippets(settings, ROOT).items()}


def test_the_system_comes_first(library):
    checks = {check.what: check for check in library.doctor()}
    assert next(iter(checks)) == "system"
    assert version() in checks["system"].detail
    assert "cores" in checks["system"].detail
    assert sqlite3.sqlite_version in checks["database"].detail
    assert "free" in checks["folder"].detail


@pytest.mark.parametrize("host", ["Claude Desktop", "Cursor", "Gemini CLI"])
def test_json_hosts_start_the_server_with_the_address(snippets, host):
    server = json.loads(snippets[host])["mcpServers"]["papershelf"]
    assert server["command"] == "uv"
    assert server["args"][-1] == "server.py"
    assert server["env"] == {"PUBMED_EMAIL": EMAIL}


def test_vs_code_has_its_own_form(snippets):
    server = json.loads(snippets["VS Code"])["servers"]["papershelf"]
    assert server["type"] == "stdio"
    assert server["env"] == {"PUBMED_EMAIL": EMAIL}


def test_codex_reads_toml(snippets):
    server = tomllib.loads(snippets["Codex"])["mcp_servers"]["papershelf"]
    assert [server["command"], *server["args"]][-1] == "server.py"
    assert server["env"] == {"PUBMED_EMAIL": EMAIL}


def test_claude_code_takes_one_line(snippets):
    words = shlex.split(snippets["Claude Code"])
    assert words[:4] == ["claude", "mcp", "add", "papershelf"]
    assert f"PUBMED_EMAIL={EMAIL}" in words
    assert words[-1] == "server.py"


def test_no_key_is_in_a_snippet(snippets):
    assert not any("SECRET123" in text for text in snippets.values())
