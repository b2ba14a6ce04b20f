"""Full texts of a mirror of PMC are found and quoted; with PubMed's, one question asks both."""

from dataclasses import replace

import pytest

from tests.corpus.small_corpus import LetterEmbedder
from tests.mcp.calling import call
from tests.mirror.small_mirror import mirror_of, updated
from tests.world.pubmed_files import name_of, packed, small_bulk
from utils import Library
from utils.demo.pubmed_xml import pubmed_article
from utils.errors import EmptyStore
from utils.mirror import embedding
from utils.mirror.pmc import Choice
from utils.model.passage import Filters

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")


def library_of(mirror, folder, **settings):
    """A library with nothing but the mirrors."""
    places = {"papers_dir": folder / "papers", "papers_mirror_dir": mirror.folder}
    settings = {"embeddings_provider": "none", "papers_offline": True, **settings}
    return Library(**places, **settings)


def with_pmc(mirror, choice=None):
    return [*mirror.update_pmc(choice)][-1]


def indexed(mirror):
    return [*mirror.index()][-1]


def in_both(world):
    """Papers with a record and a text, that were not retracted."""
    return [one for one in world.papers if one.cloud and one.pmid and not one.notices]


@pytest.fixture
def both(world, tmp_path):
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    with_pmc(mirror)
    indexed(mirror)
    return mirror


@pytest.fixture
def mirrored(both, tmp_path):
    return library_of(both, tmp_path / "reader").passages_of("mirror")


def found(mirrored, query, **options):
    filters = {name: options.pop(name) for name in list(options) if hasattr(Filters, name)}
    return mirrored.find(query, filters=Filters(**filters), quality_bias=False, **options).hits


def test_one_question_asks_both_and_a_paper_of_both_is_one_paper(mirrored, world):
    record = next(one for one in in_both(world) if one.mesh)
    hits = found(mirrored, record.plain_title, top_k=100)
    mine = [hit.passage for hit in hits if hit.passage.paper == f"pmid:{record.pmid}"]
    assert hits[0].passage in mine
    assert {(one.kind, one.file) for one in mine} == {
        ("full_text", f"{record.pmcid}.{max(record.cloud)}")
    }
    assert {hit.passage.kind for hit in hits} == {"full_text", "abstract"}
    assert not [one for one in mirrored.find("moss").warnings if "mirror" in one]


def test_filters_narrow_both_by_what_pubmed_says(mirrored, world):
    record = next(one for one in in_both(world) if one.mesh)
    name = f"pmid:{record.pmid}"
    heading = record.mesh[0].partition("/")[0].lstrip("*")
    for more in (
        {"mesh": (heading,)},
        {"journal": record.journal.short},
        {"journal": record.journal.title},
        {"publication_types": record.types[:1]},
        {"year_from": int(record.year), "year_to": int(record.year)},
    ):
        hits = found(mirrored, record.plain_title, kind="full_text", **more)
        assert hits[0].passage.paper == name, more
        assert {hit.passage.kind for hit in hits} == {"full_text"}
    abstracts = found(mirrored, record.plain_title, kind="abstract")
    assert (abstracts[0].passage.paper, abstracts[0].passage.file) == (name, "")
    assert name not in {
        hit.passage.paper for hit in found(mirrored, record.plain_title, mesh=("Fire",))
    }


def test_a_quotation_is_placed_in_the_text_as_on_a_shelf(mirrored, world, settings):
    record = next(one for one in in_both(world) if "table" in one.features)
    texts = found(mirrored, record.plain_title, kind="full_text", top_k=100)
    mine = [one.passage for one in texts if one.passage.paper == f"pmid:{record.pmid}"]
    others = " ".join(one.passage.text for one in texts if one.passage not in mine)
    sentence, last = next(  # the papers of this world share many
        (sentence, one)
        for one in sorted(mine, key=lambda one: -one.start)
        for sentence in one.text.split(". ")
        if len(sentence.split()) > 5 and sentence not in others and "|" not in sentence
    )
    for name in ("", f"pmid:{record.pmid}", record.pmcid):
        there = mirrored.verify_quote(sentence, name)
        assert (there.verdict, there.file) == ("verbatim", last.file), name
        assert there.anchor
    online = Library(**settings)
    online.download(record.pmcid)
    again = online.corpus.verify_quote(sentence, record.pmcid)
    assert again.anchor == there.anchor  # where `read` finds it, too
    assert again.sha256 == there.sha256


def test_rows_of_tables_are_found(mirrored, world):
    hits = [hit.passage for hit in found(mirrored, "table", kind="full_text", top_k=100)]
    assert any("|" in one.text for one in hits)


def test_a_search_keeps_to_the_texts_it_began_with(both, mirrored, world, monkeypatch):
    record = next(one for one in in_both(world) if one.mesh)
    finish, asked = mirrored._take_snapshots, []

    def switched():
        snapshots = finish()
        if not asked:  # while this search runs, the text is withdrawn
            world.cloud.edited[record.pmcid] = replace(record, cloud=())
            with_pmc(both)
            asked.append(indexed(both))
        return snapshots

    monkeypatch.setattr(mirrored, "_take_snapshots", switched)
    during = found(mirrored, record.plain_title)
    assert during[0].passage.file.startswith(record.pmcid)
    assert asked[0].dropped == 1
    after = found(mirrored, record.plain_title)
    assert (after[0].passage.paper, after[0].passage.kind) == (f"pmid:{record.pmid}", "abstract")


def test_a_text_that_is_withdrawn_is_not_shown_though_the_index_has_it(both, mirrored, world):
    record = next(one for one in in_both(world) if one.mesh)
    world.cloud.edited[record.pmcid] = replace(record, cloud=())
    with_pmc(both)
    answer = mirrored.find(record.plain_title)
    assert not [hit for hit in answer.hits if hit.passage.file.startswith(record.pmcid)]
    assert any("mirror index" in one for one in answer.warnings)


def test_what_pubmed_says_later_reaches_the_texts(both, mirrored, world):
    record = next(one for one in in_both(world) if one.mesh)
    revised = replace(record, types=("Retracted Publication",))
    world.bulk.updates[name_of(26, 9)] = packed([pubmed_article(revised)])
    last = max(world.bulk.updates)
    world.bulk.updates = {
        **{name: data for name, data in world.bulk.updates.items() if name != last},
        name_of(26, 5): world.bulk.updates[last],
    }
    updated(both)
    answer = mirrored.find(record.plain_title, filters=Filters(kind="full_text"))
    assert any("full texts is new" in one for one in answer.warnings)
    done = indexed(both)
    assert (done.added, done.dropped) == (2, 2)  # the record, and its text; no other text
    assert not [
        hit
        for hit in found(mirrored, record.plain_title, top_k=50)
        if hit.passage.paper == f"pmid:{record.pmid}"
    ]


def test_a_record_that_is_another_in_the_same_place_reaches_its_text(both, mirrored, world):
    record = next(one for one in in_both(world) if one.mesh)
    assert found(mirrored, record.plain_title)[0].passage.paper == f"pmid:{record.pmid}"
    revised = replace(record, types=("Retracted Publication",))
    world.bulk = small_bulk([revised if one is record else one for one in world.papers])
    world.bulk.days = dict.fromkeys([*world.bulk.baseline, *world.bulk.updates], "2026-03-01 10:00")
    assert updated(both).changed
    indexed(both)
    hits = found(mirrored, record.plain_title, top_k=50)
    assert f"pmid:{record.pmid}" not in {hit.passage.paper for hit in hits}
    assert indexed(both).total == 0


def test_a_mirror_of_pmc_alone_is_asked_alone(world, tmp_path):
    mirror = mirror_of(world, tmp_path)
    mirrored = library_of(mirror, tmp_path).passages_of("mirror")
    with pytest.raises(EmptyStore, match="no mirror"):
        mirrored.find("moss")
    record = in_both(world)[0]
    with_pmc(mirror, Choice(pmcids=(int(record.pmcid.removeprefix("PMC")),)))
    with pytest.raises(EmptyStore, match="indexed"):
        mirrored.find("moss")
    assert indexed(mirror).added == 1
    [hit, *_] = mirrored.find(record.plain_title).hits
    assert hit.passage.paper == f"pmid:{record.pmid}"
    assert hit.passage.year == int(record.year)
    with pytest.raises(EmptyStore, match="no mirror of pubmed"):
        mirror.find("moss")  # papers by their records
    updated(mirror)  # PubMed's comes later, and is not indexed yet
    answer = mirrored.find(record.plain_title)
    assert answer.hits[0].passage.file
    assert any("The mirror is not indexed yet" in one for one in answer.warnings)


def test_texts_are_found_by_meaning_too(both, tmp_path, monkeypatch):
    class Letters(LetterEmbedder):
        def embed_question(self, text):
            return super().embed_texts([text])[0]

    made = Letters()
    monkeypatch.setattr(embedding, "make_embedder", lambda _: made)
    done = [*both.embed()][-1]
    library = library_of(both, tmp_path, embeddings_provider="local")
    library.corpus.__dict__["embedder"] = made
    hits = library.passages_of("mirror").find("of moss and men", by="meaning", top_k=100).hits
    assert {hit.passage.kind for hit in hits} == {"full_text", "abstract"}
    assert done.made > 68
    assert [*both.embed()][-1].made == 0
    assert not [
        one for one in library.passages_of("mirror").find("moss").warnings if "vector" in one
    ]


@pytest.mark.anyio
async def test_assistants_find_quote_and_read_on_in_the_texts(both, world, tmp_path):
    record = next(one for one in in_both(world) if one.mesh)
    library = library_of(both, tmp_path, mcp_toolsets=("core", "rag"))
    asked = {"query": record.plain_title, "source": "mirror", "top_k": 1}
    [row] = (await call(library, "rag_search", asked)).structured_content["results"]
    assert (row["doc_id"], row["kind"]) == (f"pmid:{record.pmid}", "full_text")
    sentence = row["text"].partition(". ")[0]
    quotes = {"quotes": [{"text": sentence}], "source": "mirror"}
    [quote] = (await call(library, "verify_quotes", quotes)).structured_content["quotes"]
    assert quote["verdict"] == "verbatim"
    read = {"paper": f"pmid:{record.pmid}", "section": row["section"]}
    reading = await call(library, "read_paper", read)
    assert sentence in str(reading.structured_content)  # from the mirror, and offline
