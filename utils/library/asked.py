"""What somebody asks for by a name, as identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import BadRequest

if TYPE_CHECKING:
    from ..model.identifiers import Ids


def ids_of(paper: str | int | Ids) -> Ids:
    """The identifiers of a paper.

    Raises
    ------
    BadRequest
        It is none.
    """
    from ..model.identifiers import Ids

    return paper if isinstance(paper, Ids) else Ids.parse(str(paper))


def ids_or_error(paper: str | int | Ids) -> Ids | BadRequest:
    """The identifiers of one of many, or what is wrong with them: the others go on."""
    try:
        return ids_of(paper)
    except BadRequest as wrong:
        return wrong
