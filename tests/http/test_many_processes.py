"""The promise NCBI is made: four processes with two threads each are one polite client."""

import sys
import threading
import time
from pathlib import Path

import pytest

from tests.http.conftest import Site, Visit
from tests.processes import Process

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# Each request carries the time it left, so that the test can tell our pace from a slow machine.
CHILD = """
import sys, threading, time
from dataclasses import replace
from pathlib import Path
from utils.settings import Settings
from utils.sources.eutils import RATE
from utils.http import Web
from utils.http.transport import Transport

url, shelf, pace, key, times = sys.argv[1:]
send = Transport.send_request

def stamped(self, hop, *rest):
    return send(self, replace(hop, headers={**hop.headers, "X-Left": repr(time.time())}), *rest)

Transport.send_request = stamped
settings = Settings(
    papers_dir=Path(shelf),
    papers_pace_dir=Path(pace),
    eutils_base_url=url,
    ncbi_api_key=key,
)
web = Web(settings, [RATE])
threads = [
    threading.Thread(target=lambda: [web.get(url + "/efetch.fcgi") for _ in range(int(times))])
    for _ in range(2)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("key", "times", "most", "spacing"), [("", 2, 3, 0.4), ("a-key", 4, 10, 0.11)]
)
def test_four_processes_with_two_threads_each_never_exceed_the_limit_in_any_second(
    site: Site, tmp_path: Path, key: str, times: int, most: int, spacing: float
) -> None:
    seen: list[tuple[float, float]] = []
    lock = threading.Lock()

    def note(visit: Visit) -> None:
        with lock:
            seen.append((time.time(), float(visit.headers["X-Left"])))
        visit.reply(b"ok")

    site.on("/efetch.fcgi", note)
    children = [
        Process(
            [sys.executable, "-c", CHILD, site.url, shelf, tmp_path / "pace", key, str(times)],
            cwd=ROOT,
        )
        for shelf in (str(tmp_path / f"shelf{n}") for n in range(4))
    ]
    assert [child.wait() for child in children] == [0] * 4
    assert len(seen) == 8 * times
    arrived = sorted(when for when, _ in seen)
    # Where the machine kept a request for longer than the spacing leaves room, a window of
    # arrivals says nothing about us; the departures still do.
    tardy = max(when - left for when, left in seen)
    windows = [sum(first <= when < first + 1.0 for when in arrived) for first in arrived]
    assert max(windows) <= most or tardy > most * spacing - 1.0 - 0.05
    assert arrived[-1] - arrived[0] >= (len(seen) - 1) * spacing - 0.15 - tardy
