"""Skills over MCP: listed with digests, read as files, true to the tools there are."""

import hashlib
import re

import pytest
import yaml
from fastmcp import Client
from mcp.types import Request, Result
from pydantic import ConfigDict

from utils import Library
from utils.mcp import build, skills

pytestmark = pytest.mark.anyio
NAMES = ["citation-check", "gene-survey", "systematic-review"]
FILES = sorted(skills.FOLDER.glob("*/SKILL.md"))
# Words of arguments, states and files that are written like tools.
OTHER = re.compile(r"[A-Z\[\]\"(/.:-]|\s|^[a-z]+$")


class Anything(Result):
    model_config = ConfigDict(extra="allow")


@pytest.fixture
def client(settings):
    return Client(build(Library(**settings, mcp_toolsets="all")))


async def test_every_skill_is_listed_with_the_digest_of_its_bytes(client):
    async with client:
        asked = Request(method="skills/list", params={})
        listed = (await client.session.send_request(asked, Anything)).model_dump()["skills"]
        assert sorted(one["frontmatter"]["name"] for one in listed) == NAMES
        for one in listed:
            [file] = [row for row in one["resources"] if row["uri"] == one["uri"]]
            [read] = await client.read_resource(one["uri"])
            data = read.text.encode()
            assert file["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert file["size"] == len(data)
            assert one["frontmatter"] == yaml.safe_load(read.text.split("---")[1])


async def test_older_hosts_read_them_as_resources(settings):
    async with Client(build(Library(**settings)), mode="legacy") as client:
        found = {str(one.uri) for one in await client.list_resources()}
        assert {f"skill://{name}/SKILL.md" for name in NAMES} <= found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
async def test_a_skill_names_only_tools_and_arguments_there_are(client, file):
    async with client:
        tools = await client.list_tools()
    known = {tool.name for tool in tools} | {
        name for tool in tools for name in tool.input_schema["properties"]
    }
    assert {tool.name for tool in tools} & set(
        re.findall(r"`(\w+)`", file.read_text(encoding="utf-8"))
    )
    named = {
        word
        for word in re.findall(r"`([^`]+)`", file.read_text(encoding="utf-8"))
        if not OTHER.search(word)
    }
    answers = {"effective_query", "next_start"}
    assert named - known - answers == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_skill_says_when_it_is_wanted_and_warns_of_what_papers_say(file):
    head = yaml.safe_load(file.read_text(encoding="utf-8").split("---")[1])
    assert head["name"] == file.parent.name
    assert 40 < len(head["description"]) <= 1024
    assert "untrusted" in file.read_text(encoding="utf-8")


async def test_its_file_is_listed_by_its_own_name_and_words(client):
    """And without notes of ours: `_meta` is the extension's (ext-skills, Resource metadata)."""
    async with client:
        listed = {str(one.uri): one for one in await client.list_resources()}
    for file in FILES:
        _, frontmatter, _ = file.read_text(encoding="utf-8").split("---", 2)
        about = yaml.safe_load(frontmatter)
        one = listed[f"skill://{about['name']}/SKILL.md"]
        assert (one.name, one.description) == (about["name"], about["description"])
    assert not [one.uri for one in listed.values() if "skill://" in str(one.uri) and one.meta]
