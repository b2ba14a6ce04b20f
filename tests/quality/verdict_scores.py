"""Both judges against the truth: papers accepted, everything else refused by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from utils.identifiers import Ids
from utils.paper import Media, Paper

from . import mutations
from .cases import SOMEBODY, Article, Folder, read, verdict, without_ids
from .measures import Scores, words

MUTATED = 12  # articles, evenly picked
MUTATED_PAGES = 3


@dataclass
class Judged:
    """The scores, and how often each verdict was given where another was right."""

    scores: Scores
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, name: str, case: str, right: str | Iterable[str], got: str) -> None:
        """Count one verdict."""
        allowed = {right} if isinstance(right, str) else set(right)
        self.confusion["|".join(sorted(allowed)), got] += 1
        self.scores[name].count(got in allowed, f"{case}: {got}, not {'|'.join(sorted(allowed))}")


def strangers(articles: list[Article]) -> Iterator[tuple[Article, Paper]]:
    """Each article with the record most like its own: authors shared, words of the title shared."""
    features = [
        set(words(article.paper.title)) | {f"@{a.family}" for a in article.paper.authors}
        for article in articles
    ]
    for at, article in enumerate(articles):
        scored = (
            (len(features[at] & other) / (len(features[at] | other) or 1), number)
            for number, other in enumerate(features)
            if number != at
        )
        yield article, articles[max(scored)[1]].paper


def identity(folder: Folder, judged: Judged) -> None:
    """Strangers with and without identifiers, and what has lost its identifiers."""
    whole = [case for case in folder.articles if case.expected == "full_text"]
    if len(whole) < 2:
        return
    for case, stranger in strangers(whole):
        got, _ = verdict(case.jats, "jats", stranger)
        judged.count("strangers refused", case.name, "wrong_paper", got)
        nameless = without_ids(case.jats)
        got, _ = verdict(nameless, "jats", stranger)
        judged.count("nameless strangers refused", case.name, "wrong_paper", got)
        if case.paper.abstract:
            got, _ = verdict(nameless, "jats", case.paper)
            judged.count("nameless papers accepted", case.name, "full_text", got)
    for case in whole:
        original = case.paper.title.partition(": ")[2].strip("[]. ")
        if case.paper.title.lower().startswith(("correct", "corrigend", "author corr", "retract")):
            paper = Paper(ids=Ids(doi="10.9103/original"), title=original, abstract="")
            got, _ = verdict(case.jats, "jats", paper)
            judged.count("notices are not the paper", case.name, "wrong_paper", got)


def walls(folder: Folder, judged: Judged) -> None:
    """Pages that came instead of a paper, as what they are and served as PDF."""
    for path, name in folder.walls:
        media: Media = "markdown" if path.suffix == ".txt" else "html"
        right = {name, "wrong_paper"} if name == "not_a_paper" else {name}
        body = path.read_bytes()
        kind = "jina samples named" if media == "markdown" else "walls named"
        judged.count(kind, path.name, right, verdict(body, media, SOMEBODY)[0])
        if media == "html":
            judged.count("walls as PDF named", path.name, right, verdict(body, "pdf", SOMEBODY)[0])


def pages(folder: Folder, judged: Judged) -> None:
    """Pages and PDFs of papers that are whole."""
    for page in folder.pages:
        got, _ = verdict(page.path.read_bytes(), "html", page.paper)
        judged.count("pages accepted", page.name, "full_text", got)
        if (path := page.path.with_suffix(".pdf")).exists():
            got, _ = verdict(path.read_bytes(), "pdf", page.paper)
            judged.count("PDFs accepted", page.name, "full_text", got)


def pdfs(folder: Folder, judged: Judged) -> None:
    """PDFs beside the articles, asked for as what they are and as another."""
    cases = [case for case in folder.articles if (case.folder / "paper.pdf").exists()]
    for case, stranger in strangers(cases) if len(cases) > 1 else ():
        body = (case.folder / "paper.pdf").read_bytes()
        judged.count("PDFs accepted", case.name, "full_text", verdict(body, "pdf", case.paper)[0])
        got, _ = verdict(body, "pdf", stranger)
        judged.count("PDFs of strangers refused", case.name, "wrong_paper", got)


def mutated(folder: Folder, judged: Judged) -> None:
    """Good texts made bad."""
    whole = [
        case
        for case in folder.articles
        if case.expected == "full_text" and len(case.jats) > 30_000 and case.paper.abstract
    ]
    picked = whole[:: max(1, len(whole) // MUTATED)][:MUTATED]
    for at, case in enumerate(picked):
        other = picked[at - 1]
        _apply(judged, case.name, case.paper, mutations.of_jats(case.jats, other.jats))
        text = read(case.jats, "jats").markdown
        _apply(judged, case.name, case.paper, mutations.of_markdown(text, case.paper))
        got, _ = verdict(case.jats, "jats", other.paper)
        judged.count("mutation: asked for another", case.name, "wrong_paper", got)
    small = sorted(folder.pages, key=lambda page: page.path.stat().st_size)[:MUTATED_PAGES]
    for page in small:
        _apply(judged, page.name, page.paper, mutations.of_page(page.path.read_bytes(), page.paper))
    for case in folder.articles:
        path = case.folder / "paper.pdf"
        if path.exists() and path.stat().st_size < 1_500_000 and case.paper.pages:
            _apply(judged, case.name, case.paper, mutations.of_pdf(path.read_bytes()))


def _apply(judged: Judged, case: str, paper: Paper, made: Iterable[mutations.Mutation]) -> None:
    for name, body, media, right in made:
        got, _ = verdict(body, media, replace(paper))
        judged.count(f"mutation: {name}", case, right, got)
