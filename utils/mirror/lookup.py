"""Records from a mirror, for whoever would ask PubMed: a mirror is asked first, also offline.

By PMID; other names are PubMed's to resolve. A generation that is older than a week is used only
where the network is not: a paper may have been retracted since. Whoever asks anew is not given one
that was made before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from importlib.util import find_spec

from ..errors import PaperError
from ..model.paper import Paper
from ..settings import Settings
from ..web.answer import is_fresh

log = logging.getLogger(__name__)
DAYS = 7.0
"""Days for which a generation counts as PubMed's own word."""


def from_mirror(pmids: Iterable[str], settings: Settings) -> dict[str, Paper]:
    """The records of the mirror of these settings by PMID; none where there is no fresh one.

    A mirror that cannot be read is told in the log, and does not hold up who can ask PubMed.
    """
    wanted = sorted({int(pmid) for pmid in pmids if pmid})
    if not (wanted and (settings.mirror_folder / "current" / "pubmed").exists()):
        return {}
    if find_spec("pyarrow") is None:
        return {}
    from .generations import Generations
    from .reading import papers

    generations = Generations(settings.mirror_folder, "pubmed")
    try:
        made_at = datetime.fromisoformat(generations.require_current().made_at).timestamp()
        if not (settings.papers_offline or is_fresh(made_at, DAYS)):
            return {}
        return {str(pmid): paper for pmid, paper in papers(wanted, generations).items()}
    except PaperError as error:
        log.warning("The mirror was not asked: %s", error)
        return {}
