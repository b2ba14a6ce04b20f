"""How much of an arXiv paper survives reading: our two readers beside pandoc and pylatexenc.

``uv run benchmarks/arxiv_reading.py``

The articles of ``tests/formats/latex_articles.py`` were written part by part beside what print
makes of each, so words, formulas and references are known. LaTeXML (``latexml``) and
``pandoc``, both in Debian, take part where they are installed: LaTeXML makes the pages that our
HTML reader reads, pandoc and pylatexenc read the source as ours does.

Words are compared as multisets (F1; numbers of list items and footnotes count as words), formulas
by their TeX without blanks, braces and alignment.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.formats.latex_articles import ARTICLES, Article  # noqa: E402
from utils.formats import html, latex  # noqa: E402
from utils.model.paper import Fetched  # noqa: E402
from utils.outline.sections import measure  # noqa: E402
from utils.outline.words import folded  # noqa: E402

FORMULA = re.compile(r"\$\$?(.+?)\$\$?", re.S)
SIGNS = re.compile(r"\\(?:begin|end)\{[a-z*]+\}|\\tag\{[^}]*\}|\\displaystyle|\\[,;:! ]|[\s{}&]")
SPELLED = (
    (re.compile(r"\\lt\b"), "<"),
    (re.compile(r"\\vert\b"), "|"),
    (re.compile(r"\\(?:mathrm|mathop|operatorname\*?|text)\b"), ""),
    (re.compile(r"\\(?:left|right)(?![a-z])"), ""),
)

Convert = Callable[[Path], str]


def plain(tex: str) -> str:
    """TeX without what says nothing."""
    for pattern, said in SPELLED:
        tex = pattern.sub(said, tex)
    return SIGNS.sub("", tex)


def ours(folder: Path) -> str:
    """Our reader of sources."""
    return latex.read(Fetched(_packed(folder), "latex", "", "", "")).markdown


def ours_from_page(folder: Path) -> str:
    """Our HTML reader, of the page that LaTeXML makes."""
    page = folder / "main.html"
    return html.read(Fetched(page.read_bytes(), "html", "", "", "")).markdown


def pandoc(folder: Path) -> str:
    """Pandoc's markdown."""
    command = ["pandoc", "--from=latex", "--to=markdown", "--standalone", "--wrap=none", "main.tex"]
    return _run(command, folder).stdout


def pylatexenc(folder: Path) -> str:
    """Text by pylatexenc, formulas kept as TeX."""
    from pylatexenc.latex2text import LatexNodes2Text

    reader = LatexNodes2Text(math_mode="verbatim", strict_latex_spaces=True)
    reader.set_tex_input_directory(str(folder))
    try:
        return str(reader.latex_to_text((folder / "main.tex").read_text(encoding="utf-8")))
    except IndexError:  # it stumbles over an accented command of the second article
        return ""


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        encoding="utf-8",
    )


def _packed(folder: Path) -> bytes:
    return (folder / "submission.tar.gz").read_bytes()


def laid_out(article: Article, folder: Path) -> None:
    """Write a submission into a folder, packed and unpacked, and the page LaTeXML makes of it."""
    for name, text in {"main.tex": article.tex, **article.files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "submission.tar.gz").write_bytes(article.packed())
    if shutil.which("latexmlc"):
        _run(["latexmlc", "--quiet", "--format=html5", "--dest=main.html", "main.tex"], folder)


def scores(article: Article, made: str) -> str:
    """Words, formulas and references of one reading."""
    numbers = " ".join(re.findall(r"\\tag\{([^}]*)\}", made))
    truth = Counter(folded(article.words))
    found = Counter(folded(f"{FORMULA.sub(' ', made)} {numbers}"))
    both = (truth & found).total()
    f1 = 2 * both / (truth.total() + found.total())
    whole = plain(made)
    kept = sum(plain(formula) in whole for formula in article.formulas)
    references = measure(made).references
    return f"{f1:7.3f} {kept:6d}/{len(article.formulas):<3d} {references:6d}/{article.references}"


def main() -> None:
    """Print a table."""
    readers: dict[str, Convert] = {"source, ours": ours}
    if shutil.which("latexmlc"):
        readers["LaTeXML page, ours"] = ours_from_page
    if shutil.which("pandoc"):
        readers["source, pandoc"] = pandoc
    if importlib.util.find_spec("pylatexenc"):
        readers["source, pylatexenc"] = pylatexenc
    print(f"{'article':<10} {'reader':<20} {'words':>7} {'formulas':>10} {'refs':>8} {'ms':>7}")
    for name, article in ARTICLES.items():
        with tempfile.TemporaryDirectory() as folder:
            laid_out(article, Path(folder))
            for reader, convert in readers.items():
                begun = time.perf_counter()
                made = convert(Path(folder))
                spent = 1000 * (time.perf_counter() - begun)
                print(f"{name:<10} {reader:<20} {scores(article, made)} {spent:9.1f}")


if __name__ == "__main__":
    main()
