"""Records of Entrez databases beyond the literature, invented, in the shape of ESummary's JSON.

Members after real answers (those recorded in ../shared among them): types mixed as NCBI mixes them,
numbers as text, XML inside of text, lists that may be empty.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

Row = dict[str, Any]
_SYMBOLS = ("BRCA1", "TP53", "CXCL12", "CXCR4", "LPL", "INS", "EGFR", "SLC7A2", "HFE", "HBZ")
_SPECIES = (
    ("Homo sapiens", "human", 9606, "primates"), ("Mus musculus", "house mouse", 10090, "rodents"),
    ("Danio rerio", "zebrafish", 7955, "bony fishes"), ("Echinops telfairi", "tenrec", 9371, ""),
)  # fmt: skip
_ROLES = ("repair associated", "ligand", "receptor", "transporter", "growth factor")


class Kind(NamedTuple):
    """A database: its first UID, how many records it has, and how one of them looks."""

    first: int
    size: int
    row: Callable[[int, int], Row]


def symbol(n: int) -> str:
    """The gene that record *n* is about."""
    return f"{_SYMBOLS[n % 10]}{'' if n < 10 else n // 10}"


def species(n: int) -> tuple[str, str, int, str]:
    """The organism of record *n*."""
    return _SPECIES[n % len(_SPECIES)]


def _gene(n: int, uid: int) -> Row:
    latin, common, taxid, _ = species(n)
    place = {"chraccver": f"NC_0000{n % 22 + 1:02}.11", "chrstart": 43_000_000 + n, "chrstop": 7}
    role = f"{symbol(n)} {_ROLES[n % 5]}"
    return {
        "uid": str(uid), "name": symbol(n), "description": role, "status": "", "currentid": "",
        "chromosome": str(n % 22 + 1), "geneticsource": "genomic", "maplocation": f"{n + 1}q21.3",
        "otheraliases": f"{symbol(n)}A, {symbol(n)}B", "otherdesignations": f"{role} 1|{role} 2",
        "nomenclaturesymbol": symbol(n), "nomenclaturename": role,
        "nomenclaturestatus": "Official", "mim": [str(113_705 + n)] if n % 2 else [],
        "genomicinfo": [{"chrloc": str(n % 22 + 1), **place, "exoncount": n + 3}],
        "geneweight": 440_018 - n, "summary": f"This gene encodes the {role}. " * (n % 4),
        "chrsort": f"{n % 22 + 1:02}", "chrstart": 43_000_000 + n,
        "organism": {"scientificname": latin, "commonname": common, "taxid": taxid},
        "locationhist": [
            {"annotationrelease": f"RS_202{k}_08", "assemblyaccver": f"GCF_000001405.{38 + k}",
             **place}
            for k in range(n % 3)
        ],
    }  # fmt: skip


def accession(database: str, n: int) -> str:
    """accession.version of sequence *n*."""
    return f"{'NP' if database == 'protein' else 'NM'}_{9_000 + n:06}.{n % 4 + 1}"


def _sequence(database: str) -> Callable[[int, int], Row]:
    def row(n: int, uid: int) -> Row:
        latin, _, taxid, _ = species(n)
        name, protein = accession(database, n), database == "protein"
        what = f"{_ROLES[n % 5]} [{latin}]" if protein else f"({symbol(n)}), mRNA"
        return {
            "uid": str(uid), "term": str(uid), "caption": name.partition(".")[0],
            "title": f"{symbol(n)} {what}", "extra": f"gi|{uid}|ref|{name}|", "gi": uid,
            "createdate": "1999/05/06", "updatedate": f"2026/{n % 12 + 1:02}/02",
            "flags": 512, "taxid": taxid, "slen": 90 + 7 * n,
            "biomol": "" if protein else "mRNA", "moltype": "aa" if protein else "rna",
            "topology": "linear", "sourcedb": "refseq", "segsetsize": "", "projectid": "0",
            "genome": "genomic", "subtype": "chromosome|map", "subname": f"{n % 22 + 1}|{n}q21",
            "assemblygi": "", "assemblyacc": "", "tech": "", "completeness": "",
            "geneticcode": "1", "strand": "", "organism": latin, "strain": "", "biosample": "",
            "statistics": [
                {"type": "Length", "count": 90 + 7 * n},
                {"source": "all", "type": "cdregion", "count": 1},
            ],
            "properties": {"na": "1", "value": "1"}, "oslt": {"indexed": True, "value": name},
            "accessionversion": name,
        }  # fmt: skip

    return row


def _taxon(n: int, uid: int) -> Row:
    latin, common, _, division = species(n)
    genus, _, kind = latin.partition(" ")
    strain = f" strain {n}" if n >= len(_SPECIES) else ""
    return {
        "uid": str(uid), "status": "active", "rank": "strain" if strain else "species",
        "division": division, "scientificname": f"{latin}{strain}", "commonname": common,
        "taxid": uid, "akataxid": "", "genus": genus, "species": kind, "subsp": "",
        "modificationdate": "2023/11/13 00:00", "genbankdivision": division.title(),
    }  # fmt: skip


def _variant(n: int, uid: int) -> Row:
    words = ("Pathogenic", "Benign", "Uncertain significance", "Likely benign")[n % 4]
    place = {"status": "current", "assembly_name": "GRCh38", "chr": str(n % 22 + 1),
             "start": str(43_000_000 + n), "stop": str(43_000_000 + n)}  # fmt: skip
    empty = {"description": "", "last_evaluated": "1/01/01 00:00", "trait_set": []}
    trait = {"trait_xrefs": [{"db_source": "MedGen", "db_id": f"C{n:07}"}], "trait_name": "Ague"}
    return {
        "uid": str(uid), "obj_type": "single nucleotide variant",
        "accession": f"VCV{uid:09}", "accession_version": f"VCV{uid:09}.{n % 3 + 1}",
        "title": f"{accession('nuccore', n)}({symbol(n)}):c.{n + 1}A>G (p.Met{n + 1}Val)",
        "variation_set": [
            {"measure_id": str(uid + 1), "variation_name": f"c.{n}A>G", "aliases": [],
             "variation_xrefs": [{"db_source": "dbSNP", "db_id": str(268 + n)}],
             "variation_loc": [place, {**place, "assembly_name": "GRCh37", "status": "previous"}],
             "allele_freq_set": [], "variant_type": "single nucleotide variant"}
        ],
        "supporting_submissions": {"scv": [f"SCV{uid:09}"], "rcv": [f"RCV{uid:09}"] * (n % 3)},
        "germline_classification": {
            "description": words, "last_evaluated": "2023/01/01 00:00",
            "review_status": "criteria provided, single submitter", "trait_set": [trait]},
        "clinical_impact_classification": empty, "record_status": "", "gene_sort": symbol(n),
        "chr_sort": f"{n % 22 + 1:02}", "location_sort": f"{43_000_000 + n:020}",
        "genes": [{"symbol": symbol(n), "geneid": str(672 + n), "strand": "-", "source": "hgnc"}],
        "molecular_consequence_list": ["missense variant"] * (n % 2), "protein_change": f"M{n}V",
    }  # fmt: skip


def _snp(n: int, uid: int) -> Row:
    chromosome, place = n % 22 + 1, 19_956_018 + n
    return {
        "uid": str(uid), "snp_id": uid, "allele_origin": "",
        "global_mafs": [
            {"study": study, "freq": f"G={(n + k) % 90 / 100:.4f}/{n + k}"}
            for k, study in enumerate(("1000Genomes", "ALFA", "TOPMED")[: n % 4])
        ],
        "global_population": "", "global_samplesize": "", "suspected": "",
        "clinical_significance": "benign,likely-benign" if n % 3 else "",
        "genes": [{"name": symbol(n % 30), "gene_id": str(672 + n % 30)}] if n % 5 else [],
        "acc": f"NC_0000{chromosome:02}.11", "chr": str(chromosome), "handle": "GNOMAD,TOPMED",
        "spdi": f"NC_0000{chromosome:02}.11:{place - 1}:A:G", "fxn_class": "missense_variant",
        "validated": "by-frequency", "docsum": f"SEQ=[A/G]|LEN=1|TAXID=9606|SNP={uid}",
        "tax_id": 9606, "orig_build": 36, "upd_build": 156, "createdate": "2000/09/19 17:02",
        "updatedate": "2024/09/21 00:53", "ss": f"{uid}1,{uid}2", "allele": "R",
        "snp_class": "snv", "chrpos": f"{chromosome}:{place}", "text": "",
        "snp_id_sort": f"{uid:010}", "merged_sort": "0",
    }  # fmt: skip


def _assembly(n: int, uid: int) -> Row:
    latin, common, taxid, _ = species(n)
    stats = "".join(
        f'<Stat category="{name}" sequence_tag="all">{count + n}</Stat> '
        for name, count in (("alt_loci_count", 261), ("contig_count", 999), ("total_length", 10**9))
    )
    return {
        "uid": str(uid), "rsuid": str(uid), "gbuid": str(uid - 1),
        "assemblyaccession": f"GCF_{uid:09}.{n % 3 + 1}", "assemblyname": f"Asm{n}",
        "ucscname": "", "taxid": str(taxid), "organism": f"{latin} ({common})",
        "speciestaxid": str(taxid), "speciesname": latin, "assemblytype": "haploid",
        "assemblystatus": "Chromosome", "assemblystatussort": 2, "wgs": "",
        "gb_bioprojects": [{"bioprojectaccn": f"PRJNA{31_257 + n}", "bioprojectid": 31_257 + n}],
        "biosampleaccn": f"SAMN{2_672_871 + n:08}",
        "biosource": {"infraspecieslist": [{"sub_type": "strain", "sub_value": f"S{n}"}] * (n % 2),
                      "sex": "", "isolate": ""},
        "coverage": f"{30 + n}", "partialgenomerepresentation": "false", "releaselevel": "Major",
        "asmreleasedate_genbank": "2013/12/17 00:00", "submitterorganization": "A Consortium",
        "exclfromrefseq": [], "propertylist": ["full-genome-representation", "latest"],
        "synonym": {"genbank": f"GCA_{uid:09}.1", "refseq": "", "similarity": "different"},
        "contign50": 57_879_411 + n, "scaffoldn50": 67_794_873 + n,
        "meta": f" <Stats> {stats}</Stats> <FtpSites>   </FtpSites> ",
    }  # fmt: skip


def _biosample(n: int, uid: int) -> Row:
    from tests.world.entrez_texts import biosample_xml

    latin, _, taxid, _ = species(n)
    return {
        "uid": str(uid), "title": f"Sample {n} of {latin}", "accession": f"SAMN{uid:08}",
        "date": f"2014/03/{n % 28 + 1:02}", "publicationdate": "2014/03/05",
        "modificationdate": "2021/01/01", "organization": "A University",
        "taxonomy": str(taxid), "organism": latin, "sourcesample": f"BioSample:SAMN{uid:08}",
        "sampledata": f"{biosample_xml(n, uid)}  ",
        "identifiers": f"BioSample: SAMN{uid:08}; Sample name: s{n}", "infraspecies": "",
        "package": "Generic; version 1.0", "sortkey": "",
    }  # fmt: skip


def _experiment(n: int, uid: int) -> Row:
    from tests.world.entrez_texts import runs_xml

    latin, _, taxid, _ = species(n)
    return {
        "uid": str(uid),
        "expxml": f'  <Summary><Title>RNA-Seq of {latin} {n}</Title><Platform instrument_model="'
        f'Illumina HiSeq">ILLUMINA</Platform><Statistics total_runs="{n % 3 + 1}"/></Summary>'
        f'<Experiment acc="SRX{uid:06}" ver="1" status="public" name="RNA-Seq {n}"/>'
        f'<Study acc="SRP{uid:06}" name="A study &amp; more"/><Organism taxid="{taxid}" '
        f'ScientificName="{latin}"/>  ',
        "runs": f"  {runs_xml(n, uid)}  ", "extlinks": "  ",
        "createdate": "2012/02/10", "updatedate": "2014/05/23",
    }  # fmt: skip


def _project(n: int, uid: int) -> Row:
    latin, _, taxid, _ = species(n)
    return {
        "uid": str(uid), "taxid": taxid, "project_id": uid, "project_acc": f"PRJNA{uid}",
        "project_type": "Primary submission", "project_data_type": "Genome sequencing",
        "project_objectives_list": [
            {"project_objectivestype": "Sequence", "project_objectives": "eSequence"}
        ],
        "registration_date": "2014/03/05 00:00", "project_name": latin,
        "project_title": f"{latin} genome sequencing {n}", "project_description": "All of it.",
        "organism_name": latin, "submitter_organization_list": ["A University", "B Institute"],
    }  # fmt: skip


def _series(n: int, uid: int) -> Row:
    return {
        "uid": str(uid), "accession": f"GSE{n + 1}", "gds": "", "title": f"Series {n}: {symbol(n)}",
        "summary": "Expression in reefs.", "gpl": "96", "gse": str(n + 1), "taxon": species(n)[0],
        "entrytype": "GSE", "gdstype": "Expression profiling by array", "pdat": "2001/01/01",
        "samples": [{"accession": f"GSM{10 * n + k}", "title": f"s{k}"} for k in range(n % 4)],
        "relations": [], "extrelations": [], "n_samples": n % 4, "pubmedids": [],
    }  # fmt: skip


def _concept(n: int, uid: int) -> Row:
    return {
        "uid": str(uid), "conceptid": f"C{n:07}", "title": f"Ague of type {n}",
        "definition": {"value": "A fever that comes and goes.", "sab": "GTR"},
        "semanticid": "T047", "semantictype": "Disease or Syndrome", "suppressed": "",
        "conceptmeta": f'<Names><Name SDUI="{uid}" type="syn">Ague {n}</Name></Names>',
    }  # fmt: skip


KINDS = {
    "gene": Kind(672, 30, _gene), "protein": Kind(6_552_299, 40, _sequence("protein")),
    "nuccore": Kind(237_757_283, 40, _sequence("nuccore")), "taxonomy": Kind(9606, 24, _taxon),
    "clinvar": Kind(65_533, 30, _variant), "snp": Kind(268, 1_200, _snp),
    "assembly": Kind(11_968_211, 12, _assembly), "biosample": Kind(2_672_871, 130, _biosample),
    "sra": Kind(155_791, 20, _experiment), "bioproject": Kind(257_197, 10, _project),
    "gds": Kind(200_000_001, 10, _series), "medgen": Kind(336_030, 15, _concept),
}  # fmt: skip
KINDS["nucleotide"] = KINDS["nuccore"]


@cache
def rows(database: str) -> dict[str, Row]:
    """Every record of a database, by UID; none of one that this world leaves empty."""
    if database not in KINDS:
        return {}
    first, size, row = KINDS[database]
    return {str(first + n): row(n, first + n) for n in range(size)}


def place(database: str, uid: str) -> int:
    """Which record of its database that is."""
    return int(uid) - KINDS[database].first


@cache
def _accessions(database: str) -> dict[str, str]:
    return {
        name: uid
        for uid, row in rows(database).items()
        if "accessionversion" in row
        for name in (row["accessionversion"], row["caption"])
    }


def uid_of(database: str, name: str) -> str:
    """The UID behind an identifier as it was sent; leading zeros do not count."""
    name = name.strip()
    return _accessions(database).get(name.upper(), name.lstrip("0") if name.isdigit() else "")
