"""An old folder taken in, judged, audited and harvested; and what a person says against it."""

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples import share
from tests.non_papers import ALL
from tests.processes import Process
from tests.shelf.papers import BODY, assert_consistent, fetched, index
from utils import readers as formats
from utils.cli import main
from utils.cli.upkeep import _format_changes
from utils.curation.audit import Audit, AuditResult, audit_texts
from utils.download.climb import DownloadRequest, find_servable_text
from utils.errors import BadContent, BadRequest, StoreFailed
from utils.judges import check
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper
from utils.model.verdicts import ComparisonData
from utils.shelf import Shelf, paper_file
from utils.shelf.ledger import Ledger
from utils.shelf.record import compute_sha256

ROOT = Path(__file__).resolve().parents[2]


def doi_of(kind: str) -> str:
    return f"10.1000/{kind.replace('_', '-')}"


def old_folder(folder: Path) -> dict[str, bytes]:
    """Twelve non-papers and one paper, as the older program named its files."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in ALL.items():
        (folder / f"{doi_of(kind).replace('/', '_')}.txt").write_text(text, encoding="utf-8")
    (folder / "10.1000_whole.txt").write_text(BODY, encoding="utf-8")
    return {path.name: path.read_bytes() for path in folder.glob("*.txt")}


@pytest.fixture
def folder(library):
    made = library.settings.papers_dir
    old_folder(made)
    return made


def texts(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.txt")}


def of_kind(library, kind):
    return {stored.paper.ids.doi for stored in library.list_papers(kind=kind, max_results=50)[1]}


def records(folder):
    return {path.name: path.read_bytes() for path in (folder / ".papershelf").rglob("*.json")}


# -- what is adopted -------------------------------------------------------------------------


def test_an_old_folders_non_papers_are_listed_as_what_they_are(library, folder):
    before = texts(folder)
    assert of_kind(library, "rejected") == {doi_of(kind) for kind in ALL}
    assert of_kind(library, "full_text") == {"10.1000/whole"}
    assert library.shelf.count_papers()["rejected"] == 12
    rows = {row["doi"]: row for row in index(folder)}
    for kind in ALL:
        row = rows[doi_of(kind)]
        assert row["kind"] == "rejected"
        assert row["verdict"] not in ("full_text", "")
        assert row["evidence"]
    assert texts(folder) == before
    assert library.shelf.verdicts.count_unjudged_texts() == 0
    assert_consistent(library.shelf)


def servable(library, doi):
    """What the shelf serves of a paper while no site can be asked."""
    climb = library.ladder.start_climb(DownloadRequest(Ids(doi=doi), offline=True))
    return find_servable_text(climb, library.ladder.rungs, library.settings)


def test_a_non_paper_met_by_its_name_alone_is_not_served(library, folder):
    """`find` comes before anybody listed the folder."""
    for kind in ALL:
        assert library.find(doi_of(kind)).kind == "rejected"
        assert servable(library, doi_of(kind)) is None
    assert servable(library, "10.1000/whole") is not None


def test_a_download_asks_anew_for_what_was_rejected_and_deletes_nothing(library, world):
    record = world.paper("pmc_cloud")
    library.settings.papers_dir.mkdir()
    junk = library.settings.papers_dir / f"{record.doi.lower().replace('/', '_')}.txt"
    junk.write_text(ALL["sign_in"], encoding="utf-8")
    done = library.download(record.pmid)
    assert (done.stored.kind, done.cached) == ("full_text", False)
    assert done.file_path != str(junk)
    assert junk.read_text(encoding="utf-8") == ALL["sign_in"]
    assert library.find(record.doi).path == done.file_path
    assert_consistent(library.shelf)
    assert library.find(record.doi).path == done.file_path


def test_a_harvest_does_not_count_what_was_rejected_as_retrieved(library, world):
    got, closed = world.paper("pmc_cloud"), world.paper("paywall")
    library.settings.papers_dir.mkdir()
    for record in (got, closed):
        name = f"{record.doi.lower().replace('/', '_')}.txt"
        (library.settings.papers_dir / name).write_text(ALL["proxy"], encoding="utf-8")
    harvest = library.harvest([got.doi, closed.doi])
    list(harvest)
    counts = harvest.job().counts
    assert (counts.full_text, counts.abstract) == (1, 1)
    kept = [
        path
        for path in harvest.folder.parents[1].glob("*.txt")
        if "PIN" in path.read_text(encoding="utf-8")
    ]
    assert len(kept) == 2
    assert_consistent(library.shelf)


# -- the audit -------------------------------------------------------------------------------


@pytest.fixture
def stricter(monkeypatch):
    """Newer judges, who refuse what `pick` picks."""

    def install(pick, verdict="paywall"):
        judge = check.judge_document

        def judged(document: Document, paper: Paper, comparison: ComparisonData) -> Document:
            if pick(paper):
                raise BadContent("It sells.", verdict=verdict, evidence="it sells itself")
            return judge(document, paper, comparison)

        monkeypatch.setattr(check, "judge_document", judged)
        raise_judges(monkeypatch)

    return install


def raise_judges(monkeypatch):
    for module in (
        "utils.readers",
        "utils.shelf.verdicts",
        "utils.shelf.record",
        "utils.curation.audit",
    ):
        monkeypatch.setattr(f"{module}.JUDGE_VERSION", 99)


def here(library, papers=(), fix=False):
    """An audit in this process, where the judges of a test can be met."""
    made = audit_texts(library.ladder, papers, fix=fix)
    return list(Audit(made.ladder, made.files, made.fix, formats.read_and_judge))


@pytest.fixture
def held(library, world):
    branches = ("pmc_cloud", "publisher_html", "jina_only", "unpaywall_pdf")
    return [library.download(world.paper(branch).pmid).stored for branch in branches]


def test_an_audit_by_the_same_judges_changes_nothing_and_asks_nobody(library, world, held):
    before = len(world.requests)
    found = list(library.upkeep.audit(fix=True))
    assert [one.outcome for one in found] == ["unchanged"] * len(held)
    assert all(one.evidence for one in found)
    assert len(world.requests) == before
    assert_consistent(library.shelf)


def test_after_an_update_of_the_judges_an_audit_is_due_until_it_was_fixed(library, held, stricter):
    stricter(lambda paper: False)
    assert library.shelf.verdicts.count_unjudged_texts() == len(held)
    here(library)
    assert library.shelf.verdicts.count_unjudged_texts() == len(held)
    here(library, fix=True)
    assert library.shelf.verdicts.count_unjudged_texts() == 0
    assert_consistent(library.shelf)


def test_without_fix_nothing_is_written(library, held, stricter):
    stricter(lambda paper: True)
    folder = library.settings.papers_dir
    library.list_papers()
    before = texts(folder), records(folder), (folder / "index.csv").read_bytes()
    found = here(library)
    assert [(one.outcome, one.was, one.now) for one in found] == [
        ("changed", "full_text", "paywall")
    ] * len(held)
    assert (texts(folder), records(folder), (folder / "index.csv").read_bytes()) == before
    assert library.find(held[0].paper.ids.pmid).kind == "full_text"


def test_doubts_are_kept_with_the_text_and_a_better_copy_is_asked_for(
    library, world, held, monkeypatch
):
    one, judge = held[0], check.judge_document

    def judged(document: Document, paper: Paper, comparison: ComparisonData) -> Document:
        found = judge(document, paper, comparison)
        if paper.ids.shares(one.paper.ids):
            return replace(found, verdict="doubtful", evidence="section 3 is missing")
        return found

    with monkeypatch.context():
        monkeypatch.setattr(check, "judge_document", judged)
        raise_judges(monkeypatch)
        found = here(library, fix=True)
    changed = [(one.was, one.now, one.evidence) for one in found if one.outcome == "changed"]
    assert changed == [("full_text", "doubtful", "section 3 is missing")]
    now = library.find(one.paper.ids.pmid)
    assert (now.kind, now.verdict, now.evidence) == ("full_text", *changed[0][1:])
    header = paper_file.parse_paper_file(Path(now.path).read_text(encoding="utf-8")).header
    assert (header["Verdict"], header["Evidence"]) == ("doubtful", "section 3 is missing")
    assert "section 3 is missing" in library.read(one.paper.ids.pmid).doubts
    before = len(world.requests)
    assert library.download(one.paper.ids.pmid).stored.kind == "full_text"
    assert len(world.requests) > before


def test_the_table_of_changes_says_why_and_what_to_do():
    def result(was, now, evidence):
        return AuditResult("PMID 1", "Bees", "changed", was, now, evidence, "/papers/1.md")

    cited = [result("full_text", "partial", f"cites {n} of 367; 9 headings") for n in range(1200)]
    doubts = [result("partial", "doubtful", "section 3 is missing")]
    head, *lines = _format_changes(
        {("full_text", "partial"): [*cited, *doubts], ("partial", "doubtful"): doubts}
    )
    assert head.split() == ["was", "now", "texts", "what", "to", "do"]
    assert ["1,201" in line for line in lines] == [True, False, False, False, False]
    assert [line.split() for line in lines[1:3]] == [
        ["1,200", "cites", "0", "of", "367"],
        ["1", "section", "3", "is", "missing"],
    ]
    assert all(len(line.split("  ")[-1]) > 20 for line in lines if line.startswith(("f", "p")))
    assert list(_format_changes({})) == []


def test_fix_rejects_keeps_the_file_and_asks_anew(library, world, held, stricter, monkeypatch):
    bad = held[0]
    with monkeypatch.context():
        stricter(lambda paper: paper.ids.shares(bad.paper.ids))
        found = here(library, fix=True)
    assert [one.outcome for one in found].count("changed") == 1
    now = library.find(bad.paper.ids.pmid)
    assert (now.kind, now.verdict, now.evidence) == ("rejected", "paywall", "it sells itself")
    said = paper_file.parse_paper_file(Path(now.path).read_text(encoding="utf-8"))
    assert said.body == paper_file.parse_paper_file(Path(bad.path).read_text(encoding="utf-8")).body
    assert (said.kind, said.header["Verdict"]) == ("rejected", "paywall")
    assert said.header["Evidence"] == "it sells itself"
    assert library.shelf.read_raw_answer(now) is not None
    assert_consistent(library.shelf)
    assert {row["verdict"] for row in index(library.settings.papers_dir)} == {
        "full_text",
        "paywall",
    }


def test_a_rejected_text_that_passes_today_is_served_again(library, held, stricter, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        judge = check.judge_document

        def refuse(*_):
            raise BadContent("It sells.", verdict="paywall", evidence="it sells itself")

        patch.setattr(check, "judge_document", refuse)
        here(library, fix=True)
        assert library.shelf.count_papers()["rejected"] == len(held)
        assert check.judge_document is not judge
    found = here(library, fix=True)
    assert {(one.was, one.now) for one in found} == {("paywall", "full_text")}
    assert library.shelf.count_papers()["full_text"] == len(held)
    assert "Evidence" not in Path(held[0].path).read_text(encoding="utf-8").partition("\n---\n")[0]
    assert_consistent(library.shelf)


def test_a_harvest_that_counted_a_rejected_text_asks_for_it_again(library, world, stricter):
    record = world.paper("pmc_cloud")
    harvest = library.harvest([record.pmid], title="One")
    list(harvest)
    assert harvest.job().counts.full_text == 1
    with pytest.MonkeyPatch.context() as patch:
        refuse = BadContent("It sells.", verdict="paywall", evidence="it sells itself")

        def judged(*_):
            raise refuse

        patch.setattr(check, "judge_document", judged)
        [found] = here(library, fix=True)
    assert found.jobs == (harvest.job_id,)
    assert harvest.job().counts.pending == 1
    assert "not tried yet (n = 1)" in (harvest.folder / "prisma.svg").read_text(encoding="utf-8")
    again = library.harvest([record.pmid], title="One")
    list(again)
    assert again.job().counts.full_text == 1
    assert len(texts(library.settings.papers_dir)) == 2  # the rejected text is still there


def test_what_an_older_version_took_in_as_full_text_is_found_out(library, folder):
    """It judged no file that it adopted: the shelf says that an audit is due, and it tells."""
    verdicts = library.shelf.verdicts
    for stored in library.list_papers(kind="rejected", max_results=50)[1]:
        verdicts.set_verdict(
            replace(stored, kind="full_text", verdict="full_text", evidence="", judges=0)
        )
    assert library.shelf.count_papers()["full_text"] == 13
    assert verdicts.count_unjudged_texts() == 12
    before = texts(folder)
    found = [one for one in library.upkeep.audit(fix=True) if one.outcome == "changed"]
    assert [one.was for one in found] == ["full_text"] * 12
    assert of_kind(library, "rejected") == {doi_of(kind) for kind in ALL}
    assert verdicts.count_unjudged_texts() == 0
    assert all(servable(library, doi_of(kind)) is None for kind in ALL)
    assert texts(folder) == before
    assert_consistent(library.shelf)


def test_once_its_record_is_known_an_adopted_file_is_held_against_it(library, world):
    """A whole paper under another's name: only the name told which it is."""
    record = world.paper("pmc_cloud")
    library.settings.papers_dir.mkdir()
    (library.settings.papers_dir / f"pmid_{record.pmid}.txt").write_text(BODY, encoding="utf-8")
    assert library.find(record.pmid).kind == "full_text"
    list(library.upkeep.recheck(crossref=False))
    assert library.find(record.pmid).paper.recorded_by
    [one] = library.upkeep.audit(fix=True)
    assert (one.was, one.now) == ("full_text", "wrong_paper")
    assert library.download(record.pmid).stored.via == "pmc_cloud"


def test_what_took_the_place_of_a_text_is_judged_and_the_text_made_again(library, held):
    path = Path(held[0].path)
    before, quarantined = path.read_bytes(), library.shelf.count_papers()["quarantined"]
    head, rule, _ = path.read_text(encoding="utf-8").partition("\n\n---\n\n")
    path.write_text(f"{head}{rule}# Gone\n\nPlease log in.\n", encoding="utf-8")
    assert {one.outcome for one in here(library)} == {"unchanged"}
    assert path.read_bytes() == before
    assert library.shelf.count_papers()["quarantined"] == quarantined + 1


@pytest.mark.parametrize("verdict", ["full_text", "paywall"])
def test_a_file_changed_under_the_audit_is_left_for_the_next_one(
    library, held, stricter, monkeypatch, verdict
):
    stricter(lambda paper: verdict == "paywall")
    made = audit_texts(library.ladder, fix=True)
    path = Path(held[0].path)

    def read(fetched, paper, **options):
        if paper.ids == held[0].paper.ids:
            path.write_text(path.read_text(encoding="utf-8") + "\nMY NOTE.\n", encoding="utf-8")
        return formats.read_and_judge(fetched, paper, **options)

    outcomes = {one.file_path: one.outcome for one in Audit(library.ladder, made.files, True, read)}
    assert outcomes[str(path)] == ("unchanged" if verdict == "full_text" else "not_read")
    assert path.read_text(encoding="utf-8").endswith("MY NOTE.\n")
    assert library.find(held[0].paper.ids.pmid).sha256 == compute_sha256(path.read_bytes())
    # What the judges refused they have seen; an edited text waits for the next audit.
    assert library.shelf.verdicts.count_unjudged_texts() == (1 if verdict == "full_text" else 0)
    assert_consistent(library.shelf)


def test_damaged_bytes_cost_nothing_but_themselves(library, held):
    raw = library.settings.papers_dir / ".papershelf" / "raw"
    for path in raw.iterdir():
        path.write_bytes(path.read_bytes()[:40])
    assert "not_read" not in {one.outcome for one in here(library)}


def test_only_the_papers_asked_for_are_audited(library, held):
    [one] = library.upkeep.audit([held[1].paper.ids.pmid])
    assert one.file_path == held[1].path


def test_processes_judge_as_this_one_does(library, folder):
    library.list_papers()
    aside = [(one.file_path, one.outcome, one.now) for one in library.upkeep.audit()]
    assert aside == [(one.file_path, one.outcome, one.now) for one in here(library)]
    assert len(aside) == 13


@pytest.mark.slow
def test_an_audit_killed_at_any_instant_leaves_a_shelf_in_order(tmp_path):
    chance = random.Random(3)
    home = tmp_path / "shelf"
    before = old_folder(home)
    with Shelf(home) as shelf:
        for number in range(30):
            about = Paper(Ids(pmid=str(number + 1)), title=f"Paper {number}")
            shelf.save_full_text(about, Document(BODY), fetched(), source="PMC", attempts=())
        bodies = {
            path.name: paper_file.strip_header(path.read_text(encoding="utf-8"))
            for path in home.glob("*.txt")
        }
    for turn in range(share(10)):
        child = Process(
            [sys.executable, "-m", "tests.auditing", str(home), str(turn % 2)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        child.stdout.readline()
        try:
            child.wait(chance.uniform(0.0, 0.4))
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        child.stdout.close()
        for part in home.rglob("*.part"):
            part.unlink()
        with Shelf(home) as shelf:
            for number in range(30):
                assert shelf.find_text(Ids(pmid=str(number + 1))) is not None
            assert shelf.count_papers()["papers"] == 43
            assert_consistent(shelf)
        now = {
            path.name: paper_file.strip_header(path.read_text(encoding="utf-8"))
            for path in home.glob("*.txt")
        }
        assert now == bodies
    assert {name: (home / name).read_bytes() for name in before} == before


def test_a_shelf_that_cannot_be_written_is_audited_and_refuses_the_consequences(
    library, held, stricter, monkeypatch
):
    library.list_papers()
    # Threads of the downloads may have the file open: what they wrote need not be in it yet.
    with library.shelf._catalogue.borrow_connection() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    library.shelf.close()
    stricter(lambda paper: True)
    monkeypatch.setattr("os.access", lambda *_: False)  # tests may run as root
    before = texts(library.settings.papers_dir), records(library.settings.papers_dir)
    assert library.shelf.verdicts.count_unjudged_texts() == len(held)
    assert {one.outcome for one in here(library)} == {"changed"}
    with pytest.raises(StoreFailed, match="read-only"):
        here(library, fix=True)
    assert (texts(library.settings.papers_dir), records(library.settings.papers_dir)) == before


def test_whoever_stops_listening_stops_the_audit(library, folder):
    running = iter(library.upkeep.audit(fix=True))
    next(running)
    running.close()
    assert library.shelf.count_papers()["papers"] == 13
    assert_consistent(library.shelf)


# -- a person says otherwise -----------------------------------------------------------------


def test_a_text_kept_by_hand_is_served_shown_as_such_and_left_alone(library, folder):
    before = texts(folder)
    stored = library.upkeep.keep(doi_of("citation"), "full_text", "it is  all there\nis")
    assert (stored.kind, stored.verdict, stored.evidence) == (
        "full_text", "by_hand", "it is all there is",
    )  # fmt: skip
    assert servable(library, doi_of("citation")) == stored
    [row] = [row for row in index(folder) if row["doi"] == doi_of("citation")]
    assert (row["kind"], row["verdict"], row["evidence"]) == (
        "full_text", "by_hand", "it is all there is",
    )  # fmt: skip
    [one] = [one for one in library.upkeep.audit(fix=True) if one.outcome == "by_hand"]
    assert (one.now, one.evidence) == ("full_text", "it is all there is")
    assert library.find(doi_of("citation")) == stored
    assert texts(folder) == before
    assert_consistent(library.shelf)
    library.upkeep.rebuild()
    assert library.find(doi_of("citation")).verdict == "by_hand"


def test_undo_gives_the_judges_the_word_again(library, folder):
    library.list_papers()
    was = library.find(doi_of("shop"))
    library.upkeep.keep(doi_of("shop"), "full_text", "I say so")
    assert library.upkeep.undo_keep(doi_of("shop")) == was
    with pytest.raises(BadRequest, match="has no decision by hand"):
        library.upkeep.undo_keep(doi_of("shop"))
    assert_consistent(library.shelf)


def test_a_text_rejected_by_hand_is_not_taken_again_from_the_same_site(library, world):
    record = world.paper("pmc_cloud")
    first = library.download(record.pmid).stored
    library.upkeep.keep(record.pmid, "rejected", "it is the erratum")
    text = Path(first.path).read_text(encoding="utf-8")
    assert "- Verdict: by_hand\n" in text
    assert "- Evidence: it is the erratum\n" in text
    again = library.download(record.pmid)
    assert again.stored.kind == "abstract"
    assert "by_hand" in {attempt.outcome for attempt in again.stored.attempts}
    assert Path(first.path).exists()
    library.upkeep.undo_keep(record.pmid)
    assert library.download(record.pmid, force=True).stored.kind == "full_text"
    assert_consistent(library.shelf)


def test_a_decision_needs_a_reason_a_text_and_a_word_that_is_one(library, world, folder):
    with pytest.raises(BadRequest, match="reason"):
        library.upkeep.keep(doi_of("shop"), "full_text", " ")
    with pytest.raises(BadRequest, match="is not a decision"):
        library.upkeep.keep(doi_of("shop"), "abstract", "why")
    closed = library.download(world.paper("paywall").pmid).stored
    with pytest.raises(BadRequest, match="Only the abstract"):
        library.upkeep.keep(closed.paper.ids.pmid, "full_text", "why")


def test_what_was_accepted_by_hand_stands_in_report_prisma_and_lock(library, world):
    record = world.paper("paywall")
    harvest = library.harvest([record.pmid], title="One")
    list(harvest)
    assert harvest.job().counts.abstract == 1
    inbox = library.settings.papers_dir / "inbox"
    inbox.mkdir()
    page = f"# {record.plain_title}\n\nhttps://doi.org/{record.doi}\n\nThe author's few lines.\n"
    (inbox / f"{record.pmid}.md").write_text(page, encoding="utf-8")
    [refused] = library.upkeep.take_in()
    assert refused.outcome == "rejected"
    [done] = library.upkeep.take_in(accept="the author sent it")
    assert (done.outcome, done.jobs) == ("filed", (harvest.job_id,))
    assert "by hand" in done.detail
    stored = library.find(record.pmid)
    assert (stored.kind, stored.verdict, stored.evidence) == (
        "full_text", "by_hand", "the author sent it",
    )  # fmt: skip
    assert harvest.job().counts.full_text == 1
    [locked] = json.loads((harvest.folder / "papers.lock.json").read_text(encoding="utf-8"))[
        "papers"
    ]
    assert locked["by_hand"] == "the author sent it"
    assert "Accepted by hand (n = 1)" in (harvest.folder / "prisma.svg").read_text(encoding="utf-8")
    assert "the author sent it" in (harvest.folder / "report.html").read_text(encoding="utf-8")
    assert "by_hand" in (harvest.folder / "papers.csv").read_text(encoding="utf-8")
    assert_consistent(library.shelf)


# -- honest counting -------------------------------------------------------------------------


def test_a_record_without_an_abstract_is_counted_apart(library, world):
    bare, closed = world.paper("no_abstract"), world.paper("paywall")
    done = library.download(bare.pmid)
    assert done.stored.kind == "record"
    assert done.row()["kind"] == "record"
    assert "without an abstract" in done.message
    assert Path(done.file_path).name == f"pmid_{bare.pmid}_record.txt"
    library.download(closed.pmid)
    counts = library.shelf.count_papers()
    assert (counts["record"], counts["abstract"], counts["papers"]) == (1, 1, 2)
    assert {row["kind"] for row in index(library.settings.papers_dir)} == {"record", "abstract"}
    harvest = library.harvest([bare.pmid, closed.pmid])
    list(harvest)
    row = harvest.job().row()
    assert (row["abstract"], row["record"]) == (1, 1)
    assert "record" in (harvest.folder / "papers.csv").read_text(encoding="utf-8")
    assert "Record only" in (harvest.folder / "report.html").read_text(encoding="utf-8")
    assert_consistent(library.shelf)
    assert library.shelf.count_papers()["record"] == 1


def test_an_old_shelfs_abstract_without_one_is_a_record_on_next_contact(library, world):
    """A shelf and a ledger as the version before wrote them."""
    bare = world.paper("no_abstract")
    stored = library.download(bare.pmid).stored
    harvest = library.harvest([bare.pmid], title="One")
    list(harvest)
    shelf = library.shelf
    entry = shelf._catalogue.find_entry_by_file(Path(stored.path).name)
    as_it_was = json.loads(entry.record)
    as_it_was["stored"] |= {"kind": "abstract", "verdict": "abstract_only"}
    for name in ("evidence", "judges"):
        del as_it_was["stored"][name]
    del as_it_was["refused"]
    with shelf._catalogue.open_transaction() as db:
        db.execute("UPDATE papers SET kind = 'abstract', record = ?", (json.dumps(as_it_was),))
        db.execute("DELETE FROM notes WHERE name LIKE 'surveyed%'")
        db.execute("INSERT INTO notes VALUES ('surveyed', 'then')")
    (shelf.folder / ".papershelf/records" / f"{Path(stored.path).stem}.json").write_text(
        json.dumps(as_it_was), encoding="utf-8"
    )
    with harvest.ledger._open_for_writing() as db:
        db.execute("UPDATE papers SET state = 'abstract'")
    harvest.ledger._db.execute("ALTER TABLE papers DROP COLUMN version")
    harvest.ledger._db.execute("PRAGMA user_version = 1")

    assert library.find(bare.pmid).kind == "record"
    assert library.shelf.count_papers()["record"] == 1
    assert Ledger(harvest.ledger.path).read_job().counts.record == 1
    assert_consistent(shelf)


# -- in the shell ----------------------------------------------------------------------------


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))

    def run(*words):
        status = main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_the_shell_lists_audits_and_keeps(shell, library, folder):
    status, out, _ = shell("list", "--kind", "rejected", "--json", "--max-results", 50)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (status, len(rows)) == (0, 12)
    assert all(row["verdict"] and row["evidence"] for row in rows)
    status, out, err = shell("audit")
    assert (status, out) == (0, "")
    assert "13 unchanged" in err
    status, out, _ = shell("keep", doi_of("shop"), "--as", "full_text", "--because", "mine")
    assert "by hand: mine" in out
    assert "by hand: mine" in shell("list", "--kind", "full_text")[1]
    assert "by hand" in shell("audit", doi_of("shop"))[1]
    assert shell("keep", doi_of("shop"), "--undo")[0] == 0
    assert shell("keep", doi_of("shop"))[0] == 2
    assert "12 rejected" in shell("status")[2]


def test_the_shell_says_once_that_an_audit_is_due(shell, library, held, stricter, monkeypatch):
    stricter(lambda paper: True)
    for command in (["list"], ["status"]):
        _, _, err = shell(*command)
        assert err.count("server.py shelf audit") == 1
        assert f"{len(held)} texts" in err
