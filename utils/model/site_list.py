"""Facts about the sources, available before a source's module is imported.

Written by ``python -m docs.reference`` from the files in ``sources/``: change those.
"""

# ruff: noqa: E501

from typing import TypedDict

from pydantic import SecretStr

from .site import Address, Key, Site, SiteRoute


class SiteKeys(TypedDict, total=False):
    """The keys of sites, in the form of Python objects."""

    semantic_scholar_api_key: str | SecretStr | None
    ncbi_api_key: str | SecretStr | None
    openalex_api_key: str | SecretStr | None
    springer_api_key: str | SecretStr | None
    springer_tdm_key: str | SecretStr | None
    elsevier_api_key: str | SecretStr | None
    elsevier_insttoken: str | SecretStr | None
    wiley_tdm_token: str | SecretStr | None
    core_api_key: str | SecretStr | None
    jina_api_key: str | SecretStr | None


OWN = (
    Site(name='semantic_scholar', addresses=(Address(service='semantic_scholar', url='https://api.semanticscholar.org/graph/v1', about='Semantic Scholar'),), keys=(Key(setting='semantic_scholar_api_key', gives='one request a second of your own, instead of a pool everybody shares; given for your own research, not to third-party applications, and withdrawn after 60 idle days', page='https://www.semanticscholar.org/product/api#api-key-form'),), kept_by='machines', searched=4),
    Site(name='idconv', addresses=(Address(service='idconv', url='https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles', about='PMC ID Converter'),)),
    Site(name='pubmed', addresses=(Address(service='eutils', url='https://eutils.ncbi.nlm.nih.gov/entrez/eutils', about='NCBI E-utilities'),), keys=(Key(setting='ncbi_api_key', gives='10 requests a second at NCBI instead of 3', page='https://account.ncbi.nlm.nih.gov/settings/', aliases=('pubmed_api_key',)),), kept_by='indexers', searched=1),
    Site(name='pmc', addresses=(Address(service='pmc_cloud', url='https://pmc-oa-opendata.s3.amazonaws.com', about='PMC Cloud Service'),), routes=(SiteRoute(via='pmc_cloud', label='PubMed Central (cloud)'), SiteRoute(via='efetch', label='PubMed Central (E-utilities)'),)),
    Site(name='europepmc', addresses=(Address(service='europepmc', url='https://www.ebi.ac.uk/europepmc/webservices/rest', about='Europe PMC'),), routes=(SiteRoute(via='europepmc', label='Europe PMC'), SiteRoute(via='europepmc_preprint', label='Preprint (Europe PMC)', version='preprint'),), kept_by='indexers', searched=2),
    Site(name='arxiv', addresses=(Address(service='arxiv', url='https://export.arxiv.org', about='arXiv API and its files'), Address(service='arxiv_oai', url='https://oaipmh.arxiv.org/oai', about='arXiv licenses (OAI-PMH)'),), routes=(SiteRoute(via='arxiv', label='arXiv', version='preprint'),), kept_by='preprint servers', searched=3),
    Site(name='biorxiv', addresses=(Address(service='biorxiv', url='https://api.biorxiv.org', about="bioRxiv's API"),), routes=(SiteRoute(via='biorxiv', label='bioRxiv and medRxiv', version='preprint'),)),
    Site(name='mdpi', addresses=(Address(service='mdpi', url='https://mdpi-res.com', about="MDPI's files"),), routes=(SiteRoute(via='mdpi', label='MDPI (file host)'),)),
    Site(name='unpaywall', addresses=(Address(service='unpaywall', url='https://api.unpaywall.org/v2', about='Unpaywall'),), routes=(SiteRoute(via='unpaywall', label='Open copy (Unpaywall)', version=''),), many_hosts=True),
    Site(name='openalex', addresses=(Address(service='openalex', url='https://api.openalex.org', about='OpenAlex'),), keys=(Key(setting='openalex_api_key', gives='search in OpenAlex (its single records are free)', page='https://openalex.org/settings/api'),), routes=(SiteRoute(via='openalex', label='Open copy (OpenAlex)', version=''),), kept_by='machines', searched=5, search_needs_key=True, many_hosts=True),
    Site(name='springer', addresses=(Address(service='springer', url='https://api.springernature.com', about='Springer Nature'),), keys=(Key(setting='springer_api_key', gives="Springer Nature's open articles as JATS", page='https://dev.springernature.com/'), Key(setting='springer_tdm_key', gives='the full texts that your text-mining agreement covers', page='https://dev.springernature.com/'),), routes=(SiteRoute(via='springer', label='Springer Nature (open)'), SiteRoute(via='springer_tdm', label='Springer Nature (text mining)', terms='For your own research only: not to be passed on, and deleted when the project ends.'),)),
    Site(name='elsevier', addresses=(Address(service='elsevier', url='https://api.elsevier.com/content', about='Elsevier'),), keys=(Key(setting='elsevier_api_key', gives="Elsevier's articles as XML, where your institution subscribes", page='https://dev.elsevier.com/apikey/manage'), Key(setting='elsevier_insttoken', gives="the same articles from outside your institution's network", page='https://dev.elsevier.com/support.html'),), routes=(SiteRoute(via='elsevier', label='Elsevier (text mining)', terms='For your own research only: not to be passed on, and deleted when the project ends.'),)),
    Site(name='wiley', addresses=(Address(service='wiley', url='https://api.wiley.com/onlinelibrary/tdm/v1', about='Wiley'),), keys=(Key(setting='wiley_tdm_token', gives="Wiley's articles as PDF, in your institution's network", page='https://onlinelibrary.wiley.com/library-info/resources/text-and-datamining'),), routes=(SiteRoute(via='wiley', label='Wiley (text mining)', terms='For your own research only: not to be passed on, and deleted when the project ends.'),)),
    Site(name='crossref', addresses=(Address(service='crossref', url='https://api.crossref.org/v1', about='Crossref'),), routes=(SiteRoute(via='crossref', label='Publisher (link for text mining)', terms='For your own research only: not to be passed on, and deleted when the project ends.'),), kept_by='publishers', many_hosts=True),
    Site(name='datacite', addresses=(Address(service='datacite', url='https://api.datacite.org', about='DataCite'),), kept_by='publishers'),
    Site(name='publisher', addresses=(Address(service='doi', url='https://doi.org', about='DOI resolver'),), routes=(SiteRoute(via='publisher', label='Publisher’s site'),), many_hosts=True),
    Site(name='semantic_scholar_copies', addresses=(Address(service='semantic_scholar', url='https://api.semanticscholar.org/graph/v1', about='Semantic Scholar'),), routes=(SiteRoute(via='semantic_scholar', label='Open copy (Semantic Scholar)', version=''),), many_hosts=True),
    Site(name='osti', addresses=(Address(service='osti', url='https://www.osti.gov/api/v1', about='OSTI'),), routes=(SiteRoute(via='osti', label='Open copy (OSTI)', version='accepted'),)),
    Site(name='hal', addresses=(Address(service='hal', url='https://api.archives-ouvertes.fr', about='HAL'),), routes=(SiteRoute(via='hal', label='Open copy (HAL)', version=''),)),
    Site(name='core', addresses=(Address(service='core', url='https://api.core.ac.uk/v3', about='CORE'),), keys=(Key(setting='core_api_key', gives='open texts that CORE gathered from repositories (a free key)', page='https://core.ac.uk/services/api'),), routes=(SiteRoute(via='core', label='Open copy (CORE)', version='', terms='Found through CORE: for text mining of your own, not for commerce.'),), many_hosts=True),
    Site(name='openalex_content', addresses=(Address(service='openalex_content', url='https://content.openalex.org', about="OpenAlex's files"),), routes=(SiteRoute(via='openalex_content', label='Open copy (OpenAlex’s own)', version=''),)),
    Site(name='jina', addresses=(Address(service='jina_reader', url='https://r.jina.ai', about='Jina Reader'), Address(service='jina_search', url='https://s.jina.ai', about='Jina search'),), keys=(Key(setting='jina_api_key', gives='500 requests a minute at Jina Reader, and search', page='https://jina.ai/api-dashboard'),), routes=(SiteRoute(via='jina', label='Publisher, via Jina Reader'), SiteRoute(via='jina_search', label='Found by Jina Search', version=''),)),
    Site(name='archive', addresses=(Address(service='archive', url='https://archive.org/wayback', about='Internet Archive'), Address(service='web_archive', url='https://web.archive.org/web', about="Internet Archive's captures"),)),
    Site(name='pubchem', addresses=(Address(service='pubchem', url='https://pubchem.ncbi.nlm.nih.gov/rest/pug', about='PubChem PUG REST'), Address(service='pubchem_autocomplete', url='https://pubchem.ncbi.nlm.nih.gov/rest/autocomplete', about="PubChem's list of names"),)),
    Site(name='bioc', addresses=(Address(service='bioc', url='https://www.ncbi.nlm.nih.gov/research/bionlp/RESTful/pmcoa.cgi', about='PMC as BioC'),)),
    Site(name='opencitations', addresses=(Address(service='opencitations', url='https://api.opencitations.net/index/v2', about='OpenCitations Index'),)),
    Site(name='icite', addresses=(Address(service='icite', url='https://icite.od.nih.gov/api', about='NIH iCite'),)),
    Site(name='pubmed_files', addresses=(Address(service='pubmed_files', url='https://ftp.ncbi.nlm.nih.gov/pubmed', about="PubMed's baseline and update files"),)),
    Site(name='citation_collection', addresses=(Address(service='citation_collection', url='https://api.figshare.com/v2', about="NIH's Open Citation Collection at figshare"),)),
    Site(name='clinicaltrials', addresses=(Address(service='clinicaltrials', url='https://clinicaltrials.gov/api/v2', about='ClinicalTrials.gov'),)),
)
