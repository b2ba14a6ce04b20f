"""Files of screening programs, as public sources show them.

- Rayyan: ``articles.csv`` with the header and notes that agbarnett/publication_preferences
  (``0_read_rayyan.R``), j-5chneider/cbf-writing (``1_wrangling_screeningDataRayaan.R``) and
  befriendabacterium/rayyanR read; in RIS the same notes stand in ``N1``.
- Covidence: the header of the WHO's list of March 2020, as public importers read it.
- ASReview: made by hand in the form that ``CSVWriter`` and ``RISWriter`` of 3.0.8 write
  (``asreview/data/tabular.py``, ``asreview/data/ris.py``), the columns those of
  ``api_export_dataset``.
- EPPI-Reviewer: ``web-maintenance/eppi_export_162.json`` of infoqualitylab/Empirical-Retraction-Lit,
  whose *Standard* set says that only other sets hold the types *Include* and *Exclude*. The keys of
  a reference besides ``Codes`` are those that the public exporter of SRDR+ writes.
- Zotero: tags as ``KW``, notes as ``<p>…</p>``; columns of its CSV as ASReview's reader knows them.
"""
# ruff: noqa: E501 - the files are as programs write them

import io
import json
import zipfile

from tests.fixtures import fixture_text

RAYYAN = fixture_text("lists/screening_rayyan.csv")
RAYYAN_RIS = fixture_text("lists/screening_rayyan.ris")
RAYYAN_BIBTEX = fixture_text("lists/screening_rayyan.bib")
COVIDENCE = """\
Title,Authors,Abstract,Published Year,Published Month,Journal,Volume,Issue,Pages,Accession Number,\
DOI,Ref,Covidence #,Study,Notes,Tags
Moss and light,"Roe, J.; Poe, A.",Green.,2019,,Bryology,3,1,1-9,,10.1000/moss.1,11,#7,Roe 2019,\
"Exclusion reason: Wrong setting; ",first; second
Fern,"Wu, L.",Tall.,2021,,Bryology,5,,4-5,,10.1000/fern,12,8,Wu 2021,,
"""
ASREVIEW = """\
title,abstract,authors,doi,year,asreview_label,asreview_time,asreview_note,asreview_tags,\
asreview_user_name
Moss and light,Green.,"Roe, J.",10.1000/moss.1,2019,1,2026-01-02 10:00:00,,"['moss']",Ama
"Moss, in the dark",Dark.,"Poe, A.",10.1000/moss.2,2018,0,2026-01-02 10:01:00,off topic,,Ama
Fern,Tall.,"Wu, L.",10.1000/fern,2021,,,,,
"""
ASREVIEW_RIS = fixture_text("lists/screening_asreview.ris")
ZOTERO_RIS = fixture_text("lists/screening_zotero.ris")
ZOTERO_CSV = """\
"Key","Item Type","Publication Year","Author","Title","Publication Title","ISBN","ISSN","DOI","Url",\
"Abstract Note","Date","Manual Tags","Automatic Tags"
"AB12CD34","journalArticle","2019","Roe, J.","Moss and light","Bryology","","","10.1000/moss.1","",\
"","2019","papershelf/exclude: wrong design; bryology",""
"""
EPPI = json.dumps(
    {
        "CodeSets": [
            {
                "SetName": "Screen on Title & Abstract",
                "SetId": 1,
                "SetType": {"SetTypeName": "Screening"},
                "Attributes": {
                    "AttributesList": [
                        {
                            "AttributeId": 10,
                            "AttributeType": "Include",
                            "AttributeName": "INCLUDE on title & abstract",
                        },
                        {
                            "AttributeId": 11,
                            "AttributeType": "Exclude",
                            "AttributeName": "Not about moss",
                        },
                        {
                            "AttributeId": 12,
                            "AttributeType": "Selectable (show checkbox)",
                            "AttributeName": "Reasons",
                            "Attributes": {
                                "AttributesList": [
                                    {
                                        "AttributeId": 13,
                                        "AttributeType": "Exclude",
                                        "AttributeName": "EXCLUDE on date",
                                    }
                                ]
                            },
                        },
                    ]
                },
            },
            {
                "SetName": "Screen on Full Text",
                "SetType": {"SetTypeName": "Screening"},
                "Attributes": {
                    "AttributesList": [
                        {
                            "AttributeId": 20,
                            "AttributeType": "Exclude",
                            "AttributeName": "Exclude: no data",
                        }
                    ]
                },
            },
        ],
        "References": [
            {
                "Title": "Moss and light",
                "ParentTitle": "Bryology",
                "Authors": "Roe J; Poe A; ",
                "Year": "2019",
                "DOI": "10.1000/moss.1",
                "Codes": [
                    {"AttributeId": 10, "AdditionalText": "", "ArmId": 0, "ArmTitle": ""},
                    {"AttributeId": 20, "AdditionalText": "", "ArmId": 0, "ArmTitle": ""},
                ],
            },
            {"Title": "Fern", "Year": "2021", "URL": "https://doi.org/10.1000/fern",
             "Codes": [{"AttributeId": 11}, {"AttributeId": 13}]},
            {"Title": "Lichen", "Year": "2020", "DOI": ""},
        ],
    }
)  # fmt: skip


def zipped(articles: str = RAYYAN) -> bytes:
    """The ZIP that Rayyan hands out."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("articles.csv", articles)
        archive.writestr("customizations_log.csv", "article_id,key,value,user_email\n")
    return out.getvalue()
