"""The same records as EFetch gives them: FASTA, flat files, reports, JSON lines and XML."""

import json
import textwrap
from collections.abc import Callable
from html import escape
from typing import Any

from tests.world.entrez_records import accession, place, rows, species, symbol

Row = dict[str, Any]


def letters(database: str, n: int) -> str:
    """The sequence of record *n*."""
    alphabet = "MKTAYIAKQRLGWVDE" if database == "protein" else "ATGGCATTCGAC"
    size = 90 + 7 * n
    return "".join(alphabet[(k * (n + 3) + k // 5) % len(alphabet)] for k in range(size))


def _fasta(database: str, row: Row) -> str:
    lines = textwrap.fill(letters(database, place(database, row["uid"])), 70)
    return f">{row['accessionversion']} {row['title']}\n{lines}\n\n"


def _flat(database: str, row: Row) -> str:
    n, unit = place(database, row["uid"]), "aa" if database == "protein" else "bp"
    sequence = letters(database, n).lower()
    blocks = [
        f"{at + 1:>9} {' '.join(textwrap.wrap(sequence[at : at + 60], 10))}"
        for at in range(0, len(sequence), 60)
    ]
    return (
        f"LOCUS       {row['caption']:<16} {row['slen']} {unit}    linear   PRI 02-NOV-2026\n"
        f"DEFINITION  {row['title']}.\nACCESSION   {row['caption']}\n"
        f"VERSION     {row['accessionversion']}\nSOURCE      {row['organism']}\n"
        f"FEATURES             Location/Qualifiers\n     source          1..{row['slen']}\n"
        f"ORIGIN      \n{chr(10).join(blocks)}\n//\n\n"
    )


def _gbseq(database: str, row: Row) -> str:
    n = place(database, row["uid"])
    return (
        f"<GBSeq><GBSeq_locus>{row['caption']}</GBSeq_locus><GBSeq_length>{row['slen']}"
        f"</GBSeq_length><GBSeq_definition>{escape(row['title'])}</GBSeq_definition>"
        f"<GBSeq_accession-version>{row['accessionversion']}</GBSeq_accession-version>"
        f"<GBSeq_organism>{row['organism']}</GBSeq_organism><GBSeq_feature-table><GBFeature>"
        f"<GBFeature_key>source</GBFeature_key><GBFeature_location>1..{row['slen']}"
        "</GBFeature_location><GBFeature_quals><GBQualifier><GBQualifier_name>db_xref"
        f"</GBQualifier_name><GBQualifier_value>taxon:{row['taxid']}</GBQualifier_value>"
        "</GBQualifier></GBFeature_quals></GBFeature></GBSeq_feature-table>"
        f"<GBSeq_sequence>{letters(database, n).lower()}</GBSeq_sequence></GBSeq>"
    )


def _tseq(database: str, row: Row) -> str:
    return (
        f"<TSeq><TSeq_accver>{row['accessionversion']}</TSeq_accver><TSeq_taxid>{row['taxid']}"
        f"</TSeq_taxid><TSeq_orgname>{row['organism']}</TSeq_orgname><TSeq_defline>"
        f"{escape(row['title'])}</TSeq_defline><TSeq_length>{row['slen']}</TSeq_length>"
        f"<TSeq_sequence>{letters(database, place(database, row['uid']))}</TSeq_sequence></TSeq>"
    )


def _entrezgene(_: str, row: Row) -> str:
    aliases = "".join(f"<Gene-ref_syn_E>{name}</Gene-ref_syn_E>" for name in
                      row["otheraliases"].split(", "))  # fmt: skip
    return (
        "<Entrezgene><Entrezgene_track-info><Gene-track><Gene-track_geneid>"
        f"{row['uid']}</Gene-track_geneid></Gene-track></Entrezgene_track-info><Entrezgene_gene>"
        f"<Gene-ref><Gene-ref_locus>{row['name']}</Gene-ref_locus><Gene-ref_desc>"
        f"{row['description']}</Gene-ref_desc><Gene-ref_syn>{aliases}</Gene-ref_syn></Gene-ref>"
        f"</Entrezgene_gene><Entrezgene_summary>{row['summary'] * 20}</Entrezgene_summary>"
        "</Entrezgene>"
    )


def _taxon(_: str, row: Row) -> str:
    lineage = "".join(
        f"<Taxon><TaxId>{number}</TaxId><ScientificName>{name}</ScientificName><Rank>{rank}</Rank>"
        "</Taxon>"
        for number, name, rank in ((131567, "cellular organisms", "no rank"), (2759, "Eukaryota",
                                                                              "superkingdom"))
    )  # fmt: skip
    return (
        f"<Taxon><TaxId>{row['taxid']}</TaxId><ScientificName>{row['scientificname']}"
        f"</ScientificName><OtherNames><GenbankCommonName>{row['commonname']}</GenbankCommonName>"
        f"</OtherNames><Rank>{row['rank']}</Rank><Division>{row['genbankdivision']}</Division>"
        f"<Lineage>cellular organisms; Eukaryota</Lineage><LineageEx>{lineage}</LineageEx>"
        "<CreateDate>1995/02/27 09:24:00</CreateDate></Taxon>"
    )


def _vcv(_: str, row: Row) -> str:
    return (
        f'<VariationArchive VariationID="{row["uid"]}" VariationName="{escape(row["title"])}" '
        f'VariationType="single nucleotide variant" Accession="{row["accession"]}" Version="1">'
        "<RecordStatus>current</RecordStatus><Species>Homo sapiens</Species><ClassifiedRecord>"
        f'<SimpleAllele AlleleID="{row["uid"]}"><GeneList><Gene Symbol="{row["gene_sort"]}"/>'
        "</GeneList></SimpleAllele></ClassifiedRecord></VariationArchive>"
    )


def biosample_xml(n: int, uid: int) -> str:
    """A sample with its attributes."""
    latin, _, taxid, _ = species(n)
    told = {"sex": ("male", "female")[n % 2], "tissue": "fin", "age": f"{n} d"}
    rows_ = "".join(
        f'<Attribute attribute_name="{name}" harmonized_name="{name}">{value}</Attribute>'
        for name, value in told.items()
    )
    return (
        f'<BioSample access="public" publication_date="2014-03-05T00:00:00.000" id="{uid}" '
        f'accession="SAMN{uid:08}"><Ids><Id db="BioSample" is_primary="1">SAMN{uid:08}</Id>'
        f'<Id db_label="Sample name">s{n}</Id></Ids><Description><Title>Sample {n}</Title>'
        f'<Organism taxonomy_id="{taxid}" taxonomy_name="{latin}"/></Description>'
        f"<Attributes>{rows_}</Attributes></BioSample>"
    )


def runs_xml(n: int, uid: int) -> str:
    """The runs of an experiment, one to three."""
    return "".join(
        f'<Run acc="SRR{uid}{k}" total_spots="{1000 + n}" total_bases="{101_000 + k}" '
        'is_public="true"/>'
        for k in range(n % 3 + 1)
    )


def _package(_: str, row: Row) -> str:
    runs = row["runs"].strip().replace("<Run acc", "<RUN accession")
    return (
        f'<EXPERIMENT_PACKAGE><EXPERIMENT accession="SRX{int(row["uid"]):06}"><TITLE>RNA-Seq'
        f"</TITLE></EXPERIMENT><RUN_SET>{runs}</RUN_SET></EXPERIMENT_PACKAGE>"
    )


def _runinfo(_: str, row: Row) -> str:
    n = place("sra", row["uid"])
    return "".join(f"SRR{row['uid']}{k},{1000 + n},ILLUMINA\n" for k in range(n % 3 + 1))


def _refsnp(_: str, row: Row) -> str:
    told = {"refsnp_id": row["uid"], "create_date": "2000-09-19T17:02Z", "citations": [],
            "primary_snapshot_data": {"variant_type": "snv", "genes": row["genes"]}}  # fmt: skip
    return f"{json.dumps(told)}\n"


def _report(name: str) -> Callable[[str, Row], str]:
    """A report of a few lines, which the answer numbers."""
    return lambda _, row: f"{row[name]}\nID: {row['uid']}\nOne line more.\n\n"


_SEQUENCE = {
    ("fasta", "text"): ("", _fasta), ("gb", "text"): ("", _flat), ("gp", "text"): ("", _flat),
    ("gb", "xml"): ("GBSet", _gbseq), ("gp", "xml"): ("GBSet", _gbseq),
    ("fasta", "xml"): ("TSeqSet", _tseq),
    ("acc", "text"): ("", lambda _, row: f"{row['accessionversion']}\n"),
}  # fmt: skip
_FORMS: dict[str, dict[tuple[str, str], tuple[str, Callable[[str, Row], str]]]] = {
    "protein": _SEQUENCE,
    "nuccore": _SEQUENCE,
    "gene": {
        ("", "xml"): ("Entrezgene-Set", _entrezgene), ("", "text"): ("1", _report("name")),
        ("tabular", "text"): ("tax_id\tOrg_name\tGeneID", lambda _, row: f"9606\t{row['uid']}\n"),
    },
    "taxonomy": {("", "xml"): ("TaxaSet", _taxon), ("", "text"): ("1", _report("scientificname"))},
    "clinvar": {("vcv", "xml"): ("ClinVarResult-Set", _vcv)},
    "snp": {("json", "text"): ("", _refsnp)},
    "biosample": {
        ("full", "xml"): (
            "BioSampleSet",
            lambda _, row: biosample_xml(place("biosample", row["uid"]), int(row["uid"])),
        ),
        ("full", "text"): ("1", _report("title")),
    },
    "sra": {
        ("full", "xml"): ("EXPERIMENT_PACKAGE_SET", _package),
        ("runinfo", "text"): ("Run,spots,Platform", _runinfo),
    },
    "bioproject": {("", "text"): ("1", _report("project_title"))},
    "gds": {("summary", "text"): ("1", _report("title"))},
}  # fmt: skip
_FORMS["nucleotide"] = _SEQUENCE


def as_text(database: str, uids: list[str], rettype: str, retmode: str) -> tuple[str, bool]:
    """The records in that form, and whether it is XML; an unknown form falls back to ASN.1."""
    known = [row for uid in uids if (row := rows(database).get(uid))]
    form = _FORMS.get(database, {}).get((rettype, retmode))
    if form is None:
        told = f"{database.title()}-entry ::= {{ uid"
        return "".join(f"{told} {row['uid']} }}\n\n" for row in known), False
    head, write = form
    texts = [write(database, row) for row in known]
    if retmode == "xml":
        return f'<?xml version="1.0" ?>\n<{head}>{"".join(texts)}</{head}>', True
    if head == "1":
        return "\n" + "".join(f"{n}. {words}" for n, words in enumerate(texts, start=1)), False
    return "".join([f"{head}\n" if head and texts else "", *texts]), False


__all__ = ["accession", "as_text", "biosample_xml", "letters", "runs_xml", "symbol"]
