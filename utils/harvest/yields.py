"""Yield: which route brought how many papers of a list first, which only it could, at what cost.

By default from what the shelf's harvests were told, and nobody is asked. A harvest stops at the
first text, so that says who was first; who else had it is found by a job that asks all
(`Job.ask_all`): the same lanes, limits and judges, resumed as any other, and what a harvest was
told before is not asked again. Its texts are counted, and kept only where the shelf lacks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..download.ladder import Climb, Ladder
from ..errors import BadRequest
from ..lists.pasted import Entry, merged
from ..model.identifiers import Ids
from ..model.versions import meant
from ..reports.yield_curve import write_curve
from ..reports.yield_figures import WITH_TEXT, LadderRoute, PaperYield, YieldFigures
from ..system.safe_files import make_folder
from .history import Known, gather, without_duplicates
from .jobs import Harvest, entry_of, of_id, of_list, path_of_list


@dataclass(frozen=True, slots=True)
class Yields:
    """The yield of a list on a shelf.

    Parameters
    ----------
    folder : Path
        Where `write` puts its files.
    survey : Harvest or None
        The job that asks every route; going through it does the work. None where nobody is asked.

    Examples
    --------
    >>> found = library.yields(["31452104", "10.1000/a"])                 # doctest: +SKIP
    >>> [(route.label, route.first) for route in found.figures().routes()] # doctest: +SKIP
    """

    entries: tuple[Entry, ...]
    title: str
    folder: Path
    ladder: Ladder
    survey: Harvest | None = None

    def figures(self) -> YieldFigures:
        """The counts of this moment, from the ledgers of the shelf."""
        papers, costs = gather(self.entries, self.ladder.shelf.folder)
        key = self.ladder.web.settings.key
        routes = tuple(
            LadderRoute(rung.via, rung.route.key, not rung.route.key or bool(key(rung.route.key)))
            for rung in self.ladder.rungs
        )
        taken = {
            via: (cost.measured, cost.requests, cost.seconds)
            for via, cost in costs.items()
            if cost.measured
        }
        return YieldFigures(
            routes, taken, [self._paper(known) for known in without_duplicates(papers)]
        )

    def _paper(self, known: Known) -> PaperYield:
        paper, asked = known.paper, known.entry.asked
        had = {
            via: attempts[-1].outcome
            for via, attempts in known.told.items()
            if attempts[-1].outcome in WITH_TEXT
        }
        held = None if had else self.ladder.shelf.text_of(paper.ids, meant(Ids.maybe(asked)))
        if held is not None:  # it came without a harvest: by `download`, or by hand
            had = {held.via or "manual": "saved"}
            paper = paper if paper.recorded_by else held.paper
        climb = Climb(paper, bool(paper.recorded_by), meant(Ids.maybe(asked)), force=True)
        return PaperYield(
            asked,
            paper.ids,
            paper.year,
            order=tuple(rung.via for rung in self.ladder.rungs_ahead(climb, self.ladder.rungs)),
            had=had,
            answered=frozenset(known.told) | had.keys(),
            known=known.harvested or held is not None,
        )

    def write(self) -> Path:
        """Write ``yield.csv``, ``yield_groups.csv``, ``yields_papers.csv``; return ``yield.svg``.

        Raises
        ------
        StoreFailed
            The disk refuses; each file is then the old one or the new one.
        """
        figures = self.figures()
        make_folder(self.folder)
        figures.write(self.folder)
        return write_curve(figures, self.title, self.folder)


def yields(
    papers: Iterable[str | int | Ids | Entry],
    job_id: str,
    ladder: Ladder,
    *,
    ask_all: bool = False,
    title: str = "",
) -> Yields:
    """The yield of a list, or of the papers of an earlier job.

    Parameters
    ----------
    papers : iterable
        Identifiers, or entries of a list.
    job_id : str
        The name of a job; then no *papers*.
    ladder : Ladder
    ask_all : bool, optional
        Ask every route for every paper; `Yields.survey` is the job that does.
    title : str, optional
        What the list is called.

    Raises
    ------
    BadRequest
        Neither papers nor a job are named, or both, or there are no papers.
    NotFound
        There is no such job.
    """
    listed = [entry_of(one) for one in papers]
    if bool(job_id) == bool(listed):
        msg = "A yield is of identifiers, or else of the papers of a job."
        raise BadRequest(msg, "Give the one or the other: server.py yield LIST")
    entries: Sequence[Entry] = merged(listed).papers
    survey = folder = None
    if job_id:
        ledger = of_id(job_id, ladder)
        entries = [Entry(row.asked, row.paper.ids) for row in ledger.rows()]
        title = title or ledger.job().title
        folder = ladder.shelf.folder / "reports" / job_id
        if ledger.job().ask_all:
            survey = Harvest(ledger, ladder) if ask_all else None
    title = title or f"{len(entries):,} identifier{'s' * (len(entries) != 1)}"
    name = f"yield of {title}"
    if ask_all and survey is None:
        survey = Harvest(of_list(entries, name, ladder, ask_all=True), ladder)
        folder = survey.folder
    folder = folder or ladder.shelf.folder / "reports" / path_of_list(entries, name, ladder).stem
    return Yields(tuple(entries), title, folder, ladder, survey)
