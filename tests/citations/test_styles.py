"""The styles are the official ones, read late and once, and safe to share."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import utils
from tests.processes import run
from utils.citations import PRINTED, format_citations
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

STYLES = Path(utils.__file__).parent / "citations" / "csl"
NAMES = [style.name for style in PRINTED.values()]
CSL = "{http://purl.org/net/xbiblio/csl}"


@pytest.mark.parametrize("path", sorted(STYLES.glob("*.csl")), ids=lambda path: path.stem)
def test_each_style_names_its_authors_and_its_licence(path):
    info = ET.parse(path).getroot().find(f"{CSL}info")
    assert info.find(f"{CSL}id").text == f"http://www.zotero.org/styles/{path.stem}"
    assert "by-sa/3.0" in info.find(f"{CSL}rights").get("license")
    assert info.findall(f"{CSL}author")


def test_nothing_heavy_is_imported_before_a_style_is_asked_for():
    told = "import sys, utils.citations; print(*sys.modules)"
    done = run(
        [sys.executable, "-c", told],
        cwd=STYLES.parents[2],
        text=True,
        check=True,
    )
    assert not {"citeproc", "lxml.etree"} & set(done.stdout.split())


def test_threads_share_the_styles():
    papers = [
        Paper(Ids(), f"Title {at}", authors=(Author(f"Name{at}", "Jan Pieter"),) * (at % 9))
        for at in range(24)
    ]
    alone = format_citations(papers, NAMES)
    with ThreadPoolExecutor(4) as crowd:
        together = list(crowd.map(lambda paper: format_citations([paper], NAMES)[0], papers))
    assert together == alone


@pytest.mark.parametrize(
    ("authors", "shown", "et_al"),
    [(6, 6, False), (7, 6, True), (30, 6, True)],
)
def test_vancouver_names_six_and_others(authors, shown, et_al):
    people = tuple(Author(f"Name{at}", "Ann") for at in range(authors))
    [made] = format_citations([Paper(Ids(), "Title", authors=people)], ["vancouver"])
    assert made["vancouver"].count("Name") == shown
    assert (", et al. " in made["vancouver"]) == et_al


@pytest.mark.parametrize(("authors", "shown"), [(20, 20), (21, 20), (300, 20)])
def test_apa_names_twenty_or_nineteen_and_the_last(authors, shown):
    people = tuple(Author(f"Name{at}", "Ann") for at in range(authors))
    [made] = format_citations([Paper(Ids(), "Title", authors=people)], ["apa_string"])
    assert made["apa_string"].count("Name") == shown
    assert f"Name{authors - 1}, A. (n.d.)" in made["apa_string"]
    assert ("…" in made["apa_string"]) == (authors > 20)


# The form is that of the official style, read by hand.
@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"journal": "Nature (London)", "journal_abbreviation": "Nature", "published": "1953"},
            "Doe JA, Roe R. A title. Nature. 1953;171: 737–738. doi:10.1000/a"),
        ({"journal": "bioRxiv", "pages": "", "publication_types": ("Preprint",)},
            "Doe JA, Roe R. A title. bioRxiv; 2026. doi:10.1000/a"),
        ({"journal": "Lancet", "authors": (), "published": "1999-02-03", "pages": "e101"},
            "A title. Lancet. 1999;171: e101. doi:10.1000/a"),
    ],
)  # fmt: skip
def test_plos_is_written_as_its_journals_print_it(fields, written):
    usual = {
        "authors": (Author("Doe", "Jane A"), Author("Roe", "Richard")),
        "volume": "171",
        "pages": "737-8",
        "published": "2026-01",
    }
    [made] = format_citations(
        [Paper(Ids(doi="10.1000/a"), "A title", **(usual | fields))], ["plos"]
    )
    assert made["plos"] == written


@pytest.mark.parametrize(("authors", "shown"), [(6, 6), (7, 6), (300, 6)])
def test_plos_names_six_and_others(authors, shown):
    people = tuple(Author(f"Name{at}", "Ann") for at in range(authors))
    [made] = format_citations([Paper(Ids(), "Title", authors=people)], ["plos"])
    assert made["plos"].count("Name") == shown
    assert (", et al." in made["plos"]) == (authors > 6)


@pytest.mark.parametrize("name", NAMES)
def test_order_and_neighbours_do_not_matter(name):
    one = Paper(Ids(), "One", authors=(Author("Doe", "Jane"),), published="2020")
    other = Paper(Ids(), "Other", authors=(Author("Doe", "Jane"),), published="2020")
    both = [made[name] for made in format_citations([one, other], [name])]
    assert both == [made[name] for made in format_citations([other, one], [name])][::-1]
    assert "2020a" not in both[0]
