"""The doctor says what a report of a fault begins with."""

import re
import sqlite3
import time
from urllib.parse import urlsplit

import pytest

from tests.world import World
from utils import Library, cli
from utils.sources import SOURCES
from utils.system.process import get_version


def test_the_system_comes_first(library):
    checks = {check.what: check for check in library.doctor()}
    assert next(iter(checks)) == "system"
    assert get_version() in checks["system"].detail
    assert "cores" in checks["system"].detail
    assert sqlite3.sqlite_version in checks["database"].detail
    assert "free" in checks["folder"].detail


def checks_of(library):
    return {check.what: check for check in library.doctor()}


def test_every_service_is_asked_gently_and_none_is_paid(library, world):
    checks = checks_of(library)
    for source in SOURCES:
        if source.service and source.name != "semantic_scholar_copies":  # at the same address
            assert checks[source.name].state == "ok", checks[source.name]
    scholar = [request for request in world.requests if request.service == "semantic_scholar"]
    assert [request.params["limit"] for request in scholar] == ["1"]
    openalex = [request for request in world.requests if request.service == "openalex"]
    assert [request.path.partition("/doi:")[0] for request in openalex] == ["/works"]
    assert "search" not in openalex[0].params


def test_the_doctor_asks_anew(library, world):
    for _ in range(2):
        assert "hits" in checks_of(library)["semantic_scholar"].detail
    asked = [request for request in world.requests if request.service == "semantic_scholar"]
    assert len(asked) == 2


def test_a_crowded_pool_is_a_warning_that_a_key_helps(library, world):
    world.mood("crowded", "semantic_scholar")
    check = checks_of(library)["semantic_scholar"]
    assert check.state == "warning"
    assert "SEMANTIC_SCHOLAR_API_KEY" in check.advice


@pytest.mark.parametrize("name", ["semantic_scholar", "openalex"])
def test_a_bad_key_is_a_problem_and_is_not_shown(settings, world, name):
    library = Library(**{**settings, f"{name}_api_key": "WRONG-KEY"})
    checks = checks_of(library)
    assert checks[name].state == "problem"
    assert name.upper() in f"{checks[name].detail} {checks[name].advice}"
    assert "WRONG-KEY" not in str(checks)
    library.shelf.close()


def test_keys_are_listed_with_what_they_are_good_for(library, settings):
    checks = checks_of(library)
    for name in ("SEMANTIC_SCHOLAR_API_KEY", "OPENALEX_API_KEY"):
        assert checks[name].state == "warning"
        assert checks[name].advice


def test_a_dead_service_is_a_problem_of_its_own(library, world):
    world.mood("reset", "semantic_scholar")
    checks = checks_of(library)
    assert checks["semantic_scholar"].state == "problem"
    assert checks["pubmed"].state == "ok"


def test_a_site_that_struggled_of_late_is_named(library, settings):
    def named() -> list[str]:
        return [check.detail for check in library.doctor() if check.what == "pace"]

    assert named() == []
    for _ in range(2):
        library.web.limiter.record_rejection(settings["doi_base_url"])
        time.sleep(40)
    assert named() == ["doi had trouble recently and is asked 4.0 times less often than allowed"]


@pytest.mark.parametrize("allowed", [True, False])
def test_a_captive_portal_is_said_once_and_no_service_is_well(settings, world, allowed):
    """Whether the portal may be asked or not: here it is at a private address."""
    with World() as portal:
        world.mood("portal", to=portal.url("publisher"))
        host = urlsplit(portal.url("publisher")).netloc
        library = Library(**{**settings, "papers_allow_private_network": allowed})
        checks = checks_of(library)
        library.shelf.close()
    services = {source.name for source in SOURCES}
    assert not [name for name in services & checks.keys() if checks[name].state == "ok"]
    assert checks["network"].state == "problem"
    assert host in checks["network"].detail
    assert "sign-in" in checks["network"].advice


def test_one_service_that_leads_elsewhere_is_a_problem_of_its_own(library, world):
    world.mood("portal", "europepmc", to="http://login.example.org/")
    checks = checks_of(library)
    assert "login.example.org" in checks["redirected"].detail
    assert not checks["redirected"].required
    assert checks["pubmed"].state == "ok"


def test_a_page_to_sign_in_is_no_answer_of_an_interface(library, world):
    world.mood("login", "europepmc")
    assert "sign in" in checks_of(library)["redirected"].detail


@pytest.mark.parametrize("service", ["europepmc", "crossref", "unpaywall", "icite", "pubchem"])
def test_a_page_that_stands_in_for_an_interface_is_no_answer_of_it(library, world, service):
    world.mood("paywall", service)
    check = checks_of(library)[service]
    assert check.state == "problem"
    assert "not JSON" in check.detail


@pytest.mark.parametrize(("service", "status"), [("europepmc", 0), ("eutils", 1)])
def test_only_required_services_decide_the_exit_status(
    settings, world, monkeypatch, capsys, service, status
):
    for name, value in {**settings, "pubmed_email": "me@lab.edu"}.items():
        monkeypatch.setenv(name.upper(), str(value))
    world.mood("reset", service)
    assert cli.main(["doctor"]) == status
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"1 problem, \d+ warnings, \d+ ok", first)
    assert second.startswith("✗ ")
    assert not [line for line in rest if line.startswith("✗ ") or "mcpServers" in line]


def test_settings_of_assistants_are_shown_when_they_are_asked_for(settings, world, capsys):
    assert cli.main(["doctor", "--hosts"]) == 0
    everything = capsys.readouterr().out
    assert "Claude Desktop" in everything
    assert cli.main(["doctor", "--hosts", "zed"]) == 0
    assert "context_servers" in (one := capsys.readouterr().out)
    assert "mcpServers" not in one
    assert cli.main(["doctor", "--hosts", "emacs"]) == 2
    assert "Choose among Claude Code" in capsys.readouterr().err
    assert not world.requests
