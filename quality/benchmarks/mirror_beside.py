"""Others on the same files of PubMed, in processor time of all their processes, turn about.

Used by ``python -m quality.benchmarks.mirror --beside``. pubmed_parser comes from its wheel; its
recipes for Dask and Spark call, a file a task, the function that is called here. EDirect (Debian's
package ``ncbi-entrez-direct``) is measured where it is installed: ``xtract`` with three fields, and
what ``archive-pubmed`` does with one file, without its downloads.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_PARSER = """
import sys
import pubmed_parser
for path in sys.argv[1:]:
    for _ in pubmed_parser.parse_medline_xml(path):
        pass
"""
_XTRACT = """
for file in "$@"; do
    gunzip -c "$file" | xtract -pattern PubmedArticle \
        -element MedlineCitation/PMID ArticleTitle AbstractText > xtracted
done
"""
_ARCHIVE = """
mkdir -p Archive Index Invert
for file in "$@"; do
    gunzip -c "$file" | transmute -strict -normalize pubmed | transmute -compress -strict \
        -wrp PubmedArticleSet -pattern "PubmedArticleSet/*" -format flush > base.xml
    rchive -gzip -db pubmed -input base.xml -archive Archive Index Invert \
        -index MedlineCitation/PMID^Version -pattern PubmedArticle < /dev/null
done
"""


class Rival(NamedTuple):
    """What somebody runs, and what is there afterwards."""

    name: str
    command: list[str]
    makes: str


def compare(paths: list[Path], records: int, wheel: Path, place: Path, rounds: int) -> None:
    """Print what each takes at best, us among them."""
    environment = {**os.environ, "PYTHONPATH": f"{Path.cwd()}{os.pathsep}{wheel}"}
    best: dict[str, tuple[float, str]] = {}
    for _ in range(rounds):
        for rival in _rivals(list(map(str, paths))):
            spent = _spent(rival.command, environment, place / "rival")
            best[rival.name] = min((spent, rival.makes), best.get(rival.name, (spent, rival.makes)))
    for name, (spent, makes) in best.items():
        print(f"{name:<16}{records / spent:>8,.0f} records/s a core: {makes}")


def _rivals(files: list[str]) -> list[Rival]:
    ours = [sys.executable, "-m", "quality.benchmarks.mirror", "--one", "here", "1", "1", *files]
    found = [
        Rival("this", ours, "all of a record, its passages and what it cites, in two parts"),
        Rival(
            "pubmed_parser",
            [sys.executable, "-c", _PARSER, *files],
            "dictionaries of 24 texts and a list; substances and grants besides, but no other "
            "abstracts, notices, ORCID or dates of PubMed, nothing cut or written",
        ),
    ]
    if shutil.which("xtract"):
        text = "PMID, title and abstract as text"
        found.append(Rival("xtract", ["sh", "-c", _XTRACT, "sh", *files], text))
    if shutil.which("rchive"):
        archive = "each record's XML, tidied, in a packed file of its own; nothing is taken out"
        found.append(Rival("archive-pubmed", ["sh", "-c", _ARCHIVE, "sh", *files], archive))
    return found


def _spent(command: list[str], environment: dict[str, str], place: Path) -> float:
    """Seconds of processor time that it takes, all its processes together."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=place, env=environment, stdout=quiet, stderr=quiet) as run:
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command[:3])
    return usage.ru_utime + usage.ru_stime
