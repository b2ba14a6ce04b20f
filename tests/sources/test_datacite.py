"""Records of DataCite. Members: https://support.datacite.org/docs/api."""

import pytest

from utils.errors import Unreachable
from utils.model.identifiers import Ids
from utils.sources.datacite import look_up_papers

DOI = Ids(doi="10.5061/dryad.b2rbnzskz")
URL = "https://api.datacite.org/dois/10.5061%2Fdryad.b2rbnzskz"
RECORD = {
    "doi": DOI.doi, "titles": [{"title": "Nest &amp; <i>egg</i> data"}, {"title": "Other"}],
    "creators": [
        {"name": "Roe, Ann", "givenName": "Ann", "familyName": "Roe", "nameIdentifiers": [
            {"nameIdentifier": "https://orcid.org/0000-0001-5109-3700",
             "nameIdentifierScheme": "ORCID"}]},
        {"name": "Moss Group", "nameType": "Organizational", "givenName": None},
    ],
    "publisher": "Dryad", "publicationYear": 2024, "container": None, "language": "en",
    "types": {"resourceTypeGeneral": "Dataset"},
    "dates": [{"date": "2019", "dateType": "Created"},
              {"date": "2024-05-06", "dateType": "Issued"}],
    "rightsList": [{"rightsUri": "https://creativecommons.org/publicdomain/zero/1.0/"}],
    "descriptions": [{"description": "How.", "descriptionType": "Methods"},
                     {"description": "<p>What.</p>", "descriptionType": "Abstract"}],
}  # fmt: skip


def answered(**more):
    return {"data": {"type": "dois", "attributes": {**RECORD, **more}}}


def test_a_record_names_people_day_kind_and_license(web, mocked):
    mocked.get(URL, json=answered())
    paper = look_up_papers([DOI], web)[DOI]
    assert (paper.title, paper.abstract, paper.journal) == ("Nest & egg data", "What.", "Dryad")
    assert (paper.published, paper.publication_types) == ("2024-05-06", ("Dataset",))
    assert [author.name for author in paper.authors] == ["Ann Roe", "Moss Group"]
    assert paper.authors[0].orcid == "0000-0001-5109-3700"
    assert paper.license.endswith("zero/1.0/")


@pytest.mark.parametrize(
    ("more", "field", "value"),
    [
        ({"publisher": {"name": "Zenodo"}}, "journal", "Zenodo"),
        ({"container": {"title": "A Series", "firstPage": "1", "lastPage": "9"}}, "pages", "1-9"),
        ({"dates": [{"date": "2023-01-01", "dateType": "Issued"}]}, "published", "2024"),
        ({"dates": None, "publicationYear": None}, "published", ""),
        ({"rightsList": [{"rights": "All rights reserved"}]}, "license", "All rights reserved"),
        ({"creators": None, "titles": 3, "descriptions": [None]}, "title", ""),
    ],
)
def test_any_member_may_be_missing_or_of_another_form(web, mocked, more, field, value):
    mocked.get(URL, json=answered(**more))
    assert getattr(look_up_papers([DOI], web)[DOI], field) == value


def test_an_unknown_doi_is_no_record_and_an_outage_is_an_error(web, mocked):
    mocked.get(URL, status=404, json={"errors": [{"status": "404"}]})
    assert look_up_papers([DOI], web) == {}
    mocked.get("https://api.datacite.org/dois/10.5061%2Fother", json={"data": None})
    with pytest.raises(Unreachable):
        look_up_papers([Ids(doi="10.5061/other")], web)
