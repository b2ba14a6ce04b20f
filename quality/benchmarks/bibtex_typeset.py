"""Does our BibTeX compile? Papers of every kind, parsed by two libraries and typeset by LaTeX.

``uv run --with pybtex quality/benchmarks/bibtex_typeset.py`` writes the hand-checked cases,
recorded PubMed records and arXiv entries (where ``../shared/data`` is there) as one ``.bib``; reads
it back with bibtexparser and pybtex; and, where a TeX distribution is installed (Debian:
``texlive-latex-base texlive-fonts-recommended texlive-bibtex-extra texlive-luatex biber``),
typesets every entry with pdfLaTeX and BibTeX, and with LuaLaTeX and biber. Printed per engine:
entries set, errors, letters without a glyph.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from utils.citations import iterate_bibtex_entries  # noqa: E402
from utils.model.paper import Paper, paper_from_row  # noqa: E402

SHARED = ROOT.parent / "shared" / "data"
_DOCUMENTS = {
    ("pdflatex", "bibtex"): r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp,amssymb,url}
\begin{document}\nocite{*}\bibliographystyle{plain}\bibliography{papers}\end{document}
""",
    ("lualatex", "biber"): r"""\documentclass{article}
\usepackage{fontspec,amssymb}\usepackage[backend=biber,maxnames=3]{biblatex}
\addbibresource{papers.bib}\begin{document}\nocite{*}\printbibliography\end{document}
""",
}


def papers() -> Iterator[Paper]:
    gold = json.loads((ROOT / "tests" / "citations" / "gold.json").read_text("utf-8"))
    yield from (paper_from_row(case["paper"]) for case in gold)
    if not SHARED.exists():
        return
    from utils.readers.pubmed import iterate_records

    for path in sorted((SHARED / "pubmed" / "bulk").glob("*.xml.gz")):
        found = iterate_records(gzip.decompress(path.read_bytes()))
        yield from [paper for paper in found if isinstance(paper, Paper)][::10]
    yield from _preprints()


def _preprints() -> Iterator[Paper]:
    from utils.readers.safe_xml import parse_untrusted_xml
    from utils.sources.arxiv import to_paper

    for path in sorted((SHARED / "arxiv").glob("*.xml")):
        for entry in parse_untrusted_xml(path.read_bytes()).iter(
            "{http://www.w3.org/2005/Atom}entry"
        ):
            yield to_paper(entry)


def typeset(engine: str, backend: str, document: str, folder: Path) -> str:
    """What came of one engine, in words."""
    if not (shutil.which(engine) and shutil.which(backend)):
        return "not installed"
    (folder / "paper.tex").write_text(document, "utf-8")
    run = [engine, "-interaction=nonstopmode", "paper.tex"]
    for command in (run, [backend, "paper"], run, run):
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=900)
    log = (folder / "paper.log").read_text("utf-8", "replace")
    made = (folder / "paper.bbl").read_text("utf-8", "replace")
    told = (folder / "paper.blg").read_text("utf-8", "replace")
    entries = len(re.findall(r"\\bibitem|\\entry\{", made))
    errors = re.findall(r"^! .*", log, re.M)
    missing = re.findall(r"Missing character: There is no (\S+)", log)
    unknown = re.findall(r"Unicode character (\S)", log)
    complaints = re.findall(r"^(?:ERROR|error message|I couldn't|I was expecting).*", told, re.M)
    for line in sorted(set(errors + complaints))[:15]:
        print("   ", line)
    odd = "".join(sorted(set(missing) | set(unknown)))
    told = f"{entries} entries set, {len(errors)} errors, {len(complaints)} complaints"
    return f"{told}; no glyph: {odd or '-'}"


def main() -> None:
    written = "".join(iterate_bibtex_entries((paper, "") for paper in papers()))
    count = written.count("\n}\n")
    import bibtexparser

    parsed = bibtexparser.parse_string(written)
    print(
        f"{count} entries; bibtexparser: {len(parsed.entries)}, failed {len(parsed.failed_blocks)}"
    )
    try:
        from pybtex.database import parse_string
    except ImportError:
        print("pybtex: not installed")
    else:
        print(f"pybtex: {len(parse_string(written, 'bibtex').entries)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "papers.bib").write_text(written, "utf-8")
        for (engine, backend), document in _DOCUMENTS.items():
            print(f"{engine} + {backend}: {typeset(engine, backend, document, folder)}")
            for left in folder.glob("paper.*"):
                left.unlink()


if __name__ == "__main__":
    main()
