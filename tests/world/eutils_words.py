"""The E-utilities about words: espell, ecitmatch, and the MeSH database.

Answer forms after the facts sheet (1.8) and recorded answers; the outcome words of ecitmatch, the
line it stops at, and the members of a MeSH summary as clients of the real ones recorded them.
"""

from __future__ import annotations

import difflib
import re
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.world.index import words
from utils.demo.records import Record
from utils.demo.wire import HTML, TEXT, XML, Call, Reply, text

if TYPE_CHECKING:
    from tests.world import World


class Term(NamedTuple):
    """A MeSH record; its entry terms are the names after the first."""

    uid: str
    names: tuple[str, ...]
    note: str
    tree: tuple[str, ...] = ()
    kind: str = "descriptor"

    @property
    def ui(self) -> str:
        """The identifier MeSH itself uses: 68 stands for D, 67 for C."""
        return ("D" if self.uid.startswith("68") else "C") + self.uid[2:]


TERMS = (
    Term("68004777", ("Environment", "Environments"), "All that surrounds.", ("G16.500.275",)),
    Term("68009369", ("Neoplasms", "Tumors", "Cancer"), "New abnormal growth.", ("C04",)),
    Term("68009371", ("Neoplasms by Site",), "Neoplasms by their place.", ("C04.588",)),
    Term(
        "68001943", ("Breast Neoplasms", "Breast Cancer", "Breast Tumors"), "Of the breast.",
        ("C04.588.180", "C17.800.090.500"),
    ),
    Term("68054377", ("Chemokine CXCL12", "SDF-1"), "A CXC chemokine.", ("D12.644.276.374",)),
    Term(
        "67414177", ("SLC7A2 protein, human", "CAT-2 transporter, human"), "RefSeq NM_003046",
        kind="scr",
    ),
)  # fmt: skip


def espell(call: Call, world: World) -> Reply:
    """A spelling the corpus knows; empty when nothing is wrong or nothing is near."""
    term = call.params.get("term", "")
    vocabulary = {word for entry in world.entries() for word in words(entry.all)}
    fixed, pieces, at = "", "", 0
    for found in re.finditer(r"[^\W\d_]{4,}", term):
        word = found[0]
        near = difflib.get_close_matches(word.lower(), vocabulary, 1, 0.8)
        if word.lower() not in vocabulary and near:
            kept = term[at : found.start()]
            fixed += kept + near[0]
            pieces += f"<Original>{escape(kept)}</Original><Replaced>{near[0]}</Replaced>"
            at = found.end()
    corrected = escape(fixed + term[at:]) if pieces else ""
    return text(
        '<?xml version="1.0"?><!DOCTYPE eSpellResult PUBLIC "-//NLM//DTD eSpellResult, 23 November '
        '2004//EN" "https://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSpell.dtd"><eSpellResult>'
        f"<Database>pubmed</Database><Query>{escape(term)}</Query><CorrectedQuery>{corrected}"
        f"</CorrectedQuery><SpelledQuery>{pieces}</SpelledQuery><ERROR/></eSpellResult>",
        XML,
    )


def ecitmatch(call: Call, world: World) -> Reply:
    """One line back for each line, up to the first without a journal that fits nothing."""
    if call.params.get("retmode") != "xml":
        return text("<html><h1>Batch Citation Matcher</h1></html>", HTML)
    answered = []
    for line in re.split(r"[\r\n]+", call.params.get("bdata", "")):
        journal, year, volume, page, author, key = [*line.split("|"), *[""] * 6][:6]
        if not line.strip("| "):
            continue
        known = journal == "" or any(_names_journal(journal, r) for r in _all(world))
        fitting = [r for r in _all(world) if _fits(r, journal, year, volume, page, author)]
        if not fitting and not journal:
            break
        word = "NOT_FOUND" if known else "NOT_FOUND;INVALID_JOURNAL"
        if len(fitting) == 1:
            word = fitting[0].pmid
        elif len(fitting) > 3:
            word = f"AMBIGUOUS ({len(fitting)} citations)"
        elif fitting:
            word = "AMBIGUOUS " + ",".join(r.pmid for r in fitting)
        # A line without a match loses its author on the way.
        who = [author] if fitting else []
        answered.append("|".join([journal, year, volume, page, *who, key, word]))
    return text("\n".join(answered) + "\n", TEXT)


def _all(world: World) -> list[Record]:
    return list(world.corpus.by_pmid.values())


def _names_journal(name: str, record: Record) -> bool:
    bare = " ".join(words(name))
    return bare in {" ".join(words(record.journal.title)), " ".join(words(record.journal.short))}


def _fits(record: Record, journal: str, year: str, volume: str, page: str, author: str) -> bool:
    if not any((journal, page, author)):
        return False
    first = words(record.authors[0][0]) if record.authors else ()
    return (
        (not journal or _names_journal(journal, record))
        and year in {"", record.year}
        and volume in {"", record.volume}
        and page in {"", record.pages.split("-")[0]}
        and (not author or (bool(first) and words(author)[: len(first)] == first))
    )


def mesh_hits(term: str) -> list[str]:
    """The MeSH records whose names hold all the words."""
    sought = words(re.sub(r"\[[^]]*\]", " ", term))
    found = [t for t in TERMS if t.ui.lower() in sought or _holds(t, sought)]
    return [t.uid for t in found]


def _holds(term: Term, sought: tuple[str, ...]) -> bool:
    return bool(sought) and set(sought) <= {word for name in term.names for word in words(name)}


def mesh_summary(uid: str) -> dict[str, Any]:
    """A MeSH record as esummary shows it; unknown identifiers have an error of their own."""
    term = next((t for t in TERMS if t.uid == uid), None)
    if term is None:
        return {"uid": uid, "error": "cannot get document summary"}
    places = [
        {"parent": _uid(number.rpartition(".")[0]), "treenum": number, "children": _below(number)}
        for number in term.tree
    ] or [{"parent": 1000048, "treenum": "@3065", "children": []}]
    return {
        "uid": uid, "ds_recordtype": term.kind, "ds_meshui": term.ui,
        "ds_meshterms": list(term.names), "ds_scopenote": term.note,
        "ds_subheading": ["genetics", "therapy"] if term.tree else [], "ds_idxlinks": places,
        "ds_yearintroduced": "2000", "ds_seerelated": [],
    }  # fmt: skip


def _uid(number: str) -> int:
    return next((int(t.uid) for t in TERMS if number in t.tree), 0)


def _below(number: str) -> list[int]:
    return [int(t.uid) for t in TERMS if any(tree.rpartition(".")[0] == number for tree in t.tree)]
