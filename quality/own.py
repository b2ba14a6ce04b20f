"""The project's own folder of cases: small articles written for it, and papers of ``tests/world``.

The articles of ``cases/`` go through the tag set, a theme a file; ``cases/records.json`` holds the
record each is judged against and the verdict it deserves. The invented papers of the world give
pages of three publisher families, PDFs and every wall there is, so that no verdict is without a
case.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.world import walls
from tests.world.corpus import small_corpus
from tests.world.pdf import pdf_of, scan_of
from tests.world.publishers import partial_page
from utils.demo import pages
from utils.demo.jats import document
from utils.demo.prose import abstract
from utils.demo.records import Record, strip_markup

CASES = Path(__file__).with_name("cases")
FAMILIES = ("meadow", "harbour", "summit")
# Papers of the world that are served whole, by the branch they stand for.
WHOLE = (
    "pmc_cloud",
    "pmc_cloud_versions",
    "efetch_only",
    "europepmc_only",
    "retracted",
    "editorial",
    "non_english",
    "publisher_html",
    "unpaywall_pdf",
)
PRINTED = ("pmc_cloud_versions", "retracted", "unpaywall_pdf")
JINA_ERROR = (
    "Title: Page not found\n\nURL Source: https://site.test/x\n\nWarning: Target URL returned error"
    " 404: Not Found\n\nMarkdown Content:\n# Page not found\n\nThe page is not here."
)
JINA_CAPTCHA = (
    "Title: site.test\n\nURL Source: https://site.test/x\n\nWarning: This page maybe requiring "
    "CAPTCHA, please make sure you are authorized to access this page.\n\nMarkdown Content:\nHold."
)


def build(root: Path) -> None:
    """Lay the cases out in *root* as `.cases.Folder` expects them."""
    corpus = small_corpus()
    rows = [_written(root, name, told) for name, told in _records().items()]
    rows += [_invented(root, corpus.branch(branch)) for branch in WHOLE]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    _write(root / "articles.jsonl", "\n".join(lines))
    for number, branch in enumerate(branch for branch in WHOLE if branch != "editorial"):
        record = corpus.branch(branch)
        family = FAMILIES[number % len(FAMILIES)]
        folder = root / "html" / "publisher" / family / branch
        _write(
            folder / "fulltext.html", pages.build_article_page(record, "https://site.test", family)
        )
        _write(folder / "jats.xml", document(record))
    _walls(root / "html" / "block", corpus.branch("paywall"), corpus.branch("no_abstract"))
    _write(root / "jina" / "error.txt", JINA_ERROR)
    _write(root / "jina" / "captcha.txt", JINA_CAPTCHA)
    told = {"error.txt": "error_page", "captcha.txt": "captcha"}
    _write(root / "jina" / "verdicts.json", json.dumps(told))


def _records() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((CASES / "records.json").read_text("utf-8"))
    return found


def _written(root: Path, name: str, told: dict[str, object]) -> dict[str, object]:
    _write(root / "articles" / name / "jats.xml", (CASES / f"{name}.xml").read_bytes())
    return {**told, "files": {"jats": f"articles/{name}/jats.xml"}}


def _invented(root: Path, record: Record) -> dict[str, object]:
    name = f"world_{record.branch}"
    _write(root / "articles" / name / "jats.xml", document(record))
    if record.branch in PRINTED:
        _write(root / "articles" / name / "paper.pdf", pdf_of(record))
    return {
        "doi": record.doi,
        "pmid": record.pmid,
        "pmcid": record.pmcid,
        "title": record.plain_title,
        "abstract": " ".join(strip_markup(text) for _, text in abstract(record)),
        "authors": [family for family, _ in record.authors],
        "pages": record.pages,
        "verdict": "full_text",
        "files": {"jats": f"articles/{name}/jats.xml"},
    }


def _walls(folder: Path, closed: Record, silent: Record) -> None:
    site = "https://site.test"
    made: dict[str, tuple[str, str | bytes]] = {
        "captcha.html": ("captcha", _captcha()),
        "interstitial.html": ("bot_check", walls.captcha().body),
        "bot_check.html": ("bot_check", walls.bot_check().body),
        "cookie_wall.html": ("cookie_wall", walls.cookie_wall().body),
        "login.html": ("login", walls.login().body),
        "shop.html": ("paywall", walls.paywall().body),
        "refused.html": ("refused", _turned_away()),
        "error_page.html": ("error_page", walls.error_page().body),
        "wrong_paper.html": ("wrong_paper", walls.wrong_paper().body),
        "paywall.html": ("paywall", pages.paywall_page(closed, site, "harbour")),
        "no_abstract.html": ("paywall", pages.paywall_page(silent, site, "meadow")),
        "abstract.html": ("abstract_only", pages.abstract_page(closed, site, "summit", pdf=False)),
        "first_lines.html": ("abstract_only", partial_page(closed, site, "meadow")),
        "encyclopedia.html": ("not_a_paper", _encyclopedia()),
        "empty.html": ("empty", "<html><head></head><body></body></html>"),
        "scan.pdf": ("scanned", scan_of(closed)),
        "broken.pdf": ("not_a_paper", "%PDF-1.7\nThe rest was lost on the way."),
        "snippets.html": ("partial", _snippets(closed)),
        "section_missing.html": ("doubtful", _section_missing(closed)),
    }
    for name, (_, content) in made.items():
        _write(folder / name, content)
    told = {name: verdict for name, (verdict, _) in made.items()}
    _write(folder / "verdicts.json", json.dumps(told))


def _turned_away() -> str:
    """What a web server says by itself, saved without its status."""
    title, words = "403 Forbidden", "You don't have permission to access this resource."
    head = f"<head><title>{title}</title></head>"
    return f"<html>{head}<body><h1>{title}</h1><p>{words}</p></body></html>"


def _captcha() -> str:
    return (
        "<html><head><title>site.test</title></head><body><h1>Are you a person?</h1><form>"
        "<div class='g-recaptcha' data-sitekey='6L'></div><button>Go on</button></form>"
        "</body></html>"
    )


def _snippets(record: Record) -> str:
    page = pages.abstract_page(record, "https://site.test", "meadow", pdf=False)
    text = "The first sentences of every section are shown, and no more than these are. " * 40
    snippets = f"<h2>Section snippets</h2><h3>Introduction</h3><p>{text}</p>"
    return page.replace("</article>", f"{snippets}</article>")


def _section_missing(record: Record) -> str:
    """Return the page of a whole paper whose third numbered section is not there."""
    page = pages.build_article_page(record, "https://site.test", "meadow")
    for number, heading in ((1, "Introduction"), (2, "Materials"), (4, "Discussion")):
        page = page.replace(f"<h2>{heading}", f"<h2>{number}. {heading}")
    return page.replace("<h2>Results", "<h2>What was found")


def _encyclopedia() -> str:
    text = "Perch is a common name for fish of the genus Perca, which live in fresh water. " * 60
    return f"<html><head><title>Perch</title></head><body><h1>Perch</h1><p>{text}</p></body></html>"


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
