"""Which engine renders references rightly: ours, citeproc-py as it is, pandoc's, citeproc-js.

Against the strings checked by hand in ``tests/citations/gold.json``, each reference on its own. The
others get the same CSL item and the same styles, first as the item is (*item*), then with what no
engine can know said in it (*item mended*: retractions, translations, journals without NLM's
additions, article numbers). Capitals, pages, initials, quotes and seams are theirs in both.

``uv run --with pypandoc_binary --with quickjs python -m quality.benchmarks.citation_engines --js
FOLDER`` (FOLDER: the npm package ``citeproc``, unpacked). What is not there is left out.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import citeproc
from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
from citeproc.source.json import CiteProcJSON

import utils.citations.styles as ours
from utils.citations import format_citations
from utils.citations.items import to_csl_item
from utils.citations.styles import STYLES, StyleOptions
from utils.model.paper import Paper, paper_from_row

GOLD = Path(__file__).resolve().parents[2] / "tests" / "citations" / "gold.json"
CSL = Path(ours.__file__).parent / "csl"
LOCALE = Path(citeproc.__file__).parent / "data" / "locales" / "locales-en-US.xml"
Item = dict[str, Any]
Engine = Callable[[Sequence[Item], StyleOptions], list[str]]


def mended(paper: Paper, style: StyleOptions) -> Item:
    """The item with what must be known of the paper, and nothing of how it is to be printed."""
    item = to_csl_item(paper, "item")
    english = item.get("language", "en") == "en"
    plain = StyleOptions("", style.file, style.pages)
    container = ours._format_container_title(item)
    title = ours._format_title_for_style(paper, item, plain, english)
    kept = {**item, "title": title, "container-title": container}
    if style.article_numbers and re.fullmatch(r"[a-zA-Z]\d+|\d{5,}", item.get("page", "")):
        kept["number"] = kept.pop("page")
    kept.pop("original-title", None)  # it stands in the title
    return {name: value for name, value in kept.items() if value}


def citeproc_py(items: Sequence[Item], style: StyleOptions) -> list[str]:
    """As its own documentation uses it."""
    read = citeproc.CitationStylesStyle(str(CSL / f"{style.file}.csl"), validate=False)
    made = []
    for item in items:
        source = CiteProcJSON([{**item, "id": "item"}])
        shelf = CitationStylesBibliography(read, source, formatter.plain)
        shelf.register(Citation([CitationItem("item")]))
        made.append("".join(map(str, shelf.bibliography())))
    return made


def pandoc(items: Sequence[Item], style: StyleOptions) -> list[str]:
    """A process for each reference: together they would be told apart as 2020a and 2020b."""
    import pypandoc

    style_file, made = CSL / f"{style.file}.csl", []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.json"
        for item in items:
            path.write_text(json.dumps([{**item, "id": "item"}]), "utf-8")
            command = [pypandoc.get_pandoc_path(), "--citeproc", f"--csl={style_file}"]
            command += ["-f", "csljson", "-t", "html", str(path)]
            done = subprocess.run(command, capture_output=True, check=True)
            made.append(printed(done.stdout.decode()))
    return made


def citeproc_js(folder: Path) -> Engine:
    """The reference processor in a small JavaScript engine."""
    import quickjs

    code = (folder / "citeproc_commonjs.js").read_text("utf-8")
    render = """
    var items = {}, engine = null;
    function load(style, locale) {
        var sys = {retrieveLocale: function () { return locale; },
                   retrieveItem: function (id) { return items[id]; }};
        engine = new CSL.Engine(sys, style, "en-US");
    }
    function reference(item) {
        items = {item: JSON.parse(item)};
        engine.updateItems([]); engine.updateItems(["item"]);
        return engine.makeBibliography()[1].join("");
    }"""

    def made(items: Sequence[Item], style: StyleOptions) -> list[str]:
        context = quickjs.Context()
        context.eval(f"var module = {{exports: {{}}}}, exports = module.exports;\n{code}\n{render}")
        context.get("load")(
            (CSL / f"{style.file}.csl").read_text(encoding="utf-8"), LOCALE.read_text("utf-8")
        )
        reference = context.get("reference")
        return [printed(reference(json.dumps({**item, "id": "item"}))) for item in items]

    return made


def printed(told: str) -> str:
    """HTML as text, without the number of a reference."""
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", told))).strip()
    return re.sub(r"^1\.\s*", "", text)


def measure(name: str, engine: Engine | None, papers: list[Paper], gold: list[Item]) -> None:
    for how in ("item", "item mended") if engine else ("",):
        cells, seconds = [], 0.0
        for style in STYLES.values():
            began = time.perf_counter()
            if engine is None:
                made = [one[style.name] for one in format_citations(papers, [style.name])]
            elif how == "item":
                made = engine([to_csl_item(paper, "item") for paper in papers], style)
            else:
                made = engine([mended(paper, style) for paper in papers], style)
            seconds += time.perf_counter() - began
            right = sum(one == case[style.name] for one, case in zip(made, gold, strict=True))
            cells.append(str(right))
        each = f"{seconds / len(papers) / len(STYLES) * 1000:.1f} ms"
        print(f"| {name}{f', {how}' if how else ''} | {' | '.join(cells)} | {each} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--js", type=Path, help="folder of the npm package citeproc")
    given = parser.parse_args()
    gold = json.loads(GOLD.read_text("utf-8"))
    papers = [paper_from_row(case["paper"]) for case in gold]
    engines: dict[str, Engine | None] = {"papershelf": None, "citeproc-py": citeproc_py}
    if find_spec("pypandoc"):
        engines["pandoc"] = pandoc
    if given.js and find_spec("quickjs"):
        engines["citeproc-js"] = citeproc_js(given.js)
    print(f"right of {len(gold)} | {' | '.join(STYLES)} | a reference")
    for name, engine in engines.items():
        measure(name, engine, papers, gold)


if __name__ == "__main__":
    main()
