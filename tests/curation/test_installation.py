"""The settings file that setup writes is read back as it was meant; each installation updates."""

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from utils.curation import installation
from utils.curation.installation import describe_update, plan_settings_change
from utils.errors import BadRequest
from utils.settings import load_settings

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@given(LINE, LINE)
def test_every_value_is_read_back_and_all_else_stays(tmp_path_factory, old, new):
    file = tmp_path_factory.mktemp("settings") / "settings.env"
    kept = "# mine\nMCP_TOOLSETS=core  # note\n\nOTHER='x'"
    file.write_text(kept, encoding="utf-8")
    for value in (old, new):
        change = plan_settings_change({"NCBI_API_KEY": value}, file)
        file.write_text(change.after, encoding="utf-8", newline="")
    assert change.after.startswith(kept + "\n")
    assert change.after.count("NCBI_API_KEY=") == 1
    assert dotenv_values(file, interpolate=False, encoding="utf-8")["NCBI_API_KEY"] == new


def test_what_setup_wrote_is_in_force_at_the_next_start(tmp_path, monkeypatch):
    file = tmp_path / "settings.env"
    values = {"PUBMED_EMAIL": "o'neil@lab.edu", "PAPERS_DIR": str(tmp_path / "my $papers")}
    file.write_text(plan_settings_change(values, file).after, encoding="utf-8")
    monkeypatch.setattr("utils.settings.find_user_settings_file", lambda: file)
    monkeypatch.delenv("PAPERS_DIR")
    settings = load_settings()
    assert settings.pubmed_email == "o'neil@lab.edu"
    assert settings.papers_dir == tmp_path / "my $papers"


def test_an_empty_value_takes_a_setting_out(tmp_path):
    file = tmp_path / "settings.env"
    file.write_text("A=1\nNCBI_API_KEY=2\nB=3\n", encoding="utf-8")
    assert plan_settings_change({"NCBI_API_KEY": ""}, file).after == "A=1\nB=3\n"


@pytest.mark.parametrize(
    "values", [{"NCBI_KEY": "x"}, {"NCBI_API_KEY": "a\nPAPERS_DIR=/"}, {"NCBI_API_KEY": "a\0"}]
)
def test_what_is_no_setting_or_no_line_is_refused(values, tmp_path):
    with pytest.raises(BadRequest):
        plan_settings_change(values, tmp_path / "settings.env")


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/me/.local/share/uv/tools/papershelf", "uv tool upgrade papershelf"),
        ("/home/me/.cache/uv/archive-v0/x1", "uvx papershelf@latest"),
        ("/home/me/.local/share/pipx/venvs/papershelf", "pipx upgrade papershelf"),
        ("/opt/papershelf", "docker compose build --pull && docker compose up -d"),
    ],
)
def test_an_update_is_described_for_each_way_of_installing(prefix, command, monkeypatch):
    monkeypatch.setattr(installation, "IN_CHECKOUT", False)
    assert describe_update(prefix) == command


def test_a_checkout_is_updated_by_git_and_an_environment_by_pip(monkeypatch):
    assert describe_update().startswith("git -C ")
    monkeypatch.setattr(installation, "IN_CHECKOUT", False)
    monkeypatch.setattr(installation, "get_uv_path", str)
    assert describe_update("/usr").endswith("-m pip install --upgrade papershelf")
