"""References without identifiers: resolved where they are sure, else listed, never guessed."""

# ruff: noqa: E501 - lists have long lines

from dataclasses import replace

import pytest

from utils.lists.pasted import ListEntry
from utils.lists.references import read_file_entries
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.search.reference_search import WantedReference
from utils.search.resolve import MIN_CONFIDENCE, choose_candidate

ROE, POE, WU = Author("Roe", "Jane A"), Author("Poe", "Ann"), Author("Wu", "Li")
MOSS = Paper(
    Ids(pmid="7", doi="10.1000/moss"),
    title="Moss keeps water in peat for longer than fern does: a field study.",
    authors=(ROE, POE, WU),
    journal="Journal of tests",
    journal_abbreviation="J Tests",
    volume="12",
    issue="3",
    pages="101-12",
    published="2019-05",
)
SAID = replace(MOSS, ids=Ids(), journal_abbreviation="", published="2019")
BRIEF = replace(SAID, volume="", issue="", pages="")


def said_of(record, **changes):
    """What a list without identifiers says of a paper of the stand-in."""
    people = tuple(Author(family, given) for family, given in record.authors)
    said = Paper(
        Ids(),
        title=record.plain_title,
        authors=people,
        journal=record.journal.title,
        volume=record.volume,
        issue=record.issue,
        pages=record.pages,
        published=record.year,
    )
    said = replace(said, **changes)
    return ListEntry(said.title or said.journal, Ids(), said)


def decided(said, *found):
    return choose_candidate(WantedReference(said, [(paper, "PubMed") for paper in found]))


# -- the paper, or candidates ----------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        SAID,
        BRIEF,
        replace(SAID, title=SAID.title.upper(), journal="J Tests"),
        replace(SAID, title="Moss keeps water in peat for longer than fern does"),
        replace(SAID, title="Moss keeps water in peat for longer than fern does: a fie"),
        replace(SAID, title=SAID.title.replace("water", "watre")),
        replace(SAID, published="2020"),
        replace(SAID, authors=SAID.authors[1:]),
        replace(SAID, authors=(Author("Roe"),)),
        replace(SAID, title=""),
    ],
)
def test_a_paper_is_found_however_the_list_writes_it_down(said):
    beside = replace(MOSS, ids=Ids(pmid="8"), title="Ferns of the peat", pages="113-9")
    found = decided(said, beside, MOSS)
    assert (found.status, found.ids) == ("resolved", MOSS.ids)
    assert found.confidence >= MIN_CONFIDENCE


LIKE_IT = {
    "another year": replace(MOSS, published="2014", volume="7"),
    "the yearly report of the year before": replace(MOSS, published="2018", volume="", pages=""),
    "an erratum": replace(MOSS, publication_types=("Published Erratum",), pages="400"),
    "an erratum by its title": replace(MOSS, title=f"Erratum: {MOSS.title}", pages="400"),
    "a comment of the same title": replace(MOSS, publication_types=("Comment",), pages=""),
    "a reply": replace(MOSS, title=f"Reply to: {MOSS.title}"),
    "the preprint": replace(MOSS, ids=Ids(doi="10.1101/123456"), journal="bioRxiv", volume=""),
    "part two": replace(MOSS, title="Moss keeps water in peat. Part II.", pages="120-31"),
    "another journal": replace(MOSS, journal="Peat", journal_abbreviation="", volume="4"),
    "other people": replace(MOSS, authors=(Author("Quux", "Q"),)),
    "a talk": replace(MOSS, issue="Suppl 1", pages="S88"),
}


@pytest.mark.parametrize("other", LIKE_IT.values(), ids=LIKE_IT)
@pytest.mark.parametrize("said", [SAID, BRIEF, replace(BRIEF, authors=())], ids=["all", "brief", "least"])  # fmt: skip
def test_what_only_looks_like_the_paper_is_never_taken(said, other):
    found = decided(said, replace(other, ids=replace(other.ids, pmid="9")))
    assert found.status in ("candidates", "not_found")
    assert not found.ids


def test_of_two_papers_that_fit_as_well_none_is_taken():
    twin = replace(MOSS, ids=Ids(pmid="8", doi="10.1000/twin"))
    found = decided(BRIEF, MOSS, twin)
    assert found.status == "candidates"
    assert {one.paper.ids.pmid for one in found.candidates} == {"7", "8"}
    assert "as good" in found.message


def test_two_records_of_one_paper_are_no_rivals():
    crossref = replace(MOSS, ids=Ids(doi="10.1000/moss"), title=MOSS.title.rstrip("."))
    found = decided(SAID, crossref, replace(MOSS, ids=Ids(pmid="7")))
    assert (found.status, found.ids) == ("resolved", MOSS.ids)


def test_where_not_all_hits_were_looked_at_only_a_place_counts():
    wanted = WantedReference(BRIEF, [(MOSS, "PubMed")], crowded=True)
    assert choose_candidate(wanted).status == "candidates"
    assert choose_candidate(replace(wanted, paper=SAID)).status == "resolved"


def test_the_title_of_every_issue_is_told_by_its_place():
    editorials = [
        replace(MOSS, ids=Ids(pmid=str(page)), title="Editorial", pages=str(page))
        for page in (1, 87, 203)
    ]
    said = replace(SAID, title="Editorial", pages="87")
    assert decided(said, *editorials).ids == Ids(pmid="87")
    assert decided(replace(said, pages=""), *editorials).status != "resolved"


# -- asking ----------------------------------------------------------------------------------


def test_every_paper_of_the_world_is_found_by_what_a_list_says_of_it(library, world):
    # A notice's title is as short as many; a chapter has no volume that a list could name.
    left_out = ("correction_notice", "book_chapter")
    records = [one for one in world.corpus.records if one.branch not in left_out]
    found = list(library.references.resolve([said_of(record) for record in records]))
    for record, one in zip(records, found, strict=True):
        names = {"pmid": record.pmid, "doi": record.doi.lower(), "arxiv": record.arxiv}
        told = {name: getattr(one.ids, name) for name in names if getattr(one.ids, name)}
        assert told.items() & {name: value for name, value in names.items() if value}.items()
    assert len(world.requests) < len(records) / 2  # most lines of ECitMatch share a request


def test_what_only_crossref_knows_is_found_there(library, world):
    record = world.paper("doi_only")
    [found] = library.references.resolve([said_of(record)])
    assert (found.ids.doi, found.named_by) == (record.doi, "Crossref")


def test_a_wrong_title_at_the_right_place_is_a_candidate(library, world):
    record = world.paper("pmc_cloud")
    [found] = library.references.resolve(
        [said_of(record, title="Quite another title of some other paper")]
    )
    assert (found.status, found.ids) == ("candidates", Ids())
    assert [one.paper.ids.pmid for one in found.candidates] == [record.pmid]


def test_a_paper_that_nobody_has_is_not_found(library):
    said = replace(BRIEF, title="Zyzzyva xylophagous quokkas juggle brightly")
    [found] = library.references.resolve([ListEntry("q", Ids(), said)])
    assert (found.status, found.candidates, found.message) == ("not_found", (), "")


@pytest.mark.parametrize("service", ["eutils", "crossref", "europepmc"])
def test_a_silent_site_is_never_nothing_found_and_is_asked_again(library, world, service):
    entry = ListEntry(
        "q", Ids(), replace(BRIEF, title="Zyzzyva xylophagous quokkas juggle brightly")
    )
    world.mood("down", service)
    [found] = library.references.resolve([entry])
    assert found.status == "could_not_tell"
    assert found.message
    world.calm()
    [found] = library.references.resolve([entry])
    assert found.status == "not_found"


def test_a_site_that_is_down_does_not_hide_what_another_has(library, world):
    world.mood("down", "eutils")
    record = world.paper("pmc_cloud")
    [found] = library.references.resolve([said_of(record)])
    assert (found.status, found.ids.doi) == ("resolved", record.doi)


def test_what_was_resolved_is_not_asked_again(library, world):
    entries = [said_of(world.paper("pmc_cloud")), said_of(world.paper("doi_only"))]
    first = list(library.references.resolve(entries))
    asked = len(world.requests)
    assert list(library.references.resolve(entries)) == first
    assert len(world.requests) == asked


def test_what_was_not_found_is_asked_again_when_somebody_wants_it(library, world):
    entry = ListEntry(
        "q", Ids(), replace(BRIEF, title="Zyzzyva xylophagous quokkas juggle brightly")
    )
    list(library.references.resolve([entry]))
    asked = len(world.requests)
    list(library.references.resolve([entry]))
    assert len(world.requests) == asked
    list(library.references.resolve([entry], again=True))
    assert len(world.requests) > asked


def test_identifiers_of_a_list_are_left_alone_and_words_alone_are_said_to_be(library, world):
    given, words = library.references.resolve(
        [ListEntry("7", Ids(pmid="7")), ListEntry("some words", Ids())]
    )
    assert (given.status, given.ids) == ("given", Ids(pmid="7"))
    assert words.status == "unreadable"
    assert not world.requests


# -- lists as programs write them ------------------------------------------------------------

LISTS = {
    "covidence": 'Title,Authors,Abstract,Published Year,Journal,Volume,Issue,Pages,DOI,Covidence #\n"{title}","{comma}",,{year},{journal},{volume},{issue},{pages},,#1\n',
    "embase": 'TITLE,AUTHOR NAMES,SOURCE TITLE,PUBLICATION YEAR,VOLUME,ISSUE,FIRST PAGE,LAST PAGE,DOI\n"[{title}].","{initials}",{journal},{year},{volume},{issue},{first},{last},\n',
    "scopus": 'Authors,Title,Year,Source title,Volume,Issue,Page start,Page end,DOI\n"{initials}","{title}",{year},{journal},{volume},{issue},{first},{last},\n',
    "ovid": 'TI,AU,SO\n"{title} [French]","{comma}","{journal}. {volume}({issue}):{pages}, {year} Apr 3"\n',
    "ris": "TY  - JOUR\nT1  - {title}\nA1  - {one}\nA1  - {two}\nY1  - {year}//\nJF  - {journal}\nVL  - {volume}\nIS  - {issue}\nSP  - {first}\nEP  - {last}\nER  - \n",
    "bibtex": "@article{{a, author = {{{one} and {two}}}, title = {{{title}}}, journal = {{{journal}}}, year = {{{year}}}, volume = {{{volume}}}, number = {{{issue}}}, pages = {{{first}--{last}}}}}\n",
    "wos": "FN Web of Science\nVR 1.0\nPT J\nAU {one}\n   {two}\nTI {title}\nSO {journal}\nPY {year}\nVL {volume}\nIS {issue}\nBP {first}\nEP {last}\nER\n\nEF\n",
    "csl": '[{{"type": "article-journal", "title": "{title}", "author": [{{"family": "{family}", "given": "{given}"}}], "container-title": "{journal}", "issued": {{"date-parts": [[{year}]]}}, "volume": "{volume}", "page": "{pages}"}}]',
    "endnote": '<xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors><author>{one}</author><author>{two}</author></authors></contributors><titles><title>{title}</title><secondary-title>{journal}</secondary-title></titles><pages>{pages}</pages><volume>{volume}</volume><number>{issue}</number><dates><year>{year}</year></dates></record></records></xml>',
}  # fmt: skip


@pytest.mark.parametrize("form", LISTS.values(), ids=LISTS)
def test_title_only_records_of_every_program_are_resolved(library, world, form):
    record = world.paper("pmc_cloud")
    (family, given), (other, others) = record.authors[:2]
    first, _, last = record.pages.partition("-")
    text = form.format(
        title=record.plain_title,
        one=f"{family}, {given}",
        two=f"{other}, {others}",
        comma=f"{family}, {given}; {other}, {others}",
        initials=f"{family} {given[0]}., {other} {others[0]}.",
        family=family,
        given=given,
        journal=record.journal.title,
        year=record.year,
        volume=record.volume,
        issue=record.issue,
        pages=record.pages,
        first=first,
        last=last,
    )
    [entry] = read_file_entries(text.encode(), "list.csv")
    assert not entry.ids
    assert entry.paper.authors[0].family == family
    assert (entry.paper.volume, entry.paper.pages) == (record.volume, record.pages)
    [found] = library.references.resolve([entry])
    assert (found.status, found.ids.pmid) == ("resolved", record.pmid)
