"""Find the articles of a bundle that kill the workers which read them, and set them aside.

Each article is read like a bundle of its own in a temporary folder. That takes about a minute for
1,000 articles, and is needed only when a bundle has killed its workers several times.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..system import safe_files
from .bundles import Member, get_bundle_md5, read_members, write_bundle
from .engines import Lost, Run
from .parts import ReadJob
from .texts import read_texts


def set_deadly_members_aside(bundle: Path, mirror: Path, run: Run) -> Path:
    """Write a bundle again in which articles that kill workers are set aside, with the reason.

    Returns
    -------
    Path
        The new bundle; the old one if each of its articles can be read.
    """
    members = read_members(bundle)
    with safe_files.open_temporary_folder(mirror) as place:
        jobs = (_make_job(one, place) for one in members if one.state == "text")
        lost = (made for made in run(read_texts, jobs) if isinstance(made, Lost))
        deadly = {made.job.sequence: made.reason for made in lost}
    if not deadly:
        return bundle
    made = [
        replace(one, state="aside", reason=deadly[one.listed.name], metadata=b"", xml=b"")
        if one.listed.name in deadly
        else one
        for one in members
    ]
    return write_bundle(made, bundle.parent, bundle.name.partition("-")[0])


def _make_job(member: Member, place: Path) -> ReadJob:
    """Return the job that reads one article, from a bundle of its own."""
    name = member.listed.name
    path = write_bundle([member], place, name)
    return ReadJob(str(path), "pmc", path.name, name, 0, get_bundle_md5(path), str(place))
