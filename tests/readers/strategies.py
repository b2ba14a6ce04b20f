"""What a hostile or merely unlucky site might send: bytes, texts, trees and broken papers.

Trees are drawn as a flat row of steps (open a tag, close one, write text), because that is fast to
draw and shrinks to the few tags that matter. `articles_in_jats` and `articles_in_html` draw *valid*
articles together with the words a reader must find in them, in order.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

SPECIAL = (
    *("*", "**", "_", "`", "```", "~~", "$", "$$", "|", "||", "\\", "[", "](", ")", "![", "^", "#"),
    *("\n", "\n\n", "\n# ", "\n- ", "\n1. ", "\n> ", "\n---\n", "\n| --- |\n", "\t", "  ", "\r"),
    *("<", ">", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?", "<!DOCTYPE", "<script>", "<p>", "&"),
    *("&amp;", "&lt;", "&eacute;", "&nbsp;", "&lol;", "&#0;", "&#1114112;", '"', "'"),
    *("\x00", "\x07", "\x1b[2J", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u2028", "\u202e"),
    *(
        "\ufeff",
        "\ufffe",
        "\U000e0041",
        "é",
        "e\u0301",
        "中文",
        "𝔘",
        "β",
        "10.1000/a",
        "PMID: 1234",
    ),
    *("https://a.test/x", "javascript:alert(1)", "[x](data:y)", "Abstract", "References", "word"),
    *("Title: x", "URL Source: https://a.test", "Warning: x", "Number of Pages: ²", "PMC123"),
)
texts: SearchStrategy[str] = st.lists(
    st.sampled_from(SPECIAL) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    max_size=8,
).map("".join)
any_bytes: SearchStrategy[bytes] = st.binary(max_size=200) | st.builds(
    lambda text, charset: text.encode(charset, "replace"),
    texts,
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "shift_jis"]),
)
NO_TEXT_CHARSETS = ("idna", "hex", "no-such", "no\0such")
charsets = st.sampled_from(["", "utf-8", "latin-1", "utf-16", "utf-7", *NO_TEXT_CHARSETS])

Step = tuple[str, str]


def trees(
    tags: Sequence[str], attributes: Sequence[str], well_formed: bool = True, most: int = 30
) -> SearchStrategy[str]:
    """Markup of random tags; unless *well_formed*, text is not escaped and ends may be missing."""
    opened = st.tuples(
        st.sampled_from(sorted(tags)),
        st.lists(st.sampled_from(attributes), max_size=2),
    )
    steps = st.lists(opened | opened | texts | st.none() | st.none(), max_size=most)
    return steps.map(lambda row: _written(row, well_formed))


def _written(steps: Iterable[object], well_formed: bool) -> str:
    made: list[str] = []
    standing: list[str] = []
    for step in steps:
        if isinstance(step, tuple):
            tag, attributes = step
            by_name = {each.partition("=")[0]: each for each in attributes}
            made.append(" ".join([f"<{tag}", *by_name.values()]) + ">")
            standing.append(tag)
        elif isinstance(step, str):
            made.append(escape(_valid(step)) if well_formed else step)
        elif standing:
            made.append(f"</{standing.pop()}>")
    if well_formed:
        made += [f"</{tag}>" for tag in reversed(standing)]
    return "".join(made)


def _valid(text: str) -> str:
    """Without the characters XML 1.0 has no place for."""
    return "".join(
        char for char in text if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff")
    )


JSON_NAMES = (
    *("@type", "@graph", "author", "name", "headline", "license", "url", "value", "identifier"),
    *("isAccessibleForFree", "mainEntity", "description", "sameAs", "encoding"),
)
json_texts: SearchStrategy[str] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(JSON_NAMES), inner | st.just("ScholarlyArticle"), max_size=4
        )
    ),
    max_leaves=8,
).map(json.dumps)


@st.composite
def broken(draw: DrawFn, wholes: Sequence[bytes]) -> bytes:
    """A whole paper, cut, flipped, repeated, mixed up."""
    body = draw(st.sampled_from(wholes))
    place = st.integers(0, 1 << 20)
    for kind in draw(st.lists(st.sampled_from("cfdsi"), min_size=1, max_size=4)):
        at = draw(place) % (len(body) + 1)
        size = draw(st.integers(0, 600))
        head, span, tail = body[:at], body[at : at + size], body[at + size :]
        if kind == "c":
            body = draw(st.sampled_from([head, tail, head + tail]))
        elif kind == "f" and at < len(body):
            body = head + bytes([body[at] ^ (1 + size % 255)]) + body[at + 1 :]
        elif kind == "d":
            body = head + span * draw(st.integers(2, 12)) + tail
        elif kind == "s":
            cut = draw(place) % (len(tail) + 1)
            body = head + tail[:cut] + span + tail[cut:]
        elif kind == "i":
            body = head + draw(any_bytes) + body[at:]
    return body


# --- valid articles, and the words in them -------------------------------------------------------


class Words:
    """Hands out words nobody can mistake, each once."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.given: list[str] = []

    def some(self) -> str:
        """A few words, with signs between them that mean something in markdown or in markup."""
        between = self.draw(st.sampled_from([" ", " ", " * ", " < ", " | ", " _ ", " & ", " [1] "]))
        return escape(between.join(self.one() for _ in range(self.draw(st.integers(1, 3)))))

    def one(self) -> str:
        self.given.append(f"k{len(self.given)}q")
        return self.given[-1]


Part = Callable[[Words, int], str]


def _running(words: Words, inline: Sequence[str]) -> str:
    """A line of text in which some words are marked up, always with blanks between them."""
    pieces = [words.some()]
    for mark in words.draw(st.lists(st.sampled_from(inline), max_size=2)):
        pieces += [f"<{mark}>{words.one()}</{mark.split()[0]}>", words.some()]
    return " ".join(pieces)


def _parts(words: Words, parts: Sequence[Part], depth: int, most: int = 3) -> str:
    choice = parts if depth < 3 else parts[:1]
    chosen = words.draw(st.lists(st.sampled_from(choice), min_size=1, max_size=most))
    return "".join(part(words, depth + 1) for part in chosen)


_JATS_INLINE = ("italic", "bold", "sup", "sub", "underline", "sc", "monospace", "named-content")


def _p(words: Words, _depth: int) -> str:
    return f"<p>{_running(words, _JATS_INLINE)}</p>"


def _sec(words: Words, depth: int) -> str:
    return f"<sec><title>{words.some()}</title>{_parts(words, _JATS, depth)}</sec>"


def _list(words: Words, depth: int) -> str:
    kind = words.draw(st.sampled_from(["bullet", "order", "alpha-lower", "simple"]))
    items = [
        f"<list-item>{_parts(words, _JATS_IN_ITEM, depth, 2)}</list-item>"
        for _ in range(words.draw(st.integers(1, 3)))
    ]
    return f'<list list-type="{kind}">{"".join(items)}</list>'


def _definitions(words: Words, _depth: int) -> str:
    item = f"<def-item><term>{words.some()}</term><def>{_p(words, 0)}</def></def-item>"
    return f"<def-list>{item}</def-list>"


def _rows(words: Words, cell: str, rows: int, columns: int, inline: Sequence[str]) -> str:
    return "".join(
        "<tr>"
        + "".join(f"<{cell}>{_running(words, inline)}</{cell}>" for _ in range(columns))
        + "</tr>"
        for _ in range(rows)
    )


def _grid(words: Words, inline: Sequence[str]) -> str:
    columns = words.draw(st.integers(2, 3))
    head = f"<thead>{_rows(words, 'th', 1, columns, inline)}</thead>"
    height = words.draw(st.integers(1, 3))
    return f"{head}<tbody>{_rows(words, 'td', height, columns, inline)}</tbody>"


def _table(words: Words, _depth: int) -> str:
    label = words.one()
    caption = f"<caption><title>{words.some()}</title><p>{words.some()}</p></caption>"
    return (
        f"<table-wrap><label>{label}</label>{caption}"
        f"<table>{_grid(words, _JATS_INLINE)}</table></table-wrap>"
    )


def _figure(words: Words, _depth: int) -> str:
    label = words.one()
    caption = f"<caption><title>{words.some()}</title><p>{words.some()}</p></caption>"
    return f"<fig><label>{label}</label>{caption}</fig>"


def _quote(words: Words, depth: int) -> str:
    return f"<disp-quote>{_p(words, depth)}<attrib>{words.some()}</attrib></disp-quote>"


def _box(words: Words, depth: int) -> str:
    caption = f"<caption><title>{words.some()}</title></caption>"
    return f"<boxed-text>{caption}{_parts(words, _JATS_IN_ITEM, depth)}</boxed-text>"


_JATS_IN_ITEM: tuple[Part, ...] = (_p, _list)
_JATS: tuple[Part, ...] = (_p, _sec, _list, _definitions, _table, _figure, _quote, _box)


@st.composite
def articles_in_jats(draw: DrawFn) -> tuple[str, list[str]]:
    """An article and its words in the order of the text."""
    words = Words(draw)
    title = f"<title-group><article-title>{words.some()}</article-title></title-group>"
    abstract = f"<abstract>{_p(words, 0)}</abstract>"
    body = f"<body>{_parts(words, (_sec,), 0)}</body>"
    back = f"<back><ack><title>{words.some()}</title>{_p(words, 0)}</ack></back>"
    front = f"<front><article-meta>{title}{abstract}</article-meta></front>"
    return f"<article>{front}{body}{back}</article>", words.given


_HTML_INLINE = ("em", "strong", "b", "i", "sup", "sub", 'a href="https://a.test/y"', "span")


def _html_p(words: Words, _depth: int) -> str:
    return f"<p>{_running(words, _HTML_INLINE)}</p>"


def _html_section(words: Words, depth: int) -> str:
    level = min(6, depth + 1)
    inner = f"<h{level}>{words.some()}</h{level}>{_parts(words, _HTML, depth)}"
    return f"<section>{inner}</section>"


def _html_list(words: Words, depth: int) -> str:
    kind = words.draw(st.sampled_from(["ul", "ol"]))
    items = "".join(
        f"<li>{_running(words, _HTML_INLINE)}"
        f"{_html_list(words, depth + 1) if depth < 3 and words.draw(st.booleans()) else ''}</li>"
        for _ in range(words.draw(st.integers(1, 3)))
    )
    return f"<{kind}>{items}</{kind}>"


def _html_table(words: Words, _depth: int) -> str:
    return f"<table><caption>{words.some()}</caption>{_grid(words, _HTML_INLINE)}</table>"


def _html_figure(words: Words, _depth: int) -> str:
    caption = f"<figcaption>{_running(words, _HTML_INLINE)}</figcaption>"
    return f'<figure><img src="/f.png" alt="">{caption}</figure>'


def _html_quote(words: Words, depth: int) -> str:
    return f"<blockquote>{_html_p(words, depth)}</blockquote>"


def _html_box(words: Words, depth: int) -> str:
    return f"<div>{_parts(words, _HTML, depth)}</div>"


def _html_definitions(words: Words, _depth: int) -> str:
    return f"<dl><dt>{words.some()}</dt><dd>{_running(words, _HTML_INLINE)}</dd></dl>"


_HTML: tuple[Part, ...] = (
    *(_html_p, _html_section, _html_list, _html_table, _html_figure, _html_quote, _html_box),
    _html_definitions,
)


@st.composite
def articles_in_html(draw: DrawFn) -> tuple[str, list[str]]:
    """An article's page and its words in the order of the text."""
    words = Words(draw)
    title = words.some()
    inner = f"<h1>{title}</h1>{_parts(words, (_html_section, _html_p), 0)}"
    box = draw(st.sampled_from(["<article>{}</article>", "<main>{}</main>", "<div>{}</div>"]))
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{{}}</body></html>"
    return page.format(box.format(inner)), words.given
