"""How a harvest stands, for a model.

What came from where, why the rest has no text, which site is waited for and until when, and the
call to make next.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.types import Annotations, ResourceLink

from ..errors import BadRequest
from ..model.job import Coverage, Harvested, Job, Standing, Wait
from ..reports.coverage import Page, page_of, paper_row, reasons, sources
from ..reports.labels import counted, route_label
from ..reports.page import PASSING, cut_line
from .answers import with_blocks
from .harvests import State
from .long_calls import LONGEST_WAIT_S

if TYPE_CHECKING:
    from ..harvest.jobs import Harvest

_NOTES, _NOTE = 5, 300
_TITLE = 100  # characters: a page of them is read by a model
_STAND_INS = ("preprint", "accepted")


@dataclass(frozen=True, slots=True)
class Status:
    """How a harvest stands at one moment.

    Parameters
    ----------
    job : Job
    standing : Standing
    coverage : Coverage
    eta_s : float or None
        The seconds left, where they are known.
    report : str
        The address of its report; empty while there is none.
    show : str
        Which papers are named: ``retrieved``, ``not_retrieved``, or a reason; empty for none.
    page : Page
        Those papers.
    """

    job: Job
    standing: Standing
    coverage: Coverage
    eta_s: float | None
    report: str
    show: str
    page: Page

    @property
    def waits(self) -> tuple[Wait, ...]:
        """The sites that papers wait for now."""
        return self.job.waits if self.standing == "running" else ()

    @property
    def notes(self) -> list[str]:
        """What has to be known about the whole harvest, bounded."""
        return [cut_line(note, _NOTE) for note in self.job.notes[:_NOTES]]

    def row(self) -> dict[str, Any]:
        """All of it."""
        shown = {"papers": [*map(_paper, self.page.rows)], "next_start": self.page.next_start}
        return {
            "job_id": self.job.job_id,
            "state": self.standing,
            "counts": self.job.row(),
            "eta_s": None if self.eta_s is None else round(self.eta_s),
            "sources": sources(self.coverage),
            "reasons": reasons(self.coverage),
            "waits": [*map(_wait_row, self.waits)],
            **({"notes": self.notes} if self.notes else {}),
            **(shown if self.show else {}),
            "report": self.report,
            "next": self.steps(),
        }

    def steps(self) -> list[str]:
        """The calls that help now, the first one most."""
        this = f'job_id="{self.job.job_id}"'
        steps = []
        if start := self.page.next_start:
            page = f'harvest_status({this}, show="{self.show}", start={start})'
            steps.append(f"{page}: the next page")
        if self.standing == "running":
            steps.append(f"harvest_status({this}, wait_s={LONGEST_WAIT_S:.0f})")
        elif self.standing != "done":
            steps.append(f"harvest_papers({this}): goes on where it stopped")
        else:
            steps += self._afterwards(this)
        return steps

    def _afterwards(self, this: str) -> list[str]:
        """What helps when all is through."""
        lacking, steps = self.coverage.reasons, []
        if passing := [reason for reason in PASSING if reason in lacking]:
            papers = counted(sum(lacking[reason] for reason in passing), "paper")
            retry = f'harvest_papers({this}, retry="{",".join(passing)}")'
            steps.append(f"{retry}: asks again for {papers} that may be had by now")
        if lacking and not self.show:
            papers = counted(sum(lacking.values()), "paper")
            steps.append(f'harvest_status({this}, show="not_retrieved"): names the {papers}')
        return steps


def status_of(
    harvest: Harvest, eta_s: float | None, *, show: str = "", start: int = 0, most: int = 20
) -> Status:
    """How a harvest stands; with *show* a page of its papers, from number *start* on.

    Raises
    ------
    BadRequest
        No paper of any harvest can be what *show* says.
    """
    job, coverage = harvest.job(), harvest.ledger.coverage()
    standing = job.standing(running=harvest.ledger.running())
    there = (harvest.folder / "report.html").exists()
    return Status(
        job,
        standing,
        coverage,
        eta_s if standing == "running" else None,
        f"papers://report/{job.job_id}" if there else "",
        show,
        _page(harvest, coverage, show, start, most),
    )


def status_answer(status: Status, before: str = "") -> State:
    """A status as a tool's answer; *before* says what was just done."""
    structure = cast("State", {**({"done": before} if before else {}), **status.row()})
    return with_blocks(structure, [_link_to(status.report)] if status.report else [])


def _page(harvest: Harvest, coverage: Coverage, show: str, start: int, most: int) -> Page:
    """The papers that *show* names."""
    from ..harvest.jobs import OUTCOMES

    if not show:
        return Page([], None)
    rows = harvest.ledger.rows
    if show == "retrieved":
        return page_of(rows, "retrieved", start=start, most=most)
    if show == "not_retrieved":
        return page_of(rows, "not_retrieved", start=start, most=most)
    if show in coverage.reasons:
        return page_of(rows, "not_retrieved", start=start, most=most, reason=show)
    if show in OUTCOMES:
        return Page([], None)  # papers can end so, and none of these did
    msg = f"No paper of this harvest is {show!r}."
    choices = ", ".join(("retrieved", "not_retrieved", *reasons(coverage)))
    raise BadRequest(msg, f"Choose among {choices}.")


def _paper(row: Harvested) -> dict[str, Any]:
    """A paper of a page: where its text is from, or why there is none."""
    made = paper_row(row)
    made["title"] = cut_line(made["title"], _TITLE)
    if row.state != "full_text":
        return {**made, "reason": row.reason}
    stand_in = {"version": row.version} if row.version in _STAND_INS else {}
    doubts = {"doubts": row.detail} if row.reason == "doubtful" else {}
    return {**made, "source": route_label(row.via), **stand_in, **doubts}


def _wait_row(wait: Wait) -> dict[str, Any]:
    """A site that papers wait for; what is not known about it is left out."""
    return {name: value for name, value in asdict(wait).items() if value != ""}


def _link_to(report: str) -> ResourceLink:
    return ResourceLink(
        type="resource_link",
        uri=report,
        name="report.html",
        title="Report of the harvest",
        mime_type="text/html",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )
