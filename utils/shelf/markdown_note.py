"""Convert a paper's text to a Markdown note with YAML front matter, and back.

::

    ---
    title: "On moss"
    authors:
      - "Roe, Jane"
    year: 2019
    citekey: "roe2019moss"
    tags:
      - "papershelf/full-text"
    kind: "full_text"
    pdf: "[[10.1000_moss.pdf]]"
    ---

    # On moss

    …

    <!-- papershelf:links -->

    ## Cites on this shelf

    - [[10.1000_fern|Doe 2017: On fern]]

    <!-- papershelf:end -->

1. The front matter has the header of the text file (`.paper_file`), under other names, so that both
   forms convert into each other without loss.
2. Every string is a JSON string, in which YAML knows no other escapes: no title can end the front
   matter. Characters that YAML does not print are escaped, too.
3. `NoteFacts` (tags, citation key, PDF, links) are made again whenever a note is written.
4. Properties and tags that a person adds, and text below the last mark, stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..model.permissions import PERMISSION_COLUMNS
from ..system.plain_text import one_line
from .paper_file import (
    NOTE,
    RETRACTED,
    PaperFile,
    format_paper_file,
    parse_paper_file,
    strip_ending,
)

if TYPE_CHECKING:
    import yaml

PROPERTIES = {
    "Title": "title", "Authors": "authors", "Journal": "journal", "Year": "year", "DOI": "doi",
    "PMID": "pmid", "PMCID": "pmcid", "arXiv": "arxiv", "S2": "s2", "License": "license",
    "Terms": "terms", "Source": "source", "Via": "via", "Version": "version",
    "PreprintVersion": "preprint_version", "Retrieved": "retrieved", "Kind": "kind",
    "Verdict": "verdict", "Evidence": "evidence", "Note": "note",
}  # fmt: skip
"""The names of the header's values in front matter, in the order of the header."""
_MADE = ("citekey", "tags", "keywords", "pdf", *PERMISSION_COLUMNS, "retracted")
_OUR_TAG = "papershelf/"
_FENCE = "---\n"
_FRONT_MATTER = re.compile(r"---\n(.*?^)---\n\n?", re.M | re.S)
_LONGEST_FRONT_MATTER = 2_000_000  # characters; one of 10,000 authors has 300,000
_CALLOUT = f"> [!warning] {RETRACTED}\n\n"
_LINKS, _END = "\n<!-- papershelf:links -->\n", "<!-- papershelf:end -->\n"
_HEADING = "## Cites on this shelf"
# What YAML 1.1 does not print, or takes for a line break.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_YEAR = re.compile(r"[1-9]\d{3}", re.A)
_NOT_IN_LINKS = re.compile(r"[\[\]#^|]")


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """The facts of a note beyond its text.

    Parameters
    ----------
    citekey : str
        The citation key.
    tags : tuple of str
        Our own tags, which begin with ``papershelf/``.
    keywords : tuple of str
        The authors' keywords, or the subject headings.
    pdf : str
        The link to the PDF; empty where there is none.
    permissions : dict, optional
        Whether the text may be shared, mined, and used for training (`..model.permissions`).
    cited : tuple of tuple
        File name and description of each paper on the shelf that the paper cites.
    """

    citekey: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    pdf: str = ""
    permissions: Mapping[str, str] = field(default_factory=dict)
    cited: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _NoteParts:
    """The parts of a note; a person wrote the front-matter lines ``own`` and the text ``notes``.

    ``values`` is None for front matter that cannot be read.
    """

    values: dict[str, str | list[str]] | None
    body: str
    own: str = ""
    notes: str = ""
    tags: tuple[str, ...] = field(default=())


def text_to_note(text: str, extras: NoteFacts, before: str = "") -> str:
    """Return a text file as a Markdown note.

    Parameters
    ----------
    text : str
        The file as plain text, with its header.
    extras : Extras
    before : str, optional
        The note as it was, of which a person's additions are kept.

    Raises
    ------
    ValueError
        The text has no header of ours.
    """
    file = parse_paper_file(text)
    if file is None:
        raise ValueError("a text without our header cannot be a note")
    old = _split_note(before)
    lines = [*_format_front_matter(file, extras, old.tags if old else ())]
    cited = "".join(f"- {_format_file_link(*one)}\n" for one in extras.cited)
    links = f"\n{_HEADING}\n\n{cited}\n" if cited else ""
    callout = _CALLOUT if file.retracted else ""
    return (
        f"{_FENCE}{''.join(lines)}{old.own if old else ''}{_FENCE}\n"
        f"{callout}{file.body}{_LINKS}{links}{_END}{old.notes if old else ''}"
    )


def note_to_text(note: str, otherwise: PaperFile | None = None) -> str | None:
    """Return a note as a plain text file; None for a note that is not a paper's.

    Parameters
    ----------
    note : str
        The note.
    otherwise : PaperFile, optional
        The header to be used where a person left front matter that YAML cannot read.
    """
    parts = _split_note(note)
    if parts is None:
        return None
    if parts.values is None:
        if otherwise is None:
            return None
        return format_paper_file(PaperFile(otherwise.header, parts.body, otherwise.retracted))
    header = {
        key: _join_property_values(parts.values[name])
        for key, name in PROPERTIES.items()
        if name in parts.values
    }
    if "Kind" not in header or "Title" not in header:
        return None
    retracted = parts.values.get("retracted") == "true"
    body = parts.body.removeprefix(_CALLOUT) if retracted else parts.body
    return format_paper_file(PaperFile(header, body, retracted))


def read_citekey(note: str) -> str:
    """Return the citation key of a note; "" if it has none."""
    parts = _split_note(note)
    key = (parts.values or {}).get("citekey", "") if parts else ""
    return key if isinstance(key, str) else ""


def has_user_additions(note: str) -> bool:
    """Return whether a person added properties, tags or text to a note."""
    parts = _split_note(note)
    return parts is not None and bool(
        parts.own or parts.notes or any(not tag.startswith(_OUR_TAG) for tag in parts.tags)
    )


def _split_note(note: str) -> _NoteParts | None:
    """Return the parts of a note; None if it has no front matter."""
    note = note.replace("\r\n", "\n").removeprefix("\ufeff")
    found = _FRONT_MATTER.match(note)
    if found is None or len(found[1]) > _LONGEST_FRONT_MATTER:
        return None
    body, _, rest = note[found.end() :].rpartition(_LINKS)
    if not rest and _LINKS not in note:
        body, rest = note[found.end() :], _END
    notes = rest.partition(_END)[2]
    blocks = _read_properties(found[1])
    if blocks is None:
        kept = f"```yaml\n{found[1]}```\n"
        return _NoteParts(None, body, notes=f"{notes}\n{kept}")
    values = {name: value for name, (value, _) in blocks.items() if value is not None}
    ours = {*PROPERTIES.values(), *_MADE}
    own = "".join(lines for name, (_, lines) in blocks.items() if name not in ours)
    tags = values.get("tags", [])
    return _NoteParts(values, body, own, notes, tuple([tags] if isinstance(tags, str) else tags))


def _read_properties(front: str) -> dict[str, tuple[str | list[str] | None, str]] | None:
    """Return value and lines of each property; None if YAML cannot read the front matter.

    A value is None where it is neither a word nor a list of words.
    """
    import yaml  # not at the start of each command: few shelves have notes

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        node = yaml.compose(front, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    if not isinstance(node, yaml.MappingNode):
        return None
    starts = [key.start_mark.line for key, _ in node.value]
    lines = front.split("\n")[:-1]
    blocks: dict[str, tuple[str | list[str] | None, str]] = {}
    for (key, value), start, end in zip(node.value, starts, [*starts[1:], len(lines)], strict=True):
        if not isinstance(key, yaml.ScalarNode) or key.value in blocks or start == end:
            return None
        blocks[key.value] = (
            _read_property_value(value),
            "".join(f"{one}\n" for one in lines[start:end]),
        )
    return blocks


def _read_property_value(node: yaml.Node) -> str | list[str] | None:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    words = node.value if isinstance(node, yaml.SequenceNode) else [node]
    if all(isinstance(word, yaml.ScalarNode) for word in words):
        return [str(word.value) for word in words]
    return None


def _join_property_values(value: str | list[str]) -> str:
    return one_line("; ".join(value) if isinstance(value, list) else value)


def _format_front_matter(
    file: PaperFile, extras: NoteFacts, tags: tuple[str, ...]
) -> Iterator[str]:
    """Yield the lines of front matter; *tags* are the tags that the note had before."""
    header = {PROPERTIES.get(key, key): value for key, value in file.header.items()}
    authors = header.pop("authors", "")
    title, journal, year = (header.pop(name, "") for name in ("title", "journal", "year"))
    yield f"title: {_quote_yaml(title)}\n"
    yield from _format_yaml_list("authors", authors.split("; ") if authors else [])
    yield f"journal: {_quote_yaml(journal)}\n"
    yield f"year: {year if _YEAR.fullmatch(year) else _quote_yaml(year)}\n"
    if extras.citekey:
        yield f"citekey: {_quote_yaml(extras.citekey)}\n"
    own_tags = [tag for tag in tags if not tag.startswith(_OUR_TAG)]
    yield from _format_yaml_list("tags", list(dict.fromkeys([*extras.tags, *own_tags])))
    if extras.keywords:
        yield from _format_yaml_list("keywords", list(extras.keywords))
    if extras.pdf:
        yield f"pdf: {_quote_yaml(extras.pdf)}\n"
    yield from (f'{name}: "{answer}"\n' for name, answer in extras.permissions.items())
    if file.retracted:
        yield "retracted: true\n"
    yield from (f"{name}: {_quote_yaml(value)}\n" for name, value in header.items())


def _format_yaml_list(name: str, values: list[str]) -> Iterator[str]:
    yield f"{name}:\n" if values else f"{name}: []\n"
    yield from (f"  - {_quote_yaml(value)}\n" for value in values)


def _quote_yaml(value: str) -> str:
    r"""Return a string as a double-quoted YAML string.

    >>> _quote_yaml('On "moss": a\u2028note')
    '"On \\"moss\\": a\\u2028note"'
    """
    plain = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", plain)


def _format_file_link(file: str, description: str) -> str:
    """Return a wiki link to a file, or a Markdown link if wiki links forbid its name.

    >>> _format_file_link("10.1000_b.md", "On | moss")
    '[[10.1000_b|On   moss]]'
    >>> _format_file_link("10.1000_b#c.md", "On moss")
    '[On moss](10.1000_b%23c.md)'
    """
    plain = _NOT_IN_LINKS.sub(" ", description)
    if file.endswith(NOTE) and not _NOT_IN_LINKS.search(file):
        return f"[[{strip_ending(file)}|{plain}]]"
    return f"[{plain}]({quote(file)})"
