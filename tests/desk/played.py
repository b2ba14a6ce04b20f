"""A played shelf of 300 papers, with a review of 200 records, notes, a PDF and a harvest's rows."""

from __future__ import annotations

from dataclasses import replace

from tests.shelf.papers import document, fetched, paper
from tests.world.pdf import write
from utils import Library
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

PAPERS, RECORDS = 300, 200
SUBJECTS = (
    "Moss and light",
    "Ferns in shade: a cohort study of old woods",
    "CXCL12–CXCR4 signalling steers progenitors",
    "تأثير الضوء على نمو الطحالب",
)
TEXT = (
    "# {title}\n\n## Introduction\n\nMoss grew [1, 2] at 10<sup>−5</sup> M.\n\n## Methods\n\n"
    + "We measured the height of each plant in twelve plots. " * 30
    + (
        "\n\nWe fit $v = V_{{max}} S$ and\n\n"
        "$$v = \\frac{{V_{{max}} S}}{{K_m + S}} \\tag{{1}}$$\n\n"
        "**Table 1. Heights.**\n\n| Group | Early | Late |\n| --- | ---: | ---: |\n"
        "| control | 1.02 ± 0.11 | 0.98 ± 0.09 |\n| treated | 3.71 ± 0.42 | 2.15 ± 0.37 |\n\n"
        "## Results\n\n"
    )
    + "Light helped the moss to grow. " * 30
    + "\n\n## References\n\n1. Fern A. Light. doi:10.1000/p.1\n2. Lost B. Dark. doi:10.1000/lost\n"
)


def fill(library: Library) -> None:
    """Put the papers and the review on a shelf."""
    for number in range(PAPERS):
        title = f"{SUBJECTS[number % len(SUBJECTS)]} {number}"
        record = replace(
            paper(doi=f"10.1000/p.{number}"),
            title=title,
            abstract=f"About {title}. " * 8,
            authors=(Author("Doe", "Jane A"), Author("Østergård", "Bo")),
            journal="Journal of Moss",
            published=f"{2000 + number % 25}-02-14",
            publication_types=("Retracted Publication",) if number % 50 == 7 else (),
        )
        verdict = "doubtful" if number % 11 == 3 else "full_text"
        text = document(
            TEXT.format(title=title), license="CC BY 4.0" if number % 3 else "", verdict=verdict
        )
        library.shelf.save_full_text(record, text, fetched(media="html"), source="PMC", attempts=())
    library.upkeep.annotate("doi:10.1000/p.1", tags=["to read", "methods"], note="See Fig. 2.")
    (library.shelf.folder / "10.1000_p.1.pdf").write_bytes(write(["Moss and light"]))
    _fill_review(library)


def _fill_review(library: Library) -> None:
    """Make a review whose last record is in conflict, and with a possible duplicate."""
    review = library.reviews.create("moss")
    criteria = {"include": ["about moss"], "exclude": ["not about moss", "no data"]}
    review.set_protocol({"title": "Moss in peat: a systematic review", "criteria": criteria})
    topics = ("Sphagnum moss stores water in peat", "Traffic noise and sleep")
    papers = [
        Paper(
            Ids(pmid=str(number + 1)),
            title=f"{topics[number % 2]} {number}",
            abstract="BACKGROUND: About moss in peat bogs.\nMETHODS: We looked. " * 6,
            authors=(Author("Doe", "Jane"),),
            published="2020",
        )
        for number in range(RECORDS - 1)
    ]
    twin = replace(papers[0], ids=Ids(doi="10.1000/twin"))
    entries = [
        (ListEntry(str(one.ids), one.ids), one) for one in [*papers[:100], twin, *papers[100:]]
    ]
    with review.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", entries)
    key = review.ledger.list_records()[-1].key
    for screener, choice in (("x", "include"), ("y", "exclude")):
        review.record_decision(key, screener, choice, stage="title_abstract")
