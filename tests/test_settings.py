"""Every knob: where it is read from, what counts as unset, what is refused and how."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.errors import BadRequest, NotConfigured
from utils.model.sites import KEYS
from utils.settings import Settings, find_user_settings_file, load_settings


def test_aliases_of_other_servers_are_understood(monkeypatch):
    monkeypatch.setenv("NCBI_ADMIN_EMAIL", "me@lab.edu")
    monkeypatch.setenv("PUBMED_API_KEY", "k")
    settings = load_settings()
    assert settings.pubmed_email == "me@lab.edu"
    assert settings.key("ncbi_api_key") == "k"


@pytest.mark.parametrize("value", ["", "   ", "${user_config.email}", "${PUBMED_EMAIL}"])
def test_blank_and_unfilled_values_are_unset(monkeypatch, value):
    monkeypatch.setenv("PUBMED_EMAIL", value)
    monkeypatch.setenv("NCBI_API_KEY", value)
    monkeypatch.setenv("PAPERS_RETRY_ABSTRACT_DAYS", value)
    settings = load_settings()
    assert settings.pubmed_email == ""
    assert settings.ncbi_api_key is None  # type: ignore[attr-defined]
    assert settings.papers_retry_abstract_days == 30


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PAPERS_SOURCES", "pmc,scihub"),
        ("EUTILS_BASE_URL", "ftp://eutils"),
        ("NCBI_MAX_RETRIES", "50"),
        ("NCBI_TOOL_IDENTIFIER", "two words"),
        ("PAPERS_RETRY_ABSTRACT_DAYS", "soon"),
        ("MCP_TOOLSETS", "core,magic"),
        ("MCP_LOG_LEVEL", "loud"),
        ("MCP_TRANSPORT_TYPE", "sse"),
        ("MCP_HTTP_PORT", "70000"),
        ("MCP_ALLOWED_ORIGINS", "*"),
        ("MCP_AUTH_JWKS_URI", "http://id.lab.edu/keys"),
    ],
)
def test_what_cannot_be_used_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(BadRequest) as refused:
        load_settings()
    assert name in refused.value.message


@pytest.mark.parametrize("value", ["", "  ", "${user_config.key}", "${HOME}/papers"])
def test_what_a_host_did_not_fill_in_is_unset_wherever_it_stands(monkeypatch, value):
    usual = load_settings()
    for name, field in Settings.model_fields.items():
        if name not in {"papers_dir", "papers_pace_dir"}:
            alias = getattr(field.validation_alias, "choices", [name.upper()])[0]
            monkeypatch.setenv(alias, value)
    assert load_settings() == usual


def test_a_wrong_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("NCBI_API_KEY", "SECRET123")
    settings = load_settings()
    assert "SECRET123" not in repr(settings)
    assert "SECRET123" not in str(settings.model_dump())


def test_every_key_says_what_it_brings_and_where_one_gets_it():
    for key in KEYS:
        assert key.gives, key.setting
        assert key.page.startswith("https://"), key.setting


def test_a_relative_folder_is_in_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERS_DIR", "corpus")
    assert load_settings().papers_dir == tmp_path / "corpus"
    assert load_settings(papers_dir="other").papers_dir == tmp_path / "other"


def test_a_relative_folder_in_an_env_file_is_beside_that_file(monkeypatch, tmp_path):
    file = tmp_path / "checkout" / ".env"
    file.parent.mkdir()
    file.write_text("PAPERS_DIR=corpus\nLOGS_DIR=/var/log/x\n", encoding="utf-8")
    monkeypatch.setattr("utils.settings.ENV_FILE", file)
    monkeypatch.delenv("PAPERS_DIR")
    monkeypatch.setenv("HOME", "/home/me")
    settings = load_settings()
    assert settings.papers_dir == file.parent / "corpus"
    assert str(settings.logs_dir) == "/var/log/x"


def test_the_users_settings_file_is_read_after_the_environment_and_env_file(monkeypatch, tmp_path):
    mine, beside = tmp_path / "settings.env", tmp_path / ".env"
    mine.write_text(
        "PUBMED_EMAIL=a@lab.edu\nMCP_TOOLSETS=rag\nPAPERS_SHARED=true\nPAPERS_DIR=shelf\n",
        encoding="utf-8",
    )
    beside.write_text("PUBMED_EMAIL=b@lab.edu\nMCP_TOOLSETS=pubmed\n", encoding="utf-8")
    monkeypatch.setattr("utils.settings.find_user_settings_file", lambda: mine)
    monkeypatch.setattr("utils.settings.ENV_FILE", beside)
    monkeypatch.delenv("PAPERS_DIR")
    monkeypatch.setenv("PUBMED_EMAIL", "c@lab.edu")
    settings = load_settings()
    assert settings.pubmed_email == "c@lab.edu"
    assert settings.mcp_toolsets == ("pubmed",)
    assert settings.papers_shared is True
    assert settings.papers_dir == tmp_path / "shelf"


def test_the_users_settings_file_lies_in_the_folder_of_the_platform(monkeypatch):
    if sys.platform != "linux":
        pytest.skip("the folder is that of Linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/of/me")
    assert find_user_settings_file() == Path("/etc/of/me/papershelf/settings.env")


def test_a_secret_may_stand_in_a_file_that_its_variable_names(monkeypatch, tmp_path):
    file = tmp_path / "key"
    file.write_text("\ufeffK3Y\n", encoding="utf-8")
    monkeypatch.setenv("PUBMED_API_KEY_FILE", str(file))
    assert load_settings().key("ncbi_api_key") == "K3Y"
    monkeypatch.setenv("NCBI_API_KEY", "direct")
    assert load_settings().key("ncbi_api_key") == "direct"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff"])
def test_a_secrets_file_that_cannot_be_read_is_named_and_not_shown(monkeypatch, tmp_path, content):
    file = tmp_path / "key"
    if content:
        file.write_bytes(content)
    monkeypatch.setenv("NCBI_API_KEY_FILE", str(file))
    with pytest.raises(NotConfigured, match="NCBI_API_KEY_FILE") as refused:
        load_settings()
    assert str(file) in refused.value.message


@pytest.fixture
def nobody(monkeypatch):
    """A user without an entry in passwd and without a home, as in many containers."""
    pwd = pytest.importorskip("pwd")

    def missing(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", missing)
    for name in ("HOME", "XDG_CACHE_HOME", "PAPERS_PACE_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_home_pace_and_models_are_kept_on_the_shelf(nobody, tmp_path):
    settings = load_settings()
    own = tmp_path / "papers" / ".papershelf"
    assert settings.pace_folder == own / "pace"
    assert settings.cache_folder == own / "cache"


def test_a_home_that_cannot_be_written_is_no_place_for_the_pace(nobody, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setattr("utils.settings.os.access", lambda *_: False)
    assert load_settings().pace_folder == tmp_path / "papers" / ".papershelf" / "pace"


def test_without_a_home_an_installed_package_says_what_to_set(nobody, monkeypatch):
    monkeypatch.delenv("PAPERS_DIR")
    monkeypatch.setattr("utils.settings.IN_CHECKOUT", False)
    with pytest.raises(NotConfigured, match=r"no home folder for the shelf\. Set PAPERS_DIR"):
        load_settings()


def test_a_tilde_without_a_home_is_named(nobody):
    with pytest.raises(BadRequest, match="LOGS_DIR: ~ cannot be resolved"):
        load_settings(logs_dir="~/logs")


def test_the_default_shelf_lies_beside_the_server(monkeypatch):
    monkeypatch.delenv("PAPERS_DIR")
    folder = Settings().papers_dir
    assert folder.name == "papers"
    assert (folder.parent / "server.py").exists()


def test_without_an_address_one_sentence_says_what_to_set():
    with pytest.raises(NotConfigured, match="PUBMED_EMAIL"):
        Settings().require_email("NCBI")


no_addresses = st.sampled_from(
    ["you@example.com", "me@lab.example", "your@lab.edu", "user@uni.edu", "name@x.org", "ü@lab.edu"]
) | st.text("abc@. ", max_size=12).filter(lambda text: "@" not in text.strip().strip("@"))


@given(no_addresses)
def test_what_is_no_address_stops_only_what_needs_one(value):
    settings = load_settings(pubmed_email=value)
    assert (settings.contact, settings.user_agent.count("mailto")) == ("", 0)
    with pytest.raises(NotConfigured, match="PUBMED_EMAIL is") as missed:
        settings.require_email("NCBI")
    assert missed.value.hints


def test_the_user_agent_names_us_and_a_way_to_reach_the_user():
    agent = Settings(pubmed_email="me@lab.edu").user_agent
    assert agent.startswith("Papershelf/0")
    assert "mailto:me@lab.edu" in agent
