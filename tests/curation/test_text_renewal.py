"""Texts made again from the bytes that were kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.own_words import prose
from utils import readers as formats
from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched, Paper
from utils.readers import jats
from utils.shelf import strip_header


@pytest.fixture
def held(library, world):
    branches = ("pmc_cloud", "publisher_html", "jina_only", "unpaywall_pdf")
    return [library.download(world.paper(branch).pmid).stored for branch in branches]


def outcomes(library, **options):
    return {renewal.paper: renewal.outcome for renewal in library.upkeep.reextract(**options)}


def test_nothing_is_done_while_the_readers_are_the_same(library, held):
    assert outcomes(library) == {}


def test_the_same_bytes_give_the_same_text_and_nobody_is_asked(library, world, held):
    before = len(world.requests)
    assert set(outcomes(library, everything=True).values()) == {"unchanged"}
    assert len(world.requests) == before


@pytest.fixture
def better(monkeypatch):
    """A newer reader of JATS, whose documents differ from today's as told."""

    def install(change):
        monkeypatch.setitem(formats.READER_VERSIONS, "jats", formats.READER_VERSIONS["jats"] + 1)
        read = jats.read_document
        monkeypatch.setattr(jats, "read_document", lambda fetched: change(read(fetched)))

    return install


def with_a_mark(document):
    return replace(document, markdown=f"{document.markdown}\n\nRead better.\n")


def test_a_better_reader_renews_its_texts_and_only_those(library, held, better):
    paper = held[0]
    better(with_a_mark)

    found = outcomes(library)

    assert list(found.items()) == [(str(paper.paper.ids), "changed")]
    assert "Read better." in Path(paper.path).read_text(encoding="utf-8")
    assert outcomes(library) == {}
    again = library.find(paper.paper.ids.pmid)
    assert (again.saved_at, again.attempts) == (paper.saved_at, paper.attempts)
    assert library.list_papers()[0] == len(held)


@pytest.mark.parametrize("looked_at", [True, False])
def test_what_a_hand_wrote_into_a_text_is_kept(library, held, better, looked_at):
    path = Path(held[0].path)
    path.write_text(path.read_text(encoding="utf-8") + "\nMY OWN NOTE.\n", encoding="utf-8")
    if looked_at:
        assert library.find(held[0].paper.ids.pmid).sha256 != held[0].sha256
    mine = path.read_bytes()
    better(with_a_mark)

    [renewal] = library.upkeep.reextract()

    assert renewal.outcome == "kept"
    assert "by hand" in renewal.detail
    assert path.read_bytes() == mine


def test_a_text_that_took_the_place_of_ours_is_kept(library, held, better):
    path = Path(held[0].path)
    ours = strip_header(path.read_text(encoding="utf-8"))
    path.write_text(ours.replace(".\n", ", as I read it.\n"), encoding="utf-8")
    mine = path.read_bytes()
    better(with_a_mark)
    assert [renewal.outcome for renewal in library.upkeep.reextract()] == ["kept"]
    assert path.read_bytes() == mine


def test_an_edit_taken_back_makes_the_text_ours_again(library, held, better):
    path = Path(held[0].path)
    as_it_was = path.read_bytes()
    path.write_bytes(as_it_was + b"note\n")
    library.find(held[0].paper.ids.pmid)
    path.write_bytes(as_it_was)
    better(with_a_mark)
    assert [renewal.outcome for renewal in library.upkeep.reextract()] == ["changed"]


def test_bytes_are_decoded_as_the_site_said_when_it_sent_them(library):
    words = "".join(
        f"<p>Die Größe αβγδ der Zellen, {n}. {prose(150, start=100 * int(n))}</p>" for n in "12"
    )
    head = '<title>On cells</title><meta name="citation_doi" content="10.1000/a">'
    page = f"<html><head>{head}</head><article><h1>On cells</h1>{words}</article></html>"
    sent = Fetched(page.encode("iso-8859-7", "ignore"), "html", "https://e.org/a", "X", "x",
                   charset="iso-8859-7")  # fmt: skip
    about = Paper(Ids(doi="10.1000/a"), title="On cells", publication_types=("Letter",))
    document = formats.read_and_judge(sent, about)
    stored = library.shelf.save_full_text(about, document, sent, source="DOI", attempts=())
    assert set(outcomes(library, everything=True).values()) == {"unchanged"}
    assert "αβγδ" in library.shelf.read_text(stored)


def test_the_article_that_was_asked_for_is_read_again(library, held, monkeypatch):
    """Of a set, the reader takes the article with the identifiers it was fetched by."""
    asked = []
    read = jats.read_document

    def remember(fetched):
        asked.append(fetched.ids)
        return read(fetched)

    monkeypatch.setattr(jats, "read_document", remember)
    library.download(held[0].paper.ids.pmid, force=True)
    assert outcomes(library, everything=True)
    assert asked[0]
    assert asked[1] == asked[0]


def test_what_a_better_reading_finds_is_noted(library, held, better):
    path = Path(held[0].path)
    assert not path.read_text(encoding="utf-8").startswith("RETRACTED")
    better(lambda document: replace(document, retracted=True, license="CC0"))
    assert [renewal.outcome for renewal in library.upkeep.reextract()] == ["changed"]
    again = library.find(held[0].paper.ids.pmid)
    assert again.paper.retracted
    assert again.license == held[0].license != ""
    assert path.read_text(encoding="utf-8").startswith("RETRACTED:")


def test_a_license_found_by_a_better_reading_fills_an_empty_one(library, better):
    about = Paper(Ids(pmid="7"), title="On cells")
    sent = Fetched(b"<article/>", "jats", "https://e.org/a", "PMC", "pmc_cloud")
    document = Document("# On cells\n\n" + "Words of it. " * 200)
    library.shelf.save_full_text(about, document, sent, source="PMC", attempts=())
    stored = library.find("7")
    assert stored.license == ""
    renewed = library.shelf.replace_text_by_rereading(stored, replace(document, license="CC BY"))
    assert renewed.license == library.find("7").license == "CC BY"


def test_a_reading_the_judges_refuse_never_replaces_a_text(library, held, monkeypatch):
    from utils.errors import BadContent

    def refuse(fetched, paper):
        raise BadContent("The page is not a paper.", verdict="not_a_paper")

    monkeypatch.setattr(formats, "read_and_judge", refuse)
    texts = [Path(stored.path).read_bytes() for stored in held]
    assert set(outcomes(library, everything=True).values()) == {"kept"}
    assert [Path(stored.path).read_bytes() for stored in held] == texts
