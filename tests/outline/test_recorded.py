"""The sections of recorded articles, held against what their XML says of them."""

import re
from pathlib import Path

import pytest
from lxml import etree

from utils.model.paper import Fetched, Role
from utils.outline import (
    build_outline,
    find_figures_and_tables,
    find_outermost_sections,
    to_title_key,
)
from utils.readers import jats

pytestmark = pytest.mark.shared
# The publishers' words for the sections right under <body>; a title may say more than they do.
TYPES: dict[str, Role] = {
    "intro": "introduction", "introduction": "introduction", "methods": "methods",
    "materials|methods": "methods", "results": "results", "discussion": "discussion",
    "conclusions": "conclusion", "conclusion": "conclusion",
}  # fmt: skip
# May be raised, never lowered. Publishers type a "Discussion" as conclusions, or one of three
# kinds of pesticides as methods.
ROLE_FLOOR = 0.99
FLOAT_FLOOR = 0.995


def article(path: Path) -> etree._Element:
    parser = etree.XMLParser(recover=True, load_dtd=False, no_network=True, resolve_entities=False)
    return etree.fromstring(path.read_bytes(), parser)


def test_sections_and_floats_are_found_where_the_xml_has_them(shared: Path) -> None:
    right: list[bool] = []
    there: list[bool] = []
    for path in sorted(shared.glob("articles/PMC[1-5]*/jats.xml")):
        root = article(path)
        document = jats.read_document(Fetched(path.read_bytes(), "jats", "", "", ""))
        words = {to_title_key(title): word for title, word in document.declared}
        sections = build_outline(document.markdown, words)
        for part in root.iterfind("body/sec[@sec-type]"):
            if (role := TYPES.get(part.get("sec-type", ""))) and part.find("title") is not None:
                title = to_title_key("".join(part.find("title").itertext()))
                right.append(
                    title
                    in {to_title_key(s.title) for s in find_outermost_sections(sections, role)}
                )
        labels = {one.label for one in find_figures_and_tables(document.markdown, sections)}
        printed = ("".join(label.itertext()) for label in root.iterfind(".//fig/label"))
        numbers = (re.fullmatch(r"Fig(?:ure|\.)? ?(\d+)[.:]?", label) for label in printed)
        there += [f"Figure {number[1]}" in labels for number in numbers if number]
    assert len(right) > 60
    assert len(there) > 200
    assert sum(right) / len(right) >= ROLE_FLOOR
    assert sum(there) / len(there) >= FLOAT_FLOOR
