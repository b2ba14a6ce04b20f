"""A bundle of articles becomes two parts: Parquet files of texts and of their passages.

Read by the reader of downloads and held against both of its judges. A row is an article version; of
one that is no whole paper, or was withdrawn, it says so and why, and is ``deleted``: it does not
count. As with PubMed's parts, the same bundle gives the same bytes, wherever it is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import readers as formats
from ..errors import BadContent
from ..model.paper import Document, Paper
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
    order: int, rows: Iterator[dict[str, Any]]
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield texts and their passages in batches."""
    import pyarrow as pa

    numbered = (row | {"sequence": order, "position": at} for at, row in enumerate(rows))
    while some := list(islice(numbered, ROWS)):
        texts = pa.RecordBatch.from_pylist(some, schema=make_text_schema())
        yield texts, make_passage_batch(order, list(_cut_passages(some)))


def write_text_parts(
    job: ReadJob, batches: Iterable[tuple[pa.RecordBatch, pa.RecordBatch]]
) -> None:
    """Write both parts."""
    schema = make_text_schema()
    lists = [name for name in schema.names if name in ("license", "state", "verdict")]
    write_parts(job, schema, batches, lists)


def read_member(member: Member) -> dict[str, Any]:
    """Read and judge an article version like a download; return its columns.

    A row without a text does not count. The text is that of the document as it stands on a shelf,
    below the header.
    """
    row: dict[str, Any] = {
        "pmcid": member.listed.pmcid,
        "version": member.listed.version,
        "etag": member.listed.etag,
        "state": member.state,
        "deleted": True,
        "verdict": "",
        "evidence": member.reason,
    }
    if member.state != "text":
        return row
    record = parse_metadata(member.metadata)
    fetched = build_fetched_article(member.metadata, member.xml)
    title, (journal, year) = str(record.get("title") or ""), parse_citation(record)
    row |= {
        "pmid": int(fetched.ids.pmid) if fetched.ids.pmid.isdecimal() else None,
        "doi": fetched.ids.doi or None,
        "title": title,
        "journal": journal or None,
        "year": year,
        "url": fetched.url,
        "md5": hashlib.md5(fetched.body, usedforsecurity=False).hexdigest(),
        "license": fetched.license,
        "retracted": fetched.retracted,
    }
    try:
        document = formats.read_and_judge(fetched, Paper(fetched.ids, title=title))
    except BadContent as bad:
        why = str(bad.details.get("evidence") or bad.message)
        return row | {"verdict": bad.outcome, "evidence": why}
    except Exception as error:  # noqa: BLE001 - one article in millions ends no run
        why = f"the reader failed: {type(error).__name__}: {error}"
        return row | {"verdict": "not_a_paper", "evidence": why}
    return row | _to_text_columns(document, row)


def _to_text_columns(document: Document, row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a judged document, some in place of those of its metadata."""
    return {
        "deleted": False,
        "title": document.title or row["title"],
        "license": document.license,
        "retracted": row["retracted"] or document.retracted,
        "verdict": document.verdict,
        "evidence": document.evidence,
        "text_version": document.version,
        "extractor": document.extractor,
        "body_words": document.body_words,
        "text": build_full_text_body(document.markdown),
    }


def parse_citation(record: dict[str, Any]) -> tuple[str, int | None]:
    """Return journal (NLM's abbreviation) and year of an article, from its citation.

    >>> parse_citation({"citation": "Nat Commun. 2020 Sep 23; 11(1): 1"})
    ('Nat Commun', 2020)
    """
    found = _CITATION.match(str(record.get("citation") or ""))
    return (found[1].strip(), int(found[2])) if found else ("", None)


def _cut_passages(
    rows: Iterable[dict[str, Any]],
) -> Iterator[tuple[int, int | None, Passage]]:
    """Yield the passages of the texts, cut as on the shelf."""
    for row in rows:
        if not row["deleted"]:
            found = split_into_passages(
                row["text"],
                paper=f"pmcid:PMC{row['pmcid']}",
                title=row["title"],
                kind="full_text",
                file=f"PMC{row['pmcid']}.{row['version']}",
            )
            yield from ((row["position"], row["pmid"], passage) for passage in found)
