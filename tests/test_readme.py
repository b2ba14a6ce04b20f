"""The README does what it says: its Python runs, its shell commands are commands."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from utils.cli import parse
from utils.curation.mcp_hosts import host_settings
from utils.settings import Settings, load_settings

pytestmark = pytest.mark.story

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    re.split(r"[#>]", part.split("server.py", 1)[1])[0].strip()
    for block in re.findall(r"```bash\n(.*?)```", README, re.S)
    for line in block.splitlines()
    for part in line.split("|")
    if "uv run server.py" in part
]


def test_it_is_short():
    assert len(README.splitlines()) <= 170


def test_its_python_runs(world, monkeypatch, tmp_path, capsys):
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parent.parent))
    [block] = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(block, {})
    assert "full_text published pmc_cloud CC BY" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_are_commands(command):
    parse(shlex.split(command))


def test_its_commands_are_found():
    assert len(COMMANDS) >= 5


@pytest.fixture
def as_printed(monkeypatch):
    """What `doctor` prints for each host where only the address is set."""
    for name in list(os.environ):
        if name.lower() in Settings.model_fields:
            monkeypatch.delenv(name)
    settings = load_settings(pubmed_email="me@your-university.edu")
    command = ["/path/to/uv", "run", "--directory", "/path/to/papershelf", "server.py"]
    said = host_settings(settings, command, windows=False)
    return {host: text.replace("me@your", "you@your") for host, text in said.items()}


def test_its_snippet_is_the_one_that_doctor_prints(as_printed):
    [block] = re.findall(r"```json\n(.*?)```", README, re.S)
    [hosts] = re.findall(r"\n(.*):\n\n```json", README)
    for host in hosts.replace("`", "").split("), "):
        assert json.loads(as_printed[f"{host.rstrip(')')})"]) == json.loads(block)


def test_its_line_for_claude_code_is_the_one_that_doctor_prints(as_printed):
    [line] = re.findall(r"```bash\n(claude mcp add .*?)```", README, re.S)
    assert shlex.split(line.replace("\\\n", " ")) == shlex.split(as_printed["Claude Code"])


def test_it_names_every_host_that_doctor_knows(as_printed):
    text = " ".join(README.split())
    assert [name for host in as_printed if (name := host.split(" (")[0]) not in text] == []


@pytest.mark.parametrize("name", re.findall(r"\]\(([A-Z_]+(?:\.md)?)\)", README))
def test_its_links_lead_somewhere(name):
    assert (Path(__file__).resolve().parent.parent / name).exists()
