"""What stands before the text: class, packages, title, authors, abstract, kinds of theorems.

Packages among a paper's files: read for the commands they define, never for what they set.

Journals' and conferences' styles are full of TeX's machinery, which means nothing here. Only such
definitions count as a text could have made itself; packages whose commands this reader knows are
skipped.
"""

from __future__ import annotations

import re
from typing import Final

from .signs import LARGE
from .tokens import joined
from .walk import Command, Walk

_BREAKS: Final = frozenset(("\\and", "\\And", "\\AND", "\\\\", "\\newline", "\\par", "\\quad"))
_NOT_IN_NAMES: Final = frozenset(
    rf"\{name}"
    for name in (
        *("thanks", "footnote", "inst", "email", "orcid", "orcidlink", "footnotemark"),
        *("affiliation", "address", "IEEEauthorrefmark", "IEEEmembership", "altaffilmark", "fnref"),
        *("thanksref", "institute", "corref", "cor", "orcidID", "affil", "url", "href", "ead"),
        *("vspace", "textsuperscript"),
    )
)
_MOST_WORDS: Final = 150  # between authors and title that are no text
_DEEPEST: Final = 8  # packages that load each other
_DECLARATIONS: Final = frozenset(("newtheorem", "RequirePackage", "usepackage", "numberwithin"))
_WELL_KNOWN: Final = re.compile(
    r"natbib|bibunits|biblatex.*|cite|ams\w+|graphic[sx]|epsf\w*|psfig|x?color|hyperref|url|cleveref"
    r"|siunitx|mathtools|tikz.*|pgf.*|pst.*|pstricks|xy(?:pic)?|diagrams?|diagxy|forest|algorithm\w*"
    r"|algpseudocode\w*|algcompatible|sub(?:figure|caption|fig)|caption\d?|booktabs|multirow"
    r"|longtable|tabular\w|array|float|wrapfig|fancyhdr|geometry|setspace|enumitem|listings|minted"
    r"|times|microtype|babel|inputenc|fontenc|etoolbox|xspace|ifthen|calc|keyval|revsymb|lineno"
    r"|pdfpages|standalone|import|subfiles|todonotes|tcolorbox|mdframed|adjustbox|rotating"
)


def _begin_front(walk: Walk) -> None:
    if walk.in_document and walk.front.addresses_at is None:
        walk.end_paragraph()
        walk.front.addresses_at = walk.blocks, len(walk.blocks)


def end_front(walk: Walk) -> None:
    """Drop what stands between the authors and here: addresses by commands nobody knows.

    More than addresses ever take, or a heading among it, is text.
    """
    if walk.front.addresses_at is None or walk.front.addresses_at[0] is not walk.blocks:
        return
    walk.end_paragraph()
    start = walk.front.addresses_at[1]
    blocks = walk.blocks[start:]
    words = sum(len(block.split()) for block in blocks)
    if words <= _MOST_WORDS and not any(block.startswith("#") for block in blocks):
        del walk.blocks[start:]


def _maketitle(walk: Walk) -> None:
    end_front(walk)
    walk.front.addresses_at = [], 0


def _address(walk: Walk) -> None:
    """An address on the net, in which a percent sign begins no comment."""
    walk.stream.take_star()
    walk.stream.take_option()
    walk.stream.take_address()


def _title(walk: Walk) -> None:
    walk.stream.take_option()
    tokens = walk.stream.take_argument(long=True)
    walk.front.title = walk.front.title or walk.line(_without_notes(tokens))
    walk.front.is_opening = not walk.front.title


def _large(walk: Walk) -> None:
    """Mark what may be the title of a page set by hand."""
    if walk.in_document and walk.front.is_opening and walk.scopes:
        walk.write(LARGE[0])
        walk.scopes[-1].mark = LARGE[1] + walk.scopes[-1].mark


def _author(walk: Walk) -> None:
    _begin_front(walk)
    walk.stream.take_star()
    walk.stream.take_option()
    name: list[str] = []
    for lexeme in _without_notes(walk.stream.take_argument(long=True)):
        if lexeme in _BREAKS:
            walk.front.authors.append(walk.line(name))
            # After a line break comes where the author works.
            walk.front.authors.append("\n" if lexeme in ("\\\\", "\\newline", "\\par") else "")
            name = []
        else:
            name.append(lexeme)
    walk.front.authors += [walk.line(name), ""]


def _without_notes(tokens: list[str]) -> list[str]:
    """Without thanks, addresses and marks."""
    kept: list[str] = []
    depth, dropping = 0, -1
    awaiting = False  # the argument of a command that is no name
    for lexeme in tokens:
        depth += lexeme == "{"
        if awaiting and lexeme == "{":
            dropping, awaiting = depth, False
        elif lexeme in _NOT_IN_NAMES and dropping < 0:
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
    end_front(walk)
    outer, walk.in_abstract = walk.in_abstract, True
    while walk.stream.peek() == "{":
        with walk.apart(walk.stream.take_argument(long=True)) as blocks:
            pass
        walk.front.abstract += blocks
    walk.in_abstract = outer


def _keywords(walk: Walk) -> None:
    walk.front.keywords = walk.front.keywords or walk.take_line()


def _doi(walk: Walk) -> None:
    walk.front.doi = walk.front.doi or walk.stream.take_text()


def _document_class(walk: Walk) -> None:
    options = joined(walk.stream.take_option() or [])
    name = walk.stream.take_text()
    walk.numbers.adopt(name)
    walk.has_chapters = name.endswith(("book", "report", "thesis"))
    walk.bibliography.adopt(name, options)


def _usepackage(walk: Walk) -> None:
    options = joined(walk.stream.take_option() or [])
    for name in walk.stream.take_text().split(","):
        walk.bibliography.adopt(name.strip(), options)
        if file := walk.submission.find(name, walk.folder, ".sty"):
            learn_package(walk, file)


def _newtheorem(walk: Walk) -> None:
    starred = walk.stream.take_star()
    name = walk.stream.take_text()
    shared = walk.stream.take_option()
    title = walk.take_line()
    within = walk.stream.take_option()
    counter = joined(shared).strip() if shared else name
    if shared and counter in walk.theorems:
        counter = walk.theorems[counter][0]
    if within and not shared:
        walk.numbers.put_within(counter, joined(within).strip())
    if len(walk.theorems) < 500:
        walk.theorems[name] = ("" if starred else counter, title)


def learn_package(walk: Walk, file: str) -> None:
    """Take the definitions of a package's file, once."""
    name = file.rpartition("/")[2].partition(".")[0]
    if file in walk.packages_begun or len(walk.packages_begun) - walk.packages_done >= _DEEPEST:
        return
    walk.packages_begun.add(file)
    if not _WELL_KNOWN.fullmatch(name):
        with walk.stream.definitions_of(walk.submission.files[file]):
            while lexeme := walk.stream.take():
                if lexeme[1:] in _DECLARATIONS:
                    walk.commands[lexeme[1:]](walk)
                else:
                    walk.stream.take_definition(lexeme)
    walk.packages_done += 1


FRONT: Final[dict[str, Command]] = {
    **dict.fromkeys(("title", "icmltitle", "mlsystitle", "aistatstitle", "Title"), _title),
    **dict.fromkeys(
        ("author", "Author", "IEEEauthorblockN", "icmlauthor", "mlsysauthor", "coltauthor"), _author
    ),
    **dict.fromkeys(("Large", "LARGE", "huge", "Huge"), _large),
    **dict.fromkeys(("keywords", "keyword"), _keywords),
    **dict.fromkeys(("usepackage", "RequirePackage"), _usepackage),
    **dict.fromkeys(("documentclass", "documentstyle"), _document_class),
    **dict.fromkeys(("email", "homepage"), _address),
    "maketitle": _maketitle,
    "abstract": _abstract,
    "doi": _doi,
    "newtheorem": _newtheorem,
}
