"""Who publishes a paper, told from its DOI: enough to put papers of one site together.

Prefixes are those under which the publishers register with Crossref, from memory of their DOIs;
a prefix that is not here stands for itself.
"""

from __future__ import annotations

_BY_PREFIX = {
    "10.1016": "Elsevier",
    "10.1053": "Elsevier",
    "10.1067": "Elsevier",
    "10.1002": "Wiley",
    "10.1111": "Wiley",
    "10.1007": "Springer Nature",
    "10.1038": "Springer Nature",
    "10.1186": "Springer Nature",
    "10.1080": "Taylor & Francis",
    "10.1081": "Taylor & Francis",
    "10.3109": "Taylor & Francis",
    "10.1093": "Oxford University Press",
    "10.1017": "Cambridge University Press",
    "10.1097": "Wolters Kluwer",
    "10.1177": "Sage",
    "10.1021": "American Chemical Society",
    "10.1039": "Royal Society of Chemistry",
    "10.1056": "New England Journal of Medicine",
    "10.1001": "American Medical Association",
    "10.1136": "BMJ",
    "10.1126": "AAAS",
    "10.1073": "PNAS",
    "10.1128": "American Society for Microbiology",
    "10.1152": "American Physiological Society",
    "10.1158": "AACR",
    "10.1161": "American Heart Association",
    "10.1200": "ASCO",
    "10.1210": "Endocrine Society",
    "10.1242": "Company of Biologists",
    "10.1159": "Karger",
    "10.1055": "Thieme",
    "10.1089": "Mary Ann Liebert",
    "10.1146": "Annual Reviews",
    "10.1515": "De Gruyter",
    "10.1109": "IEEE",
    "10.1371": "PLOS",
    "10.1101": "Cold Spring Harbor Laboratory",
}
OTHERS = "Without a DOI"


def publisher_of(doi: str) -> str:
    """The publisher's name, else the prefix of the DOI.

    >>> publisher_of("10.1016/j.x.2024.1"), publisher_of("10.99999/a"), publisher_of("")
    ('Elsevier', 'DOI prefix 10.99999', 'Without a DOI')
    """
    prefix = doi.partition("/")[0]
    return _BY_PREFIX.get(prefix, f"DOI prefix {prefix}") if prefix else OTHERS
