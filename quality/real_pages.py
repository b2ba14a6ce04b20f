"""Labelled pages of today's publishers, read and judged as the product does.

``python -m quality.real_pages`` prints a line a page: its label, the verdict, the references
found and counted by whoever labelled it, the headings, the words of the body and the evidence;
then totals by publisher. ``--texts FOLDER`` keeps each text there, accepted or not.

The pages lie in ``../shared/data/html/real`` with ``labels.json`` (DOI, file, label and, where
known, counts) and ``pairs.json`` (file, address, record in CSL-JSON).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from quality.__main__ import SHARED, say
from utils import readers as formats
from utils.curation.verification import parse_csl_item
from utils.errors import BadContent
from utils.model.paper import Document, Fetched, Media, Paper

WHOLE = frozenset(("full", "xml"))
"""The labels of pages that are whole papers."""
ACCEPTED = frozenset(("full_text", "doubtful"))


@dataclass(frozen=True)
class RealPage:
    """A labelled page: its address, its record and how many references it shows (0: unknown)."""

    path: Path
    label: str
    url: str
    paper: Paper
    references: int

    @property
    def publisher(self) -> str:
        """The DOI's prefix, or what follows it where the prefix serves several families."""
        return self.path.name.partition("_")[0]

    @property
    def fetched(self) -> Fetched:
        """The page as its site sent it."""
        body = gzip.decompress(self.path.read_bytes())
        is_elsevier = b"<full-text-retrieval-response" in body[:3000]
        media: Media = (
            "html" if ".html" in self.path.name else "elsevier" if is_elsevier else "jats"
        )
        return Fetched(body, media, self.url, "test", "test")


@dataclass(frozen=True)
class Reading:
    """What the product makes of a page; ``document`` is the text, accepted or not."""

    page: RealPage
    verdict: str
    evidence: str
    document: Document | None

    @property
    def is_right(self) -> bool:
        """Whether a whole paper was accepted, with doubts or without, or anything else refused."""
        return (self.verdict in ACCEPTED) == (self.page.label in WHOLE)


def load(root: Path) -> Iterator[RealPage]:
    """Return the pages of ``html/real`` below *root*."""
    folder = root / "html" / "real"
    if not (folder / "labels.json").exists():
        return
    pairs = {row["file"]: row for row in json.loads((folder / "pairs.json").read_text("utf-8"))}
    for row in json.loads((folder / "labels.json").read_text("utf-8")):
        pair = pairs[row["file"]]
        paper = parse_csl_item({"DOI": row["doi"], **pair["record"]})
        paper = replace(paper, recorded_by="test" if paper.title else "")
        counts = (row["counts"] or {}).get("counts", {})
        yield RealPage(
            folder / row["file"],
            row["label"],
            pair["url"],
            paper,
            counts.get("references", 0),
        )


def read_page(page: RealPage) -> Reading:
    """Read and judge *page*; a refused text is read without a judge."""
    fetched = page.fetched
    try:
        document = formats.read_and_judge(
            fetched, page.paper, identified=not page.paper.recorded_by
        )
    except BadContent as bad:
        evidence = str(bad.details.get("evidence") or bad.message)
        return Reading(page, bad.outcome, evidence, read_unjudged(page))
    return Reading(page, document.verdict, document.evidence, document)


def read_unjudged(page: RealPage) -> Document | None:
    """Read *page*, whatever it is; None where no text can be read in it."""
    fetched = page.fetched
    try:
        document: Document = formats.import_reader_module(fetched.media).read_document(fetched)
    except BadContent:
        return None
    return document


def _line(reading: Reading) -> str:
    page, document = reading.page, reading.document
    found = f"{document.references:4}/{page.references:<4}" if document else "   -     "
    size = f"{document.headings:3} headings {document.body_words:6} words" if document else ""
    mark = " " if reading.is_right else "!"
    line = f"{mark} {page.label:8}{reading.verdict:12}{found}{size}  {page.path.name}"
    return f"{line}\n    {reading.evidence}"


def _totals(readings: list[Reading]) -> Iterator[str]:
    groups: dict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.page.label in WHOLE:
            groups[reading.page.publisher].append(reading)
    for publisher, group in [*sorted(groups.items()), ("all", [*chain(*groups.values())])]:
        accepted = sum(reading.is_right for reading in group)
        counted = [reading for reading in group if reading.page.references and reading.document]
        exact = sum(
            reading.document.references == reading.page.references
            for reading in counted
            if reading.document
        )
        doubts = sum(reading.verdict == "doubtful" for reading in group)
        yield (
            f"{publisher:10} accepted {accepted}/{len(group)}  doubts {doubts}"
            f"  references exact {exact}/{len(counted)}"
        )
    others = [reading for reading in readings if reading.page.label not in WHOLE]
    yield f"not whole: refused {sum(reading.is_right for reading in others)}/{len(others)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m quality.real_pages", description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the names of pages to read")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="keep the texts here")
    asked = parser.parse_args()
    readings = []
    for page in load(SHARED):
        if asked.only not in page.path.name:
            continue
        readings.append(reading := read_page(page))
        say(_line(reading))
        if asked.texts and reading.document:
            asked.texts.mkdir(parents=True, exist_ok=True)
            text = reading.document.markdown
            (asked.texts / f"{page.path.name}.md").write_text(text, "utf-8")
    say("", *_totals(readings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
