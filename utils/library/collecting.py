"""What a library brings onto its shelf: papers, harvests, reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import ObjectKind
from .rooms import Rooms

if TYPE_CHECKING:
    from ..download.download import Download
    from ..errors import PaperError
    from ..harvest.corpus_lock import Rebuilt
    from ..harvest.jobs import Asked, Harvest
    from ..harvest.plan import MediaSpace, Plan
    from ..lists.pasted import Entry
    from ..mirror import Mirror
    from ..model.identifiers import Ids
    from ..model.job import Job
    from ..model.paper import Paper
    from ..reports import Lock
    from ..review import Review
    from ..review.snowball import Snowball
    from ..search.citation_indexes import Direction
    from ..sources import Query


class CollectVerbs(Rooms):
    """The verbs of downloads, harvests and reviews."""

    def download(
        self,
        paper: str | int | Ids,
        *,
        prefer_pmc: bool = True,
        force: bool = False,
        output_path: str = "",
    ) -> Download:
        """Put one paper on the shelf; see `..download.download.download`.

        ``output_path`` is the place of an additional copy inside the shelf.
        """
        from dataclasses import replace

        from ..download.climb import DownloadRequest
        from ..download.download import download
        from ..model.identifiers import Ids

        offline = self.settings.papers_offline
        request = DownloadRequest(Ids.parse(paper), "", force, prefer_pmc, offline)
        if output_path:
            self.shelf.confined(output_path)  # refused before anything is asked for
        done = download(request, self._ladder)
        if output_path:
            copy = self.shelf.copy_to(done.stored, output_path)
            return replace(done, file_path=str(copy))
        return done

    def download_many(
        self, papers: Iterable[str | int | Ids], *, prefer_pmc: bool = True, force: bool = False
    ) -> Iterator[tuple[Ids, Download | PaperError]]:
        """Put many papers on the shelf; see `..download.download.download_many`.

        What is no identifier comes first, with the error that names it, under empty `Ids`.
        """
        from ..download.climb import DownloadRequest
        from ..download.download import download_many
        from ..model.identifiers import Ids

        read = [Ids.try_parse(paper) for paper in papers]
        yield from ((Ids(), wrong) for wrong in read if isinstance(wrong, BadRequest))
        how = force, prefer_pmc, self.settings.papers_offline
        requests = [DownloadRequest(ids, "", *how) for ids in read if isinstance(ids, Ids)]
        yield from download_many(requests, self._ladder)

    def harvest(
        self,
        papers: Asked | Mapping[str, Asked] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        job_id: str = "",
        title: str = "",
        max_papers: int = 0,
        retry: str = "",
        prefer_pmc: bool = True,
    ) -> Harvest:
        """The harvest of queries, lists or an earlier job; iterating over it does the work.

        See `..harvest.jobs.harvest`.
        """
        from ..harvest.jobs import harvest

        return harvest(
            *(papers, query, job_id, self._ladder),
            sources=sources,
            title=title,
            max_papers=max_papers,
            retry=retry,
            prefer_pmc=prefer_pmc,
        )

    def harvest_lock(self, lock: Lock) -> Harvest:
        """The harvest that brings the papers of a lock; compare them with `differences`."""
        from ..harvest.corpus_lock import of_lock
        from ..harvest.jobs import Harvest

        return Harvest(of_lock(lock, self._ladder), self._ladder)

    def harvest_mirror(self, mirror: Mirror | None = None) -> Harvest:
        """The harvest that puts a mirror's choice of PMC's articles onto the shelf, offline.

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

        from ..harvest.jobs import harvest
        from ..http import Web
        from ..mirror.pmc import selected
        from ..sources.pmc import SOURCE as PMC

        mirror = mirror or self.mirror
        choice, pmcids = selected(mirror.pmc_generations)
        if not pmcids:
            msg = "No text of the mirror fits what was chosen."
            raise BadRequest(msg, f"Choose all again: {command_line('mirror pmc --all')}")
        here = {"papers_offline": True, "papers_mirror_dir": mirror.folder}
        web = Web(self.settings.model_copy(update=here), mirror.rates)
        ladder = replace(self._ladder, web=web, order=(PMC.name,), only_local=True)
        return harvest(pmcids, "", "", ladder, title=choice.title, retry="failed")

    def differences(self, lock: Lock, harvest: Harvest) -> Rebuilt:
        """What differs from the lock; see `..harvest.corpus_lock.differences`."""
        from ..harvest.corpus_lock import differences

        return differences(lock, harvest)

    def plan(
        self,
        papers: Iterable[Entry] | Mapping[str, Sequence[Entry]] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        max_papers: int = 0,
    ) -> Plan:
        """What a harvest would take, before anything is fetched; see `..harvest.plan`."""
        from ..harvest import plan as harvest_plan
        from ..harvest.searches import wanted_searches
        from ..lists.pasted import merged

        wanted = wanted_searches(query, sources, self._ladder.sources)
        lists = papers if isinstance(papers, Mapping) else {"Identifiers": tuple(papers)}
        entries = [entry for asked in lists.values() for entry in asked]
        if not wanted:
            once = merged(entries).papers
            return harvest_plan.of_list(once[: max_papers or len(once)], self._ladder)
        if [one.source.name for one in wanted] == ["pubmed"] and not entries:
            return harvest_plan.of_query(wanted[0].query, self._ladder, most=max_papers)
        lists = {name: asked for name, asked in lists.items() if asked}
        return harvest_plan.of_searches(wanted, lists, self._ladder, most=max_papers)

    def media_space(
        self,
        plan: Plan,
        kinds: Sequence[ObjectKind],
        papers: Iterable[Entry] = (),
        *,
        query: Sequence[Query] = (),
    ) -> MediaSpace:
        """What the objects of a plan's papers would take; see `..harvest.plan`."""
        from ..harvest.plan import media_space

        return media_space(plan.in_pmc, kinds, list(papers), query, self._ladder)

    def harvests(self) -> list[Job]:
        """All harvests of this shelf, the newest first."""
        from ..harvest.jobs import every_job

        return every_job(self._ladder)

    def new_review(self, name: str) -> Review:
        """A new systematic review: a folder with a protocol to fill in; see `..review`."""
        from ..review import new_review

        return new_review(name, self._ladder)

    def review(self, name: str) -> Review:
        """The review of this name; see `..review.Review`."""
        from ..review import open_review

        return open_review(name, self._ladder)

    def reviews(self) -> list[Review]:
        """All reviews of this shelf, by name."""
        from ..review import every_review

        return every_review(self._ladder)

    def snowball(
        self,
        papers: Iterable[Paper],
        *,
        known: Sequence[Paper] = (),
        directions: Sequence[Direction] = ("backward", "forward"),
        rounds: int = 1,
        most: int = 50,
    ) -> Snowball:
        """What papers cite, and who cites them, each once; see `..review.snowball`."""
        from ..review.snowball import snowball
        from ..sources import SOURCES

        return snowball(
            *(list(papers), self.shelf, self.web, SOURCES),
            known=known,
            directions=directions,
            rounds=rounds,
            most=most,
        )
