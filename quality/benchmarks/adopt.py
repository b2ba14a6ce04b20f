"""How fast is `adopt`, how much memory does it take, and does a killed run go on?

``uv run --group dev python -m quality.benchmarks.adopt FOLDER --files 10000`` makes a library of
PDF files with reportlab in FOLDER (once), adopts it without look-ups, and prints one line of JSON.
Every file has a known kind: ten pages or three, a DOI in XMP, on the first page or only in the
reference file; a copy, an annotated copy, a scan, a damaged or encrypted file, a leaflet, a web
page. Run it again with the same FOLDER to go on after a kill; ``--seconds`` ends a run by SIGKILL.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

KINDS = {
    "xmp": 30, "printed": 20, "listed": 15, "copy": 10, "annotated": 5, "damaged": 5,
    "encrypted": 4, "scanned": 3, "leaflet": 5, "web_page": 3,
}  # fmt: skip
"""Each kind with its share of the files, in percent."""
EXPECTED = {
    "xmp": "filed", "printed": "filed", "listed": "filed", "copy": "duplicate",
    "annotated": "duplicate", "damaged": "damaged", "encrypted": "encrypted",
    "scanned": "scanned", "leaflet": "not_paper", "web_page": "not_pdf",
}  # fmt: skip
_PAPERS = ("xmp", "printed", "listed")
_WORDS = (
    "moss", "fern", "lichen", "bee", "river", "stone", "light", "winter", "leaf", "sand", "root",
    "wind", "tide", "fungus", "pollen", "valley", "seed", "frost", "cave", "marsh",
)  # fmt: skip
_COMMON = ("the", "of", "and", "in", "was", "were", "with", "for", "by", "from")
_SYLLABLES = ("ba", "co", "di", "fe", "gu", "la", "mo", "ne", "pi", "ru", "sta", "tre", "vi", "zo")
_REFERENCES = 15
_PAGE_LINES = 56
_XMP = (
    '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/"><prism:doi>{}</prism:doi>'
    '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)


def main() -> None:
    """Make the library if it is missing, adopt it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--by", default="place", choices=("copy", "link", "place"))
    parser.add_argument("--seconds", type=float, default=0.0, help="kill the run after so long")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    library = args.folder / "library"
    if args.worker:
        adopt(library, args.folder, args.by)
        return
    make_library(library, args.files)
    words = [sys.executable, "-m", "quality.benchmarks.adopt", str(args.folder), "--worker"]
    run = subprocess.Popen([*words, "--by", args.by])
    try:
        run.wait(args.seconds or None)
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGKILL)
        run.wait()
    print(json.dumps(summarize(args.folder)))


# -- the library -----------------------------------------------------------------------------------


def make_library(folder: Path, count: int) -> None:
    """Write *count* PDF files in folders of 100, and the reference file of their papers."""
    if (folder / "library.bib").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    kinds = list(list_kinds(count))
    entries, last = [], b""
    for number, kind in enumerate(kinds):
        path = folder / f"{number // 100:03}" / f"{number:05}-{kind}.pdf"
        path.parent.mkdir(exist_ok=True)
        body = make_file(number, kind, last)
        if kind in _PAPERS:
            last = body
            entries.append(_make_entry(number, path.relative_to(folder)))
        path.write_bytes(body)
    (folder / "library.bib").write_text("\n".join(entries), encoding="utf-8")


def list_kinds(count: int) -> Iterator[str]:
    """Yield the kind of each file; the first is a paper, of which others are copies."""
    chance = random.Random(37)
    yield "xmp"
    yield from chance.choices(list(KINDS), weights=list(KINDS.values()), k=count - 1)


def make_file(number: int, kind: str, last: bytes) -> bytes:
    """Return the bytes of one file; *last* is the paper before it."""
    if kind == "copy":
        return last
    if kind == "annotated":
        return last + f"\n% annotated in {number}\n".encode()
    if kind == "web_page":
        return b"<!doctype html><html><body>Sign in to read number %d</body></html>" % number
    if kind == "leaflet":
        return write_pdf(["Opening hours", f"Room {number}", *["Please ring the bell."] * 8])
    if kind == "scanned":
        return write_pdf([], pages=4, salt=number)
    lines = _write_paper(number, prints_doi=kind == "printed")
    body = write_pdf(
        lines,
        doi=name_doi(number) if kind == "xmp" else "",
        password="secret" if kind == "encrypted" else "",
    )
    return body[: len(body) // 3] if kind == "damaged" else body


def name_doi(number: int) -> str:
    return f"10.5555/adopt.{number}"


def make_title(number: int) -> str:
    chance = random.Random(number)
    first, second, third, fourth = chance.sample(_WORDS, 4)
    return f"Effects of {first} and {second} on the {third} of a {fourth}, series {number}"


def make_author(number: int) -> tuple[str, str]:
    chance = random.Random(-number)
    return chance.choice(_WORDS).capitalize() + chance.choice(_WORDS), chance.choice("ABCDEFGH")


def _make_entry(number: int, path: Path) -> str:
    family, given = make_author(number)
    fields = {
        "title": make_title(number), "author": f"{family}, {given}.", "year": "2021",
        "journal": "Journal of Measured Libraries", "doi": name_doi(number),
        "file": f":{path}:PDF",
    }  # fmt: skip
    inside = ", ".join(f"{name}={{{value}}}" for name, value in fields.items())
    return f"@article{{a{number}, {inside}}}"


def _write_paper(number: int, *, prints_doi: bool) -> list[str]:
    """Return the lines of a paper; every tenth paper is long."""
    family, given = make_author(number)
    lines = [make_title(number), "", f"{given}. {family}", ""]
    lines += [f"https://doi.org/{name_doi(number)}", ""] if prints_doi else []
    chance, cited = random.Random(number), cycle(range(1, _REFERENCES + 1))
    names = ["".join(chance.choices(_SYLLABLES, k=3)) for _ in range(80)]
    topic = [" ".join(chance.choices(names, k=3)) for _ in range(60)]
    for head in ("Abstract", "Introduction", "Methods", "Results", "Discussion"):
        lines += [f"# {head}", ""]
        is_short = head == "Abstract" or number % 10
        for _ in range(4 if is_short else 12):
            said = [_write_sentence(chance, topic, next(cited)) for _ in range(5)]
            lines += [*textwrap.wrap(" ".join(said), 92), ""]
    titles = (make_title(number + at) for at in range(1, _REFERENCES + 1))
    listed = (f"{at}. Roe J. {title}. J Moss. 2019." for at, title in enumerate(titles, 1))
    return [*lines, "# References", "", *listed]


def _write_sentence(chance: random.Random, topic: list[str], cited: int) -> str:
    words = [f"{chance.choice(topic)} {chance.choice(_COMMON)}" for _ in range(5)]
    return f"{' '.join(words).capitalize()} [{cited}]."


def write_pdf(
    lines: list[str], pages: int = 0, *, doi: str = "", password: str = "", salt: int = 0
) -> bytes:
    """Return a PDF of *lines*, or of so many *pages* that are grey pictures."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfbase.pdfdoc import PDFDictionary, PDFName, PDFStream
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    lock = StandardEncryption(password) if password else None
    canvas = Canvas(out, pageCompression=1, invariant=1, encrypt=lock)
    for start in range(0, len(lines), _PAGE_LINES):
        text = canvas.beginText(47, 790)
        for line in lines[start : start + _PAGE_LINES]:
            is_head = line.startswith("# ")
            text.setFont("Helvetica-Bold" if is_head else "Helvetica", 12 if is_head else 10, 13)
            text.textLine(line.removeprefix("# "))
        canvas.drawText(text)
        canvas.showPage()
    for page in range(pages):
        canvas.setFillGray(0.3 + (salt + page) % 1000 / 2000)
        canvas.rect(47, 50, 500, 740, fill=1)
        canvas.showPage()
    if doi:
        about = PDFDictionary({"Type": PDFName("Metadata"), "Subtype": PDFName("XML")})
        stream = PDFStream(about, _XMP.format(doi), filters=None)
        canvas._doc.Catalog.Metadata = canvas._doc.Reference(stream)
    canvas.save()
    return out.getvalue()


# -- the run ---------------------------------------------------------------------------------------


def adopt(library: Path, folder: Path, by: Any) -> None:
    """Adopt the library; append the cost and the states so far to ``runs.jsonl``."""
    from utils import Library
    from utils.readers.pdf import ocr

    ocr.is_ocr_installed = lambda: False  # scanned pages are named, not read
    begun, states, seen = time.monotonic(), Counter[str](), 0
    with (
        (folder / "runs.jsonl").open("a", encoding="utf-8") as log,
        Library(papers_dir=str(folder / "papers"), papers_offline=True) as shelf,
    ):
        adoption = shelf.upkeep.adopt(library, lookup=False, by=by)
        for seen, one in enumerate(adoption, 1):
            states[f"{one.file.rpartition('-')[2].removesuffix('.pdf')} {one.state}"] += 1
            if seen % 100 == 0 or seen == len(adoption.files):
                row = {"pid": os.getpid(), "files": seen, "states": states, **measure_cost()}
                log.write(json.dumps({**row, "wall_s": round(time.monotonic() - begun, 1)}) + "\n")
                log.flush()


def measure_cost() -> dict[str, float]:
    """Return CPU seconds and peak memory (MB) of this process and of its reader processes."""
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = own.ru_utime + own.ru_stime
    readers, peak = ended.ru_utime + ended.ru_stime, 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                readers += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                lines = status.with_name("status").read_text().splitlines()
                peak = max(peak, *(int(one.split()[1]) for one in lines if one.startswith("VmHWM")))
        except OSError:
            continue
    return {
        "cpu_s": round(cpu, 1), "readers_cpu_s": round(readers, 1),
        "rss_mb": own.ru_maxrss // 1024, "reader_rss_mb": peak // 1024,
    }  # fmt: skip


def summarize(folder: Path) -> dict[str, Any]:
    """Return the figures of all runs, and the files with another state than expected."""
    rows = [json.loads(one) for one in (folder / "runs.jsonl").read_text().splitlines()]
    runs = list({row["pid"]: row for row in rows}.values())
    cpu = sum(run["cpu_s"] + run["readers_cpu_s"] for run in runs)
    last = runs[-1]
    wrong = {
        name: count
        for name, count in last["states"].items()
        if EXPECTED[name.partition(" ")[0]] != name.partition(" ")[2]
    }
    return {
        "runs": len(runs), "files": last["files"], "cpu_s": round(cpu, 1),
        "cpu_s_per_file": round(cpu / last["files"], 3),
        "files_per_s_on_two_cores": round(2 * last["files"] / cpu, 1),
        "rss_mb": max(run["rss_mb"] for run in runs),
        "reader_rss_mb": max(run["reader_rss_mb"] for run in runs),
        "unexpected": wrong,
    }  # fmt: skip


if __name__ == "__main__":
    main()
