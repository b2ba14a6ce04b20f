"""What each chart shows, said in a sentence that the numbers bear out.

A sentence is only made when enough papers stand behind it; otherwise the chart has a plain title.
"""

from __future__ import annotations

from collections import Counter

from .figures import Figures, Split
from .labels import ASIDE, counted, license_group, route_label, share
from .reasons import reason_for

_ENOUGH = 20  # papers in a decade before it is compared
_APART = 0.1  # of coverage, before a difference is worth a sentence


def headline(figures: Figures) -> str:
    """The one sentence to remember."""
    total, ended, full = figures.total, figures.ended, figures.states["full_text"]
    if not total:
        return "No papers in this harvest"
    if ended < total:
        if not ended:
            return f"{counted(total, 'paper')} to come"
        return f"So far, full text for {full:,} of {counted(ended, 'paper')} tried"
    if total == 1:
        return "Full text for the one paper asked for" if full else "No full text for the one paper"
    if full == total:
        return f"Full text for all {total:,} papers"
    if not full:
        return f"No full text for any of {total:,} papers"
    return f"Full text for {full:,} of {total:,} papers"


def of_years(figures: Figures) -> str:
    """The decades covered best and worst."""
    decades: dict[str, Split] = {}
    for year, split in figures.years.items():
        if year:
            decades.setdefault(f"{year[:3]}0s", Counter()).update(split)
    covered = {
        decade: split["full_text"] / ended
        for decade, split in decades.items()
        if (ended := split.total() - split["pending"]) >= _ENOUGH
    }
    if len(covered) > 1:
        best, worst = max(covered, key=covered.__getitem__), min(covered, key=covered.__getitem__)
        if covered[best] - covered[worst] >= _APART:
            return (
                f"{100 * covered[best]:.0f} % of papers from the {best} have full text, "
                f"{100 * covered[worst]:.0f} % of those from the {worst}"
            )
    return "Papers and full text by year of publication"


def of_journals(figures: Figures, shown: int) -> str:
    """How much of the corpus the largest journals hold."""
    sizes = sorted((s.total() for name, s in figures.journals.items() if name), reverse=True)
    if not sizes:
        return "No journals are known"
    if len(sizes) == 1:
        return "All in one journal"
    if len(sizes) <= shown:
        return f"The papers come from {counted(len(sizes), 'journal')}"
    largest = share(sum(sizes[:shown]), figures.total)
    return f"The {shown} largest of {len(sizes):,} journals hold {largest} of the papers"


def of_sources(figures: Figures) -> str:
    """Who supplied most texts."""
    total = figures.via.total()
    if not total:
        return "No source had a full text"
    by_label = Counter[str]()
    for via, n in figures.via.items():
        by_label[route_label(via).split(" (")[0]] += n
    [(name, n)] = by_label.most_common(1)
    if n == total:
        return f"All full texts came from one source: {name}"
    return f"{share(n, total)} of the full texts came from one source: {name}"


def of_versions(figures: Figures) -> str:
    """How many texts are not the published version; empty when none is known to be another."""
    total = figures.versions.total()
    told = [f"{name.lower()}: {n:,}" for key, name in ASIDE.items() if (n := figures.versions[key])]
    if not told:
        return ""
    return f"Not every text is the published version. Of {total:,} full texts, {', '.join(told)}."


def of_licenses(figures: Figures) -> str:
    """How much may be passed on."""
    total = figures.licenses.total()
    free = sum(n for text, n in figures.licenses.items() if license_group(text)[0].startswith("CC"))
    if not total:
        return "No full text, hence no licenses"
    if not free:
        return "No full text carries an open license"
    return f"{share(free, total)} of the full texts carry an open license"


def of_reasons(figures: Figures) -> str:
    """The reason most texts are missing for."""
    total = figures.missing.total
    if not total:
        return "No full text is missing" if figures.ended else "Nothing is known to be missing yet"
    name, split = max(figures.reasons.items(), key=lambda item: item[1].total())
    told = f"“{reason_for(name).name}”"
    if split.total() == total:
        return f"{counted(total, 'text')} missing, for one reason: {told}"
    return f"{told} explains {share(split.total(), total)} of {counted(total, 'missing text')}"
