"""PMC's open articles, brought up to date from the Cloud Service; nobody else is asked.

What differs from what is here is put into batches, and that is written down before anything is
fetched: whoever goes on after a death makes the same batches, and so the same bytes. This process
fetches a batch into a `bundle <.bundles>`, an engine's workers make `texts <.texts>` of it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadContent, BadRequest, NotAvailable, Unreachable
from ..sources.pmc_inventory import (
    ObjectVersion,
    fetch_metadata,
    fetch_xml,
    find_newest_inventory,
    list_article_versions,
    list_versions,
)
from ..system import safe_files
from .bundles import Member, get_bundle_md5, read_members, write_bundle
from .compaction import merge_small_files
from .engines import Lost, Run
from .generations import Generations
from .locks import exclusive_lock
from .manifest import KINDS, Manifest, SourceFile
from .objects import Batch, Difference, ObjectTable
from .parts import Part, ReadJob
from .pubmed import MirrorProgress
from .texts import parse_citation, read_texts

if TYPE_CHECKING:
    from ..http import Web

SOURCE = "pmc"
BUCKET = "pmc-oa-opendata"
BATCH = 1_000
"""Article versions of a bundle: about 20 MB packed, and half a minute of reading."""
FEW = 500
"""Articles up to which each is looked up, instead of the inventory of all."""
_AT_ONCE = 16  # requests, as many as the site's limit lets go
_ENOUGH = 3  # batches in a row that cannot be reached: the site is down


@dataclass(frozen=True, slots=True)
class Choice:
    """The articles that are wanted; an empty choice wants all.

    ``licenses`` as PMC writes them (``CC BY``), ``years`` the first and the last (0: any),
    ``journals`` as NLM abbreviates them, ``pmcids`` digits (None: of all articles).
    """

    licenses: tuple[str, ...] = ()
    years: tuple[int, int] = (0, 0)
    journals: tuple[str, ...] = ()
    pmcids: tuple[int, ...] | None = None

    def explain_unwanted(self, record: dict[str, Any]) -> str:
        """Return why an article is not wanted, by its metadata; empty if it is wanted."""
        told = str(record.get("license_code") or "")
        if self.licenses and _fold_name(told) not in map(_fold_name, self.licenses):
            return f"its license is {told or 'not stated'}"
        return self._explain_unwanted_place(*parse_citation(record))

    def is_wanted(self, row: dict[str, Any]) -> bool:
        """Return whether a mirrored article is wanted, by its row of a part."""
        wanted = self.pmcids is None or row["pmcid"] in self.pmcids
        code = re.sub(r" \d+(\.\d+)*$", "", row["license"] or "")  # the text adds its version
        wanted = wanted and (
            not self.licenses or _fold_name(code) in map(_fold_name, self.licenses)
        )
        return wanted and not self._explain_unwanted_place(row["journal"] or "", row["year"])

    def _explain_unwanted_place(self, journal: str, year: int | None) -> str:
        first, last = self.years
        if (first or last) and not (year and first <= year <= (last or year)):
            return f"its year is {year or 'not stated'}"
        if self.journals and _fold_name(journal) not in map(_fold_name, self.journals):
            return f"its journal is {journal or 'not stated'}"
        return ""

    @property
    def title(self) -> str:
        """The choice in words."""
        years = "-".join(str(year) for year in dict.fromkeys(self.years) if year)
        named = [] if self.pmcids is None else ["of a list"]
        words = [*named, *self.licenses, *([years] if years else []), *self.journals]
        return ", ".join(["PMC's articles in the mirror", *words])

    def to_json(self) -> str:
        """Return the choice as JSON, to be remembered."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Choice:
        """Read back what `to_json` wrote."""
        row = json.loads(text)
        pmcids = row["pmcids"]
        return cls(
            tuple(row["licenses"]),
            (row["years"][0], row["years"][1]),
            tuple(row["journals"]),
            None if pmcids is None else tuple(pmcids),
        )


def _fold_name(name: str) -> str:
    """Return a licence or journal without differences of spelling."""
    return re.sub(r"[\W_]+", "", name).casefold()


def update(
    folder: Path,
    web: Web,
    run: Run,
    choice: Choice | None = None,
    *,
    retry: bool = False,
    most: int = 0,
    copy: Path | None = None,
) -> Iterator[MirrorProgress]:
    """Bring a mirror of PMC up to date; going through it does the work.

    Parameters
    ----------
    folder, web, run
        As for `.pubmed.update`.
    choice : Choice, optional
        Which articles; that of the last time when None. What is here and does not fit another
        choice stays until it changes.
    retry : bool, optional
        Ask again for what was set aside.
    most : int, optional
        So many new article versions at the most; 0 for all.
    copy : Path, optional
        A copy of the bucket made with its own tools. Objects whose MD5 is that of the inventory
        are read from there; the others are fetched.

    Raises
    ------
    BadRequest
        The copy has no metadata.
    StoreBusy
        Another process is at it.
    Unreachable
        The listing could not be had.
    StoreFailed
        The disk refuses; what was read stays.
    """
    if copy and not (copy / "metadata").is_dir():
        msg = f"{copy} is not a copy of PMC's Cloud Service: it has no folder `metadata`."
        raise BadRequest(msg, f"Copy the bucket s3://{BUCKET} to it: the how-to page on mirrors.")
    safe_files.make_folder(folder)
    with exclusive_lock(folder / "pmc.lock", f"the mirror of PMC in {folder}"):
        for kind in KINDS:
            safe_files.delete_stale_temporary_files(folder / "part" / f"{SOURCE}{kind}")
        safe_files.delete_stale_temporary_files(folder / "source" / SOURCE)
        yield from _Update(folder, web, run, copy).run_steps(choice, retry=retry, most=most)


def select_articles(generations: Generations) -> tuple[Choice, list[str]]:
    """Return the remembered choice, and the PMCIDs of the published texts that fit it.

    Raises
    ------
    EmptyStore
        Nothing is published yet.
    """
    from .reading import open_sql

    remembered = ObjectTable(generations.mirror).get_fact("choice")
    choice = Choice.from_json(remembered) if remembered else Choice()
    query = "SELECT pmcid, license, journal, year FROM records ORDER BY pmcid"
    with closing(open_sql(generations)) as db:
        rows = db.sql(query).to_arrow_table().to_pylist()
    return choice, [f"PMC{row['pmcid']}" for row in rows if choice.is_wanted(row)]


class _Update:
    """One run."""

    def __init__(self, folder: Path, web: Web, run: Run, copy: Path | None = None) -> None:
        self.folder, self.web, self.run, self.copy = folder, web, run, copy
        self.manifest, self.objects = Manifest(folder), ObjectTable(folder)
        self.generations = Generations(folder, SOURCE)
        self.progress = MirrorProgress()
        self.began = time.monotonic()
        self.choice = Choice()
        self.again: dict[int, SourceFile] = {}

    def run_steps(
        self, choice: Choice | None, *, retry: bool, most: int
    ) -> Iterator[MirrorProgress]:
        """Plan, fetch, read and publish."""
        self._plan_batches(choice, retry=retry, most=most)
        while due := self._find_due():
            self._advance_progress(total=self.progress.files + len(due))
            yield self.progress
            before = self.progress
            for made in self.run(read_texts, self._make_jobs(due)):
                self._record_outcome(made)
                yield self.progress
            if self.progress.unreachable or self.progress.files == before.files:
                break
        self._advance_progress(step="publishing")
        yield self.progress
        self._publish_generation()
        yield self._advance_progress(step="done")

    # -- what is to be done ------------------------------------------------------------------

    def _plan_batches(self, choice: Choice | None, *, retry: bool, most: int) -> None:
        """Put what differs into batches."""
        before = self.objects.get_fact("choice")
        self.choice = choice or (Choice.from_json(before) if before else Choice())
        anew = bool(before) and self.choice.to_json() != before
        found = compare_with_bucket(
            self.objects, self.choice, self.web, retry=retry, chosen_anew=anew
        )
        batches: list[Batch] = [("going", some) for some in _split_batches(found.gone)]
        batches += [("due", some) for some in _split_batches(found.new[: most or None])]
        self.objects.set_fact("choice", self.choice.to_json())
        self.objects.set_fact("listed", str(found.listed))
        if batches:
            self.objects.add_batches(batches)

    def _find_due(self) -> dict[int, Batch]:
        """Return planned batches, and parts that are missing or made by another reader."""
        due = self.objects.list_due_batches()
        for file in self.manifest.list_files(SOURCE):
            made = file.state in ("done", "damaged")
            if file.order not in due and made and not file.has_current_parts(self.folder):
                self.again[file.order] = file
                due[file.order] = ("again", [])
        return dict(sorted(due.items()))

    def _make_jobs(self, due: dict[int, Batch]) -> Iterator[ReadJob]:
        """Yield batches to be read as soon as they are fetched; the next is fetched meanwhile."""
        left, out_of_reach = iter(due.items()), 0
        ahead = ThreadPoolExecutor(1, "bundle")
        pool = ThreadPoolExecutor(_AT_ONCE, "article")
        fetch = partial(self._fetch_bundle, pool)
        coming: Future[Path] | None = None
        try:
            for number, batch in left:
                now = coming or ahead.submit(fetch, number, batch)
                following = _find_next_batch(due, number)
                coming = ahead.submit(fetch, *following) if following else None
                try:
                    job = self._make_job(number, now.result())
                except Unreachable as error:
                    out_of_reach += 1
                    failed = {**self.progress.failed, _format_sequence(number): error.message}
                    self._advance_progress(failed=failed, unreachable=True)
                else:
                    out_of_reach = 0
                    if job:
                        yield job
                if out_of_reach >= _ENOUGH:
                    return
        finally:
            self.web.transport.cancel_requests()
            for one in (ahead, pool):
                one.shutdown(wait=True, cancel_futures=True)

    def _make_job(self, number: int, bundle: Path) -> ReadJob | None:
        """Return what is to be read of a bundle; None if it is empty."""
        if not any(one.has_row for one in read_members(bundle, bytes_too=False)):
            self._record_object_outcomes(number, bundle, {})
            safe_files.delete_if_exists(bundle)
            self._advance_progress(files=self.progress.files + 1)
            return None
        if number in self.again:
            self.again.pop(number).delete_damaged_parts(self.folder)
        name, sequence = bundle.name, _format_sequence(number)
        return ReadJob(
            str(bundle), SOURCE, name, sequence, number, get_bundle_md5(bundle), str(self.folder)
        )

    # -- fetching ----------------------------------------------------------------------------

    def _fetch_bundle(self, pool: ThreadPoolExecutor, number: int, batch: Batch) -> Path:
        """Return the bundle of a batch; fetch its articles if it is missing.

        Raises
        ------
        Unreachable
            Some of it could not be had; it is asked for again by the next run.
        """
        place, sequence = self.folder / "source" / SOURCE, _format_sequence(number)
        state, objects = batch
        named = self.again[number].name if state == "again" else f"{sequence}-*.zip"
        if found := sorted(place.glob(named)):
            return found[0]
        if state == "going":
            gone = [Member(one, "gone", "It is not listed any more.") for one in objects]
            return write_bundle(gone, place, sequence)
        if state == "again":
            msg = f"The bundle {sequence} of PMC is gone."
            raise Unreachable(msg, f"Restore {place}, or delete the mirror.")
        had = self.objects.find_former_texts(number)
        futures = [pool.submit(self._fetch_member, one, one in had) for one in objects]
        return write_bundle([future.result() for future in futures], place, sequence)

    def _fetch_member(self, wanted: ObjectVersion, had: bool) -> Member:
        """Fetch one article version, or find out why it is missing."""
        try:
            article = fetch_metadata(wanted, self.web, self.copy)
            why = self.choice.explain_unwanted(article.record)
            if not article.record.get("xml_url"):
                why = why or "there is no XML of it"
            if why:
                return Member(wanted, "other", why, had)
            xml = fetch_xml(article, self.web, self.copy)
        except NotAvailable as error:
            return Member(wanted, "vanished", error.message, had)
        except BadContent as error:
            return Member(wanted, "aside", error.message, had)
        return Member(wanted, "text", "", had, article.metadata, xml)

    # -- what became of it -------------------------------------------------------------------

    def _record_outcome(self, made: Part | Lost[ReadJob]) -> None:
        """Record the parts of a batch, or why it has none."""
        if isinstance(made, Lost) or made.reason:
            self._split_failed_bundle(made)
            return
        order = int(made.name.partition("-")[0])
        bundle = self.folder / "source" / SOURCE / made.name
        file = SourceFile(SOURCE, made.name, SOURCE, _format_sequence(order), order,
                          size=bundle.stat().st_size)  # fmt: skip
        file = self.manifest.record_part(file, made, get_bundle_md5(bundle))
        self._record_object_outcomes(order, bundle, _find_rejected(file.get_part_path(self.folder)))
        now = self.progress
        size, files = now.size + file.size, now.files + 1
        self._advance_progress(
            files=files,
            size=size,
            total_size=size * max(now.total, files) // files,
            cpu=now.cpu + made.cpu,
            **{name: getattr(now, name) + getattr(made, name)
               for name in ("records", "deletions", "passages")},
        )  # fmt: skip

    def _record_object_outcomes(
        self, number: int, bundle: Path, refused: dict[tuple[int, int], str]
    ) -> None:
        """Record the state of each object of a bundle."""
        ends, failed = [], {}
        for one in read_members(bundle, bytes_too=False):
            why = refused.get(one.listed[:2], "") or one.reason
            state = "done" if one.state == "text" else one.state
            state = "aside" if one.listed[:2] in refused and state == "done" else state
            ends.append((one.listed, state, why))
            if state in ("aside", "vanished"):
                failed[one.listed.name] = why
        self.objects.record_outcomes(number, ends)
        self._advance_progress(failed={**self.progress.failed, **failed})

    def _split_failed_bundle(self, made: Part | Lost[ReadJob]) -> None:
        """Plan each article of an unreadable bundle by itself, to find the cause."""
        name = made.name if isinstance(made, Part) else made.job.name
        bundle = self.folder / "source" / SOURCE / name
        number = int(name.partition("-")[0])
        objects = self.objects.list_due_batches().get(number, ("", []))[1]
        safe_files.delete_if_exists(bundle)
        if len(objects) > 1:
            self.objects.add_batches([("due", [one]) for one in objects])
            self._advance_progress(files=self.progress.files + 1)
            return
        self.objects.record_outcomes(number, [(one, "aside", made.reason) for one in objects])
        failed = {one.name: made.reason for one in objects} or {name: made.reason}
        self._advance_progress(
            failed={**self.progress.failed, **failed}, files=self.progress.files + 1
        )

    def _publish_generation(self) -> None:
        """Build and publish a generation of all that is read, if it is not published yet."""
        files, current = self._list_readable(), self.generations.get_complete()
        known = self.generations.list_files(current) if current else []
        if files and _list_digests(files) != _list_digests(known):
            live = self.generations.count_live_rows(current) if current else {}
            merge_small_files(self.folder, files, live, BATCH, self.run)
            made = self.generations.build(self._list_readable(), {})
            self.generations.publish(made.name)
            self._advance_progress(changed=not current or made.name != current.name)
        self._delete_unused()
        self._advance_progress(generation=self.generations.get_published())

    def _list_readable(self) -> list[SourceFile]:
        return [
            file for file in self.manifest.list_files(SOURCE) if file.has_current_parts(self.folder)
        ]

    def _delete_unused(self) -> None:
        """Delete bundles and parts that no kept generation and no later update needs."""
        kept = self.manifest.list_files(SOURCE)
        parts = {file.get_part_path(self.folder, kind) for file in kept for kind in KINDS}
        for path in self.generations.delete_old_generations():
            if path not in parts:
                safe_files.delete_if_exists(path)
        for generation in self.generations.list_generations():
            kept += self.generations.list_files(generation)
        names, due = {file.name for file in kept}, self.objects.list_due_batches()
        for path in (self.folder / "source" / SOURCE).glob("*.zip"):
            if path.name not in names and int(path.name.partition("-")[0]) not in due:
                safe_files.delete_if_exists(path)

    def _advance_progress(self, **facts: Any) -> MirrorProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress


def compare_with_bucket(
    objects: ObjectTable,
    choice: Choice,
    web: Web,
    *,
    retry: bool = False,
    chosen_anew: bool = False,
) -> Difference:
    """Return article versions that are new at the Cloud Service, and those that it no longer has.

    Raises
    ------
    Unreachable
        The listing could not be had, or has suddenly not half of what it had.
    """
    options: dict[str, Any] = {"retry": retry, "chosen_anew": chosen_anew}
    if choice.pmcids is not None:
        within = frozenset(choice.pmcids)
        if len(within) <= FEW:
            listing: Iterable[ObjectVersion] = (
                one for pmcid in sorted(within) for one in list_article_versions(pmcid, web)
            )
        else:
            every = list_versions(find_newest_inventory(web), web)
            listing = (one for one in every if one.pmcid in within)
        return objects.compare_listing(listing, within=within, **options)
    found = objects.compare_listing(list_versions(find_newest_inventory(web), web), **options)
    here = sum(n for state, n in objects.count_states().items() if state != "gone")
    if len(found.gone) * 2 > here > 1:
        msg = f"PMC's inventory lacks {len(found.gone):,} of the {here:,} articles known here."
        raise Unreachable(msg, "The inventory seems incomplete. Run the command again tomorrow.")
    return found


def _split_batches(some: Sequence[ObjectVersion]) -> Iterator[list[ObjectVersion]]:
    return (list(some[at : at + BATCH]) for at in range(0, len(some), BATCH))


def _find_next_batch(due: dict[int, Batch], number: int) -> tuple[int, Batch] | None:
    following = next((one for one in due if one > number), None)
    return None if following is None else (following, due[following])


def _format_sequence(number: int) -> str:
    return f"{number:07}"


def _list_digests(files: Sequence[SourceFile]) -> list[tuple[str, str]]:
    return [(file.name, file.digest) for file in files]


def _find_rejected(part: Path) -> dict[tuple[int, int], str]:
    """Return article versions of a part that the judges rejected, and why."""
    from pyarrow import parquet

    columns = ["pmcid", "version", "deleted", "state", "verdict", "evidence"]
    with safe_files.disk_errors(part, "read"):
        rows = parquet.read_table(part, columns=columns).to_pylist()
    return {
        (row["pmcid"], row["version"]): f"{row['verdict']}: {row['evidence']}"
        for row in rows
        if row["deleted"] and row["state"] == "text"
    }
