"""Fakes: parts of a paper, supplements to it, and things drawn from it, without the paper."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree, html

from quality.lab.cuts import long_enough
from quality.lab.dress import abstract, composed, drawn, head, reference_list
from quality.lab.foreign import TONGUES, usable
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.manuscript import Block, Manuscript, sentences, uncited
from quality.lab.remarks import RULES, about
from quality.lab.sheets import page_count, pages_of, printed
from quality.lab.words import ABSTRACT, SIGN_IN, TOOLS

_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False)


def floats(paper: Manuscript, *kinds: str) -> list[Block]:
    """Figures or tables of the paper."""
    return [block for block in paper.body if block.kind in kinds]


def _title(scene: Scene, *words: str) -> Block:
    what = scene.dice.choice(words)
    return Block(
        "heading", scene.dice.choice((f"{what} {scene.paper.title}", scene.paper.title)), 1
    )


@kind("figures only", TUNING, ALL)
def figures_only(scene: Scene) -> Made:
    shown = floats(scene.paper, "figure")
    if len(shown) < 2:
        return None
    known = (
        head(scene.paper, scene.dice) if scene.dice.random() < 0.6 else [_title(scene, "Figures:")]
    )
    told = abstract(scene.paper, scene.dice) if scene.dice.random() < 0.4 else []
    return [*known, *told, *shown]


@kind("tables only", HELD_OUT, ALL)
def tables_only(scene: Scene) -> Made:
    shown = floats(scene.paper, "table")
    return [_title(scene, "Tables:", "Data of"), *shown] if shown else None


def _numbers(scene: Scene, rows: int, columns: int) -> tuple[tuple[str, ...], ...]:
    names = [" ".join(b.text.split()[:2]) for b in scene.paper.body if b.text][:40] or ["sample"]
    dice = scene.dice
    first = ("Sample", *(f"V{n}" for n in range(columns)))
    return (
        first,
        *(
            (dice.choice(names), *(f"{dice.gauss(5, 3):.3f}" for _ in range(columns)))
            for _ in range(rows)
        ),
    )


@kind("supplement only", TUNING, ALL)
def supplement(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    words = (
        "Supplementary information for:",
        "Supporting Information:",
        "Online supplement to",
        "ESM:",
    )
    blocks = [_title(scene, *words), Block("para", ", ".join(name for name, _ in paper.people[:9]))]
    for n in range(dice.randint(2, 6)):
        rows = _numbers(scene, dice.randint(5, 25), dice.randint(2, 6))
        blocks.append(
            Block("table", f"Table S{n + 1}. {dice.choice(paper.prose())[:90]}", rows=rows)
        )
    return blocks + [
        Block("figure", f"Figure S{n + 1}. {sentences(dice.choice(paper.prose()))[0]}")
        for n in range(dice.randint(1, 5))
    ]


@kind("supplementary table", HELD_OUT, ALL)
def supplementary_table(scene: Scene) -> Made:
    rows = _numbers(scene, scene.dice.randint(40, 200), scene.dice.randint(3, 7))
    table = Block("table", "Table S1", rows=rows)
    return [_title(scene, "Additional file 1 of", "Data S1:", "Appendix to"), table]


@kind("supplementary methods", HELD_OUT, ALL)
def supplementary_methods(scene: Scene) -> Made:
    part = _section(scene.paper, "method")
    if not part:
        return None
    words = (
        "Supplementary methods:",
        "Protocol for",
        "Extended methods of",
        "Detailed procedures:",
    )
    return [_title(scene, *words), *part[1:]]


@kind("methods as a protocol", TUNING, ALL)
def protocol(scene: Scene) -> Made:
    part = _section(scene.paper, "method")
    if not part:
        return None
    steps = [text for b in part if b.kind == "para" for text in sentences(uncited(b.text))]
    lines = tuple(f"{n}. {text}" for n, text in enumerate(steps, start=1))
    materials = Block("list", items=lines)
    front = [_title(scene, "Protocol:"), *abstract(scene.paper, scene.dice)]
    return [*front, Block("heading", "Steps"), materials]


def _section(paper: Manuscript, word: str) -> list[Block]:
    from quality.lab.cuts import parts

    for part in parts(paper):
        words = sum(block.words for block in part)
        told = word in part[0].text.lower() and part[0].kind == "heading"
        if told and 150 < words < 0.6 * paper.body_words:
            return part
    return []


@kind("cover sheet and abstract", TUNING, ("pdf",))
def cover(scene: Scene) -> Made:
    said = about(scene.paper, scene.dice, RULES, scene.dice.randint(4, 15))
    told = [Block("para", text) for text in said]
    return [*head(scene.paper, scene.dice), *told, *abstract(scene.paper, scene.dice)]


@kind("repository's cover sheet and the first page", HELD_OUT, ("pdf",))
def first_page(scene: Scene) -> Made:
    if not long_enough(scene.paper):
        return None
    said = about(scene.paper, scene.dice, RULES, scene.dice.randint(6, 15))
    blocks = [*(Block("para", text) for text in said), *composed(scene.paper, scene.dice)]
    whole = printed(blocks, scene.paper, drawn(scene.dice), scene.dice)
    return pages_of(whole, range(2)) if page_count(whole) > 5 else None


@kind("references only", TUNING, ALL)
def references_only(scene: Scene) -> Made:
    if len(scene.paper.references) < 15:
        return None
    return [Block("heading", scene.paper.title, 1), *reference_list(scene.paper, scene.dice)]


@kind("printed sign-in page", HELD_OUT, ("pdf",))
def printed_sign_in(scene: Scene) -> Made:
    words = [Block("para", text) for text in scene.some(SIGN_IN, 5, 14)]
    rules = [
        Block("para", t) for t in about(scene.paper, scene.dice, RULES, scene.dice.randint(2, 20))
    ]
    return [Block("heading", scene.paper.title, 1), *words, *rules]


@kind("poster", TUNING, ("pdf", "markdown"))
def poster(scene: Scene) -> Made:
    blocks = head(scene.paper, scene.dice)
    for part in _headed(scene.paper):
        said = sentences(uncited(next((b.text for b in part if b.kind == "para"), "")))[:3]
        short = tuple(" ".join(text.split()[:14]) for text in said)
        blocks += [part[0], Block("list", items=short)] if short else []
    return [*blocks, *floats(scene.paper, "figure")[:3]] if len(blocks) > 6 else None


@kind("slides", HELD_OUT, ("pdf", "markdown"))
def slides(scene: Scene) -> Made:
    blocks = [Block("heading", scene.paper.title, 1)]
    for number, text in enumerate(scene.paper.prose()[:30], start=1):
        said = scene.dice.sample(sentences(text), min(len(sentences(text)), 3))
        points = tuple(" ".join(one.split()[:9]) for one in said)
        blocks += [
            Block("heading", f"{number} {' '.join(points[0].split()[:4])}"),
            Block("list", items=points),
        ]
    return blocks if len(blocks) > 10 else None


def _headed(paper: Manuscript) -> list[list[Block]]:
    from quality.lab.cuts import parts

    return [part for part in parts(paper) if part[0].kind == "heading"]


@kind("abstract in two languages", TUNING, ALL)
def bilingual(scene: Scene) -> Made:
    return _polyglot(scene, 1)


@kind("abstract in three languages, with references", HELD_OUT, SCREEN)
def trilingual(scene: Scene) -> Made:
    blocks = _polyglot(scene, 2)
    return [*blocks, *reference_list(scene.paper, scene.dice)] if blocks else None


def _polyglot(scene: Scene, number: int) -> list[Block] | None:
    if len(scene.paper.abstract_text.split()) < 80 or not usable(scene.paper):
        return None
    tongues = [t for t in TONGUES if scene.medium != "pdf" or t == "es"]
    blocks = [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]
    for tongue in scene.dice.sample(tongues, min(number, len(tongues))):
        told = TONGUES[tongue](scene.paper.abstract_text)
        blocks += [Block("heading", scene.dice.choice(ABSTRACT[4:])), Block("para", told)] * 2
    return blocks


@kind("abstract and outline", HELD_OUT, SCREEN)
def outline(scene: Scene) -> Made:
    titles = tuple(block.text for block in scene.paper.body if block.kind == "heading")
    if len(titles) < 5 or not scene.paper.abstract_text:
        return None
    captions = tuple(b.text[:80] for b in floats(scene.paper, "figure", "table"))
    links = [
        Block("links", "Outline", items=titles),
        Block("links", "Figures", items=captions or titles),
    ]
    scene.dice.shuffle(links)
    tools = Block("list", items=tuple(scene.some(TOOLS, 4, 9)))
    return [*head(scene.paper, scene.dice), *links, *abstract(scene.paper, scene.dice), tools]


def _with_body(jats: bytes, make: Callable[[etree._Element, etree._Element], None]) -> Made:
    """The XML, its body emptied and filled by *make*."""
    tree = etree.fromstring(jats, _PARSER)
    body = next(tree.iter("{*}body"), None)
    if body is None or tree.tag != "article":
        return None
    was = etree.fromstring(etree.tostring(body), _PARSER)
    for child in list(body):
        body.remove(child)
    make(body, was)
    return bytes(etree.tostring(tree)) if len(body) else None


@kind("XML that says where the text is", TUNING, ("jats",))
def xml_elsewhere(scene: Scene) -> Made:
    said = scene.some(
        (
            "The full text is available as a PDF.",
            "See PDF.",
            "Please see attachment.",
            "Full text is at the publisher's site.",
            "Only the scanned pages are available.",
            "Der Volltext liegt als PDF vor.",
            "Texte intégral en PDF.",
        ),
        1,
        2,
    )

    def make(body: etree._Element, was: etree._Element) -> None:
        for text in said:
            etree.SubElement(body, "p").text = text

    return _with_body(scene.paper.jats, make)


@kind("XML with figures only", HELD_OUT, ("jats",))
def xml_figures(scene: Scene) -> Made:
    def make(body: etree._Element, was: etree._Element) -> None:
        for el in list(was.iter("fig", "table-wrap")):
            if not any(up.tag in {"fig", "table-wrap"} for up in el.iterancestors()):
                el.tail = None
                body.append(el)

    return _with_body(scene.paper.jats, make)


@kind("XML whose body is the abstract again", HELD_OUT, ("jats",))
def xml_abstract(scene: Scene) -> Made:
    if not scene.paper.abstract_text:
        return None

    def make(body: etree._Element, was: etree._Element) -> None:
        for title in scene.some(("Summary", "Main text", "Article", "Abstract"), 1, 4):
            section = etree.SubElement(body, "sec")
            etree.SubElement(section, "title").text = title
            etree.SubElement(section, "p").text = scene.paper.abstract_text

    return _with_body(scene.paper.jats, make)


@kind("XML of titles only", TUNING, ("jats",))
def xml_titles(scene: Scene) -> Made:
    def make(body: etree._Element, was: etree._Element) -> None:
        for title in was.findall("sec/title"):
            section = etree.SubElement(body, "sec")
            etree.SubElement(section, "title").text = "".join(map(str, title.itertext()))

    return _with_body(scene.paper.jats, make)


@kind("XML with the first section only", HELD_OUT, ("jats",))
def xml_first(scene: Scene) -> Made:
    def make(body: etree._Element, was: etree._Element) -> None:
        sections = was.findall("sec")
        whole = len("".join(map(str, was.itertext())))
        if len(sections) > 2 and len("".join(map(str, sections[0].itertext()))) < whole / 2:
            body.append(sections[0])

    return _with_body(scene.paper.jats, make)


def _recorded_pdf(scene: Scene) -> tuple[bytes, int] | None:
    pdf = scene.paper.file("pdf")
    number = page_count(pdf) if pdf else 0
    return (pdf, number) if number >= 5 else None


@kind("recorded PDF, first pages", TUNING, ("pdf",), recorded=True)
def recorded_first(scene: Scene) -> Made:
    found = _recorded_pdf(scene)
    return pages_of(found[0], range(scene.dice.randint(1, found[1] // 2))) if found else None


@kind("recorded PDF without its middle", HELD_OUT, ("pdf",), recorded=True)
def recorded_middle(scene: Scene) -> Made:
    found = _recorded_pdf(scene)
    if not found:
        return None
    pdf, number = found
    return pages_of(pdf, (p for p in range(number) if not number // 4 <= p < number * 2 // 3))


@kind("recorded PDF without its end", HELD_OUT, ("pdf",), recorded=True)
def recorded_end(scene: Scene) -> Made:
    found = _recorded_pdf(scene)
    return pages_of(found[0], range(max(2, found[1] // 2))) if found else None


@kind("recorded PDF, every other page", TUNING, ("pdf",), recorded=True)
def recorded_odd(scene: Scene) -> Made:
    found = _recorded_pdf(scene)
    return pages_of(found[0], range(0, found[1], 2)) if found else None


def _thinned(scene: Scene, share: float) -> Made:
    """The publisher's own page, its paragraphs gone from some place on; all else as it was."""
    page = scene.paper.file("html")
    if not page:
        return None
    tree = html.fromstring(page, parser=html.HTMLParser(encoding="utf-8"))
    known = {" ".join(text.split()[:5]) for text in scene.paper.prose()}
    told = [
        el
        for el in tree.iter("p", "div")
        if " ".join(el.text_content().split()[:5]) in known and len(el.findall(".//p")) < 2  # type: ignore[attr-defined]
    ]
    for el in told[int(share * len(told)) :]:
        if el.getparent() is not None:
            el.drop_tree()  # type: ignore[attr-defined]
    return bytes(html.tostring(tree)) if len(told) > 8 else None


@kind("recorded page, half of its paragraphs", HELD_OUT, ("html",), recorded=True)
def page_half(scene: Scene) -> Made:
    return _thinned(scene, 0.5)


@kind("recorded page, no paragraphs", TUNING, ("html",), recorded=True)
def page_none(scene: Scene) -> Made:
    return _thinned(scene, 0.0)
