"""Trials of ClinicalTrials.gov.

Fields: https://clinicaltrials.gov/data-api/about-api/study-data-structure.
"""

import pytest

from tests.world.clinicaltrials import list_trials
from utils import Library
from utils.errors import BadRequest, Unreachable
from utils.harvest.searches import build_site_queries, collect_papers
from utils.lists.described import parsed_paper_to_entry
from utils.lists.references import read_file_entries
from utils.model.paper import TRIAL_REGISTRATION, Notice
from utils.search.same_paper import judge_pair
from utils.sources import Query
from utils.sources.clinicaltrials import search

URL = "https://clinicaltrials.gov/api/v2/studies"
STUDY = {
    "protocolSection": {
        "identificationModule": {"nctId": "NCT02914938", "briefTitle": "Moss &amp; Light"},
        "statusModule": {
            "studyFirstSubmitDate": "2016-09-22",
            "studyFirstPostDateStruct": {"date": "2016-09-26", "type": "ESTIMATED"},
        },
        "sponsorCollaboratorsModule": {"leadSponsor": {"name": "Moss Pharma", "class": "INDUSTRY"}},
        "descriptionModule": {"briefSummary": "What light does."},
        "conditionsModule": {"conditions": ["Moss"], "keywords": ["light", "Moss"]},
        "designModule": {"studyType": "INTERVENTIONAL"},
        "referencesModule": {
            "references": [
                {"pmid": "29782217", "type": "DERIVED", "citation": "Roe J. Moss. 2018."},
                {"pmid": "111", "type": "BACKGROUND", "citation": "Older. 1999."},
                {"type": "RESULT", "citation": "Not in PubMed."},
            ]
        },
    }
}


def test_a_trial_has_its_number_sponsor_days_and_results(web, mocked):
    mocked.get(URL, json={"totalCount": 1, "studies": [STUDY]})
    found = search(Query("moss", min_date="2016", max_date="2017"), web)
    [trial] = found.papers
    assert (trial.title, trial.abstract, trial.pages) == (
        "Moss & Light",
        "What light does.",
        "NCT02914938",
    )
    assert (trial.journal, trial.published) == ("ClinicalTrials.gov", "2016-09-26")
    assert trial.publication_types == (TRIAL_REGISTRATION, "Interventional")
    assert [one.name for one in trial.authors] == ["Moss Pharma"]
    assert trial.keywords == ("Moss", "light")
    assert trial.notices == (Notice("update", "Roe J. Moss. 2018.", "29782217"),)
    assert (found.total, found.next_start) == (1, None)
    assert found.effective_query == "moss AREA[StudyFirstPostDate]RANGE[2016-01-01,2017-12-31]"


def test_pages_are_reached_by_their_tokens(library: Library, world):
    trials = list_trials(world)
    query = Query("trial", max_results=4, sort_by="relevance")
    first = search(query, library.web)
    assert (first.total, len(first.papers), first.next_start) == (len(trials), 4, 4)
    before = len(world.requests)
    second = search(Query("trial", max_results=4, start=4, sort_by="relevance"), library.web)
    assert len(world.requests) == before + 1
    assert second.total == len(trials)
    leap = search(Query("trial", max_results=4, start=6, sort_by="relevance"), library.web)
    assert leap.papers[:2] == second.papers[2:]
    assert not {one.pages for one in first.papers} & {one.pages for one in second.papers}


@pytest.mark.parametrize(
    "query",
    [
        Query("moss", author="Roe"),
        Query("moss", sort_by="journal"),
        Query(" "),
        Query("moss", start=20_000),
        Query("moss", min_date="2020", date_type="edat"),
        Query("(moss"),
    ],
)
def test_what_it_does_not_have_is_refused(library: Library, query):
    with pytest.raises(BadRequest):
        search(query, library.web)


def test_an_answer_without_trials_is_no_answer(web, mocked):
    mocked.get(URL, json={"totalCount": 1})
    with pytest.raises(Unreachable, match="without trials"):
        search(Query("moss"), web)


def test_a_trial_is_linked_to_its_publication_and_stays_a_record_of_its_own(library, world):
    record = next(one for one in list_trials(world) if int(one.pmid) % 2 == 0)
    [trial] = [
        one
        for one in search(Query(record.plain_title), library.web).papers
        if one.pages.endswith(record.pmid)
    ]
    paper = library.pubmed.paper(record.pmid)
    assert judge_pair(trial, paper).relation == "version_of"
    wanted = build_site_queries(f"clinicaltrials: {record.plain_title}", (), library.ladder.sources)
    found = collect_papers(wanted, {"PubMed": [parsed_paper_to_entry(paper, "")]}, library.ladder)
    assert len(found.papers) == 2
    assert found.papers[0].asked.endswith(f"ClinicalTrials.gov {trial.pages}")


def test_trials_of_the_same_title_and_year_stay_apart(web, mocked):
    other = {
        **STUDY["protocolSection"],
        "identificationModule": {"nctId": "NCT1", "briefTitle": "Moss &amp; Light"},
    }
    mocked.get(URL, json={"totalCount": 2, "studies": [STUDY, {"protocolSection": other}]})
    one, two = search(Query("moss"), web).papers
    assert judge_pair(one, two).relation == "different"
    assert parsed_paper_to_entry(one, "").asked != parsed_paper_to_entry(two, "").asked


# The tags as rfhb/ctrdata and the exports of trialsearch.who.int have them.
ICTRP = b"""<?xml version='1.0' encoding='UTF-8' ?>
<Trials_downloaded_from_ICTRP>
  <Trial><TrialID>NCT02914938</TrialID><Public_title>Moss</Public_title>
    <Scientific_title>Moss &amp; Light
    </Scientific_title><Primary_sponsor>Moss Pharma</Primary_sponsor>
    <Source_Register>ClinicalTrials.gov</Source_Register><Study_type>Interventional</Study_type>
    <Date_registration3>20160926</Date_registration3><Condition>Moss;Light</Condition>
    <results_url_link>https://pubmed.ncbi.nlm.nih.gov/29782217/</results_url_link></Trial>
  <Trial><TrialID>ISRCTN29932357</TrialID><Public_title>Metformin</Public_title>
    <Source_Register>ISRCTN</Source_Register><Date_registration>31/08/2019</Date_registration></Trial>
</Trials_downloaded_from_ICTRP>"""


def test_the_export_of_ictrp_is_a_list_of_trials(web, mocked):
    first, second = read_file_entries(ICTRP, "ictrp.xml")
    trial = first.paper
    assert (trial.title, trial.pages, trial.published) == (
        "Moss & Light",
        "NCT02914938",
        "2016-09-26",
    )
    assert trial.notices == (Notice("update", "", "29782217"),)
    assert trial.keywords == ("Moss", "Light")
    assert (second.paper.published, second.paper.journal) == ("2019-08-31", "ISRCTN")
    assert second.asked == "2019. Metformin. ISRCTN ISRCTN29932357"
    mocked.get(URL, json={"totalCount": 1, "studies": [STUDY]})
    [same] = search(Query("moss"), web).papers
    assert judge_pair(trial, same).relation == "same"


def test_a_review_counts_trials_as_records_of_registers(library, world):
    review = library.reviews.create("ripples")
    (review.folder / "ictrp.xml").write_bytes(ICTRP)
    protocol = """title: ripples
databases:
  - source: pubmed
    query: consolidation
  - source: clinicaltrials
    query: memory
lists:
  - {file: ictrp.xml, name: WHO ICTRP, kind: register}
"""
    (review.folder / "protocol.yaml").write_text(protocol, encoding="utf-8")
    update = review.update()
    trials = [one for one in update.new if TRIAL_REGISTRATION in one.paper.publication_types]
    assert trials
    numbers = review.numbers()
    assert [name for name, _ in numbers.databases] == ["PubMed"]
    assert dict(numbers.registers)["WHO ICTRP"] == 2
    assert dict(numbers.registers)["ClinicalTrials.gov"] == len(trials) - 2
    assert review.update().new == ()
    appendix = next(path for path in review.report() if path.name == "prisma-s.md")
    text = appendix.read_text("utf-8")
    assert "**3. Study registries.** ClinicalTrials.gov, WHO ICTRP" in text
