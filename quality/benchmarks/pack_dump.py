"""Print what the programs that import a pack would show: one line for each reference.

``uv run --group dev python -m quality.benchmarks.pack_dump [--field N] [--translators FOLDER]``

plays a review in the stand-in internet, packs it for each program, and reads each pack with
readers that share no code with Papershelf: rispy (RIS), bibtexparser (BibTeX), the XML parser of
Python with EndNote's rule for ``internal-pdf://``, and, with ``--translators``, Zotero's own
import translators (a copy of github.com/zotero/translators; node with jsdom). The notes of the
vault are read with PyYAML. Each line has the size of the attachment, whether its SHA-256 is that
of the shelf's PDF, and the title.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import rispy
import yaml

from tests.harvests import library_of
from tests.killed import Stage
from tests.packs import test_played_review as review
from tests.world import World
from utils.packs import LAYOUTS

Links = Iterator[tuple[str, Path | None]]


def read_ris(file: Path) -> Links:
    """Yield title and attachment of each record, as rispy reads them."""
    for one in rispy.loads(file.read_text(encoding="utf-8")):
        link = unquote(one.get("file_attachments1", ""))
        yield one.get("title", ""), file.parent / link if link else None


def read_endnote(file: Path) -> Links:
    """Yield title and attachment of each record of EndNote XML."""
    for one in ET.parse(file).iterfind(".//record"):
        link = one.findtext(".//pdf-urls/url", "").replace("internal-pdf://", "PDF/")
        title = "".join(one.find("titles/title").itertext())  # type: ignore[union-attr]
        yield title, file.parent / link if link else None


def read_bibtex(file: Path) -> Links:
    """Yield title and attachment of each entry, as bibtexparser reads them."""
    import bibtexparser

    for entry in bibtexparser.parse_string(file.read_text(encoding="utf-8")).entries:
        fields = {field.key: str(field.value) for field in entry.fields}
        link = fields.get("file", "").replace("\\_", "_")
        yield (
            fields["title"].replace("{", "").replace("}", ""),
            file.parent / link if link else None,
        )


def read_with_zotero(file: Path, translators: Path) -> Links:
    """Yield title and attachment of each item that Zotero's translator imports."""
    shim = Path(review.__file__).with_name("zotero_import.js")
    name = "RIS.js" if file.suffix == ".ris" else "Endnote XML.js"
    words = ["node", str(shim), str(translators / name), str(file)]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    for item in json.loads(run.stdout):
        found = [one["resolved"] for one in item["attachments"] if one["resolved"]]
        yield item["title"], Path(found[0]) if found else None


def read_vault(folder: Path) -> Links:
    """Yield title and PDF of each note, as PyYAML reads its front matter."""
    for path in sorted(folder.glob("*.md")):
        front = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        link = str(front.get("pdf", "")).strip("[]")
        yield front["title"], folder / link if link else None


def fold_title(title: str) -> str:
    """Return the ASCII letters and digits of a title, without LaTeX commands."""
    return re.sub(r"\\[a-z]+|[^A-Za-z0-9]", "", title)


def print_links(head: str, links: Links, held: Mapping[str, str]) -> None:
    """Print a line for each reference, and the counts; *held* is the shelf's SHA-256 by title."""
    print(f"\n{head}")
    counts: Counter[str] = Counter()
    for title, path in links:
        if path is None:
            state = "none"
        elif not path.is_file():
            state = "MISSING"
        else:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            state = "equal" if digest == held.get(fold_title(title)) else "DIFFERS"
        counts[state] += 1
        size = f"{path.stat().st_size:>9,}" if path and path.is_file() else " " * 9
        print(f"  {state:<8}{size}  {title[:80]}")
    print("  " + ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))


def main() -> None:
    """Play the review, pack it, and print the dump."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--field", type=int, default=120)
    parser.add_argument("--translators", type=Path)
    args = parser.parse_args()
    review.FIELD = args.field
    readers: dict[str, Callable[[Path], Links]] = {
        "references.ris": read_ris, "references.xml": read_endnote, "references.bib": read_bibtex,
    }  # fmt: skip
    Stage()
    with tempfile.TemporaryDirectory() as made, World(field=args.field) as world:
        library = library_of(world, Path(made) / "shelf")
        job = review.harvest_list(library, world)
        pdfs = review.shelf_pdfs(library)
        held = {fold_title(title): hashlib.sha256(body).hexdigest() for title, body in pdfs.items()}
        for program in sorted(LAYOUTS):
            folder = Path(made) / program
            library.references.pack(job, program, output=folder)
            for name, read in readers.items():
                if (file := folder / name).exists():
                    print_links(f"{program}: {name}, read by {read.__name__}", read(file), held)
                    if args.translators and name != "references.bib":
                        links = read_with_zotero(file, args.translators)
                        print_links(f"{program}: {name}, read by Zotero's translator", links, held)
        list(library.upkeep.convert("md"))
        print_links("vault, read by PyYAML", read_vault(library.shelf.folder), held)
        library.shelf.close()


if __name__ == "__main__":
    main()
