"""A text as a Markdown note: YAML reads the front matter, and the text comes back byte for byte."""

from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.shelf.papers import paper
from utils.model.paper import Author, Notice, Paper, StoredPaper
from utils.shelf.markdown_note import NoteFacts, has_user_additions, note_to_text, text_to_note
from utils.shelf.paper_file import build_full_text_file

EXTRAS = NoteFacts(
    citekey="doe2013cells",
    tags=("papershelf/full-text",),
    keywords=("cells: many", "- a list?"),
    pdf="[[10.1000_a.pdf]]",
    cited=(("10.1000_b.md", "Roe 2012: On [moss] | fern"), ("10.1000_c#d.md", "On # signs")),
)
HOSTILE = [
    'A "quoted" title: with a colon # and a sign',
    "--- \n---\n- DOI: 10.1000/false",
    "{{title}} [[a link]] <script>alert(1)</script> &lt;b&gt; &amp;",
    "\x00control\x1b[2J \u202eevil\u2028line\x85next\ufeff\ufffe end",
    "'single' \\backslash\\ \\n \\u0041 % ! & * ? | > @ `",
    "null",
    "2013-02-14",
    "-",
    "",
    "🌿 𝒜𝓁𝑔𝑒𝒷𝓇𝒶 中文 עברית",
    "<!-- papershelf:links -->",
]


def stored(about: Paper) -> StoredPaper:
    return StoredPaper(
        about, "full_text", "/papers/10.1000_a.md", "PMC", "pmc_cloud", "", license="CC BY",
        verdict="full_text", saved_at="2026-11-27T04:35:00+00:00", version="published",
    )  # fmt: skip


def text_of(body: str = "# On cells\n\nText.\n", retracted: bool = False, **changes: object) -> str:
    about = replace(paper(doi="10.1000/a", pmid="7"), **changes)  # type: ignore[arg-type]
    if retracted:
        about = replace(about, notices=(Notice("retraction"),))
    return build_full_text_file(stored(about), body)


def front_matter(note: str) -> dict[str, object]:
    """The front matter as a YAML parser reads it."""
    _, front, _ = note.split("---\n", 2)
    read = yaml.safe_load(front)
    assert isinstance(read, dict)
    return read


def test_yaml_reads_what_the_header_says() -> None:
    read = front_matter(text_to_note(text_of(), EXTRAS))
    assert read["title"] == "On cells"
    assert read["authors"] == ["Jane A Doe", "The Cell Group"]
    assert read["year"] == 2013
    assert (read["doi"], read["pmid"]) == ("10.1000/a", "7")
    assert (read["citekey"], read["tags"]) == ("doe2013cells", ["papershelf/full-text"])
    assert read["keywords"] == ["cells: many", "- a list?"]
    assert read["pdf"] == "[[10.1000_a.pdf]]"
    assert (read["license"], read["verdict"]) == ("CC BY", "full_text")


def test_a_markdown_parser_sees_the_text_and_the_links_but_no_marks() -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    read = parser.render(text_to_note(text_of(), EXTRAS).split("---\n", 2)[2])
    assert read.startswith("<h1>On cells</h1>\n<p>Text.</p>\n<!-- papershelf:links -->\n")
    assert "<h2>Cites on this shelf</h2>" in read
    assert '<a href="10.1000_c%23d.md">On   signs</a>' in read
    assert read.endswith("<!-- papershelf:end -->\n")


def test_cited_papers_are_links_that_end_where_they_should() -> None:
    note = text_to_note(text_of(), EXTRAS)
    assert "\n- [[10.1000_b|Roe 2012: On  moss    fern]]\n" in note
    assert "\n- [On   signs](10.1000_c%23d.md)\n" in note


@pytest.mark.parametrize("title", HOSTILE, ids=ascii)
def test_no_title_ends_the_front_matter_or_is_lost(title: str) -> None:
    text = text_of(title=title, authors=(Author(title), Author("Roe")), journal=title)
    note = text_to_note(text, replace(EXTRAS, keywords=(title.replace("\n", " "),)))
    assert "title" in front_matter(note)
    assert note_to_text(note) == text


@pytest.mark.parametrize("retracted", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "no line break",
        "---\n\ntitle: x\n---\n",
        "\n\nblank lines\n\n\n",
        "<!-- papershelf:links -->\n<!-- papershelf:end -->\n",
        "\n<!-- papershelf:links -->\n\nx\n<!-- papershelf:end -->\n",
        "> [!warning] RETRACTED: this paper was retracted; do not rely on its findings.\n\nx",
    ],
    ids=ascii,
)
def test_every_body_comes_back(body: str, retracted: bool) -> None:
    text = text_of(retracted=retracted).rpartition("# On cells")[0] + body
    assert note_to_text(text_to_note(text, EXTRAS)) == text


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_title_and_any_body_come_back(title: str, body: str) -> None:
    text = text_of(title=title).rpartition("# On cells")[0] + body.replace("\r", "")
    if "\ud800" <= max(text, default="") <= "\udfff":
        return
    assert note_to_text(text_to_note(text, EXTRAS)) == text


def test_a_retracted_paper_says_so_where_people_look() -> None:
    note = text_to_note(text_of(retracted=True), EXTRAS)
    assert front_matter(note)["retracted"] is True
    assert "\n> [!warning] RETRACTED: this paper was retracted" in note


def test_what_a_person_added_stays_when_the_note_is_written_again() -> None:
    note = text_to_note(text_of(), EXTRAS)
    edited = note.replace("tags:\n", "tags:\n  - moss\n").replace(
        "kind:", "rating: 5  # stars\nread:\n- 2026-01-01\n- twice\nkind:"
    )
    edited += "\nMy own thoughts: [[Moss]].\n"
    assert has_user_additions(edited)
    assert not has_user_additions(note)
    again = text_to_note(text_of(journal="Another"), replace(EXTRAS, cited=()), edited)
    read = front_matter(again)
    assert read["rating"] == 5
    assert read["tags"] == ["papershelf/full-text", "moss"]
    assert read["journal"] == "Another"
    assert "rating: 5  # stars\nread:\n- 2026-01-01\n- twice\n" in again
    assert again.endswith("<!-- papershelf:end -->\n\nMy own thoughts: [[Moss]].\n")
    assert note_to_text(again) == text_of(journal="Another")


def test_front_matter_that_a_program_wrote_again_is_read() -> None:
    text = text_of()
    note = text_to_note(text, EXTRAS)
    again = yaml.safe_dump(front_matter(note), allow_unicode=True, sort_keys=True)
    body = note.split("---\n", 2)[2]
    assert note_to_text(f"---\n{again}---\n{body}") == text


def test_front_matter_that_yaml_cannot_read_is_kept_below_the_text() -> None:
    note = text_to_note(text_of(), EXTRAS).replace("kind:", "mine: [unclosed\nkind:")
    assert note_to_text(note) is None
    again = text_to_note(text_of(), EXTRAS, note)
    assert note_to_text(again) == text_of()
    assert "mine: [unclosed\n" in again.partition("<!-- papershelf:end -->")[2]


@pytest.mark.parametrize(
    "note",
    [
        "",
        "# A note\n",
        "---\n---\n",
        "---\ntitle: Mine\n---\n\nx\n",
        "---\n- a\n- b\n---\n",
        "---\nx",
    ],
    ids=ascii,
)
def test_a_persons_own_note_is_not_a_paper(note: str) -> None:
    assert note_to_text(note) is None


def test_deep_nesting_in_front_matter_is_unreadable_and_nothing_else() -> None:
    assert note_to_text(f"---\ntitle: {'[' * 5_000}\nkind: x\n---\n") is None
