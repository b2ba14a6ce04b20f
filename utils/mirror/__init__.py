"""Keep all of PubMed and PMC's open articles on your own disk, as Parquet files.

- `.updates` has the steps that PubMed and PMC have in common, on one of the `.engines`.
- PubMed: `.pubmed` updates the mirror. `.pubmed_files` chooses the files, `.parts` converts each to
  two Parquet files on one of the `.engines`, `.manifest` is the table of files.
- PMC: `.pmc` updates the mirror. `.deadly` finds articles that kill their workers. `.objects` is the table of articles, `.bundles` are the fetched
  files, `.texts` converts them, and `.compaction` merges small files.
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
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..command_line import install_command
from ..errors import NotConfigured
from .engines import EngineName, get_engine

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
    from .words import WordIndex

_LONGEST_S = 3600.0  # of one file on the wire
_NEEDED = ("pyarrow", "duckdb")
_WORDS = (
    ("papers", "pubmed"),
    ("passages", "pubmed-passages"),
    ("passages of full texts", "pmc-passages"),
)


def _discard_message(text: str) -> None:
    """Discard a message."""


class Mirror:
    """The mirrors of one folder. Constructing one touches neither disk nor network.

    Parameters
    ----------
    settings : Settings
    rates : sequence of Rate
        How fast each site may be asked.
    folder : Path, optional
        Where they lie; else ``PAPERS_MIRROR_DIR``.

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

    def update(
        self,
        *,
        engine: EngineName = "here",
        workers: int = 0,
        scheduler: str = "",
        keep: bool = True,
        most: int = 0,
        filled: str | Path | None = None,
        say: Callable[[str], None] = _discard_message,
    ) -> Iterator[MirrorProgress]:
        """Bring the mirror of PubMed up to date; see `.pubmed.update` and `.engines`.

        ``workers`` is a process for each core where it is 0; ``filled`` a folder with NLM's files,
        of which none is then asked for; ``say`` is told where the work can be
        looked at.

        Raises
        ------
        NotConfigured
            The packages of the extra ``mirror``, or of the engine, are not installed.
        """
        require_packages()
        from .pubmed import update

        run = self._make_run(engine, workers, scheduler, say)
        there = Path(filled) if filled else None
        yield from update(self.folder, self._open_web(), run, keep=keep, most=most, filled=there)

    def update_pmc(
        self,
        choice: Choice | None = None,
        *,
        engine: EngineName = "here",
        workers: int = 0,
        scheduler: str = "",
        retry: bool = False,
        most: int = 0,
        filled: str | Path | None = None,
        say: Callable[[str], None] = _discard_message,
    ) -> Iterator[MirrorProgress]:
        """Bring the mirror of PMC's open articles up to date; see `.pmc.update` and `.engines`.

        ``filled`` is a folder with a copy of the bucket.
        """
        require_packages()
        from .pmc import update

        run = self._make_run(engine, workers, scheduler, say)
        copy = Path(filled).expanduser().absolute() if filled else None
        options: dict[str, Any] = {"retry": retry, "most": most, "copy": copy}
        yield from update(self.folder, self._open_web(), run, choice, **options)

    def plan_pmc(
        self, choice: Choice | None = None, *, retry: bool = False, workers: int = 0
    ) -> PmcPlan:
        """Return the time and space that an update of PMC would take; see `.plan.plan_pmc`."""
        require_packages()
        from .plan import plan_pmc

        return plan_pmc(self.folder, self._open_web(), choice, retry=retry, workers=workers)

    def plan(self, *, keep: bool = True, workers: int = 0, measure: bool = False) -> MirrorPlan:
        """Return the time and space that an update would take; see `.plan.plan_pubmed`."""
        require_packages()
        from .plan import plan_pubmed

        options: dict[str, Any] = {"keep": keep, "workers": workers, "measure": measure}
        return plan_pubmed(self.folder, self._open_web(), **options)

    @property
    def pmc_generations(self) -> Generations:
        """All generations of PMC that are here."""
        from .generations import Generations

        return Generations(self.folder, "pmc")

    def pmc_status(self) -> dict[str, Any]:
        """Return PMC's published generation, article counts by state, and articles without text."""
        from .objects import ObjectTable

        current, objects = self.pmc_generations.get_published(), ObjectTable(self.folder)
        return {
            "published": asdict(current) if current else None,
            "outdated": sum(not file.is_read for file in self._list_finished_files("pmc")),
            "articles": objects.count_states(),
            "aside": objects.list_without_text(),
        }

    def verify(
        self,
        names: Sequence[str] = (),
        *,
        source: Literal["pubmed", "pmc", "citations"] = "pubmed",
        sample: int = 0,
        engine: EngineName = "here",
        workers: int = 0,
        scheduler: str = "",
        say: Callable[[str], None] = _discard_message,
    ) -> Iterator[Verified]:
        """Make parts again from their source files, and compare them; see `.verify.verify`.

        The files of the table of citations are held against their digests.
        """
        require_packages()
        from . import citation_table
        from .verify import verify

        if source == "citations":
            yield from citation_table.verify_table(self.folder)
            return
        run = self._make_run(engine, workers, scheduler, say)
        yield from verify(self.folder, self._open_web(), run, names, source=source, sample=sample)

    def count_papers(self) -> tuple[int, int]:
        """Count the papers of the published generation, and the papers in PubMed today.

        Raises
        ------
        EmptyStore
            There is no generation yet.
        Unreachable
            PubMed did not say how many papers it has.
        """
        from ..sources.eutils import count_records

        return self.generations.require_current().papers, count_records(
            "pubmed", "all[filter]", self._open_web()
        )

    def current(self) -> Generation | None:
        """Return the published generation; None before the first."""
        return self.generations.get_published()

    def use(self, name: str) -> Generation:
        """Publish a generation that is present; going back to the one before is one step."""
        of_pmc = any(one.name == name for one in self.pmc_generations.list_generations())
        return (self.pmc_generations if of_pmc else self.generations).publish(name)

    def files(self) -> list[SourceFile]:
        """Return the manifest's rows for every source file."""
        from .manifest import Manifest

        return Manifest(self.folder).list_files("pubmed")

    def _list_finished_files(self, source: str) -> list[SourceFile]:
        """Return the files of a source that have been read."""
        from .manifest import Manifest

        return [file for file in Manifest(self.folder).list_files(source) if file.state == "done"]

    def papers(self, pmids: Iterable[str | int]) -> dict[str, Paper]:
        """Return the records of papers by PMID, without any request; see `.reading.read_papers`."""
        require_packages()
        from .reading import read_papers

        found = read_papers([int(pmid) for pmid in pmids], self.generations)
        return {str(pmid): paper for pmid, paper in found.items()}

    def index(
        self,
        *,
        engine: EngineName = "here",
        workers: int = 0,
        scheduler: str = "",
        say: Callable[[str], None] = _discard_message,
    ) -> Iterator[WordsProgress]:
        """Update all word indexes: of papers, of their passages, and of PMC's full texts.

        See `.splits.update_indexes`.
        """
        require_packages()
        from .splits import update_indexes

        run = self._make_run(engine, workers, scheduler, say)
        has_records = bool(self.current() or not self.pmc_generations.get_published())
        papers = [self._words] if has_records else []
        yield from update_indexes([*papers, *self.passage_indexes()], run)

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
        return self._words.find(
            query,
            max_results=max_results,
            start=start,
            start_year=start_year,
            end_year=end_year,
            journal=journal,
            publication_types=publication_types,
            mesh=mesh,
        )

    def update_citations(
        self,
        *,
        keep: bool = False,
    ) -> Iterator[CitationsProgress]:
        """Update the table of citations; see `.citations.update`."""
        require_packages()
        from .citations import update

        yield from update(self.folder, self._open_web(), keep=keep)

    def plan_citations(self) -> CitationsPlan:
        """Return the work of an update of the citations; see `.plan.plan_citations`."""
        require_packages()
        from .plan import plan_citations

        return plan_citations(self.folder, self._open_web())

    def citations_status(self) -> dict[str, Any] | None:
        """Return the published table of citations: files, bytes, and whether it is up to date."""
        from .citation_table import Tables, get_table_files

        if (table := Tables(self.folder).get_published()) is None:
            return None
        paths = get_table_files(self.folder, table)
        here = [path.stat().st_size for path in paths if path.exists()]
        return {
            **asdict(table),
            "files": len(paths),
            "gone": len(paths) - len(here),
            "bytes": sum(here),
            "outdated": table.pubmed != _get_published_name(self.generations),
        }

    @property
    def citations(self) -> Citations:
        """The published table of who cites whom; see `.citation_table.Citations`."""
        require_packages()
        from .citation_table import Citations

        return Citations(self.folder)

    @property
    def _words(self) -> WordIndex:
        """The index of words."""
        require_packages()
        from .words import WordIndex

        return WordIndex(self.generations)

    def embed(
        self,
        *,
        engine: EngineName = "here",
        workers: int = 0,
        scheduler: str = "",
        published: Path | None = None,
        say: Callable[[str], None] = _discard_message,
    ) -> Iterator[EmbedProgress]:
        """Make a vector of every published passage that has none; see `.embedding.embed`."""
        require_packages()
        from .embedding import embed

        run = self._make_run(engine, workers, scheduler, say)
        done: EmbedProgress | None = None
        for index in self.passage_indexes():
            before, ready = done, published if index.of == "abstract" else None
            for progress in embed(index.generations, self.settings, run, ready):
                done = progress.add(before)
                yield done

    def vectors(self, model: str, source: Literal["pubmed", "pmc"] = "pubmed") -> VectorStore:
        """Return the vectors of a model."""
        require_packages()
        from .embedding import get_vector_store

        return get_vector_store(
            self.generations if source == "pubmed" else self.pmc_generations, model
        )

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
        require_packages()
        from .reading import open_sql

        return open_sql(self.generations)

    @property
    def generations(self) -> Generations:
        """All generations of PubMed that are here."""
        require_packages()
        from .generations import Generations

        return Generations(self.folder, "pubmed")

    def _make_run(
        self, engine: str, workers: int, scheduler: str, say: Callable[[str], None]
    ) -> Run:
        return get_engine(engine, workers or os.cpu_count() or 1, scheduler, self.folder, say)

    def _open_web(self) -> Web:
        """Return a web client that waits for large files and can be closed."""
        from ..http import Web

        web = Web(self.settings, self.rates)
        web.deadline = _LONGEST_S
        return web


def _get_published_name(generations: Generations) -> str:
    """Return the name of the published generation; empty without one."""
    current = generations.get_complete()
    return current.name if current else ""


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
        It is not; the hint is a command.
    """
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        msg = f"A mirror needs packages that are not installed: {', '.join(absent)}."
        raise NotConfigured(msg, f"Run: {install_command('mirror')}")
