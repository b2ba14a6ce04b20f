"""Every site there is a source for: names, addresses, keys and routes.

Settings, reports and the shelf need an address, a key or a route's name, and import no source; so
the facts stand here and what a site can do in its file in ``sources/``. A new source is that file
and its entry here. Addresses are those of the sites' own documentation, as each file cites it.

The order matters: lookups are tried from top to bottom until a paper is known, and the full-text
ladder follows ``PAPERS_SOURCES``, whose default is this order, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .paper import Version

KeptBy = Literal["indexers", "publishers", "machines", "preprint servers"]
_TDM = "For your own research only: not to be passed on, and deleted when the project ends."
_TRUSTED: tuple[KeptBy, ...] = ("indexers", "publishers", "machines", "preprint servers")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a site is asked: the setting ``<service>_base_url``, its default, what is there."""

    service: str
    url: str
    about: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a user may have: the setting, what it gives, other names of the variable."""

    setting: str
    gives: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRoute:
    """A route to full text: its short name, its name for people, and the version of its texts.

    ``version`` is empty where the texts say it themselves; ``terms`` what binds whoever keeps a
    text that came this way, unless its own licence is a free one (empty: nothing but that).
    """

    via: str
    label: str
    version: Version = "published"
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One site.

    The first of the ``addresses`` is the one that `doctor` asks, for the first site that has it.
    ``kept_by`` says who keeps its records, where they are merged with others', ``searched`` its
    place among the sites that are searched side by side (0: not among them; ``search_needs_key``:
    only where its key is set), and ``many_hosts`` that its routes lead to hosts of many publishers.
    ``more_keys`` are keys beside the first, for what that does not open.
    """

    name: str
    addresses: tuple[Address, ...]
    key: Key | None = None
    routes: tuple[SiteRoute, ...] = ()
    kept_by: KeptBy | None = None
    searched: int = 0
    search_needs_key: bool = False
    many_hosts: bool = False
    more_keys: tuple[Key, ...] = ()


_SEMANTIC_SCHOLAR = Address(
    "semantic_scholar", "https://api.semanticscholar.org/graph/v1", "Semantic Scholar"
)
SITES = (
    Site(
        "semantic_scholar",
        (_SEMANTIC_SCHOLAR,),
        Key(
            "semantic_scholar_api_key",
            "one request a second of your own, instead of a pool everybody shares; given for your "
            "own research, not to third-party applications, and withdrawn after 60 idle days",
        ),
        kept_by="machines",
        searched=4,
    ),
    Site(
        "idconv",
        (
            Address(
                "idconv",
                "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles",
                "PMC ID Converter",
            ),
        ),
    ),
    Site(
        "pubmed",
        (Address("eutils", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils", "NCBI E-utilities"),),
        Key("ncbi_api_key", "10 requests a second at NCBI instead of 3", ("pubmed_api_key",)),
        kept_by="indexers",
        searched=1,
    ),
    Site(
        "pmc",
        (Address("pmc_cloud", "https://pmc-oa-opendata.s3.amazonaws.com", "PMC Cloud Service"),),
        routes=(
            SiteRoute("pmc_cloud", "PubMed Central (cloud)"),
            SiteRoute("efetch", "PubMed Central (E-utilities)"),
        ),
    ),
    Site(
        "europepmc",
        (Address("europepmc", "https://www.ebi.ac.uk/europepmc/webservices/rest", "Europe PMC"),),
        routes=(
            SiteRoute("europepmc", "Europe PMC"),
            SiteRoute("europepmc_preprint", "Preprint (Europe PMC)", "preprint"),
        ),
        kept_by="indexers",
        searched=2,
    ),
    Site(
        "arxiv",
        (
            Address("arxiv", "https://export.arxiv.org", "arXiv API and its files"),
            Address("arxiv_oai", "https://oaipmh.arxiv.org/oai", "arXiv licenses (OAI-PMH)"),
        ),
        routes=(SiteRoute("arxiv", "arXiv", "preprint"),),
        kept_by="preprint servers",
        searched=3,
    ),
    Site(
        "unpaywall",
        (Address("unpaywall", "https://api.unpaywall.org/v2", "Unpaywall"),),
        routes=(SiteRoute("unpaywall", "Open copy (Unpaywall)", ""),),
        many_hosts=True,
    ),
    Site(
        "openalex",
        (Address("openalex", "https://api.openalex.org", "OpenAlex"),),
        Key("openalex_api_key", "search in OpenAlex (its single records are free)"),
        routes=(SiteRoute("openalex", "Open copy (OpenAlex)", ""),),
        kept_by="machines",
        searched=5,
        search_needs_key=True,
        many_hosts=True,
    ),
    Site(
        "springer",
        (Address("springer", "https://api.springernature.com", "Springer Nature"),),
        Key("springer_api_key", "Springer Nature's open articles as JATS"),
        routes=(
            SiteRoute("springer", "Springer Nature (open)"),
            SiteRoute("springer_tdm", "Springer Nature (text mining)", terms=_TDM),
        ),
        more_keys=(Key("springer_tdm_key", "what your agreement for text mining opens"),),
    ),
    Site(
        "elsevier",
        (Address("elsevier", "https://api.elsevier.com/content", "Elsevier"),),
        Key("elsevier_api_key", "Elsevier's articles as XML, where your institution subscribes"),
        routes=(SiteRoute("elsevier", "Elsevier (text mining)", terms=_TDM),),
        more_keys=(
            Key("elsevier_insttoken", "the same outside your institution's network: its token"),
        ),
    ),
    Site(
        "wiley",
        (Address("wiley", "https://api.wiley.com/onlinelibrary/tdm/v1", "Wiley"),),
        Key("wiley_tdm_token", "Wiley's articles as PDF, in your institution's network"),
        routes=(SiteRoute("wiley", "Wiley (text mining)", terms=_TDM),),
    ),
    Site(
        "crossref",
        (Address("crossref", "https://api.crossref.org/v1", "Crossref"),),
        routes=(SiteRoute("crossref", "Publisher (link for text mining)", terms=_TDM),),
        kept_by="publishers",
        many_hosts=True,
    ),
    Site(
        "publisher",
        (Address("doi", "https://doi.org", "DOI resolver"),),
        routes=(SiteRoute("publisher", "Publisher’s site"),),
        many_hosts=True,
    ),
    Site(
        "semantic_scholar_copies",
        (_SEMANTIC_SCHOLAR,),
        routes=(SiteRoute("semantic_scholar", "Open copy (Semantic Scholar)", ""),),
        many_hosts=True,
    ),
    Site(
        "core",
        (Address("core", "https://api.core.ac.uk/v3", "CORE"),),
        Key("core_api_key", "open texts that CORE gathered from repositories (a free key)"),
        routes=(
            SiteRoute(
                "core",
                "Open copy (CORE)",
                "",
                terms="Found through CORE: for text mining of your own, not for commerce.",
            ),
        ),
        many_hosts=True,
    ),
    Site(
        "openalex_content",
        (Address("openalex_content", "https://content.openalex.org", "OpenAlex's files"),),
        routes=(SiteRoute("openalex_content", "Open copy (OpenAlex’s own)", ""),),
    ),
    Site(
        "jina",
        (
            Address("jina_reader", "https://r.jina.ai", "Jina Reader"),
            Address("jina_search", "https://s.jina.ai", "Jina search"),
        ),
        Key("jina_api_key", "500 requests a minute at Jina Reader, and search"),
        routes=(
            SiteRoute("jina", "Publisher, via Jina Reader"),
            SiteRoute("jina_search", "Found by Jina Search", ""),
        ),
    ),
    Site(
        "archive",
        (
            Address("archive", "https://archive.org/wayback", "Internet Archive"),
            Address("web_archive", "https://web.archive.org/web", "Internet Archive's captures"),
        ),
    ),
    Site(
        "pubchem",
        (
            Address("pubchem", "https://pubchem.ncbi.nlm.nih.gov/rest/pug", "PubChem PUG REST"),
            Address(
                "pubchem_autocomplete",
                "https://pubchem.ncbi.nlm.nih.gov/rest/autocomplete",
                "PubChem's list of names",
            ),
        ),
    ),
    Site(
        "bioc",
        (
            Address(
                "bioc",
                "https://www.ncbi.nlm.nih.gov/research/bionlp/RESTful/pmcoa.cgi",
                "PMC as BioC",
            ),
        ),
    ),
    Site(
        "opencitations",
        (
            Address(
                "opencitations",
                "https://api.opencitations.net/index/v2",
                "OpenCitations Index",
            ),
        ),
    ),
    Site("icite", (Address("icite", "https://icite.od.nih.gov/api", "NIH iCite"),)),
    Site(
        "pubmed_files",
        (
            Address(
                "pubmed_files",
                "https://ftp.ncbi.nlm.nih.gov/pubmed",
                "PubMed's baseline and update files",
            ),
        ),
    ),
    Site(
        "citation_collection",
        (
            Address(
                "citation_collection",
                "https://api.figshare.com/v2",
                "NIH's Open Citation Collection at figshare",
            ),
        ),
    ),
)

ROUTES = {route.via: route for site in SITES for route in site.routes}
KEYS = tuple(key for site in SITES for key in (site.key, *site.more_keys) if key)
WITH_TEXT = tuple(site.name for site in SITES if site.routes)
"""The default ladder."""
SEARCHED = {
    site.name: site.key.setting if site.key and site.search_needs_key else ""
    for site in sorted(SITES, key=lambda site: site.searched)
    if site.searched
}
"""Sites that are searched side by side, and the key without which one is left out."""
BY_TRUST = tuple(site.name for kept_by in _TRUSTED for site in SITES if site.kept_by == kept_by)
"""Sites whose records are merged, the most trusted first."""


def terms_of(via: str, license_: str) -> str:
    """What binds whoever keeps a text that came by a route, unless its own licence is a free one.

    >>> terms_of("elsevier", "CC BY 4.0"), terms_of("pmc_cloud", "")
    ('', '')
    """
    route = ROUTES.get(via)
    return route.terms if route and not license_.startswith("CC") else ""


def service_of(name: str) -> str:
    """What the first address of a site is called in the settings; empty where there is none."""
    return next((site.addresses[0].service for site in SITES if site.name == name), "")
