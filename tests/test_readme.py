"""The README does what it says: its Python runs, its links lead somewhere."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

import utils
from utils.curation.mcp_hosts import build_host_settings
from utils.settings import Settings, load_settings

pytestmark = pytest.mark.story

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ASSISTANT = (ROOT / "docs/pages/how-to/assistant.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(README.splitlines()) <= 120
    blocks = re.findall(r"```\w+\n(.*?)```", README, re.S)
    assert [line for block in blocks for line in block.splitlines() if len(line) > 100] == []


def test_its_python_runs(world, monkeypatch, tmp_path, capsys):
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "papershelf", utils)
    [block] = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(block, {})
    assert "full_text published pmc_cloud CC BY" in capsys.readouterr().out


@pytest.fixture
def as_printed(monkeypatch):
    """What `doctor` prints for each host where only the address is set."""
    for name in list(os.environ):
        if name.lower() in Settings.model_fields:
            monkeypatch.delenv(name)
    settings = load_settings(pubmed_email="me@your-university.edu")
    said = build_host_settings(settings, ["papershelf"], windows=False)
    return {host: text.replace("me@your", "you@your") for host, text in said.items()}


@pytest.mark.parametrize("host", ["Claude Desktop", "Cursor", "Gemini CLI"])
def test_the_page_on_assistants_shows_what_doctor_prints(as_printed, host):
    [block] = re.findall(r"```json\n(.*?)```", ASSISTANT, re.S)
    [printed] = [text for name, text in as_printed.items() if name.startswith(host)]
    assert json.loads(printed) == json.loads(block)


def test_its_line_for_claude_code_is_the_one_that_doctor_prints(as_printed):
    [line] = re.findall(r"```bash\n(claude mcp add .*?)```", ASSISTANT, re.S)
    assert shlex.split(line) == shlex.split(as_printed["Claude Code"])


def test_it_names_every_host_that_doctor_knows(as_printed):
    text = " ".join(ASSISTANT.split())
    assert [name for host in as_printed if (name := host.split(" (")[0]) not in text] == []


@pytest.mark.parametrize("name", re.findall(r"\]\(([\w./-]+)[)#]", README))
def test_its_links_lead_somewhere(name):
    assert (ROOT / name).exists()
