"""Every tool, resource, prompt and completion, by the official clients from npm.

Run where node is and the packages are, or may be fetched: ``PAPERSHELF_NPM=1 uv run pytest -m lab
quality/clients``. The Inspector starts a process for each question, so only HTTP is asked here;
``python -m quality.clients`` asks it over stdio too.
"""

import pytest

from quality.clients.npm_clients import CLIENTS, npm_visit, packages
from tests.clients.python_clients import PatientWorld, Place, environment, fastmcp_client
from tests.clients.tour import steps
from tests.endpoint import SECRET, Endpoint
from utils import Library

pytestmark = [pytest.mark.anyio, pytest.mark.lab]
EACH = [(client, mode) for client, modes in CLIENTS.items() for mode in modes]


@pytest.fixture(scope="module")
def folder():
    folder, why = packages()
    if folder is None:
        pytest.skip(why)
    return folder


@pytest.fixture(scope="module")
def patient_world():
    with PatientWorld() as world:
        yield world


async def as_promised(folder, place, client, mode, world):
    async with fastmcp_client(place, "auto") as session:
        tour = steps(await session.listing(), world)
    seen = await npm_visit(folder, client, mode, place, tour)
    assert not seen.faults, "\n".join(seen.faults)
    asked = [step for step in tour if client != "Inspector CLI" or step["kind"] != "completion"]
    assert seen.seen.total() == len(asked)
    assert (seen.era in ("2026-07-28", "modern")) == (mode == "auto")


@pytest.mark.parametrize(("client", "mode"), EACH)
async def test_the_whole_tour_over_http(folder, tmp_path, patient_world, client, mode):
    told = environment(patient_world, tmp_path)
    own = {name.lower(): value for name, value in told.items() if name not in ("PATH", "HOME")}
    with Endpoint(Library(**own, mcp_auth_secret_key=SECRET)) as endpoint:
        place = Place(url=endpoint.url, token=endpoint.token())
        await as_promised(folder, place, client, mode, patient_world)


@pytest.mark.parametrize(("client", "mode"), [one for one in EACH if one[0] != "Inspector CLI"])
async def test_the_whole_tour_over_stdio(folder, tmp_path, patient_world, client, mode):
    place = Place(environment(patient_world, tmp_path))
    await as_promised(folder, place, client, mode, patient_world)
