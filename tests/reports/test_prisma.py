"""The PRISMA diagram: the official words, numbers that agree, text that stays in its boxes.

The words below are those of the templates ``PRISMA_2020_flow_diagram_new_SRs_v1/v2.docx`` and
``…_updated_SRs_v1/v2.docx`` (prisma-statement.org; Page MJ et al., BMJ 2021;372:n71, CC BY 4.0),
the arrows those between the nodes of ``R/PRISMA_flowdiagram.R`` in the R package PRISMA2020.
"""

import io
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.reports import invented
from tests.reports.r_prisma import read_as_r_does
from utils.model.job import Job, JobCounts, JobSearch
from utils.reports import write_report
from utils.reports.figures import HarvestFigures
from utils.reports.prisma import (
    TO_FILL,
    PrismaFlow,
    PrismaNumbers,
    build_prisma_flow,
    count_harvest_numbers,
    merge_reviewers_numbers,
    render_r_table,
    render_svg,
)
from utils.reports.prisma.layout import compute_layout, measure_text_width

SVG = "{http://www.w3.org/2000/svg}"
KINDS = [(False, False), (False, True), (True, False), (True, True)]
FULL = PrismaNumbers(
    databases=(("PubMed", 1203), ("Europe PMC", 998), ("Embase (Ovid)", 2210)),
    registers=(("ClinicalTrials.gov", 45),),
    duplicates=900,
    excluded_automatic=12,
    excluded_other=0,
    records_screened=3544,
    records_excluded=3100,
    dbr_sought_reports=444,
    dbr_notretrieved_reports=30,
    dbr_assessed=414,
    dbr_excluded=(("Wrong population", 200), ("Not randomised", 164)),
    website_results=3,
    organisation_results=2,
    citations_results=40,
    other_sought_reports=45,
    other_notretrieved_reports=5,
    other_assessed=40,
    other_excluded=(("Wrong population", 36),),
    previous_studies=20,
    previous_reports=25,
    new_studies=50,
    new_reports=54,
)
DATABASES = [
    ("Records identified from*:", "Databases", "Registers"),
    ("Records removed before screening:", "Duplicate records removed",
        "Records marked as ineligible by automation tools", "Records removed for other reasons"),
    ("Records screened",),
    ("Records excluded**",),
    ("Reports sought for retrieval",),
    ("Reports not retrieved",),
    ("Reports assessed for eligibility",),
    ("Reports excluded",),
]  # fmt: skip
OTHER = [
    ("Records identified from:", "Websites", "Organisations", "Citation searching"),
    ("Reports sought for retrieval",), ("Reports not retrieved",),
    ("Reports assessed for eligibility",), ("Reports excluded",),
]  # fmt: skip
PREVIOUS = [
    (
        "Studies included in previous version of review",
        "Reports of studies included in previous version of review",
    )
]
NEW = [("Studies included in review", "Reports of included studies")]
UPDATED = [
    ("New studies included in review", "Reports of new included studies"),
    ("Total studies included in review", "Reports of total included studies"),
]


def counted(n: int, pending: float = 0.0) -> HarvestFigures:
    figures = HarvestFigures()
    for row in invented.rows(n, pending=pending):
        figures.add_paper(row)
    return figures


def made(figures: HarvestFigures | None = None, **changes: Any) -> PrismaFlow:
    return build_prisma_flow(
        count_harvest_numbers(invented.job(**changes), figures or counted(1000))
    )


def n(flow: PrismaFlow) -> dict[str, int | None]:
    return {count.name: count.n for count in flow.iterate_counts()}


@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_each_template_has_the_official_words(updated: bool, other: bool) -> None:
    empty = build_prisma_flow(PrismaNumbers(), updated=updated, other=other)
    words = [
        tuple(filter(None, (box.heading, *(count.words for count in box.counts))))
        for box in empty.boxes
    ]
    previous, rest = (PREVIOUS, UPDATED) if updated else ([], NEW)
    assert words == [*previous, *DATABASES, *(OTHER if other else []), *rest]
    new = "new " if updated else ""
    titles = [f"Identification of {new}studies via databases and registers"]
    titles = ["Previous studies", *titles] if updated else titles
    titles += [f"Identification of {new}studies via other methods"] if other else []
    assert list(empty.titles.values()) == titles
    drawn = etree.fromstring(render_svg(empty).encode())
    bars = [text.text for text in drawn.iter(f"{SVG}text") if text.get("class") == "on-bar"]
    assert bars == [*titles, "Identification", "Screening", "Included"]
    notes = " ".join(t.text or "" for t in drawn.iter(f"{SVG}text") if t.get("class") == "note")
    assert "*Consider, if feasible to do so, reporting the number of records identified" in notes
    assert "**If automation tools were used, indicate how many records were excluded by a" in notes
    assert "This work is licensed under CC BY 4.0." in notes


@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_arrows_lead_where_the_templates_have_them(updated: bool, other: bool) -> None:
    arrows = {
        (one.start, one.end)
        for one in compute_layout(build_prisma_flow(FULL, updated=updated, other=other)).arrows
    }
    wanted = {("box2", "box3"), ("box2", "box4"), ("box4", "box5"), ("box4", "box6")}
    wanted |= {("box6", "box7"), ("box6", "box8"), ("box8", "box9"), ("box8", "box10")}
    if other:
        wanted |= {("box11", "box12"), ("box12", "box13"), ("box12", "box14")}
        wanted |= {("box14", "box15"), ("box14", "box10")}
    if updated:
        wanted |= {("box1", "box16"), ("box10", "box16")}
    assert arrows == wanted


def test_the_numbers_choose_the_template() -> None:
    assert build_prisma_flow(FULL).template.endswith("databases, registers and other sources")
    assert "updated" in build_prisma_flow(FULL).template
    alone = build_prisma_flow(PrismaNumbers(databases=(("PubMed", 1),)))
    assert "new systematic reviews" in alone.template
    assert alone.template.endswith("databases and registers only")


def test_an_updated_review_is_summed_up() -> None:
    totals = n(build_prisma_flow(FULL))
    assert (totals["total_studies"], totals["total_reports"]) == (70, 79)
    assert not build_prisma_flow(FULL).remarks


def test_a_harvest_counts_what_it_knows_and_leaves_the_rest_open() -> None:
    search = JobSearch("pubmed", "PubMed", "q", "q", 1047, 1047)
    numbers = n(made(hits=1047, searches=(search,)))
    assert numbers["database_results"] == 1047
    assert numbers["duplicates"] == 47
    assert numbers["dbr_sought_reports"] == 1000
    figures = counted(1000)
    assert numbers["dbr_notretrieved_reports"] == 1000 - figures.states["full_text"]
    assert [name for name, number in numbers.items() if number is None] == [
        *("records_screened", "records_excluded", "dbr_assessed", "dbr_excluded"),
        *("new_studies", "new_reports"),
    ]
    drawn = render_svg(made(hits=1047, searches=(search,)))
    assert drawn.count('class="empty"') == 5
    assert drawn.count(f">{TO_FILL}<") == 5


def test_a_limit_excludes_nothing() -> None:
    search = JobSearch("pubmed", "PubMed", "q", "q", 2500, 2500)
    limited = made(hits=2500, searches=(search,))
    numbers = n(limited)
    assert (numbers["database_results"], numbers["duplicates"]) == (2500, 47)
    assert numbers["excluded_other"] == 0
    assert limited.remarks[0] == (
        "1,453 of the records identified are beyond the limit of this harvest."
    )


def test_what_a_site_did_not_hand_out_was_identified_all_the_same() -> None:
    search = JobSearch("semantic_scholar", "Semantic Scholar", "q", "q", 5000, 1047)
    shown = made(searches=(search,))
    assert n(shown)["database_results"] == 5000
    assert shown.remarks[0].startswith("3,953 of the records identified were not returned")
    assert "limit" not in " ".join(shown.remarks)


def test_papers_not_tried_are_not_called_unretrievable() -> None:
    figures = counted(1000, pending=0.3)
    flow = made(figures)
    pending = figures.states["pending"]
    assert pending > 200
    assert n(flow)["dbr_notretrieved_reports"] == 1000 - pending - figures.states["full_text"]
    assert f"Reports sought, not tried yet (n = {pending:,})." in flow.remarks


def test_lists_are_not_called_pubmed() -> None:
    assert made(query="").numbers.databases[0][0] == "Lists of identifiers"
    lists = (
        JobSearch("", "embase.ris", hits=47, taken=47),
        JobSearch("pubmed", "PubMed", hits=1000, taken=1000),
    )
    assert made(searches=lists).numbers.databases == (("PubMed", 1000), ("embase.ris", 47))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"records_screened": 3543}, "less those removed, are 3,544; records screened are 3,543"),
        ({"records_excluded": 3000}, "are 544; reports sought for retrieval are 444"),
        ({"dbr_assessed": 415}, "are 414; reports assessed are 415"),
        ({"other_assessed": 41}, "are 40; reports assessed (other methods) are 41"),
        ({"new_reports": 55}, "55 reports are included; 54 were assessed and not excluded"),
        ({"new_studies": 60}, "more new studies (60) than reports of them (54)"),
    ],
)
def test_contradictions_are_shown_not_forced(changes: dict[str, int], words: str) -> None:
    wrong = build_prisma_flow(merge_reviewers_numbers(FULL, changes, "x"))
    assert any(words in remark for remark in wrong.remarks)
    assert "Note:" in render_svg(wrong)
    assert "Note:" not in render_svg(build_prisma_flow(FULL))


@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_the_r_package_reads_the_same_numbers(updated: bool, other: bool) -> None:
    shown = build_prisma_flow(FULL, updated=updated, other=other)
    read = read_as_r_does(render_r_table(shown))
    lists = {"dbr_excluded", "other_excluded"}
    for count in shown.iterate_counts():
        if count.name not in lists:
            assert read[count.name] == count.n, count.name
            assert read[f"{count.name}_text"] == count.words.rstrip("*")
    assert read["database_specific_results"] == list(FULL.databases)
    assert read["register_specific_results"] == list(FULL.registers)
    assert read["dbr_excluded"] == list(FULL.dbr_excluded or ())
    assert read["newstud"] == shown.titles["main"]
    gone = {"previous_studies"} if not updated else set()
    gone |= {"website_results", "other_assessed"} if not other else set()
    assert {name for name in gone if read[name] is not None} == set()


def test_what_nobody_told_is_an_empty_cell_and_no_nought() -> None:
    read = read_as_r_does(render_r_table(made()))
    assert read["records_screened"] is read["new_reports"] is None
    assert read["dbr_excluded"] == [("", None)]
    assert read["excluded_automatic"] == 0
    assert TO_FILL in render_r_table(made())


def test_names_that_would_split_the_cell_do_not() -> None:
    odd = PrismaNumbers(
        databases=(("Embase, Ovid; 1974 to date", 7),), dbr_excluded=(("a,b;c\nd", 1),)
    )
    read = read_as_r_does(render_r_table(build_prisma_flow(odd)))
    assert read["database_specific_results"] == [("Embase / Ovid / 1974 to date", 7)]
    assert read["dbr_excluded"] == [("a / b / c d", 1)]


@pytest.mark.parametrize("title", ["", "<a & b>\x00\ufffe\ud800", "研究" * 300])
def test_the_drawing_is_valid_xml_that_loads_nothing(title: str) -> None:
    root = etree.fromstring(render_svg(build_prisma_flow(FULL), title).encode())
    assert root.tag == f"{SVG}svg"
    assert {etree.QName(node).localname for node in root.iter()} <= {
        *("svg", "title", "desc", "rect", "text", "tspan", "path"),
    }
    assert not root.xpath("//@href | //@style | //@src")


def wordy() -> PrismaNumbers:
    """Numbers and names as long as they come."""
    reasons = tuple((f"Reason {at}: not the population of the review" * 2, at) for at in range(20))
    told = {"databases": {"x" * 200: 10**7, "研究" * 40: 3}, "duplicates": 10**6}
    return merge_reviewers_numbers(FULL, {**told, "dbr_excluded": dict(reasons)}, "x")


@pytest.mark.parametrize(("updated", "other"), KINDS)
@pytest.mark.parametrize("numbers", [FULL, PrismaNumbers(), wordy()])
def test_text_stays_in_its_box_and_boxes_apart(
    updated: bool, other: bool, numbers: PrismaNumbers
) -> None:
    drawing = compute_layout(build_prisma_flow(numbers, updated=updated, other=other))
    areas = []
    for box in drawing.boxes:
        areas.append((box.x, box.y, box.width, box.height))
        for line in box.lines:
            size = 13 if line.style == "text" else 11
            assert box.x < line.x
            assert line.x + measure_text_width(line.text, size) <= box.x + box.width
            assert box.y < line.y - 9
            assert line.y + 4 <= box.y + box.height
    areas += [(bar.x, bar.y, bar.width, bar.height) for bar in drawing.bars]
    for at, (x, y, w, h) in enumerate(areas):
        assert x > 0
        assert x + w < drawing.width
        assert 0 < y < y + h < drawing.notes[0].y - 8
        for x2, y2, w2, h2 in areas[at + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    assert drawing.notes[-1].y < drawing.height


@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_arrows_touch_both_their_boxes_and_cross_none(updated: bool, other: bool) -> None:
    drawing = compute_layout(build_prisma_flow(FULL, updated=updated, other=other))
    boxes = {one.box.name: one for one in drawing.boxes}
    for arrow in drawing.arrows:
        for name, (x, y) in ((arrow.start, arrow.points[0]), (arrow.end, arrow.points[-1])):
            box = boxes[name]
            on_rim = x in (box.x, box.x + box.width) or y in (box.y, box.y + box.height)
            assert on_rim, arrow
        for (x, y), (x2, y2) in zip(arrow.points, arrow.points[1:], strict=False):
            assert x == x2 or y == y2
            left, right, top, bottom = min(x, x2), max(x, x2), min(y, y2), max(y, y2)
            for box in drawing.boxes:
                inside_x = left < box.x + box.width and right > box.x
                inside_y = top < box.y + box.height and bottom > box.y
                assert not (inside_x and inside_y), (arrow, box.box.name)


def test_an_empty_harvest_has_a_diagram_of_noughts() -> None:
    numbers = n(build_prisma_flow(count_harvest_numbers(Job("j", "t"), HarvestFigures())))
    assert set(numbers.values()) == {0, None}


def test_a_duplicate_found_while_the_report_is_written_is_one(tmp_path: Path) -> None:
    job = invented.job(hits=20, duplicates=0, counts=JobCounts(requested=20))
    page = write_report(job, lambda: invented.rows(19), tmp_path)
    read = read_as_r_does(page.with_name("prisma.csv").read_text(encoding="utf-8"))
    assert (read["database_results"], read["duplicates"], read["dbr_sought_reports"]) == (20, 1, 19)
    assert "limit" not in page.with_name("prisma.svg").read_text(encoding="utf-8")


def report(folder: Path) -> dict[str, Any]:
    page = write_report(invented.job(), lambda: invented.rows(1000), folder)
    return read_as_r_does(page.with_name("prisma.csv").read_text(encoding="utf-8"))


def test_what_only_people_know_is_filled_into_a_file_beside_the_figure(tmp_path: Path) -> None:
    before = report(tmp_path)
    form = tmp_path / "prisma.yaml"
    told = form.read_text(encoding="utf-8").replace(
        "# records_screened: 0", "records_screened: 900"
    )
    told = told.replace("# citations_results: 0", "citations_results: 12")
    told = told.replace(
        "# dbr_excluded:                   # reports excluded, by reason\n#   Wrong population: 0",
        "dbr_excluded:\n  Wrong population: 5\n  Wrong, outcome: 6",
    )
    form.write_text(told, encoding="utf-8")
    after = report(tmp_path)
    assert (before["records_screened"], after["records_screened"]) == (None, 900)
    assert after["citations_results"] == 12
    assert after["dbr_excluded"] == [("Wrong population", 5), ("Wrong / outcome", 6)]
    assert "via other methods" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert form.read_text(encoding="utf-8") == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("records_screend: 9", "'records_screend' is not the name of a number"),
        ("records_screened: many", "'many' is not a valid number for records_screened"),
        ("records_screened: -1", "-1 is not a valid number for records_screened"),
        ("dbr_excluded: {a: [1]}", "is not a valid number for dbr_excluded"),
        ("- 1", "contains no numbers"),
        ("a: {b", "line 3, is not valid YAML"),
        ("!!python/object/apply:os.system [echo]", "is not valid YAML"),
        ("&a [*a]", "contains no numbers"),
    ],
)
def test_an_entry_that_cannot_be_used_is_told_in_the_figure(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "prisma.yaml").write_text(
        f"new_studies: 3\n{text}\n" if ": " in text else text, encoding="utf-8"
    )
    report(tmp_path)
    drawn = etree.fromstring((tmp_path / "prisma.svg").read_bytes())
    notes = " ".join(t.text or "" for t in drawn.iter(f"{SVG}text") if t.get("class") == "note")
    assert words in notes


def test_every_number_there_is_stands_in_the_form() -> None:
    from utils.reports.prisma import NUMBER_NAMES
    from utils.reports.prisma.counts import NUMBERS_TEMPLATE

    sums = {"database_results", "register_results", "total_studies", "total_reports"}
    assert {name for name in NUMBER_NAMES if f"# {name}:" not in NUMBERS_TEMPLATE} == sums


@pytest.mark.extras("PIL")
@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_the_picture_shows_what_the_drawing_does(updated: bool, other: bool) -> None:
    from PIL import Image

    from utils.reports.prisma.png import render_png

    shown = build_prisma_flow(FULL, updated=updated, other=other)
    drawing = compute_layout(shown)
    image = Image.open(io.BytesIO(render_png(shown))).convert("L")
    assert image.size == (round(drawing.width * 3), round(drawing.height * 3))
    for box in drawing.boxes:
        for line in box.lines:  # there is ink where the line stands, and none left of it
            left, base = round(line.x * 3), round(line.y * 3)
            word = image.crop((left, base - 24, left + 60, base + 3))
            assert word.getextrema()[0] < 90, line
            gap = image.crop((round(box.x * 3) + 6, base - 24, round(box.x * 3) + 24, base + 3))
            assert gap.getextrema()[0] > 200, line


@pytest.mark.extras("pptx")
@pytest.mark.parametrize(("updated", "other"), KINDS)
def test_the_slide_has_every_box_as_a_shape_and_every_arrow_hung_on_two(
    updated: bool, other: bool
) -> None:
    from pptx import Presentation

    from utils.reports.prisma.layout import INDENT
    from utils.reports.prisma.pptx import render_pptx

    shown = build_prisma_flow(FULL, updated=updated, other=other)
    [slide] = Presentation(io.BytesIO(render_pptx(shown, "A review"))).slides
    shapes = {shape.name: shape for shape in slide.shapes}
    for box in shown.boxes:
        lines = shapes[box.name].text_frame.paragraphs
        margins = [int(line._p.pPr.get("marL") or 0) // 9525 for line in lines]  # in pixels
        texts = [line.text.replace("\xa0", " ") for line in lines]
        told = [(words, INDENT * level) for words, level in box.paragraphs]
        assert [*zip(texts, margins, strict=True)] == told
    names = {shape.shape_id: shape.name for shape in slide.shapes}
    ends = []
    for shape in slide.shapes:
        if shape._element.tag.endswith("cxnSp"):
            hung = shape._element.nvCxnSpPr.cNvCxnSpPr
            ends.append((names[hung.stCxn.id], names[hung.endCxn.id]))
    assert sorted(ends) == sorted((one.start, one.end) for one in compute_layout(shown).arrows)


@pytest.mark.extras("pptx")
def test_an_unknown_number_says_so_on_the_slide_too() -> None:
    from pptx import Presentation

    from utils.reports.prisma.pptx import render_pptx

    [slide] = Presentation(io.BytesIO(render_pptx(made()))).slides
    open_ = [s.name for s in slide.shapes if s.has_text_frame and TO_FILL in s.text_frame.text]
    assert open_ == ["box4", "box5", "box8", "box9", "box10"]
