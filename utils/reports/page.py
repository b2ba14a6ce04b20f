"""Render ``report.html``: the figures of a harvest and the next steps, with commands to copy.

The file is self-contained: style and drawings are inlined and there are no scripts. A content
security policy with the checksum of the style forbids everything else. Jinja escapes every text.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from ..command_line import command_line
from ..model.job import Job
from ..model.verdicts import MEANINGS
from ..model.versions import VERSION_NAMES
from ..system.plain_text import clean_text, one_line
from . import charts, labels
from .charts import ChartBar, build_chart_bar
from .figures import STATES, HarvestFigures, Split
from .labels import (
    STAND_INS,
    build_paper_links,
    build_search_link,
    build_shelf_link,
    get_missing_reason,
    pluralize,
)
from .library_links import ReadersLibrary
from .lock_file import LOCK_FILE as LOCK
from .prisma import PrismaFlow, render_svg

TEMPLATES = Path(__file__).parent / "templates"
_MAX_JOURNALS = 15
_MAX_REASONS = 12
_MAX_ROUTES = 12
_MADE_AT = re.compile(r'<meta name="date" content="([0-9T:.+-]{1,40})">')
_TITLE_MAX_CHARS = 400  # characters of a title; some are whole abstracts
# Outcomes that may change without any action.
PASSING_REASONS = (
    "unreachable",
    "could_not_tell",
    *(name for name, meaning in MEANINGS.items() if meaning.passing),
)
# Outcomes of texts that a person can get with a browser or through a library.
BY_HAND_REASONS = tuple(name for name, meaning in MEANINGS.items() if meaning.by_hand)


def render_report(
    job: Job,
    figures: HarvestFigures,
    flow: PrismaFlow,
    library: ReadersLibrary,
    beside: Sequence[str],
    made_at: str,
) -> str:
    """Render the report page, with the PRISMA drawing in it.

    *library* supplies a link for each missing paper. *beside* lists the optional files that this
    report has.
    """
    return render_template(
        "report.html",
        job=job,
        figures=figures,
        library=library,
        beside=beside,
        made_at=made_at,
        # Trusted: `render_svg` escapes every text.
        prisma=Markup(render_svg(flow, job.title)),  # noqa: S704
        **_build_page_sections(job, figures),
    )


def render_template(template: str, **filled: Any) -> str:
    """Render a template with the shared style inlined, and the style's checksum."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # Trusted: the style is from this package's files.
    return _compile_template(template).render(style=Markup(style), style_hash=digest, **filled)  # noqa: S704


def parse_creation_date(page: str) -> str:
    """Return the creation date stated in a page; empty if missing."""
    found = _MADE_AT.search(page)
    return found[1] if found else ""


@cache
def _compile_template(name: str) -> Template:
    """Return the compiled template of a page; compiling takes longer than rendering."""
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "shortened": shorten_to_line,
        "day": _format_date_for_readers,
        "share": labels.format_share,
        "counted": labels.pluralize,
        "duration": labels.format_duration,
        "route": labels.get_route_label,
        "reason": get_missing_reason,
    }
    jinja.globals |= {
        "command_line": command_line,
        "links": build_paper_links,
        "best_link": build_search_link,
        "shelf_link": build_shelf_link,
    }
    jinja.globals |= {"aside": {version: VERSION_NAMES[version] for version in labels.STAND_INS}}
    return jinja.get_template(name)


def _build_page_sections(job: Job, figures: HarvestFigures) -> dict[str, Any]:
    ran = _measure_seconds(job.begun_at, job.ended_at)
    return {
        "states": STATES,
        "state_labels": labels.STATE_LABELS,
        "headline": charts.describe_coverage(figures),
        "whole": build_chart_bar("all papers", figures.states, figures.total),
        "ran": labels.format_duration(ran) if ran is not None else "",
        "years": charts.build_year_chart(figures.years, datetime.now(UTC).year),
        "years_finding": charts.describe_years(figures),
        "journals": (journals := _build_journal_bars(figures)),
        "journal_rows": [(row.name, row.split) for row in journals],
        "journals_finding": charts.describe_journals(figures, _MAX_JOURNALS),
        "sources": _build_source_bars(figures),
        "sources_finding": charts.describe_sources(figures),
        "versions_finding": charts.describe_versions(figures),
        "routes": _build_route_rows(figures),
        "licenses": _build_license_bars(figures),
        "licenses_finding": charts.describe_licenses(figures),
        "reasons": _build_reason_bars(figures),
        "reasons_finding": charts.describe_reasons(figures),
        "timeline": charts.build_timeline(figures.times),
        "size": charts,
        "steps": list_next_steps(job, figures),
    }


def _build_journal_bars(figures: HarvestFigures) -> list[ChartBar]:
    """Return bars of the largest journals, then one row for the rest."""
    named = [(name, split) for name, split in figures.journals.items() if name]
    named.sort(key=lambda item: (-item[1].total(), item[0]))
    rows = named[:_MAX_JOURNALS]
    longest = max((split.total() for _, split in rows), default=0)
    made = [build_chart_bar(name, split, longest) for name, split in rows]
    if rest := named[_MAX_JOURNALS:]:
        # No bar: the sum of a thousand small journals would dwarf the large ones.
        made.append(
            ChartBar(
                labels.pluralize(len(rest), "other journal"),
                _sum_state_counts(s for _, s in rest),
                (),
            )
        )
    if unknown := figures.journals.get(""):
        made.append(ChartBar("Journal unknown", unknown, ()))
    return made


def _build_source_bars(figures: HarvestFigures) -> list[ChartBar]:
    most = figures.via.most_common(_MAX_ROUTES)
    longest = most[0][1] if most else 0
    return [
        build_chart_bar(labels.get_route_label(via), Counter(full_text=n), longest)
        for via, n in most
    ]


def _build_route_rows(figures: HarvestFigures) -> list[tuple[str, int, int, str]]:
    """Return for each route: papers tried, texts supplied, other outcomes."""
    rows = []
    for name, outcomes in figures.routes.items():
        other = [
            f"{outcome.replace('_', ' ')} {n:,}"
            for outcome, n in outcomes.most_common()
            if outcome != "saved"
        ]
        rows.append(
            (
                labels.get_route_label(name),
                outcomes.total(),
                outcomes["saved"],
                ", ".join(other[:6]),
            )
        )
    return sorted(rows, key=lambda row: (-row[2], -row[1], row[0]))[:20]


def _build_license_bars(figures: HarvestFigures) -> list[tuple[ChartBar, str]]:
    groups: Counter[tuple[str, str]] = Counter()
    for text, n in figures.licenses.items():
        groups[labels.describe_license(text)] += n
    longest = max(groups.values(), default=0)
    last = (labels.OTHER_TERMS, labels.NO_LICENSE_STATED)
    ordered = sorted(groups.items(), key=lambda item: (item[0] in last, -item[1], item[0]))
    return [
        (build_chart_bar(name, Counter(full_text=n), longest), terms)
        for (name, terms), n in ordered
    ]


def _build_reason_bars(figures: HarvestFigures) -> list[tuple[ChartBar, str, str]]:
    """Return for each reason a bar, its meaning and its advice."""
    ordered = sorted(figures.reasons.items(), key=lambda item: (-item[1].total(), item[0]))
    longest = ordered[0][1].total() if ordered else 0
    made = []
    for name, split in ordered[:_MAX_REASONS]:
        reason = get_missing_reason(name)
        made.append((build_chart_bar(reason.name, split, longest), reason.meaning, reason.advice))
    if rest := ordered[_MAX_REASONS:]:
        split = _sum_state_counts(split for _, split in rest)
        words = "Each of these reasons concerns few papers; not_retrieved.csv lists all papers."
        made.append(
            (
                build_chart_bar(labels.pluralize(len(rest), "other reason"), split, longest),
                words,
                "",
            )
        )
    return made


def _sum_state_counts(splits: Iterable[Mapping[str, int]]) -> Split:
    made: Split = Counter()
    for split in splits:
        made.update(split)
    return made


def shorten_to_line(text: str, most: int = _TITLE_MAX_CHARS) -> str:
    """Return a text on one line of limited length."""
    line = one_line(clean_text(text))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _format_date_for_readers(moment: str) -> str:
    """Return ``2026-11-21T16:36:51+00:00`` as a date for readers; other text is unchanged."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return shorten_to_line(moment, 40)
    at = at.astimezone(UTC) if at.tzinfo else at
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _measure_seconds(begun: str, ended: str) -> float | None:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    except (ValueError, TypeError):
        return None


class NextStep(NamedTuple):
    """A next step: title, explanation, and the command if there is one."""

    title: str
    words: str
    command: str = ""


def list_next_steps(job: Job, figures: HarvestFigures) -> list[NextStep]:
    """Return the useful next steps, the most useful first."""
    again = command_line(f"harvest --job {shlex.quote(job.job_id)}")
    if not figures.total:
        words = "No papers were found or given. Check the spelling, the dates and the field tags."
        command = command_line("search 'words of your question'")
        return [NextStep("Change the query", words, command)]
    steps = []
    if pending := figures.states["pending"]:
        words = f"{pluralize(pending, 'paper')} not tried yet. Finished papers are not repeated."
        steps.append(NextStep("Continue this harvest", words, again))
    passing = [name for name in PASSING_REASONS if figures.reasons.get(name)]
    if passing:
        number = pluralize(_count_papers_with_reasons(figures, PASSING_REASONS), "paper")
        words = f"{number} failed for reasons that may be temporary."
        command = f"{again} --retry {','.join(passing)}"
        steps.append(NextStep("Retry temporary failures", words, command))
    if by_hand := _count_papers_with_reasons(figures, BY_HAND_REASONS):
        words = (
            f"{pluralize(by_hand, 'text')} can probably be downloaded in a browser or through a "
            "library. "
            "Leave this running, open the links of worklist.html and save each PDF: it is matched "
            "to its paper, checked, filed as added by hand, and ticked off."
        )
        command = command_line("harvest inbox --watch --folder ~/Downloads")
        steps.append(NextStep("Download the rest by hand", words, command))
    if by_hand or figures.reasons.get("not_offered"):
        words = (
            "Send not_retrieved.ris to your library for interlibrary loan, or ask the authors for "
            "a copy."
        )
        steps.append(NextStep("Ask your library, or the authors", words))
    lacking = [state for state in ("abstract", "record") if figures.states[state]]
    if lacking:
        number = pluralize(sum(figures.states[state] for state in lacking), "paper")
        words = (
            f"{number} with an abstract or a record only: embargoes end and authors "
            "deposit copies, so another try in some months finds more."
        )
        steps.append(NextStep("Try again later", words, f"{again} --retry {','.join(lacking)}"))
    if stand_ins := [version for version in STAND_INS if figures.versions[version]]:
        number = pluralize(sum(figures.versions[version] for version in stand_ins), "text")
        words = (
            f"{number} not the published version. The published version may be available by now; "
            "the present texts are kept."
        )
        command = f"{again} --retry {','.join(stand_ins)}"
        steps.append(NextStep("Look for the published versions", words, command))
    words = (
        f"{LOCK} names every paper and the checksum of its text. With it, a colleague builds "
        "the same corpus and sees what changed since."
    )
    command = command_line(f"harvest --lock {LOCK}")
    steps.append(NextStep("Let others build the same corpus", words, command))
    return steps


def _count_papers_with_reasons(figures: HarvestFigures, reasons: tuple[str, ...]) -> int:
    return sum(figures.reasons[name].total() for name in reasons if name in figures.reasons)
