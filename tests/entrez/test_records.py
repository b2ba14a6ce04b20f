"""Summaries, records and links of any database: bounded, whole, honest about what is missing."""

import json

import pytest
from lxml import etree

from tests.answering import answering
from utils.errors import BadRequest, EntrezFailed, PaperError, Unreachable
from utils.system.plain_text import to_escaped_json

DATABASES = {
    "gene": "672", "protein": "NP_009000.1", "nuccore": "237757283", "nucleotide": "NM_009001.2",
    "taxonomy": "9606", "clinvar": "65533", "snp": "rs268", "assembly": "11968211",
    "biosample": "2672871", "sra": "155791", "bioproject": "257197", "gds": "200000001",
    "medgen": "336030", "mesh": "68009369",
}  # fmt: skip

# --- summaries -------------------------------------------------------------


@pytest.mark.parametrize("database", DATABASES)
def test_every_database_has_summaries_with_its_own_fields(entrez, database):
    page = entrez.summary(database, [DATABASES[database], "99999999999"])
    [one] = page.records
    assert one.fields["uid"] == one.uid
    assert len(one.fields) > 5
    assert [missing.id for missing in page.not_found] == ["99999999999"]
    assert page.next_start is None


def test_summaries_come_in_the_order_asked_for(entrez):
    page = entrez.summary("protein", "6552301 NP_009000.1 6552300")
    assert [(one.uid, one.asked) for one in page.records] == [
        ("6552301", ""), ("6552299", "NP_009000.1"), ("6552300", ""),
    ]  # fmt: skip


def test_never_more_than_asked_and_all_of_it_in_the_end(entrez):
    seen, start = [], 0
    while start is not None:
        page = entrez.summary("snp", range(268, 300), start=start, max_results=9, max_chars=4_000)
        assert len(page.records) <= 9
        assert sum(len(to_escaped_json(one.fields)) for one in page.records) <= 4_000
        seen += [int(one.uid) for one in page.records]
        start = page.next_start
    assert seen == list(range(268, 300))


def test_a_long_record_names_the_fields_that_had_no_room(entrez):
    page = entrez.summary("gene", "675,676", max_chars=500)
    [one] = page.records
    assert one.left_out
    assert not set(one.left_out) & set(one.fields)
    assert len(to_escaped_json(one.fields)) <= 500
    assert page.next_start == 1


@pytest.mark.parametrize("options", [{"max_results": 0}, {"max_results": 501},
                                     {"max_chars": 9}, {"start": -1},
                                     {"start": 1}, {"history": "h_0000000000000000"}])  # fmt: skip
def test_numbers_that_cannot_be_are_refused(entrez, world, options):
    with pytest.raises(BadRequest) as refused:
        entrez.summary("gene", "672", **options)
    assert refused.value.hints
    assert not world.requests


def test_summaries_that_come_as_xml_are_read(entrez, monkeypatch):
    body = (
        '<eSummaryResult><DocumentSummarySet status="OK"><DocumentSummary uid="1"><A>x</A><BList>'
        "<string>y</string></BList><C><D>1</D><E>2</E></C></DocumentSummary><DocumentSummary "
        'uid="2"><error>gone</error></DocumentSummary></DocumentSummarySet></eSummaryResult>'
    )
    answering(monkeypatch, body)
    page = entrez.summary("gap", "1,2")
    assert page.records[0].fields == {"uid": "1", "a": "x", "blist": ["y"],
                                      "c": {"d": "1", "e": "2"}}  # fmt: skip
    assert [(one.id, one.reason) for one in page.not_found] == [("2", "gone")]


def test_a_page_of_the_history_that_comes_short_is_told(entrez, monkeypatch):
    kept = entrez.post("gene", "672 673 674")
    answering(monkeypatch, {"result": {"uids": ["672"], "672": {"uid": "672"}}})
    page = entrez.summary("gene", history=kept.id)
    assert "1 of the 3" in page.warnings[0]


# --- records ---------------------------------------------------------------

FORMS = (
    ("gene", "672,673", "", "xml", "<Entrezgene-Set>"), ("gene", "672", "", "", "1. BRCA1"),
    ("protein", "NP_009000.1", "gp", "", "LOCUS"), ("protein", "6552299", "fasta", "", ">NP_"),
    ("nuccore", "237757283", "gb", "xml", "<GBSet>"), ("nuccore", "237757283", "acc", "", "NM_"),
    ("nuccore", "NM_009000.1", "fasta", "xml", "<TSeqSet>"),
    ("taxonomy", "9606", "", "", "<TaxaSet>"), ("taxonomy", "9606", "", "text", "1. Homo"),
    ("clinvar", "65533", "vcv", "", "<ClinVarResult-Set>"), ("snp", "268", "json", "", "{"),
    ("biosample", "2672871", "full", "xml", "<BioSampleSet>"),
    ("sra", "155791", "runinfo", "", "Run,"), ("bioproject", "257197", "", "", "1. Homo"),
    ("gds", "200000001", "summary", "", "1. Series"),
)  # fmt: skip


@pytest.mark.parametrize(("database", "ids", "rettype", "retmode", "begins"), FORMS)
def test_records_come_in_the_form_asked_for(entrez, database, ids, rettype, retmode, begins):
    got = entrez.fetch(database, ids, rettype=rettype, retmode=retmode)
    assert got.text.startswith(begins)
    assert got.next_start is None
    assert not got.cut
    assert not got.not_found
    assert not got.warnings
    assert got.records >= len(ids.split(","))
    if got.retmode == "xml":
        assert len(etree.fromstring(got.text)) == got.records


def test_pubmed_and_pmc_are_fetched_too(entrez, world):
    paper = world.paper("pmc_cloud")
    got = entrez.fetch("pubmed", [paper.pmid, "999999999"], rettype="xml")
    assert paper.title[:20] in got.text
    assert [one.id for one in got.not_found] == ["999999999"]
    assert entrez.fetch("pubmed", paper.pmid, rettype="medline").text.startswith("PMID- ")
    held = next(record for record in world.papers if record.efetch == "body")
    got = entrez.fetch("pmc", [held.pmcid, "PMC99999"], max_chars=200_000)
    assert got.records == 1
    assert [(one.id, "not available" in one.reason) for one in got.not_found] == [("99999", True)]


def whole(entrez, most, max_chars, **options):
    """All texts of calls that follow next_start and next_offset."""
    start, offset, texts = 0, 0, []
    while start is not None:
        got = entrez.fetch(
            **options, start=start, offset=offset, max_results=most, max_chars=max_chars
        )
        assert len(got.text) <= max_chars
        texts.append(got)
        start, offset = got.next_start, got.next_offset
    return texts


@pytest.mark.parametrize("max_chars", [200, 777, 5_000, 1_000_000])
def test_parts_that_follow_next_start_are_the_whole(entrez, world, max_chars):
    options = {"database": "protein", "ids": range(6552299, 6552311), "rettype": "gp"}
    texts = whole(entrez, 5, max_chars, **options)
    everything = entrez.fetch(**options, max_results=200, max_chars=1_000_000)
    assert "".join(one.text for one in texts) == everything.text
    assert everything.records == 12
    # What is read on in is not fetched again.
    assert len([r for r in world.requests if r.path == "/efetch.fcgi"]) == 4


def test_each_part_of_xml_is_well_formed_while_records_fit(entrez):
    texts = whole(entrez, 20, 2_500, database="taxonomy", ids=range(9606, 9630))
    assert len(texts) > 3
    assert sum(len(etree.fromstring(one.text)) for one in texts) == 24
    assert all(not one.cut for one in texts)


def test_a_record_that_is_too_long_is_cut_and_says_so(entrez):
    got = entrez.fetch("gene", "674,675", retmode="xml", max_chars=200)
    assert (got.cut, got.records, got.next_start) == (True, 0, 0)
    assert got.next_offset == len(got.text)


def test_records_come_from_a_history(entrez):
    kept = entrez.search("snp", "all[filter]", keep=True).history
    got = entrez.fetch("snp", history=kept.id, start=1198, max_results=50)
    told = [json.loads(line)["refsnp_id"] for line in got.text.splitlines()]
    assert told == ["1466", "1467"]
    assert (got.total, got.next_start) == (1200, None)


@pytest.mark.parametrize(("ids", "missing"), [
    ("NM_009000.1 NM_999999.9", ["NM_999999.9"]), ("XX_1 YY_2", ["XX_1", "YY_2"]),
    ("237757283 5", ["5"]), ("NM_009000.1 X_1 NM_009001.2", ["X_1"]),
])  # fmt: skip
def test_one_unknown_identifier_costs_nobody_else_a_record(entrez, ids, missing):
    got = entrez.fetch("nuccore", ids, rettype="fasta")
    assert [one.id for one in got.not_found] == missing
    assert all(one.reason for one in got.not_found)
    assert got.records == len(ids.split()) - len(missing)


def test_where_runs_are_no_records_the_missing_are_named_all_the_same(entrez):
    got = entrez.fetch("sra", "155792 7", rettype="runinfo")
    assert [one.id for one in got.not_found] == ["7"]
    assert got.text.count("SRR155792") == 2


def test_what_cannot_be_told_is_told(entrez, world):
    world.mood("down", path="esummary")
    got = entrez.fetch("sra", "155791", rettype="runinfo")
    assert "Could not tell" in got.warnings[0]
    assert not got.not_found


def test_records_that_are_known_and_did_not_come_are_told(entrez, monkeypatch):
    known = {"uids": ["1", "2"], "1": {"uid": "1"}, "2": {"uid": "2"}}
    answering(monkeypatch, "<TaxaSet><Taxon/></TaxaSet>", {"result": known})
    got = entrez.fetch("taxonomy", "1 2")
    assert "1 records did not come" in got.warnings[0]


def test_another_form_than_was_asked_for_is_told(entrez, monkeypatch):
    answering(monkeypatch, "<GBSet><GBSeq/></GBSet>")
    got = entrez.fetch("ipg", "1024", rettype="ipg", retmode="xml")
    assert "NCBI sent <GBSet> in place of IPGReportSet XML." in got.warnings


def test_an_answer_too_large_is_asked_for_in_halves(entrez, monkeypatch, world):
    from utils.errors import BadContent
    from utils.http import Web

    get, sizes = Web.get, []

    def limited(self, url, params=None, **options):
        if "efetch" in url:
            sizes.append(len(params["id"].split(",")))
            if sizes[-1] > 3:
                raise BadContent("eutils sent more than 64 MB.", verdict="not_a_paper")
        return get(self, url, params, **options)

    monkeypatch.setattr(Web, "get", limited)
    got = entrez.fetch("taxonomy", range(9606, 9614))
    assert got.records == 8
    assert sizes == [8, 4, 2, 2, 4, 2, 2]
    monkeypatch.setattr(Web, "get", lambda *_, **__: limited("", "efetch", {"id": "1,2,3,4"}))
    with pytest.raises(EntrezFailed, match="too large"):
        entrez.fetch("taxonomy", "9630")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"rettype": "fasta"}, "gene has no rettype=fasta"),
        ({"rettype": "fasta"}, "is a form of protein, nuccore"),
        ({"database": "protein", "ids": "1", "rettype": "ipg"}, "is a form of ipg"),
        ({"max_results": 201}, "max_results"),
        ({"rettype": "docsum"}, "summary"), ({"database": "medgen", "ids": "1"}, "summary"),
        ({"max_chars": 199}, "max_chars"), ({"start": 1}, "start"), ({"ids": "BRCA1"}, "Search"),
        ({"database": "pubmed", "ids": "PMC6776410"}, "PMCID"), ({"ids": ()}, "672"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_what_would_do(entrez, world, options, word):
    with pytest.raises(BadRequest) as refused:
        entrez.fetch(**{"database": "gene", "ids": "672", **options})
    assert word in str(refused.value)
    assert not world.requests


def test_the_second_half_of_a_history_is_asked_for_as_such(entrez, monkeypatch):
    from utils.errors import BadContent
    from utils.http import Web

    kept = entrez.post("taxonomy", range(9606, 9613))
    get = Web.get

    def limited(self, url, params=None, **options):
        if "efetch" in url and int(params["retmax"]) > 4:
            raise BadContent("eutils sent more than 64 MB.", verdict="not_a_paper")
        return get(self, url, params, **options)

    monkeypatch.setattr(Web, "get", limited)
    got = entrez.fetch("taxonomy", history=kept.id)
    assert [node.findtext("TaxId") for node in etree.fromstring(got.text)] == [
        str(n) for n in range(9606, 9613)
    ]


def test_a_refusal_that_is_nobodys_fault_is_the_databases(entrez, world, monkeypatch):
    world.mood("not_acceptable", path="efetch")
    with pytest.raises(EntrezFailed, match="gene refused rettype=native") as refused:
        entrez.fetch("gene", "672")
    assert "406" in str(refused.value)


def test_records_of_a_history_that_did_not_come_are_told(entrez):
    kept = entrez.post("taxonomy", "9606 5 9607")
    got = entrez.fetch("taxonomy", history=kept.id)
    assert got.records == 2
    assert "1 of 3 records did not come" in got.warnings[0]


def test_an_offset_beyond_the_answer_is_refused(entrez):
    with pytest.raises(BadRequest, match="next_offset"):
        entrez.fetch("taxonomy", "9606", offset=10**6)


# --- links -----------------------------------------------------------------


def test_links_come_by_identifier_and_by_kind(entrez):
    found = entrez.link("gene", "672 675 674", "protein")
    assert [one.id for one in found.records] == ["672", "675", "674"]
    first, second, none = found.records
    assert [row.link_name for row in first.links] == ["gene_protein"]
    assert second.links[0].total == len(second.links[0].ids) > 1
    assert none.links == ()
    assert found.next_start is None


def test_the_kinds_of_links_there_are(entrez):
    found = entrez.link("gene", ["672", "674"])
    kinds = {row.link_name: row for row in found.records[0].links}
    assert kinds["gene_pubmed"].database == "pubmed"
    assert kinds["gene_pubmed"].title
    assert kinds["gene_pubmed"].total is None
    assert found.records[1].links == ()


def test_links_lead_from_and_to_papers(entrez, world):
    [paper, *_] = entrez.link("gene", "672", "pubmed").records[0].links[0].ids
    assert paper in {record.pmid for record in world.papers}
    assert entrez.link("pubmed", world.papers[0].pmid, "gene").records[0].links


def test_scores_stand_beside_the_papers(entrez, world):
    pmid = world.paper("pmc_cloud").pmid
    found = entrez.link("pubmed", pmid, "pubmed", "pubmed_pubmed", scores=True)
    [similar] = found.records[0].links
    assert len(similar.scores) == len(similar.ids) == similar.total
    assert list(similar.scores) == sorted(similar.scores, reverse=True)


def test_a_long_list_is_paged_through(entrez, world):
    pmid = world.paper("pmc_cloud").pmid
    ids, start = [], 0
    while start is not None:
        found = entrez.link("pubmed", pmid, "pubmed", "pubmed_pubmed", start=start, max_results=2)
        ids += found.records[0].links[0].ids
        start = found.next_start
    everything = entrez.link("pubmed", pmid, "pubmed", "pubmed_pubmed").records[0].links[0]
    assert tuple(ids) == everything.ids
    assert len(ids) == everything.total > 2


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"to_database": "protien"}, "protein"), ({"link_name": "gene_protien"}, "gene_protein"),
        ({"to_database": "books"}, "lead from gene to books"),
        ({"to_database": "snp", "link_name": "gene_protein"}, "leads to protein"),
        ({"to_database": "snp", "max_results": 0}, "max_results"),
        ({"to_database": "snp", "ids": range(1, 300)}, "200"),
        ({"to_database": "snp", "ids": range(1, 200), "max_results": 101}, "max_results for 199"),
    ],
)  # fmt: skip
def test_links_that_cannot_be_are_refused_with_those_that_can(entrez, world, options, word):
    with pytest.raises(BadRequest) as refused:
        entrez.link(**{"database": "gene", "ids": "672", **options})
    assert word in str(refused.value)
    assert not [request for request in world.requests if request.path == "/elink.fcgi"]


def test_trouble_with_one_identifier_is_told_beside_the_others(entrez, monkeypatch):
    described = {"einforesult": {"dbinfo": [{"count": "1", "linklist": []}]}}
    linked = {"dbto": "snp", "linkname": "gene_snp", "links": ["7"]}
    sets = [{"ids": ["1"], "linksetdbs": [linked]}, {"ids": ["2"], "ERROR": "out of order"}]
    answering(monkeypatch, described, {"linksets": sets})
    found = entrez.link("gene", "1 2", "snp")
    assert found.records[0].links[0].ids == ("7",)
    assert "2: out of order" in found.could_not_tell


def test_silence_about_an_identifier_is_not_no_links(entrez, monkeypatch):
    described = {"einforesult": {"dbinfo": [{"count": "1", "linklist": []}]}}
    answering(monkeypatch, described, {"linksets": [{"ids": ["1"]}]})
    found = entrez.link("gene", "1 2", "snp")
    assert [one.id for one in found.records] == ["1"]
    assert found.could_not_tell == ("2: NCBI said nothing of its links",)


# --- recorded answers ------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("file", [
    "biopython_esummary1", "biopython_esummary3", "biopython_esummary4", "pubmedpy_esummary",
    *(f"klortho_esummary.{name}" for name in (
        "blastdbinfo", "dbvar", "gcassembly", "homologene", "medgen", "mesh", "nuccore",
        "nucleotide", "pcsubstance", "pmc", "proteinclusters", "pubmed", "seqannot")),
])  # fmt: skip
def test_recorded_summaries_of_every_database_are_read(entrez, monkeypatch, shared, file):
    body = (shared / "eutils" / "esummary" / f"{file}.xml").read_bytes()
    root = etree.fromstring(body, etree.XMLParser(load_dtd=False, no_network=True))
    uids = [
        node.get("uid") or node.findtext("Id") for node in root.iter("DocumentSummary", "DocSum")
    ]
    answering(monkeypatch, body)
    page = entrez.summary("gap", uids, max_results=500, max_chars=1_000_000)
    assert [one.uid for one in page.records] == uids
    assert all(len(one.fields) >= 3 for one in page.records)


@pytest.mark.shared
def test_a_recorded_summary_that_is_none_is_named(entrez, monkeypatch, shared):
    body = (shared / "eutils" / "errors" / "klortho_esummary.pmcerror.xml").read_bytes()
    answering(monkeypatch, body)
    page = entrez.summary("pmc", "254085,1,14900")
    assert [one.uid for one in page.records] == ["254085", "14900"]
    assert [(one.id, one.reason) for one in page.not_found] == [
        ("1", "cannot get document summary")
    ]


@pytest.mark.shared
@pytest.mark.parametrize("file", ["biopython_epost2", "biopython_esummary8", "klortho_einfo.error",
                                  "klortho_esearch.baderror"])  # fmt: skip
def test_recorded_errors_that_last_are_not_asked_again(entrez, world, monkeypatch, shared, file):
    from utils.http import Answer, Web
    from utils.sources.eutils import call_utility

    body = (shared / "eutils" / "errors" / f"{file}.xml").read_bytes()
    monkeypatch.setattr(
        Web, "get", lambda self, url, form, *, check, **_: check(Answer(200, url, body))
    )
    with pytest.raises(EntrezFailed) as refused:
        call_utility(entrez._web, "esearch", {"db": "fleegle"})
    assert refused.value.code == "ENTREZ"


@pytest.mark.shared
def test_recorded_links_and_kinds_of_links_are_read(entrez, monkeypatch, shared):
    folder = shared / "eutils" / "elink"
    described = {"einforesult": {"dbinfo": [{"count": "1", "linklist": []}]}}
    answering(monkeypatch, (folder / "biopython_elink7.xml").read_bytes())
    [one] = entrez.link("pubmed", "12169658").records
    assert len(one.links) > 5
    assert one.links[0].link_name == "pubmed_books_refs"
    assert one.links[0].title == "Cited in Books"
    answering(monkeypatch, described,
              (folder / "illumination_citations_multiple_8ed5.json").read_bytes())  # fmt: skip
    found = entrez.link("pubmed", "31978945,33515491,32887691", "pubmed", "pubmed_pubmed_citedin")
    # Three identifiers in one set: whose links these are cannot be told.
    assert not found.records
    assert len(found.could_not_tell) == 3
    answering(monkeypatch, (folder / "illumination_pmc_links_25760099_5889.json").read_bytes())
    found = entrez.link("pubmed", "25760099", "pmc")
    assert found.records[0].links[0].ids == ("5750961",)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["assembly", "structure"])
def test_recorded_descriptions_are_read(entrez, monkeypatch, shared, name):
    body = (shared / "eutils" / "einfo" / f"illumination_{name}_info.json").read_bytes()
    answering(monkeypatch, body)
    told = entrez.info(name)
    assert told.records > 100_000
    assert told.last_update.startswith("2025/")
    assert len(told.fields) > 20
    assert all(field.name and field.title for field in told.fields)
    assert all(kind.name.startswith(f"{name}_") and kind.database for kind in told.links)


@pytest.mark.shared
def test_recorded_places_on_the_history_server_are_read(entrez, monkeypatch, shared):
    folder = shared / "eutils"
    answering(monkeypatch, (folder / "epost" / "biopython_epost1.xml").read_bytes())
    kept = entrez.post("pubmed", "1")
    assert "692851c130aec64bed0a8c2a" not in str(kept)
    answering(monkeypatch, (folder / "errors" / "biopython_epost2.xml").read_bytes())
    with pytest.raises(PaperError) as refused:
        entrez.post("pubmed", "1")
    assert not isinstance(refused.value, Unreachable)
