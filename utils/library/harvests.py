"""Harvests of a library: jobs that download many papers, and plans of such jobs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest
from ..model.job import Job
from ..model.tabular import ResultList
from .namespace import Namespace

if TYPE_CHECKING:
    from ..harvest.corpus_lock import CorpusComparison
    from ..harvest.jobs import Harvest
    from ..harvest.plan import MediaSpace, PdfLoad, Plan
    from ..lists.pasted import ListEntry
    from ..mirror import Mirror
    from ..model.paper import ObjectKind
    from ..reports import CorpusLock
    from ..sources import Query


class Harvests(Namespace):
    """The harvests of a shelf: jobs that download many papers, and plans of such jobs."""

    def __call__(self) -> ResultList[Job]:
        """Return `all`, as the version before did."""
        msg = "library.harvests() is now library.harvests.all()"
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return self.all()

    def all(self) -> ResultList[Job]:
        """Return all harvests of this shelf, the newest first."""
        from ..harvest.jobs import list_jobs

        columns = ("job_id", "title", *Job("", "").row(), "begun_at", "ended_at")
        return ResultList(
            *(list_jobs(self._library.ladder), columns),
            lambda job: {name: getattr(job, name, "") for name in columns} | job.row(),
        )

    def plan(
        self,
        papers: Iterable[ListEntry] | Mapping[str, Sequence[ListEntry]] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        max_papers: int = 0,
    ) -> Plan:
        """Return the requests, time and space that a harvest would need; see `..harvest.plan`."""
        from ..harvest import plan as harvest_plan
        from ..harvest.searches import build_site_queries
        from ..lists.pasted import merge_duplicate_entries

        wanted = build_site_queries(query, sources, self._library.ladder.sources)
        lists = papers if isinstance(papers, Mapping) else {"Identifiers": tuple(papers)}
        entries = [entry for asked in lists.values() for entry in asked]
        if not wanted:
            once = merge_duplicate_entries(entries).papers
            return harvest_plan.plan_list(once[: max_papers or len(once)], self._library.ladder)
        if [one.source.name for one in wanted] == ["pubmed"] and not entries:
            return harvest_plan.plan_query(wanted[0].query, self._library.ladder, most=max_papers)
        lists = {name: asked for name, asked in lists.items() if asked}
        return harvest_plan.plan_searches(wanted, lists, self._library.ladder, most=max_papers)

    def from_lock(self, lock: CorpusLock) -> Harvest:
        """Return the harvest of the papers in a lock file; see `differences`."""
        from ..harvest.corpus_lock import open_lock_job
        from ..harvest.jobs import Harvest

        return Harvest(open_lock_job(lock, self._library.ladder), self._library.ladder)

    def differences(self, lock: CorpusLock, harvest: Harvest) -> CorpusComparison:
        """Return the differences between a lock file and a harvest; see `..harvest.corpus_lock`."""
        from ..harvest.corpus_lock import compare_with_lock

        return compare_with_lock(lock, harvest)

    def from_mirror(self, mirror: Mirror | None = None) -> Harvest:
        """Return the harvest that saves a mirror's selected PMC articles on the shelf, offline.

        Going through it asks no site: the mirror is the ladder's only rung. What failed before is
        looked for again.

        Raises
        ------
        EmptyStore
            No text is published yet.
        BadRequest
            No published text fits the choice.
        """
        from dataclasses import replace

        from ..harvest.jobs import open_harvest
        from ..http import Web
        from ..mirror.pmc import select_articles
        from ..sources.pmc import SOURCE as PMC

        mirror = mirror or self._library.mirror
        choice, pmcids = select_articles(mirror.pmc_generations)
        if not pmcids:
            msg = "No text of the mirror fits what was chosen."
            raise BadRequest(msg, f"Choose all again: {command_line('mirror pmc --all')}")
        here = {"papers_offline": True, "papers_mirror_dir": mirror.folder}
        web = Web(self._library.settings.model_copy(update=here), mirror.rates)
        ladder = replace(self._library.ladder, web=web, order=(PMC.name,), only_local=True)
        return open_harvest(pmcids, "", "", ladder, title=choice.title, retry="failed")

    def pdfs(self, plan: Plan) -> PdfLoad:
        """Return the requests and the disk space that the PDFs of a plan need."""
        from ..harvest.plan import estimate_pdfs

        return estimate_pdfs(plan)

    def media_space(
        self,
        plan: Plan,
        kinds: Sequence[ObjectKind],
        papers: Iterable[ListEntry] = (),
        *,
        query: Sequence[Query] = (),
    ) -> MediaSpace:
        """Return the disk space that figures and files of a plan's papers need."""
        from ..harvest.plan import estimate_media_space

        return estimate_media_space(plan.in_pmc, kinds, list(papers), query, self._library.ladder)
