"""One call of everything a server offers, the same for every client, and who judges the answers.

The steps are JSON, so that clients in other languages take the same tour. ``$job`` stands for the
harvest and ``$dataset`` for the dataset that a call before has made.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.clients.judge import fault_of_refusal, fault_of_result
from tests.world import World
from utils import Library

JOB, DATASET = "$job", "$dataset"
REVIEW = "tour"
# Tools whose arguments are all optional, but not all at once.
CHOSEN = {"download_paper": ("pmid",), "harvest_papers": ("ids",)}
# Those after need what these leave.
FIRST = ("pubmed_sync_delta", "download_paper", "harvest_papers")
REFUSED = {"kind": "refusal", "name": "search_pubmed", "arguments": {"query": ""}}


def begin_review(papers: Path) -> None:
    """Make the review that the tour updates: people begin one in the shell, no tool does."""
    review = Library(papers_dir=papers).reviews.create(REVIEW)
    search = "databases: [{source: pubmed, query: coral}]"
    (review.folder / "protocol.yaml").write_text(f"title: {REVIEW}\n{search}\n", encoding="utf-8")


class Session(Protocol):
    """What a client must be able to do; answers are as they stood on the wire."""

    protocol_version: str

    async def listing(self) -> dict[str, list[dict[str, Any]]]: ...
    async def take(self, step: dict[str, Any]) -> dict[str, Any]: ...


def examples(world: World) -> dict[str, Any]:
    """A value for every argument, by its name, about one paper."""
    paper, preprint = world.paper("pmc_cloud"), world.paper("arxiv")
    citation = {"journal": paper.journal.short, "year": "2025", "author": "Keller A", "key": "1"}
    one: dict[str, Any] = {
        "ligand": "CXCL12", "receptor": "CXCR4", "arxiv_id": preprint.arxiv, "doi": paper.doi,
        "job_id": JOB, "citations": [citation], "quotes": [{"text": paper.plain_title}],
        "doc_id": f"pmid:{paper.pmid}", "query_key": "tour", "last_edat": "2025-01-01",
        "quote": paper.plain_title, "text": paper.plain_title, "tool_name": "search_pubmed",
        "file": "index.csv", "review": REVIEW,
    }  # fmt: skip
    one |= dict.fromkeys(
        ("pmid", "source_pmid", "paper", "identifier", "paper_id", "key"), paper.pmid
    )
    one |= {name: [paper.pmid] for name in ("pmids", "ids", "papers")}
    return one | dict.fromkeys(("query", "query_term", "term", "question", "topic"), "coral")


def operations(world: World) -> dict[str, list[dict[str, Any]]]:
    """A call of every operation, of the tools that have several."""
    paper = world.paper("pmc_cloud")
    ids, coral, aspirin = {"ids": [paper.pmid]}, {"term": "coral"}, {"query": "aspirin"}
    asked = {"dataset": DATASET, "sql": "SELECT * FROM _dataset"}
    taken = {
        "entrez_query": {
            **dict.fromkeys(("search", "spell", "global_query"), coral),
            **dict.fromkeys(("summary", "fetch", "link", "post"), ids),
            "info": {},
        },
        "entrez_data": {
            "fetch_and_stage": ids, "schema": {"dataset": DATASET}, "query": asked,
            "export": {**asked, "sql": "SELECT name FROM _dataset", "file": "tour.csv"},
            "list_datasets": {},
        },
        "entrez_external": {
            **dict.fromkeys(("compounds", "names", "papers", "similar"), aspirin),
            **dict.fromkeys(("substructure", "superstructure"), aspirin),
            "ids": ids,
            "text": {"ids": [paper.pmcid]},
        },
    }  # fmt: skip
    return {
        tool: [{"operation": name, **arguments} for name, arguments in each.items()]
        for tool, each in taken.items()
    }


ELSEWHERE = ("zotero_pull", "zotero_push")
"""Tools that need another program on this machine; ``tests/zotero`` calls them."""


def steps(listed: dict[str, list[dict[str, Any]]], world: World) -> list[dict[str, Any]]:
    """The tour of what is *listed*: tools, resources, templates and prompts, and a refusal.

    Raises
    ------
    KeyError
        Something must be given that `examples` has no value for.
    """
    known, severally = examples(world), operations(world)
    order = {name: place for place, name in enumerate(FIRST)}
    tools = sorted(listed["tools"], key=lambda tool: order.get(tool["name"], len(FIRST)))
    tour: list[dict[str, Any]] = []
    for tool in tools:
        if tool["name"] in ELSEWHERE:
            continue
        names = CHOSEN.get(tool["name"]) or tool["inputSchema"].get("required", ())
        calls = severally.get(tool["name"]) or [{name: known[name] for name in names}]
        tour += [{"kind": "tool", "name": tool["name"], "arguments": each} for each in calls]
        if tool["name"] == "harvest_papers":
            done = {"job_id": JOB, "wait_s": 20}
            tour.append({"kind": "tool", "name": "harvest_status", "arguments": done})
    tour += [{"kind": "resource", "uri": one["uri"]} for one in listed["resources"]]
    for one in listed["resourceTemplates"]:
        template = one["uriTemplate"]
        [name] = [word for word in known if f"{{{word}}}" in template]
        tour.append({"kind": "resource", "uri": template.replace(f"{{{name}}}", known[name])})
        reference = {"type": "ref/resource", "uri": template}
        tour.append({"kind": "completion", "ref": reference, "argument": {"name": name}})
    for one in listed["prompts"]:
        needed = [each["name"] for each in one["arguments"] if each.get("required")]
        arguments = {name: known[name] for name in needed}
        tour.append({"kind": "prompt", "name": one["name"], "arguments": arguments})
    return [*tour, REFUSED]


def with_left(step: dict[str, Any], left: dict[str, str]) -> dict[str, Any]:
    """The step about what earlier ones have left."""
    told = json.dumps(step)
    for name, value in left.items():
        told = told.replace(name, value)
    taken: dict[str, Any] = json.loads(told)
    return taken


def left_by(step: dict[str, Any], made: dict[str, Any]) -> dict[str, str]:
    """What a call leaves for those after it: a harvest or a dataset."""
    job = made.get("job_id") if step["name"] == "harvest_papers" else None
    names = {JOB: job, DATASET: made.get("dataset")}
    return {name: value for name, value in names.items() if value}


@dataclass
class Visit:
    """What one client saw."""

    client: str
    transport: str
    era: str
    seen: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A line of the client matrix."""
        kinds = "tool", "resource", "prompt", "completion", "refusal"
        counts = "".join(f" {self.seen[kind]:>10}" for kind in kinds)
        told = "; ".join(self.faults)[:300] or "all as promised"
        return f"{self.client:26} {self.transport:6} {self.era:11}{counts}  {told}"


HEAD = (
    f"{'client':26} {'over':6} {'era':11}"
    f"{'tools':>11}{'resources':>11}{'prompts':>11}{'completed':>11}{'refused':>11}"
)


async def visit(session: Session, world: World, client: str, transport: str) -> Visit:
    """Take the tour with a client of this language."""
    seen = Visit(client, transport, session.protocol_version)
    listed = await session.listing()
    schemas = {tool["name"]: tool["outputSchema"] for tool in listed["tools"]}
    left = {JOB: "", DATASET: ""}
    for step in steps(listed, world):
        taken = with_left(step, left)
        answer = await session.take(taken)
        if fault := fault_of(step, answer, schemas):
            seen.faults.append(f"{step.get('name') or step.get('uri') or step['ref']}: {fault}")
        seen.seen[step["kind"]] += 1
        if step["kind"] == "tool" and not answer.get("isError"):
            left |= left_by(step, answer["structuredContent"])
    return seen


def fault_of(
    step: dict[str, Any], answer: dict[str, Any], schemas: dict[str, dict[str, Any]]
) -> str:
    """What is wrong with the answer to one step; empty when nothing."""
    if step["kind"] == "tool":
        if answer.get("isError"):
            return f"refused: {answer['content'][0]['text']:.300}"
        return fault_of_result(answer, schemas[step["name"]])
    if step["kind"] == "refusal":
        return fault_of_refusal(answer) if answer.get("isError") else "it was not refused"
    if step["kind"] == "resource":
        return "" if answer["contents"][0]["text"] else "nothing to read"
    if step["kind"] == "prompt":
        return "" if answer["messages"][0]["content"]["text"] else "nothing to say"
    return "" if answer["completion"]["values"] else "nothing to complete"
