"""Permissions of 200 recorded papers, as the program states them and as a person read them.

``python -m quality.permissions`` prints the agreement by field, and each disagreement.

``permissions.tsv`` has a line a paper: its file below ``../shared/data``, its DOI, the route by
which such a file comes, the person's answers, and the phrase that decided. The answers were written
from the licence texts before the program was asked. "No" needs terms that forbid or reserve;
a bare copyright line, or a licence known by its name only, is "unknown".
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quality.__main__ import SHARED, say
from utils import readers
from utils.errors import BadContent
from utils.model.paper import Fetched, Media
from utils.model.permissions import PERMISSION_COLUMNS, get_permissions

LABELS = Path(__file__).with_suffix(".tsv")


@dataclass(frozen=True)
class Label:
    """A person's answers about a recorded paper."""

    file: Path
    doi: str
    route: str
    answers: dict[str, str]
    phrase: str


def load(root: Path) -> Iterator[Label]:
    """Return the labels, with files below *root*."""
    with LABELS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            answers = {name: row[name] for name in PERMISSION_COLUMNS}
            yield Label(root / row["file"], row["doi"], row["route"], answers, row["phrase"])


def read_license(label: Label) -> str:
    """Return the licence that the program reads in a file; "" where it reads no text."""
    body = label.file.read_bytes()
    if label.file.suffix == ".gz":
        body = gzip.decompress(body)
    is_elsevier = b"<full-text-retrieval-response" in body[:3000]
    media: Media = "html" if ".html" in label.file.name else "elsevier" if is_elsevier else "jats"
    fetched = Fetched(body, media, f"https://doi.org/{label.doi}", "test", label.route)
    try:
        return str(readers.import_reader_module(media).read_document(fetched).license)
    except BadContent:
        return ""


def find_disagreements(label: Label) -> Iterator[tuple[str, str, str]]:
    """Yield the field, the program's answer and its reason where they differ from the label."""
    permissions = get_permissions(read_license(label), label.route, label.doi)
    for name, permission in permissions._asdict().items():
        if permission.answer != label.answers[name]:
            yield name, permission.answer, permission.reason


def main() -> int:
    """Print the agreement by field and each disagreement; 1 if the program permits too much."""
    labels, differing, is_lax = list(load(SHARED)), Counter[str](), False
    for label in labels:
        for name, answer, reason in find_disagreements(label):
            differing[name] += 1
            is_lax = is_lax or answer == "yes"
            said = f"{name}: {answer}, a person {label.answers[name]} ({label.phrase})"
            say(f"{label.doi} {said}. {reason}")
    for name in PERMISSION_COLUMNS:
        say(f"{name}: {len(labels) - differing[name]} of {len(labels)} agree")
    return int(is_lax)


if __name__ == "__main__":
    raise SystemExit(main())
