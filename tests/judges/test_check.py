"""Both judges: whole papers pass however odd, everything else is rejected by its right name."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.own_words import prose
from utils.errors import BadContent
from utils.judges.check import judge_completeness, judge_document
from utils.judges.identity import judge_identity
from utils.judges.titles import measure_title_likeness
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Fetched, Paper
from utils.readers import html, jats, read_and_judge

ABSTRACT = (
    "Honeybees return to flowers whose colour they have learned. We trained two hundred foragers on"
    " blue and yellow discs and recorded every visit for nine days. Foragers kept the learned"
    " colour for six days and lost it after rain. Memory of colour in honeybees is therefore"
    " long, and depends on weather more than on reward, which models of foraging have so far left"
    " out."
)
SENTENCES = (
    "Every hive stood on a south slope and was opened at noon.",
    "Observers counted landings on each disc and noted the wind.",
    "After the first rain the number of landings fell by half.",
    "Sugar water was renewed each morning before the foragers left.",
    "A second colony without training served as a control throughout.",
    "Differences between slopes were small beside those between days.",
)
BODY = " ".join(SENTENCES)  # 60 words
PAPER = Paper(
    ids=Ids(doi="10.1000/bees", pmid="123"),
    title="Memory of colour in foraging honeybees",
    abstract=ABSTRACT,
    authors=(Author(family="Doe"), Author(family="Öztürk"), Author(family="Li")),
)
HEAD = (
    '<meta name="citation_title" content="{0.title}">'
    '<meta name="citation_doi" content="{0.ids.doi}">'
)


def paragraphs(times: int, start: int = 0) -> str:
    """So many paragraphs of 60 words, all different."""
    return "".join(f"<p>{prose(60, start + 10 * number)}</p>" for number in range(times))


def page(body: str, head: str = "", url: str = "https://publisher.test/a") -> Document:
    sent = f"<html><head>{head}</head><body>{body}</body></html>".encode()
    return html.read_document(
        Fetched(body=sent, media="html", url=url, source="publisher", via="publisher")
    )


def article(paper: Paper = PAPER, times: int = 18, extra: str = "") -> Document:
    """A page with abstract, two sections of *times* paragraphs in all, and three references."""
    cited = "<p>Such colours were seen before [1], as was rain [2], and both later [3].</p>"
    return page(
        f"<article><h1>{paper.title}</h1><h2>Abstract</h2><p>{paper.abstract}</p>"
        f"<h2>Introduction</h2>{paragraphs(times // 2)}{cited}"
        f"<h2>Results and discussion</h2>{paragraphs(times // 2, start=500)}"
        "<h2>References</h2><ol><li>Roe 2001</li><li>Poe 2002</li><li>Doe 2003</li></ol></article>"
        f"{extra}",
        HEAD.format(paper),
    )


def verdict(document: Document, paper: Paper = PAPER) -> str:
    try:
        return judge_document(document, paper).verdict
    except BadContent as error:
        return error.outcome


LANDING = f"<h1>{PAPER.title}</h1><h2>Abstract</h2><p>{ABSTRACT}</p>"
SMALL_PRINT = (
    f"<h2>References</h2><ol>{'<li>Roe 2001. Bees and other stories.</li>' * 60}</ol>"
    f"<h2>Rights and permissions</h2><p>{BODY * 4}</p><h2>About this article</h2><p>{BODY * 4}</p>"
)


def test_a_rejection_says_why_and_what_next() -> None:
    with pytest.raises(BadContent) as caught:
        judge_document(page(LANDING, HEAD.format(PAPER)), PAPER)
    assert caught.value.details == {
        "verdict": "abstract_only",
        "evidence": "0 words besides the abstract",
    }
    assert caught.value.hint


def test_an_article_passes_with_evidence() -> None:
    judged = judge_document(article(), PAPER)
    assert judged.verdict == "full_text"
    assert "doi:10.1000/bees" in judged.evidence


@pytest.mark.parametrize(
    ("body", "head", "url", "named"),
    [
        ("<div class='g-recaptcha'></div><p>Tick the box.</p>", "", "", "captcha"),
        ("<p>Checking.</p>", "<title>Just a moment...</title>", "", "bot_check"),
        ("<form><input type='password'></form><p>Members</p>", "<title>Sign in</title>", "",
            "login"),
        ("<p>Your institution</p>", "", "https://idp.publisher.test/wayf?x", "login"),
        ("<p>Cookies must be enabled to read this site.</p>", "", "", "cookie_wall"),
        ("<p>Sorry.</p>", "", "https://publisher.test/action/cookieAbsent", "cookie_wall"),
        ("<h1>Page not found</h1><p>Try the search.</p>", "", "", "error_page"),
        (LANDING + "<div class='article-access-options'>Buy</div>", "", "", "paywall"),
        (LANDING + SMALL_PRINT + "<div id='buybox'>30 EUR</div>", "", "", "paywall"),
        (LANDING + SMALL_PRINT, "", "", "abstract_only"),
        (LANDING + "<form><input type='password'></form>", "", "", "abstract_only"),
        (LANDING + f"<h2>Preview</h2><p>{ABSTRACT}</p>", "", "", "abstract_only"),
        (LANDING + f"<h2>Section snippets</h2>{paragraphs(12)}", "", "", "partial"),
        ("", "", "", "empty"),
    ],
)  # fmt: skip
def test_what_is_no_whole_paper_is_named(body: str, head: str, url: str, named: str) -> None:
    assert verdict(page(body or "<p></p>", head, url or "https://publisher.test/a")) == named


def test_headings_with_hardly_a_word_under_them_are_no_paper() -> None:
    sections = "".join(f"<h2>Section {name}</h2><p>Some words.</p>" for name in "ABCDEF")
    emptied = page(f"{LANDING}<h2>Introduction</h2>{paragraphs(5)}{sections}", HEAD.format(PAPER))
    assert verdict(emptied) == "partial"


def test_the_first_page_of_a_pdf_cites_what_it_does_not_list() -> None:
    text = (
        f"{prose(900)} Bees learn colours [1]. They forget them in rain [2,3], as others saw [4-7]."
    )
    first = Document(
        f"# {PAPER.title}\n\n## Abstract\n\n{ABSTRACT}\n\n## Introduction\n\n{text}",
        title=PAPER.title,
        ids=PAPER.ids,
        body_words=450,
        headings=1,
        pages=1,
    )
    assert verdict(first) == "partial"
    listed = "".join(
        f"{number}. Roe A. Bees of 19{number}0. Hive 19{number}1.\n" for number in range(1, 8)
    )
    whole = replace(first, markdown=f"{first.markdown}\n\n## References\n\n{listed}", references=7)
    assert verdict(whole) == "full_text"


def test_a_login_page_that_names_the_paper_is_a_login_page() -> None:
    asks = (
        f"<h1>Sign in to read this article</h1><p>{PAPER.title}</p>"
        "<form action='/login'><input type='password'></form>"
    )
    head = HEAD.format(PAPER) + "<title>Sign in</title>"
    assert verdict(page(asks, head)) == "login"
    assert verdict(page(LANDING + asks, head)) == "abstract_only"


def test_a_table_about_something_else_is_no_paper_and_not_empty() -> None:
    rows = "".join(f"<tr><td>Maker {number}</td><td>Team Cherry</td></tr>" for number in range(4))
    assert verdict(page(f"<h1>Hollow Knight</h1><table>{rows}</table>")) == "not_a_paper"


def test_a_closed_page_that_says_so_in_json_ld_is_a_paywall() -> None:
    said = (
        '<script type="application/ld+json">'
        '{"@type":"Article","isAccessibleForFree":"False"}</script>'
    )
    assert verdict(page(LANDING + SMALL_PRINT, said)) == "paywall"


def test_a_long_article_with_stray_walls_passes() -> None:
    extra = (
        "<script src='https://www.google.com/recaptcha/api.js'></script>"
        "<form action='/login'><input type='password'></form><div class='access-options'>Buy</div>"
    )
    assert verdict(article(times=20, extra=extra)) == "full_text"


def test_an_article_about_captchas_and_paywalls_passes() -> None:
    paper = replace(
        PAPER, title="CAPTCHA, reCAPTCHA and paywalls: please enable cookies and log in"
    )
    assert verdict(article(paper), paper) == "full_text"


def test_an_editorial_of_four_hundred_words_passes_where_the_record_calls_it_one() -> None:
    kind = ("Journal Article", "Editorial")
    paper = replace(PAPER, title="Why bees matter to all of us", publication_types=kind)
    paper = replace(paper, abstract="")
    extra = "<form action='/login'><input type='password'></form>"
    document = page(f"<h1>{paper.title}</h1>{paragraphs(6)}{extra}", HEAD.format(paper))
    assert 380 < document.body_words < 470
    assert verdict(document, paper) == "full_text"
    assert verdict(document, replace(paper, publication_types=kind[:1])) == "partial"


def test_the_first_lines_of_a_closed_editorial_do_not() -> None:
    paper = replace(PAPER, title="Why bees matter to all of us", abstract="")
    document = page(
        f"<h1>{paper.title}</h1><p>{BODY}</p><div class='paywall'>Buy</div>", HEAD.format(paper)
    )
    assert verdict(document, paper) == "paywall"


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("Erratum: Memory of colour in foraging honeybees", ()),
        ("Correction for Roe et al., Memory of colour in foraging honeybees", ()),
        ("Memory of colour in foraging honeybees: what was wrong", ("Published Erratum",)),
    ],
)
def test_an_erratum_of_two_sentences_passes(title: str, kinds: tuple[str, ...]) -> None:
    paper = Paper(ids=Ids(doi="10.1000/err"), title=title, publication_types=kinds)
    document = page(
        f"<h1>{paper.title}</h1><p>In the article of March the number of foragers was given as two"
        " thousand. The right number is two hundred. The authors regret the error, which changes no"
        " result.</p>",
        HEAD.format(paper),
    )
    assert verdict(document, paper) == "full_text"


def test_papers_in_other_scripts_pass() -> None:
    abstract = (
        "蜜蜂は学習した花の色に戻る。二百匹の採餌蜂を訓練し、九日間すべての訪問を記録した。" * 4
    )
    body = "".join(
        f"巣箱は南斜面に置かれ、{n}日目の正午に開かれた。学習した花の色に戻る採餌蜂を観察者が{n}回数えた[{n}]。"
        for n in range(1, 60)
    )
    paper = replace(
        PAPER,
        title="[Memory of colour in bees].",
        vernacular_title="採餌蜂における色の記憶",
        abstract=abstract,
    )
    document = page(
        f"<h1>採餌蜂における色の記憶</h1><h2>要旨</h2><p>{abstract}</p><h2>方法</h2><p>{body}</p>"
        f"<h2>文献</h2><ol>{'<li>佐藤. 採餌蜂. 2001.</li>' * 59}</ol>"
    )
    assert verdict(document, paper) == "full_text"
    closed = page(f"<h1>採餌蜂における色の記憶</h1><h2>要旨</h2><p>{abstract}</p>")
    assert verdict(closed, paper) == "abstract_only"


def test_a_structured_body_is_trusted_and_its_absence_is_seen() -> None:
    letter = Document(markdown="text", ids=PAPER.ids, article_type="letter", body_words=60)
    assert verdict(letter) == "full_text"
    assert verdict(replace(letter, body_words=0)) == "front_matter_only"
    cut = replace(letter, verdict="partial", evidence="the XML is cut off")
    assert verdict(cut) == "partial"


def test_a_pdf_of_pictures_and_one_of_a_single_page() -> None:
    document = Document(markdown=f"# {PAPER.title}", title=PAPER.title, pages=9)
    assert verdict(document) == "scanned"
    first = replace(article(times=20), pages=1)
    assert verdict(first, replace(PAPER, pages="932-45")) == "partial"
    assert verdict(replace(first, pages=12), replace(PAPER, pages="932-45")) == "full_text"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("[Memory of colour in bees].", "Memory of Colour in Bees"),
        ("TGF-β and α-synuclein in <i>Apis</i>", "TGF-beta and alpha-synuclein in Apis"),
        ("Memory of colour in bees", "Memory of colour in bees: a field study of nine days"),
        ("RETRACTED: Memory of colour in bees", "Memory of colour in bees"),
        ("Mémoire des couleurs chez l'abeille", "Memoire des couleurs chez l’abeille"),
        ("Li<sub>2</sub>O in cells", "Li2O in Cells"),
    ],
)
def test_spellings_of_one_title_are_alike(ours: str, theirs: str) -> None:
    assert measure_title_likeness(ours, theirs) >= 0.88


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Cancer statistics, 2020", "Cancer statistics, 2021"),
        ("Memory in bees. Part I", "Memory in bees. Part II"),
        ("Memory of colour in bees", "Correction: Memory of colour in bees"),
        ("Memory of colour in bees", "Diet of wolves in winter"),
    ],
)
def test_titles_of_two_papers_are_not(ours: str, theirs: str) -> None:
    assert measure_title_likeness(ours, theirs) < 0.6


def test_another_paper_is_refused() -> None:
    other = replace(
        PAPER,
        ids=Ids(doi="10.1000/wolves"),
        title="Diet of wolves in alpine winters",
        abstract="Wolves eat deer. " * 30,
        authors=(Author(family="Roe"),),
    )
    assert verdict(article(), other) == "wrong_paper"
    assert verdict(replace(article(), ids=Ids()), other) == "wrong_paper"


def test_a_preprint_under_another_doi_is_the_same_paper() -> None:
    preprint = replace(article(), ids=Ids(doi="10.1101/2026.01.01"))
    assert verdict(preprint) == "full_text"


def test_another_paper_of_the_same_name_is_not() -> None:
    namesake = replace(article(times=20), ids=Ids(doi="10.1000/x"), authors=("Roe", "Poe"))
    other = replace(PAPER, abstract="Wolves eat deer in winter and mice in spring. " * 20)
    assert verdict(namesake, other) == "wrong_paper"


def test_a_title_that_tells_nothing_needs_more() -> None:
    paper = Paper(ids=Ids(pmid="9"), title="Editorial.", authors=(Author(family="Doe"),))
    document = page(f"<h1>Editorial</h1><p>{BODY * 5}</p>")
    assert verdict(document, paper) == "wrong_paper"
    assert verdict(replace(document, authors=("Doe",)), paper) == "full_text"


def test_an_unknown_record_needs_a_common_identifier() -> None:
    unknown = Paper(ids=Ids(doi="10.1000/bees"))
    assert verdict(article(), unknown) == "full_text"
    assert verdict(replace(article(), ids=Ids()), unknown) == "wrong_paper"


def test_a_correction_that_prints_the_doi_of_what_it_corrects_is_not_the_paper() -> None:
    text = f"# Journal of Bees\n\n## Correction\n\nArticle title: {PAPER.title}\n\n{BODY * 10}"
    correction = Document(
        markdown=text, title="Journal of Bees", ids=PAPER.ids, body_words=600, pages=1
    )
    assert judge_identity(correction, PAPER).answer == "other"


@pytest.mark.slow
@pytest.mark.shared
def test_no_real_article_is_refused_and_no_stranger_accepted(shared: Path) -> None:
    """Every recorded JATS article against its own record, and against three others'."""
    rows = [
        json.loads(line)
        for line in (shared / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    rows = [row for row in rows if row["jats_status"] == "full"][::5]
    papers = [
        Paper(
            ids=Ids(doi=(row["doi"] or "").lower(), pmid=row["pmid"] or ""),
            title=row["title"] or "",
        )
        for row in rows
    ]
    documents = []
    for row in rows:
        body = (shared / row["files"]["jats"]).read_bytes()
        fetched = Fetched(
            body=body, media="jats", url="https://pmc.test/a", source="pmc", via="pmc_cloud"
        )
        documents.append(jats.read_document(fetched))
    given = [verdict(d, p) for d, p in zip(documents, papers, strict=True)]
    assert set(given) <= {"full_text", "doubtful"}
    assert given.count("doubtful") <= len(given) / 20
    accepted = [
        (papers[number].title, papers[number - step].title)
        for number, document in enumerate(documents)
        for step in (1, 2, 3)
        if judge_identity(replace(document, ids=Ids()), papers[number - step]).answer == "same"
    ]
    assert accepted == []


@pytest.mark.shared
def test_every_recorded_bot_wall_is_refused_by_name(shared: Path) -> None:
    for path in sorted((shared / "html" / "block").iterdir()):
        fetched = Fetched(
            body=path.read_bytes(), media="html", url="https://p.test/a", source="p", via="p"
        )
        assert judge_completeness(html.read_document(fetched), PAPER).verdict == "bot_check", (
            path.name
        )


@pytest.mark.parametrize("status", [401, 403, 405])
@pytest.mark.parametrize(
    "body",
    [
        b"<html><title>Forbidden</title></html>",
        b"<html><body><h1>Sorry</h1><p>Your address may not see this.</p></body></html>",
        b"<html></html>",
    ],
)
def test_a_bare_refusal_is_called_one_and_no_outdated_address(status: int, body: bytes) -> None:
    sent = Fetched(body, "html", "https://journal.test/a", "publisher", "publisher", status=status)
    with pytest.raises(BadContent) as caught:
        read_and_judge(
            sent, Paper(Ids(doi="10.1000/a"), title="On the growth of nacre in cold seas")
        )
    assert caught.value.outcome == "refused"
    assert f"journal.test refused access (HTTP {status})" in caught.value.message
    assert "browser" in caught.value.hint
    assert "outdated" not in str(caught.value)
