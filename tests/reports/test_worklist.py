"""The worklist: what a person fetches, by publisher, ticked off as it arrives."""

import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from tests.reports import invented
from utils.model.identifiers import Ids
from utils.model.job import Harvested
from utils.model.paper import Paper
from utils.reports import write_report
from utils.reports.library_links import ReadersLibrary

RESOLVER = ReadersLibrary(resolver="https://sfx.lib.edu/x?")


class Page(HTMLParser):
    """Links, and what stands in the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        if tag == "a" and given.get("target"):
            self.links.append(given.get("href") or "")


def row(number: int, state: str, doi: str = "", **more: object) -> Harvested:
    paper = Paper(Ids(pmid=str(number), doi=doi), title=f"Paper {number}", journal="Moss")
    told = {"reason": "paywall"} | more
    return Harvested(number, str(number), state, paper, **told)  # type: ignore[arg-type]


def page_of(folder: Path, rows: Iterable[Harvested], library=RESOLVER) -> str:
    write_report(invented.job(), lambda: iter(list(rows)), folder, library)
    return (folder / "worklist.html").read_text(encoding="utf-8")


def test_the_publisher_with_most_to_fetch_comes_first(tmp_path):
    text = page_of(
        tmp_path,
        [row(1, "abstract"), row(2, "abstract", "10.1002/a")]
        + [row(n, "abstract", f"10.1016/{n}") for n in (3, 4)],
    )
    assert text.index("Elsevier") < text.index("Wiley") < text.index("Without a DOI")


def test_publishers_keep_their_places_while_papers_arrive(tmp_path):
    def order(*arrived):
        text = page_of(
            tmp_path,
            [
                row(n, "full_text" if n in arrived else "abstract", doi, via="manual")
                for n, doi in ((1, "10.1002/a"), (2, "10.1016/b"), (3, "10.1016/c"))
            ],
        )
        return re.findall(r"<h2 id=.site-\d+-h.>(\w+)", text)

    assert order() == order(2) == order(2, 3) == ["Elsevier", "Wiley"]


def test_links_are_those_of_the_library_and_else_the_papers_own(tmp_path):
    rows = [row(1, "abstract", "10.1002/a")]
    [link] = Page(page_of(tmp_path, rows)).links
    assert link.startswith("https://sfx.lib.edu/x?url_ver=")
    assert Page(page_of(tmp_path, rows, ReadersLibrary())).links == ["https://doi.org/10.1002/a"]


def test_what_came_by_hand_is_ticked_off_and_no_longer_linked(tmp_path):
    rows = [
        row(1, "full_text", "10.1002/a", via="manual", reason=""),
        row(2, "abstract", "10.1002/b"),
    ]
    text = page_of(tmp_path, rows)
    assert len(Page(text).links) == 1
    assert "1 paper of 2 arrived." in text


def test_it_loads_itself_again_and_says_so_until_all_has_arrived(tmp_path):
    rows = [row(1, "abstract", "10.1002/a")]
    text = page_of(tmp_path, rows)
    assert '<meta http-equiv="refresh" content="30">' in text
    assert "reloads every 30 seconds" in text
    arrived = page_of(tmp_path, [replace(rows[0], state="full_text", via="manual")])
    assert "refresh" not in arrived
    assert "loads itself" not in arrived


def test_what_has_arrived_leads_to_its_text(tmp_path):
    arrived = row(1, "full_text", "10.1002/a", via="manual", reason="", file="10.1002_a.txt")
    assert '<a href="../../10.1002_a.txt"' in page_of(tmp_path, [arrived])


def test_the_commands_it_names_are_commands(tmp_path):
    from utils.cli import parse_command

    text = page_of(tmp_path, [row(1, "abstract", "10.1002/a")])
    told = re.findall(r"<code>uv run server.py ([^<]+)</code>", text)
    assert len(told) == 2
    for command in told:
        assert parse_command(command.split()).verb


def test_what_nobody_can_fetch_is_not_listed(tmp_path):
    write_report(
        invented.job(),
        lambda: iter([row(1, "failed", reason="bad_request"), row(2, "full_text", reason="")]),
        tmp_path,
    )
    assert not (tmp_path / "worklist.html").exists()


def test_titles_from_outside_are_text(tmp_path):
    hostile = row(1, "abstract", "10.1002/a")
    title = "<script>alert(1)</script>"
    text = page_of(tmp_path, [replace(hostile, paper=replace(hostile.paper, title=title))])
    assert "script" not in Page(text).tags


def test_every_missing_paper_has_its_librarys_link_in_the_table(tmp_path):
    page_of(tmp_path, [row(1, "abstract", "10.1002/a")])
    assert "https://sfx.lib.edu/x?url_ver" in (tmp_path / "not_retrieved.csv").read_text(
        encoding="utf-8"
    )


def test_every_missing_paper_has_its_librarys_link_in_the_report(tmp_path):
    page_of(tmp_path, [row(1, "abstract", "10.1002/a"), row(2, "full_text", "10.1002/b")])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count(">Your library</a>") == 1
    assert 'href="https://sfx.lib.edu/x?url_ver=' in text
    page_of(tmp_path, [row(1, "abstract", "10.1002/a")], ReadersLibrary())
    assert "library</a>" not in (tmp_path / "report.html").read_text(encoding="utf-8")
