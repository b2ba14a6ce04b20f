"""A year's files as a chain: is its baseline whole, and which updates follow without a gap.

Whether a baseline is whole is never guessed: NLM's notice names its last file, and so does the
first update, whose number is the next one. A file that is set aside leaves a hole that is named,
and the rest goes on; one that could only not be reached holds back what follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .manifest import SourceFile


@dataclass(slots=True)
class Chain:
    """The files that a generation can be made of, holes with their reasons, what it waits for.

    ``waits_for`` is empty where it can be made; ``holds_back`` counts files behind one that could
    not be reached.
    """

    year: int
    files: list[SourceFile] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    waits_for: str = ""
    holds_back: int = 0
    hole_in_baseline: bool = False


def chains(files: Sequence[SourceFile], last: Mapping[int, int]) -> Iterator[Chain]:
    """The chain of each year there are files of, the newest first.

    Parameters
    ----------
    files : sequence of SourceFile
        All that are known.
    last : mapping of int
        The number of a baseline's last file by its year, of years of which that is known.
    """
    for year in sorted({file.year for file in files}, reverse=True):
        of_year = {file.number: file for file in files if file.year == year}
        yield _chain(year, of_year, last.get(year, 0))


def _chain(year: int, files: dict[int, SourceFile], last: int) -> Chain:
    made = Chain(year)
    updates = [number for number, file in files.items() if file.folder != "baseline"]
    last = last or (min(updates) - 1 if updates else 0)
    if not last:
        made.waits_for = f"a word on which file is the last of 20{year:02}'s baseline"
        return made
    for number in range(1, max(files) + 1):
        file = files.get(number)
        name = file.name if file else f"pubmed{year:02}n{number:04}.xml.gz"
        if file and file.is_read:
            made.files.append(file)
        elif file and file.state in ("aside", "vanished"):
            made.missing[name] = file.reason
            made.hole_in_baseline |= number <= last
        elif number <= last:
            made.waits_for = f"{name} of the baseline, {'not read' if file else 'not listed'} yet"
            return made
        elif file:  # could not be reached, this time
            made.holds_back = sum(other >= number for other in files)
            return made
        else:
            made.missing[name] = "It was not listed."
    if max(files) < last:
        made.waits_for = (
            f"pubmed{year:02}n{max(files) + 1:04}.xml.gz of the baseline, not listed yet"
        )
    return made
