"""The doctor says what a report of a fault begins with."""

import sqlite3
import time

import pytest

from utils import Library
from utils.settings import version
from utils.sources import SOURCES


def test_the_system_comes_first(library):
    checks = {check.what: check for check in library.doctor()}
    assert next(iter(checks)) == "system"
    assert version() in checks["system"].detail
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
        library.web.limiter.refused(settings["doi_base_url"])
        time.sleep(40)
    assert named() == ["doi struggled of late: it is asked 4.0 times less often than it may"]
