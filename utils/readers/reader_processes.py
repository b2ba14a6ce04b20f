"""Run `readers.read_and_judge` in child processes, on all cores.

A harvest fetches with dozens of threads, and a page that takes seconds to read would block them
all. For a single paper, starting a child would only take time.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from ..errors import BadContent
from ..model.identifiers import Ids
from ..model.paper import Document, Fetched, Paper, paper_from_row, to_row
from ..model.verdicts import NO_COMPARISON, ComparisonData, Sign, TextCopy
from . import read_and_judge
from .child_processes import ChildPool, ChildReadError, serve_jobs

_MOST_CHILDREN = 4  # each takes about 80 MB; sites allow a dozen papers a second at most


def read_and_judge_in_child(
    fetched: Fetched,
    paper: Paper,
    *,
    identified: bool = False,
    comparison: ComparisonData = NO_COMPARISON,
) -> Document:
    """Convert and judge a fetched response in a child process; see `readers.read_and_judge`."""
    if fetched.media == "pdf":
        # PDFs have children of their own.
        return read_and_judge(fetched, paper, identified=identified, comparison=comparison)
    sent = {**asdict(replace(fetched, body=b"", ids=Ids())), "body": "", "ids": asdict(fetched.ids)}
    job = {"fetched": sent, "paper": to_row(paper), "identified": identified}
    job["comparison"] = comparison
    try:
        answer = _get_child_pool().read_in_idle_child(
            json.dumps(job).encode() + b"\n" + fetched.body
        )
    except ChildReadError as error:
        msg = f"What {fetched.source} sent could not be read: {error}."
        hint = "The file is damaged, or built to attack parsers."
        raise BadContent(msg, hint, verdict="not_a_paper") from error
    if refused := answer.get("refused"):
        raise BadContent(refused["message"], refused["hint"], **refused["details"])
    if "document" not in answer:
        msg = f"Reading what {fetched.source} sent takes more memory than this computer has."
        raise BadContent(msg, "The file may be built to attack parsers.", verdict="not_a_paper")
    return _row_to_document(answer["document"])


@cache
def _get_child_pool() -> ChildPool:
    return ChildPool(__name__, most=min(_MOST_CHILDREN, os.cpu_count() or 1))


def _row_to_document(row: dict[str, Any]) -> Document:
    made: dict[str, Any] = {name: tuple(row[name]) for name in ("authors", "walls", "confidence")}
    made |= {"ids": Ids(**row["ids"]), "declared": tuple(map(tuple, row["declared"]))}
    made["signs"] = tuple(Sign(*sign) for sign in row["signs"])
    return Document(**row | made)


def serve() -> None:
    """Serve requests in a child process."""
    serve_jobs(_process_request)


def _process_request(job: bytes) -> dict[str, Any]:
    head, _, body = job.partition(b"\n")
    about = json.loads(head)
    row = about["fetched"]
    fetched = Fetched(**{**row, "body": body, "ids": Ids(**row["ids"])})
    paper = paper_from_row(about["paper"])
    copies, journal_words = about["comparison"]
    comparison = ComparisonData(tuple(TextCopy(*one) for one in copies), tuple(journal_words))
    identified = about["identified"]
    try:
        document = read_and_judge(fetched, paper, identified=identified, comparison=comparison)
        return {"document": asdict(document)}
    except BadContent as bad:
        return {"refused": {"message": bad.message, "hint": bad.hint, "details": bad.details}}
