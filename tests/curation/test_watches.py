"""Watches report each piece of news once: new, citing, retracted, in PMC, on the shelf."""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.clock import Clock
from tests.world import Record, World
from utils import Library, cli
from utils.curation.watches import Digest
from utils.errors import BadRequest, UnknownName
from utils.model.paper import format_timestamp

ATOM = "{http://www.w3.org/2005/Atom}"
DAY_S = 86_400
Happen = Callable[..., Record]


@pytest.fixture
def appears(world: World, monkeypatch: pytest.MonkeyPatch) -> Happen:
    """Have PubMed take in a paper, or a new state of a record."""

    def appear(record: Record, **changes: Any) -> Record:
        added = replace(record, **changes)
        world.put(added)
        monkeypatch.setitem(world.corpus.by_doi, added.doi.lower(), added)
        return added

    return appear


def look(library: Library) -> list[tuple[str, str]]:
    digest = library.watches.check()
    assert digest.silent == ()
    library.watches.mark_seen(digest)
    return [(one.outcome, one.paper.ids.pmid) for one in digest.news]


def a_new_paper(world: World, clock: Clock) -> Record:
    day = format_timestamp(clock.time())[:10]
    title = "Ripple coupling and memory consolidation, revisited"
    given = {"pmid": "41999001", "doi": "10.9101/watch.1", "title": title}
    return replace(world.paper("paywall"), published=day, entered=day, **given)


def test_a_query_reports_what_is_new_once(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    watch = library.watches.add("consolidation")
    assert watch.kind == "query"
    assert library.watches.add("consolidation") == watch
    assert look(library) == []
    new = appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    assert look(library) == [("new", new.pmid)]
    clock.sleep(DAY_S)
    assert look(library) == []
    assert len(library.watches.read("2026-01-01").news) == 1


def test_news_that_were_not_shown_are_reported_again(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    library.watches.add("consolidation")
    look(library)
    appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    first = library.watches.check()  # killed before the digest was shown
    assert [one.outcome for one in first.news] == ["new"]
    assert library.watches.check().news == first.news
    library.watches.mark_seen(first)
    assert library.watches.check().news == ()


def test_a_paper_that_a_query_found_is_reported_when_it_is_retracted(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    library.watches.add("consolidation")
    assert look(library) == []
    new = appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    assert look(library) == [("new", new.pmid)]
    clock.sleep(DAY_S)
    retraction = (("RetractionIn", "J Membr Traffic. 2026;13(1):9", "42000001"),)
    appears(new, notices=retraction, types=("Journal Article", "Retracted Publication"))
    assert look(library) == [("retracted", new.pmid)]
    clock.sleep(DAY_S)
    assert look(library) == []


def test_an_author_is_watched(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    family, given = world.paper("paywall").authors[0]
    library.watches.add(f"{family} {given[0]}", "author")
    assert look(library) == []
    new = appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    assert ("new", new.pmid) in look(library)


def test_a_paper_reports_its_copy_in_pmc_its_text_and_who_cites_it(
    library: Library, world: World, happens: Happen, appears: Happen, clock: Clock
) -> None:
    record = world.paper("paywall")
    library.download(record.pmid)
    assert library.watches.add(f"PMID {record.pmid}").name == f"pmid:{record.pmid}"
    assert look(library) == []
    clock.sleep(2 * DAY_S)
    happens(record, pmcid="PMC9399999", efetch="body", scholar="doi")
    assert {what for what, _ in look(library)} == {"new_copy", "gained"}
    clock.sleep(2 * DAY_S)
    assert look(library) == []
    dice = {f"4199{at:04}": f"4199{at:04} cites {record.pmid}" for at in range(100)}
    pmid = next(one for one, text in dice.items() if zlib.crc32(text.encode()) % 3 == 0)
    new = appears(a_new_paper(world, clock), pmid=pmid)
    clock.sleep(2 * DAY_S)
    assert look(library) == [("citing", new.pmid)]
    clock.sleep(2 * DAY_S)
    assert look(library) == []


def test_a_review_reports_what_its_update_finds(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    review = library.reviews.create("ripples")
    protocol = review.folder / "protocol.yaml"
    text = "title: ripples\ndatabases:\n  - source: pubmed\n    query: consolidation\n"
    protocol.write_text(text, encoding="utf-8")
    assert library.watches.add("ripples").kind == "review"
    assert look(library) == []
    new = appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    assert look(library) == [("new", new.pmid)]
    review.update()
    assert look(library) == []


def test_a_silent_site_is_named_and_asked_again(
    library: Library, world: World, appears: Happen, clock: Clock
) -> None:
    library.watches.add("consolidation")
    look(library)
    new = appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    world.mood("down", "eutils")
    digest = library.watches.check()
    assert digest.news == ()
    assert "consolidation: PubMed could not be searched" in digest.silent[0]
    world.calm()
    clock.sleep(DAY_S)
    assert look(library) == [("new", new.pmid)]


def test_what_cannot_be_watched_is_refused(library: Library) -> None:
    with pytest.raises(BadRequest, match="Nothing to watch"):
        library.watches.add(" ")
    with pytest.raises(BadRequest, match="kind of watch"):
        library.watches.add("moss", "journal")  # type: ignore[arg-type]
    with pytest.raises(BadRequest, match="There is no review 'moss'"):
        library.watches.add("moss", "review")
    library.watches.add("moss AND light")
    with pytest.raises(UnknownName, match="not watched"):
        library.watches.remove("moss AND lights")
    library.watches.remove("moss AND light")
    assert library.watches.list_all() == []


def test_a_digest_is_a_page_a_feed_an_email_and_text(
    library: Library, world: World, appears: Happen, clock: Clock, tmp_path: Path
) -> None:
    library.watches.add("consolidation")
    look(library)
    title = "Ripples <script>alert(1)</script> &amp; memory consolidation"
    appears(replace(a_new_paper(world, clock), title="Ripples &lt;script&gt; memory consolidation"))
    clock.sleep(DAY_S)
    digest = library.watches.check()
    for suffix in ("html", "atom", "eml", "txt"):
        library.watches.write(digest, tmp_path / f"news.{suffix}")
    page = (tmp_path / "news.html").read_text("utf-8")
    assert "1 piece of news" in page
    assert "Ripples &lt;script&gt;" in page
    assert title not in page
    feed = ET.fromstring((tmp_path / "news.atom").read_bytes())
    entry = feed.find(f"{ATOM}entry")
    assert entry is not None
    assert entry.findtext(f"{ATOM}title", "").startswith("New: Ripples <script>")
    assert entry.find(f"{ATOM}link").get("href") == "https://doi.org/10.9101/watch.1"  # type: ignore[union-attr]
    mail = message_from_bytes((tmp_path / "news.eml").read_bytes(), policy=policy.default)
    assert mail["Subject"] == "Papershelf: 1 piece of news"
    assert mail["To"] == library.settings.pubmed_email
    assert "https://doi.org/10.9101/watch.1" in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert "new: Ripples" in (tmp_path / "news.txt").read_text("utf-8")
    library.watches.mark_seen(digest)
    later = Digest((), digest.watches)
    library.watches.write(later, tmp_path / "news.atom")  # a feed keeps what it had
    again = ET.fromstring((tmp_path / "news.atom").read_bytes())
    assert [one.text for one in again.iter(f"{ATOM}id")] == [
        one.text for one in feed.iter(f"{ATOM}id")
    ]
    with pytest.raises(BadRequest, match="does not end in"):
        library.watches.write(digest, tmp_path / "news.pdf")


def test_the_shell_watches_and_reports(
    settings: dict[str, Any],
    world: World,
    appears: Happen,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    with monkeypatch.context() as without:
        without.setenv("PUBMED_EMAIL", "")
        assert cli.main(["watch", "consolidation"]) == 2
        assert cli.main(["watch", "--list"]) == 0
    assert "Nothing is watched yet" in capsys.readouterr().err
    assert cli.main(["watch", "consolidation"]) == 0
    assert "Watching the query consolidation" in capsys.readouterr().err
    appears(a_new_paper(world, clock))
    clock.sleep(DAY_S)
    assert cli.main(["watch", "--json", "--output", str(tmp_path / "news.atom")]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["watch"], row["outcome"], row["pmid"]) == ("consolidation", "new", "41999001")
    assert cli.main(["watch"]) == 0
    assert "No news of 1 watched item" in capsys.readouterr().err
    assert cli.main(["watch", "--list"]) == 0
    assert "query   consolidation" in capsys.readouterr().out
    assert cli.main(["watch", "consolidation", "--undo"]) == 0
    assert cli.main(["watch"]) == 0
    assert "Nothing is watched yet" in capsys.readouterr().err
