"""PMC's texts in the stores of many users: found, quoted and switched together with the records."""

from dataclasses import replace

import pytest

from tests.databases import POSTGRESQL
from tests.mirror.loading import (
    answers,
    asked,
    at_weaviate,
    library,
    loaded,
    new_url,
    open_library,
    paper_of_both,
    url,
    weaviate,
)
from tests.mirror.small_mirror import mirror_of, updated
from tests.tools.calling import call
from tests.world.pubmed_files import name_of, packed
from tests.world.pubmed_xml import pubmed_article
from utils import Library
from utils.errors import PaperError
from utils.model.passage import Filters

__all__ = ["at_weaviate", "library", "new_url", "open_library", "url", "weaviate"]

pytestmark = [pytest.mark.extras("pyarrow", "duckdb", "tantivy"), POSTGRESQL]


@pytest.fixture
def mirror(world, tmp_path, embedder):
    made = mirror_of(world, tmp_path)
    updated(made)
    [*made.update_pmc()]
    return made


@pytest.mark.parametrize(
    "store", ["pgvector", pytest.param("weaviate", marks=pytest.mark.extras("weaviate"))]
)
def test_both_are_found_as_in_the_files(mirror, request, open_library, world, store):
    [*mirror.index()]
    [*mirror.embed()]
    library = request.getfixturevalue("library" if store == "pgvector" else "at_weaviate")
    done = loaded(library)
    texts = {one.pmcid for one in world.papers if one.cloud}
    assert done.texts == len(texts)
    assert done.papers == mirror.current().papers
    assert done.vectors == done.passages > done.papers
    questions = asked(paper_of_both(world))
    for by in ("words", "both"):
        assert answers(library, questions, by) == answers(open_library(), questions, by)


def test_a_quotation_is_placed_in_the_text(mirror, library, world):
    loaded(library)
    record = paper_of_both(world)
    hits = library.mirrored.find(record.plain_title, filters=Filters(kind="full_text")).hits
    mine = next(one.passage for one in hits if one.passage.paper == f"pmid:{record.pmid}")
    sentence = max(mine.text.split(". "), key=len)
    for name in (f"pmid:{record.pmid}", record.pmcid):
        there = library.mirrored.verify_quote(sentence, name)
        assert (there.verdict, there.file) == ("verbatim", mine.file)
        assert there.anchor


def test_records_and_texts_change_together_and_what_is_the_same_stays(mirror, library, world):
    loaded(library)
    record = paper_of_both(world)
    revised = replace(record, title="Of something else than it was")
    world.cloud.edited[record.pmcid] = replace(record, cloud=())
    world.bulk.updates[name_of(26, 9)] = packed([pubmed_article(revised)])
    last = world.bulk.updates.pop(max(world.bulk.updates))
    world.bulk.updates[name_of(26, 5)] = last
    updated(mirror)
    [*mirror.update_pmc()]
    seen = set()
    for step in library.mirrored.load():
        title = library.mirrored.verify_quote(
            "Of something else than it was", f"pmid:{record.pmid}"
        ).verdict
        hits = library.mirrored.find(record.plain_title).hits
        seen.add((step.step == "done", title, hits[0].passage.kind))
    assert len({one for one in seen if not one[0]}) == len({one for one in seen if one[0]}) == 1


def test_a_colleague_without_the_files_reads_and_downloads_from_there(mirror, library, url, world):
    places = {"papers_mirror_dir": mirror.folder / "none", "papers_offline": True}
    places["pubmed_email"] = "ada@papershelf.org"
    shared = {"database_url": url, "papers_mirror_store": "database"}
    record = paper_of_both(world)

    def of(folder, **more):
        return Library(papers_dir=mirror.folder / folder, **{**places, **more})

    with pytest.raises(PaperError):
        of("early", **shared).read(record.pmcid)
    loaded(library)
    with_files = of("files", papers_mirror_dir=mirror.folder)
    expected = with_files.read(record.pmcid)
    for name in (record.pmcid, record.pmid, record.doi):
        colleague = of(f"of-{name.replace('/', '-')}", **shared)
        found = colleague.read(name)
        assert (found.stored.via, found.stored.license) == ("mirror", expected.stored.license)
        bodies = [one.text.partition("\n---\n")[2] for one in (found, expected)]
        assert bodies[0] == bodies[1]
        objects = [one.objects(name, fetch=False).objects for one in (colleague, with_files)]
        assert objects[0] == objects[1]
    harvester = of("harvest", **shared)
    assert [*harvester.harvest([record.pmcid])][-1].job.counts.full_text == 1


@pytest.mark.anyio
async def test_assistants_find_and_quote_there(mirror, open_library, url, world):
    shared = {"database_url": url, "papers_mirror_store": "database"}
    library = open_library(mcp_toolsets=("core", "rag"), **shared)
    loaded(library)
    record = paper_of_both(world)
    question = {"query": record.plain_title, "source": "mirror", "top_k": 1}
    [row] = (await call(library, "rag_search", question)).structured_content["results"]
    assert (row["doc_id"], row["kind"]) == (f"pmid:{record.pmid}", "full_text")
    quotes = {"quotes": [{"text": row["text"].partition(". ")[0]}], "source": "mirror"}
    [quote] = (await call(library, "verify_quotes", quotes)).structured_content["quotes"]
    assert quote["verdict"] == "verbatim"
