"""A harvest from beginning to account, by a model that knows no more than what tools tell it."""

import ast
import json
import re
from collections import Counter
from typing import Any

import pytest

from tests.clients.python_clients import CLIENTS, PatientWorld, Place, environment

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
PAPERS = 200
CALLS, TOKENS = 6, 4000


class Model:
    """Follows the next call that an answer names, and keeps count of what it was shown."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.calls = 0
        self.shown = Counter[str]()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        step = {"kind": "tool", "name": tool, "arguments": arguments}
        answer = await self._session.take(step)
        assert not answer.get("isError"), answer
        self.calls += 1
        asked = len(tool) + len(json.dumps(arguments, separators=(",", ":")))
        blocks = sum(len(block.get("text") or json.dumps(block)) for block in answer["content"])
        structure = json.dumps(answer["structuredContent"], ensure_ascii=False)
        self.shown.update(text=asked + blocks, structure=asked + len(structure))
        return answer

    async def follow(self, said: str) -> dict[str, Any]:
        """Make a call that is spelled out as ``tool(name=value): why``."""
        match = re.match(r"(\w+\(.*?\))(: |$)", said)
        assert match, said
        spelled = ast.parse(match[1], mode="eval").body
        assert isinstance(spelled, ast.Call)
        assert isinstance(spelled.func, ast.Name)
        arguments = {one.arg: ast.literal_eval(one.value) for one in spelled.keywords}
        return await self.call(spelled.func.id, **arguments)


def text_of(answer: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in answer["content"] if block["type"] == "text")


def next_calls(text: str) -> list[str]:
    [line] = re.findall(r"^next: (.+)$", text, re.M) or [""]
    return [one for one in line.split("; ") if one]


def counted(text: str, head: str) -> dict[str, int]:
    """A line such as ``sources: PMC=9; arXiv=1``, by what is counted."""
    [line] = re.findall(rf"^{head}: (.+)$", text, re.M)
    pairs = [pair.rpartition("=") for pair in line.split("; ")]
    return {name: int(papers) for name, _, papers in pairs}


async def test_all_is_collected_and_accounted_for_in_few_calls_and_tokens(tmp_path):
    """By the text alone, which says no less than the structure beside it."""
    with PatientWorld(field=PAPERS) as world:
        place = Place(environment(world, tmp_path) | {"MCP_TOOLSETS": "core"})
        async with CLIENTS["Python SDK"](place, "auto") as session:
            model = Model(session)
            answer = await model.call("harvest_papers", query="field[ti]")
            while "\nstate: running\n" in text_of(answer):
                answer = await model.follow(next_calls(text_of(answer))[0])
            account, missing = answer, set[str]()
            while pages := [one for one in next_calls(text_of(answer)) if "show=" in one]:
                answer = await model.follow(pages[0])
                missing |= set(re.findall(r"^- \d+ \| PMID (\d+)", text_of(answer), re.M))
        truth = list(world.field)
    assert model.calls <= CALLS
    shown = {how: characters / 4 for how, characters in model.shown.items()}
    assert sum(shown.values()) <= TOKENS, shown  # also where a host shows both
    held = sum(record.expected == "full_text" for record in truth)
    text, structure = text_of(account), account["structuredContent"]
    assert f"requested={PAPERS}; full_text={held}; " in text
    for table in ("sources", "reasons"):
        assert counted(text, table) == structure[table]
    assert sum(structure["sources"].values()) == held
    assert sum(structure["reasons"].values()) == PAPERS - held
    assert missing == {one.pmid for one in truth if one.expected != "full_text"}
    assert next_calls(text) == structure["next"]
