"""Reader's envelope is taken apart, and what Reader could not fetch is not mistaken for text."""

from pathlib import Path

import pytest

from tests.own_words import prose
from utils.errors import BadContent
from utils.judges.check import judge_document
from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched, Paper
from utils.outline.words import count_words
from utils.readers import plain_markdown

PROSE = "Bees find their way home by the sun and remember flowers they liked. " * 6
LONG, MORE = prose(700), prose(700, start=100)
PAPER = Paper(ids=Ids(doi="10.1000/bees"), title="Bees and the memory of light", abstract=PROSE)


def read(text: str | bytes) -> Document:
    body = text if isinstance(text, bytes) else text.encode()
    return plain_markdown.read_document(
        Fetched(body=body, media="markdown", url="https://r.test/a", source="jina", via="jina")
    )


def envelope(content: str, *lines: str, title: str = PAPER.title) -> str:
    head = [f"Title: {title}", "URL Source: https://publisher.test/10.1000/bees", *lines]
    return "\n\n".join([*head, "Markdown Content:\n" + content])


ARTICLE = (
    f"Jane Doe\n\n## Abstract\n\n{PROSE}\n\n## Introduction\n\n{LONG}\n\n"
    f"## Discussion\n\n{MORE} Others saw it, too [1-3].\n\n"
    "## References\n\n1. Doe 2020\n2. Roe 2021\n3. Poe 2022\n"
)


def test_the_envelope_is_taken_off() -> None:
    document = read(envelope(ARTICLE, "Published Time: 2026-02-01", "Number of Pages: 12"))
    assert document.title == PAPER.title
    assert document.ids == Ids(), "the address is what we asked for, not what came"
    assert document.pages == 12
    assert document.abstract == PROSE.strip()
    assert document.body_words == count_words(f"{LONG} {MORE} Others saw it, too [1-3].")
    assert (document.headings, document.references) == (2, 3)
    assert "URL Source" not in document.markdown
    assert judge_document(document, PAPER).verdict == "full_text"


def test_underlined_titles_are_headings() -> None:
    """Reader underlines titles of the first and second level (setext headings)."""
    told = read(envelope("Bees\n====\n\nMethods\n-------\n\nText.\n\n* a\n---\n\n| a |\n|---|"))
    assert "# Bees\n\n## Methods\n\nText.\n\n* a\n---\n\n| a |\n|---|" in told.markdown


def test_plain_markdown_needs_no_envelope() -> None:
    document = read(f"# {PAPER.title}\n\ndoi:10.1000/bees.\n\n{ARTICLE}")
    assert (document.title, document.ids.doi) == (PAPER.title, "10.1000/bees")
    assert document.body_words == count_words(f"{LONG} {MORE} Others saw it, too [1-3].")


def test_a_file_name_is_no_title() -> None:
    assert read(envelope(f"# {PAPER.title}\n\n{ARTICLE}", title="bees_v2.pdf")).title == PAPER.title


def test_a_cited_doi_is_not_the_papers_own() -> None:
    cited = f"# {PAPER.title}\n\n## Introduction\n\nAs shown (10.1000/other), {PROSE}"
    assert read(cited).ids == Ids()


@pytest.mark.parametrize(
    ("title", "lines", "content", "verdict"),
    [
        ("x", ["Warning: Target URL returned error 403: Forbidden"], "No.", "refused"),
        ("x", ["Warning: Target URL returned error 503"], "", "error_page"),
        ("x", ["Warning: This page maybe requiring CAPTCHA, please wait"], "Hm.", "captcha"),
        ("Just a moment...", [], "Verifying you are human.", "bot_check"),
        ("Tools", [], "## 404\n\n## This page could not be found.", "error_page"),
        ("403 Forbidden", [], "nginx", "refused"),
    ],
)
def test_what_stood_in_the_way_is_named(
    title: str, lines: list[str], content: str, verdict: str
) -> None:
    with pytest.raises(BadContent) as caught:
        judge_document(read(envelope(content, *lines, title=title)), PAPER)
    assert caught.value.outcome == verdict


def test_a_warning_beside_a_whole_paper_is_stray() -> None:
    document = read(envelope(ARTICLE, "Warning: This page maybe requiring CAPTCHA, please wait"))
    assert judge_document(document, PAPER).verdict == "full_text"


def test_nothing_is_refused() -> None:
    with pytest.raises(BadContent) as caught:
        read("\ufeff \n\n")
    assert caught.value.outcome == "empty"


def test_links_that_act_and_pictures_go() -> None:
    markdown = read(
        f"{PROSE} ![x](https://a.test/i.png) [run](javascript:alert%281%29)"
        " [r2]( JavaScript&colon;x) [r3](data:a(b)c) [see](https://a.test/)"
        " <script>evil</script> 10<sup>3</sup>"
    ).markdown
    assert "javascript" not in markdown.lower()
    assert "data:" not in markdown
    assert "i.png" not in markdown
    assert " [see](https://a.test/) &lt;script>evil&lt;/script> 10<sup>3</sup>" in markdown


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("target_404.codifier_test.txt", "error_page"),
        ("not_found_page.bai_test.txt", "error_page"),
        ("hollow_knight.camel_test.txt", ""),
    ],
)
def test_recorded_answers_of_reader_are_rejected(shared: Path, name: str, verdict: str) -> None:
    with pytest.raises(BadContent) as caught:
        judge_document(read((shared / "jina" / name).read_bytes()), PAPER)
    assert not verdict or caught.value.outcome == verdict


def test_the_results_of_a_search_are_no_paper_though_the_first_is_it() -> None:
    """As the service's search mode writes them, five pages in one answer."""
    results = "\n\n".join(
        f"[{n}] Title: {PAPER.title}\n[{n}] URL Source: https://publisher.test/{n}\n"
        f"[{n}] Description: Bees.\n\n{ARTICLE}"
        for n in (1, 2)
    )
    with pytest.raises(BadContent) as caught:
        read(results)
    assert caught.value.outcome == "not_a_paper"
    assert "search" in caught.value.message
