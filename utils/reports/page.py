"""``report.html``: one file made for looking, which asks nobody for anything.

Style and drawings are in the file, scripts there are none, and a content security policy with
the checksum of the style forbids the rest. Jinja escapes every text that comes from outside.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from ..model.job import Job
from ..model.versions import NAMES
from ..system.plain_text import clean_text, one_line
from . import charts, findings, labels
from .charts import Bar, bar
from .figures import STATES, Figures, Split
from .links import best_link, links, shelf_link
from .next_steps import next_steps
from .prisma import NARROW, Flow, svg
from .reasons import reason_for

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_JOURNALS = 15
_MOST_REASONS = 12
_MOST_ROUTES = 12
_MADE_AT = re.compile(r'<meta name="date" content="([0-9T:.+-]{1,40})">')
_TITLE = 400  # characters of a title; some are whole abstracts


def page(job: Job, figures: Figures, flow: Flow, references: Sequence[str], made_at: str) -> str:
    """The page, with the PRISMA drawing in it, once for a desk and once for a telephone.

    *references* are the names of reference lists that lie beside it.
    """
    return styled(
        "report.html",
        job=job,
        figures=figures,
        references=references,
        made_at=made_at,
        # Ours, and escaped where they are made.
        prisma=Markup(svg(flow, job.title)),  # noqa: S704
        prisma_narrow=Markup(svg(flow, job.title, NARROW)),  # noqa: S704
        **_sections(job, figures),
    )


def styled(template: str, **filled: Any) -> str:
    """A page of ours, with the one style in it and its checksum."""
    style = (_TEMPLATES / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # Ours, from the file beside this one.
    return _template(template).render(style=Markup(style), style_hash=digest, **filled)  # noqa: S704


def made_at(page: str) -> str:
    """When a page says it was made, as it was given; empty when it does not."""
    found = _MADE_AT.search(page)
    return found[1] if found else ""


@cache
def _template(name: str) -> Template:
    """Compiled once: that takes longer than to fill it."""
    jinja = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "said": _said,
        "day": _day,
        "share": labels.share,
        "counted": labels.counted,
        "lasted": labels.lasted,
        "route": labels.route_label,
        "reason": reason_for,
    }
    jinja.globals |= {"links": links, "best_link": best_link, "shelf_link": shelf_link}
    jinja.globals |= {"aside": {version: NAMES[version] for version in labels.ASIDE}}
    return jinja.get_template(name)


def _sections(job: Job, figures: Figures) -> dict[str, Any]:
    ran = _between(job.begun_at, job.ended_at)
    return {
        "states": STATES,
        "state_labels": labels.STATE_LABELS,
        "headline": findings.headline(figures),
        "whole": bar("all papers", figures.states, figures.total),
        "ran": labels.lasted(ran) if ran is not None else "",
        "years": charts.columns(figures.years, datetime.now(UTC).year),
        "years_finding": findings.of_years(figures),
        "journals": (journals := _journals(figures)),
        "journal_rows": [(row.name, row.split) for row in journals],
        "journals_finding": findings.of_journals(figures, _MOST_JOURNALS),
        "sources": _sources(figures),
        "sources_finding": findings.of_sources(figures),
        "versions_finding": findings.of_versions(figures),
        "routes": _routes(figures),
        "licenses": _licenses(figures),
        "licenses_finding": findings.of_licenses(figures),
        "reasons": _reasons(figures),
        "reasons_finding": findings.of_reasons(figures),
        "timeline": charts.timeline(figures.times),
        "size": charts,
        "steps": next_steps(job, figures),
    }


def _journals(figures: Figures) -> list[Bar]:
    """The largest journals, and below them the rest as one."""
    named = [(name, split) for name, split in figures.journals.items() if name]
    named.sort(key=lambda item: (-item[1].total(), item[0]))
    rows = named[:_MOST_JOURNALS]
    longest = max((split.total() for _, split in rows), default=0)
    made = [bar(name, split, longest) for name, split in rows]
    if rest := named[_MOST_JOURNALS:]:
        # Without a bar: a thousand small journals would dwarf the large ones, or break the scale.
        made.append(Bar(labels.counted(len(rest), "other journal"), _sum(s for _, s in rest), ()))
    if unknown := figures.journals.get(""):
        made.append(Bar("Journal unknown", unknown, ()))
    return made


def _sources(figures: Figures) -> list[Bar]:
    most = figures.via.most_common(_MOST_ROUTES)
    longest = most[0][1] if most else 0
    return [bar(labels.route_label(via), Counter(full_text=n), longest) for via, n in most]


def _routes(figures: Figures) -> list[tuple[str, int, int, str]]:
    """For each route: papers it was asked for, texts it brought, what else happened."""
    rows = []
    for name, outcomes in figures.routes.items():
        other = [
            f"{outcome.replace('_', ' ')} {n:,}"
            for outcome, n in outcomes.most_common()
            if outcome != "saved"
        ]
        rows.append(
            (labels.route_label(name), outcomes.total(), outcomes["saved"], ", ".join(other[:6]))
        )
    return sorted(rows, key=lambda row: (-row[2], -row[1], row[0]))[:20]


def _licenses(figures: Figures) -> list[tuple[Bar, str]]:
    groups: Counter[tuple[str, str]] = Counter()
    for text, n in figures.licenses.items():
        groups[labels.license_group(text)] += n
    longest = max(groups.values(), default=0)
    last = (labels.OTHER, labels.UNSTATED)
    ordered = sorted(groups.items(), key=lambda item: (item[0] in last, -item[1], item[0]))
    return [(bar(name, Counter(full_text=n), longest), terms) for (name, terms), n in ordered]


def _reasons(figures: Figures) -> list[tuple[Bar, str, str]]:
    """Why texts are missing: the bar, what the reason means, what to do."""
    ordered = sorted(figures.reasons.items(), key=lambda item: (-item[1].total(), item[0]))
    longest = ordered[0][1].total() if ordered else 0
    made = []
    for name, split in ordered[:_MOST_REASONS]:
        told = reason_for(name)
        made.append((bar(told.name, split, longest), told.meaning, told.advice))
    if rest := ordered[_MOST_REASONS:]:
        split = _sum(split for _, split in rest)
        words = "Each of them concerns few papers; not_retrieved.csv names them all."
        made.append((bar(labels.counted(len(rest), "other reason"), split, longest), words, ""))
    return made


def _sum(splits: Iterable[Mapping[str, int]]) -> Split:
    made: Split = Counter()
    for split in splits:
        made.update(split)
    return made


def _said(text: str, most: int = _TITLE) -> str:
    """A text from outside, on one line and not endless; Jinja escapes it."""
    line = one_line(clean_text(text))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _day(moment: str) -> str:
    """``2026-11-21T16:36:51+00:00`` as people write it; what is no time is shown as it is."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return _said(moment, 40)
    at = at.astimezone(UTC) if at.tzinfo else at
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _between(begun: str, ended: str) -> float | None:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    except (ValueError, TypeError):
        return None
