r"""ECitMatch: from journal, year, volume, page and author to a PMID.

Lines of ``journal|year|volume|page|author|key|`` come back with a PMID or a word behind them; a
line without a match may lose fields on the way, so only its last two parts count. After a line
without a journal that it cannot match, the service stops and answers no further line.

https://www.ncbi.nlm.nih.gov/books/NBK25499/; the words (``NOT_FOUND``,
``NOT_FOUND;INVALID_JOURNAL``, ``AMBIGUOUS (783 citations)``, ``AMBIGUOUS 26315901,25768914``) as
clients of it have recorded them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...errors import BadContent
from ...web import Answer, Web
from ..loose_json import whole
from . import ask

BATCH = 50
FIELDS = ("journal", "year", "volume", "first_page", "author")


def fetch_matches(citations: Sequence[Mapping[str, str]], web: Web) -> dict[int, str]:
    """NCBI's answer to each of at most 50 citations, by its place; unanswered ones are left out.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not in this form.
    """
    lines = [
        "|".join([*(_bare(citation.get(name, "")) for name in FIELDS), str(at), ""])
        for at, citation in enumerate(citations)
    ]
    # The handbook names rettype, its examples retmode; what a utility does not know it ignores.
    params = {"db": "pubmed", "retmode": "xml", "rettype": "xml", "bdata": "\r".join(lines)}

    def read(answer: Answer) -> None:
        if not _words(answer) and _bare(citations[0].get("journal", "")):
            raise BadContent("NCBI matched no citation, and refused none.", verdict="empty")

    answer = ask(web, "ecitmatch.cgi", params, read)
    return {at: word for at, word in _words(answer).items() if at < len(citations)}


def _words(answer: Answer) -> dict[int, str]:
    words: dict[int, str] = {}
    for line in re.split(r"[\r\n]+", answer.text()):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) > 1 and parts[-1] and (at := whole(parts[-2])) is not None:
            words[at] = parts[-1]
    return words


def _bare(text: str) -> str:
    """A field's text; separators in it would move all that follows."""
    return " ".join(re.sub(r"[|\r\n]", " ", text).split())
