"""How fast, and how completely, JATS becomes markdown: ours against what people use otherwise.

``uv run quality/benchmarks/jats_to_markdown.py [--data FOLDER] [--articles N] [--rounds N]``

Speed is processor time on one core, the median of several rounds (the slowest converters have one);
the converters take turns on every article, so that a busy machine slows all of them alike. ``lxml,
text only`` writes no markdown: it parses the same bytes and joins their `itertext`. Completeness is
measured on the same output: a leaf paragraph of the body (or a table cell) counts as kept when its
text, free of white space and markup, is found in the converter's output, free of white space and
markup. Formulas cut a paragraph into pieces, all of which must be found, because nobody keeps a
formula verbatim.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from utils.model.paper import Fetched  # noqa: E402
from utils.readers import jats  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
BLOCKS = frozenset(
    re.findall(
        r"\S+",
        "p list def-list table-wrap table fig fig-group disp-formula disp-formula-group disp-quote "
        "boxed-text supplementary-material media graphic preformat code verse-group statement "
        "speech array chem-struct-wrap alternatives",
    )
)
FORMULAS = frozenset({"inline-formula", "math", "tex-math"})
NO_TEXT = frozenset({"fn", "inline-graphic", "object-id"})
MARKUP = re.compile(r"</?(?:sub|sup|i|b|u|br|hr)\b[^<>]*>|\[\^\d+\]")
LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()\s]*)\)")
NOISE = re.compile(r"[\s\\*_`~|\u200b\ufeff]+")

ONE_ROUND = frozenset({"BeautifulSoup + markdownify", "pubmed_parser"})

Convert = Callable[[Path, bytes], str]


def ours(_path: Path, body: bytes) -> str:
    return jats.read_document(Fetched(body, "jats", "", "", "")).markdown


def soup_and_markdownify(_path: Path, body: bytes) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    article = BeautifulSoup(body, "lxml-xml").find("article")
    return str(MarkdownConverter(heading_style="ATX").convert_soup(article))


def pubmed_parser(path: Path, _body: bytes) -> str:
    import pubmed_parser as pp  # type: ignore[import-not-found]

    paragraphs = pp.parse_pubmed_paragraph(str(path), all_paragraph=True)
    tables = pp.parse_pubmed_table(str(path), return_xml=False) or []
    references = pp.parse_pubmed_references(str(path)) or []
    cells = (" ".join(map(str, row)) for table in tables for row in table["table_values"])
    heads = (" ".join(map(str, table["table_columns"])) for table in tables)
    texts = (paragraph["text"] for paragraph in paragraphs)
    return "\n\n".join([*texts, *heads, *cells, *(str(ref) for ref in references)])


def lxml_text(_path: Path, body: bytes) -> str:
    parser = etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, recover=True)
    return "".join(map(str, etree.fromstring(body.lstrip(), parser).itertext("*")))


def converters() -> dict[str, Convert | None]:
    has_parser = importlib.util.find_spec("pubmed_parser") is not None
    return {
        "papershelf": ours,
        "lxml, text only": lxml_text,
        "BeautifulSoup + markdownify": soup_and_markdownify,
        "pubmed_parser": pubmed_parser if has_parser else None,
    }


def normal(text: str) -> str:
    """Text free of markup and white space, to compare what was written, not how.

    Markup goes twice: ``&lt;`` must not become a tag, and links may hold emphasis.
    """
    text = LINK.sub(r"\1", MARKUP.sub("", text.replace("\\<", "&lt;")))
    return NOISE.sub("", html.unescape(text))


def _name(el: etree._Element) -> str:
    return el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""


def pieces(el: etree._Element) -> Iterator[str]:
    """The element's text, cut where a formula stands; footnotes left out."""
    made = [el.text or ""]
    for child in el:
        name = _name(child)
        if name in FORMULAS:
            yield "".join(made)
            made = []
        elif name in {"break", "hr"}:
            made.append(" ")
        elif name and name not in NO_TEXT:
            *earlier, last = pieces(child)
            for piece in earlier:
                yield "".join([*made, piece])
                made = []
            made.append(last)
        made.append(child.tail or "")
    yield "".join(made)


def _is_leaf(el: etree._Element) -> bool:
    return not any(_name(child) in BLOCKS for child in el.iterdescendants())


def _kept(el: etree._Element, output: str) -> bool | None:
    """Whether all of the element's text is in the output; None when it has none."""
    texts = [plain for piece in pieces(el) if (plain := NOISE.sub("", piece))]
    return all(text in output for text in texts) if texts else None


def completeness(body: bytes, output: str) -> dict[str, list[bool]]:
    """For every leaf paragraph of the body and every cell, whether it was kept."""
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    tree = etree.fromstring(body, parser)
    found: dict[str, list[bool]] = {"paragraphs": [], "cells": []}
    output = normal(output)
    for place in tree.iter("body", "floats-group"):
        for kind, tags in (("paragraphs", ("p",)), ("cells", ("td", "th"))):
            for el in place.iter(*tags):
                if _is_leaf(el) and (kept := _kept(el, output)) is not None:
                    found[kind].append(kept)
    return found


def measure(paths: list[Path], rounds: int) -> None:
    seconds: dict[str, list[float]] = {}
    kept: dict[str, dict[str, list[bool]]] = {}
    for number in range(rounds):
        spent: dict[str, float] = {}
        for path in paths:
            body = path.read_bytes()
            for name, convert in converters().items():
                if convert is None or (number > 0 and name in ONE_ROUND):
                    continue
                start = time.process_time()
                output = convert(path, body)
                spent[name] = spent.get(name, 0.0) + time.process_time() - start
                if number == 0:
                    total = kept.setdefault(name, {"paragraphs": [], "cells": []})
                    for kind, flags in completeness(body, output).items():
                        total[kind].extend(flags)
        for name, value in spent.items():
            seconds.setdefault(name, []).append(value)
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    report(medians, paths, kept)


def report(
    medians: dict[str, float], paths: list[Path], kept: dict[str, dict[str, list[bool]]]
) -> None:
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    titles = f"{'articles/s':>10} {'MB/s':>6} {'ours is':>8} {'paragraphs':>11} {'cells':>8}"
    print(f"{'converter':28} {titles}")
    for name in converters():
        if name not in medians:
            print(f"{name:28} not installed")
            continue
        speed = f"{len(paths) / medians[name]:10.1f} {megabytes / medians[name]:6.1f}"
        ratio = f"{medians[name] / medians['papershelf']:.2f} x"
        shares = [statistics.mean(kept[name][kind] or [False]) for kind in ("paragraphs", "cells")]
        print(f"{name:28} {speed} {ratio:>8} {shares[0]:11.2%} {shares[1]:8.2%}")
    counts = kept["papershelf"]
    print(f"\n{len(counts['paragraphs'])} paragraphs, {len(counts['cells'])} cells.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with articles/*/jats.xml")
    parser.add_argument("--articles", type=int, default=0, help="how many, evenly picked; 0: all")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    paths = sorted(given.data.glob("articles/*/jats.xml"))
    if not paths:
        parser.exit(0, f"No articles/*/jats.xml in {given.data}: nothing to measure.\n")
    if 0 < given.articles < len(paths):
        paths = paths[:: len(paths) // given.articles][: given.articles]
    print(f"{len(paths)} articles, median of {given.rounds} rounds, one core\n")
    measure(paths, given.rounds)


if __name__ == "__main__":
    main()
