"""Judge files outside the shelf: whether each is complete, and the paper of its record.

Everything happens offline, and nothing is written. A file of any medium (HTML, PDF, JATS and
Elsevier's XML, markdown, text; each also gzipped) is read by the same readers, and judged by the
same judges, as a download.

Records are CSL-JSON items, as reference managers write them; ``abstract``, ``PMID``, ``PMCID`` and
``references-count`` (Crossref's name for the length of the reference list) are read, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .. import readers as formats
from ..errors import BadContent, BadRequest, PaperError
from ..judges.check import judge_completeness, judge_document
from ..judges.identity import Answer, judge_identity
from ..lists.described import fields_to_paper
from ..lists.documents import get_csl_fields, get_csl_ids
from ..model.identifiers import Ids
from ..model.paper import Document, Fetched, Paper, Verdict, paper_from_row, to_row
from ..model.verdicts import Outcome, verdict_to_outcome
from ..readers.child_processes import ChildPool, ChildReadError, serve_jobs
from ..system.named_files import build_unreadable_error, require_existing_file
from ..system.plain_text import one_line
from . import inbox_files

_RECORD_MAX_BYTES = 200_000_000
_MOST_CHILDREN = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Verification:
    """The judgement of one file.

    Parameters
    ----------
    file : str
        The file as it was named.
    verdict : str
        One word of `Verdict`: ``full_text``, ``partial``, ``paywall``, …
    outcome : str
        ``whole``, ``doubtful`` or ``not_whole``.
    identity : str
        ``same``, ``other``, or ``unknown`` where there is no record to compare the file with.
    evidence : tuple of str
        Reasons in words, the strongest first.
    counts : dict
        ``words`` of the body, ``headings``, ``references``, ``pages`` (0 unless a PDF).
    """

    file: str
    verdict: Verdict
    outcome: Outcome
    identity: Answer
    evidence: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Return the fields, JSON-serialisable."""
        return asdict(self) | {"evidence": list(self.evidence)}


class FileAndRecord(NamedTuple):
    """A file, the record it is compared with, and the address it came from (may be empty)."""

    file: str
    path: Path
    paper: Paper | None = None
    url: str = ""


def verify_file(pair: FileAndRecord) -> Verification:
    """Judge one file against its record.

    Raises
    ------
    BadRequest
        The file does not exist, or its name is not a path.
    StoreFailed
        The file cannot be read.
    """
    try:
        found = inbox_files.read_submitted_file(pair.path)
    except FileNotFoundError as error:
        raise build_unreadable_error(pair.path, error) from error
    except BadContent as bad:
        return _build_rejection(pair.file, bad, "unknown")
    fetched = replace(found.fetched, url=pair.url)
    return _judge_file_bytes(pair.file, fetched, pair.paper)


def verify_files(pairs: Sequence[FileAndRecord]) -> Iterator[Verification | PaperError]:
    """Judge many files on all cores, in their order; what cannot be read is an error in its place.

    Each file is read in a child process, so that a hostile one harms only itself.
    """
    with ThreadPoolExecutor(_MOST_CHILDREN) as pool:
        yield from pool.map(_verify_in_child, pairs)


def read_verification_list(path: Path) -> list[FileAndRecord]:
    """Read a list of ``{"file", "url", "record"}`` objects; paths are relative to the list.

    Raises
    ------
    BadRequest
        The file is missing, is not JSON, or an item has no ``file``.
    """
    items = _read_json(path)
    if not isinstance(items, list):
        msg = f"{path} is not a list of pairs."
        raise BadRequest(msg, 'Write [{"file": "page.html", "record": {…}}, …].')
    return [_parse_pair_item(path.parent, item, number) for number, item in enumerate(items, 1)]


def read_record(path: Path) -> Paper:
    """Read the record of one paper from a CSL-JSON file.

    Raises
    ------
    BadRequest
        The file is missing, is not JSON, or holds no record or more than one.
    """
    item = _read_json(path)
    if isinstance(item, list) and len(item) == 1:
        item = item[0]
    if not isinstance(item, dict):
        msg = f"{path} is not one record in CSL-JSON."
        raise BadRequest(msg, 'Write {"title": "…", "DOI": "…", …}, or use --pairs for many.')
    return parse_csl_item(item)


def parse_csl_item(item: Mapping[str, Any]) -> Paper:
    """Return the paper that a CSL-JSON item describes.

    >>> parse_csl_item({"PMID": "123", "title": "On moss", "references-count": 12}).reference_count
    12
    """
    count = item.get("references-count")
    abstract = item.get("abstract")
    return replace(
        fields_to_paper(get_csl_fields(item)),
        ids=get_csl_ids(item),
        abstract=abstract.strip() if isinstance(abstract, str) else "",
        reference_count=int(count)
        if isinstance(count, int | str) and str(count).isdecimal()
        else 0,
    )


def _parse_pair_item(folder: Path, item: object, number: int) -> FileAndRecord:
    if not (isinstance(item, dict) and isinstance(item.get("file"), str) and item["file"]):
        msg = f'Item {number} of the list has no "file".'
        raise BadRequest(msg, 'Write {"file": "page.html", "record": {…}}.')
    record = item.get("record")
    paper = parse_csl_item(record) if isinstance(record, dict) else None
    url = item.get("url")
    return FileAndRecord(
        item["file"], folder / item["file"], paper, url if isinstance(url, str) else ""
    )


def _read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > _RECORD_MAX_BYTES:
            raise BadRequest(f"{path} is larger than {_RECORD_MAX_BYTES >> 20} MB.", "Split it.")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise build_unreadable_error(path, error) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not valid JSON: {one_line(str(error))[:120]}."
        raise BadRequest(msg, "Save it as UTF-8 JSON.") from error


def _judge_file_bytes(file: str, fetched: Fetched, paper: Paper | None) -> Verification:
    """Read and judge the bytes of a file, against *paper* where there is something to compare."""
    identity: Answer = "unknown"
    counts: dict[str, int] = {}
    try:
        document = formats.convert_to_document(fetched, paper or Paper(Ids()))
        counts = _count_parts(document)
        if paper is None or not _can_be_compared(document, paper):
            finding = judge_completeness(document, paper or Paper(Ids()))
            return _to_verification(file, finding.verdict, identity, finding.evidence, counts)
        same = judge_identity(document, paper)
        identity = same.answer
        document = judge_document(document, paper, same=same)
    except BadContent as bad:
        return _build_rejection(file, bad, identity, counts)
    return _to_verification(file, document.verdict, identity, document.evidence, counts)


def _can_be_compared(document: Document, paper: Paper) -> bool:
    """Return whether record and text have something in common that can agree or differ."""
    named = document.ids.shares(paper.ids) or document.ids.clash(paper.ids)
    return bool(paper.title or paper.abstract or named)


def _count_parts(document: Document) -> dict[str, int]:
    return {
        "words": document.body_words,
        "headings": document.headings,
        "references": document.references,
        "pages": document.pages,
    }


def _to_verification(
    file: str, verdict: Verdict, identity: Answer, evidence: str, counts: Mapping[str, int]
) -> Verification:
    reasons = tuple(part for part in evidence.split("; ") if part)
    return Verification(file, verdict, verdict_to_outcome(verdict), identity, reasons, counts)


def _build_rejection(
    file: str, bad: BadContent, identity: Answer, counts: Mapping[str, int] | None = None
) -> Verification:
    verdict: Any = bad.outcome
    evidence = bad.details.get("evidence") or bad.message
    return _to_verification(file, verdict, identity, str(evidence), counts or {})


@cache
def _get_reader_pool() -> ChildPool:
    return ChildPool(__name__, most=_MOST_CHILDREN)


def _verify_in_child(pair: FileAndRecord) -> Verification | PaperError:
    try:
        require_existing_file(pair.path)
    except BadRequest as error:
        return BadRequest(error.message, error.hint, file=pair.file)
    job = {
        "file": pair.file,
        "path": str(pair.path.absolute()),  # the child may have another current folder
        "paper": pair.paper and to_row(pair.paper),
        "url": pair.url,
    }
    try:
        answer = _get_reader_pool().read_in_idle_child(json.dumps(job).encode())
    except ChildReadError as error:
        return _build_rejection(pair.file, _build_unreadable_error(str(error)), "unknown")
    if wrong := answer.get("error"):
        return BadRequest(wrong["message"], wrong["hint"], file=pair.file)
    if not (row := answer.get("verification")):
        return _build_rejection(
            pair.file, _build_unreadable_error("it takes too much memory"), "unknown"
        )
    return Verification(**row | {"evidence": tuple(row["evidence"])})


def _build_unreadable_error(why: str) -> BadContent:
    return BadContent(f"The file cannot be read: {why}.", verdict="not_a_paper")


def serve() -> None:
    """Answer the jobs of `verify_files` in a child process, which is started by this name."""
    serve_jobs(_answer_verification_job)


def _answer_verification_job(job: bytes) -> dict[str, Any]:
    told = json.loads(job)
    paper = paper_from_row(told["paper"]) if told["paper"] else None
    try:
        verified = verify_file(FileAndRecord(told["file"], Path(told["path"]), paper, told["url"]))
    except PaperError as error:
        return {"error": {"message": error.message, "hint": error.hint}}
    return {"verification": verified.row()}
