"""Add papers of the shelf to a Zotero library: items, a collection, tags, notes and files.

1. `plan_push` reads the library, finds the item of each paper (identifiers, else the judge of same
   papers), and lists what the library lacks. Nothing is written.
2. `carry_out_push` records each batch in the journal, sends it, and records the versions.
3. `undo_push` moves what a push created into Zotero's trash, and removes added tags and
   collections. An object whose version differs from the journal's was changed by a person, and
   stays; so does an item or collection that contains objects of theirs.

Nothing that a person wrote is overwritten: existing items only get additional tags and collections.
A note of an earlier push is replaced if it has the version that the journal remembers; if not, a
person edited the note, and it stays. Each update states the version that was read, so that Zotero
refuses it if the item changed in between.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..citations.items import strip_markup
from ..errors import NotAvailable
from ..model.job import Harvested
from ..model.paper import Paper, StoredPaper
from ..packs.selection import Reference, select_references
from ..reports.labels import get_missing_reason, get_route_label
from ..search.fused_results import group_records
from ..shelf import Shelf
from ..shelf.pdf_files import get_pdf_path
from ..system.plain_text import one_line
from .client import ZoteroApi
from .items import (
    NOTE_HEADING,
    Item,
    build_note_html,
    build_readers_note_html,
    is_paper_item,
    item_to_paper,
    paper_to_item,
)
from .journal import PushJournal, PushStep, make_push_name

Attach = Literal["linked", "stored", "none"]
TAG = "papershelf/"
_KEY_SIGNS = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
_BATCH = 50
_TEXT_TITLE, _PDF_TITLE = "Text (Papershelf)", "PDF (Papershelf)"
_KINDS = (("collection",), ("item",), ("change",), ("note", "attachment"))


@dataclass(frozen=True, slots=True)
class PushedPaper:
    """A paper of a push: ``new``, ``there`` or ``skipped``, with the additions to its item."""

    paper: Paper
    action: Literal["new", "there", "skipped"]
    key: str = ""
    added: tuple[str, ...] = ()
    detail: str = ""

    def to_row(self) -> dict[str, Any]:
        """Return the paper as a row of a table."""
        about = {"action": self.action, "key": self.key, "added": list(self.added)}
        return {**self.paper.short_row(), **about, "detail": self.detail}


@dataclass
class Push:
    """The plan and results of a push, or of undoing one.

    Attributes
    ----------
    papers : list of PushedPaper
    steps : list of Step
        The objects to write, in this order.
    problems : list of str
        Objects that Zotero refused, or that stay because a person changed them.
    written : int
        The number of steps that were carried out.
    pdfs : list of StoredPaper
        Texts whose PDF is attached; `carry_out_push` first stores the PDF next to the text.
    """

    papers: list[PushedPaper] = field(default_factory=list)
    steps: list[PushStep] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: int = 0
    pdfs: list[StoredPaper] = field(default_factory=list)

    def to_row(self) -> dict[str, Any]:
        """Return the counts of a push."""
        actions = [paper.action for paper in self.papers]
        counts = {name: actions.count(name) for name in ("new", "there", "skipped")}
        return {**counts, "steps": len(self.steps), "written": self.written} | {
            "problems": self.problems
        }


@dataclass(frozen=True)
class _LibraryContents:
    """The objects in a library when a push begins."""

    items: Mapping[str, Item]
    children: Mapping[str, Sequence[Item]]
    collections: Sequence[Item]
    steps: Sequence[PushStep]


def plan_push(
    rows: Iterable[Harvested],
    shelf: Shelf,
    api: ZoteroApi,
    steps: Sequence[PushStep],
    *,
    collection: str = "",
    attach: Attach = "linked",
    own_use: bool = True,
) -> Push:
    """Return the plan of a push of these papers; *steps* are those of earlier pushes."""
    all_items = api.list_items()
    children: defaultdict[str, list[Item]] = defaultdict(list)
    for item in all_items:
        children[str(item.get("parentItem") or "")].append(item)
    items = {str(item["key"]): item for item in all_items}
    library = _LibraryContents(items, children, api.list_collections(), steps)
    push = Push()
    home = _find_or_plan_collection(push, library, collection)
    references = list(select_references(rows, shelf, own_use=own_use))
    places = _match_papers_to_items([reference.paper for reference in references], library)
    for reference, place in zip(references, places, strict=True):
        push.papers.append(_plan_paper(push, library, reference, place, home, attach))
    return push


def _find_or_plan_collection(push: Push, library: _LibraryContents, name: str) -> list[str]:
    """Return the keys of the target collection; plan a new one if no collection has the name."""
    if not name:
        return []
    folded = name.casefold()
    for collection in library.collections:
        if collection["key"] == name or str(collection.get("name", "")).casefold() == folded:
            return [str(collection["key"])]
    key = _make_object_key()
    payload = {"key": key, "version": 0, "name": name, "parentCollection": False}
    push.steps.append(PushStep("collection", key, payload))
    return [key]


def _match_papers_to_items(papers: Sequence[Paper], library: _LibraryContents) -> list[str | int]:
    """Return each paper's item key, or the index of an earlier paper that is the same."""
    known = {key: item_to_paper(item) for key, item in library.items.items() if is_paper_item(item)}
    earlier = {
        step.identity: step.key
        for step in library.steps
        if step.kind == "item" and step.key in library.items
    }
    keys = list(known)
    records = [replace(record, abstract="", keywords=()) for record in (*known.values(), *papers)]
    matches: dict[int, str | int] = {}
    for group in group_records(records).groups:
        existing = [keys[at] for at in group if at < len(keys)]
        first, *others = [at - len(keys) for at in group if at >= len(keys)] or [-1]
        if first >= 0:
            pushed = earlier.get(_build_paper_identity(papers[first]), "")
            matches[first] = existing[0] if existing else pushed
            matches |= dict.fromkeys(others, first)
    return [matches[at] for at in range(len(papers))]


def _plan_paper(
    push: Push,
    library: _LibraryContents,
    reference: Reference,
    place: str | int,
    home: list[str],
    attach: Attach,
) -> PushedPaper:
    """Plan the item, tags, note and files that the library lacks for one paper."""
    paper = reference.paper
    if isinstance(place, int):
        return PushedPaper(paper, "skipped", detail=f"same paper as number {place + 1}")
    if not (place or paper.title):
        return PushedPaper(paper, "skipped", detail="record unknown: harvest the paper first")
    tags = [
        f"{TAG}{_get_status_tag(reference)}",
        *[f"{TAG}retracted"] * paper.retracted,
        *paper.tags,
    ]
    added: list[str] = []
    key = place or _make_object_key()
    if place:
        added += _plan_tags_and_collection(push, library.items[place], tags, home)
    else:
        item = paper_to_item(paper) | {"tags": [{"tag": tag} for tag in tags], "collections": home}
        payload = {"key": key, "version": 0, **item}
        push.steps.append(PushStep("item", key, payload, _build_paper_identity(paper)))
    there = library.children.get(key, ())
    added += _plan_notes(push, library, reference, key, there)
    for kind, payload, file in _iterate_missing_files(push, reference, attach, there):
        child = _make_object_key()
        sent = {"key": child, "version": 0, "parentItem": key, **payload}
        push.steps.append(PushStep(kind, child, sent, file=file))
        added.append(str(payload["title"]))
    return PushedPaper(paper, "there" if place else "new", key, tuple(added))


def _plan_tags_and_collection(
    push: Push, item: Item, tags: Sequence[str], home: Sequence[str]
) -> list[str]:
    """Plan the tags and the collection that an existing item lacks; return their descriptions."""
    present = {str(tag.get("tag")) for tag in item.get("tags") or ()}
    tags = [tag for tag in tags if tag not in present]
    missing = [key for key in home if key not in (item.get("collections") or ())]
    if tags or missing:
        lists = {"tags": tags, "collections": missing}
        push.steps.append(PushStep("change", str(item["key"]), lists, version=int(item["version"])))
    return [f"tag {tag}" for tag in tags] + ["collection"] * len(missing)


def _plan_notes(
    push: Push, library: _LibraryContents, reference: Reference, key: str, there: Sequence[Item]
) -> Iterator[str]:
    """Plan the notes that an item lacks, and new texts of unedited ones; yield what is added."""
    facts = _collect_note_facts(reference)
    mark = hashlib.sha256("\n".join(facts.values()).encode()).hexdigest()[:16]
    wanted = [build_note_html({**facts, "Mark": mark})]
    wanted += filter(None, [build_readers_note_html(reference.paper.note)])
    pushed = {step.key: step for step in library.steps if step.kind == "note"}
    for html in wanted:
        same = mark if html.startswith(NOTE_HEADING) else strip_markup(html)
        if any(same in strip_markup(str(child.get("note", ""))) for child in there):
            continue
        ours = [
            child
            for child in there
            if (step := pushed.get(str(child["key"])))
            and step.payload["note"].startswith(NOTE_HEADING) == html.startswith(NOTE_HEADING)
        ]
        if not ours:
            child = _make_object_key()
            sent = {"key": child, "version": 0, "parentItem": key, "itemType": "note", "note": html}
            push.steps.append(PushStep("note", child, sent))
            yield "note"
        elif all(pushed[one["key"]].version == one["version"] for one in ours):
            texts = {"note": html, "before": ours[-1]["note"]}
            version = int(ours[-1]["version"])
            push.steps.append(PushStep("change", str(ours[-1]["key"]), texts, version=version))
            yield "new text of the note"


def _iterate_missing_files(
    push: Push, reference: Reference, attach: Attach, there: Sequence[Item]
) -> Iterator[tuple[Any, dict[str, Any], str]]:
    """Yield the attachments that an item lacks: kind, data, and the file to store."""
    if attach == "none" or reference.stored is None:
        return
    has_pdf = any(child.get("contentType") == "application/pdf" for child in there)
    if reference.pdf and not has_pdf:
        push.pdfs.append(reference.stored)
        path = reference.pdf.path or get_pdf_path(reference.stored)
        yield _build_attachment(_PDF_TITLE, "application/pdf", path, attach)
    if not any(child.get("title") == _TEXT_TITLE for child in there):
        path = Path(reference.stored.path)
        yield _build_attachment(_TEXT_TITLE, "text/plain", path, attach)


def _build_attachment(
    title: str, media: str, path: Path, attach: Attach
) -> tuple[Any, dict[str, Any], str]:
    mode = "linked_file" if attach == "linked" else "imported_file"
    about = {"itemType": "attachment", "linkMode": mode, "title": title, "contentType": media}
    about |= {"charset": "utf-8" if media == "text/plain" else ""}
    if attach == "linked":
        return "attachment", {**about, "path": str(path)}, ""
    return "attachment", {**about, "filename": path.name}, str(path)


def _get_status_tag(reference: Reference) -> str:
    state = "full_text" if reference.stored else reference.row.state
    return {"failed": "not-found", "pending": "not-tried"}.get(state, state.replace("_", "-"))


def _collect_note_facts(reference: Reference) -> dict[str, str]:
    """Return the facts for the note: the verdict on the text, its source and its licence."""
    stored, row = reference.stored, reference.row
    facts = {"Text": _get_status_tag(reference)}
    if stored is None:
        reason = get_missing_reason(row.reason).name if row.reason else ""
        facts |= {"Reason": reason, "Detail": row.detail}
    else:
        facts |= {"Verdict": stored.verdict, "Evidence": stored.evidence}
        facts |= {"Source": get_route_label(stored.via), "Version": stored.version}
        permitted = stored.permissions.to_row().items()
        facts |= {"Permissions": ", ".join(f"{name[4:]} {answer}" for name, answer in permitted)}
        facts |= {"Licence": stored.license, "Saved": stored.saved_at, "SHA-256": stored.sha256}
    facts |= {"Retracted": "yes" if reference.paper.retracted else ""}
    return {name: one_line(text)[:1000] for name, text in facts.items() if text}


def _build_paper_identity(paper: Paper) -> str:
    first = paper.authors[0].name if paper.authors else ""
    return str(paper.ids) or f"{one_line(paper.title).casefold()}|{paper.year}|{first}"


def _split_into_batches(steps: Sequence[PushStep]) -> list[Sequence[PushStep]]:
    return [steps[at : at + _BATCH] for at in range(0, len(steps), _BATCH)]


def _make_object_key() -> str:
    return "".join(secrets.choice(_KEY_SIGNS) for _ in range(8))


def resolve_unanswered_steps(journal: PushJournal, library: str, api: ZoteroApi) -> list[PushStep]:
    """Return the steps of earlier pushes, after comparing unanswered ones with the library.

    A step without a response was carried out if its key is in the library; else it is deleted.
    """
    steps = journal.list_steps(library)
    if open_steps := [step for step in steps if step.state == "planned"]:
        live = {str(item["key"]): item for item in _list_collections_and_items(api)}
        carried_out = [
            step
            for step in open_steps
            if step.key in live and _is_step_carried_out(step, live[step.key])
        ]
        versions = {step.key: int(live[step.key]["version"]) for step in carried_out}
        journal.update_steps(
            [replace(step, state="made", version=versions[step.key]) for step in carried_out]
        )
        journal.delete_steps([step for step in open_steps if step not in carried_out])
    return journal.list_steps(library)


def _is_step_carried_out(step: PushStep, item: Item) -> bool:
    """Return whether an object has the tags and collections, or the text, that a step writes."""
    if "before" in step.payload:
        return bool(item.get("note") == step.payload["note"])
    tags = {str(tag.get("tag")) for tag in item.get("tags") or ()}
    homes = set(item.get("collections") or ())
    lists = (step.payload["tags"], step.payload["collections"]) if step.kind == "change" else ()
    return not lists or (tags.issuperset(lists[0]) and homes.issuperset(lists[1]))


def _list_collections_and_items(api: ZoteroApi) -> list[dict[str, Any]]:
    return [*api.list_collections(), *api.list_items()]


def carry_out_push(
    push: Push, journal: PushJournal, library: str, api: ZoteroApi, shelf: Shelf
) -> None:
    """Write the steps of a push, and store files that an earlier push could not store."""
    name, failed = make_push_name(), set[str]()
    for stored in push.pdfs:
        shelf.store_source_pdf(stored)
    items = {item["key"]: item for item in api.list_items()}
    for kinds in _KINDS:
        steps = [step for step in push.steps if step.kind in kinds]
        for batch in _split_into_batches(steps):
            ready = [s for s in batch if s.payload.get("parentItem") not in failed]
            planned = journal.record_planned_steps(library, name, ready) if ready else []
            carried_out = _write_steps(planned, items, push, api)
            journal.update_steps(carried_out)
            journal.delete_steps(
                [step for step in planned if step.number not in {s.number for s in carried_out}]
            )
            failed |= {step.key for step in batch} - {step.key for step in carried_out}
            push.written += len(carried_out)
            _record_new_versions(carried_out, items, journal, library)
    _upload_attached_files(push, journal, library, api)


def _write_steps(
    steps: Sequence[PushStep], items: Mapping[str, Item], push: Push, api: ZoteroApi
) -> list[PushStep]:
    """Send one write request; return the steps that were carried out, with their versions."""
    if not steps:
        return []
    kind = "collections" if steps[0].kind == "collection" else "items"
    sent = [
        _build_item_update(step, items[step.key]) if step.kind == "change" else step.payload
        for step in steps
    ]
    carried_out = []
    for step, outcome in zip(steps, api.write_objects(kind, sent), strict=True):
        if outcome.version:
            carried_out.append(replace(step, state="made", version=outcome.version))
        else:
            push.problems.append(f"{step.kind} {step.key}: {outcome.words}")
    return carried_out


def _build_item_update(step: PushStep, item: Item) -> dict[str, Any]:
    """Return an update that adds tags and collections to an item, or replaces a note's text."""
    if "before" in step.payload:
        return {"key": step.key, "version": step.version, "note": step.payload["note"]}
    tags = [*(item.get("tags") or ()), *({"tag": tag} for tag in step.payload["tags"])]
    homes = [*(item.get("collections") or ()), *step.payload["collections"]]
    return {"key": step.key, "version": step.version, "tags": tags, "collections": homes}


def _record_new_versions(
    done: Sequence[PushStep], items: Mapping[str, Item], journal: PushJournal, library: str
) -> None:
    """Record the new version of what a push created and only this program changed."""
    changed = {step.key: step.version for step in done if step.kind == "change"}
    journal.update_steps(
        [
            replace(step, version=changed[step.key])
            for step in (journal.list_steps(library) if changed else ())
            if step.kind in ("item", "note")
            and step.key in changed
            and step.version == items[step.key]["version"]
        ]
    )


def _upload_attached_files(push: Push, journal: PushJournal, library: str, api: ZoteroApi) -> None:
    """Upload the files of attachments; move an attachment to the trash if its file is refused."""
    for step in journal.list_steps(library):
        if step.kind != "attachment" or not step.file or step.state != "made":
            continue
        path, media = Path(step.file), str(step.payload["contentType"])
        try:
            version = api.upload_file(step.key, path.name, media, path.read_bytes())
            journal.update_steps([replace(step, version=version, file="")])
        except (NotAvailable, OSError) as error:
            reason = error.text if isinstance(error, NotAvailable) else error
            push.problems.append(f"{path.name} was not stored: {reason}")
            _move_to_trash([step], api)
            journal.update_steps([replace(step, state="undone")])


def undo_push(journal: PushJournal, library: str, api: ZoteroApi, *, dry_run: bool) -> Push:
    """Undo the last push that is still in effect; a further call undoes the one before."""
    resolve_unanswered_steps(journal, library, api)
    name = journal.find_last_push_name(library)
    push = Push(steps=journal.list_steps(library, name) if name else [])
    live = {str(item["key"]): item for item in _list_collections_and_items(api)}
    created = [step for step in push.steps if step.kind != "change"]
    unchanged = {s.key for s in created if s.key in live and live[s.key]["version"] == s.version}
    changes = [step for step in push.steps if step.kind == "change" and step.key in live]
    leaving = {(one.key, home) for one in changes for home in one.payload.get("collections", ())}
    changes = [one for one in changes if _can_be_undone(one, live[one.key])]
    _exclude_objects_in_use(unchanged, leaving, live)
    for step in created:
        if step.key in live and step.key not in unchanged:
            push.problems.append(f"{step.kind} {step.key} stays: it was changed or is in use.")
    if dry_run:
        return push
    undone = _remove_added_tags_and_collections(changes, live, api, journal, library)
    for kinds in reversed(_KINDS):
        steps = [step for step in created if step.kind in kinds and step.key in unchanged]
        undone |= _move_to_trash(steps, api)
    gone = [step for step in push.steps if step.key not in live or step.number in undone]
    left = [step for step in push.steps if step not in gone]
    journal.update_steps([replace(step, state="undone") for step in gone])
    journal.update_steps([replace(step, state="left") for step in left])
    push.written = len(gone)
    return push


def _can_be_undone(step: PushStep, item: Item) -> bool:
    """Return whether a change can be taken back: not the text of a note that a person edited."""
    return "before" not in step.payload or bool(item["version"] == step.version)


def _exclude_objects_in_use(
    same: set[str], leaving: set[tuple[str, str]], live: Mapping[str, Item]
) -> None:
    """Remove from *same* the objects that contain others that stay, such as a person's note."""
    before = -1
    while before != len(same):
        before = len(same)
        for key, other in live.items():
            if key in same:
                continue
            homes = {home for home in other.get("collections") or () if (key, home) not in leaving}
            same -= {other.get("parentItem"), other.get("parentCollection"), *homes}


def _remove_added_tags_and_collections(
    changes: Sequence[PushStep],
    live: Mapping[str, Item],
    api: ZoteroApi,
    journal: PushJournal,
    library: str,
) -> set[int]:
    """Remove added tags and collections, and restore notes; return the numbers of the steps."""
    undone: set[int] = set()
    for batch in _split_into_batches(changes):
        sent = []
        for step in batch:
            item = live[step.key]
            if "before" in step.payload:
                about = {"key": step.key, "version": item["version"]}
                sent.append({**about, "note": step.payload["before"]})
                continue
            tags = [t for t in item.get("tags") or () if t.get("tag") not in step.payload["tags"]]
            homes = [
                key
                for key in item.get("collections") or ()
                if key not in step.payload["collections"]
            ]
            about = {"key": step.key, "version": item["version"]}
            sent.append({**about, "tags": tags, "collections": homes})
        outcomes = api.write_objects("items", sent)
        done = [
            replace(step, version=outcome.version)
            for step, outcome in zip(batch, outcomes, strict=True)
            if outcome.version
        ]
        undone |= {step.number for step in done}
        _record_new_versions(done, live, journal, library)
    return undone


def _move_to_trash(steps: Sequence[PushStep], api: ZoteroApi) -> set[int]:
    """Move created objects to Zotero's trash; return the numbers of the undone steps."""
    undone: set[int] = set()
    for batch in _split_into_batches(steps):
        kind = "collections" if batch[0].kind == "collection" else "items"
        sent = [{"key": step.key, "version": step.version, "deleted": True} for step in batch]
        outcomes = api.write_objects(kind, sent)
        undone |= {s.number for s, o in zip(batch, outcomes, strict=True) if o.version}
    return undone
