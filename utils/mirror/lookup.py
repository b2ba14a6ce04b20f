"""A mirror as a `..sources.source.RecordSource`: asked before PubMed, also offline.

By PMID, DOI or PMCID. A generation that is older than a week is used only
where the network is not: a paper may have been retracted since. Whoever asks anew is not given one
that was made before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..errors import PaperError
from ..http.messages import is_fresh
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..settings import Settings

if TYPE_CHECKING:
    from .citation_table import Citations

log = logging.getLogger(__name__)
DAYS = 7.0
"""Days for which a generation counts as PubMed's own word."""


def records(wanted: Iterable[Ids], settings: Settings) -> dict[Ids, Paper]:
    """The records of papers in the mirror of these settings; none where there is no fresh one.

    A mirror that cannot be read is told in the log, and does not hold up who can ask PubMed.
    """
    asked = [ids for ids in dict.fromkeys(wanted) if ids.pmid or ids.doi or ids.pmcid]
    if not (asked and (settings.mirror_folder / "current" / "pubmed").exists()):
        return {}
    if find_spec("pyarrow") is None:
        return {}
    from .generations import Generations
    from .names import pmids_of
    from .reading import papers

    generations = Generations(settings.mirror_folder, "pubmed")
    try:
        generation = generations.require_current()
        made_at = datetime.fromisoformat(generation.made_at).timestamp()
        if not (settings.papers_offline or is_fresh(made_at, DAYS)):
            return {}
        pmids = pmids_of(asked, generations, generation)
        found = papers(set(pmids.values()), generations)
        return {ids: found[pmid] for ids, pmid in pmids.items() if pmid in found}
    except PaperError as error:
        log.warning("The mirror was not asked: %s", error)
        return {}


def citations(settings: Settings, *, fresh: bool = False) -> Citations | None:
    """The mirror's table of citations; see `.citation_table.citations_of`."""
    from .citation_table import citations_of

    return citations_of(settings, fresh=fresh)
