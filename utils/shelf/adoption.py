"""Read files on the shelf that the current program did not write, such as copies.

Such a file is taken as it is, never rewritten. An abstract is known by its labels; everything else
is judged as a download is, and what fails (a sign-in page, an error page) is listed as
``rejected``, with the verdict. Not taken are empty files, and those whose text names another paper
than their file name does (two DOIs may share a sanitised name).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from .. import readers as formats
from ..command_line import command_line
from ..model.identifiers import Ids
from ..model.paper import Author, Kind, Paper, StoredPaper
from ..readers import JudgedText, Read, judge_foreign_text, judge_shelf_text
from ..system.plain_text import clean_text, one_line
from . import paper_file
from .record import ADOPTED, WITHOUT_TEXT, ShelfRecord, build_sections, compute_sha256
from .vault import is_text_file, read_text_file

_LABEL = re.compile(
    r"^[#>*\t -]*(Title|Authors?|Journal|Year|Published|PMID|DOI|PMCID|PMC ID)\**[ \t]*:\**"
    r"[ \t]*(.*)$",
    re.I | re.M,
)
_ABSTRACT = re.compile(r"^[#>*=\t -]*Abstract(?:[*\t ]*:[*\t ]*|[*=\t -]*$)", re.I | re.M)
_JINA = re.compile(r"^(?:URL Source|Markdown Content):", re.M)
_NO_FULL_TEXT = re.compile(
    r"full[ -]?text\b[^.\n]{0,60}\b(?:not|un)\s?-?(?:be\s)?(?:available|found|retrieved|accessible)"
    r"|abstract[ -]only|only the abstract|\[No abstract available\]",
    re.I,
)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"'<>|\]}]+")
_OF_A_PAGE = re.compile(r"(?:\.|/)(?:e?pdf|full|html?|xml|abstract|meta)$")  # addresses end so
_SEVERAL = re.compile(r"10\.\d{4,9}(?:\.\d+)*_[^_]+_")
_LONGEST_ABSTRACT = 12_000
_LONGEST_FILE = 50_000_000


def adopt_file(path: Path, asked: Ids, read: Read = formats.read_and_judge) -> ShelfRecord | None:
    """Return the record of a foreign file; None if it is empty or not the paper *asked* for.

    *asked* may be empty: then the file must say itself which paper it is. *read* may be one that
    reads in other processes.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    if not path.is_file() or not 0 < path.stat().st_size <= _LONGEST_FILE:
        return None
    if not is_text_file(path):
        return None
    data = read_text_file(path)
    text = data.decode("utf-8", "replace")
    if (ours := paper_file.parse_paper_file(text)) is not None:
        if asked and (ours.ids.clash(asked) or not ours.ids.shares(asked)):
            return None
        return _rebuild_own_record(path, data, ours) if ours.ids and ours.body.strip() else None
    if is_blank(text) or not (ids := _identify_file(path.name, text, asked)):
        return None
    return _build_foreign_record(path, data, text, ids, read)


def explain_adoption_refusal(path: Path) -> str:
    """Return the reason why `adopt_file` rejects a file."""
    if not path.is_file() or path.stat().st_size > _LONGEST_FILE:
        return "no file, or too large to be a paper's"
    text = read_text_file(path).decode("utf-8", "replace")
    if is_blank(text):
        return "empty"
    named, labelled = paper_file.parse_file_name(path.name), _read_labelled_ids(text)
    if clash := named.clash(labelled):
        return f"another paper than its name says: {clash}"
    if not named and _SEVERAL.match(path.name):
        asked = shlex.quote(one_line(paper_file.strip_kind_mark(path.name).replace("_", "/")))
        download = command_line(f"download {asked}")
        return f"several DOIs may have this name; if it is {asked}: {download}"
    return "neither its name nor its text says which paper it is"


def is_foreign_text(text: str) -> bool:
    """Return whether another program or a person wrote a file's text."""
    return paper_file.parse_paper_file(text) is None


def is_blank(text: str) -> bool:
    """Return whether a text contains only white space."""
    return not text.replace("\ufeff", "").strip()


def judge_foreign_file(
    stored: StoredPaper, text: str, read: Read = formats.read_and_judge
) -> StoredPaper:
    """Return *stored* with kind and verdict of a foreign text, judged against its record."""
    if _is_labelled_abstract(text):
        kind: Kind = "abstract" if _find_foreign_abstract(text) else "record"
        judged = replace(stored, kind=kind, verdict=WITHOUT_TEXT[kind], evidence="", judges=0)
    else:
        judged = add_judged_kind_and_verdict(stored, judge_foreign_text(text, stored.paper, read))
    return replace(judged, via=ADOPTED)


def rejudge_text(
    stored: StoredPaper, text: str, read: Read = formats.read_and_judge
) -> StoredPaper:
    """Judge a text again; return *stored* with the verdict of the current judges."""
    if stored.via == ADOPTED and is_foreign_text(text):
        return judge_foreign_file(stored, text, read)
    return add_judged_kind_and_verdict(
        stored, judge_shelf_text(paper_file.strip_header(text), stored.paper, read)
    )


def is_identified_by_name_only(stored: StoredPaper) -> bool:
    """Return whether no record confirms the paper that a file's name and text state."""
    named_only = stored.via == ADOPTED and not stored.paper.recorded_by
    return named_only and stored.kind in ("full_text", "rejected") and not stored.by_hand


def add_judged_kind_and_verdict(stored: StoredPaper, seen: JudgedText) -> StoredPaper:
    """Return *stored* with the kind and verdict of a judged text."""
    kind: Kind = "full_text" if seen.document else "rejected"
    return replace(
        stored,
        kind=kind,
        verdict=seen.verdict,
        evidence=one_line(seen.evidence),
        judges=formats.JUDGE_VERSION,
    )


def _is_labelled_abstract(text: str) -> bool:
    """Return whether a text is an abstract under labels, as the older program wrote them."""
    stripped = text.strip().removeprefix("\ufeff")
    labels = {match[1].lower() for match in _LABEL.finditer(stripped[:4000])}
    if (
        len(labels) >= 2
        and len(stripped) <= _LONGEST_ABSTRACT
        and _ABSTRACT.search(stripped)
        and not _JINA.search(stripped[:4000])
    ):
        sections = len(re.findall(r"^#{1,3} ", stripped, re.M))
        return bool(_NO_FULL_TEXT.search(stripped)) or sections <= 2
    return False


def _identify_file(name: str, text: str, asked: Ids) -> Ids:
    """Return the identifiers of a foreign file: from its name, unless its text contradicts."""
    labelled = _read_labelled_ids(text)
    named = asked or paper_file.parse_file_name(name)
    if not named and (doi := _find_unambiguous_doi(name, text)):
        named = Ids(doi=doi)
    if named.clash(labelled):
        return Ids()
    if named.doi and not labelled.doi and _has_only_other_dois(named.doi, text):
        return Ids()
    # Of what was asked only the name that led here counts: the caller's other identifiers were
    # never compared with this text, and a wrong link would serve a wrong paper for ever.
    own = {
        kind: value
        for kind, value in _list_id_pairs(named)
        if _matches_file_name(kind, value, name)
    }
    return Ids(**own) | labelled if own else labelled if labelled.shares(named) else Ids()


def _read_labelled_ids(text: str) -> Ids:
    """Return the identifiers under the labels of a text."""
    labelled = Ids()
    for label, value in _LABEL.findall(text[:4000]):
        if label.upper().replace(" ", "") in {"PMID", "DOI", "PMCID"}:
            labelled |= _parse_labelled_id(label, value)
    return labelled


def _list_id_pairs(ids: Ids) -> list[tuple[str, str]]:
    return [(kind, value) for kind, _, value in (name.partition(":") for name in ids.names())]


def _matches_file_name(kind: str, value: str, name: str) -> bool:
    spellings = {
        spelling.lower() for spelling in paper_file.list_candidate_names(Ids(**{kind: value}))
    }
    return name.lower() in spellings


def _parse_labelled_id(label: str, value: str) -> Ids:
    value = value.strip().strip("*` ")
    if match := re.match(r"[1-9]\d{0,7}\b", value):
        return Ids(pmid=match[0]) if label.upper() == "PMID" else Ids()
    if match := re.match(r"PMC[1-9]\d*", value, re.I):
        return Ids(pmcid=match[0].upper())
    if match := _DOI.search(value):
        return Ids(doi=_trim_doi(match[0]))
    return Ids()


def _trim_doi(doi: str) -> str:
    doi = doi.rstrip(".,;:*_")
    # Brackets around a DOI in running text are not part of it; those inside are.
    while doi.endswith(")") and doi.count("(") < doi.count(")"):
        doi = doi[:-1].rstrip(".,;:")
    return doi.lower()


def _find_dois_with_file_name(text: str, name: str) -> set[str]:
    """Return the DOIs in a text whose file name would be *name*."""
    wanted = paper_file.strip_kind_mark(name).lower()
    found = {_trim_doi(match[0]) for match in _DOI.finditer(text)}
    found |= {_OF_A_PAGE.sub("", doi) for doi in found}
    return {doi for doi in found if paper_file.to_legacy_name(doi) == wanted}


def _has_only_other_dois(doi: str, text: str) -> bool:
    rivals = _find_dois_with_file_name(text, paper_file.to_legacy_name(doi))
    return bool(rivals) and doi not in rivals


def _find_unambiguous_doi(name: str, text: str) -> str:
    if not name.startswith("10."):
        return ""
    found = _find_dois_with_file_name(text, name)
    return found.pop() if len(found) == 1 else ""


def _rebuild_own_record(path: Path, data: bytes, ours: paper_file.PaperFile) -> ShelfRecord:
    """Return the record of our own file, rebuilt from its header."""
    plain = StoredPaper(
        paper=ours.paper,
        kind=ours.kind,
        path=str(path),
        source="Cache",
        via=ADOPTED,
        sha256=compute_sha256(data),
        saved_at=_get_modified_time(path),
    )
    stored = ours.apply_header(plain)
    stored = replace(stored, sections=build_sections(data.decode("utf-8", "replace"), stored))
    return ShelfRecord(stored, order=path.stat().st_mtime_ns, words=len(ours.body.split()))


def _build_foreign_record(path: Path, data: bytes, text: str, ids: Ids, read: Read) -> ShelfRecord:
    label: dict[str, str] = {}
    for name, value in _LABEL.findall(text[:4000]):
        label.setdefault(name.lower().rstrip("s"), one_line(value))
    heading = re.search(r"^#{1,2} (.+)$", text, re.M)
    title = label.get("title") or (one_line(heading[1]) if heading else "")
    abstract = _find_foreign_abstract(text) if _is_labelled_abstract(text) else ""
    paper = Paper(
        ids=ids,
        title=title,
        abstract=abstract,
        authors=tuple(Author(family=a.strip()) for a in label.get("author", "").split(",") if a),
        journal=label.get("journal", ""),
        published=year[0] if (year := re.match(r"\d{4}", label.get("year", ""))) else "",
    )
    stored = StoredPaper(
        paper=paper,
        kind="full_text",
        path=str(path),
        source="Cache",
        via=ADOPTED,
        sha256=compute_sha256(data),
        saved_at=_get_modified_time(path),
    )
    stored = judge_foreign_file(stored, text, read)
    if stored.kind == "rejected":  # its words are not the paper's, its title least of all
        stored = replace(stored, paper=Paper(ids))
    stored = replace(stored, sections=build_sections(text, stored))
    return ShelfRecord(stored, order=path.stat().st_mtime_ns, words=len(text.split()))


def _find_foreign_abstract(text: str) -> str:
    after = _ABSTRACT.split(text, maxsplit=1)
    if len(after) < 2:
        return ""
    lines = after[1].strip().splitlines()
    kept = [line for line in lines if not (_NO_FULL_TEXT.search(line) and len(line) < 200)]
    return clean_text("\n".join(kept)).strip().strip("-=").strip()


def _get_modified_time(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
