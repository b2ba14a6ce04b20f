"""Describe a mirror's status and plan: contents, outdated parts, and expected effort.

Whatever is behind is followed by the command that brings it up to date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import NotFound
from ..mirror.citation_table import get_pointer
from ..mirror.plan import CITATIONS_EDGES
from .output import format_bytes, format_duration, pluralize

if TYPE_CHECKING:
    from ..mirror import Mirror
    from ..mirror.generations import Generation, Generations
    from ..mirror.plan import CitationsPlan, MirrorPlan, PmcPlan

_MAX_ASIDE = 10  # files or articles that are set aside
_STATES = {"done": "read", "listed": "not read yet", "aside": "set aside", "vanished": "vanished"}
Line = tuple[str, str]


def to_status_row(mirror: Mirror) -> dict[str, Any]:
    """Return the status of a mirror as JSON."""
    current, fault = find_published(mirror.generations)
    return {
        "published": asdict(current) if current else None,
        **({"fault": fault} if fault else {}),
        "files": [asdict(file) for file in mirror.files()],
        "indexes": mirror.indexes(),
        "citations": mirror.citations_status(),
        "pmc": mirror.pmc_status(),
    }


def format_status(mirror: Mirror) -> list[Line]:
    """Return the status of a mirror as labelled lines; empty without a mirror."""
    pubmed, fault = find_published(mirror.generations)
    pmc, pmc_fault = find_published(mirror.pmc_generations)
    current = [one for one in (pubmed, pmc) if one]
    lines = [*_format_pubmed(mirror, pubmed, fault), *_format_pmc(mirror, pmc, pmc_fault)]
    lines += [*_format_indexes(mirror, current), *_format_citations(mirror)]
    return lines


def find_published(generations: Generations) -> tuple[Generation | None, str]:
    """Return the published generation, or the reason why it is unknown."""
    try:
        return generations.get_published(), ""
    except NotFound as error:
        return None, error.text


def describe_generation(generation: Generation) -> str:
    """Return a generation in words."""
    holes = pluralize(len(generation.missing), "file")
    lacks = f", incomplete: {holes} missing" if generation.missing else ""
    if generation.source == "pmc":
        return f"{generation.name}, {pluralize(generation.papers, 'full text')}"
    papers, files = pluralize(generation.papers, "paper"), pluralize(generation.files, "file")
    return f"{generation.name}, {papers} of {files}{lacks}"


def _format_pubmed(mirror: Mirror, current: Generation | None, fault: str) -> Iterator[Line]:
    files = mirror.files()
    if fault:
        yield "published", fault
    elif files and not current:
        yield "published", f"nothing yet; to go on: {command_line('mirror pubmed')}"
    for one in mirror.generations.list_generations():
        mark = "published" if current and one.name == current.name else "here"
        yield mark, _describe_stored_generation(one)
    if files:
        states = {word: sum(one.state == state for one in files)
                  for state, word in _STATES.items()}  # fmt: skip
        counts = (f"{count:,} {word}" for word, count in states.items() if count)
        yield "files", f"{', '.join(counts)}; the last {max(one.at for one in files) or 'never'}"
    outdated = sum(one.state == "done" and not one.is_read for one in files)
    yield from _format_outdated(outdated, "file", "mirror pubmed")
    aside = [(one.state, f"{one.name}: {one.reason}") for one in files
             if one.state in ("aside", "vanished")]  # fmt: skip
    yield from _limit_lines(aside)


def _format_pmc(mirror: Mirror, current: Generation | None, fault: str) -> Iterator[Line]:
    if fault:
        yield "pmc", fault
        return
    status = mirror.pmc_status()
    if current:
        yield "pmc", _describe_stored_generation(current)
    yield from _format_outdated(status["outdated"], "bundle", "mirror pmc")
    if counts := status["articles"]:
        yield "articles", ", ".join(f"{n:,} {state}" for state, n in counts.items())
        if not current:
            yield "pmc", f"nothing published yet; to go on: {command_line('mirror pmc')}"
    yield from _limit_lines(
        [(state, f"{name}: {reason}") for name, state, reason in status["aside"]]
    )


def _describe_stored_generation(generation: Generation) -> str:
    """Return a generation in words, with its bytes and its time."""
    size = format_bytes(generation.bytes)
    return f"{describe_generation(generation)}; {size}, made {generation.made_at}"


def _format_outdated(count: int, noun: str, command: str) -> Iterator[Line]:
    """Yield a line about files that were read by another version, if there are any."""
    if count:
        again = f"to read them again: {command_line(command)}"
        files = pluralize(count, noun)
        yield "outdated", f"{files} read by another version of the reader or judges; {again}"


def _limit_lines(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the first lines, and the number of further lines."""
    yield from lines[:_MAX_ASIDE]
    if len(lines) > _MAX_ASIDE:
        yield "", f"… and {len(lines) - _MAX_ASIDE:,} more: {command_line('mirror status --json')}"


def _format_indexes(mirror: Mirror, current: Iterable[Generation]) -> Iterator[Line]:
    names, found = {one.name for one in current}, mirror.indexes()
    for name, generation in found.items():
        again = command_line("mirror embed" if "vectors" in name else "mirror index")
        behind = (
            "" if generation in names else f", not up to date with the published mirror: {again}"
        )
        yield "index", f"{name}: {generation or 'incomplete'}{behind}"
    if names and not found:
        yield "index", f"none; to find papers and passages in it: {command_line('mirror index')}"


def _format_citations(mirror: Mirror) -> Iterator[Line]:
    again = command_line("mirror citations")
    if not (found := mirror.citations_status()):
        if get_pointer(mirror.folder).exists():
            yield "citations", f"the published table is damaged; to rebuild it: {again}"
        return
    files = f"{pluralize(found['files'], 'file')}; {format_bytes(found['bytes'])}"
    text = f"{found['name']}, {pluralize(found['edges'], 'citation')} of {files}"
    yield "citations", f"{text}, made {found['made_at']}"
    yield "", f"NIH says {found['nih_occ']:,}, PubMed's records say {found['records']:,}"
    if found["gone"]:
        yield "", f"{pluralize(found['gone'], 'file')} of them missing; to rebuild them: {again}"
    if found["outdated"]:
        yield "", f"not up to date with the published records: {again}"


def format_plan(plan: MirrorPlan, citations: CitationsPlan) -> list[Line]:
    """Return a plan as labelled lines."""
    baseline = f"20{plan.year:02}, {plan.baseline:,} files of baseline" if plan.year else "unknown"
    sources = (
        f" ({format_bytes(plan.kept_sources)} of it NLM's own files)" if plan.kept_sources else ""
    )
    words = (
        f"by words {format_duration(plan.search_hours * 3600)}, {format_bytes(plan.search_disk)}"
    )
    meaning = (
        f"by meaning {format_duration(plan.vector_hours * 3600)}, {format_bytes(plan.vector_disk)}"
    )
    lines = [("year", f"{baseline}; {plan.listed:,} listed with the updates")]
    if plan.files:
        fetched = f"{pluralize(plan.files, 'file')}, {format_bytes(plan.size)}"
        search = f"{words}; {meaning} (or published vectors); of one core"
        read, disk, in_all = format_effort(plan, sources)
        lines += [("to fetch", fetched), read, disk, ("to search", search), in_all]
    else:
        lines.append(("to fetch", f"nothing new; free on the disk: {format_bytes(plan.free)}"))
    return [*lines, *_format_citations_plan(citations)]


def format_effort(plan: MirrorPlan | PmcPlan, sources: str = "") -> list[Line]:
    """Return the hours and the space that a plan takes, and what is the longest step."""
    hours = (plan.core_hours, plan.hours, plan.end_hours)
    alone, together, until = (format_duration(one * 3600) for one in hours)
    cores = pluralize(plan.cores, "core")
    longest = f"; the longest step is {plan.bottleneck}" if plan.bottleneck else ""
    return [
        ("to read", f"{alone} of one core, {together} of {cores}, by {plan.measured}"),
        ("disk", f"{format_bytes(plan.disk)}{sources}; free: {format_bytes(plan.free)}"),
        ("in all", f"{until} on {cores} until papers are found by words{longest}"),
    ]


def _format_citations_plan(plan: CitationsPlan) -> Iterator[Line]:
    if plan.unknown:
        yield "citations", f"NIH's collection could not be checked: {plan.unknown}"
    if not plan.edges:
        if not plan.unknown:
            yield "citations", "nothing new"
        return
    fetched = f"{format_bytes(plan.size)} to fetch (NIH, {plan.collection}); " if plan.size else ""
    about = "about " if plan.edges == CITATIONS_EDGES else ""
    work = f"{format_duration(plan.core_hours * 3600)} of one core, by {plan.measured}"
    edges = f"{about}{pluralize(plan.edges, 'citation')}"
    yield "citations", f"{fetched}{edges}: at most {work}; {format_bytes(plan.disk)}"
