"""Keep all of PubMed and PMC's open articles on your own disk, as Parquet files.

- Updates: `.updates` has the common steps of `.pubmed` and `.pmc`; `.engines` run the work.
- PubMed: `.pubmed_files` chooses the files, `.parts` converts each to two Parquet files, and
  `.manifest` is the table of files.
- PMC: `.objects` is the table of articles, `.bundles` are the fetched files, `.texts` converts
  them, `.deadly` finds articles that kill workers, and `.compaction` merges small files.
- Publishing: `.generations` joins parts and publishes them; `.reading` finds papers by PMID.
- Search: `.splits` index the words of each part; `.words` finds papers, `.passages` and
  `.text_passages` find passages (stored as in `.shown`), `.search` joins them; `.embedding` makes
  the `.vectors`.
- Citations: `.citations` makes the table of who cites whom; `.citation_table` is asked.
- `.plan` and `.rates` estimate an update, `.verify` checks parts, `.lookup` offers the mirror as a
  source of records and texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from ..command_line import install_command
from ..errors import NotConfigured
from ..system.keyword_options import reject_wrong_options
from .engines import EngineOptions, get_engine

if TYPE_CHECKING:
    import duckdb

    from ..http import Rate, Web
    from ..model.paper import Paper, SearchResult
    from ..settings import Settings
    from .citation_table import Citations
    from .citations import CitationsProgress
    from .embedding import EmbedProgress
    from .engines import Run
    from .generations import Generation, Generations
    from .manifest import SourceFile
    from .passages import PassageIndex
    from .plan import CitationsPlan, MirrorPlan, PmcPlan
    from .pmc import Choice
    from .splits import WordsProgress
    from .updates import MirrorProgress
    from .vectors import VectorStore
    from .verify import Verified

_MAX_FETCH_S = 3600.0  # of one file
_NEEDED = ("pyarrow", "duckdb")
_WORDS = (
    ("papers", "pubmed"),
    ("passages", "pubmed-passages"),
    ("passages of full texts", "pmc-passages"),
)


@reject_wrong_options({"EngineOptions": f"{__name__}.engines"})
class Mirror:
    """The mirrors of one folder. Constructing one touches neither disk nor network.

    Methods that take ``**engine`` do their work on an engine; see `.engines.EngineOptions`.
    Iterating over what they return does the work.

    Parameters
    ----------
    settings : Settings
    rates : sequence of Rate
        The rate limit of each site.
    folder : Path, optional
        The folder of the mirrors; ``PAPERS_MIRROR_DIR`` by default.

    Examples
    --------
    >>> for progress in library.mirror.update(engine="processes"): ...     # doctest: +SKIP
    >>> library.mirror.paper("31452104").title                             # doctest: +SKIP
    >>> library.mirror.sql().sql("SELECT year, count(*) FROM records GROUP BY 1")  # doctest: +SKIP
    """

    def __init__(
        self, settings: Settings, rates: Sequence[Rate], folder: Path | None = None
    ) -> None:
        self.settings, self.rates = settings, rates
        self.folder = folder or settings.mirror_folder

    def at(self, folder: str | Path) -> Mirror:
        """Return the mirror in another folder."""
        return Mirror(self.settings, self.rates, Path(folder).expanduser().absolute())

    # -- updates and plans -------------------------------------------------------------------

    def update(
        self,
        *,
        keep: bool = True,
        most: int = 0,
        filled: str | Path | None = None,
        **engine: Unpack[EngineOptions],
    ) -> Iterator[MirrorProgress]:
        """Bring the mirror of PubMed up to date; see `.pubmed.update`.

        With *filled*, a folder with NLM's files, no site is asked for them.

        Raises
        ------
        NotConfigured
            The packages of the extra ``mirror``, or of the engine, are not installed.
        """
        run = self._make_run(engine)
        from .pubmed import update

        there = Path(filled) if filled else None
        yield from update(self.folder, self._open_web(), run, keep=keep, most=most, filled=there)

    def update_pmc(
        self,
        choice: Choice | None = None,
        *,
        retry: bool = False,
        most: int = 0,
        filled: str | Path | None = None,
        **engine: Unpack[EngineOptions],
    ) -> Iterator[MirrorProgress]:
        """Bring the mirror of PMC's open articles up to date; see `.pmc.update`.

        *filled* is a folder with a copy of the bucket.
        """
        run = self._make_run(engine)
        from .pmc import update

        copy = Path(filled).expanduser().absolute() if filled else None
        options: dict[str, Any] = {"retry": retry, "most": most, "copy": copy}
        yield from update(self.folder, self._open_web(), run, choice, **options)

    def update_citations(self, *, keep: bool = False) -> Iterator[CitationsProgress]:
        """Update the table of citations; see `.citations.update`."""
        web = self._open_web()
        from .citations import update

        yield from update(self.folder, web, keep=keep)

    def index(self, **engine: Unpack[EngineOptions]) -> Iterator[WordsProgress]:
        """Update all word indexes: of papers, of their passages, and of PMC's full texts.

        See `.splits.update_indexes`.
        """
        run = self._make_run(engine)
        from .splits import update_indexes
        from .words import WordIndex

        has_records = bool(self.current() or not self.pmc_generations.get_published())
        papers = [WordIndex(self.generations)] if has_records else []
        yield from update_indexes([*papers, *self.passage_indexes()], run)

    def embed(
        self, *, published: Path | None = None, **engine: Unpack[EngineOptions]
    ) -> Iterator[EmbedProgress]:
        """Make a vector of every published passage that has none; see `.embedding.embed`."""
        run = self._make_run(engine)
        from .embedding import embed

        done: EmbedProgress | None = None
        for index in self.passage_indexes():
            before, ready = done, published if index.of == "abstract" else None
            for progress in embed(index.generations, self.settings, run, ready):
                done = progress.add(before)
                yield done

    def plan(self, *, keep: bool = True, workers: int = 0, measure: bool = False) -> MirrorPlan:
        """Return the time and space that an update would take; see `.plan.plan_pubmed`."""
        web = self._open_web()
        from .plan import plan_pubmed

        return plan_pubmed(self.folder, web, keep=keep, workers=workers, measure=measure)

    def plan_pmc(
        self, choice: Choice | None = None, *, retry: bool = False, workers: int = 0
    ) -> PmcPlan:
        """Return the time and space that an update of PMC would take; see `.plan.plan_pmc`."""
        web = self._open_web()
        from .plan import plan_pmc

        return plan_pmc(self.folder, web, choice, retry=retry, workers=workers)

    def plan_citations(self) -> CitationsPlan:
        """Return the work of an update of the citations; see `.plan.plan_citations`."""
        web = self._open_web()
        from .plan import plan_citations

        return plan_citations(self.folder, web)

    # -- what is here ------------------------------------------------------------------------

    @property
    def generations(self) -> Generations:
        """All generations of PubMed that are here."""
        require_packages()
        from .generations import Generations

        return Generations(self.folder, "pubmed")

    @property
    def pmc_generations(self) -> Generations:
        """All generations of PMC that are here."""
        from .generations import Generations

        return Generations(self.folder, "pmc")

    def current(self) -> Generation | None:
        """Return the published generation; None before the first."""
        return self.generations.get_published()

    def use(self, name: str) -> Generation:
        """Publish a generation that is present, such as the one before."""
        of_pmc = any(one.name == name for one in self.pmc_generations.list_generations())
        return (self.pmc_generations if of_pmc else self.generations).publish(name)

    def files(self) -> list[SourceFile]:
        """Return the manifest's rows for every source file."""
        from .manifest import Manifest

        return Manifest(self.folder).list_files("pubmed")

    def pmc_status(self) -> dict[str, Any]:
        """Return PMC's published generation, article counts by state, and articles without text."""
        from .manifest import Manifest
        from .objects import ObjectTable

        current, objects = self.pmc_generations.get_published(), ObjectTable(self.folder)
        files = Manifest(self.folder).list_files("pmc")
        return {
            "published": asdict(current) if current else None,
            "outdated": sum(file.state == "done" and not file.is_read for file in files),
            "articles": objects.count_states(),
            "aside": objects.list_without_text(),
        }

    def citations_status(self) -> dict[str, Any] | None:
        """Return the published table of citations: files, bytes, and whether it is up to date."""
        from .citation_table import get_published_table, get_table_files

        if (table := get_published_table(self.folder)) is None:
            return None
        current = self.generations.get_complete()
        paths = get_table_files(self.folder, table.name)
        here = [path.stat().st_size for path in paths if path.exists()]
        return {
            **asdict(table),
            "files": len(paths),
            "gone": len(paths) - len(here),
            "bytes": sum(here),
            "outdated": table.pubmed != (current.name if current else ""),
        }

    def indexes(self) -> dict[str, str]:
        """Return the generation of each index and of each model's vectors; empty if incomplete."""
        from .vectors import VectorStore

        words = self.folder / "words"
        found: dict[str, str | None] = {
            f"words of {kind}": _read_indexed_generation(words / place / "generation.json")
            for kind, place in _WORDS
        }
        for source in ("pubmed", "pmc"):
            for state in sorted((self.folder / "vectors" / source).glob("*/state.json")):
                store = VectorStore(state.parent)
                of = "full texts by " if source == "pmc" else ""
                found[f"{store.size:,} vectors of {of}{store.model}"] = store.generation
        return {name: generation for name, generation in found.items() if generation is not None}

    def verify(
        self,
        names: Sequence[str] = (),
        *,
        source: Literal["pubmed", "pmc", "citations"] = "pubmed",
        sample: int = 0,
        **engine: Unpack[EngineOptions],
    ) -> Iterator[Verified]:
        """Make parts again from their source files, and compare them; see `.verify.verify`.

        The files of the table of citations are compared with their digests.
        """
        run = self._make_run(engine)
        if source == "citations":
            from .citation_table import verify_table

            yield from verify_table(self.folder)
        else:
            from .verify import verify

            web = self._open_web()
            yield from verify(self.folder, web, run, names, source=source, sample=sample)

    def count_papers(self) -> tuple[int, int]:
        """Count the papers of the published generation, and those of PubMed today.

        Raises
        ------
        EmptyStore
            There is no generation yet.
        Unreachable
            PubMed did not say how many papers it has.
        """
        from ..sources.eutils import count_records

        here = self.generations.require_current().papers
        return here, count_records("pubmed", "all[filter]", self._open_web())

    # -- questions ---------------------------------------------------------------------------

    def papers(self, pmids: Iterable[str | int]) -> dict[str, Paper]:
        """Return the records of papers by PMID, without any request; see `.reading.read_papers`."""
        generations = self.generations
        from .reading import read_papers

        found = read_papers([int(pmid) for pmid in pmids], generations)
        return {str(pmid): paper for pmid, paper in found.items()}

    def find(
        self,
        query: str,
        *,
        max_results: int = 20,
        start: int = 0,
        start_year: int = 0,
        end_year: int = 0,
        journal: str = "",
        publication_types: Sequence[str] = (),
        mesh: Sequence[str] = (),
    ) -> SearchResult:
        """Find papers of the published generation by words; see `.words.WordIndex.find`."""
        self.generations.require_current()  # one of PMC alone has no such index
        from .words import WordIndex

        return WordIndex(self.generations).find(
            query,
            max_results=max_results,
            start=start,
            start_year=start_year,
            end_year=end_year,
            journal=journal,
            publication_types=publication_types,
            mesh=mesh,
        )

    @property
    def citations(self) -> Citations:
        """The published table of who cites whom; see `.citation_table.Citations`."""
        require_packages()
        from .citation_table import Citations

        return Citations(self.folder)

    def vectors(self, model: str, source: Literal["pubmed", "pmc"] = "pubmed") -> VectorStore:
        """Return the vectors of a model."""
        generations = self.generations if source == "pubmed" else self.pmc_generations
        from .embedding import get_vector_store

        return get_vector_store(generations, model)

    def passage_indexes(self) -> list[PassageIndex]:
        """Return the passage indexes of what is present: of PubMed, of PMC, or of both.

        Raises
        ------
        EmptyStore
            Nothing is here yet.
        """
        require_packages()
        from .passages import PassageIndex
        from .text_passages import TextPassageIndex

        found: list[PassageIndex] = []
        if self.pmc_generations.get_published():
            found.append(TextPassageIndex(self.pmc_generations))
        if self.current() or not found:
            self.generations.require_current()
            found.insert(0, PassageIndex(self.generations))
        return found

    def sql(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB with the views ``records`` and ``passages``; see `.reading.open_sql`."""
        generations = self.generations
        from .reading import open_sql

        return open_sql(generations)

    def _make_run(self, options: EngineOptions) -> Run:
        require_packages()
        return get_engine(**options)

    def _open_web(self) -> Web:
        """Return a web client that waits for large files and can be closed."""
        require_packages()
        from ..http import Web

        web = Web(self.settings, self.rates)
        web.deadline = _MAX_FETCH_S
        return web


def _read_indexed_generation(state: Path) -> str | None:
    """Return the generation that an index covers; None without an index."""
    from .words import FORMAT

    try:
        facts = json.loads(state.read_text(encoding="utf-8"))
        is_whole = "target" not in facts and facts.get("format") == FORMAT
        return str(facts.get("generation", "")) if is_whole else ""
    except (OSError, ValueError):
        return None


def require_packages() -> None:
    """Raise an error if the packages of the extra ``mirror`` are not installed.

    Raises
    ------
    NotConfigured
        A package is not installed; the hint is a command.
    """
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        msg = f"A mirror needs packages that are not installed: {', '.join(absent)}."
        raise NotConfigured(msg, f"Run: {install_command('mirror')}")
