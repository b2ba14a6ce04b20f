"""A review in the shell and in Python: what is refused, what is kept, what comes back."""

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from lxml import html

from tests.harvests import done
from tests.lists import screening
from tests.world import World
from utils import Library, cli
from utils.errors import BadRequest, InUse, NotFound, Unreachable
from utils.lists.decisions import KEY, GivenFacts, read_screened_records
from utils.review import Review

pytestmark = pytest.mark.slow

FIELD = 12
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>"
SEARCHES = "databases:\n  - {source: pubmed, query: 'field[ti]'}\n"
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(
    field: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    for name, value in field.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "papers"))
    monkeypatch.setenv("PAPERS_PACE_DIR", str(tmp_path / "pace"))

    def run(*words: object) -> tuple[int, str, str]:
        status = cli.main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def searching(review: Review, more: str = "") -> Review:
    (review.folder / "protocol.yaml").write_text(SEARCHES + more, encoding="utf-8")
    return review


def to_csv(rows: Iterable[tuple[str, ...]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def table(*rows: tuple[str, ...]) -> bytes:
    return to_csv([("doi", "decision", "screener", "reason"), *rows])


def dois(review: Review) -> list[str]:
    """A DOI of each record; a preprint's is arXiv's."""
    ids = [record.paper.ids for record in review.ledger.list_records()]
    return [one.doi or f"10.48550/arXiv.{one.arxiv}" for one in ids]


def test_a_review_goes_from_new_to_its_figure_in_the_shell(shell: Shell, tmp_path: Path) -> None:
    status, out, err = shell("review", "new", "moss")
    protocol = Path(out.strip())
    assert status == 0
    assert "review update moss" in err
    protocol.write_text(SEARCHES + "screeners: 1\n", encoding="utf-8")
    status, out, _ = shell("review", "update", "moss")
    assert (status, f"{FIELD} new records in moss" in out) == (0, True)
    status, out, _ = shell("review", "export", "moss", "--for", "asreview")
    exported = Path(out.strip())
    rows = list(csv.DictReader(exported.read_text(encoding="utf-8").splitlines()))
    text = exported.read_text(encoding="utf-8").splitlines()
    labelled = [line.replace(",,ps-", f",{at % 2},ps-") for at, line in enumerate(text)]
    decided = tmp_path / "asreview.csv"
    decided.write_text(
        "\n".join(labelled).replace(",included,", ",asreview_label,"), encoding="utf-8"
    )
    status, out, _ = shell("review", "import", "moss", decided, "--screener", "Ama", "--json")
    assert json.loads(out)["decisions"] == len(rows) == FIELD
    status, out, _ = shell("review", "harvest", "moss", "--json")
    assert json.loads(out.splitlines()[-1])["counts"]["requested"] == FIELD // 2
    status, out, _ = shell("review", "report", "moss")
    assert {Path(line).name for line in out.splitlines()} == {
        *("review.html", "prisma.svg", "prisma.csv", "prisma-s.md", "records.csv", "decisions.csv"),
        *("conflicts.csv", "changes.csv", "searches.csv", "unmatched.csv", "duplicates.csv"),
    }
    status, out, _ = shell("review", "status", "moss")
    assert f"by title and abstract: {FIELD // 2} included, {FIELD // 2} excluded\n" in out
    status, out, _ = shell("review", "status", "--json")
    assert json.loads(out)["records"] == FIELD


@pytest.mark.parametrize(
    "words",
    [
        ("new", "Moss and Light"),
        ("new", "../moss"),
        ("update", "nowhere"),
        ("status", "nowhere"),
        ("export", "nowhere", "--for", "word"),
        ("import", "nowhere", "file.csv"),
    ],
)
def test_wrong_commands_are_refused_in_a_sentence(shell: Shell, words: tuple[str, ...]) -> None:
    status, out, err = shell("review", *words)
    assert status == 2
    assert err.strip()
    assert not out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no fields"),
        ("a: {b", "not valid YAML at line"),
        ("databses: []", "no field 'databses'"),
        ("databases: pubmed", "databases is not a list"),
        ("databases: [{source: pubmed}]", "needs a source and a query"),
        ("databases: [{source: medline, query: a}]", "medline cannot be searched"),
        ("lists: [{file: nowhere.ris}]", "There is no file .*nowhere.ris"),
        ("lists: [{file: a.ris, kind: friend}]", "cannot be of the kind 'friend'"),
        ("screeners: many", "is not a number of people"),
        ("stages: [abstract]", "no stage 'abstract'"),
        ("title: nothing to search", "names no database and no list"),
        ("!!python/object/apply:os.system [echo]", "not valid YAML"),
    ],
)
def test_a_protocol_that_cannot_be_used_says_where(library: Library, text: str, words: str) -> None:
    review = library.reviews.create("moss")
    (review.folder / "protocol.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match=words):
        review.update()
    assert not review.ledger.list_records()


def test_a_new_protocol_can_be_read_as_it_is(library: Library) -> None:
    review = library.reviews.create("moss")
    assert review.protocol().screeners == 2
    (review.folder / "protocol.yaml").write_text("title: mine\n", encoding="utf-8")
    assert library.reviews.create("moss").protocol().title == "mine"
    assert [one.name for one in library.reviews.all()] == ["moss"]
    with pytest.raises(NotFound):
        library.reviews.open("lichen")


def test_a_site_that_is_down_leaves_the_review_as_it_was(library: Library, field: World) -> None:
    review = searching(library.reviews.create("moss"))
    field.mood("down", "eutils")
    with pytest.raises(Unreachable, match="PubMed"):
        review.update()
    assert [event.what for event in review.events()] == ["new"]


@pytest.mark.parametrize(
    ("votes", "first"),
    [
        ([("Kofi", "include")], "undecided"),
        ([("Kofi", "include"), ("Ama", "include")], "include"),
        ([("Kofi", "maybe"), ("Ama", "include")], "include"),
        ([("Kofi", "exclude"), ("Ama", "exclude")], "exclude"),
        ([("Kofi", "exclude"), ("Ama", "include")], "conflict"),
        ([("Kofi", "exclude"), ("Ama", "maybe")], "conflict"),
        ([("Kofi", "exclude"), ("Ama", "include"), ("consensus", "include")], "include"),
        ([("Kofi", "exclude"), ("Ama", "include"), ("Yaa", "exclude")], "exclude"),
        ([("Kofi", "exclude"), ("Ama", "include"), ("Kofi", "include")], "include"),
    ],
)
def test_who_decides(library: Library, votes: list[tuple[str, str]], first: str) -> None:
    review = searching(library.reviews.create("moss"), "resolver: Yaa\n")
    review.update()
    doi = dois(review)[0]
    for screener, choice in votes:
        review.read_decisions(table((doi, choice, screener, "")), "a.csv")
    assert review.standings()[0].first == first


def test_conflicts_are_kept_and_named(library: Library) -> None:
    review = searching(library.reviews.create("moss"))
    review.update()
    doi = dois(review)[3]
    rows = table((doi, "exclude", "Kofi", "too late"), (doi, "include", "Ama", ""))
    review.read_decisions(rows, "both.csv")
    review.report()
    text = (review.folder / "conflicts.csv").read_text(encoding="utf-8")
    named = [(row["screener"], row["decision"], row["reason"])
             for row in csv.DictReader(text.splitlines())]  # fmt: skip
    assert named == [("Kofi", "exclude", "too late"), ("Ama", "include", "")]
    assert review.status()["conflicts"] == [review.ledger.list_records()[3].key]


def test_rows_of_other_reviews_are_named_and_decide_nothing(library: Library) -> None:
    review = searching(library.reviews.create("moss"))
    review.update()
    rows = table((dois(review)[0], "include", "Ama", ""), ("10.1000/other", "include", "Ama", ""))
    brought = review.read_decisions(rows, "mixed.csv")
    assert (brought.rows, brought.decisions) == (1, 1)
    [(place, _, why)] = brought.unmatched
    assert (place, "no record of this review" in why) == ("row 3", True)
    with pytest.raises(BadRequest, match=r"None of the 4 rows of articles\.csv"):
        review.read_decisions(screening.RAYYAN.encode(), "articles.csv")
    assert len([event for event in review.events() if event.what == "decisions"]) == 1


@pytest.mark.parametrize("program", ["rayyan", "covidence", "asreview", "eppi", "zotero"])
def test_what_goes_out_comes_back_by_its_key(library: Library, program: str) -> None:
    review = searching(library.reviews.create("moss"))
    review.update()
    keys = {record.key for record in review.ledger.list_records()}
    for path in review.export(program):  # type: ignore[arg-type]
        if path.suffix == ".json":
            items = json.loads(path.read_text(encoding="utf-8"))
            assert {item["id"] for item in items} == keys
            assert all(f"papershelf_key: {item['id']}" in item["note"] for item in items)
            continue
        read = list(
            read_screened_records(path.read_bytes(), path.name, GivenFacts("include", None, "Ama"))
        )
        assert {one.key for one in read} == keys


def test_labels_notes_and_keys_of_rayyan_are_kept(library: Library) -> None:
    review = searching(library.reviews.create("moss"))
    review.update()
    first, second, *_ = review.ledger.list_records()
    note = 'RAYYAN-INCLUSION: {"Kofi"=>"Included"} | RAYYAN-LABELS: wet,RCT | '
    note += 'USER-NOTES: {"Kofi"=>["see p. 3"], "Ama"=>["late"]}'
    rows = [("key", "title", "notes"), (first.key, "moss", note), ("rayyan-7", "moss", note)]
    rows[2] = ("rayyan-7", second.paper.title, f"{KEY}: {second.key} | {note}")
    review.read_decisions(to_csv(rows), "articles.csv")
    again = ("rayyan-7", "Another spelling of it", 'RAYYAN-INCLUSION: {"Ama"=>"Maybe"}')
    brought = review.read_decisions(to_csv([rows[0], again]), "again.csv")
    assert (brought.rows, brought.unmatched) == (1, ())
    decided = [(d.screener, d.choice) for d in review.ledger.list_decisions()[second.key]]
    assert decided == [("Kofi", "include"), ("Ama", "maybe")]
    review.report()
    with (review.folder / "records.csv").open(newline="", encoding="utf-8") as file:
        shown = [row for row in csv.DictReader(file) if row["labels"]]
    assert [(row["papershelf_key"], row["labels"], row["notes"]) for row in shown] == [
        (key, "wet; RCT", "Kofi: see p. 3; Ama: late") for key in (first.key, second.key)
    ]
    [exported] = review.export("rayyan")
    told = GivenFacts("include")
    back = {
        one.key: one for one in read_screened_records(exported.read_bytes(), exported.name, told)
    }
    assert back[first.key].labels == ("wet", "RCT")
    assert back[first.key].notes == (("Kofi", "see p. 3"), ("Ama", "late"))
    assert "RAYYAN-INCLUSION" not in exported.read_text(encoding="utf-8")
    [ris, _] = review.export("zotero")
    assert ris.read_text(encoding="utf-8").count("KW  - wet") == 2


def test_a_ledger_of_an_earlier_version_gets_its_tables_with_the_next_import(
    library: Library,
) -> None:
    review = searching(library.reviews.create("moss"))
    review.update()
    with closing(sqlite3.connect(review.ledger.path)) as db:
        db.executescript("DROP TABLE notes; DROP TABLE rayyan_keys")
    assert (review.ledger.list_notes(), review.ledger.list_rayyan_keys()) == ({}, {})
    key = review.ledger.list_records()[0].key
    note = 'RAYYAN-INCLUSION: {"Kofi"=>"Included"} | USER-NOTES: {"Kofi"=>["see p. 3"]}'
    rows = [("key", "title", "notes"), (key, "moss", note)]
    review.read_decisions(to_csv(rows), "articles.csv")
    assert review.ledger.list_notes() == {key: [("Kofi", "see p. 3")]}


def test_links_lead_from_the_export_to_the_full_texts(library: Library) -> None:
    review = searching(library.reviews.create("moss"), "screeners: 1\n")
    review.update()
    done(review.harvest())
    [ris, _] = review.export("zotero")
    links = [
        line[6:]
        for line in ris.read_text(encoding="utf-8").splitlines()
        if line.startswith("L1  - ")
    ]
    assert links
    assert all((ris.parent / link).is_file() for link in links)


def test_what_was_excluded_since_is_not_harvested_unless_asked_for(library: Library) -> None:
    review = searching(library.reviews.create("moss"), "screeners: 1\n")
    review.update()
    with (
        review.harvest().ledger.exclusive_lock(),
        pytest.raises(InUse, match="running in another process"),
    ):
        review.harvest()
    out = [(doi, "exclude", "Ama", "") for doi in dois(review)[:5]]
    review.read_decisions(table(*out), "a.csv")
    assert review.harvest().job().counts.requested == FIELD - 5
    assert review.harvest(with_excluded=True).job().counts.requested == FIELD


def test_a_pack_has_the_reports_that_are_wanted_before_and_after_the_harvest(
    library: Library, tmp_path: Path
) -> None:
    review = searching(library.reviews.create("moss"), "screeners: 1\n")
    review.update()
    plan = library.references.pack("moss", "covidence", dry_run=True)
    assert plan.reasons == {"not_tried": FIELD}
    done(review.harvest())
    out = [(doi, "exclude", "Ama", "") for doi in dois(review)[:5]]
    review.read_decisions(table(*out), "a.csv")
    pack = library.references.pack("moss", "covidence", output=tmp_path / "pack")
    assert len(pack.references) == FIELD - 5
    assert not {one.paper.ids.doi for one in pack.references} & {doi for doi, *_ in out}
    assert pack.attached


def test_new_hits_are_told_and_decisions_stay(library: Library, field: World) -> None:
    review = library.reviews.create("moss")
    (review.folder / "protocol.yaml").write_text(
        "databases:\n  - {source: pubmed, query: 'field[ti]', max_date: 2021}\n", encoding="utf-8"
    )
    first = review.update()
    assert 0 < len(first.new) < FIELD
    [named, *_] = [doi for doi in dois(review) if "field" in doi]
    review.read_decisions(table((named, "exclude", "Ama", "")), "a.csv")
    before = review.ledger.list_decisions()
    searching(review)
    second = review.update()
    assert len(first.new) + len(second.new) == FIELD
    review.report()
    with (review.folder / "changes.csv").open(newline="", encoding="utf-8") as file:
        changes = list(csv.DictReader(file))
    assert [row["outcome"] for row in changes] == ["new"] * FIELD
    latest = {row["papershelf_key"] for row in changes[: len(second.new)]}
    assert latest == {record.key for record in second.new}
    assert review.ledger.list_decisions() == before
    assert not review.update().new


def test_tools_are_counted_apart(library: Library) -> None:
    review = searching(library.reviews.create("moss"), "screeners: 1\nautomation: [Robot]\n")
    review.update()
    named = dois(review)
    rows = [(named[0], "exclude", "Robot", ""), (named[1], "exclude", "Ama", "")]
    review.read_decisions(table(*rows), "a.csv")
    numbers = review.numbers()
    assert (numbers.records_excluded, numbers.excluded_by_tools) == (2, 1)
    review.report()
    drawn = (review.folder / "prisma.svg").read_text(encoding="utf-8")
    assert "Excluded by a human (n = 1)" in drawn
    assert "Excluded by automation tools" in drawn


def test_the_appendix_has_each_search_as_run_and_leaves_open_what_only_people_know(
    library: Library,
) -> None:
    review = searching(library.reviews.create("moss"), "prisma_s: {peer_review: PRESS by Yaa}\n")
    review.update()
    review.report()
    text = (review.folder / "prisma-s.md").read_text(encoding="utf-8")
    assert "       field[ti]\n" in text
    assert '"field"[Title]' in text
    assert "**14. Peer review.** PRESS by Yaa" in text
    assert "**6. Contacts.** *to be filled by the reviewers*" in text
    assert f"PubMed {FIELD}" in text


def test_the_page_shows_where_the_review_stands_and_loads_nothing(library: Library) -> None:
    review = searching(library.reviews.create("moss"), f"question: {json.dumps(ATTACK)}\n")
    review.update()
    doi = dois(review)[0]
    rows = table((doi, "exclude", ATTACK, ATTACK), (doi, "include", "Ama", ""))
    review.read_decisions(rows, "a.csv")
    [path, *_] = review.report()
    page = html.fromstring(path.read_text(encoding="utf-8"))
    text = page.text_content()  # type: ignore[attr-defined]
    assert "Screeners disagree on 1 record" in text
    assert ATTACK in text
    assert "PRISMA2020" in text
    assert not page.xpath("//script | //img | //iframe | //link | //@src | //@style | //form")
    assert not page.xpath("//@*[starts-with(name(), 'on')]")
    links = [link for link in page.xpath("//a/@href") if not link.startswith("#")]
    assert links
    assert [link for link in links if not (review.folder / link).exists()] == []
    assert len(page.xpath("//@id")) == len(set(page.xpath("//@id")))


def test_a_review_that_never_searched_has_a_page_too(library: Library) -> None:
    [path, *_] = library.reviews.create("moss").report()
    assert "Not searched yet" in path.read_text(encoding="utf-8")


def test_lists_are_added_in_the_shell(
    shell: Shell, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = library.reviews.create("moss")
    (tmp_path / "embase.ris").write_text("TY  - JOUR\nTI  - Peat\nDO  - 10.1000/peat\nER  - \n")
    options = ("--list", tmp_path / "embase.ris", "--kind", "register", "--title", "Embase (Ovid)")
    assert shell("review", "update", "moss", *options)[0] == 0
    [listed] = review.protocol().lists
    assert (listed.name, listed.kind, listed.path.parent) == (
        "Embase (Ovid)",
        "register",
        review.folder,
    )
    assert [one.asked for one in review.ledger.list_records()] == ["doi:10.1000/peat"]
    piped = io.TextIOWrapper(
        io.BytesIO(b'{"pmid": "", "doi": "10.1000/moss", "title": "Moss"}\n'), "utf-8"
    )
    monkeypatch.setattr("sys.stdin", piped)
    assert shell("review", "update", "moss", "--list", "-")[0] == 0
    assert len(review.ledger.list_records()) == 2
    before = (review.folder / "protocol.yaml").read_bytes()
    for wrong in ([tmp_path / "missing.ris"], [tmp_path / "embase.ris", "--kind", "magic"]):
        assert shell("review", "update", "moss", "--list", *wrong)[0] == 2
    assert (review.folder / "protocol.yaml").read_bytes() == before
