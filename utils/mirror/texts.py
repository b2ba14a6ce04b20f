"""A bundle of articles becomes two parts: Parquet files of texts and of their passages.

Read by the reader of downloads and held against both of its judges. A row is an article version; of
one that is no whole paper, or was withdrawn, it says so and why, and is ``deleted``: it does not
count. As with PubMed's parts, the same bundle gives the same bytes, wherever it is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import readers as formats
from ..errors import BadContent
from ..model.paper import Document, Fetched, Paper
from ..model.passage import Passage
from ..outline.cut import split_into_passages
from ..shelf.paper_file import build_full_text_body
from .bundles import Member, build_fetched_article, parse_metadata, read_members
from .columns import make_passage_batch
from .parts import Part, ReadJob, make_missing_parts, write_parts

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 50
"""Texts of a row group: whoever looks up one reads them all."""
_CITATION = re.compile(r"(.{1,300}?)\.\s+((?:1[6-9]|20)\d\d)\b")


@dataclass(frozen=True, slots=True)
class TextRow:
    """The facts and text of an article version; a row without a document does not count.

    ``text`` is that of the document as it stands on a shelf, below the header.
    """

    member: Member
    fetched: Fetched | None = None
    record: dict[str, Any] | None = None
    document: Document | None = None
    verdict: str = ""
    evidence: str = ""
    text: str = ""

    @property
    def title(self) -> str:
        """The title of the text, else of PMC's metadata."""
        told = str((self.record or {}).get("title") or "")
        return (self.document.title if self.document else "") or told


@cache
def make_text_schema() -> pa.Schema:
    """Return the columns of texts.

    ``sequence`` and ``position`` are the batch and the row in it, ``pmcid`` digits; ``state`` is
    ``text``, ``gone`` (withdrawn) or ``other`` (not of the choice any more), ``verdict`` and
    ``evidence`` what the judges say; ``text`` is markdown, ``text_version`` published, accepted or
    preprint; ``md5`` that of the JATS.
    """
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("sequence", pa.int32()),
            ("position", pa.int32()),
            ("pmcid", pa.int32()),
            ("version", pa.int16()),
            ("deleted", pa.bool_()),
            ("pmid", pa.int32()),
            *((name, text) for name in ("doi", "title", "journal")),
            ("year", pa.int16()),
            *((name, text) for name in ("license", "text_version")),
            ("retracted", pa.bool_()),
            *((name, text) for name in ("state", "verdict", "evidence", "extractor", "url")),
            ("md5", text),
            ("etag", text),
            ("body_words", pa.int32()),
            ("text", text),
        ]
    )


def read_texts(job: ReadJob) -> Part:
    """Make the parts of a bundle, unless they are there.

    Raises
    ------
    StoreFailed
        The bundle or the disk cannot be used; nothing is left of the parts.
    """
    return make_missing_parts(job, _make_parts)


def _make_parts(job: ReadJob) -> None:
    """Read and judge the articles of a bundle, and write both parts."""
    rows = (read_member(one) for one in read_members(Path(job.file)) if one.has_row)
    write_text_parts(job, _iterate_batches(job.order, rows))


def _iterate_batches(
    order: int, rows: Iterator[TextRow]
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield texts and their passages in batches."""
    at = 0
    while some := list(islice(rows, ROWS)):
        yield _make_batch(order, at, some), make_passage_batch(order, list(_cut_passages(at, some)))
        at += len(some)


def write_text_parts(
    job: ReadJob, batches: Iterable[tuple[pa.RecordBatch, pa.RecordBatch]]
) -> None:
    """Write both parts."""
    schema = make_text_schema()
    lists = [name for name in schema.names if name in ("license", "state", "verdict")]
    write_parts(job, schema, batches, lists)


def read_member(member: Member) -> TextRow:
    """Read and judge an article version like a download."""
    if member.state != "text":
        return TextRow(member, verdict="", evidence=member.reason)
    record = parse_metadata(member.metadata)
    fetched = build_fetched_article(member.metadata, member.xml)
    paper = Paper(fetched.ids, title=str(record.get("title") or ""))
    try:
        document = formats.read_and_judge(fetched, paper)
    except BadContent as bad:
        why = str(bad.details.get("evidence") or bad.message)
        return TextRow(member, fetched, record, None, bad.outcome, why)
    except Exception as error:  # noqa: BLE001 - one article in millions ends no run
        why = f"the reader failed: {type(error).__name__}: {error}"
        return TextRow(member, fetched, record, None, "not_a_paper", why)
    text = build_full_text_body(document.markdown)
    return TextRow(member, fetched, record, document, document.verdict, document.evidence, text)


def parse_citation(record: dict[str, Any]) -> tuple[str, int | None]:
    """Return journal (NLM's abbreviation) and year of an article, from its citation.

    >>> parse_citation({"citation": "Nat Commun. 2020 Sep 23; 11(1): 1"})
    ('Nat Commun', 2020)
    """
    found = _CITATION.match(str(record.get("citation") or ""))
    return (found[1].strip(), int(found[2])) if found else ("", None)


def _make_batch(order: int, at: int, rows: Sequence[TextRow]) -> pa.RecordBatch:
    import pyarrow as pa

    made = [
        _to_columns(row) | {"sequence": order, "position": at + n} for n, row in enumerate(rows)
    ]
    return pa.RecordBatch.from_pylist(made, schema=make_text_schema())


def _to_columns(row: TextRow) -> dict[str, Any]:
    listed, fetched, document = row.member.listed, row.fetched, row.document
    made: dict[str, Any] = {
        "pmcid": listed.pmcid,
        "version": listed.version,
        "deleted": document is None,
    }
    made |= {"state": row.member.state, "verdict": row.verdict, "evidence": row.evidence}
    made |= {"etag": listed.etag}
    if fetched is None or row.record is None:
        return made
    journal, year = parse_citation(row.record)
    ids = fetched.ids
    made |= {
        "pmid": int(ids.pmid) if ids.pmid.isdecimal() else None,
        "doi": ids.doi or None,
        "title": row.title,
        "journal": journal or None,
        "year": year,
        "url": fetched.url,
        "md5": hashlib.md5(fetched.body, usedforsecurity=False).hexdigest(),
        "license": fetched.license,
        "retracted": fetched.retracted,
    }
    if document:
        made |= {
            "license": document.license,
            "retracted": fetched.retracted or document.retracted,
            "text_version": document.version,
            "extractor": document.extractor,
            "body_words": document.body_words,
            "text": row.text,
        }
    return made


def _cut_passages(at: int, rows: Sequence[TextRow]) -> Iterator[tuple[int, int | None, Passage]]:
    """Yield the passages of the texts, cut as on the shelf."""
    for position, row in enumerate(rows, at):
        if row.document and row.fetched:
            ids = row.fetched.ids
            pmid = int(ids.pmid) if ids.pmid.isdecimal() else None
            found = split_into_passages(
                row.text,
                paper=f"pmcid:PMC{row.member.listed.pmcid}",
                title=row.title,
                kind="full_text",
                file=row.member.listed.name,
            )
            yield from ((position, pmid, passage) for passage in found)
