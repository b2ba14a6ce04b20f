"""Identifiers in every spelling people paste, and what they may not be."""

import pytest

from utils.errors import BadRequest
from utils.model.identifiers import Ids

SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"
SPELLINGS = {
    "31452104": "pmid:31452104", "PMID: 031452104": "pmid:31452104",
    "https://pubmed.ncbi.nlm.nih.gov/31452104/?dopt=Abstract": "pmid:31452104",
    "https://www.ncbi.nlm.nih.gov/pubmed/31452104": "pmid:31452104",
    "https://europepmc.org/article/MED/31452104": "pmid:31452104", "pmc7759461": "pmcid:PMC7759461",
    "PMC7759461.2": "pmcid:PMC7759461",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7759461/pdf/x.pdf": "pmcid:PMC7759461",
    "10.1038/S41586-020-2649-2": "doi:10.1038/s41586-020-2649-2",
    "doi: 10.1038/s41586-020-2649-2.": "doi:10.1038/s41586-020-2649-2",
    "https://doi.org/10.1038%2Fs41586-020-2649-2": "doi:10.1038/s41586-020-2649-2",
    "<10.1000/a>": "doi:10.1000/a", SICI: f"doi:{SICI.lower()}",
    "arXiv:2601.00001v2 [q-bio.GN]": "arxiv:2601.00001",
    "https://arxiv.org/pdf/2601.00001v3.pdf": "arxiv:2601.00001",
    "10.48550/arXiv.2601.00001": "arxiv:2601.00001", "math.GT/0309136": "arxiv:math/0309136",
    "hep-ex/0307015v1": "arxiv:hep-ex/0307015",
    "arXiv:2601.00001v2 [q-bio.GN]  5 Jan 2026": "arxiv:2601.00001",
    "arXiv:2601.00001 [cs.LG, stat.ML]": "arxiv:2601.00001", "2601.00001v2.pdf": "arxiv:2601.00001",
    "oai:arXiv.org:2601.00001": "arxiv:2601.00001", "arXiv 2601.00001": "arxiv:2601.00001",
    "arXiv.2601.00001": "arxiv:2601.00001", "(2601.00001)": "arxiv:2601.00001",
    "[arXiv:2601.00001]": "arxiv:2601.00001",
    "https://ar5iv.labs.arxiv.org/html/2601.00001": "arxiv:2601.00001",
    "https://huggingface.co/papers/2601.00001": "arxiv:2601.00001",
    "arxiv.org/format/2601.00001": "arxiv:2601.00001",
    "cond-mat.mes-hall/0309136": "arxiv:cond-mat/0309136",
    "physics.bio-ph/0309136": "arxiv:physics/0309136",
    "https://www.biorxiv.org/content/10.1101/2020.01.01.123456v1.full.pdf": (
        "doi:10.1101/2020.01.01.123456"
    ),
    "10.1101/2020.01.01.123456v2.full-text": "doi:10.1101/2020.01.01.123456",
    "https://www.medrxiv.org/content/10.1101/2020.01.01.20123456v3": (
        "doi:10.1101/2020.01.01.20123456"
    ),
    "10.1016/S0140-6736(05)67889-(0)": "doi:10.1016/s0140-6736(05)67889-(0)",
}  # fmt: skip
NONSENSE = [
    "", "hello", "0", "123456789", "10.1038", "PMC", "PMC0", "https://x.test", "-1", "1e7", "١٢٣",
    "2013.1234", "２６０１.00001",
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), SPELLINGS.items())
def test_reads_every_spelling(text, name):
    assert Ids.parse(text).names() == [name]


@pytest.mark.parametrize("text", NONSENSE)
def test_refuses_what_is_no_identifier(text):
    with pytest.raises(BadRequest) as refused:
        Ids.parse(text)
    assert refused.value.hint


def test_two_kinds_of_the_same_paper_go_together():
    ids = Ids.of(pmid="1", doi="10.1000/A", pmcid="", arxiv="")
    assert ids.names() == ["doi:10.1000/a", "pmid:1"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"pmid": "  "},
        {"pmid": "PMC1"},
        {"doi": "31452104"},
        {"doi": "10.48550/arXiv.2601.00001", "arxiv": "2601.00002"},
    ],
)
def test_nothing_the_wrong_kind_or_a_contradiction_is_refused(given):
    with pytest.raises(BadRequest):
        Ids.of(**given)


def test_the_doi_arxiv_registered_does_not_take_the_place_of_the_journals():
    ids = Ids.of(arxiv="2601.00001", doi="10.1000/a")
    assert ids.names() == ["doi:10.1000/a", "arxiv:2601.00001"]


@pytest.mark.parametrize("doi", ["10.1000/../search", "10.1000/.", "10.1000/./a", "10.1000/a/../b"])
def test_a_doi_that_leads_elsewhere_is_none(doi):
    assert not Ids(doi=doi)
    for spelling in (doi, f"https://doi.org/{doi}", f"doi:{doi}", doi.replace("/", "%2F")):
        with pytest.raises(BadRequest):
            Ids.parse(spelling)


def test_dots_in_a_step_are_part_of_a_doi():
    assert Ids.parse("10.1000/a..b/.c/...").doi == "10.1000/a..b/.c"
