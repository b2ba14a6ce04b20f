"""The first calls of a process, made at once, are all answered, whichever two tools they are."""

import itertools
from collections.abc import Iterator

import anyio
import pytest

from quality.clients.first_calls import AT_ONCE, ERAS, WAYS, Prepared, faults_of, groups, prepare
from tests.clients.python_clients import PatientWorld
from tests.clients.tour import ELSEWHERE
from tests.examples import has_turn
from utils import Library
from utils.mcp.tool import list_enabled_tools

pytestmark = pytest.mark.slow

EACH = list(itertools.product(WAYS, ERAS))


@pytest.fixture(scope="module")
def patient_world() -> Iterator[PatientWorld]:
    with PatientWorld() as world:
        yield world


@pytest.fixture(scope="module")
def prepared(patient_world, tmp_path_factory) -> Prepared:
    return anyio.run(prepare, patient_world, tmp_path_factory.mktemp("prepared"))


@pytest.mark.parametrize(("way", "era"), EACH)
def test_every_two_tools_can_be_called_first(patient_world, prepared, way, era):
    """Each group of tools in one way; with all examples, in all of them."""
    planned = groups(list(prepared.calls), AT_ONCE)
    faults = [
        fault
        for turn, group in enumerate(planned)
        if has_turn(turn - EACH.index((way, era)), every=len(EACH))
        for fault in faults_of(patient_world, prepared, group, turn, way, era)
    ]
    assert not faults, "\n".join(faults)


def test_every_two_tools_are_in_a_group_and_every_tool_has_a_call(settings, prepared):
    names = [tool.name for tool in list_enabled_tools(Library(**settings, mcp_toolsets=("all",)))]
    names = [name for name in names if name not in ELSEWHERE]
    assert set(names) == set(prepared.calls)
    planned = groups(names, AT_ONCE)
    assert max(map(len, planned)) == AT_ONCE
    met = {pair for group in planned for pair in itertools.permutations(group, 2)}
    assert met == set(itertools.permutations(names, 2))
