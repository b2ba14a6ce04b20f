r"""What stands before the text: class, packages, title, authors, abstract, kinds of theorems."""

from __future__ import annotations

from typing import Final

from .tokens import joined
from .walk import Command, Walk

_BREAKS: Final = frozenset(("\\and", "\\And", "\\AND", "\\\\", "\\newline", "\\par", "\\quad"))
_NOT_NAMES: Final = frozenset(
    rf"\{name}"
    for name in (
        *(
            "thanks",
            "footnote",
            "inst",
            "email",
            "orcid",
            "orcidlink",
            "footnotemark",
            "textsuperscript",
        ),
        *("affiliation", "address", "IEEEauthorrefmark", "IEEEmembership", "altaffilmark", "fnref"),
        *(
            "thanksref",
            "institute",
            "corref",
            "cor",
            "orcidID",
            "affil",
            "url",
            "href",
            "ead",
            "vspace",
        ),
    )
)


def _title(walk: Walk) -> None:
    walk.gullet.option()
    tokens = walk.gullet.argument(long=True)
    walk.front.title = walk.front.title or walk.line(_without_notes(tokens))


def _author(walk: Walk) -> None:
    walk.gullet.option()
    told: list[str] = []
    for lexeme in _without_notes(walk.gullet.argument(long=True)):
        if lexeme in _BREAKS:
            walk.front.authors.append(walk.line(told))
            # After a line break comes where the author works.
            walk.front.authors.append("\n" if lexeme in ("\\\\", "\\newline", "\\par") else "")
            told = []
        else:
            told.append(lexeme)
    walk.front.authors += [walk.line(told), ""]


def _without_notes(tokens: list[str]) -> list[str]:
    """Without thanks, addresses and marks."""
    kept: list[str] = []
    depth, dropping = 0, -1
    awaiting = False  # the argument of a command that is no name
    for lexeme in tokens:
        depth += lexeme == "{"
        if awaiting and lexeme == "{":
            dropping, awaiting = depth, False
        elif lexeme in _NOT_NAMES and dropping < 0:
            awaiting = True
        elif dropping < 0 and not (awaiting and lexeme in (" ", "*")):
            awaiting = False
            kept.append(lexeme)
        depth -= lexeme == "}"
        if depth < dropping:
            dropping = -1
    return kept


def _abstract(walk: Walk) -> None:
    r"""``\abstract{…}``, in some journals several arguments long."""
    while walk.gullet.peek() == "{":
        with walk.apart(walk.gullet.argument(long=True)) as blocks:
            pass
        walk.front.abstract += blocks


def _keywords(walk: Walk) -> None:
    walk.front.keywords = walk.front.keywords or walk.line(walk.gullet.argument(long=True))


def _doi(walk: Walk) -> None:
    walk.front.doi = walk.front.doi or joined(walk.gullet.argument()).strip()


def _document_class(walk: Walk) -> None:
    options = joined(walk.gullet.option() or [])
    name = joined(walk.gullet.argument()).strip()
    walk.numbers.follow(name)
    walk.has_chapters = name.endswith(("book", "report", "thesis"))
    walk.bibliography.follow(name, options)


def _usepackage(walk: Walk) -> None:
    options = joined(walk.gullet.option() or [])
    for name in joined(walk.gullet.argument()).split(","):
        walk.bibliography.follow(name.strip(), options)
        if file := walk.submission.find(name, walk.folder, ".sty"):
            walk.insert(file)


def _newtheorem(walk: Walk) -> None:
    starred = walk.gullet.star()
    name = joined(walk.gullet.argument()).strip()
    shared = walk.gullet.option()
    said = walk.line(walk.gullet.argument(long=True))
    within = walk.gullet.option()
    counter = joined(shared).strip() if shared else name
    if shared and counter in walk.theorems:
        counter = walk.theorems[counter][0]
    if within and not shared:
        walk.numbers.put_within(counter, joined(within).strip())
    if len(walk.theorems) < 500:
        walk.theorems[name] = ("" if starred else counter, said)


FRONT: Final[dict[str, Command]] = {
    **dict.fromkeys(("title", "icmltitle", "Title"), _title),
    **dict.fromkeys(("author", "Author", "IEEEauthorblockN", "icmlauthor"), _author),
    **dict.fromkeys(("keywords", "keyword"), _keywords),
    **dict.fromkeys(("usepackage", "RequirePackage"), _usepackage),
    **dict.fromkeys(("documentclass", "documentstyle"), _document_class),
    "abstract": _abstract,
    "doi": _doi,
    "newtheorem": _newtheorem,
}
