"""Every tool, resource, prompt and completion, by the Python clients, in both eras."""

import pytest

from tests.clients.python_clients import CLIENTS, MODES, PatientWorld, Place, environment
from tests.clients.tour import begin_review, visit
from tests.endpoint import SECRET, Endpoint
from tests.examples import has_turn
from utils import Library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
# Each client, era and way meets each of the others at least once; with all examples, all of them.
TOURS = [
    (client, mode, way)
    for at, client in enumerate(CLIENTS)
    for turn, mode in enumerate(MODES)
    for order, way in enumerate(("http", "stdio"))
    if has_turn(at + turn + order, every=2)
]


def tours(by):
    return pytest.mark.parametrize(
        ("client", "mode"), [(client, mode) for client, mode, way in TOURS if way == by]
    )


@pytest.fixture(scope="module")
def patient_world():
    with PatientWorld() as world:
        yield world


async def as_promised(place, client, mode, world):
    async with CLIENTS[client](place, mode) as session:
        seen = await visit(session, world, client, place.transport)
    assert not seen.faults, "\n".join(seen.faults)
    assert (seen.era == "2026-07-28") == (mode == "auto")


@tours("http")
async def test_the_whole_tour_over_http(settings, world, client, mode):
    library = Library(**settings, mcp_auth_secret_key=SECRET, mcp_toolsets=("all",))
    begin_review(library.settings.papers_dir)
    with Endpoint(library) as endpoint:
        place = Place(url=endpoint.url, token=endpoint.token())
        await as_promised(place, client, mode, world)


@tours("stdio")
async def test_the_whole_tour_over_stdio(tmp_path, patient_world, client, mode):
    place = Place(environment(patient_world, tmp_path), log=tmp_path / "stderr")
    await as_promised(place, client, mode, patient_world)
    assert "Traceback" not in place.log.read_text(encoding="utf-8")
