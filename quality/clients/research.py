"""Ten tasks of research, done by calls as a model would make them, and what each of them costs.

A task is a script of calls and the right answer, which is taken from the stand-in's own records.
The scripts know no more than what tools tell them. What a model is shown is counted for both kinds
of host, those that show it the structure and those that show it the text; all that a script found
must stand in both. ``before`` does the same without the tools for many papers.
"""

# ruff: noqa: E501 - a task is a line of the table
from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.world import Record, World, kinship
from utils.demo.prose import abstract, body
from utils.demo.records import strip_markup

TOPIC = "field[ti] AND (coral[mh] OR moss[mh])"
_MANY = "read_papers", "verify_quotes", "cite_papers", "download_papers"
_BYTES = 4  # of a token, as is usual for English
Found = Any


@dataclass
class Desk:
    """Where calls are made: counts them, and the bytes that a model writes and is shown."""

    session: Any
    calls: int = 0
    written: int = 0
    structure: int = 0
    text: int = 0
    texts: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structure of an answer; empty for a refusal."""
        step = {"kind": "tool", "name": tool, "arguments": arguments}
        answer = await self.session.take(step)
        said = "\n".join(block.get("text") or block.get("uri", "") for block in answer["content"])
        structure = answer.get("structuredContent") or {}
        self.calls += 1
        self.written += len(f"{tool}{as_json(arguments)}".encode())
        self.text += len(said.encode())
        self.structure += len((as_json(structure) if structure else said).encode())
        self.texts.append(said)
        return structure

    @property
    def tokens(self) -> dict[str, int]:
        """What a model writes and is shown, by the kind of host."""
        shown = {"structure": self.structure, "text": self.text}
        return {host: (self.written + size) // _BYTES for host, size in shown.items()}

    def says(self, found: Found) -> list[str]:
        """The words of *found* that the texts do not have: nothing where both say the same."""
        said = even("\n".join(self.texts))
        return [words for words in _words(found) if even(words) not in said]


Script = Callable[[Desk, World], Awaitable[Found]]


@dataclass(frozen=True)
class Task:
    """What is asked; ``right`` judges what was found; ``most`` are the calls and tokens allowed."""

    asked: str
    now: Script
    before: Script
    right: Callable[[World, Found], bool]
    most: tuple[int, int] = (10, 10_000)


# --- one paper after the other, as it was before --------------------------------------------------


async def _sections(desk: Desk, papers: list[str], section: str) -> dict[str, str]:
    """A section of each paper; of those that have none, what they have."""
    texts = {}
    for pmid in papers:
        await desk.call("download_paper", pmid=pmid)
        read = await desk.call("read_paper", paper=pmid, section=section)
        read = read or await desk.call("read_paper", paper=pmid)
        texts[pmid] = read.get("text", "")
    return texts


async def _many_sections(
    desk: Desk, papers: list[str], section: str, budget: int
) -> dict[str, str]:
    """The same in one call, and another one where papers are still on their way."""
    asked = {"papers": papers, "sections": [section], "budget_tokens": budget}
    rows, more = [], {}
    while not rows or more:
        read = await desk.call("read_papers", **asked, **more)
        rows += read["papers"]
        more = {"cursor": read["next_cursor"]} if "next_cursor" in read else {}
    return {
        row["paper"]: "\n\n".join(part["text"] for part in row.get("parts", ())) for row in rows
    }


# --- 1: a review of twenty papers, each quoted and cited ------------------------------------------


async def _review(desk: Desk, _: World) -> Found:
    found = await desk.call("search_pubmed", query=TOPIC, max_results=20)
    papers = [one["pmid"] for one in found["papers"]]
    texts = await _many_sections(desk, papers, "results", 12_000)
    quotes = quotes_of(texts)
    asked = [{"text": text, "paper": pmid} for pmid, text in quotes.items()]
    checked = (await desk.call("verify_quotes", quotes=asked))["quotes"]
    cited = await desk.call("cite_papers", papers=papers, style="vancouver")
    verdicts = {pmid: row["verdict"] for pmid, row in zip(quotes, checked, strict=True)}
    handles = [row["handle"] for row in checked if "handle" in row]
    references = [row.get("reference", "") for row in cited["references"]]
    return {
        "quotes": quotes,
        "verdicts": verdicts,
        "handles": handles,
        "references": references,
        "unread": [pmid for pmid in papers if pmid not in quotes],
    }


async def _review_before(desk: Desk, _: World) -> Found:
    """The model compares each quotation with what it has read: nothing checks it in one paper."""
    found = await desk.call("search_pubmed", query=TOPIC, max_results=20)
    papers = [one["pmid"] for one in found["papers"]]
    texts = await _sections(desk, papers, "results")
    quotes, references = quotes_of(texts), []
    for pmid in papers:
        styled = {"relationship_type": "citation_formats", "citation_styles": ["vancouver"]}
        cited = await desk.call("get_article_relationships", source_pmid=pmid, **styled)
        references.append(cited["citations"]["vancouver"])
    return {
        "quotes": quotes,
        "verdicts": compared(quotes, texts),
        "handles": [],
        "references": references,
        "unread": [pmid for pmid in papers if pmid not in quotes],
    }


def compared(quotes: dict[str, str], texts: dict[str, str]) -> dict[str, str]:
    """What a model that remembers every word it read says of quotations."""
    return {
        pmid: "verbatim" if quoted in even(texts[pmid]) else "near"
        for pmid, quoted in quotes.items()
    }


def quotes_of(texts: dict[str, str]) -> dict[str, str]:
    """A sentence of what was read of each paper; in every third a slip in a figure."""
    quotes = {}
    for at, (pmid, text) in enumerate(texts.items()):
        said = re.sub(r"^\[[\w-]+\] |^#+ .*$|^\*\*.*?\*\*|^[A-Z]\w+: .*$", "", text, flags=re.M)
        sentences = re.findall(r"[A-Z][^.?!\n]*(?:\.\d[^.?!\n]*)*\.(?=\s|$)", said)
        wanted = [one for one in sentences if re.search(r"\b\d\d\b", one)] if at % 3 == 0 else []
        if wanted:
            quotes[pmid] = re.sub(
                r"\b(\d)(\d)\b", lambda m: f"{m[2]}{int(m[1]) % 9 + 1}", wanted[0]
            )
        elif sentences:
            quotes[pmid] = sentences[0]
    return quotes


def _review_right(world: World, found: Found) -> bool:
    truth = {
        pmid: "verbatim" if text.rstrip(".") in _prose(_known(world, pmid)) else "near"
        for pmid, text in found["quotes"].items()
    }
    unread = [_known(world, pmid).expected for pmid in found["unread"]]
    named = all(
        _known(world, pmid).journal.short in "\n".join(found["references"]) for pmid in truth
    )
    return (
        found["verdicts"] == truth
        and len(truth) + len(unread) == len(found["references"])
        and len(found["references"]) == min(20, len(_topical(world)))
        and not {"full_text", "abstract"}.intersection(unread)
        and {*truth} <= {one.pmid for one in _topical(world)}
        and named
        and "near" in truth.values()
    )


# --- 2: everything of a query, and an account of it -----------------------------------------------


async def _coverage(desk: Desk, _: World) -> Found:
    job = await desk.call("harvest_papers", query="field[ti]")
    while job.get("state") == "running":
        job = await desk.call("harvest_status", job_id=job["job_id"], wait_s=20)
    return {"sources": job["sources"], "reasons": job["reasons"]}


def _coverage_right(world: World, found: Found) -> bool:
    held = sum(one.expected == "full_text" for one in world.field)
    missing = len(world.field) - held
    return (sum(found["sources"].values()), sum(found["reasons"].values())) == (held, missing)


# --- 3 to 10 --------------------------------------------------------------------------------------

COUNTED = re.compile(r"(\d+) fields were counted per sample")


async def _number(desk: Desk, world: World, *, many: bool) -> Found:
    pmid = with_number(world).pmid
    if not many:
        text = (await _sections(desk, [pmid], "methods"))[pmid]
    else:
        asked = {"sections": ["methods"], "question": "fields counted per sample"}
        read = await desk.call("read_papers", papers=[pmid], budget_tokens=800, **asked)
        text = "\n".join(part["text"] for part in read["papers"][0]["parts"])
    return COUNTED.findall(text)


def with_number(world: World) -> Record:
    return next(
        one
        for one in world.field
        if one.expected == "full_text" and COUNTED.search(_section(one, "Materials and methods"))
    )


def _number_right(world: World, found: Found) -> bool:
    truth = set(COUNTED.findall(_section(with_number(world), "Materials and methods")))
    return bool(found) and set(found) <= truth


async def _compare(desk: Desk, world: World, *, many: bool) -> Found:
    papers = [one.pmid for one in whole_papers(world)[:6]]
    if many:
        return await _many_sections(desk, papers, "conclusion", 4000)
    return await _sections(desk, papers, "conclusion")


def _compare_right(world: World, found: Found) -> bool:
    return len(found) > 1 and all(
        paragraph in even(found[pmid])
        for pmid in found
        for paragraph in _paragraphs(_known(world, pmid), "Conclusions")
    )


def manuscript(world: World) -> tuple[dict[str, str], dict[str, str]]:
    """Four quotations by the paper they are ascribed to, and what is right to say of each."""
    one, two, three, other = whole_papers(world)[:4]
    said = [_first_sentence(one), _first_sentence(two), _first_sentence(three)]
    slip = re.sub(r"\d", lambda m: str((int(m[0]) + 3) % 9 + 1), _numbered_sentence(two), count=1)
    quotes = {one.pmid: said[0], two.pmid: slip, three.pmid: said[2], other.pmid: said[1]}
    kept = said[1].rstrip(".") in _prose(other)
    truth = dict.fromkeys(quotes, "verbatim") | {two.pmid: "near"}
    return quotes, truth | {other.pmid: "verbatim" if kept else "not verbatim"}


async def _check(desk: Desk, world: World) -> Found:
    quotes, _ = manuscript(world)
    await desk.call("download_papers", papers=list(quotes))
    asked = [{"text": text, "paper": pmid} for pmid, text in quotes.items()]
    rows = (await desk.call("verify_quotes", quotes=asked))["quotes"]
    return {pmid: row["verdict"] for pmid, row in zip(quotes, rows, strict=True)}


async def _check_before(desk: Desk, world: World) -> Found:
    quotes, _ = manuscript(world)
    texts = await _sections(desk, list(quotes), "results")
    return compared(quotes, texts)


def _check_right(world: World, found: Found) -> bool:
    _, truth = manuscript(world)
    return all(
        (found[pmid] == said) if said != "not verbatim" else found[pmid] in ("near", "absent")
        for pmid, said in truth.items()
    )


async def _retracted(desk: Desk, _: World) -> Found:
    query = "field[ti] AND retracted publication[pt]"
    found = await desk.call("search_pubmed_minimal", query=query, max_results=200)
    return sorted(one["pmid"] for one in found["papers"])


def _retracted_right(world: World, found: Found) -> bool:
    return found == sorted(one.pmid for one in world.field if one.retracted)


async def _citing(desk: Desk, world: World) -> Found:
    asked = {"relationship_type": "pubmed_citedin", "max_related_results": 50}
    pmid = world.paper("pmc_cloud").pmid
    found = await desk.call("get_article_relationships", source_pmid=pmid, **asked)
    return sorted(one["pmid"] for one in found["related_articles"])


def _citing_right(world: World, found: Found) -> bool:
    return found == sorted(one.pmid for one in kinship.citing(world.paper("pmc_cloud"), world))


async def _pair(desk: Desk, _: World, *, many: bool) -> Found:
    found = await desk.call("search_pubmed_lr", ligand="CXCL12", receptor="CXCR4")
    papers = [one["pmid"] for one in found["papers"]]
    if many:
        asked = {"question": "CXCL12 binding and CXCR4 internalisation", "budget_tokens": 3000}
        read = await desk.call("read_papers", papers=papers, **asked)
        texts = {
            row["paper"]: " ".join(part["text"] for part in row["parts"]) for row in read["papers"]
        }
    else:
        texts = await _sections(desk, papers, "results")
    return {pmid: sorted(set(re.findall("CXCL12|CXCR4", text))) for pmid, text in texts.items()}


def _pair_right(world: World, found: Found) -> bool:
    """What was found names both, and the paper whose title does is among it."""
    pair = world.paper("pmc_cloud")
    return pair.pmid in found and all(
        genes == ["CXCL12", "CXCR4"] and all(gene in _prose(_known(world, pmid)) for gene in genes)
        for pmid, genes in found.items()
    )


async def _table(desk: Desk, world: World) -> Found:
    pmid = next(one.pmid for one in whole_papers(world) if "table" in one.features)
    await desk.call("download_paper", pmid=pmid)
    shown = await desk.call("paper_objects", paper=pmid, which="Table 1")
    return dict(zip(shown["columns"], shown["rows"][-1], strict=True))


def _table_right(_: World, found: Found) -> bool:
    named = {name.rpartition(" ")[2]: value.rstrip("*") for name, value in found.items()}
    return (named["early"], named["late"]) == ("3.71 ± 0.42", "2.15 ± 0.37")


async def _published(desk: Desk, world: World) -> Found:
    title = world.paper("arxiv_published").plain_title
    asked = {"max_results": 3, "abstracts": False}
    found = await desk.call("search_papers", query=title, **asked)
    best = found["papers"][0]
    return [best["arxiv_id"], best["doi"], best["pmid"], best["journal"]]


def _published_right(world: World, found: Found) -> bool:
    one = world.paper("arxiv_published")
    return found == [one.arxiv, one.doi, one.pmid, one.journal.title]


TASKS = (
    Task("review of 20 papers, quotations checked", _review, _review_before, _review_right, (5, 25_000)),
    Task("all 200 papers of a query, accounted for", _coverage, _coverage, _coverage_right, (6, 4000)),
    Task("a number in the methods", partial(_number, many=True), partial(_number, many=False), _number_right, (1, 1500)),
    Task("conclusions of 6 papers", partial(_compare, many=True), partial(_compare, many=False), _compare_right, (1, 5000)),
    Task("four citations of a manuscript", _check, _check_before, _check_right, (2, 1500)),
    Task("which of 200 are retracted", _retracted, _retracted, _retracted_right, (1, 1500)),
    Task("who cites this paper", _citing, _citing, _citing_right, (1, 3000)),
    Task("survey of a gene pair", partial(_pair, many=True), partial(_pair, many=False), _pair_right, (2, 5000)),
    Task("values of a table", _table, _table, _table_right, (2, 500)),
    Task("the published version of a preprint", _published, _published, _published_right, (1, 1000)),
)  # fmt: skip


# --- what the records say -------------------------------------------------------------------------


def _topical(world: World) -> list[Record]:
    return [one for one in world.field if one.topic in ("coral", "moss")]


def whole_papers(world: World) -> list[Record]:
    return [one for one in world.field if one.branch == "pmc_cloud"]


def _known(world: World, pmid: str) -> Record:
    record = world.record(pmid)
    assert record
    return record


def _paragraphs(record: Record, title: str) -> list[str]:
    return [even(strip_markup(one)) for name, told in body(record) if name == title for one in told]


def _section(record: Record, title: str) -> str:
    return " ".join(_paragraphs(record, title))


def _abstract(record: Record) -> str:
    return even(" ".join(strip_markup(text) for _, text in abstract(record)))


def _prose(record: Record) -> str:
    told = " ".join(strip_markup(one) for _, paragraphs in body(record) for one in paragraphs)
    return even(f"{_abstract(record)} {told}")


def _first_sentence(record: Record) -> str:
    return f"{_section(record, 'Results').partition('. ')[0]}."


def _numbered_sentence(record: Record) -> str:
    said = _section(record, "Results").split(". ")
    return next(one for one in said if re.search(r"\b\d\d\b", one))


# --- words ----------------------------------------------------------------------------------------


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def even(text: str) -> str:
    return " ".join(text.split())


def _words(found: Found) -> Iterator[str]:
    """The words of an answer that came from a tool."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, int):
        yield str(found)
    elif isinstance(found, dict):
        for name, value in found.items():
            if name != "quotes":  # a model's own, slips included
                yield from _words(value)
    else:
        for value in found or ():
            yield from _words(value)
