"""The user's own PDF server beside our reader: asked, judged, preferred, and never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.world.pdf import pdf_of, scan_of
from tests.world.pdf_service import NO_BLOCKS, PdfServer
from utils import Library
from utils.download.second_opinion import AWAY_S
from utils.errors import BadRequest, NotAvailable
from utils.sources.pdf_service import PdfService

KINDS = ("grobid", "docling")
# Our own reading stays, and the record says why there was no other.
IN_THE_WAY = [
    ("grobid", "broken pdf", "answered 500: [BAD_INPUT_DATA]"),
    ("grobid", "no content", "found no text in it"),
    ("grobid", "bomb", ""),
    ("grobid", "garbage", "answered with no TEI"),
    ("grobid", "html", "is no GROBID"),
    ("grobid", "elsewhere", "is no GROBID"),
    ("grobid", "resets", "no second opinion"),
    ("grobid", "half", ""),
    ("docling", "too long", "answered 504: Conversion is taking too long"),
    ("docling", "broken pdf", "says failure"),
    ("docling", "html", "is no docling-serve"),
    ("docling", "garbage", "answered with no JSON"),
]


@pytest.fixture
def server(request, world) -> Iterator[PdfServer]:
    with PdfServer(getattr(request, "param", "grobid"), world.papers) as running:
        yield running


@pytest.fixture
def shelf_with(settings):
    """Makes libraries that know a server."""
    made: list[Library] = []

    def make(server: PdfServer | str, **other) -> Library:
        address = server if isinstance(server, str) else server.setting
        made.append(Library(**settings | {"papers_pdf_service": address} | other))
        return made[-1]

    yield make
    for library in made:
        library.shelf.close()


def got(library: Library, world, branch: str, **options):
    return library.download(world.paper(branch).pmid, **options).stored


def record_of(library: Library, stored) -> str:
    name = Path(stored.path).name.removesuffix(".txt")
    return (library.settings.papers_dir / ".papershelf" / "records" / f"{name}.json").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_the_better_reading_is_kept_and_the_record_says_whose_it_is(server, world, shelf_with):
    library = shelf_with(server)
    stored = got(library, world, "publisher_pdf")
    text = library.shelf.read_text(stored)
    assert stored.kind == "full_text"
    assert "| Group | Mean |" in text or "| Group   | Mean   |" in text
    assert "rows of tables" in stored.evidence
    maker = {"grobid": "GROBID 0.8.2, tei 1", "docling": "docling, markdown"}[server.kind]
    assert maker in record_of(library, stored)
    assert library.shelf.raw(stored).fetched.body == pdf_of(world.paper("publisher_pdf"))


def test_without_the_setting_nobody_is_asked(server, world, library):
    stored = got(library, world, "publisher_pdf")
    assert stored.kind == "full_text"
    assert not server.paths


def test_only_pdfs_are_sent(server, world, shelf_with):
    assert got(shelf_with(server), world, "pmc_cloud").kind == "full_text"
    assert not server.paths


def test_grobid_is_told_to_ask_nobody_about_the_paper(server, world, shelf_with):
    got(shelf_with(server), world, "publisher_pdf")
    [form] = server.asked
    assert form["consolidateHeader"] == form["consolidateCitations"] == "0"
    assert form["input"] == pdf_of(world.paper("publisher_pdf"))


def test_a_reading_with_less_is_not_preferred(server, world, shelf_with):
    server.mood = "less"
    library = shelf_with(server)
    stored = got(library, world, "publisher_pdf")
    assert '"extractor":"pdf ' in record_of(library, stored)
    assert "GROBID" not in stored.evidence


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_a_scan_that_the_server_can_read_is_full_text(server, world, shelf_with):
    server.scanned_is = world.paper("scanned_pdf")
    library = shelf_with(server)
    stored = got(library, world, "scanned_pdf")
    assert stored.kind == "full_text"
    assert "ours was no text" in stored.evidence


def test_a_scan_that_nobody_can_read_stays_one_and_the_server_s_words_are_kept(
    server, world, shelf_with
):
    stored = got(shelf_with(server), world, "scanned_pdf")
    assert stored.kind == "abstract"
    said = [attempt.detail for attempt in stored.attempts if attempt.outcome == "scanned"]
    assert NO_BLOCKS in said[0]


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_another_paper_s_text_is_never_kept(server, world, shelf_with):
    server.mood = "another paper"
    library = shelf_with(server)
    assert '"extractor":"pdf ' in record_of(library, got(library, world, "publisher_pdf"))
    assert got(library, world, "scanned_pdf").kind == "abstract"


@pytest.mark.parametrize(("server", "mood", "said"), IN_THE_WAY, indirect=["server"])
def test_whatever_it_answers_leaves_our_own_reading_in_place(server, mood, said, world, shelf_with):
    server.mood = mood
    library = shelf_with(server)
    stored = got(library, world, "publisher_pdf")
    assert stored.kind == "full_text"
    assert '"extractor":"pdf ' in record_of(library, stored)
    assert said in stored.evidence


def test_entities_of_a_tei_read_no_file(server, world, shelf_with):
    server.mood = "entity"
    library = shelf_with(server)
    text = library.shelf.read_text(got(library, world, "publisher_pdf"))
    assert "root:" not in text


@pytest.mark.real_time
def test_a_hanging_server_is_given_up(server, world, shelf_with, monkeypatch):
    monkeypatch.setattr("utils.sources.pdf_service._DEADLINE_S", 0.5)
    server.mood = "hangs"
    stored = got(shelf_with(server), world, "publisher_pdf")
    assert stored.kind == "full_text"
    assert "no second opinion" in stored.evidence


def test_a_busy_server_is_asked_again_after_the_pause_it_wants(server, world, shelf_with, clock):
    server.busy = 1
    library = shelf_with(server)
    stored = got(library, world, "publisher_pdf")
    assert len(server.asked) == 2
    assert "read by GROBID" in stored.evidence
    assert any(nap >= 4.5 for nap in clock.naps)


def test_a_server_that_is_not_there_is_said_once_and_left_alone(
    server, world, shelf_with, clock, caplog
):
    server.close()
    library = shelf_with(server)
    first = got(library, world, "publisher_pdf")
    second = got(library, world, "unpaywall_pdf")
    assert "no second opinion" in first.evidence
    assert "opinion" not in second.evidence
    assert len([r for r in caplog.records if "left alone" in r.getMessage()]) == 1


def test_it_is_asked_again_when_the_time_is_over(server, world, shelf_with, clock):
    server.mood = "html"
    library = shelf_with(server)
    got(library, world, "publisher_pdf")
    server.mood = ""
    clock.sleep(AWAY_S + 1)
    assert "read by GROBID" in got(library, world, "unpaywall_pdf").evidence


def test_offline_nobody_is_asked(server, world, shelf_with):
    library = shelf_with(server)
    got(library, world, "publisher_pdf")
    asked = len(server.paths)
    assert got(shelf_with(server, papers_offline=True), world, "publisher_pdf").kind == "full_text"
    assert len(server.paths) == asked


def test_what_has_no_free_licence_goes_to_no_public_address(server, world, shelf_with, monkeypatch):
    monkeypatch.setattr("utils.sources.pdf_service.is_local_name", lambda _host: False)
    library = shelf_with(server)
    stored = got(library, world, "publisher_pdf")
    is_free = stored.license.startswith("CC")
    assert bool(server.asked) == is_free
    assert not is_free, "the paper of this test must have no free licence"


def test_no_other_part_may_connect_to_the_server(server, world, shelf_with):
    """A link of a stranger to the user's own server stays closed, though we ask it ourselves."""
    library = shelf_with(server, papers_allow_private_network=False)
    service = PdfService(library.settings)
    assert service.read(pdf_of(world.paper("publisher_pdf"))).title
    with pytest.raises(NotAvailable, match="private network"):
        library.web.get(f"{service.address}/api/isalive")
    other = f"http://127.0.0.1:{urlsplit(world.url('meadow')).port}/"
    with pytest.raises(NotAvailable, match="private network"):
        service._web.get(other)


def test_a_private_server_is_asked_without_the_network_s_proxy(server, world, shelf_with):
    library = shelf_with(server, http_proxy="http://127.0.0.1:9", no_proxy="")
    opinion = library._ladder.second_opinion
    assert not opinion._service._web.transport.proxy_for(server.setting.partition("+")[2])


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_audit_and_reextract_leave_its_text_alone(server, world, shelf_with):
    server.scanned_is = world.paper("scanned_pdf")
    library = shelf_with(server)
    stored = got(library, world, "scanned_pdf")
    asked = len(server.asked)
    assert {result.outcome for result in library.audit(fix=True)} == {"unchanged"}
    renewals = list(library.reextract(everything=True))
    assert {renewal.outcome for renewal in renewals} == {"kept"}
    assert "read it better" in renewals[0].detail
    assert library.shelf.find(stored.paper.ids).sha256 == stored.sha256
    assert len(server.asked) == asked


def test_a_pdf_in_the_inbox_has_its_second_opinion_too(server, world, shelf_with):
    server.scanned_is = paper = world.paper("scanned_pdf")
    library = shelf_with(server)
    got_before = got(shelf_with(""), world, "scanned_pdf")
    assert got_before.kind == "abstract"
    inbox = library.settings.papers_dir / "inbox"
    inbox.mkdir(exist_ok=True)
    (inbox / f"PMID {paper.pmid}.pdf").write_bytes(scan_of(paper))
    [done] = library.take_in()
    assert done.outcome == "filed", done.detail
    assert "ours was no text" in done.detail


@pytest.mark.parametrize("server", KINDS, indirect=True)
def test_doctor_asks_whether_it_is_there(server, shelf_with):
    [check] = [c for c in shelf_with(server).doctor() if c.what == "PDF service"]
    assert check.state == "ok"
    assert {"grobid": "0.8.2", "docling": "1.9.0"}[server.kind] in check.detail


@pytest.mark.parametrize("mood", ["html", "gone"])
def test_doctor_says_when_something_else_is_there_or_nothing(mood, server, shelf_with):
    server.mood = mood
    if mood == "gone":
        server.close()
    [check] = [c for c in shelf_with(server).doctor() if c.what == "PDF service"]
    assert check.state == "problem"
    assert check.advice


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8070",
        "grobid+ftp://localhost",
        "tika+http://localhost:9998",
        "grobid+http://me:secret@localhost:8070",
        "grobid+http://localhost:8070/?a=b",
    ],
)
def test_an_address_that_does_not_say_which_server_it_is_is_refused(address, settings):
    with pytest.raises(BadRequest, match="PAPERS_PDF_SERVICE: must be grobid\\+http"):
        Library(**settings | {"papers_pdf_service": address})
