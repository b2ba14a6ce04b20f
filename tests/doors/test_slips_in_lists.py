"""One slip in a list is named, with the reason, and the rest goes on: wherever lists are taken."""

import io
import json

import pytest

from tests.examples import has_turn
from tests.mcp.calling import answer, call
from utils import Library, cli
from utils.errors import BadRequest
from utils.model.identifiers import Ids

pytestmark = pytest.mark.anyio
SLIPS = [
    "PMCx12", "10.10/short", "banana", "123456789012", "https://example.org/paper", "3145 2104x",
]  # fmt: skip
TOOLSETS = ("core", "pubmed")


def slips(turn: int) -> pytest.MarkDecorator:
    """Try every third slip, beginning at *turn*, so that all occur; all with ``EXAMPLES=all``."""
    chosen = [slip for at, slip in enumerate(SLIPS) if has_turn(at - turn)]
    return pytest.mark.parametrize("slip", chosen)


@pytest.fixture
def library(settings):
    library = Library(**settings, mcp_toolsets=TOOLSETS)
    yield library
    library.shelf.close()


@pytest.fixture
def good(world):
    """Papers under names of every kind, and one that nobody has."""
    papers = [world.paper(branch) for branch in ("pmc_cloud", "efetch_only", "publisher_pdf")]
    return [papers[0].pmid, papers[1].pmcid, papers[2].doi, "39999999"]


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    """A command with ``--json``, by its words: exit status and rows."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run(*words, piped=""):
        stdin = io.TextIOWrapper(io.BytesIO(piped.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)
        status = cli.main([*map(str, words), "--json"])
        return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def mixed(good, slip):
    return [*good[:2], slip, *good[2:]]


@slips(0)
async def test_download_papers(library, good, slip):
    found = await answer(library, "download_papers", papers=mixed(good, slip))
    rows = {row["paper"]: row for row in found["papers"]}
    assert [rows[name]["kind"] for name in good] == ["full_text", "full_text", "full_text", ""]
    assert rows[slip]["kind"] == ""
    assert slip[:12] in rows[slip]["message"]


@slips(1)
async def test_read_papers(library, good, slip):
    rows = (await answer(library, "read_papers", papers=mixed(good, slip)))["papers"]
    assert [bool(row.get("parts")) for row in rows] == [True, True, False, True, False]
    assert slip[:12] in rows[2]["why"]


@slips(2)
async def test_cite_papers(library, good, slip):
    rows = (await answer(library, "cite_papers", papers=mixed(good, slip)))["references"]
    assert ["reference" in row for row in rows] == [True, True, False, True, False]
    assert slip[:12] in rows[2]["why"]


@slips(0)
async def test_convert_ids(library, good, slip):
    rows = (await answer(library, "convert_ids", ids=mixed(good, slip)))["records"]
    statuses = [row["status"] for row in rows]
    assert statuses == ["found", "found", "invalid", "found", "not_found"]
    assert slip[:12] in rows[2]["message"]


@slips(1)
async def test_fetch_article_details(library, world, slip):
    pmids = [world.paper("pmc_cloud").pmid, slip, world.paper("paywall").pmid]
    found = await answer(library, "fetch_article_details", pmids=pmids)
    assert [one["pmid"] for one in found["articles"]] == [pmids[0], pmids[2]]
    [failed] = found["failed"]
    assert (failed["pmid"], failed["code"]) == (slip, "VALIDATION")


@pytest.mark.parametrize("how", ["ids", "lists"])
@slips(2)
async def test_harvest_papers(library, good, slip, how):
    papers = mixed(good, slip)
    asked = {"ids": papers} if how == "ids" else {"lists": {"one": papers[:3], "two": papers[3:]}}
    job = (await answer(library, "harvest_papers", **asked))["job_id"]
    standing = await answer(library, "harvest_status", job_id=job, wait_s=20, show="not_retrieved")
    while standing["state"] == "running":
        standing = await answer(
            library, "harvest_status", job_id=job, wait_s=20, show="not_retrieved"
        )
    counts = standing["counts"]
    assert (counts["requested"], counts["full_text"], counts["failed"]) == (5, 3, 2)
    [named] = [row for row in standing["papers"] if slip in json.dumps(row, ensure_ascii=False)]
    assert "identifier" in json.dumps(named)


@slips(0)
def test_the_shell_typed(shell, good, slip):
    status, rows = shell("download", *mixed(good, slip))
    assert status == 1
    wrong = next(row for row in rows if row["paper"] == slip)
    assert wrong["error"]["code"] == "VALIDATION"
    assert wrong["error"]["suggestions"]
    assert sum(row.get("kind") == "full_text" for row in rows) == 3


@slips(1)
@pytest.mark.parametrize("verb", ["download", "cite"])
def test_the_shell_piped(shell, good, slip, verb):
    status, rows = shell(verb, "-", piped="\n".join(mixed(good, slip)))
    assert status == 1
    assert any(row.get("paper") == slip and "error" in row for row in rows)
    assert sum("error" not in row for row in rows) == 3


@slips(2)
def test_the_shell_harvests_what_can_be_read(shell, good, slip, tmp_path):
    (tmp_path / "list.txt").write_text("\n".join(mixed(good, slip)), encoding="utf-8")
    status, rows = shell("harvest", "list.txt")
    assert status == 1
    assert rows[-1]["counts"]["full_text"] == 3
    assert rows[-1]["counts"]["failed"] == 2


@slips(0)
def test_python(library, good, slip):
    papers = mixed(good, slip)
    outcomes = list(library.download_many(papers))
    [wrong] = [one for ids, one in outcomes if not ids]
    assert isinstance(wrong, BadRequest)
    assert len(outcomes) == 5
    cited = library.cite(papers)
    assert [isinstance(one, str) for _, one in cited] == [True, True, False, True, False]
    assert isinstance(cited[2][1], BadRequest)
    assert [bool(ids) for ids, _ in library.references.records(papers)] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert cited[0][0] == Ids.parse(good[0])


async def test_slips_alone_are_refused_with_a_way_out(library, shell, world):
    for tool, papers in {"harvest_papers": "ids", "convert_ids": "ids"}.items():
        refused = await call(library, tool, {papers: ["banana"]})
        assert refused.meta["error"]["code"] == "VALIDATION"
        assert refused.meta["error"]["suggestions"]
    status, [row] = shell("download", "banana")
    assert (status, row["error"]["code"]) == (2, "VALIDATION")
    assert not world.requests
