"""Is a PDF recognised as its paper, by `adopt` and by pdf2doi?

``uv run --group dev python -m quality.benchmarks.adopt_beside --data ../shared/data
--pdf2doi VENV/bin/python [--others FOLDER]``

Neither program asks a site. `adopt` knows the records of all articles in the data, among which it
must choose; pdf2doi needs none (websearch and webvalidation off: metadata, file name, text).
Real PDFs of the data and synthetic ones of `.adopt` are counted as right, wrong or unsure (nothing
named). The PDFs in *others* are of no known paper: `adopt` must file none of them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quality.benchmarks.adopt import list_kinds, make_author, make_file, make_title, name_doi
from utils import Library
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.readers.pdf import ocr

_HAS_PAPER = ("xmp", "printed", "listed", "copy", "annotated")
_PDF2DOI = """
import json, sys, pdf2doi
for name, value in (("websearch", False), ("webvalidation", False), ("verbose", False)):
    pdf2doi.config.set(name, value)
for path in sys.stdin.read().splitlines():
    try:
        found = pdf2doi.pdf2doi(path) or {}
    except Exception as error:
        found = {"identifier": None, "method": repr(error)}
    print("RESULT " + json.dumps([path, found.get("identifier") or "", str(found.get("method"))]))
"""


def main() -> None:
    """Print the counts of both programs, and every wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--others", type=Path)
    parser.add_argument("--pdf2doi", help="a Python that has pdf2doi")
    parser.add_argument("--synthetic", type=int, default=200, help="the number of made PDFs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "files"
        truth = copy_real_files(args.data, folder) | make_synthetic_files(folder, args.synthetic)
        if args.others:
            truth |= copy_others(args.others, folder)
        records = [*read_records(args.data), *list_synthetic_records(args.synthetic)]
        print_counts("adopt", truth, ask_adopt(folder, Path(made) / "papers", records))
        if args.pdf2doi:
            print_counts("pdf2doi", truth, ask_pdf2doi(args.pdf2doi, folder))


def copy_real_files(data: Path, folder: Path) -> dict[str, str]:
    """Copy the PDFs of the data under names without identifiers; return the DOI of each."""
    truth = {}
    (folder / "real").mkdir(parents=True)
    for number, path in enumerate(sorted(data.glob("*/PMC*/paper.pdf"))):
        record = json.loads(path.with_name("europepmc_core.json").read_bytes())
        name = f"real/{number:03}.pdf"
        (folder / name).write_bytes(path.read_bytes())
        truth[name] = _get_first(record, "doi").lower()
    return truth


def make_synthetic_files(folder: Path, count: int) -> dict[str, str]:
    """Write synthetic PDFs; return the DOI of each, "" for a file that is not a whole paper."""
    truth, last, paper = {}, b"", 0
    (folder / "synthetic").mkdir(parents=True)
    for number, kind in enumerate(list_kinds(count)):
        name, last_body = f"synthetic/{number:05}-{kind}.pdf", make_file(number, kind, last)
        if kind in ("xmp", "printed", "listed"):
            last, paper = last_body, number
        (folder / name).write_bytes(last_body)
        truth[name] = name_doi(paper) if kind in _HAS_PAPER else ""
    return truth


def copy_others(source: Path, folder: Path) -> dict[str, str]:
    """Copy PDFs that are of no known paper."""
    (folder / "others").mkdir()
    for path in sorted(source.glob("*.pdf")):
        (folder / "others" / path.name).write_bytes(path.read_bytes())
    return {f"others/{path.name}": "" for path in source.glob("*.pdf")}


def read_records(data: Path) -> list[Paper]:
    """Return the records of all articles in the data."""
    papers = []
    for path in sorted(data.glob("*/PMC*/europepmc_core.json")):
        row = json.loads(path.read_bytes())
        lists = row.get("authorList") or {}
        people = (lists[0] if isinstance(lists, list) else lists).get("author", [])
        authors = tuple(
            Author(_get_first(one, "lastName"), _get_first(one, "firstName"))
            for one in people
            if one.get("lastName")
        )
        abstract = re.sub(r"<[^>]+>", " ", _get_first(row, "abstractText"))
        ids = Ids.maybe(_get_first(row, "doi"))
        title, year = _get_first(row, "title").rstrip("."), _get_first(row, "pubYear")
        papers.append(Paper(ids, title, authors=authors, published=year, abstract=abstract))
    return [paper for paper in papers if paper.ids]


def _get_first(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name) or ""
    return str(value[0] if isinstance(value, list) else value)


def list_synthetic_records(count: int) -> list[Paper]:
    """Return the record of each synthetic paper."""
    return [
        Paper(Ids(doi=name_doi(number)), make_title(number), published="2021",
              authors=(Author(*make_author(number)),))
        for number in range(count)
    ]  # fmt: skip


def ask_adopt(folder: Path, shelf: Path, records: list[Paper]) -> dict[str, str]:
    """Return the DOI as which each file is filed; "" for none. Scanned pages are not read."""
    ocr.is_ocr_installed = lambda: False
    with Library(papers_dir=str(shelf), papers_offline=True) as library:
        library.shelf.save_abstracts(records)
        results = list(library.upkeep.adopt(folder, lookup=False, by="place"))
    filed = {one.file: one.paper for one in results if one.state == "filed"}
    for one in results:
        if one.state == "duplicate" and (paper := one.paper or _find_first(one.detail, filed)):
            filed[one.file] = paper
    return {one.file: filed.get(one.file, "").removeprefix("doi:").lower() for one in results}


def _find_first(detail: str, filed: Mapping[str, str]) -> str:
    """Return the paper of the file with the same bytes that a result names."""
    return next((paper for name, paper in filed.items() if name in detail), "")


def ask_pdf2doi(python: str, folder: Path) -> dict[str, str]:
    """Return the identifier that pdf2doi gives to each file; "" for none."""
    paths = "\n".join(map(str, sorted(folder.rglob("*.pdf"))))
    run = subprocess.run(
        [python, "-c", _PDF2DOI], input=paths, capture_output=True, text=True, check=True
    )
    rows = [json.loads(line[7:]) for line in run.stdout.splitlines() if line.startswith("RESULT ")]
    return {str(Path(path).relative_to(folder)): str(found).lower() for path, found, _ in rows}


def print_counts(program: str, truth: Mapping[str, str], named: Mapping[str, str]) -> None:
    """Print the counts of each kind of file, and the wrong answers."""
    counts: dict[str, Counter[str]] = {}
    for name, doi in truth.items():
        found = named.get(name, "")
        place = name.partition("/")[0]
        kind = place if doi or place == "others" else f"{place}, not a paper"
        answer = "wrong" if found and found != doi else "right" if found == doi else "unsure"
        counts.setdefault(kind, Counter())[answer] += 1
        if answer == "wrong":
            print(f"  {program}: {name} is {doi or 'no known paper'}, and was named {found}")
    for kind, count in counts.items():
        print(
            f"{program}, {kind}: " + ", ".join(f"{n} {word}" for word, n in count.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
