"""Add papers of the shelf to a Zotero library: items, a collection, tags, notes and files.

1. `plan_push` reads the library, finds the item of each paper (identifiers, else the judge of same
   papers), and lists what is missing there. Nothing is written.
2. `carry_out` records each batch in the journal, sends it, and records the versions.
3. `undo_push` puts what a push created into Zotero's trash, and takes added tags and collections
   off. An object with another version than ours was changed by a person, and stays; so does an item
   or collection that holds something of theirs.

Nothing that is there is overwritten: of existing items only the lists of tags and collections grow,
with the version that was read, so that a change in between is a refusal and not a loss.
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
from ..reports.labels import get_reason, get_route_label
from ..search.fused_results import group_records
from ..shelf import Shelf
from ..shelf.pdf_files import get_pdf_path
from ..system.plain_text import one_line
from .client import ZoteroApi
from .items import Item, build_note, build_own_note, is_paper, item_to_paper, paper_to_item
from .journal import Journal, Step, name_push

Attach = Literal["linked", "stored", "none"]
TAG = "papershelf/"
_KEY_SIGNS = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
_BATCH = 50
_TEXT_TITLE, _PDF_TITLE = "Text (Papershelf)", "PDF (Papershelf)"
_KINDS = (("collection",), ("item",), ("change",), ("note", "attachment"))


@dataclass(frozen=True, slots=True)
class PushedPaper:
    """One paper of a push: ``new``, ``there`` or ``skipped``, and what is added to its item."""

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
    """A push that is planned or done, or the undoing of one.

    Attributes
    ----------
    papers : list of PushedPaper
    steps : list of Step
        What is written, in this order.
    problems : list of str
        What Zotero refused, or what stays because a person changed it.
    written : int
        The number of steps that were carried out.
    pdfs : list of StoredPaper
        Texts whose PDF is attached; `carry_out` puts the PDF next to the text first.
    """

    papers: list[PushedPaper] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: int = 0
    pdfs: list[StoredPaper] = field(default_factory=list)

    def to_row(self) -> dict[str, Any]:
        """Return the counts of a push."""
        actions = [one.action for one in self.papers]
        counts = {name: actions.count(name) for name in ("new", "there", "skipped")}
        return {**counts, "steps": len(self.steps), "written": self.written} | {
            "problems": self.problems
        }


@dataclass(frozen=True)
class _Library:
    """The objects in a library when a push begins."""

    items: Mapping[str, Item]
    children: Mapping[str, Sequence[Item]]
    collections: Sequence[Item]
    steps: Sequence[Step]


def plan_push(
    rows: Iterable[Harvested],
    shelf: Shelf,
    api: ZoteroApi,
    steps: Sequence[Step],
    *,
    collection: str = "",
    attach: Attach = "linked",
    own_use: bool = True,
) -> Push:
    """Return what a push of these papers would write; *steps* are those of earlier pushes."""
    everything = api.list_items()
    children: defaultdict[str, list[Item]] = defaultdict(list)
    for item in everything:
        children[str(item.get("parentItem") or "")].append(item)
    items = {str(item["key"]): item for item in everything}
    library = _Library(items, children, api.list_collections(), steps)
    push = Push()
    home = _plan_collection(push, library, collection)
    references = list(select_references(rows, shelf, own_use=own_use))
    found = _match_papers([one.paper for one in references], library)
    for reference, place in zip(references, found, strict=True):
        push.papers.append(_plan_paper(push, library, reference, place, home, attach))
    return push


def _plan_collection(push: Push, library: _Library, name: str) -> list[str]:
    """Return the keys of the collection to add to; plan a new one where none has the name."""
    if not name:
        return []
    folded = name.casefold()
    for one in library.collections:
        if one["key"] == name or str(one.get("name", "")).casefold() == folded:
            return [str(one["key"])]
    key = _make_key()
    payload = {"key": key, "version": 0, "name": name, "parentCollection": False}
    push.steps.append(Step("collection", key, payload))
    return [key]


def _match_papers(papers: Sequence[Paper], library: _Library) -> list[str | int]:
    """Return the item of each paper by key; for a repeated paper, the number of the first."""
    known = {key: item_to_paper(item) for key, item in library.items.items() if is_paper(item)}
    ours = {
        step.identity: step.key
        for step in library.steps
        if step.kind == "item" and step.key in library.items
    }
    keys = list(known)
    records = [replace(one, abstract="", keywords=()) for one in (*known.values(), *papers)]
    found: dict[int, str | int] = {}
    for group in group_records(records).groups:
        there = [keys[at] for at in group if at < len(keys)]
        first, *others = [at - len(keys) for at in group if at >= len(keys)] or [-1]
        if first >= 0:
            found[first] = there[0] if there else ours.get(_describe_identity(papers[first]), "")
            found |= dict.fromkeys(others, first)
    return [found[at] for at in range(len(papers))]


def _plan_paper(
    push: Push,
    library: _Library,
    reference: Reference,
    place: str | int,
    home: list[str],
    attach: Attach,
) -> PushedPaper:
    """Plan what is missing of one paper."""
    paper = reference.paper
    if isinstance(place, int):
        return PushedPaper(paper, "skipped", detail=f"the same paper as number {place + 1}")
    if not (place or paper.title):
        return PushedPaper(paper, "skipped", detail="its record is unknown: harvest it first")
    tags = [f"{TAG}{_get_status(reference)}", *[f"{TAG}retracted"] * paper.retracted, *paper.tags]
    added: list[str] = []
    key = place or _make_key()
    if place:
        added += _plan_change(push, library.items[place], tags, home)
    else:
        item = paper_to_item(paper) | {"tags": [{"tag": tag} for tag in tags], "collections": home}
        payload = {"key": key, "version": 0, **item}
        push.steps.append(Step("item", key, payload, _describe_identity(paper)))
    there = library.children.get(key, ())
    for kind, payload, file in _list_children(push, reference, attach, there):
        child = _make_key()
        sent = {"key": child, "version": 0, "parentItem": key, **payload}
        push.steps.append(Step(kind, child, sent, file=file))
        added.append(str(payload.get("title", "note")))
    return PushedPaper(paper, "there" if place else "new", key, tuple(added))


def _plan_change(push: Push, item: Item, tags: Sequence[str], home: Sequence[str]) -> list[str]:
    """Plan the tags and the collection that an existing item lacks; return them in words."""
    has = {str(one.get("tag")) for one in item.get("tags") or ()}
    tags = [tag for tag in tags if tag not in has]
    homes = [key for key in home if key not in (item.get("collections") or ())]
    if tags or homes:
        lists = {"tags": tags, "collections": homes}
        push.steps.append(Step("change", str(item["key"]), lists, version=int(item["version"])))
    return [f"tag {tag}" for tag in tags] + ["collection"] * len(homes)


def _list_children(
    push: Push, reference: Reference, attach: Attach, there: Sequence[Item]
) -> Iterator[tuple[Any, dict[str, Any], str]]:
    """Yield the note and the files that an item lacks, with the file to store."""
    facts = _describe_text(reference)
    mark = hashlib.sha256("\n".join(facts.values()).encode()).hexdigest()[:16]
    if not any(mark in str(one.get("note", "")) for one in there):
        yield "note", {"itemType": "note", "note": build_note({**facts, "Mark": mark})}, ""
    own = build_own_note(reference.paper.note)
    if own and not any(
        strip_markup(str(one.get("note", ""))) == strip_markup(own) for one in there
    ):
        yield "note", {"itemType": "note", "note": own}, ""
    if attach == "none" or reference.stored is None:
        return
    has_pdf = any(one.get("contentType") == "application/pdf" for one in there)
    if reference.pdf and not has_pdf:
        push.pdfs.append(reference.stored)
        path = reference.pdf.path or get_pdf_path(reference.stored)
        yield _build_attachment(_PDF_TITLE, "application/pdf", path, attach)
    if not any(one.get("title") == _TEXT_TITLE for one in there):
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


def _get_status(reference: Reference) -> str:
    state = "full_text" if reference.stored else reference.row.state
    return {"failed": "not-found", "pending": "not-tried"}.get(state, state.replace("_", "-"))


def _describe_text(reference: Reference) -> dict[str, str]:
    """Return the verdict on a text and where the text came from, for the note."""
    stored, row = reference.stored, reference.row
    facts = {"Text": _get_status(reference)}
    if stored is None:
        reason = get_reason(row.reason).name if row.reason else ""
        facts |= {"Reason": reason, "Detail": row.detail}
    else:
        facts |= {"Verdict": stored.verdict, "Evidence": stored.evidence}
        facts |= {"Source": get_route_label(stored.via), "Version": stored.version}
        facts |= {"Licence": stored.license, "Saved": stored.saved_at, "SHA-256": stored.sha256}
    facts |= {"Retracted": "yes" if reference.paper.retracted else ""}
    return {name: one_line(text)[:1000] for name, text in facts.items() if text}


def _describe_identity(paper: Paper) -> str:
    first = paper.authors[0].name if paper.authors else ""
    return str(paper.ids) or f"{one_line(paper.title).casefold()}|{paper.year}|{first}"


def _split_batches(steps: Sequence[Step]) -> list[Sequence[Step]]:
    return [steps[at : at + _BATCH] for at in range(0, len(steps), _BATCH)]


def _make_key() -> str:
    return "".join(secrets.choice(_KEY_SIGNS) for _ in range(8))


def settle_steps(journal: Journal, library: str, api: ZoteroApi) -> list[Step]:
    """Return the steps of earlier pushes, after a comparison of unanswered ones with the library.

    A step without an answer was carried out if its key is in the library; else it is forgotten.
    """
    steps = journal.list_steps(library)
    if open_steps := [one for one in steps if one.state == "planned"]:
        live = {str(one["key"]): one for one in _list_everything(api)}
        made = [
            one for one in open_steps if one.key in live and _is_carried_out(one, live[one.key])
        ]
        versions = {one.key: int(live[one.key]["version"]) for one in made}
        journal.update([replace(one, state="made", version=versions[one.key]) for one in made])
        journal.delete([one for one in open_steps if one not in made])
    return journal.list_steps(library)


def _is_carried_out(step: Step, item: Item) -> bool:
    """Return whether an object has what a step adds; it had none of that before the step."""
    tags = {str(one.get("tag")) for one in item.get("tags") or ()}
    homes = set(item.get("collections") or ())
    lists = (step.payload["tags"], step.payload["collections"]) if step.kind == "change" else ()
    return not lists or (tags.issuperset(lists[0]) and homes.issuperset(lists[1]))


def _list_everything(api: ZoteroApi) -> list[dict[str, Any]]:
    return [*api.list_collections(), *api.list_items()]


def carry_out(push: Push, journal: Journal, library: str, api: ZoteroApi, shelf: Shelf) -> None:
    """Write the steps of a push, and store files that an earlier push could not store."""
    name, failed = name_push(), set[str]()
    for stored in push.pdfs:
        shelf.store_source_pdf(stored)
    items = {item["key"]: item for item in api.list_items()}
    for kinds in _KINDS:
        steps = [one for one in push.steps if one.kind in kinds]
        for batch in _split_batches(steps):
            ready = [s for s in batch if s.payload.get("parentItem") not in failed]
            planned = journal.plan(library, name, ready) if ready else []
            done = _write_batch(planned, items, push, api)
            journal.update(done)
            journal.delete([one for one in planned if one.number not in {s.number for s in done}])
            failed |= {one.key for one in batch} - {one.key for one in done}
            push.written += len(done)
            _record_new_versions(done, items, journal, library)
    _store_files(push, journal, library, api)


def _write_batch(
    steps: Sequence[Step], items: Mapping[str, Item], push: Push, api: ZoteroApi
) -> list[Step]:
    """Send one request; return the steps that were carried out, with their versions."""
    if not steps:
        return []
    kind = "collections" if steps[0].kind == "collection" else "items"
    sent = [
        _build_change(one, items[one.key]) if one.kind == "change" else one.payload for one in steps
    ]
    done = []
    for step, outcome in zip(steps, api.write(kind, sent), strict=True):
        if outcome.version:
            done.append(replace(step, state="made", version=outcome.version))
        else:
            push.problems.append(f"{step.kind} {step.key}: {outcome.words}")
    return done


def _build_change(step: Step, item: Item) -> dict[str, Any]:
    """Return the change of an item that adds tags and collections, and loses none."""
    tags = [*(item.get("tags") or ()), *({"tag": tag} for tag in step.payload["tags"])]
    homes = [*(item.get("collections") or ()), *step.payload["collections"]]
    return {"key": step.key, "version": step.version, "tags": tags, "collections": homes}


def _record_new_versions(
    done: Sequence[Step], items: Mapping[str, Item], journal: Journal, library: str
) -> None:
    """Record the new version of items that we created, if only we changed them."""
    changed = {one.key: one.version for one in done if one.kind == "change"}
    journal.update(
        [
            replace(one, version=changed[one.key])
            for one in (journal.list_steps(library) if changed else ())
            if one.kind == "item"
            and one.key in changed
            and one.version == items[one.key]["version"]
        ]
    )


def _store_files(push: Push, journal: Journal, library: str, api: ZoteroApi) -> None:
    """Store the files of attachments; an attachment whose file is refused is taken back."""
    for step in journal.list_steps(library):
        if step.kind != "attachment" or not step.file or step.state != "made":
            continue
        path, media = Path(step.file), str(step.payload["contentType"])
        try:
            version = api.upload(step.key, path.name, media, path.read_bytes())
            journal.update([replace(step, version=version, file="")])
        except (NotAvailable, OSError) as error:
            reason = error.text if isinstance(error, NotAvailable) else error
            push.problems.append(f"{path.name} was not stored: {reason}")
            _move_to_trash([step], api)
            journal.update([replace(step, state="undone")])


def undo_push(journal: Journal, library: str, api: ZoteroApi, *, dry_run: bool) -> Push:
    """Take back the last push that was not undone; an earlier one by the next call."""
    settle_steps(journal, library, api)
    name = journal.find_last_push(library)
    push = Push(steps=journal.list_steps(library, name) if name else [])
    live = {str(one["key"]): one for one in _list_everything(api)}
    created = [one for one in push.steps if one.kind != "change"]
    same = {s.key for s in created if s.key in live and live[s.key]["version"] == s.version}
    changes = [one for one in push.steps if one.kind == "change" and one.key in live]
    leaving = {(one.key, home) for one in changes for home in one.payload["collections"]}
    _exclude_occupied(same, leaving, live)
    for step in created:
        if step.key in live and step.key not in same:
            push.problems.append(f"{step.kind} {step.key} stays: it was changed or is in use.")
    if dry_run:
        return push
    undone = _remove_added_tags_and_collections(changes, live, api, journal, library)
    for kinds in reversed(_KINDS):
        steps = [one for one in created if one.kind in kinds and one.key in same]
        undone |= _move_to_trash(steps, api)
    gone = [one for one in push.steps if one.key not in live or one.number in undone]
    left = [one for one in push.steps if one not in gone]
    journal.update([replace(one, state="undone") for one in gone])
    journal.update([replace(one, state="left") for one in left])
    push.written = len(gone)
    return push


def _exclude_occupied(
    same: set[str], leaving: set[tuple[str, str]], live: Mapping[str, Item]
) -> None:
    """Remove from *same* what holds an object that stays: a person's note, file or item."""
    before = -1
    while before != len(same):
        before = len(same)
        for key, one in live.items():
            if key in same:
                continue
            homes = {home for home in one.get("collections") or () if (key, home) not in leaving}
            same -= {one.get("parentItem"), one.get("parentCollection"), *homes}


def _remove_added_tags_and_collections(
    changes: Sequence[Step],
    live: Mapping[str, Item],
    api: ZoteroApi,
    journal: Journal,
    library: str,
) -> set[int]:
    """Take added tags and collections off existing items; return the numbers of the steps."""
    undone: set[int] = set()
    for batch in _split_batches(changes):
        sent = []
        for step in batch:
            item = live[step.key]
            tags = [t for t in item.get("tags") or () if t.get("tag") not in step.payload["tags"]]
            homes = [
                key
                for key in item.get("collections") or ()
                if key not in step.payload["collections"]
            ]
            about = {"key": step.key, "version": item["version"]}
            sent.append({**about, "tags": tags, "collections": homes})
        outcomes = api.write("items", sent)
        done = [
            replace(step, version=outcome.version)
            for step, outcome in zip(batch, outcomes, strict=True)
            if outcome.version
        ]
        undone |= {one.number for one in done}
        _record_new_versions(done, live, journal, library)
    return undone


def _move_to_trash(steps: Sequence[Step], api: ZoteroApi) -> set[int]:
    """Move created objects to Zotero's trash; return the numbers of the steps."""
    undone: set[int] = set()
    for batch in _split_batches(steps):
        kind = "collections" if batch[0].kind == "collection" else "items"
        sent = [{"key": one.key, "version": one.version, "deleted": True} for one in batch]
        outcomes = api.write(kind, sent)
        undone |= {s.number for s, o in zip(batch, outcomes, strict=True) if o.version}
    return undone
