"""Both judges against the truth: papers accepted, everything else refused by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from quality import mutations
from quality.cases import Article, Folder, asked_for, media_of, read, verdict, without_ids
from quality.measures import Scores, words
from utils.model.identifiers import Ids
from utils.model.paper import Paper

DOORKEEPERS = frozenset(
    ("captcha", "bot_check", "cookie_wall", "login", "refused", "error_page", "paywall")
)
MUTATED = 8  # articles, evenly picked
NAMED = 3
MUTATED_PAGES = 3
MANY_PAGES = 4


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


def identity(folder: Folder, judged: Judged, every: int = 1) -> None:
    """Strangers with and without identifiers, and what has lost its identifiers.

    One article in *every* so many is asked, since each is read again for each question.
    """
    whole = [case for case in folder.articles if case.expected == "full_text"]
    if len(whole) < 2:
        return
    for at, (case, stranger) in enumerate(islice(strangers(whole), 0, None, every)):
        if at % NAMED == 0:  # an identifier that clashes is the easy half
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
        body = path.read_bytes()
        media, paper = media_of(path, body), asked_for(body, name)
        # A page about something else is both; a file that is no text at all is only the one.
        is_text = name == "not_a_paper" and media != "pdf"
        right = {name, "wrong_paper"} if is_text else {name}
        kind = "jina samples named" if media == "markdown" else "walls named"
        judged.count(kind, path.name, right, verdict(body, media, paper)[0])
        if media == "html" and name in DOORKEEPERS:
            judged.count("walls as PDF named", path.name, right, verdict(body, "pdf", paper)[0])


def pdfs(folder: Folder, judged: Judged) -> None:
    """PDFs beside the articles, asked for as another."""
    cases = [case for case in folder.articles if (case.folder / "paper.pdf").exists()]
    for case, stranger in strangers(cases) if len(cases) > 1 else ():
        body = (case.folder / "paper.pdf").read_bytes()
        got, _ = verdict(body, "pdf", stranger)
        refused = frozenset({"wrong_paper", "partial", "abstract_only", "front_matter_only"})
        judged.count("PDFs of strangers refused", case.name, refused, got)


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
    for case in whole:  # all: what little is left differs from one to the next
        _apply(judged, case.name, case.paper, mutations.cuts_of_jats(case.jats))
    for page in folder.pages:
        _apply(judged, page.name, page.paper, mutations.cuts_of_page(page.path.read_bytes()))
    small = sorted(folder.pages, key=lambda page: page.path.stat().st_size)[:MUTATED_PAGES]
    for page in small:
        _apply(judged, page.name, page.paper, mutations.of_page(page.path.read_bytes(), page.paper))
    for case in folder.articles:
        path = case.folder / "paper.pdf"
        if path.exists() and path.stat().st_size < 1_500_000 and _many_pages(path):
            _apply(judged, case.name, case.paper, mutations.of_pdf(path.read_bytes()))


def _many_pages(path: Path) -> bool:
    import pypdfium2

    return len(pypdfium2.PdfDocument(path)) >= MANY_PAGES


def _apply(judged: Judged, case: str, paper: Paper, made: Iterable[mutations.Mutation]) -> None:
    for name, body, media, right in made:
        got, _ = verdict(body, media, paper)
        judged.count(f"mutation: {name}", case, right, got)
