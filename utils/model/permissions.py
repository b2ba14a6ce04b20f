"""State whether a text may be passed on, mined, or used to train models.

The answers come from the licence of the text, else from the terms of the route that brought it,
else from a reservation of its publisher. Each answer has its reason and the address of the terms.
An answer is "yes" only where terms grant it to everybody, for research that is not commercial. A
missing, contradictory or unrecognised licence is "unknown". This is not legal advice.

`LICENSES` lists licences other than Creative Commons; those are read from their codes.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .licenses import find_cc_license
from .sites import ROUTES

Answer = Literal["yes", "no", "unknown"]


class Permission(NamedTuple):
    """An answer, its reason, and the address of the terms; the address may be empty."""

    answer: Answer
    reason: str
    source: str = ""


class Permissions(NamedTuple):
    """The permissions to share, mine and train with one text."""

    may_share: Permission
    may_mine: Permission
    may_train: Permission

    @property
    def terms(self) -> str:
        """The terms that forbid passing the text on; "" if none are known."""
        return self.may_share.reason if self.may_share.answer == "no" else ""

    def to_row(self) -> dict[str, str]:
        """Return the answers alone, for tables."""
        return {name: permission.answer for name, permission in self._asdict().items()}

    def to_details(self) -> dict[str, dict[str, str]]:
        """Return the answers with their reasons and sources, for JSON."""
        return {name: permission._asdict() for name, permission in self._asdict().items()}


class License(NamedTuple):
    """A licence: how it is recognised, its answers to share, mine and train, and its terms."""

    pattern: re.Pattern[str]
    answers: tuple[Answer, Answer, Answer]
    terms: str
    source: str


PERMISSION_COLUMNS = Permissions._fields
_TRAINING = "https://creativecommons.org/using-cc-licensed-works-for-ai-training-2/"
_CC_NAME = re.compile(r"CC BY((?:-NC)?)((?:-ND|-SA)?)(?: (1\.0|2\.0|2\.1|2\.5|3\.0|4\.0))?")
_PUBLIC_DOMAIN = ("CC0 1.0", "Public Domain Mark 1.0")
_DENIAL = re.compile(
    r"\bnot\b.{0,60}(?:licen|creative commons|\bCC\b|public domain)|expired|revoked|withdrawn"
    r"|duration of|unless otherwise noted",
    re.I,
)
_CC_MENTION = re.compile(
    r"creativecommons\.org/(?:licen[sc]es|publicdomain)/[^\s)>\]]*|\bCC[ _-]?BY[A-Z _-]*[\d.]*",
    re.I,
)
_NOTHING_STATED = Permission("unknown", "No licence is stated.")
_NOT_RECOGNISED = "The stated licence is not one that Papershelf knows."
_CONTRADICTION = "The text states several licences, or denies one."


def _build_license(
    pattern: str, share: Answer, mine: Answer, train: Answer, terms: str, source: str
) -> License:
    """Return a row of `LICENSES`."""
    return License(re.compile(pattern, re.I | re.S), (share, mine, train), terms, source)


LICENSES = (
    _build_license(
        *(r"elsevier\.com/open-access/userlicense|^elsevier[ -](?:user )?licen[sc]e", "no", "yes"),
        *("unknown", "Elsevier's user licence: read and mine it, but do not pass it on."),
        "https://www.elsevier.com/open-access/userlicense/1.0/",
    ),
    _build_license(
        *(r"elsevier\.com/tdm/userlicense|elsevier-specific", "no", "yes", "unknown"),
        "Elsevier's licence for text mining: non-commercial, and not to be passed on.",
        "https://www.elsevier.com/about/policies-and-standards/text-and-data-mining/license",
    ),
    _build_license(
        *(r"doi\.wiley\.com/10\.1002/tdm_license", "no", "yes", "unknown"),
        "Wiley's licence for text mining: non-commercial, and not to be passed on.",
        "https://onlinelibrary.wiley.com/library-info/resources/text-and-datamining",
    ),
    _build_license(
        *(r"onlinelibrary\.wiley\.com/termsandconditions", "no", "unknown", "unknown"),
        "Wiley's terms of use: for reading.",
        "https://onlinelibrary.wiley.com/terms-and-conditions",
    ),
    _build_license(
        *(r"springer(?:nature)?\.com/(?:[\w/-]*/)?(?:tdm|text-and-data-mining)", "no", "yes"),
        *("unknown", "Springer Nature's terms for text mining: non-commercial research only."),
        "https://www.springernature.com/gp/researchers/text-and-data-mining",
    ),
    _build_license(
        r"academic\.oup\.com/[\w/-]*standard_publication_model",
        *("no", "unknown", "unknown", "Oxford University Press's standard licence: for reading."),
        "https://academic.oup.com/pages/standard-publication-reuse-rights",
    ),
    _build_license(
        r"authorchoice(?!.*CC.BY)|copying and redistribution of the article or any adaptations for"
        r" non-?commercial",
        *("yes", "yes", "unknown", "ACS AuthorChoice: for non-commercial purposes."),
        "https://pubs.acs.org/page/policy/authorchoice_termsofuse.html",
    ),
    _build_license(
        *(r"arxiv\.org/licenses/nonexclusive-distrib|arxiv\.org perpetual", "no", "yes", "unknown"),
        "arXiv may distribute it; others need the permission of the copyright holder.",
        "https://info.arxiv.org/help/api/tou.html",
    ),
    _build_license(
        r"^(?:TDM|author[ _-]manuscript)$|available for text mining",
        *("unknown", "yes", "unknown"),
        "An author manuscript in PMC: for text mining, and what copyright law allows.",
        "https://pmc.ncbi.nlm.nih.gov/tools/amdataset/",
    ),
    _build_license(
        *(r"^cc[_ -]no$", "no", "yes", "unknown"),
        "The authors reserve all rights; bioRxiv and medRxiv allow text mining of all preprints.",
        "https://www.biorxiv.org/tdm",
    ),
    _build_license(
        *(r"^(?:pd|public[ -]domain)\b|\bis in the public domain", "yes", "yes", "yes"),
        "In the public domain, in the country of publication at least.",
        "https://pmc.ncbi.nlm.nih.gov/about/copyright/",
    ),
    _build_license(
        r"permits? unrestricted (?:non-?commercial )?(?:re-?)?use, distribution,? and reproduction",
        *("yes", "yes", "unknown", "Its own words permit use, distribution and reproduction."),
        "",
    ),
    _build_license(
        *(r"\ball rights\b.{0,60}\btext and data mining\b", "no", "no", "no"),
        *("All rights are reserved, those to mine the text and to train models by name.", ""),
    ),
    _build_license(
        *(r"exclusive licen[sc]ee?\b|Science Journals Default License", "no", "unknown", "unknown"),
        *("Its publisher has an exclusive licence, and others have none.", ""),
    ),
    _build_license(
        r"all rights (?:are )?reserved|no re-?use (?:is )?allowed|no_reuse",
        *("no", "unknown", "unknown", "All rights are reserved.", ""),
    ),
)  # fmt: skip

_RESERVED: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("10.1016/",), "Elsevier", "https://www.elsevier.com/tdm/tdmrep-policy.json"),
    (
        ("10.1007/", "10.1038/"),
        "Springer Nature",
        "https://www.springernature.com/gp/researchers/text-and-data-mining",
    ),
    (
        ("10.1002/", "10.1029/", "10.1111/"),
        "Wiley",
        "https://onlinelibrary.wiley.com/terms-and-conditions",
    ),
)
"""Publishers that reserve training, by their DOIs (EU directive 2019/790, article 4(3))."""


def get_permissions(license_: str, via: str = "", doi: str = "") -> Permissions:
    """Return what may be done with a text of a licence that came by a route.

    >>> get_permissions("CC BY-NC-ND 4.0").to_row()
    {'may_share': 'yes', 'may_mine': 'yes', 'may_train': 'unknown'}
    >>> get_permissions("").to_row()
    {'may_share': 'unknown', 'may_mine': 'unknown', 'may_train': 'unknown'}
    """
    share, mine, train = _read_license(license_.strip())
    route = ROUTES.get(via)
    if route and route.terms and share.answer != "yes":
        share = Permission("no", route.terms)
        mine = Permission("yes", route.terms) if mine.answer == "unknown" else mine
    if train.answer == "unknown" and share.answer != "yes":
        for prefixes, publisher, source in _RESERVED:
            if doi.startswith(prefixes):
                train = Permission("no", f"{publisher} reserves the right to train models.", source)
    return Permissions(share, mine, train)


def _read_license(text: str) -> Permissions:
    """Return what a licence allows; "unknown" for one that is not recognised for certain."""
    if not text:
        return Permissions(_NOTHING_STATED, _NOTHING_STATED, _NOTHING_STATED)
    if (
        _DENIAL.search(text)
        or len(set(filter(None, map(_get_cc_code, _CC_MENTION.findall(text))))) > 1
    ):
        return Permissions(*[Permission("unknown", _CONTRADICTION)] * 3)
    if name := find_cc_license(text):
        return _read_cc_license(name)
    for license_ in LICENSES:
        if license_.pattern.search(text):
            return Permissions(
                *(Permission(one, license_.terms, license_.source) for one in license_.answers)
            )
    return Permissions(*[Permission("unknown", _NOT_RECOGNISED)] * 3)


def _get_cc_code(mention: str) -> str:
    """Return the code of a Creative Commons licence without its version."""
    name = find_cc_license(mention)
    return name.rpartition(" ")[0] or name


def _read_cc_license(name: str) -> Permissions:
    """Return what a Creative Commons licence allows, by its code and version."""
    if name in _PUBLIC_DOMAIN:
        kind = "zero" if name.startswith("CC0") else "mark"
        source = f"https://creativecommons.org/publicdomain/{kind}/1.0/"
        return Permissions(*[Permission("yes", f"{name}: no conditions.", source)] * 3)
    if not (match := _CC_NAME.fullmatch(name)):
        return Permissions(*[Permission("unknown", _NOT_RECOGNISED)] * 3)
    commercial, change, version = match.groups()
    source = f"https://creativecommons.org/licenses/by{commercial}{change}/".lower()
    source += f"{version or '4.0'}/"
    limits = ", for non-commercial purposes" if commercial else ""
    unchanged = ", unchanged" if change == "-ND" else ""
    share = Permission("yes", f"{name}: with credit{unchanged}{limits}.", source)
    mine = Permission("yes", f"{name}: with credit{limits}.", source)
    if change == "-ND" and version != "4.0":
        said = f"{name}: before version 4.0, a changed copy is not allowed even in private."
        mine = Permission("unknown", said, source)
    train = Permission("yes", f"{name}: with credit.", _TRAINING)
    if commercial or change:
        said = "its conditions may bind the model and every use of it."
        train = Permission("unknown", f"{name}: {said}", _TRAINING)
    return Permissions(share, mine, train)
