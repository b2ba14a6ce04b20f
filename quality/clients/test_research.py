"""Ten tasks of research: right by what a model is shown, in few calls and tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.clients.research import TASKS, Desk, Task
from tests.clients.python_clients import CLIENTS, PatientWorld, Place, environment

pytestmark = pytest.mark.slow

PAPERS = 40  # those of `quality.benchmarks.research_tasks` are five times as many


@pytest.mark.anyio
@pytest.mark.parametrize("task", TASKS, ids=[task.asked for task in TASKS])
async def test_a_task_is_done_rightly_within_its_calls_and_tokens(
    task: Task, tmp_path: Path
) -> None:
    with PatientWorld(field=PAPERS) as world:
        told = environment(world, tmp_path) | {"MCP_DELIVERY": "both"}
        async with CLIENTS["Python SDK"](Place(told), "auto") as session:
            desk = Desk(session)
            found = await task.now(desk, world)
    assert task.right(world, found), found
    assert not desk.says(found)
    calls, tokens = task.most
    assert desk.calls <= calls
    assert max(desk.tokens.values()) <= tokens
