"""The tasks with a rival: ``@cyanheads/pubmed-mcp-server`` of npm, before the same stand-in.

Its sites are constants in its code, so node loads `research_rival.mjs` before it, which sends what
it asks of them to the stand-in and refuses everything else. Quotations it cannot check: the script
compares them with what was read, as a model that remembers every word would.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from quality.clients import research
from quality.clients.research import Desk, Found, Script
from tests.clients.python_clients import Place
from tests.world import World

PACKAGE = "node_modules/@cyanheads/pubmed-mcp-server/dist/index.js"
REDIRECT = Path(__file__).with_suffix(".mjs")
SITES = {
    "https://eutils.ncbi.nlm.nih.gov/entrez/eutils": "eutils",
    "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles": "idconv",
    "https://www.ebi.ac.uk/europepmc/webservices/rest": "europepmc",
    "https://api.unpaywall.org/v2": "unpaywall",
}


def place(world: World, folder: Path, home: Path) -> Place:
    """How it is started."""
    sites = {site: world.url(service) for site, service in SITES.items()}
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "LOGS_DIR": str(home)}
    own |= {"STAND_IN": json.dumps(sites), "MCP_TRANSPORT_TYPE": "stdio"}
    own |= dict.fromkeys(("NCBI_ADMIN_EMAIL", "UNPAYWALL_EMAIL"), "tester@lab.edu")
    own |= {"NCBI_REQUEST_DELAY_MS": "50"}
    command = ["node", "--import", str(REDIRECT), str(folder / PACKAGE)]
    return Place(own, command=command)


async def _texts(desk: Desk, papers: list[str], *sections: str) -> dict[str, str]:
    """What it can get of papers, in tens; the abstracts of the others."""
    texts = {}
    for at in range(0, len(papers), 10):
        asked = {"sections": list(sections)} if sections else {}
        came = await desk.call("pubmed_fetch_fulltext", pmids=papers[at : at + 10], **asked)
        for one in came.get("articles", ()):
            if told := "\n\n".join(section.get("text", "") for section in one.get("sections", ())):
                texts[one.get("pmid", "")] = told
    missing = [pmid for pmid in papers if pmid not in texts]
    if missing:
        came = await desk.call("pubmed_fetch_articles", pmids=missing)
        texts |= {one["pmid"]: one.get("abstractText", "") for one in came.get("articles", ())}
    return {pmid: texts.get(pmid, "") for pmid in papers}


async def _review(desk: Desk, world: World) -> Found:
    found = await desk.call("pubmed_search_articles", query=research.TOPIC, maxResults=20)
    texts = await _texts(desk, found["pmids"], "results")
    quotes = research.quotes_of(texts)
    cited = await desk.call("pubmed_format_citations", pmids=found["pmids"], format="ris")
    references = [json.dumps(one, ensure_ascii=False) for one in cited["citations"]]
    return {
        "quotes": quotes,
        "verdicts": research.compared(quotes, texts),
        "handles": [],
        "references": references,
        "unread": [pmid for pmid in found["pmids"] if pmid not in quotes],
    }


async def _coverage(desk: Desk, world: World) -> Found:
    """It has no account of many papers: each is fetched, and counted by who had it."""
    found = await desk.call("pubmed_search_articles", query="field[ti]", maxResults=200)
    sources: dict[str, int] = {}
    for at in range(0, len(found["pmids"]), 10):
        asked = {"pmids": found["pmids"][at : at + 10], "sections": ["conclusions"]}
        for one in (await desk.call("pubmed_fetch_fulltext", **asked)).get("articles", ()):
            sources[one["source"]] = sources.get(one["source"], 0) + 1
    missing = len(found["pmids"]) - sum(sources.values())
    return {"sources": sources, "reasons": {"unknown": missing}}


async def _number(desk: Desk, world: World) -> Found:
    pmid = research.with_number(world).pmid
    texts = await _texts(desk, [pmid], "methods")
    return research.COUNTED.findall(texts[pmid])


async def _compare(desk: Desk, world: World) -> Found:
    papers = [one.pmid for one in research.whole_papers(world)[:6]]
    return await _texts(desk, papers, "conclusions")


async def _check(desk: Desk, world: World) -> Found:
    quotes, _ = research.manuscript(world)
    return research.compared(quotes, await _texts(desk, list(quotes)))


async def _retracted(desk: Desk, world: World) -> Found:
    found = await desk.call("pubmed_search_articles", query="field[ti]", maxResults=200)
    came = await desk.call("pubmed_fetch_articles", pmids=found["pmids"], includeMesh=False)
    return sorted(
        one["pmid"]
        for one in came["articles"]
        if "Retracted Publication" in one.get("publicationTypes", ())
    )


async def _citing(desk: Desk, world: World) -> Found:
    asked = {"relationship": "cited_by", "maxResults": 50}
    found = await desk.call("pubmed_find_related", pmid=world.paper("pmc_cloud").pmid, **asked)
    return sorted(one["pmid"] for one in found["articles"])


async def _pair(desk: Desk, world: World) -> Found:
    found = await desk.call("pubmed_search_articles", query="CXCL12 AND CXCR4")
    texts = await _texts(desk, found["pmids"], "results")
    return {pmid: sorted(set(re.findall("CXCL12|CXCR4", text))) for pmid, text in texts.items()}


async def _table(desk: Desk, world: World) -> Found:
    pmid = next(one.pmid for one in research.whole_papers(world) if "table" in one.features)
    text = (await _texts(desk, [pmid], "results"))[pmid]
    values = re.findall(r"\d\.\d\d ± \d\.\d\d", text.partition("treated")[2])
    return dict(zip(("early", "late"), [*values, "", ""], strict=False))


async def _published(desk: Desk, world: World) -> Found:
    """It links no preprint to its paper: the number is what the search of Europe PMC says."""
    title = world.paper("arxiv_published").plain_title
    found = await desk.call("pubmed_europepmc_search", query=title)
    best = (found.get("results") or found.get("articles") or [{}])[0]
    return [best.get(name, "") for name in ("arxivId", "doi", "pmid", "journal")]


SCRIPTS: dict[str, Script] = dict(
    zip(
        [task.asked for task in research.TASKS],
        (
            _review,
            _coverage,
            _number,
            _compare,
            _check,
            _retracted,
            _citing,
            _pair,
            _table,
            _published,
        ),
        strict=True,
    )
)
