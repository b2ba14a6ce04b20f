"""All scores of a folder of cases, kind by kind, with the seconds a document takes to read."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from quality import jats_scores, page_scores, verdict_scores
from quality.cases import Folder, read, verdict
from quality.jats_truth import Truth
from quality.measures import Scores
from quality.verdict_scores import Judged
from utils.model.paper import Document, Media, Paper


@dataclass
class Report:
    """Scores by name, verdicts given by verdicts that were right, processor seconds by kind."""

    scores: Scores = field(default_factory=Scores)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)


def measure(folder: Folder, every: int = 1) -> Report:
    """Score everything in *folder*; the identity of one article in *every* so many."""
    report = Report()
    judged = Judged(report.scores, report.confusion)
    for part in (_articles, _pages, _pdfs):
        part(folder, report, judged)
    for judge in (
        verdict_scores.walls,
        verdict_scores.pdfs,
        verdict_scores.mutated,
    ):
        judge(folder, judged)
    verdict_scores.identity(folder, judged, every)
    return report


def _accepted(judged: Judged, name: str, case: str, got: str) -> None:
    """Count a whole text, which must be kept and should bear no doubt."""
    judged.count(name, case, ("full_text", "doubtful"), got)
    judged.count("whole texts without doubt", case, "full_text", got)


def _timed(
    report: Report, kind: str, call: Callable[[], tuple[str, Document | None]]
) -> tuple[str, Document | None]:
    # Wall clock for PDFs, which are read in a process of their own.
    start = time.perf_counter()
    answer = call()
    report.seconds.setdefault(kind, []).append(time.perf_counter() - start)
    return answer


def _document(report: Report, body: bytes, media: Media, paper: Paper) -> tuple[str, Document]:
    """Verdict and text: also the text of what was refused."""
    got, document = _timed(report, media, lambda: verdict(body, media, paper))
    return got, document or read(body, media)


def _articles(folder: Folder, report: Report, judged: Judged) -> None:
    for case in folder.articles:
        got, document = _document(report, case.jats, "jats", case.paper)
        if case.expected == "full_text":
            _accepted(judged, "full articles accepted", case.name, got)
        else:
            judged.count("front matter refused", case.name, case.expected, got)
        truth = Truth(case.jats)
        jats_scores.score(case.name, truth, document.markdown, report.scores, document.references)
        gold = case.folder / "gold.craft.txt"
        if gold.exists():
            text = gold.read_text("utf-8")
            jats_scores.craft(case.name, text, document.markdown, report.scores)
        pdf = case.folder / "paper.pdf"
        if pdf.exists():
            got, document = _document(report, pdf.read_bytes(), "pdf", case.paper)
            _accepted(judged, "PDFs accepted", case.name, got)
            page_scores.pdf(case.name, truth.running_text, document.markdown, report.scores)


def _pages(folder: Folder, report: Report, judged: Judged) -> None:
    for page in folder.pages:
        body = page.path.read_bytes()
        got, document = _document(report, body, "html", page.paper)
        _accepted(judged, "pages accepted", page.name, got)
        if page.jats:
            truth = Truth(page.jats.read_bytes())
            page_scores.html(page.name, truth, document.markdown, body, report.scores)
    for name, body, gold in folder.benchmark_pages:
        page_scores.benchmark(name, gold, read(body, "html").markdown, report.scores)


def _pdfs(folder: Folder, report: Report, judged: Judged) -> None:
    for page in folder.pages:
        pdf = page.path.with_suffix(".pdf")
        if pdf.exists():
            got, document = _document(report, pdf.read_bytes(), "pdf", page.paper)
            _accepted(judged, "PDFs accepted", page.name, got)
            if page.jats:
                text = Truth(page.jats.read_bytes()).running_text
                page_scores.pdf(page.name, text, document.markdown, report.scores)
    for name, body, text in folder.benchmark_pdfs:
        page_scores.pdf(name, text, read(body, "pdf").markdown, report.scores)
