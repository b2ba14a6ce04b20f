"""Update a mirror of PMC's open articles from the Cloud Service; no other site is asked.

Article versions that differ from the mirror are put into batches. The batches are written down
before anything is fetched, so that a run after a death makes the same batches, and the same bytes.
This process fetches a batch into a `bundle <.bundles>`, and an engine's workers make `texts
<.texts>` of it. An article that kills its workers is found and set aside; see `.deadly`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from .deadly import set_deadly_members_aside
from .engines import Lost, Run
from .generations import Generations
from .manifest import SourceFile
from .objects import Batch, Difference, ObjectTable
from .parts import Part, ReadJob
from .texts import parse_citation, read_texts
from .updates import MirrorProgress, Update, fetch_ahead

if TYPE_CHECKING:
    from ..http import Web

SOURCE = "pmc"
BUCKET = "pmc-oa-opendata"
BATCH = 1_000
"""Article versions of a bundle: about 20 MB packed, and half a minute of reading."""
FEW = 500
"""Articles up to which each is looked up, instead of the inventory of all."""
_AT_ONCE = 16  # requests, as many as the site's limit lets go


@dataclass(frozen=True, slots=True)
class Choice:
    """The articles that are wanted; an empty choice wants all.

    ``licenses`` as PMC writes them (``CC BY``), ``years`` the first and the last (0: any),
    ``journals`` as NLM abbreviates them, ``pmcids`` digits (None: all articles).
    """

    licenses: tuple[str, ...] = ()
    years: tuple[int, int] = (0, 0)
    journals: tuple[str, ...] = ()
    pmcids: tuple[int, ...] | None = None

    def explain_unwanted(self, license_code: str, journal: str, year: int | None) -> str:
        """Return why an article is not wanted; empty if it is wanted."""
        first, last = self.years
        if self.licenses and _fold_name(license_code) not in map(_fold_name, self.licenses):
            return f"its license is {license_code or 'not stated'}"
        if (first or last) and not (year and first <= year <= (last or year)):
            return f"its year is {year or 'not stated'}"
        if self.journals and _fold_name(journal) not in map(_fold_name, self.journals):
            return f"its journal is {journal or 'not stated'}"
        return ""

    def is_wanted(self, row: dict[str, Any]) -> bool:
        """Return whether a mirrored article is wanted, by its row of a part."""
        code = re.sub(r" \d+(\.\d+)*$", "", row["license"] or "")  # the text adds its version
        listed = self.pmcids is None or row["pmcid"] in self.pmcids
        return listed and not self.explain_unwanted(code, row["journal"] or "", row["year"])

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
        row: dict[str, Any] = json.loads(text)
        lists = {name: tuple(value) for name, value in row.items() if value is not None}
        return cls(**lists)


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
    """Bring a mirror of PMC up to date; iterating over it does the work.

    Parameters
    ----------
    folder, web, run
        As for `.pubmed.update`.
    choice : Choice, optional
        The wanted articles; those of the last update when None. Articles that do not fit a new
        choice stay until they change.
    retry : bool, optional
        Ask again for articles that were set aside.
    most : int, optional
        The largest number of new article versions; 0 for all.
    copy : Path, optional
        A copy of the bucket made with its own tools. Objects whose MD5 is that of the inventory
        are read from there; the others are fetched.

    Raises
    ------
    BadRequest
        The copy has no metadata.
    StoreBusy
        Another process updates the mirror.
    Unreachable
        The listing could not be fetched.
    StoreFailed
        The disk refuses; what was read stays.
    """
    if copy and not (copy / "metadata").is_dir():
        msg = f"{copy} is not a copy of PMC's Cloud Service: it has no folder `metadata`."
        raise BadRequest(msg, f"Copy the bucket s3://{BUCKET} to it: the how-to page on mirrors.")
    work = _Update(folder, web, run, copy)
    with work.lock_mirror("pmc.lock", "PMC"):
        yield from work.run_steps(choice, retry=retry, most=most)


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


class _Update(Update):
    """One run."""

    source = SOURCE

    def __init__(self, folder: Path, web: Web, run: Run, copy: Path | None = None) -> None:
        super().__init__(folder, web, run)
        self.copy, self.objects = copy, ObjectTable(folder)
        self.choice = Choice()
        self.again: dict[int, SourceFile] = {}
        self.mended = set[int]()

    def run_steps(
        self, choice: Choice | None, *, retry: bool, most: int
    ) -> Iterator[MirrorProgress]:
        """Plan, fetch, read and publish."""
        self._plan_batches(choice, retry=retry, most=most)
        while due := self._find_due():
            yield self.advance(total=self.progress.files + len(due))
            before, unread = self.progress.files + len(self.mended), list[Part | Lost[ReadJob]]()
            for made in self.run(read_texts, self._make_jobs(due)):
                if isinstance(made, Lost) or made.reason:
                    unread.append(made)
                else:
                    self._record_part(made)
                yield self.progress
            for made in unread:
                self._mend_bundle(made)
            if self.progress.unreachable or self.progress.files + len(self.mended) == before:
                break
        yield self.advance(step="publishing")
        self._publish_generation()
        yield self.advance(step="done")

    # -- what is to be done ------------------------------------------------------------------

    def _plan_batches(self, choice: Choice | None, *, retry: bool, most: int) -> None:
        """Put what differs into batches."""
        self.choice, found = find_differences(self.objects, choice, self.web, retry=retry)
        batches: list[Batch] = [("going", some) for some in _split_batches(found.gone)]
        batches += [("due", some) for some in _split_batches(found.new[: most or None])]
        self.objects.set_fact("choice", self.choice.to_json())
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
        with ThreadPoolExecutor(_AT_ONCE, "article") as pool:
            fetch = partial(self._fetch_bundle, pool)
            fetched = fetch_ahead(fetch, due.items(), self.web, at_once=1, ahead=1)
            with closing(fetched):
                for (number, _), future in fetched:
                    try:
                        job = self._make_job(number, future.result())
                    except Unreachable as error:
                        self.add_failures({_format_sequence(number): error.message})
                        self.advance(unreachable=True)
                    except BadContent as error:
                        self._fetch_articles_again(number, error.message)
                    else:
                        if job:
                            yield job

    def _make_job(self, number: int, bundle: Path) -> ReadJob | None:
        """Return what is to be read of a bundle; None if it is empty."""
        file = self.again.get(number)
        if not any(one.has_row for one in read_members(bundle, bytes_too=False)):
            self._record_object_outcomes(number, bundle, {})
            if file:
                self.manifest.replace_files([file], [])
            safe_files.delete_if_exists(bundle)
            self.advance(files=self.progress.files + 1)
            return None
        if file:
            file.delete_damaged_parts(self.folder)
        return _to_file(bundle).to_job(bundle, self.folder)

    # -- fetching ----------------------------------------------------------------------------

    def _fetch_bundle(self, pool: ThreadPoolExecutor, due: tuple[int, Batch]) -> Path:
        """Return the bundle of a batch; fetch its articles if it is missing.

        Raises
        ------
        Unreachable
            An article could not be fetched; the next run tries again.
        BadContent
            The bundle of an earlier update is gone.
        """
        number, (state, objects) = due
        place, sequence = self.source_folder, _format_sequence(number)
        named = self.again[number].name if state == "again" else f"{sequence}-*.zip"
        if found := sorted(place.glob(named)):
            return found[0]
        if state == "going":
            gone = [Member(one, "gone", "It is not listed any more.") for one in objects]
            return write_bundle(gone, place, sequence)
        if state == "again":
            raise BadContent(f"{place / named} is gone.")
        had = self.objects.find_former_texts(number)
        futures = [pool.submit(self._fetch_member, one, one in had) for one in objects]
        return write_bundle([future.result() for future in futures], place, sequence)

    def _fetch_member(self, wanted: ObjectVersion, had: bool) -> Member:
        """Fetch one article version, or find out why it is missing."""
        try:
            article = fetch_metadata(wanted, self.web, self.copy)
            code = str(article.record.get("license_code") or "")
            why = self.choice.explain_unwanted(code, *parse_citation(article.record))
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

    def _record_part(self, part: Part) -> None:
        """Record the parts of a batch, and the state of its articles."""
        bundle = self.source_folder / part.name
        file = self.manifest.record_part(_to_file(bundle), part, get_bundle_md5(bundle))
        rejected = _find_rejected(file.get_part_path(self.folder))
        self._record_object_outcomes(file.order, bundle, rejected)
        self.add_part(part, file.size)
        now = self.progress
        self.advance(total_size=now.size * max(now.total, now.files) // now.files)

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
        self.again.pop(number, None)
        self.remove_failure(_format_sequence(number))
        self.add_failures(failed)

    def _mend_bundle(self, made: Part | Lost[ReadJob]) -> None:
        """Set aside the articles of a bundle that killed workers, or fetch its articles again."""
        name = made.name if isinstance(made, Part) else made.job.name
        bundle = self.source_folder / name
        number = _to_file(bundle).order
        if isinstance(made, Part):
            self._fetch_articles_again(number, made.reason)
            return
        mended = set_deadly_members_aside(bundle, self.folder, self.run)
        if mended == bundle:  # its workers were killed from outside
            self.add_failures({_format_sequence(number): made.reason})
            return
        self.mended.add(number)
        if file := self.again.get(number):
            # The former bundle stays for as long as a kept generation refers to it.
            new = replace(file, name=mended.name, md5=get_bundle_md5(mended))
            self.manifest.replace_files([file], [new])
        else:
            safe_files.delete_if_exists(bundle)

    def _fetch_articles_again(self, number: int, reason: str) -> None:
        """Have the articles of a bundle that is damaged or gone fetched again, once in a run."""
        if number in self.mended:
            self.add_failures({_format_sequence(number): reason})
            return
        self.mended.add(number)
        if file := self.again.pop(number, None):
            self.objects.plan_again(number)
            self.manifest.replace_files([file], [])
        else:
            for bundle in self.source_folder.glob(f"{_format_sequence(number)}-*.zip"):
                safe_files.delete_if_exists(bundle)

    def _publish_generation(self) -> None:
        """Build and publish a generation of all that is read, if it is not published yet."""
        files, current = self._list_readable(), self.generations.get_complete()
        known = self.generations.list_files(current) if current else []
        if files and _list_digests(files) != _list_digests(known):
            live = self.generations.count_live_rows(current) if current else {}
            merge_small_files(self.folder, files, live, BATCH, self.run)
            made = self.generations.build(self._list_readable(), {})
            self.generations.publish(made.name)
            self.advance(changed=not current or made.name != current.name)
        self._delete_unused()
        self.advance(generation=self.generations.get_published())

    def _list_readable(self) -> list[SourceFile]:
        return [
            file for file in self.manifest.list_files(SOURCE) if file.has_current_parts(self.folder)
        ]

    def _delete_unused(self) -> None:
        """Delete bundles and parts that no kept generation and no later update needs."""
        names = {file.name for file in self.delete_unused_parts()}
        due = self.objects.list_due_batches()
        for path in self.source_folder.glob("*.zip"):
            if path.name not in names and _to_file(path).order not in due:
                safe_files.delete_if_exists(path)


def find_differences(
    objects: ObjectTable, choice: Choice | None, web: Web, *, retry: bool = False
) -> tuple[Choice, Difference]:
    """Return the choice that counts, and which article versions are new, or gone at the bucket.

    Without a *choice*, the one of the last update counts.

    Raises
    ------
    Unreachable
        The listing could not be fetched, or lacks more than half of the articles it had.
    """
    before = objects.get_fact("choice")
    chosen = choice or (Choice.from_json(before) if before else Choice())
    anew, within = bool(before) and chosen.to_json() != before, chosen.pmcids
    if within is not None and len(within) <= FEW:
        listing = (one for pmcid in sorted(within) for one in list_article_versions(pmcid, web))
    else:
        every, wanted = list_versions(find_newest_inventory(web), web), set(within or ())
        listing = (one for one in every if within is None or one.pmcid in wanted)
    found = objects.compare_listing(listing, within=within, retry=retry, chosen_anew=anew)
    here = sum(n for state, n in objects.count_states().items() if state != "gone")
    if within is None and len(found.gone) * 2 > here > 1:
        msg = f"PMC's inventory lacks {len(found.gone):,} of the {here:,} articles known here."
        raise Unreachable(msg, "The inventory seems incomplete. Run the command again tomorrow.")
    return chosen, found


def _split_batches(some: Sequence[ObjectVersion]) -> Iterator[list[ObjectVersion]]:
    return (list(some[at : at + BATCH]) for at in range(0, len(some), BATCH))


def _format_sequence(number: int) -> str:
    return f"{number:07}"


def _to_file(bundle: Path) -> SourceFile:
    """Return a bundle as the manifest has it."""
    sequence, _, md5 = bundle.stem.partition("-")
    size = bundle.stat().st_size if bundle.exists() else 0
    return SourceFile(SOURCE, bundle.name, SOURCE, sequence, int(sequence), size=size, md5=md5)


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
