"""How much of a paper each converter keeps, in its place: ours beside what people use otherwise.

``uv run python -m quality.benchmarks.extraction [--data FOLDER] [--beside]``

Scores every kind of case in the folder (see ``quality``) and the seconds a document takes.
Cells count in pipe tables only: a table written as HTML is no markdown.

``--beside`` scores the named alternatives on the same files in the same run; those not installed
say so. To have them all: ``uv run --with pubmed-parser --with trafilatura --with readability-lxml
--with pypandoc_binary python -m quality.benchmarks.extraction --beside``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from quality import jats_scores, own, page_scores
from quality.cases import Folder, read
from quality.jats_truth import Truth
from quality.measures import Scores
from quality.suite import Report, measure

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
JATS = ("paragraphs", "order", "cells", "captions", "formulas", "references", "CRAFT F1")
HTML = ("HTML F1", "HTML runs", "HTML headings", "HTML table rows", "HTML references")
PDF = ("PDF order", "PDF runs", "PDF words")
# What the alternatives raise on real articles; a document that fails counts as empty.
FAILURES = (ValueError, LookupError, AttributeError, TypeError, RuntimeError, NameError, OSError)
Convert = Callable[[Path, bytes], str]


def ours_jats(_path: Path, body: bytes) -> str:
    return read(body, "jats").markdown


def ours_html(_path: Path, body: bytes) -> str:
    return read(body, "html").markdown


def markdownify_jats(_path: Path, body: bytes) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    return str(MarkdownConverter(heading_style="ATX").convert_soup(BeautifulSoup(body, "lxml-xml")))


def markdownify_html(_path: Path, body: bytes) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    return str(MarkdownConverter(heading_style="ATX").convert_soup(BeautifulSoup(body, "lxml")))


def pubmed_parser(path: Path, _body: bytes) -> str:
    import pubmed_parser as pp  # type: ignore[import-not-found]

    paragraphs = pp.parse_pubmed_paragraph(str(path), all_paragraph=True)
    tables = pp.parse_pubmed_table(str(path), return_xml=False) or []
    references = pp.parse_pubmed_references(str(path)) or []
    captions = []
    with contextlib.suppress(NameError):  # it has a variable that is not always set
        captions = pp.parse_pubmed_caption(str(path)) or []
    texts = [paragraph["text"] for paragraph in paragraphs]
    texts += [f"{figure['fig_label']}. {figure['fig_caption']}" for figure in captions]
    for table in tables:
        rows = [table["table_columns"], *table["table_values"]]
        lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
        texts += [f"{table['label']}. {table['caption']}", "\n".join(lines)]
    return "\n\n".join([*texts, *(str(reference) for reference in references)])


def _pandoc(source: str) -> Convert:
    def convert(_path: Path, body: bytes) -> str:
        import pypandoc  # type: ignore[import-not-found]

        return str(pypandoc.convert_text(body, "gfm", format=source, extra_args=["--wrap=none"]))

    return convert


def trafilatura(_path: Path, body: bytes) -> str:
    from trafilatura import extract  # type: ignore[import-not-found]

    return extract(body, output_format="markdown", include_tables=True) or ""


def readability(path: Path, body: bytes) -> str:
    from readability import Document  # type: ignore[import-not-found]

    summary = Document(body.decode("utf-8", "replace")).summary()
    return markdownify_html(path, summary.encode())


# name → (what must be importable, converter)
OF_JATS: dict[str, tuple[str, Convert]] = {
    "papershelf": ("utils", ours_jats),
    "BeautifulSoup + markdownify": ("markdownify", markdownify_jats),
    "pubmed_parser": ("pubmed_parser", pubmed_parser),
    "pandoc": ("pypandoc", _pandoc("jats")),
}
OF_HTML: dict[str, tuple[str, Convert]] = {
    "papershelf": ("utils", ours_html),
    "BeautifulSoup + markdownify": ("markdownify", markdownify_html),
    "trafilatura": ("trafilatura", trafilatura),
    "readability-lxml": ("readability", readability),
    "pandoc": ("pypandoc", _pandoc("html")),
}


def _converted(convert: Convert, path: Path, body: bytes) -> tuple[str, float]:
    """The text, empty where the converter gave up, and the seconds it took."""
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            text = convert(path, body)
        except FAILURES:
            text = ""
    return text, time.perf_counter() - start


def beside_jats(folder: Folder, converters: dict[str, Convert]) -> dict[str, tuple[Scores, float]]:
    found = {name: (Scores(), [0.0]) for name in converters}
    for case in folder.articles:
        truth, path = Truth(case.jats), case.folder / "jats.xml"
        gold = case.folder / "gold.craft.txt"
        for name, convert in converters.items():
            scores, seconds = found[name]
            text, took = _converted(convert, path, case.jats)
            seconds.append(took)
            jats_scores.score(case.name, truth, text, scores)
            if gold.exists():
                jats_scores.craft(case.name, gold.read_text("utf-8"), text, scores)
    return {name: (scores, _mean(spent)) for name, (scores, spent) in found.items()}


def beside_html(folder: Folder, converters: dict[str, Convert]) -> dict[str, tuple[Scores, float]]:
    found = {name: (Scores(), [0.0]) for name in converters}
    for page in folder.pages:
        if page.jats is None:
            continue
        truth, body = Truth(page.jats.read_bytes()), page.path.read_bytes()
        for name, convert in converters.items():
            scores, seconds = found[name]
            text, took = _converted(convert, page.path, body)
            seconds.append(took)
            page_scores.html(page.name, truth, text, body, scores)
    return {name: (scores, _mean(spent)) for name, (scores, spent) in found.items()}


def _mean(spent: list[float]) -> float:
    return sum(spent) / max(1, len(spent) - 1)


def table(
    title: str, names: tuple[str, ...], rows: dict[str, tuple[Scores, float]], missing: list[str]
) -> None:
    print(f"\n{title:28}" + "".join(f"{name:>17}" for name in names) + f"{'s/document':>12}")
    for name, (scores, seconds) in rows.items():
        cells = "".join(f"{scores[score].value:17.4f}" for score in names if score in scores)
        print(f"{name:28}{cells}{seconds:12.4f}")
    for name in missing:
        print(f"{name:28} not installed")


def beside(folder: Folder) -> None:
    for title, names, known, score in (
        ("JATS", JATS, OF_JATS, beside_jats),
        ("HTML", HTML, OF_HTML, beside_html),
    ):
        there = {
            name: convert
            for name, (module, convert) in known.items()
            if importlib.util.find_spec(module)
        }
        missing = [name for name in known if name not in there]
        table(title, names, score(folder, there), missing)


def report(measured: Report) -> None:
    print(f"{'score':44}{'value':>9}{'cases':>9}")
    for name, score in sorted(measured.scores.items()):
        print(f"{name:44}{score.value:9.4f}{score.total:9.0f}")
        for miss in score.misses[:5]:
            print(f"    {miss[:150]}")
    print("\nverdicts: right → given")
    for (right, got), count in sorted(measured.confusion.items()):
        print(f"{count:6}  {'' if got in right.split('|') else 'WRONG '}{right} → {got}")
    for kind, spent in measured.seconds.items():
        print(f"{kind}: {sum(spent) / len(spent):.4f} s a document, {len(spent)} documents")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of cases")
    parser.add_argument("--beside", action="store_true", help="score the alternatives, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = given.data
        if not root.exists():
            print(f"There is no folder {root}: the project's own cases are scored.\n")
            root = Path(made)
            own.build(root)
        if given.beside:
            beside(Folder(root))
        else:
            report(measure(Folder(root)))


if __name__ == "__main__":
    main()
