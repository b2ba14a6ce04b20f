r"""Packages among a paper's files: read for the commands they define, never for what they set.

Journals' and conferences' styles are full of TeX's machinery, which means nothing here. Only such
definitions count as a text could have made itself; packages whose commands this reader knows are
skipped.
"""

from __future__ import annotations

import re
from typing import Final

from .walk import Walk

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
