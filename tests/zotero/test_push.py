"""Papers into Zotero: what is added, what is left alone, undone, and never doubled."""

import hashlib
import itertools
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.packs.shelves import document, fetched, pdf_bytes
from tests.world.zotero import API_KEY, Zotero
from tests.zotero.conftest import MOSS as MOSS_ITEM
from utils import Library
from utils.demo.wire import Reply
from utils.errors import BadRequest, NotConfigured, PaperError, Unreachable
from utils.model.identifiers import Ids
from utils.model.job import Harvested
from utils.model.paper import Author, Notice, Paper
from utils.zotero import push_papers_to_zotero, undo_last_push
from utils.zotero.items import item_to_paper, paper_to_item

MOSS = Paper(
    Ids(doi="10.5555/moss.1", pmid="31452104"), "Moss grows in the dark of a cave",
    authors=(Author("Roe", "Jane"),), journal="Journal of Moss", volume="4", issue="2",
    pages="11-19", published="2019-05-03",
)  # fmt: skip
OAK = Paper(
    Ids(doi="10.5555/oak.9"), "Oaks that outlive the <i>roads</i> beside them",
    authors=(Author("Poe", "Ann"), Author(collective="The Oak & Elm Group")),
    journal="Annals of Oak", published="2021", notices=(Notice("retraction"),),
)  # fmt: skip
NAMELESS = Paper(Ids(), "A report on hedges", authors=(Author("Wu", "Li"),), published="1999")
ROWS = [
    Harvested(1, "moss", "full_text", MOSS),
    Harvested(2, "oak", "failed", OAK, reason="paywall", detail="<script>alert(1)</script>"),
    Harvested(3, "hedges", "failed", NAMELESS, reason="not_found"),
    Harvested(4, "moss again", "failed", MOSS, reason="not_found"),
    Harvested(5, "x", "failed", Paper(Ids(pmid="7")), reason="not_found"),
]


@pytest.fixture
def filed(beside):
    """The rows of a harvest; the shelf has the text and the PDF of the first."""
    sent = fetched(pdf_bytes(1), media="pdf", via="unpaywall", license="CC BY")
    stored = beside.shelf.save_full_text(
        MOSS, document(license="CC BY"), sent, source="DOI", attempts=()
    )
    return [replace(ROWS[0], file=Path(stored.path).name), *ROWS[1:]]


def push(library, rows, **options):
    return push_papers_to_zotero(
        library.settings, library.shelf, rows, **{"dry_run": False, **options}
    )


def undo(library):
    return undo_last_push(library.settings, library.shelf, dry_run=False)


def count_live(shelf):
    """Objects that are not in the trash, by what a person tells them apart by."""
    objects = [*shelf.find_live(), *shelf.collections.values()]
    return Counter(
        (one.get("itemType", "collection"), one.get("title") or one.get("name"), one.get("md5"))
        for one in objects
        if not one.get("deleted")
    )


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(beside, zotero, filed):
    planned = push(beside, filed, collection="Review", dry_run=True)
    assert [one.action for one in planned.papers] == ["there", "new", "new", "skipped", "skipped"]
    assert planned.papers[0].added == (
        "tag papershelf/full-text", "collection", "note", "PDF (Papershelf)", "Text (Papershelf)"
    )  # fmt: skip
    assert planned.papers[3].detail == "same paper as number 1"
    assert "unknown" in planned.papers[4].detail
    assert {method for method, _, _ in zotero.requests} == {"GET"}
    assert zotero.prompts == 0


def test_a_push_adds_to_what_is_there_and_overwrites_nothing(beside, zotero, filed):
    before = {one["key"]: one for one in zotero.local.find_live()}
    done = push(beside, filed, collection="Review")
    assert not done.problems
    moss = zotero.local.items[done.papers[0].key]
    was = before[moss["key"]]
    [review] = [key for key, one in zotero.local.collections.items() if one["name"] == "Review"]
    assert moss == {
        **was, "version": moss["version"], "collections": [*was["collections"], review],
        "tags": [{"tag": "mine"}, {"tag": "papershelf/full-text"}],
    }  # fmt: skip
    assert {key: zotero.local.items[key] for key in before if key != moss["key"]} == {
        key: one for key, one in before.items() if key != moss["key"]
    }


def test_the_readers_tags_and_note_are_added_once(beside, zotero, filed):
    beside.upkeep.annotate(MOSS.ids, tags=["methods"], note="see <b>\nFig. 2")
    done = push(beside, filed[:1])
    moss = zotero.local.items[done.papers[0].key]
    assert {"tag": "methods"} in moss["tags"]
    notes = [one["note"] for one in zotero.local.find_live(itemType="note", parentItem=moss["key"])]
    assert "<p>see &lt;b&gt;</p><p>Fig. 2</p>" in notes
    assert push(beside, filed[:1]).steps == []


def find_notes(zotero, key):
    """The pushed notes of an item: of the reader, and of facts."""
    notes = zotero.local.find_live(itemType="note", parentItem=key)
    notes = [one for one in notes if one["note"] != "<p>mine</p>"]
    facts = [one for one in notes if "Mark: " in one["note"] or "edited facts" in one["note"]]
    return [one for one in notes if one not in facts], facts


@pytest.mark.parametrize("text", ["<p>see Fig. 3, I think</p>", "", '<div data-x="9">see</div>'])
def test_a_note_that_a_person_edited_in_zotero_stays_and_gets_no_second_one(
    beside, zotero, filed, text
):
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 2")
    key = push(beside, filed[:1]).papers[0].key
    [mine], [facts] = find_notes(zotero, key)
    zotero.local.save("items", {**mine, "note": text})
    zotero.local.save("items", {**facts, "note": "<p>edited facts</p>"})
    assert push(beside, filed[:1]).steps == []
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 4")
    assert push(beside, filed[:1]).steps == []
    [mine], [facts] = find_notes(zotero, key)
    assert (mine["note"], facts["note"]) == (text, "<p>edited facts</p>")


def test_a_new_text_of_the_readers_note_replaces_the_one_that_nobody_edited(beside, zotero, filed):
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 2")
    key = push(beside, filed[:1]).papers[0].key
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 4")
    assert push(beside, filed[:1]).papers[0].added == ("new text of the note",)
    [mine], [_] = find_notes(zotero, key)
    assert mine["note"] == "<p>see Fig. 4</p>"
    assert push(beside, filed[:1]).steps == []
    undo(beside)
    assert find_notes(zotero, key)[0][0]["note"] == "<p>see Fig. 2</p>"
    before = count_live(zotero.local)
    assert not undo(beside).problems
    assert find_notes(zotero, key) == ([], [])
    assert count_live(zotero.local) != before


def test_facts_that_changed_replace_the_note_that_nobody_edited(beside, zotero, filed):
    rows = [replace(filed[1], reason="not_found")]
    key = push(beside, filed[1:2]).papers[0].key
    push(beside, rows)
    _, [facts] = find_notes(zotero, key)
    assert "Mark: " in facts["note"]
    assert push(beside, rows).steps == []
    assert push(beside, filed[1:2]).papers[0].added == ("new text of the note",)


def test_a_new_text_that_was_edited_meanwhile_is_not_taken_back(beside, zotero, filed):
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 2")
    key = push(beside, filed[:1]).papers[0].key
    beside.upkeep.annotate(MOSS.ids, note="see Fig. 4")
    push(beside, filed[:1])
    [mine], _ = find_notes(zotero, key)
    zotero.local.save("items", {**mine, "note": "<p>mine now</p>"})
    undo(beside)
    assert find_notes(zotero, key)[0][0]["note"] == "<p>mine now</p>"


def test_new_items_have_tags_and_a_note_that_is_only_text(beside, zotero, filed):
    done = push(beside, filed)
    oak = zotero.local.items[done.papers[1].key]
    assert {tag["tag"] for tag in oak["tags"]} == {"papershelf/not-found", "papershelf/retracted"}
    assert (oak["itemType"], oak["DOI"], oak["publicationTitle"]) == (
        "journalArticle", "10.5555/oak.9", "Annals of Oak"
    )  # fmt: skip
    [note] = zotero.local.find_live(itemType="note", parentItem=oak["key"])
    assert "<script" not in note["note"]
    assert "&lt;script&gt;" in note["note"]


def test_files_are_linked_to_the_shelf(beside, zotero, filed):
    done = push(beside, filed)
    files = zotero.local.find_live(itemType="attachment", parentItem=done.papers[0].key)
    assert {one["linkMode"] for one in files} == {"linked_file"}
    by_media = {one["contentType"]: Path(one["path"]) for one in files}
    assert by_media["application/pdf"].read_bytes() == pdf_bytes(1)
    assert by_media["text/plain"].parent == beside.settings.papers_dir


@pytest.mark.parametrize("door", ["local", "web"])
def test_files_are_stored_byte_by_byte(zotero, shelf_settings, filed, door):
    zotero.is_enabled = door == "local"
    done = push(Library(**shelf_settings, zotero_api_key=API_KEY), filed, attach="stored")
    assert not done.problems
    shelf = getattr(zotero, door)
    [pdf] = shelf.find_live(contentType="application/pdf")
    assert shelf.files[pdf["key"]] == pdf_bytes(1)
    assert pdf["md5"] == hashlib.md5(pdf_bytes(1)).hexdigest()
    assert pdf["filename"].endswith(".pdf")


def test_an_item_with_a_pdf_gets_no_second_one(beside, zotero, filed):
    moss = next(one["key"] for one in zotero.local.find_live(DOI="10.5555/moss.1"))
    zotero.local.add(
        "items", itemType="attachment", linkMode="imported_file", contentType="application/pdf",
        title="Mine", parentItem=moss, filename="../../etc/passwd",
    )  # fmt: skip
    done = push(beside, filed, attach="stored")
    assert "PDF (Papershelf)" not in done.papers[0].added


@pytest.mark.parametrize("attach", ["linked", "stored", "none"])
def test_pushed_again_nothing_is_written(beside, zotero, filed, attach):
    push(beside, filed, collection="Review", attach=attach)
    held = count_live(zotero.local), zotero.local.version
    again = push(beside, filed, collection="Review", attach=attach)
    assert again.steps == []
    assert (count_live(zotero.local), zotero.local.version) == held


def test_without_the_journal_nothing_is_doubled_either(beside, zotero, filed):
    push(beside, filed[:2], collection="Review")
    held = count_live(zotero.local)
    shutil.rmtree(beside.settings.papers_dir / ".papershelf" / "zotero")
    push(beside, filed[:2], collection="Review")
    assert count_live(zotero.local) == held


@pytest.mark.parametrize("attach", ["linked", "stored"])
def test_undone_all_is_as_before_and_pushed_again_all_is_there_once(beside, zotero, filed, attach):
    before, tags = count_live(zotero.local), zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"]
    push(beside, filed, collection="Review", attach=attach)
    held = count_live(zotero.local)
    undone = undo(beside)
    assert not undone.problems
    assert count_live(zotero.local) == before
    assert zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"] == tags
    push(beside, filed, collection="Review", attach=attach)
    assert count_live(zotero.local) == held


def test_an_undo_leaves_what_a_person_changed_or_added(beside, zotero, filed):
    done = push(beside, filed, collection="Review")
    oak, hedges = done.papers[1].key, done.papers[2].key
    zotero.local.save("items", {**zotero.local.items[oak], "title": "Oaks, corrected"})
    mine = zotero.local.add("items", itemType="note", note="<p>mine</p>", parentItem=hedges)
    undone = undo(beside)
    live = {one["key"] for one in zotero.local.find_live()}
    assert {oak, hedges, mine} <= live
    assert not [one for one in zotero.local.collections.values() if one.get("deleted")]
    assert len(undone.problems) == 3  # both items, and the collection that holds them
    assert not zotero.local.find_live(parentItem=oak)


def test_an_undo_takes_pushes_back_one_after_the_other(beside, zotero, filed):
    before = count_live(zotero.local)
    push(beside, filed[:1])
    push(beside, filed)
    assert undo(beside).written
    assert undo(beside).written
    assert count_live(zotero.local) == before
    assert undo(beside).written == 0


def test_a_second_push_into_a_collection_does_not_hinder_the_undo_of_the_first(
    beside, zotero, filed
):
    before = count_live(zotero.local)
    push(beside, filed)
    push(beside, filed, collection="Later")
    undo(beside)
    assert not undo(beside).problems
    assert count_live(zotero.local) == before


@pytest.mark.parametrize("fault", ["cut", "503"])
@pytest.mark.parametrize("attach", ["linked", "stored"])
def test_after_a_break_at_any_request_the_next_push_completes_it_once(
    zotero, shelf_settings, filed, tmp_path, fault, attach
):
    for skipped in range(20):
        with Zotero() as other:
            other.local.add("items", **MOSS_ITEM, collections=[], tags=[])
            folder = tmp_path / f"shelf-{skipped}"
            shutil.copytree(shelf_settings["papers_dir"], folder)
            settings = {**shelf_settings, **other.settings, "papers_dir": folder}
            library = Library(**settings)
            calls = itertools.count()
            serve = other._serve

            def break_once(call, serve=serve, calls=calls, skipped=skipped):
                is_nth = call.method == "POST" and next(calls) == skipped
                if is_nth and fault == "503":
                    return Reply(503, b"", "text/plain")
                reply = serve(call)
                return Reply(200, b"{", stream=iter([b"{"])) if is_nth else reply

            other._serve = break_once
            try:
                push(library, filed, collection="Review", attach=attach)
                broken = False
            except PaperError:
                broken = True
            push(library, filed, collection="Review", attach=attach)
            counts = count_live(other.local)
            assert set(counts.values()) == {1} or counts.most_common(1)[0][0][0] == "note"
            assert (
                sum(counts.values()) == 1 + 1 + 2 + 3 + 2
            )  # ours: collection, items, notes, files
            assert len(other.local.files) == (2 if attach == "stored" else 0)
            library.close()
        if not broken and next(calls) <= skipped:
            return
    pytest.fail("a push took more than 20 requests")


def test_tags_whose_answer_was_lost_are_undone_too(beside, zotero, filed):
    before = zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"]
    push(beside, filed[1:2])  # consent is given
    zotero.fail("cut", "POST /api/users")
    with pytest.raises(Unreachable):
        push(beside, filed[:1], attach="none")
    assert zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"] != before
    undo(beside)
    assert zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"] == before


def test_a_full_storage_is_said_and_leaves_no_attachment_without_its_file(
    zotero, shelf_settings, filed
):
    zotero.is_enabled, zotero.quota_mb = False, 0
    done = push(Library(**shelf_settings, zotero_api_key=API_KEY), filed, attach="stored")
    assert any("storage" in one and "--attach linked" in one for one in done.problems)
    assert not zotero.web.find_live(itemType="attachment")


def test_an_item_that_a_person_changes_meanwhile_is_not_overwritten(
    beside, zotero, filed, monkeypatch
):
    write = zotero._write

    def change_first(shelf, call, place):
        moss = shelf.find_live(DOI="10.5555/moss.1")[0]
        if moss["title"] != "Corrected" and moss["key"].encode() in call.body:
            shelf.save("items", {**moss, "title": "Corrected"})
        return write(shelf, call, place)

    monkeypatch.setattr(zotero, "_write", change_first)
    done = push(beside, filed)
    assert any("modified" in one for one in done.problems)
    assert zotero.local.find_live(DOI="10.5555/moss.1")[0]["tags"] == [{"tag": "mine"}]
    assert not push(beside, filed).problems


def test_consent_is_asked_for_once_and_kept_for_the_next_push(beside, zotero, filed):
    push(beside, filed[:1])
    push(beside, filed)
    assert zotero.prompts == 1


def test_a_revoked_consent_is_asked_for_again(beside, zotero, filed):
    push(beside, filed[:1])
    zotero.local_keys.clear()
    push(beside, filed)
    assert zotero.prompts == 2


@pytest.mark.parametrize(
    ("answer", "words"), [("deny", "did not allow"), ("once", "only one request")]
)
def test_without_lasting_consent_nothing_is_written(beside, zotero, filed, answer, words):
    zotero.consent, version = answer, zotero.local.version
    with pytest.raises(NotConfigured, match=f"{words}.*Always Allow"):
        push(beside, filed)
    assert zotero.local.version == version


def test_a_zotero_before_10_is_named_with_the_other_ways(beside, zotero, filed):
    zotero.writes_locally = False
    with pytest.raises(NotConfigured, match=r'Zotero 10.*references\.pack\("JOB", "zotero"'):
        push(beside, filed)


def test_with_a_key_zotero_org_is_written_to_where_the_program_cannot_be(
    zotero, shelf_settings, filed
):
    zotero.writes_locally = False
    done = push(Library(**shelf_settings, zotero_api_key=API_KEY), filed, collection="Review")
    assert not done.problems
    assert len(zotero.web.find_live(DOI="10.5555/oak.9")) == 1


@pytest.mark.parametrize("fault", ["storm", "down", "cut"])
def test_zotero_org_is_asked_again_and_nothing_is_doubled(zotero, shelf_settings, filed, fault):
    zotero.is_enabled = False
    zotero.fail(fault, "POST /web/users", times=2)
    done = push(Library(**shelf_settings, zotero_api_key=API_KEY), filed)
    assert not done.problems
    assert len(zotero.web.find_live(DOI="10.5555/oak.9")) == 1


def test_many_papers_are_sent_in_batches_of_50(beside, zotero):
    rows = [
        Harvested(n, f"{n}", "failed", Paper(Ids(pmid=f"{n}"), f"Moss number {n}"), reason="x")
        for n in range(1, 121)
    ]
    done = push(beside, rows, attach="none")
    assert len(zotero.local.find_live(itemType="document")) == 120
    assert max(map(len, zotero.bodies)) == 50
    assert (done.written, len(zotero.bodies)) == (240, 6)


def test_files_are_not_linked_in_the_library_of_a_group(shelf_settings, filed):
    with pytest.raises(BadRequest, match='attach="stored"'):
        push(Library(**shelf_settings, zotero_library="groups/7"), filed)


def test_keys_are_in_no_log_and_no_error(zotero, shelf_settings, filed, caplog):
    caplog.set_level("DEBUG")
    done = push(Library(**shelf_settings, zotero_api_key=API_KEY), filed, attach="stored")
    shown = caplog.text + json.dumps(done.to_row())
    assert API_KEY not in shown
    assert not any(key in shown for key in zotero.local_keys)


@pytest.mark.parametrize("paper", [MOSS, OAK, NAMELESS], ids=lambda one: one.title[:8])
def test_an_item_made_of_a_paper_describes_that_paper(paper):
    again = item_to_paper(paper_to_item(paper))
    assert again.ids == paper.ids
    assert [one.name for one in again.authors] == [one.name for one in paper.authors]
    assert (again.journal, again.volume, again.pages, again.published) == (
        paper.journal, paper.volume, paper.pages, paper.published
    )  # fmt: skip


def test_the_shell_shows_the_plan_asks_and_takes_back(run, beside, zotero, filed):
    assert run("zotero", "push")[0] == 2
    words = ("zotero", "push", "10.5555/moss.1", "--collection", "Review")
    status, said, remarks = run(*words, "--dry-run")
    assert status == 0
    assert "Moss grows" in said
    assert "Nothing was written" in remarks
    status, _, said = run(*words)
    assert status == 2
    assert "--yes" in said
    status, _, remarks = run(*words, "--yes")
    assert (status, zotero.prompts) == (0, 1)
    assert "zotero push --undo" in remarks
    status, _, _ = run("zotero", "push", "--undo", "--yes")
    assert status == 0
    assert not [one for one in zotero.local.collections.values() if one["name"] == "Review"
                and not one.get("deleted")]  # fmt: skip
