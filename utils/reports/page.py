"""``report.html``: the figures of a harvest, and what to do next, with commands to copy.

The file loads nothing: style and drawings are in it, there are no scripts, and a content security
policy with the checksum of the style forbids the rest. Jinja escapes every text from outside.
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
from .charts import Bar, bar
from .figures import STATES, Figures, Split
from .labels import STAND_INS, best_link, counted, links, reason_for, shelf_link
from .library_links import ReadersLibrary
from .lock_file import NAME as LOCK
from .prisma import Flow, svg

TEMPLATES = Path(__file__).parent / "templates"
_MOST_JOURNALS = 15
_MOST_REASONS = 12
_MOST_ROUTES = 12
_MADE_AT = re.compile(r'<meta name="date" content="([0-9T:.+-]{1,40})">')
_TITLE = 400  # characters of a title; some are whole abstracts
# Outcomes that may be other ones tomorrow, though nobody did anything.
PASSING = (
    "unreachable",
    "could_not_tell",
    *(name for name, meaning in MEANINGS.items() if meaning.passing),
)
# Texts a person with a browser or a library can have.
BY_HAND = tuple(name for name, meaning in MEANINGS.items() if meaning.by_hand)


def page(
    job: Job,
    figures: Figures,
    flow: Flow,
    library: ReadersLibrary,
    beside: Sequence[str],
    made_at: str,
) -> str:
    """The page, with the PRISMA drawing in it.

    *library* gets its own link for each missing paper; *beside* are the names of the files that
    not every report has.
    """
    return styled(
        "report.html",
        job=job,
        figures=figures,
        library=library,
        beside=beside,
        made_at=made_at,
        # Ours, and escaped where they are made.
        prisma=Markup(svg(flow, job.title)),  # noqa: S704
        **_sections(job, figures),
    )


def styled(template: str, **filled: Any) -> str:
    """A page of ours, with the one style in it and its checksum."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # Ours, from the file beside this one.
    return _template(template).render(style=Markup(style), style_hash=digest, **filled)  # noqa: S704


def made_at(page: str) -> str:
    """The moment at which a page says it was made; empty if it does not say."""
    found = _MADE_AT.search(page)
    return found[1] if found else ""


@cache
def _template(name: str) -> Template:
    """A page's template, compiled once: that takes longer than filling it."""
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "shortened": cut_line,
        "day": _day,
        "share": labels.share,
        "counted": labels.counted,
        "duration": labels.duration,
        "route": labels.route_label,
        "reason": reason_for,
    }
    jinja.globals |= {
        "command_line": command_line,
        "links": links,
        "best_link": best_link,
        "shelf_link": shelf_link,
    }
    jinja.globals |= {"aside": {version: VERSION_NAMES[version] for version in labels.STAND_INS}}
    return jinja.get_template(name)


def _sections(job: Job, figures: Figures) -> dict[str, Any]:
    ran = _seconds_between(job.begun_at, job.ended_at)
    return {
        "states": STATES,
        "state_labels": labels.STATE_LABELS,
        "headline": charts.headline(figures),
        "whole": bar("all papers", figures.states, figures.total),
        "ran": labels.duration(ran) if ran is not None else "",
        "years": charts.columns(figures.years, datetime.now(UTC).year),
        "years_finding": charts.describe_years(figures),
        "journals": (journals := _journals(figures)),
        "journal_rows": [(row.name, row.split) for row in journals],
        "journals_finding": charts.describe_journals(figures, _MOST_JOURNALS),
        "sources": _sources(figures),
        "sources_finding": charts.describe_sources(figures),
        "versions_finding": charts.describe_versions(figures),
        "routes": _routes(figures),
        "licenses": _licenses(figures),
        "licenses_finding": charts.describe_licenses(figures),
        "reasons": _reasons(figures),
        "reasons_finding": charts.describe_reasons(figures),
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
        made.append(
            Bar(labels.counted(len(rest), "other journal"), _sum_splits(s for _, s in rest), ())
        )
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
        reason = reason_for(name)
        made.append((bar(reason.name, split, longest), reason.meaning, reason.advice))
    if rest := ordered[_MOST_REASONS:]:
        split = _sum_splits(split for _, split in rest)
        words = "Each of them concerns few papers; not_retrieved.csv names them all."
        made.append((bar(labels.counted(len(rest), "other reason"), split, longest), words, ""))
    return made


def _sum_splits(splits: Iterable[Mapping[str, int]]) -> Split:
    made: Split = Counter()
    for split in splits:
        made.update(split)
    return made


def cut_line(text: str, most: int = _TITLE) -> str:
    """A text from outside, on one line and not endless; Jinja escapes it."""
    line = one_line(clean_text(text))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _day(moment: str) -> str:
    """``2026-11-21T16:36:51+00:00`` as people write it; what is no time is shown as it is."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return cut_line(moment, 40)
    at = at.astimezone(UTC) if at.tzinfo else at
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def _seconds_between(begun: str, ended: str) -> float | None:
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    except (ValueError, TypeError):
        return None


class Step(NamedTuple):
    """A thing to do: what, why, and the command if there is one."""

    title: str
    words: str
    command: str = ""


def next_steps(job: Job, figures: Figures) -> list[Step]:
    """What is worth doing now, the most useful first."""
    again = command_line(f"harvest --job {shlex.quote(job.job_id)}")
    if not figures.total:
        words = "Nothing was found or handed in. Check the spelling, the dates and the field tags."
        command = command_line("search 'words of your question'")
        return [Step("Ask differently", words, command)]
    steps = []
    if pending := figures.states["pending"]:
        words = f"{counted(pending, 'paper')} not tried yet. Nothing that is done is done again."
        steps.append(Step("Go on with this harvest", words, again))
    passing = [name for name in PASSING if figures.reasons.get(name)]
    if passing:
        number = counted(_count_papers(figures, PASSING), "paper")
        words = f"{number} failed for reasons that may pass by themselves."
        command = f"{again} --retry {','.join(passing)}"
        steps.append(Step("Try again what may have been bad luck", words, command))
    if by_hand := _count_papers(figures, BY_HAND):
        words = (
            f"{counted(by_hand, 'text')} can probably be had in a browser or through a library. "
            "Leave this running, open the links of worklist.html and save each PDF: it is matched "
            "to its paper, checked, filed as added by hand, and ticked off."
        )
        command = command_line("harvest inbox --watch --folder ~/Downloads")
        steps.append(Step("Fetch the rest by hand", words, command))
    if by_hand or figures.reasons.get("not_offered"):
        words = (
            "Send not_retrieved.ris to your library for interlibrary loan, or ask the authors for "
            "a copy."
        )
        steps.append(Step("Ask your library, or the authors", words))
    lacking = [state for state in ("abstract", "record") if figures.states[state]]
    if lacking:
        number = counted(sum(figures.states[state] for state in lacking), "paper")
        words = (
            f"{number} with an abstract or a record only: embargoes end and authors "
            "deposit copies, so a second look in some months finds more."
        )
        steps.append(Step("Look again later", words, f"{again} --retry {','.join(lacking)}"))
    if stand_ins := [version for version in STAND_INS if figures.versions[version]]:
        number = counted(sum(figures.versions[version] for version in stand_ins), "text")
        words = (
            f"{number} not the published version. Papers whose published version was asked for "
            "may have it by now; the texts that are here stay."
        )
        command = f"{again} --retry {','.join(stand_ins)}"
        steps.append(Step("Look for the published versions", words, command))
    words = (
        f"{LOCK} names every paper and the checksum of its text. With it, a colleague builds "
        "the same corpus and sees what changed since."
    )
    command = command_line(f"harvest --lock {LOCK}")
    steps.append(Step("Let others build the same corpus", words, command))
    return steps


def _count_papers(figures: Figures, reasons: tuple[str, ...]) -> int:
    return sum(figures.reasons[name].total() for name in reasons if name in figures.reasons)
