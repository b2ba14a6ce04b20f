"""How fast PubMed's XML becomes papers, beside Biopython's reader and a bare lxml loop.

Run from the checkout: ``python -m quality.benchmarks.pubmed_xml [--data FOLDER] [--runs N]``.
FOLDER holds ``*.xml`` or ``*.xml.gz`` files with a ``PubmedArticleSet`` each, unpacked before the
clock starts. The readers take turns, so that a machine that slows down slows all of them. Medians
of processor time are reported: one core, nothing waited for.

- ``papers``: `iterate_records`, all fields of every record;
- ``lxml``: `iterparse` that visits the same elements and builds nothing;
- ``lxml text``: parse a set whole and join its `itertext`;
- ``Bio.Entrez``: `Entrez.read` into its dictionaries, nothing normalised. It looks into the DTD the
  file names; one it does not bring along it would fetch, which is refused here: not read.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from utils.errors import PaperError
from utils.readers.pubmed import iterate_records

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "pubmed" / "bulk"
TOUCHED = (
    "PMID", "Year", "Month", "Day", "ISSN", "Volume", "Issue", "Title", "ISOAbbreviation",
    "ArticleTitle", "MedlinePgn", "ELocationID", "AbstractText", "LastName", "ForeName", "Initials",
    "Suffix", "CollectiveName", "Affiliation", "Identifier", "Language", "PublicationType",
    "VernacularTitle", "MedlineTA", "DescriptorName", "QualifierName", "Keyword", "RefSource",
)  # fmt: skip


def with_papers(body: bytes) -> int:
    return sum(1 for _ in iterate_records(body))


def with_lxml(body: bytes) -> int:
    from lxml import etree

    count = 0
    kinds = ("PubmedArticle", "PubmedBookArticle")
    options = {"load_dtd": False, "resolve_entities": False, "no_network": True}
    for _, record in etree.iterparse(io.BytesIO(body), tag=kinds, **options):
        for element in record.iter(*TOUCHED):
            _ = element.text
        count += 1
        record.clear()
        while record.getprevious() is not None:
            del record.getparent()[0]
    return count


def with_lxml_text(body: bytes) -> int:
    from lxml import etree

    parser = etree.XMLParser(load_dtd=False, resolve_entities=False, no_network=True)
    root = etree.fromstring(body, parser)
    _ = "".join(map(str, root.itertext()))
    return len(root)


def with_biopython(body: bytes) -> int:
    from Bio import Entrez

    found = Entrez.read(io.BytesIO(body), validate=False)
    return len(found["PubmedArticle"]) + len(found["PubmedBookArticle"])


def seal_biopython(folder: str) -> None:
    """Keep Biopython's DTD cache out of the home folder, and Biopython off the network."""
    from Bio import Entrez

    Entrez.local_cache = folder  # before its parser is imported, which makes the folder
    from Bio.Entrez import Parser

    def refuse(url: str, *_: object, **__: object) -> None:
        msg = f"not fetched: {url}"
        raise OSError(msg)

    Parser.urlopen = refuse


READERS: dict[str, Callable[[bytes], int]] = {
    "papers": with_papers,
    "lxml": with_lxml,
    "lxml text": with_lxml_text,
    "Bio.Entrez": with_biopython,
}


def sets(body: bytes, size: int = 500) -> list[bytes]:
    """A file cut into sets of *size*, as efetch would send them: a reader that fails loses one."""
    head, _, rest = body.partition(b"<PubmedArticleSet>")
    records = re.findall(rb"<Pubmed(?:Book)?Article>.*?</Pubmed(?:Book)?Article>", rest, re.S)
    return [
        head + b"<PubmedArticleSet>" + b"".join(records[at : at + size]) + b"</PubmedArticleSet>"
        for at in range(0, len(records), size)
    ]


def timed(reader: Callable[[bytes], int], bodies: list[bytes]) -> tuple[float, int, list[str]]:
    """Seconds of one core, records read, and what could not be."""
    read, failures = 0, []
    begun = time.process_time()
    for body in bodies:
        try:
            read += reader(body)
        except (PaperError, OSError, ValueError, RuntimeError, NotImplementedError) as error:
            failures.append(f"{type(error).__name__}: {error}"[:120])
    return time.process_time() - begun, read, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DEFAULT)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    paths = sorted(path for path in options.data.glob("*.xml*") if path.is_file())
    if not paths:
        parser.exit(1, f"No *.xml or *.xml.gz in {options.data}.\n")
    bodies = [
        part
        for path in paths
        for part in sets((gzip.open if path.suffix == ".gz" else open)(path, "rb").read())
    ]
    with tempfile.TemporaryDirectory() as folder:
        seal_biopython(folder)
        runs = [
            {name: timed(reader, bodies) for name, reader in READERS.items()}
            for _ in range(options.runs)
        ]
    report(runs, sum(map(len, bodies)))


def report(runs: list[dict[str, tuple[float, int, list[str]]]], size: int) -> None:
    print(f"{len(runs)} interleaved runs, {size / 1e6:.1f} MB of XML")
    rates = {}
    for name in READERS:
        _, read, failures = runs[0][name]
        seconds = statistics.median(run[name][0] for run in runs)
        rates[name] = read / seconds
        speed = "" if failures else f"{size / seconds / 1e6:8.1f} MB/s"
        print(f"{name:12}{read:8,} records {rates[name]:10,.0f} records/s{speed}")
        for failure in sorted(set(failures)):
            print(f"{'':12}not read, {failures.count(failure)} sets: {failure}")
    for name in ("lxml", "lxml text", "Bio.Entrez"):
        if rates[name]:
            ratio = statistics.median(
                (run["papers"][1] / run["papers"][0]) / (run[name][1] / run[name][0])
                for run in runs
            )
            print(f"papers / {name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
