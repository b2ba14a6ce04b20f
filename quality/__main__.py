"""Every score of a folder of cases, beside its floor where it has one.

Without FOLDER: our own cases, the recorded ones and a sample of them, whose floors ``--update``
raises. FOLDER may be any folder of papers (it has no floors: its scores are shown with the cases
that missed) laid out as

  articles.jsonl           a JSON object a line: files.jats (path of the XML), doi, pmid, pmcid,
                           title, abstract, authors, pages, verdict (if it is not full_text)
  articles/NAME/jats.xml   an article; beside it, if there are any: paper.pdf (the same paper),
                           gold.craft.txt (its plain text), europepmc_core.json (its record)
  html/publisher/**/NAME/fulltext.html
                           a page with the whole paper; beside it jats.xml and fulltext.pdf
  html/block/*, jina/*.txt what came instead of a paper; verdicts.json names the verdict of each
  gold/html_wcxb/, gold/pdf_s2orc/
                           pages and PDFs with their text, as those benchmarks lay them out

Every part may be absent. Nothing is written to the folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from quality import floors, own
from quality.cases import Folder
from quality.suite import measure

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SAMPLE = 8
"""One recorded case in so many is measured where not all examples are tried."""


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="cases of your own")
    parser.add_argument("--update", action="store_true", help="raise floors to what is measured")
    asked = parser.parse_args()
    if asked.folder is None:
        return hold_floors(asked.update)
    if asked.update:
        parser.error("only our own folders have floors to raise")
    if not asked.folder.is_dir():
        parser.error(f"there is no folder {asked.folder}")
    return show(asked.folder)


def show(root: Path) -> int:
    """Score a folder that has no floors; 1 if there is nothing in it."""
    scores = measure(Folder(root)).scores
    for name, score in sorted(scores.items()):
        say(f"{name:40} {score.value:.5f}  of {score.total:g}", *(f"    {m}" for m in score.misses))
    if not scores:
        say(f"{root}: no cases; see --help for where they belong")
    return int(not scores)


def hold_floors(update: bool) -> int:
    """Score our own cases and the recorded ones against their floors."""
    known, status = floors.load(), 0
    with tempfile.TemporaryDirectory() as folder:
        own.build(Path(folder))
        for name, root in (("own", Path(folder)), ("shared", SHARED), ("sample", SHARED)):
            if not root.exists():
                say(f"{name}: no folder, floors left as they are")
                continue
            every = SAMPLE if name == "sample" else 1
            scores = measure(Folder(root, every), every=8 // every).scores
            for score in sorted(scores):
                floor = known.get(name, {}).get(score)
                say(f"{name:7} {score:40} {scores[score].value:.5f}  floor {floor}")
            try:
                new = floors.raised(known, name, scores)
            except floors.WouldLower as refused:
                say(f"\n{name}: floors are not lowered here.\n{refused}\n")
                status = 1
                continue
            if update:
                say(*floors.changes(known.get(name, {}), new[name]))
                known = new
    if update and not status:
        floors.save(known)
    return status


if __name__ == "__main__":
    sys.exit(main())
