"""`setup` asks or is told, shows what it writes, writes it after a yes, and takes it back."""

import json
from pathlib import Path

import pytest

from utils.cli import main, setting_up


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A person's home with Cursor in it, and a settings file of its own."""
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    for name in ("CODEX_HOME", "APPDATA", "LOCALAPPDATA", "PAPERS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    file = home / ".config" / "papershelf" / "settings.env"
    for module in ("settings", "curation.installation", "curation.mcp_hosts"):
        monkeypatch.setattr(f"utils.{module}.find_user_settings_file", lambda: file)
    return home


@pytest.fixture
def person(monkeypatch):
    """A person at a terminal, who gives the answers that the test puts into the list."""
    answers: list[str] = []

    def answer(prompt):
        assert prompt
        return answers.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr(setting_up, "getpass", answer)
    monkeypatch.setattr(setting_up, "_ask_until_valid", _with(answer))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    return answers


def _with(answer):
    ask = setting_up._ask_until_valid
    return lambda question, name, usual, _read=None: ask(question, name, usual, answer)


def _settings(home: Path) -> str:
    file = home / ".config" / "papershelf" / "settings.env"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def test_options_alone_set_up_everything_and_undo_takes_it_back(home, capsys):
    words = ["--email", "me@lab.edu", "--set", "NCBI_API_KEY=K3Y", "--host", "cursor"]
    assert main(["setup", *words, "--yes"]) == 0
    said = capsys.readouterr().out
    assert "K3Y" not in said
    assert _settings(home) == "NCBI_API_KEY='K3Y'\nPUBMED_EMAIL='me@lab.edu'\n"
    entry = json.loads((home / ".cursor/mcp.json").read_text(encoding="utf-8"))
    server = entry["mcpServers"]["papershelf"]
    assert "PUBMED_EMAIL" not in server["env"]  # it stands in the settings file
    assert main(["setup", "--undo"]) == 0
    assert _settings(home) == ""
    assert not (home / ".cursor/mcp.json").exists()


def test_a_dry_run_writes_nothing_and_shows_what_it_would(home, capsys):
    assert main(["setup", "--email", "me@lab.edu", "--host", "all", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "PUBMED_EMAIL = me@lab.edu" in said
    assert '"papershelf"' in said
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_without_a_terminal_nothing_is_written_before_a_yes(home, capsys):
    assert main(["setup", "--email", "me@lab.edu"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert _settings(home) == ""
    assert main(["setup"]) == 2
    assert "on a terminal only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--email", "nobody"], "is not an e-mail address"),
        (["--email", "you@example.com"], "placeholder"),
        (["--set", "NCBI_KEY=1"], "no setting NCBI_KEY"),
        (["--set", "MCP_TOOLSETS=magic"], "MCP_TOOLSETS"),
        (["--set", "NCBI_API_KEY"], "NAME=VALUE"),
        (["--set", "NCBI_API_KEY=@missing"], "There is no file missing"),
        (["--host", "Emacs"], "Found here: Cursor"),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_written(home, capsys, words, said):
    assert main(["setup", *words, "--yes"]) == 2
    assert said in capsys.readouterr().err
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_key_is_read_from_a_file(home, tmp_path):
    (tmp_path / "key").write_text("K3Y\n", encoding="utf-8")
    assert main(["setup", "--set", f"NCBI_API_KEY=@{tmp_path / 'key'}", "--yes"]) == 0
    assert "'K3Y'" in _settings(home)


def test_a_person_is_asked_until_an_answer_can_be_used(home, person, capsys):
    keys = [""] * len(setting_up.KEYS)
    person += ["nobody", "me@lab.edu", "~/shelf", *keys, "", "y"]
    assert main(["setup"]) == 0
    assert "is not an e-mail address" in capsys.readouterr().err
    assert _settings(home) == f"PUBMED_EMAIL='me@lab.edu'\nPAPERS_DIR='{home / 'shelf'}'\n"
    assert (home / ".cursor/mcp.json").exists()
    assert not person


def test_a_person_who_says_no_keeps_everything(home, person, monkeypatch, capsys):
    monkeypatch.setenv("PUBMED_EMAIL", "other@lab.edu")
    person += ["me@lab.edu", "", *[""] * len(setting_up.KEYS), "n", "n"]
    assert main(["setup"]) == 0
    assert "warning" not in capsys.readouterr().err  # nothing was written
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_person_who_tries_it_is_asked_and_nothing_is_written(home, person, capsys):
    person += ["me@lab.edu", "", *[""] * len(setting_up.KEYS)]
    assert main(["setup", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "PUBMED_EMAIL = me@lab.edu" in said
    assert "--undo" not in said
    assert [path for path in home.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["NCBI_API_KEY", "PUBMED_API_KEY", "HTTPS_PROXY"])
def test_a_key_is_never_shown_under_any_of_its_names(home, capsys, name):
    assert main(["setup", "--set", f"{name}=http://me:K3Y@lab.edu:1", "--dry-run"]) == 0
    assert "K3Y" not in capsys.readouterr().out


def test_a_setting_that_the_environment_overrules_is_said(home, monkeypatch, capsys):
    monkeypatch.setenv("PUBMED_EMAIL", "other@lab.edu")
    assert main(["setup", "--email", "me@lab.edu", "--yes"]) == 0
    assert "PUBMED_EMAIL is also set in the environment" in capsys.readouterr().err


def test_a_host_whose_file_holds_comments_is_left_alone(home, capsys):
    file = home / ".cursor" / "mcp.json"
    file.write_text("{ // mine\n}", encoding="utf-8")
    assert main(["setup", "--host", "all", "--yes"]) == 0
    assert "doctor --hosts" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "{ // mine\n}"


def test_update_names_the_command_of_this_installation(capsys):
    assert main(["setup", "update"]) == 0
    assert "git -C" in capsys.readouterr().out


def test_the_folder_has_the_option_of_all_other_commands_too(home, tmp_path):
    assert main(["setup", "--papers-dir", str(tmp_path / "literature"), "--yes"]) == 0
    assert _settings(home) == f"PAPERS_DIR='{tmp_path / 'literature'}'\n"
