"""Names in SQL: what sites call their fields, as words that need no quotes in a query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

ABOUT = "_dataset"
"""The table in which a dataset is described."""

_LONGEST = 60
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Words people write with capitals inside.
_ODD = re.compile(
    r"InChI|HomoloGene|EPub|XLogP|MeSH|PubMed|PubChem|ClinVar|GenBank|RefSeq|BioSample|BioProject|dbSNP|dbVar"
    r"|dbGaP|mRNA|cDNA|tRNA|rRNA|DOIs|PMIDs|PMCID|IDs"
)
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")
# https://www.sqlite.org/lang_keywords.html, but those that are good names and never misread (key).
_RESERVED = """
    add all alter always analyze and as asc attach autoincrement begin between by cascade case
    cast check collate commit conflict constraint create cross current_date current_time
    current_timestamp default deferrable deferred delete desc detach distinct do drop each else
    end escape except exclude exclusive exists explain fail filter for foreign from full
    generated glob group having if ignore immediate in index indexed initially inner insert
    instead intersect into is isnull join left like limit match materialized natural no not
    nothing notnull null nulls of offset on or order others outer over partition pragma primary
    raise recursive references regexp reindex rename replace restrict returning right rollback
    savepoint select set table temp temporary then ties to transaction trigger unbounded union
    unique update using vacuum values virtual when where window with without rowid oid
"""
KEYWORDS = frozenset(_RESERVED.split())


def plain(name: str) -> str:
    """A site's name for a field in small letters, digits and underscores.

    >>> plain("PubDate"), plain("GBSeq_feature-table"), plain("InChIKey"), plain("DS_MeSHTerms")
    ('pub_date', 'gbseq_feature_table', 'inchi_key', 'ds_mesh_terms')
    """
    text = unicodedata.normalize("NFKD", name[:200]).encode("ascii", "ignore").decode()
    text = _ODD.sub(lambda found: found[0].capitalize(), text)
    if not text.isupper():
        text = _BORDER.sub("_", text)
    return _OTHER.sub("_", text.lower()).strip("_").replace("gb_seq", "gbseq")


def joined(path: Iterable[str]) -> str:
    """The name of a field within fields; what a name repeats of the one before is left out.

    >>> joined(["organism", "taxId"]), joined(["SourceDb", "SourceDbData", "SrcDb"])
    ('organism_tax_id', 'source_db_data_src_db')
    """
    words: list[str] = []
    for name in map(plain, path):
        if words and (name == words[-1] or name.startswith(f"{words[-1]}_")):
            words.pop()
        if name:
            words.append(name)
    return "_".join(words)


def unique(name: str, taken: set[str]) -> str:
    """*name* as an identifier that is no keyword and not in *taken*, to which it is added.

    >>> taken = {"uid"}
    >>> unique("uid", taken), unique("order", taken), unique("3_utr", taken), unique("", taken)
    ('uid_2', 'order_', 'n_3_utr', 'field')
    """
    while len(name) > _LONGEST and "_" in name:
        name = name.partition("_")[2]  # the last words tell most
    made = name[:_LONGEST].strip("_") or "field"
    if made[0].isdigit():
        made = f"n_{made}"
    if made in KEYWORDS or made.startswith("sqlite_"):
        made += "_"
    number, base = 1, made
    while made in taken:
        number += 1
        made = f"{base.rstrip('_')}_{number}"
    taken.add(made)
    return made


def quoted(name: str) -> str:
    """*name* as a statement can hold it: in quotation marks only where it needs them.

    >>> quoted("uid"), quoted("order"), quoted('a"b')
    ('uid', '"order"', '"a""b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'
