"""Pages written by hand, shaped like what Entrez answers for seven databases."""

import json

from utils.entrez.datasets.trees import RawRecordPage


def summaries(database: str, *rows: dict) -> RawRecordPage:
    """ESummary's JSON; every row says its uid."""
    result = {"uids": [row["uid"] for row in rows], **{row["uid"]: row for row in rows}}
    header = {"type": "esummary", "version": "0.3"}
    return RawRecordPage(
        database, "docsum_json", json.dumps({"header": header, "result": result}).encode()
    )


def gene(uid: str, name: str, *, mim: list[str], places: list[dict]) -> dict:
    """A summary as the database gene gives it."""
    return {
        "uid": uid, "name": name, "description": f"{name} &lt;i&gt;repair&lt;/i&gt; associated",
        "status": "", "currentid": "", "chromosome": "17" if name == "BRCA1" else "X",
        "geneticsource": "genomic", "maplocation": "17q21.31", "otheraliases": "IRIS, PSCP",
        "nomenclaturesymbol": name, "mim": mim, "genomicinfo": places, "geneweight": 381221,
        "summary": "",
        "organism": {"scientificname": "Homo sapiens", "commonname": "human", "taxid": 9606},
    }  # fmt: skip


PLACE = {"chrloc": "17", "chraccver": "NC_000017.11", "chrstart": 43125363, "exoncount": 24}
GENES = summaries(
    "gene",
    gene("672", "BRCA1", mim=["113705"], places=[PLACE, {**PLACE, "chrstart": 43125370}]),
    gene("7157", "TP53", mim=[], places=[PLACE]),
    {"uid": "999999999", "error": "cannot get document summary"},
)

_EXPERIMENT = """ &lt;Summary&gt;&lt;Title&gt;RNA-Seq of liver &amp;amp; kidney&lt;/Title&gt;
&lt;Platform instrument_model="Illumina HiSeq 2500"&gt;ILLUMINA&lt;/Platform&gt;
&lt;Statistics total_runs="{runs}" total_bases="1200"/&gt;&lt;/Summary&gt;
&lt;Organism taxid="10090" ScientificName="Mus musculus"/&gt; """
_RUN = '&lt;Run acc="{}" total_spots="{}" is_public="true"/&gt;'
RUNS = summaries(
    "sra",
    {"uid": "155791", "expxml": _EXPERIMENT.format(runs=2), "createdate": "2012/03/01",
     "runs": _RUN.format("SRR1", 10) + _RUN.format("SRR2", 20)},
    {"uid": "155792", "expxml": _EXPERIMENT.format(runs=1), "createdate": "2012/03/02",
     "runs": _RUN.format("SRR3", 30)},
)  # fmt: skip

VARIATION = {
    "measure_id": "15041",
    "variation_name": "NM_007294.4(BRCA1):c.5266dup",
    "aliases": ["5382insC"],
    "variation_loc": [
        {"status": "current", "assembly_name": "GRCh38", "start": "43057064"},
        {"status": "previous", "assembly_name": "GRCh37", "start": "41209081"},
    ],
}
VARIANTS = summaries(
    "clinvar",
    {"uid": "17677", "accession": "VCV000017677", "variation_set": [VARIATION],
     "germline_classification": {"name": "Pathogenic", "last_evaluated": "2024/04/11 00:00"}},
    {"uid": "17678", "accession": "VCV000017678",
     "variation_set": {**VARIATION, "aliases": [], "variation_loc": VARIATION["variation_loc"][:1]},
     "germline_classification": {"name": "Benign", "last_evaluated": "1/01/01 00:00"}},
)  # fmt: skip


def _xml(database: str, body: str) -> RawRecordPage:
    return RawRecordPage(database, "xml", body.encode())


TAXA = _xml(
    "taxonomy",
    """<?xml version="1.0" ?>
<!DOCTYPE TaxaSet PUBLIC "-//NLM//DTD Taxon, 14th January 2002//EN" "taxon.dtd">
<TaxaSet><Taxon><TaxId>9606</TaxId><ScientificName>Homo sapiens</ScientificName>
<OtherNames><GenbankCommonName>human</GenbankCommonName><Synonym>man</Synonym></OtherNames>
<ParentTaxId>9605</ParentTaxId><Rank>species</Rank>
<GeneticCode><GCId>1</GCId><GCName>Standard</GCName></GeneticCode>
<LineageEx><Taxon><TaxId>131567</TaxId><Rank>cellular root</Rank></Taxon>
<Taxon><TaxId>2759</TaxId><Rank>domain</Rank></Taxon></LineageEx>
<CreateDate>1995/02/27 09:24:00</CreateDate></Taxon>
<Taxon><TaxId>10090</TaxId><ScientificName>Mus musculus</ScientificName>
<ParentTaxId>862507</ParentTaxId><Rank>species</Rank>
<GeneticCode><GCId>1</GCId><GCName>Standard</GCName></GeneticCode>
<CreateDate>1995/02/27 09:24:00</CreateDate></Taxon></TaxaSet>""",
)
ENTREZGENE = _xml(
    "gene",
    """<?xml version="1.0" ?><Entrezgene-Set><Entrezgene>
<Entrezgene_track-info><Gene-track><Gene-track_geneid>672</Gene-track_geneid>
<Gene-track_status value="live">0</Gene-track_status></Gene-track></Entrezgene_track-info>
<Entrezgene_type value="protein-coding">6</Entrezgene_type>
<Entrezgene_gene><Gene-ref><Gene-ref_locus>BRCA1</Gene-ref_locus>
<Gene-ref_syn><Gene-ref_syn_E>IRIS</Gene-ref_syn_E><Gene-ref_syn_E>PSCP</Gene-ref_syn_E></Gene-ref_syn>
</Gene-ref></Entrezgene_gene></Entrezgene></Entrezgene-Set>""",
)
SEQUENCES = _xml(
    "nuccore",
    """<?xml version="1.0" encoding="UTF-8" ?><GBSet><GBSeq><GBSeq_locus>AY207443</GBSeq_locus>
<GBSeq_length>491</GBSeq_length><GBSeq_moltype>DNA</GBSeq_moltype>
<GBSeq_create-date>05-MAR-2003</GBSeq_create-date>
<GBSeq_accession-version>AY207443.1</GBSeq_accession-version>
<GBSeq_references><GBReference><GBReference_title>HBZP</GBReference_title>
<GBReference_authors><GBAuthor>Hess,J.F.</GBAuthor><GBAuthor>Shen,C.K.</GBAuthor></GBReference_authors>
</GBReference></GBSeq_references>
<GBSeq_feature-table><GBFeature><GBFeature_key>source</GBFeature_key>
<GBFeature_quals><GBQualifier><GBQualifier_name>organism</GBQualifier_name>
<GBQualifier_value>Homo sapiens</GBQualifier_value></GBQualifier>
<GBQualifier><GBQualifier_name>chromosome</GBQualifier_name>
<GBQualifier_value>16</GBQualifier_value></GBQualifier></GBFeature_quals></GBFeature>
<GBFeature><GBFeature_key>gene</GBFeature_key></GBFeature></GBSeq_feature-table>
<GBSeq_sequence>ttggagc</GBSeq_sequence></GBSeq></GBSet>""",
)
SAMPLES = _xml(
    "biosample",
    """<?xml version="1.0" ?><BioSampleSet>
<BioSample access="public" publication_date="2014-03-06T00:00:00.000" id="2672871"
 accession="SAMN02672871"><Ids><Id db="BioSample" is_primary="1">SAMN02672871</Id>
<Id db="SRA">SRS570000</Id></Ids><Description><Title>Liver <i>ex vivo</i></Title>
<Organism taxonomy_id="10090" taxonomy_name="Mus musculus"/></Description>
<Attributes><Attribute attribute_name="sex">female</Attribute>
<Attribute attribute_name="age">12 weeks</Attribute></Attributes></BioSample>
<BioSample access="public" publication_date="2014-03-07T00:00:00.000" id="2672872"
 accession="SAMN02672872"><Ids><Id db="BioSample" is_primary="1">SAMN02672872</Id></Ids>
<Description><Title>Liver</Title><Organism taxonomy_id="10090" taxonomy_name="Mus musculus"/>
</Description><Attributes><Attribute attribute_name="sex">male</Attribute></Attributes></BioSample>
</BioSampleSet>""",
)
EXPERIMENTS = _xml(
    "sra",
    """<?xml version="1.0" ?><EXPERIMENT_PACKAGE_SET><EXPERIMENT_PACKAGE>
<EXPERIMENT accession="SRX1" alias="e1"><IDENTIFIERS><PRIMARY_ID>SRX1</PRIMARY_ID></IDENTIFIERS>
<DESIGN><LIBRARY_DESCRIPTOR><LIBRARY_STRATEGY>RNA-Seq</LIBRARY_STRATEGY><LIBRARY_LAYOUT>
<PAIRED NOMINAL_LENGTH="300"/></LIBRARY_LAYOUT></LIBRARY_DESCRIPTOR></DESIGN></EXPERIMENT>
<SAMPLE accession="SRS1"><SAMPLE_NAME><TAXON_ID>9606</TAXON_ID></SAMPLE_NAME><SAMPLE_ATTRIBUTES>
<SAMPLE_ATTRIBUTE><TAG>sex</TAG><VALUE>male</VALUE></SAMPLE_ATTRIBUTE></SAMPLE_ATTRIBUTES></SAMPLE>
<RUN_SET runs="1" bases="900">
<RUN accession="SRR1" total_spots="10" published="2014-03-06 10:11:12">
<Statistics nreads="2"><Read index="0" count="10"/><Read index="1" count="10"/></Statistics></RUN>
</RUN_SET></EXPERIMENT_PACKAGE></EXPERIMENT_PACKAGE_SET>""",
)
COMPOUNDS = RawRecordPage(
    "pccompound",
    "rows",
    json.dumps(
        [
            {"CID": 2244, "InChIKey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N", "MolecularWeight": "180.16",
             "XLogP": 1.2, "Synonym": ["aspirin", "50-78-2"]},
            {"CID": 2519, "InChIKey": "RYYVLZVUVIJVGH-UHFFFAOYSA-N", "MolecularWeight": "194.19",
             "XLogP": -0.1, "Synonym": ["caffeine"]},
        ]
    ).encode(),
)  # fmt: skip
