"""Texts made again from the bytes that were kept."""

from pathlib import Path

import pytest

from utils import formats


@pytest.fixture
def held(library, world):
    branches = ("pmc_cloud", "publisher_html", "jina_only", "unpaywall_pdf")
    return [library.download(world.paper(branch).pmid).stored for branch in branches]


def outcomes(library, **options):
    return {renewal.paper: renewal.outcome for renewal in library.reextract(**options)}


def test_nothing_is_done_while_the_readers_are_the_same(library, held):
    assert outcomes(library) == {}


def test_the_same_bytes_give_the_same_text_and_nobody_is_asked(library, world, held):
    before = len(world.requests)
    assert set(outcomes(library, everything=True).values()) == {"unchanged"}
    assert len(world.requests) == before


def test_a_better_reader_renews_its_texts_and_only_those(library, held, monkeypatch):
    paper = held[0]
    path = Path(paper.path)
    path.write_text(path.read_text().replace("## Discussion", "## Dscssn"))
    monkeypatch.setitem(formats.VERSIONS, "jats", 2)

    found = outcomes(library)

    assert list(found) == [str(paper.paper.ids)]
    assert "## Discussion" in path.read_text()
    assert outcomes(library) == {}
    again = library.find(paper.paper.ids.pmid)
    assert (again.saved_at, again.attempts) == (paper.saved_at, paper.attempts)
    assert library.list_papers()[0] == len(held)


def test_a_reading_the_judges_refuse_never_replaces_a_text(library, held, monkeypatch):
    from utils.errors import BadContent

    def refuse(fetched, paper):
        raise BadContent("It is no paper.", verdict="not_a_paper")

    monkeypatch.setattr(formats, "read", refuse)
    texts = [Path(stored.path).read_bytes() for stored in held]
    assert set(outcomes(library, everything=True).values()) == {"kept"}
    assert [Path(stored.path).read_bytes() for stored in held] == texts
