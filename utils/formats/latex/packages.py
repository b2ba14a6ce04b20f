r"""Packages that came with a paper: read for the commands they define, never for what they set.

Journals' and conferences' styles are full of TeX's machinery, which means nothing here. Of their
definitions those count that a text could have made itself; packages whose commands this reader
knows anyway are passed by.
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


def learn(walk: Walk, file: str) -> None:
    """Take the definitions of a package's file, once."""
    name = file.rpartition("/")[2].partition(".")[0]
    if file in walk.learnt or len(walk.learnt) - walk.learned >= _DEEPEST:
        return
    walk.learnt.add(file)
    if not _WELL_KNOWN.fullmatch(name):
        with walk.gullet.learning(walk.submission.files[file]):
            while lexeme := walk.gullet.take():
                if lexeme[1:] in _DECLARATIONS:
                    walk.commands[lexeme[1:]](walk)
                else:
                    walk.gullet.defines(lexeme)
    walk.learned += 1
