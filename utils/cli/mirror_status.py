"""``mirror status`` and ``mirror plan`` in words: what is here, how far behind, what it would take.

Whatever is behind is followed by the command that brings it up to date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import NotFound
from ..mirror.citation_table import Tables
from ..mirror.plan import CITATIONS_EDGES
from .output import counted, size_of, span

if TYPE_CHECKING:
    from ..mirror import Mirror
    from ..mirror.generations import Generation, Generations
    from ..mirror.plan import CitationsPlan, MirrorPlan

_SHOWN = 10  # files or articles that are set aside
_STATES = {"done": "read", "listed": "not read yet", "aside": "set aside", "vanished": "vanished"}
Line = tuple[str, str]


def status_row(mirror: Mirror) -> dict[str, Any]:
    """Return the status of a mirror as JSON."""
    current, fault = published_of(mirror.generations)
    return {
        "published": asdict(current) if current else None,
        **({"fault": fault} if fault else {}),
        "files": [asdict(file) for file in mirror.files()],
        "indexes": mirror.indexes(),
        "citations": mirror.citations_status(),
        "pmc": mirror.pmc_status(),
    }


def status_lines(mirror: Mirror) -> list[Line]:
    """Return the status of a mirror as labelled lines; empty where there is no mirror."""
    pubmed, fault = published_of(mirror.generations)
    pmc, pmc_fault = published_of(mirror.pmc_generations)
    current = [one for one in (pubmed, pmc) if one]
    lines = [*_pubmed(mirror, pubmed, fault), *_pmc(mirror, pmc, pmc_fault)]
    lines += [*_indexes(mirror, current), *_citations(mirror)]
    return lines


def published_of(generations: Generations) -> tuple[Generation | None, str]:
    """The generation that is published; or why it cannot be said which it is."""
    try:
        return generations.current(), ""
    except NotFound as error:
        return None, str(error)


def generation_text(generation: Generation) -> str:
    """A generation in words."""
    holes = counted(len(generation.missing), "file")
    lacks = f", not whole: {holes} lacking" if generation.missing else ""
    if generation.source == "pmc":
        return f"{generation.name}, {counted(generation.papers, 'full text')}"
    papers, files = counted(generation.papers, "paper"), counted(generation.files, "file")
    return f"{generation.name}, {papers} of {files}{lacks}"


def _pubmed(mirror: Mirror, current: Generation | None, fault: str) -> Iterator[Line]:
    files = mirror.files()
    if fault:
        yield "published", fault
    elif files and not current:
        yield "published", f"nothing yet; to go on: {command_line('mirror pubmed')}"
    for one in mirror.generations.all():
        mark = "published" if current and one.name == current.name else "here"
        yield mark, f"{generation_text(one)}; {size_of(one.bytes)}, made {one.made_at}"
    if files:
        states = {word: sum(one.state == state for one in files)
                  for state, word in _STATES.items()}  # fmt: skip
        counts = (f"{count:,} {word}" for word, count in states.items() if count)
        yield "files", f"{', '.join(counts)}; the last {max(one.at for one in files) or 'never'}"
    if outdated := sum(one.state == "done" and not one.is_read for one in files):
        anew = f"to read them again: {command_line('mirror pubmed')}"
        yield "outdated", f"{counted(outdated, 'file')} read by another reader; {anew}"
    aside = [(one.state, f"{one.name}: {one.reason}") for one in files
             if one.state in ("aside", "vanished")]  # fmt: skip
    yield from _some(aside)


def _pmc(mirror: Mirror, current: Generation | None, fault: str) -> Iterator[Line]:
    if fault:
        yield "pmc", fault
        return
    status = mirror.pmc_status()
    if current:
        yield (
            "pmc",
            (f"{generation_text(current)}; {size_of(current.bytes)}, made {current.made_at}"),
        )
    if outdated := status["outdated"]:
        yield (
            "outdated",
            (
                f"{outdated:,} batches read by another reader or other judges; "
                f"to judge them again: {command_line('mirror pmc')}"
            ),
        )
    if counts := status["articles"]:
        yield "articles", ", ".join(f"{n:,} {state}" for state, n in counts.items())
        if not current:
            yield "pmc", f"nothing published yet; to go on: {command_line('mirror pmc')}"
    yield from _some([(state, f"{name}: {reason}") for name, state, reason in status["aside"]])


def _some(lines: Sequence[Line]) -> Iterator[Line]:
    """The first ones, and how many more there are."""
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield "", f"… and {len(lines) - _SHOWN:,} more: {command_line('mirror status --json')}"


def _indexes(mirror: Mirror, current: Iterable[Generation]) -> Iterator[Line]:
    names, found = {one.name for one in current}, mirror.indexes()
    for name, generation in found.items():
        again = command_line("mirror embed" if "vectors" in name else "mirror index")
        behind = "" if generation in names else f", not of what is published: {again}"
        yield "index", f"{name}: {generation or 'not whole yet'}{behind}"
    if names and not found:
        yield "index", f"none; to find papers and passages in it: {command_line('mirror index')}"


def _citations(mirror: Mirror) -> Iterator[Line]:
    again = command_line("mirror citations")
    if Tables(mirror.folder).is_damaged:
        yield "citations", f"the published table is gone or damaged; to make it again: {again}"
    if not (found := mirror.citations_status()):
        return
    files = f"{counted(found['files'], 'file')}; {size_of(found['bytes'])}"
    text = f"{found['name']}, {counted(found['edges'], 'citation')} of {files}"
    yield "citations", f"{text}, made {found['made_at']}"
    yield "", f"NIH says {found['nih_occ']:,}, PubMed's records say {found['records']:,}"
    if found["gone"]:
        yield "", f"{counted(found['gone'], 'file')} of them gone; to make them again: {again}"
    if found["outdated"]:
        yield "", f"not of the records that are published: {again}"


def plan_lines(plan: MirrorPlan, citations: CitationsPlan) -> list[Line]:
    """A plan in words."""
    baseline = f"20{plan.year:02}, {plan.baseline:,} files of baseline" if plan.year else "unknown"
    sources = f" ({size_of(plan.kept_sources)} of it NLM's own files)" if plan.kept_sources else ""
    hours = f"{span(plan.core_hours * 3600)} of one core, {span(plan.hours * 3600)} of"
    words = f"by words {span(plan.search_hours * 3600)}, {size_of(plan.search_disk)}"
    meaning = f"by meaning {span(plan.vector_hours * 3600)}, {size_of(plan.vector_disk)}"
    lines = [("year", f"{baseline}; {plan.listed:,} listed with the updates")]
    if plan.files:
        lines += [
            ("to fetch", f"{counted(plan.files, 'file')}, {size_of(plan.size)}"),
            ("to read", f"{hours} {counted(plan.cores, 'core')}, by {plan.measured}"),
            ("disk", f"{size_of(plan.disk)}{sources}; free: {size_of(plan.free)}"),
            ("to search", f"{words}; {meaning} (or published vectors); of one core"),
        ]
    else:
        lines.append(("to fetch", f"nothing new; free on the disk: {size_of(plan.free)}"))
    return [*lines, *_citations_plan(citations)]


def _citations_plan(plan: CitationsPlan) -> Iterator[Line]:
    if plan.unknown:
        yield "citations", f"NIH's collection could not be looked at: {plan.unknown}"
    if not plan.edges:
        if not plan.unknown:
            yield "citations", "nothing new"
        return
    fetched = f"{size_of(plan.size)} to fetch (NIH, {plan.collection}); " if plan.size else ""
    about = "about " if plan.edges == CITATIONS_EDGES else ""
    work = f"{span(plan.core_hours * 3600)} of one core, by {plan.measured}"
    edges = f"{about}{counted(plan.edges, 'citation')}"
    yield "citations", f"{fetched}{edges}: at most {work}; {size_of(plan.disk)}"
