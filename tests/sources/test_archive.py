"""Dead links of repositories: the Internet Archive is asked once, and its bytes are judged."""

from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources.archive import find_capture
from utils.sources.unpaywall import fetch_open_copies


def asked(world, service):
    return [request for request in world.requests if request.service == service]


def test_a_text_behind_a_dead_link_is_had_from_the_archive(library, world):
    done = library.download(world.paper("archived").pmid)
    assert (done.stored.kind, done.stored.via) == ("full_text", "unpaywall")
    assert "id_/" in asked(world, "web_archive")[0].path


def test_it_is_asked_once(library, world):
    record = world.paper("archived")
    for _ in range(2):
        found = list(fetch_open_copies(Paper(Ids(doi=record.doi)), library.web))
        assert any(isinstance(one, Fetched) and one.media == "pdf" for one in found)
    assert len(asked(world, "archive")) <= 2  # the file and its page


def test_living_links_are_not_asked_about(library, world):
    library.download(world.paper("unpaywall_pdf").pmid)
    assert not asked(world, "archive")


def test_what_was_never_archived_is_a_plain_no(library, world):
    assert not find_capture("https://nowhere.test/x.pdf", library.web)
    assert not find_capture("https://nowhere.test/x.pdf", library.web)
    assert len(asked(world, "archive")) == 1


def test_an_answer_that_leads_elsewhere_is_not_followed(library, world):
    for place in (
        "http://evil.test/web/2024/https://a.b/",
        "javascript:x",
        "http://web.archive.org/web/2024/file:///etc",
    ):
        library.web.cache.put("archived", place, place, 1.0)
        assert not find_capture(place, library.web)
