"""The papers of the stand-in internet that items ask for, and words that deviations share."""

# ruff: noqa: E501 - a reason is a line
from tests.world.corpus import small_corpus
from tests.world.openai import KEY as OPENAI_KEY
from tests.world.semantic_scholar import KEY as SCHOLAR_KEY

PAPERS = small_corpus()
WHOLE, CLOSED = PAPERS.branch("pmc_cloud"), PAPERS.branch("paywall")
ARXIV_ID = PAPERS.branch("arxiv").arxiv
UNKNOWN = "39999999"  # no PubMed record has this number
PMID = {"pmid": WHOLE.pmid}

# What doors are opened with, besides as usual: few, for each starts a server.
GUEST = {"NCBI_API_KEY": "", "NCBI_TOOL_IDENTIFIER": "lab-pipeline", "NCBI_MAX_RETRIES": "2"}
KEYED = {
    "SEMANTIC_SCHOLAR_API_KEY": SCHOLAR_KEY, "JINA_API_KEY": "jina-1",
    "NCBI_REQUEST_DELAY_MS": "1", "MCP_ALLOWED_ORIGINS": "https://lab.edu",
}  # fmt: skip
SLOW = {
    "NCBI_REQUEST_DELAY_MS": "2000", "MCP_TOOL_NAMES": "dotted", "PAPERS_RETRY_ABSTRACT_DAYS": "60",
}  # fmt: skip
NAMELESS = {"PUBMED_EMAIL": "", "MCP_TOOLSETS": "core"}
OFFLINE = {"PAPERS_OFFLINE": "true"}
NARROW = {
    "PAPERS_SOURCES": "europepmc,jina", "PAPERS_RETRY_ABSTRACT_DAYS": "0",
    "VECTOR_STORE": "weaviate", "WEAVIATE_URL": "http://127.0.0.1:1", "WEAVIATE_CLASS": "LabChunk",
}  # fmt: skip
OPENAI = {"EMBEDDINGS_PROVIDER": "openai", "OPENAI_API_KEY": OPENAI_KEY}
OVER_HTTP = {
    "MCP_TRANSPORT_TYPE": "http", "MCP_HTTP_PORT": "3999", "MCP_HTTP_HOST": "127.0.0.2",
    "NCBI_ADMIN_EMAIL": "admin@lab.edu", "PUBMED_EMAIL": "", "NCBI_API_KEY": "", "PUBMED_API_KEY": "k" * 36,
}  # fmt: skip

SNAKE = "names are snake_case everywhere, so that one paper's row is the same in every tool, file and door"
ENVELOPE = "all tools have one error envelope (document 001): a code to act on, what happened to which paper at which site, and what to do next"
ONE_NAME = "one name for each idea in all tools, so that a model need not guess; the document's names and values are read as well"
PLAIN = "some hosts refuse dots in names; MCP_TOOL_NAMES=dotted registers these"
UNSAID = "no schema says additionalProperties: false, for Google's SDK takes no tool that does; an argument that is not named is refused all the same, and named"
POLITE = "every site is asked as often as its own published limit allows, all processes together, and slower when it says so: quicker than fixed pauses for one paper, and safe for thousands"


def of(branch: str) -> str:
    """The PMID (else DOI) of the paper that exercises a branch."""
    record = PAPERS.branch(branch)
    return record.pmid or record.doi
