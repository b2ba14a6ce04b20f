"""The README does what it says: its Python runs, its shell commands are commands."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from utils.cli import _parser
from utils.curation.health_check import client_snippets
from utils.settings import load_settings

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()
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
    _parser().parse_args(shlex.split(command))


def test_its_commands_are_found():
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("language", "read"), [("json", json.loads), ("toml", tomllib.loads)])
def test_its_snippets_are_those_that_doctor_prints(language, read, tmp_path):
    (tmp_path / "server.py").touch()
    settings = load_settings(pubmed_email="me@lab.edu")
    printed = client_snippets(settings, tmp_path).values()
    told = [
        text.replace(str(tmp_path), "/path/to/papershelf").replace("me@lab", "you@your-university")
        for text in printed
    ]
    shown = re.findall(rf"```{language}\n(.*?)```", README, re.S)
    assert shown
    for block in shown:
        assert read(block) in [read(text) for text in told if text[0] == block[0]]


@pytest.mark.parametrize("name", re.findall(r"\]\(([A-Z_]+(?:\.md)?)\)", README))
def test_its_links_lead_somewhere(name):
    assert (Path(__file__).resolve().parent.parent / name).exists()
