"""Every test runs offline, without waiting, without the settings of whoever runs it.

Loopback is open, because the stand-in internet of ``tests/world`` lives there. The clock is a
stage clock: ``time.sleep`` moves it on at once and ``time.time`` follows, so that spacing, holds
and Retry-After can be asserted to the second in no time. ``@pytest.mark.real_time`` keeps the
real one.
"""

from __future__ import annotations

import gc
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests import processes
from tests.clock import Clock
from tests.examples import often
from tests.world import World
from utils import Library
from utils.settings import Settings

SHARED = Path(__file__).resolve().parents[1] / "shared" / "data"
SHARED_ABSENT = "needs ../shared/data, which is not beside this checkout"
_SETTINGS = {
    str(choice)
    for name, field in Settings.model_fields.items()
    for choice in (getattr(field.validation_alias, "choices", None) or [name])
}


hypothesis.settings.register_profile("ours", often())
hypothesis.settings.load_profile("ours")


class _Doctests:
    """Examples are looked for where there are any: looking goes through all that a module has."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, Any, Any]:
        found = yield
        if not found or b">>> " in file_path.read_bytes():
            return found
        return [one for one in found if type(one) is pytest.Module]


def pytest_configure(config: pytest.Config) -> None:
    processes.begin_run()
    if not config.option.markexpr:  # in xdist's workers, too: each selects for itself
        config.option.markexpr = _tier_of_run(config)
    config.pluginmanager.register(_Doctests())
    # What we file is flushed to the disk; where there is one in memory, that takes no time.
    if Path("/dev/shm").is_dir() and shutil.disk_usage("/dev/shm").free > 2_000_000_000:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


def _tier_of_run(config: pytest.Config) -> str:
    """Return the marks of a run without ``-m``: the fast suite, or all tiers of the paths given."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return "not (world or slow or lab)"
    return "not lab"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect without looking for garbage: what comes stays, and is never looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        processes.end_of_run()


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test() -> Iterator[None]:
    yield
    processes.end_of_test()


def pytest_xdist_auto_num_workers() -> int:
    """Three for two cores: many tests wait for a disk, a socket or another process."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into its tier, and skip tests whose data or packages are absent.

    A test that uses the stand-in internet is marked ``world``, unless it is marked ``story`` or
    ``slow``. This hook runs before pytest applies ``-m``, so the marks it adds count.
    """
    items.sort(key=lambda item: "lab" not in item.keywords)
    for item in items:
        tiers = {"story", "slow", "lab"} & set(item.keywords)
        if "_running_world" in getattr(item, "fixturenames", ()) and not tiers:
            item.add_marker(pytest.mark.world)
        if "shared" in item.keywords and not SHARED.exists():
            item.add_marker(pytest.mark.skip(reason=SHARED_ABSENT))
        for needed in item.iter_markers("extras"):
            if missing := [name for name in needed.args if not find_spec(name)]:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)}"))


@pytest.fixture
def shared() -> Path:
    """Return the folder of recorded upstream answers, or skip the test where it is absent."""
    if not SHARED.exists():
        pytest.skip(SHARED_ABSENT)
    return SHARED


@pytest.fixture
def mocked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Answers by address in place of the network: ``mocked.get(url, body=recorded)``."""
    import responses
    from urllib3 import Retry

    from utils.http.transport import Transport

    def built(transport: Any, sent: Any, got: Any) -> Any:
        got.request, got.status_code = sent, got.status
        return got

    # What the package takes for granted of the adapter that it stands in for.
    monkeypatch.setattr(Transport, "max_retries", Retry(0), raising=False)
    monkeypatch.setattr(Transport, "build_response", built, raising=False)
    sends = "utils.http.transport.Transport._open_response"
    with responses.RequestsMock(assert_all_requests_are_fired=False, target=sends) as mock:
        yield mock


@pytest.fixture
def by_itself() -> Callable[[], float]:
    """How the stage clock moves while nobody sleeps: with the real one, for other processes."""
    return time.time


@pytest.fixture(autouse=True)
def clock(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    by_itself: Callable[[], float],
) -> Clock:
    """The stage clock; ``clock.naps`` are the waits asked for."""
    stage = Clock(by_itself)
    if "real_time" not in request.keywords:
        monkeypatch.setattr(time, "sleep", stage.sleep)
        monkeypatch.setattr(time, "time", stage.time)
    return stage


@pytest.fixture(autouse=True)
def _no_work_outlives_its_test(clock: Clock) -> Iterator[None]:
    """Work that goes on in a thread would ask the next test's world, and move its clock."""
    yield
    for thread in threading.enumerate():
        if thread.name == "patience" or thread.name.startswith("harvest "):
            thread.join(5)


@pytest.fixture(autouse=True)
def _no_settings_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wanted = {name.upper() for name in _SETTINGS}
    for name in os.environ:
        if name.upper() in wanted:
            monkeypatch.delenv(name)
    monkeypatch.setattr("utils.settings.ENV_FILE", None)
    monkeypatch.setattr("utils.settings.find_user_settings_file", lambda: None)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))  # of processes that we start
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "papers"))
    monkeypatch.setenv("PAPERS_PACE_DIR", str(tmp_path / "pace"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can reach the real internet, not even by mistake."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if isinstance(address, tuple) and not (
            host.startswith("127.") or host in {"::1", "localhost"}
        ):
            msg = f"a test tried to reach {host}"
            raise ConnectionRefusedError(msg)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def _running_world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.fixture
def world(_running_world: World) -> World:
    """The stand-in internet, calm and without memory."""
    _running_world.reset()
    return _running_world


@pytest.fixture
def settings(world: World, tmp_path: Path) -> dict[str, Any]:
    """Settings by field name that point at the stand-in internet."""
    addresses = {name.lower(): value for name, value in world.environment().items()}
    folders = {"papers_dir": tmp_path / "papers", "papers_pace_dir": tmp_path / "pace"}
    return {**addresses, **folders}


@pytest.fixture
def library(settings: dict[str, Any]) -> Iterator[Library]:
    """A library with an empty shelf in the stand-in internet."""
    library = Library(**settings)
    yield library
    library.shelf.close()


@pytest.fixture
def anyio_backend() -> str:
    """What asynchronous tests run on: the loop that the server runs on, too."""
    return "asyncio"
