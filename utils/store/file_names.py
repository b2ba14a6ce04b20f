"""What a paper's file is called.

The names are those of the older program whose folders are read as they are: a DOI with ``/`` and
``:`` turned into ``_``, ``pmid_<PMID>``, and ``_abstract`` behind the name of what is no full
text. Whatever Windows or Unix would stumble over is replaced, and then a short hash of the
identifier keeps two papers apart.
"""

from __future__ import annotations

import hashlib
import re

from ..errors import BadRequest
from ..model.identifiers import EXAMPLES, Ids
from ..model.paper import Kind, Version
from ..system.plain_text import encodable

LONGEST = 200
"""Bytes of a stem; file systems allow 255 for the whole name with its endings."""

_LONGEST_NAME = 255
_MARKED: tuple[Version, ...] = ("accepted", "preprint")
ENDINGS: dict[Kind, str] = {"abstract": "_abstract", "record": "_record"}
"""What the names of files without a full text end in."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._()\[\]{};,+=@#&'!~$%^` -]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)


def stem(ids: Ids, kind: Kind = "full_text", version: Version = "") -> str:
    """The file name without ``.txt``; *version* is named in that of a text beside the published.

    >>> stem(Ids(doi="10.1038/nature12345"))
    '10.1038_nature12345'
    >>> stem(Ids(doi="10.1038/nature12345", pmid="10492251"), "abstract")
    'pmid_10492251_abstract'
    >>> stem(Ids(doi="10.1002/a<b>"))
    '10.1002_a_b_-d41de045'
    >>> stem(Ids(doi="10.1000/a"), version="accepted")
    '10.1000_a_accepted'
    >>> stem(Ids(doi="10.1000/a", arxiv="2601.00001"), version="preprint")
    'arxiv_2601.00001'

    Raises
    ------
    BadRequest
        The paper has no identifier at all.
    """
    if not ids:
        raise BadRequest("A paper without any identifier cannot be filed.", EXAMPLES)
    if kind in ENDINGS:
        by_pmid = f"pmid_{ids.pmid}" if ids.pmid else ""
        return ((by_pmid and safe(by_pmid)) or stem(ids)) + ENDINGS[kind]
    if version == "preprint" and ids.arxiv:
        return stem(Ids(arxiv=ids.arxiv))
    if version in _MARKED:
        return f"{stem(ids)}_{version}"
    name, _, value = ids.key.partition(":")
    return safe(value if name == "doi" else f"{name}_{value}")


def traditional(doi: str) -> str:
    """The DOI as the older program spelled it in a file name."""
    return doi.replace("/", "_").replace(":", "_")


def safe(text: str) -> str:
    """*text* as a file name every system takes; changed text gets a hash of what it was.

    >>> safe("../etc"), safe("nul")
    ('___etc-f7f9121f', 'nul-99e62427')
    """
    plain = traditional(text)
    name = _UNSAFE.sub("_", plain)
    name = re.sub(r"^[.\s-]+|[.\s]+$", lambda found: "_" * len(found[0]), name)
    if name == plain and len(name) <= LONGEST and not _RESERVED.fullmatch(name):
        return name
    return apart(name, text)


def apart(name: str, text: str) -> str:
    """*name* with a short hash of *text*, for a name that another paper has taken."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: LONGEST - 20]}-{mark}"


def candidates(ids: Ids) -> list[str]:
    """The names under which somebody else may have filed this paper, best first."""
    stems: list[str] = []
    if ids.doi:
        stems += [safe(ids.doi), traditional(ids.doi)]
    stems += [
        safe(f"{kind}_{value}") for kind, _, value in map(_split, ids.names()) if kind != "doi"
    ]
    endings = ("", *(f"_{version}" for version in _MARKED), *ENDINGS.values())
    named = [f"{name}{ending}" for ending in endings for name in stems]
    return [f"{name}.txt" for name in dict.fromkeys(named) if _openable(name)]


def _split(name: str) -> tuple[str, str, str]:
    return name.partition(":")


def _openable(name: str) -> bool:
    return len(name.encode("utf-8", "replace")) <= 240 and not re.search(r"[/\\\x00]|^\.", name)


def bare(name: str) -> str:
    """A file's name without what says of which kind it is.

    >>> bare("pmid_7_abstract.txt"), bare("pmid_7_record.txt"), bare("pmid_7.txt")
    ('pmid_7', 'pmid_7', 'pmid_7')
    """
    name = name.removesuffix(".txt")
    for ending in ENDINGS.values():
        name = name.removesuffix(ending)
    return name


def plain(name: str) -> bool:
    """Whether *name* can be a file's name and nothing more: no folder, not hidden, not too long."""
    if set(name) & set("/\\\0") or name[:1] == "." or name != encodable(name):
        return False
    return len(name.encode()) <= _LONGEST_NAME


def ids_from(name: str) -> Ids:
    """What a file name alone says beyond doubt.

    >>> ids_from("pmid_7_abstract.txt").pmid, ids_from("10.1038_nature12345.txt").doi
    ('7', '10.1038/nature12345')

    A second ``_`` may have been ``/``, ``:`` or ``_``: then the name says nothing.

    >>> ids_from("10.1002_a_b.txt")
    Ids(doi='', pmid='', pmcid='', arxiv='', s2='')
    """
    base = bare(name)
    if match := re.fullmatch(r"pmid_([1-9]\d{0,7})", base):
        return Ids(pmid=match[1])
    if match := re.fullmatch(r"pmcid_(PMC[1-9]\d*)", base):
        return Ids(pmcid=match[1])
    if match := re.fullmatch(r"arxiv_(\d{4}\.\d{4,5})", base):
        return Ids(arxiv=match[1])
    if match := re.fullmatch(r"(10\.\d{4,9}(?:\.\d+)*)_([^_]+)", base):
        return Ids(doi=f"{match[1]}/{match[2]}".lower())
    return Ids()
