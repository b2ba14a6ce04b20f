"""Describe every Entrez database: its name, its identifiers, and the formats that EFetch offers.

The names are EInfo's list. Formats and defaults: table 1 of chapter 4 of the E-utilities handbook
(https://www.ncbi.nlm.nih.gov/books/NBK25499/), identifiers: table 1 of chapter 2 (NBK25497); for
later additions (``clinvar`` VCV, ``snp`` JSON, ``sra`` runinfo), the help of NCBI's own EDirect.
EInfo does not list formats, so a test compares only the names with EInfo's answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..errors import BadRequest
from ..system.plain_text import one_line, shorten

if TYPE_CHECKING:
    from .datasets.trees import PageForm


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A format in which EFetch returns records.

    ``page`` is the page format for datasets, None if the format cannot be staged; ``also`` are
    additional parameters.
    """

    rettype: str
    retmode: str
    gives: str
    page: PageForm | None = None
    also: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The format's request parameters as text."""
        return f"rettype={self.rettype or 'native'} retmode={self.retmode}"


@dataclass(frozen=True, slots=True)
class EntrezDatabase:
    """An Entrez database: name, identifiers, formats and an example.

    ``uid`` is the name of its identifiers, ``example`` an example; ``prefix`` may precede the
    number; ``accessions``: accession.version is accepted. The first of ``forms`` is the default;
    ``staged`` is the format for datasets, ``None`` for ESummary. ``everywhere``: a search in all
    databases counts its hits.
    """

    name: str
    title: str
    uid: str
    example: str
    forms: tuple[RecordFormat, ...] = ()
    staged: RecordFormat | None = None
    prefix: str = ""
    accessions: bool = False
    everywhere: bool = True


_FASTA = RecordFormat("fasta", "text", "sequences in FASTA")
_SEQUENCE = (
    RecordFormat("fasta", "xml", "sequences as TinySeq XML (TSeqSet)", "xml"),
    RecordFormat("acc", "text", "accession numbers"),
    RecordFormat("seqid", "text", "SeqID strings"),
    RecordFormat("ft", "text", "feature table"),
    RecordFormat("", "text", "Seq-entry ASN.1"),
    RecordFormat("", "xml", "Bioseq-set XML", "xml"),
)
_NUCLEOTIDE = (
    RecordFormat("gb", "text", "GenBank flat file"),
    RecordFormat("gb", "xml", "GBSet XML", "xml"),
    RecordFormat("gbc", "xml", "INSDSet XML", "xml"),
    RecordFormat("gbwithparts", "text", "GenBank flat file with all parts"),
    _FASTA,
    RecordFormat("fasta_cds_na", "text", "coding regions in FASTA"),
    RecordFormat("fasta_cds_aa", "text", "translated coding regions in FASTA"),
    *_SEQUENCE,
)
_PROTEIN = (
    RecordFormat("gp", "text", "GenPept flat file"),
    RecordFormat("gp", "xml", "GBSet XML", "xml"),
    RecordFormat("gpc", "xml", "INSDSet XML", "xml"),
    _FASTA,
    *_SEQUENCE,
)
# Since October 2022 only its own database offers this format; protein sends GBSet XML instead.
_IPG = (
    RecordFormat("ipg", "text", "identical proteins, tab-separated"),
    RecordFormat("ipg", "xml", "IPGReportSet XML", "xml"),
)
_PUBMED_ARTICLES = RecordFormat("", "xml", "PubmedArticleSet XML", "pubmed_xml")
_FULL_TEXT = RecordFormat("", "xml", "JATS XML (pmc-articleset)", "pmc_xml")
_SAMPLES = RecordFormat("full", "xml", "BioSampleSet XML", "xml")
_EXPERIMENTS = RecordFormat("full", "xml", "EXPERIMENT_PACKAGE_SET XML", "xml")
_TAXONOMY_XML = RecordFormat("", "xml", "TaxaSet XML", "xml")
_BY_VARIATION = (("is_variationid", "true"), ("from_esearch", "true"))

_DATABASES = (
    EntrezDatabase(
        "pubmed", "PubMed", "PMID", "31452104",
        (
            RecordFormat("abstract", "text", "citations with abstracts"),
            RecordFormat("medline", "text", "MEDLINE"),
            _PUBMED_ARTICLES,
        ),
        staged=_PUBMED_ARTICLES,
    ),
    EntrezDatabase(
        "pmc", "PubMed Central", "PMCID", "6776410",
        (_FULL_TEXT, RecordFormat("medline", "text", "MEDLINE")), staged=_FULL_TEXT, prefix="PMC",
    ),
    EntrezDatabase(
        "gene", "Gene", "Gene ID", "672",
        (
            RecordFormat("", "text", "a report of a few lines"),
            RecordFormat("gene_table", "text", "exons and transcripts as a table"),
            RecordFormat("full_report", "text", "a detailed report"),
            RecordFormat("tabular", "text", "one line a gene, tab-separated"),
            RecordFormat("", "xml", "Entrezgene-Set XML (about 1 MB a gene)", "xml"),
            RecordFormat("", "asn.1", "Entrezgene ASN.1"),
        ),
    ),
    EntrezDatabase(
        "protein", "Protein", "GI or accession.version", "NP_009225.1", _PROTEIN, accessions=True
    ),
    EntrezDatabase(
        "nuccore", "Nucleotide", "GI or accession.version", "NM_007294.4", _NUCLEOTIDE,
        accessions=True,
    ),
    EntrezDatabase(
        "nucleotide", "Nucleotide (another name of nuccore)", "GI or accession.version",
        "NM_007294.4", _NUCLEOTIDE, accessions=True, everywhere=False,
    ),
    EntrezDatabase("ipg", "Identical Protein Groups", "IPG ID", "1024", _IPG, accessions=True),
    EntrezDatabase(
        "taxonomy", "Taxonomy", "TaxID", "9606",
        (_TAXONOMY_XML, RecordFormat("", "text", "a list of names")), staged=_TAXONOMY_XML,
    ),
    EntrezDatabase(
        "clinvar", "ClinVar", "Variation ID", "65533",
        (RecordFormat("vcv", "xml", "ClinVarResult-Set XML, by variation", "xml", _BY_VARIATION),),
    ),
    EntrezDatabase(
        "snp", "dbSNP", "rs number", "268",
        (RecordFormat("json", "text", "RefSNP reports, one JSON object a line"),), prefix="rs",
    ),
    EntrezDatabase("dbvar", "dbVar", "dbVar ID", "1272816"),
    EntrezDatabase("assembly", "Assembly", "Assembly ID", "11968211"),
    EntrezDatabase("genome", "Genome", "Genome ID", "51"),
    EntrezDatabase(
        "bioproject", "BioProject", "BioProject ID", "257197",
        (RecordFormat("", "text", "a report"), RecordFormat("", "xml", "RecordSet XML", "xml")),
    ),
    EntrezDatabase(
        "biosample", "BioSample", "BioSample ID", "2672871",
        (RecordFormat("full", "text", "a report"), _SAMPLES), staged=_SAMPLES,
    ),
    EntrezDatabase(
        "sra", "Sequence Read Archive", "SRA ID", "155791",
        (
            RecordFormat("runinfo", "text", "one line a run, comma-separated"),
            _EXPERIMENTS,
            RecordFormat("runinfo", "xml", "SraRunInfo XML", "xml"),
        ),
        staged=_EXPERIMENTS,
    ),
    EntrezDatabase(
        "gds", "GEO DataSets", "GDS ID", "200000001",
        (RecordFormat("summary", "text", "a summary"),),
    ),
    EntrezDatabase("geoprofiles", "GEO Profiles", "GEO ID", "133950258"),
    EntrezDatabase(
        "mesh", "MeSH", "MeSH UID", "68009369",
        (RecordFormat("full", "text", "the whole record"),),
    ),
    EntrezDatabase("medgen", "MedGen", "MedGen UID", "336030"),
    EntrezDatabase("omim", "OMIM", "MIM number", "113705"),
    EntrezDatabase("gtr", "Genetic Testing Registry", "GTR UID", "593"),
    EntrezDatabase("gap", "dbGaP", "dbGaP ID", "2754"),
    EntrezDatabase(
        "structure", "Structure", "MMDB-ID", "58471",
        (
            RecordFormat("mmdb", "text", "the structure in ASN.1"),
            RecordFormat("", "text", "a report"),
        ),
    ),
    EntrezDatabase("cdd", "Conserved Domains", "PSSM-ID", "274008"),
    EntrezDatabase("protfam", "Protein Family Models", "ProtFam ID", "1000071"),
    EntrezDatabase(
        "proteinclusters", "Protein Clusters", "cluster ID", "2945638", everywhere=False
    ),
    EntrezDatabase("pccompound", "PubChem Compound", "CID", "2244"),
    EntrezDatabase("pcsubstance", "PubChem Substance", "SID", "127317050"),
    EntrezDatabase("pcassay", "PubChem BioAssay", "AID", "1000"),
    EntrezDatabase("books", "Bookshelf", "Book ID", "1473112"),
    EntrezDatabase(
        "nlmcatalog", "NLM Catalog", "NLM Catalog ID", "101595451",
        (
            RecordFormat("", "text", "the record"),
            RecordFormat("", "xml", "NLMCatalogRecordSet XML", "xml"),
        ),
    ),
    EntrezDatabase("biocollections", "BioCollections", "collection ID", "7370"),
    EntrezDatabase("annotinfo", "Annotation runs", "annotation ID", "1", everywhere=False),
    EntrezDatabase("blastdbinfo", "BLAST databases", "database ID", "1023212", everywhere=False),
    EntrezDatabase("gapplus", "dbGaP, genotypes and phenotypes", "ID", "1", everywhere=False),
    EntrezDatabase("grasp", "GRASP", "ID", "1", everywhere=False),
    EntrezDatabase("orgtrack", "Organism tracking", "ID", "1", everywhere=False),
    EntrezDatabase("seqannot", "Sequence annotations", "ID", "7910", everywhere=False),
)  # fmt: skip
DATABASES: Mapping[str, EntrezDatabase] = MappingProxyType({one.name: one for one in _DATABASES})
"""Databases by name, with literature and the most used first."""

# Names that people write, or that NCBI has retired, with the present database.
_ALIASES = {
    "dbsnp": "snp", "dbgap": "gap", "geo": "gds", "medline": "pubmed", "pubmedcentral": "pmc",
    "genbank": "nuccore", "refseq": "nuccore", "nucest": "nuccore", "nucgss": "nuccore",
    "est": "nuccore", "gss": "nuccore", "popset": "nuccore", "proteins": "protein",
    "genpept": "protein", "homologene": "gene", "unigene": "gene", "genes": "gene",
    "genomeprj": "bioproject", "gcassembly": "assembly", "journals": "nlmcatalog",
    "pubchem": "pccompound", "compound": "pccompound", "substance": "pcsubstance",
    "bioassay": "pcassay", "mmdb": "structure", "pdb": "structure", "taxon": "taxonomy",
    "organism": "taxonomy", "bookshelf": "books", "clinicalvariation": "clinvar",
}  # fmt: skip


def make_default_database_entry(name: str) -> EntrezDatabase:
    """Return an entry for an NCBI database that this table lacks; it offers only summaries."""
    return EntrezDatabase(name, name, "UID", "1", everywhere=False)


def normalize_database_name(name: str) -> str:
    """Return a database's name in Entrez's spelling.

    >>> normalize_database_name(" PubMed "), normalize_database_name("Nucleotide")
    ('pubmed', 'nucleotide')
    """
    return one_line(name).casefold()


def build_unknown_database_error(name: str, others: Iterable[str] = ()) -> BadRequest:
    """Return the error for an unknown database, with similar names."""
    plain = normalize_database_name(name)
    titles = {one.title.casefold(): one.name for one in DATABASES.values()}
    names = {**dict.fromkeys([*DATABASES, *others]), **titles, **_ALIASES}
    near = get_close_matches(plain.replace(" ", ""), names, 3, 0.7) if plain else []
    meant = list(dict.fromkeys(names[one] or one for one in near))
    msg = f"Entrez has no database {shorten(one_line(name), 40)!r}." if plain else "No database."
    hints = [f"Did you mean {one} ({get_database_title(one)})?" for one in meant[:3]]
    often = "pubmed, pmc, gene, protein, nuccore, taxonomy, clinvar, snp, biosample, sra"
    return BadRequest(msg, *hints, f"Often asked: {often}; info without a database lists all.")


def get_database_title(name: str) -> str:
    """Return the database's title, or its name if the title is unknown."""
    return DATABASES[name].title if name in DATABASES else name


def find_record_format(
    database: EntrezDatabase, rettype: str = "", retmode: str = ""
) -> RecordFormat:
    """Return the format with this rettype and retmode; the first one if both are empty.

    ``native`` and ``xml`` are accepted as a rettype, as in NCBI's own tools.

    Raises
    ------
    BadRequest
        EFetch does not offer this database, or not in that format.
    """
    wanted, mode = normalize_database_name(rettype), normalize_database_name(retmode)
    if wanted in {"docsum", "summary"} and wanted not in {f.rettype for f in database.forms}:
        msg = f"{wanted} is what the operation summary gives."
        raise BadRequest(msg, f"Ask for the summary of {database.name}.")
    if not database.forms:
        msg = f"EFetch gives no records of {database.name}."
        raise BadRequest(msg, f"Ask for the summary: it is all that {database.name} offers.")
    if wanted == "xml":
        wanted, mode = "native", mode or "xml"
    for form in database.forms:
        fits = not wanted or form.rettype == ("" if wanted in {"native", "null"} else wanted)
        if fits and (not mode or form.retmode == mode):
            return form
    msg = f"{database.name} has no {_describe_format_params(wanted, mode)}."
    near = get_close_matches(wanted, [form.rettype for form in database.forms], 1, 0.5)
    hint = f"Did you mean rettype={near[0]}?" if near else _suggest_databases_with_format(wanted)
    raise BadRequest(msg, hint, f"It has {describe_formats(database.forms)}.")


def _suggest_databases_with_format(rettype: str) -> str:
    """Return a hint that lists the databases with such a format."""
    have = [
        one.name
        for one in DATABASES.values()
        if rettype and any(form.rettype == rettype for form in one.forms)
    ]
    return f"rettype={rettype} is a form of {', '.join(have)}." if have else ""


def find_dataset_format(
    database: EntrezDatabase, rettype: str = "", retmode: str = ""
) -> RecordFormat | None:
    """Return the format used for datasets; None for ESummary, which every database offers.

    Raises
    ------
    BadRequest
        The format has no fields that could become columns.
    """
    wanted = normalize_database_name(rettype)
    if wanted in {"docsum", "esummary", "summary"} or not (wanted or retmode):
        return None if wanted else database.staged
    form = find_record_format(database, rettype, retmode)
    if form.page is None and not retmode:
        forms = [one for one in database.forms if one.rettype == form.rettype and one.page]
        form = forms[0] if forms else form
    if form.page is None:
        msg = f"{form.name} of {database.name} ({form.gives}) cannot be staged: it is plain text."
        able = describe_formats([one for one in database.forms if one.page])
        raise BadRequest(msg, f"Stage {able or 'its summaries'}, or fetch it as text.")
    return form


def describe_formats(forms: Iterable[RecordFormat]) -> str:
    """Return formats as one line of text."""
    return "; ".join(f"{form.name} ({form.gives})" for form in forms)


def _describe_format_params(rettype: str, retmode: str) -> str:
    options = (("rettype", rettype), ("retmode", retmode))
    return " ".join(f"{name}={shorten(value, 30)}" for name, value in options if value)
