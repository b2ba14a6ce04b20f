"""How often each host may be asked; one request more gets 429 and is counted.

Published limits (facts sheet): NCBI 3 a second and 10 with a key, the ID Converter on the same
account; Crossref 5 (lists: 1) or, for who says who he is, 10 (3) a second and 1 or 3 at once;
arXiv one in three seconds; Jina Reader 20 a minute; Semantic Scholar one a second; PubChem 5;
OpenAlex a hundred; CORE ten a minute (and its tokens, see `core`); Wiley 35 in ten minutes, beyond
which it answers 500 (computron/fulltext-article-downloader 0.2.4). Where only good manners are
known: Europe PMC 5 a second, OpenCitations and iCite one, Unpaywall 10, PMC's bucket 16 at once,
PubMed's files three, publishers and repositories one a second. NCBI (with BioC) and Jina count in
windows of their own, see `eutils` and `jina`.
"""

import math
from collections import Counter
from dataclasses import dataclass

from tests.world.moods import limited
from utils.demo.wire import Call, Reply

# A request does not arrive to the millisecond when it was sent. What comes too early by no more
# than this is served, but moves the next turn all the same: the rate on average is strict. Where
# several may come in a row, that is grace enough.
GRACE = 0.25
# On a stage clock a request may arrive that many seconds after it was sent: a thread that sleeps
# moves the clock for all of them.
LATE = 15.0


@dataclass(frozen=True)
class Limit:
    """So many in so many seconds, in a row if need be; ``at_once``: under way, 0 for any number."""

    count: int
    seconds: float = 1
    at_once: int = 0


LIMITS = {
    "crossref": Limit(5, at_once=1), "crossref, polite": Limit(10, at_once=3),
    "crossref list": Limit(1, at_once=1), "crossref list, polite": Limit(3, at_once=3),
    "arxiv": Limit(1, 3, at_once=1), "arxiv_oai": Limit(1, 3, at_once=1), "europepmc": Limit(5),
    "unpaywall": Limit(10), "openalex": Limit(100), "openalex_content": Limit(10),
    "core": Limit(10, 60), "semantic_scholar": Limit(1), "elsevier": Limit(10),
    "springer": Limit(100, 60), "wiley": Limit(35, 600), "pubchem": Limit(5),
    "pmc_cloud": Limit(1000, at_once=16), "pubmed_files": Limit(10, at_once=3),
    **dict.fromkeys(("meadow", "harbour", "summit", "repository", "core_files"), Limit(1)),
    **dict.fromkeys(("opencitations", "icite", "citation_collection"), Limit(1)),
    **dict.fromkeys(("mdpi", "biorxiv", "osti", "hal"), Limit(1)), "datacite": Limit(500, 300),
    "clinicaltrials": Limit(50, 60),
}  # fmt: skip


class Gate:
    """Lets requests in, host by host.

    Unless *strict*, which it cannot be on a stage clock (`LATE`), only at arXiv's search.
    """

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.due: dict[str, float] = {}
        self.under_way: Counter[str] = Counter()

    def window(self, seconds: float) -> float:
        """What counts as one window of so many *seconds*, where one that began late looks short."""
        return seconds if self.strict else max(seconds / 2, seconds - LATE)

    def enter(self, host: str, call: Call) -> float:
        """0 when the request may come in, else the seconds until it might."""
        limit = LIMITS.get(_tier(host, call))
        if limit is None or not (self.strict or call.path == "/api/query"):
            return 0.0
        every = limit.seconds / limit.count
        due = max(self.due.get(host, 0.0), call.at)
        early = due - call.at - max(GRACE, (limit.count - 1) * every)
        if early > 1e-6 or (limit.at_once and self.under_way[host] > limit.at_once):
            return max(early, every)
        self.due[host] = due + every
        return 0.0


def _tier(host: str, call: Call) -> str:
    if host != "crossref":
        return host
    named = "mailto" in call.params or "mailto" in call.header("user-agent")
    return f"crossref{' list' if call.path == '/works' else ''}{', polite' if named else ''}"


def refusal(call: Call, wait: float) -> Reply:
    """The answer to a request too many."""
    reply = limited(call, str(math.ceil(wait)))
    reply.refused = True
    return reply
