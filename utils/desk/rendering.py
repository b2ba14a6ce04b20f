"""Turn the Markdown of a paper into HTML that cannot harm.

The text came from the web. markdown-it renders Markdown with HTML switched off: a tag in the text
is shown as text. On top of that

- ``<sub>``, ``<sup>`` and ``<u>``, which the readers write, become elements, if both ends are
  there;
- a link leads only to ``http``, ``https`` or ``mailto``, and a picture is shown as its description,
  so that nothing is loaded from another machine;
- a formula becomes MathML (`.formulas`), or is shown as the LaTeX source that the paper gives;
- a citation such as ``[3, 5]`` leads to the references of the paper, and a reference leads to the
  paper on the shelf if it is there;
- letters that deceive (direction overrides, invisible characters) are removed before.

Headings get the names ``s-1``, ``s-2`` …, and references ``ref-1``, ``ref-2`` ….
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from ..model.identifiers import Ids
from ..system.plain_text import clean_text
from .formulas import convert_formula

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_TAG = re.compile(r"<(sub|sup|u)>")
_FORMULA = re.compile(r"\$\$[^$]{1,20000}\$\$|\$(?=\S)[^$\n]{1,500}(?<=\S)\$")
_CITATION = re.compile(r"\[(\d{1,4}(?:\s?[,–-]\s?\d{1,4}){0,20})\]")
_NUMBER = re.compile(r"\d+")
_SAFE_LINK = re.compile(r"(?:https?://|mailto:|#)", re.I)
_REFERENCES = re.compile(
    r"(?:\d+\.?\s*)?(?:references|bibliography|literature cited|works cited)\W*", re.I
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s<>\"]+[^\s<>\".,;)\]]")
_PMID = re.compile(r"\bpmid:?\s?(\d{1,8})\b", re.I)
_MAX_CHARS = 2_000_000
_MAX_RAISED_CHARS = 2000
_MAX_NESTING = 20
FindPapers = Callable[[Sequence[Ids]], dict[Ids, str]]
"""Returns the addresses of the papers that are on the shelf, by their identifiers."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a text: its level, its words and its name in the page."""

    level: int
    words: str
    name: str


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A text as HTML, and its headings."""

    html: str
    headings: tuple[Heading, ...]
    references: int


def render_text(markdown: str, find_papers: FindPapers) -> RenderedText:
    """Render the Markdown of a paper, without the header of its file.

    Parameters
    ----------
    markdown : str
    find_papers : callable
        Finds the cited papers that are on the shelf.
    """
    parser = _make_parser()
    tokens = parser.parse(clean_text(markdown[:_MAX_CHARS]))
    if [token.tag for token in tokens[:1]] == ["h1"]:
        tokens = tokens[3:]  # the title, which the page has already
    headings = tuple(_name_headings(tokens))
    for token in tokens:
        if style := token.attrs.pop("style", ""):  # of a cell; no style is allowed inline
            token.attrSet("class", str(style).removeprefix("text-align:"))
    items = _find_reference_items(tokens)
    cited = [_find_ids(words) for _, words in items]
    places = find_papers([ids for ids in cited if ids])
    for number, ((token, _), ids) in enumerate(zip(items, cited, strict=True), 1):
        token.attrSet("id", f"ref-{number}")
        token.meta["shelf"] = places.get(ids, "")
    html = parser.renderer.render(tokens, parser.options, {"references": len(items)})
    return RenderedText(html, headings, len(items))


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    parser.validateLink = lambda url: bool(_SAFE_LINK.match(url))  # type: ignore[method-assign]
    parser.inline.ruler.before("escape", "formula", _parse_formula)
    parser.inline.ruler.before("autolink", "raised", _parse_raised)
    for name, rule in (
        ("text", _render_words),
        ("image", _render_picture),
        ("link_open", _render_link),
        ("list_item_open", _render_item),
        ("table_open", _render_table_start),
        ("table_close", lambda *_: "</table></div>\n"),
        ("formula", _render_formula),
    ):
        parser.add_render_rule(name, rule)
    return parser


def _parse_formula(state: StateInline, silent: bool) -> bool:
    """Read a formula between dollar signs."""
    if state.src[state.pos] != "$" or not (found := _FORMULA.match(state.src, state.pos)):
        return False
    if not silent:
        token = state.push("formula", "code", 0)
        token.content = found[0]
    state.pos = found.end()
    return True


def _parse_raised(state: StateInline, silent: bool) -> bool:
    """Read ``<sub>``, ``<sup>`` or ``<u>`` with its end; any other tag stays text."""
    found = _TAG.match(state.src, state.pos)
    if not found or state.level > _MAX_NESTING:
        return False
    most = min(state.posMax, found.end() + _MAX_RAISED_CHARS)
    end = state.src.find(f"</{found[1]}>", found.end(), most)
    if end < 0:
        return False
    if not silent:
        last = state.posMax
        state.pos, state.posMax = found.end(), end
        state.push("raised_open", found[1], 1)
        state.md.inline.tokenize(state)
        state.push("raised_close", found[1], -1)
        state.posMax = last
    state.pos = end + len(found[1]) + 3
    return True


def _name_headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give every heading a name, and at least the second level; yield the headings."""
    number = 0
    for at, token in enumerate(tokens):
        if token.type not in ("heading_open", "heading_close"):
            continue
        level = int(token.tag[1])
        token.tag = f"h{max(level, 2)}"
        if token.type == "heading_open":
            number += 1
            token.attrSet("id", f"s-{number}")
            yield Heading(level, _to_words(tokens[at + 1]), f"s-{number}")


def _to_words(token: Token) -> str:
    """Return the words of an inline token without markup."""
    return "".join(one.content for one in token.children or () if one.content)


def _find_reference_items(tokens: Sequence[Token]) -> list[tuple[Token, str]]:
    """Return the items of the reference list, each with its text."""
    found: list[tuple[Token, list[str]]] = []
    in_list, in_item = False, False
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            in_list = bool(_REFERENCES.fullmatch(_to_words(tokens[at + 1])))
        elif token.type == "list_item_open" and token.level <= 1:
            in_item = in_list
            if in_list:
                found.append((token, []))
        elif token.type == "list_item_close" and token.level <= 1:
            in_item = False
        elif in_item:
            found[-1][1].append(token.content)
    return [(token, " ".join(words)) for token, words in found]


def _find_ids(reference: str) -> Ids:
    """Return the identifiers that a printed reference names."""
    doi, pmid = _DOI.search(reference), _PMID.search(reference)
    found = Ids.maybe(doi[0]) if doi else Ids()
    return found | Ids.maybe(f"pmid:{pmid[1]}") if pmid else found


def _render_words(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, env: Any
) -> str:
    """Escape words, and link the numbers of citations to the references."""
    text = tokens[at].content
    most = env["references"]
    if not most or "[" not in text:
        return escape(text)

    def link_number(found: re.Match[str]) -> str:
        number = int(found[0])
        return f'<a href="#ref-{number}">{number}</a>' if 1 <= number <= most else found[0]

    pieces, last = [], 0
    for found in _CITATION.finditer(text):
        numbers = _NUMBER.sub(link_number, found[1])
        pieces += [escape(text[last : found.start()]), f'<span class="cited">[{numbers}]</span>']
        last = found.end()
    return "".join([*pieces, escape(text[last:])])


def _render_picture(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any
) -> str:
    """Show the description of a picture in its place."""
    return f'<span class="picture">[{escape(tokens[at].content or "picture")}]</span>'


def _render_link(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any
) -> str:
    """Open links of other sites in a window of their own, which learns nothing of the desk."""
    if not str(tokens[at].attrGet("href") or "").startswith("#"):
        tokens[at].attrSet("target", "_blank")
        tokens[at].attrSet("rel", "noreferrer noopener")
    return str(renderer.renderToken(tokens, at, options, env))


def _render_item(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any
) -> str:
    """Show at a reference that its paper is on the shelf."""
    start = str(renderer.renderToken(tokens, at, options, env))
    place = tokens[at].meta.get("shelf")
    return f'{start}<a class="here" href="{escape(place)}">on your shelf</a> ' if place else start


def _render_table_start(*_: Any) -> str:
    """Let a wide table scroll by itself, by keyboard too."""
    return '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'


def _render_formula(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any
) -> str:
    """Show a formula as MathML; as its LaTeX source where it cannot be converted."""
    text = tokens[at].content
    source = text.strip("$").strip()
    converted = convert_formula(source, is_block=text.startswith("$$"))
    return converted or f'<code class="formula">{escape(source)}</code>'
