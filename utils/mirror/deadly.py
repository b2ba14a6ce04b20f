"""Find the articles of a bundle that kill the workers which read them, and set them aside.

The bundle is cut into ten pieces, each of which is read like a bundle of its own in a temporary
folder. A piece that kills its workers is cut into ten again, until single articles remain. So of
1,000 articles one is found in three rounds, and no more than the tenth around it is read again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..sources.pmc_inventory import ObjectVersion
from .bundles import Member, get_bundle_md5, read_members, write_bundle
from .engines import Lost, Run
from .parts import ReadJob
from .texts import read_texts

_PIECES = 10


def set_deadly_members_aside(bundle: Path, mirror: Path, run: Run) -> Path:
    """Write a bundle again in which articles that kill workers are set aside, with the reason.

    Returns
    -------
    Path
        The new bundle; the old one if each of its articles can be read.
    """
    with tempfile.TemporaryDirectory(dir=mirror, prefix=".deadly-") as place:
        members = read_members(bundle)
        deadly = _find_deadly_members(members, Path(place), run)
    made = [
        replace(one, state="aside", reason=deadly[one.listed], metadata=b"", xml=b"")
        if one.listed in deadly
        else one
        for one in members
    ]
    return write_bundle(made, bundle.parent, bundle.name.partition("-")[0]) if deadly else bundle


def _find_deadly_members(
    members: Sequence[Member], place: Path, run: Run
) -> dict[ObjectVersion, str]:
    """Return the articles that kill the workers which read them, each with the reason."""
    found: dict[ObjectVersion, str] = {}
    pieces = [[one for one in members if one.state == "text"]]
    while pieces:
        jobs = {job.name: (job, some) for some, job in _write_pieces(pieces, place)}
        pieces = []
        for made in run(read_texts, [job for job, _ in jobs.values()]):
            if isinstance(made, Lost):
                some = jobs[made.job.name][1]
                if len(some) == 1:
                    found[some[0].listed] = made.reason
                else:
                    pieces.append(some)
    return found


def _write_pieces(
    pieces: Sequence[Sequence[Member]], place: Path
) -> Iterator[tuple[list[Member], ReadJob]]:
    """Yield the tenths of pieces, each with the job that reads it."""
    for piece in pieces:
        size = -(-len(piece) // _PIECES) or 1
        for at in range(0, len(piece), size):
            some = list(piece[at : at + size])
            path = write_bundle(some, place, f"{some[0].listed.pmcid:07}")
            about = ("pmc", path.name, path.name.partition("-")[0], some[0].listed.pmcid)
            yield some, ReadJob(str(path), *about, get_bundle_md5(path), str(place))
