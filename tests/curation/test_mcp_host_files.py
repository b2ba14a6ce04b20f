"""Our entry in the hosts' own files: written beside what stands there, and taken out again."""

import json
import tomllib
from pathlib import Path

import pytest

from utils.curation.mcp_host_files import (
    FileChange,
    find_host_files,
    plan_host_change,
    undo_changes,
    write_changes,
)
from utils.curation.mcp_hosts import HOSTS
from utils.errors import BadRequest
from utils.settings import find_program_folders

SERVER = {"command": "/opt/uv", "args": ["run", "server.py"], "env": {"PUBMED_EMAIL": "a@lab.edu"}}
STORE = "AppData/Local/Packages/Claude_pzs8/LocalCache/Roaming/Claude"
BY_NAME = {host.name: host for host in HOSTS}


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "config" / "setup.json"


def _write(host_name, file, journal, server=SERVER):
    change = plan_host_change(BY_NAME[host_name], file, server)
    write_changes([change], journal)
    return change


def _folders(home, platform):
    home.mkdir(exist_ok=True)
    return find_program_folders(platform, {"HOME": str(home)})


@pytest.mark.parametrize(
    ("platform", "folder", "host", "file"),
    [
        ("linux", ".cursor", "Cursor", ".cursor/mcp.json"),
        ("linux", ".config/Code/User", "VS Code", ".config/Code/User/mcp.json"),
        ("linux", ".config/zed", "Zed", ".config/zed/settings.json"),
        ("linux", ".claude", "Claude Code", ".claude.json"),
        ("darwin", ".config/zed", "Zed", ".config/zed/settings.json"),
        ("darwin", "Library/Application Support/Claude", "Claude Desktop",
            "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "AppData/Roaming/Zed", "Zed", "AppData/Roaming/Zed/settings.json"),
        ("win32", STORE, "Claude Desktop", f"{STORE}/claude_desktop_config.json"),
    ],
)  # fmt: skip
def test_a_host_is_found_by_its_folder(tmp_path, platform, folder, host, file):
    home = tmp_path / "[home] *"  # signs of patterns
    folders = _folders(home, platform)
    assert find_host_files(folders, platform) == {}
    (home / folder).mkdir(parents=True)
    assert find_host_files(folders, platform) == {BY_NAME[host]: home / file}


def test_on_windows_the_file_of_the_newest_package_of_claude_wins(tmp_path):
    folders = _folders(tmp_path / "home", "win32")
    host = BY_NAME["Claude Desktop"]
    for folder in (
        "AppData/Roaming/Claude",
        "AppData/Local/Packages/Claude_x/LocalCache/Roaming/Claude",
        "AppData/Local/Claude-Data/claude_x",
    ):
        (tmp_path / "home" / folder).mkdir(parents=True)
        assert find_host_files(folders, "win32")[host].parent == tmp_path / "home" / folder


@pytest.mark.parametrize("host", [host for host in HOSTS if host.name != "Codex"])
def test_what_stands_in_a_json_file_stays_in_its_order_and_indent(host, tmp_path, journal):
    file = tmp_path / "settings.json"
    other = {"z": 1, host.table: {"other": {"command": "é"}}, "a": [True, None]}
    file.write_text(json.dumps(other, indent=4, ensure_ascii=False) + "\n", encoding="utf-8-sig")
    file.chmod(0o640)
    _write(host.name, file, journal)
    text = file.read_text(encoding="utf-8")
    whole = json.loads(text)
    assert list(whole) == ["z", host.table, "a"]
    assert whole[host.table].pop("papershelf") == host.entry(SERVER)
    assert whole == other
    assert '\n    "z"' in text
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_entry_in_toml_takes_the_place_of_the_one_before_and_leaves_all_else(tmp_path, journal):
    file = tmp_path / "config.toml"
    before = (
        'model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "o"\n\n'
        '[mcp_servers.papershelf]\ncommand = "old"\n\n[mcp_servers.papershelf.env]\nA = "1"\n\n'
        '[mcp_servers.papershelf_two]\ncommand = "t"\n\n[tui]\nx = 1\n'
    )
    file.write_text(before, encoding="utf-8")
    _write("Codex", file, journal)
    text = file.read_text(encoding="utf-8")
    assert text.count("[mcp_servers.papershelf]") == 1
    assert "# mine" in text
    read = tomllib.loads(text)
    assert read["mcp_servers"].pop("papershelf") == SERVER
    assert read["mcp_servers"] == {"other": {"command": "o"}, "papershelf_two": {"command": "t"}}
    assert read["tui"] == {"x": 1}
    _write("Codex", file, journal, None)
    assert "papershelf]" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("Zed", '{\n  // mine\n  "theme": "x"\n}'),
        ("Zed", '{"context_servers": []}'),
        ("Zed", "[]"),
        ("Cursor", '{"mcpServers": {"a": 1,}}'),
        ("Codex", "[mcp_servers\n"),
        ("Codex", '[mcp_servers]\npapershelf = {command = "x"}\n'),
        ("Codex", "mcp_servers = 1\n"),
    ],
)
def test_a_file_that_would_lose_something_is_refused_and_stays(host, text, tmp_path):
    file = tmp_path / ("x.toml" if host == "Codex" else "x.json")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match=r"by hand") as refused:
        plan_host_change(BY_NAME[host], file, SERVER)
    assert str(file) in refused.value.message
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("before", [None, '{"mcpServers":{"a":{"command":"b"}},   "x": 1}'])
def test_undo_brings_the_file_back_byte_by_byte(tmp_path, journal, before):
    file = tmp_path / "mcp.json"
    if before is not None:
        file.write_text(before, encoding="utf-8")
    _write("Cursor", file, journal)
    _write("Cursor", file, journal, SERVER | {"command": "/other/uv"})  # set up once more
    assert undo_changes(journal)
    assert (file.read_text(encoding="utf-8") if file.exists() else None) == before
    assert undo_changes(journal) == []
    assert not list(tmp_path.glob("*.before*"))


def test_undo_takes_only_our_entry_out_of_a_file_that_changed_since(tmp_path, journal):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"a": {"command": "b"}}}', encoding="utf-8")
    _write("Cursor", file, journal)
    whole = json.loads(file.read_text(encoding="utf-8"))
    whole["mcpServers"]["c"] = {"command": "d"}
    file.write_text(json.dumps(whole), encoding="utf-8")
    (sentence,) = undo_changes(journal)
    assert "changed since" in sentence
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "mcpServers": {"a": {"command": "b"}, "c": {"command": "d"}}
    }


def test_what_another_program_wrote_meanwhile_is_not_overwritten(tmp_path, journal):
    file = tmp_path / "mcp.json"
    change = plan_host_change(BY_NAME["Cursor"], file, SERVER)
    file.write_text('{"mcpServers": {"new": {}}}', encoding="utf-8")
    with pytest.raises(BadRequest, match="in the meantime"):
        write_changes([change], journal)
    assert "new" in file.read_text(encoding="utf-8")


def test_a_link_to_a_file_of_dotfiles_stays_a_link(tmp_path, journal):
    real, link = tmp_path / "dotfiles" / "mcp.json", tmp_path / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("no links here")
    _write("Cursor", link, journal)
    assert link.is_symlink()
    assert "papershelf" in real.read_text(encoding="utf-8")


def test_the_difference_shows_what_comes_and_nothing_where_nothing_changes(tmp_path):
    file = tmp_path / "mcp.json"
    change = plan_host_change(BY_NAME["Cursor"], file, SERVER)
    assert '+    "papershelf": {' in change.difference
    assert FileChange("", Path("x"), "a\n", "a\n").difference == ""
