"""The reader's own tags and note of a paper.

They are kept in the record of each text of the paper, so that a rebuild keeps them, and a text that
replaces another takes them over. Exports have them: ``index.csv``, RIS, BibTeX, EndNote and Zotero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import BadRequest
from ..system.plain_text import clean_text, one_line
from .reading import find_stored_paper

if TYPE_CHECKING:
    from ..model.identifiers import Ids
    from ..model.paper import StoredPaper
    from ..shelf import Shelf

TAG_MAX_CHARS = 60
MAX_TAGS = 50
NOTE_MAX_CHARS = 20_000


def annotate_paper(
    shelf: Shelf,
    paper: str | int | Ids,
    *,
    tags: Sequence[str] | None = None,
    note: str | None = None,
) -> StoredPaper:
    """Replace the reader's tags or note of a paper; None leaves them as they are.

    Raises
    ------
    BadRequest
        A tag or the note is too long, or there are too many tags.
    NotFound
        The paper is not on the shelf.
    """
    stored = find_stored_paper(str(paper), shelf)
    known = stored.paper
    tags = known.tags if tags is None else clean_tags(tags)
    note = known.note if note is None else clean_text(note.replace("\r\n", "\n")).strip()
    if len(note) > NOTE_MAX_CHARS:
        msg = f"The note has {len(note):,} characters; {NOTE_MAX_CHARS:,} is the most."
        raise BadRequest(msg, "Shorten it, or keep it in a file of your own.")
    if (known.tags, known.note) == (tags, note):
        return stored
    shelf.annotate(known.ids, tags, note)
    return find_stored_paper(stored.path.replace("\\", "/").rpartition("/")[2], shelf)


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without surrounding space, each once, whatever its case.

    >>> clean_tags(["to read ", "To Read", "", "cells"])
    ('to read', 'cells')

    Raises
    ------
    BadRequest
        A tag has a semicolon or is too long, or there are too many tags.
    """
    found = {tag.casefold(): tag for one in reversed(tags) if (tag := one_line(clean_text(one)))}
    cleaned = tuple(reversed(found.values()))
    for tag in cleaned:
        if ";" in tag:
            raise BadRequest(f"The tag {tag[:80]!r} has a semicolon.", "Give several tags instead.")
        if len(tag) > TAG_MAX_CHARS:
            msg = f"The tag {tag[:20]!r}… is longer than {TAG_MAX_CHARS} characters."
            raise BadRequest(msg, "Shorten it, or write a note.")
    if len(cleaned) > MAX_TAGS:
        msg = f"A paper has {MAX_TAGS} tags at most; {len(cleaned)} were given."
        raise BadRequest(msg, "Leave some out.")
    return cleaned
