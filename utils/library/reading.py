"""What lies on a library's shelf, to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, TypeVar, Unpack

from ..model.paper import OBJECT_KINDS, ObjectKind
from .collecting import CollectVerbs

if TYPE_CHECKING:
    from pathlib import Path

    from ..curation.excerpts import Excerpt
    from ..curation.listing import ListFilters
    from ..curation.places import Places
    from ..curation.reading import Reading
    from ..errors import PaperError
    from ..manuscript.checking import Check
    from ..manuscript.parts import Manuscript
    from ..media import PaperObjects
    from ..model.paper import Section, StoredPaper


Result = TypeVar("Result")


class ReadVerbs(CollectVerbs):
    """The verbs of reading what is on the shelf: texts, places, objects, lists."""

    def read(
        self,
        paper: str,
        *,
        section: str = "",
        start: int = 0,
        max_chars: int = 8000,
        references: bool = True,
    ) -> Reading:
        """A stretch of a paper on the shelf; see `..curation.reading.read`."""
        from ..curation.reading import read

        stretch = partial(read, section=section, start=start, max_chars=max_chars)
        return self._found_or_brought(paper, partial(stretch, references=references))

    def excerpts(
        self,
        papers: Iterable[str],
        *,
        sections: Sequence[str] = (),
        question: str = "",
        budget: int = 60_000,
        excess: Callable[[list[Excerpt]], int] | None = None,
    ) -> list[Excerpt]:
        """What is worth reading of papers on the shelf; see `..curation.excerpts.excerpts`."""
        from ..curation.excerpts import excerpts

        stored = [self.find(paper) for paper in papers]
        return excerpts(
            *(stored, self.shelf),
            sections=sections,
            question=question,
            budget=budget,
            excess=excess,
        )

    def sections(self, paper: str) -> list[Section]:
        """What a paper on the shelf consists of, by role; see `..curation.reading.sections`."""
        from ..curation.reading import sections

        return self._found_or_brought(paper, sections)

    def places(self, paper: str) -> Places:
        """Where each paragraph stands in what the site sent; see `..curation.places.places_of`."""
        from ..curation.places import places_of

        return self._found_or_brought(paper, places_of)

    def keep_original(self, paper: str) -> Path | None:
        """Write a text's own PDF beside it; see `..curation.places.keep_original`."""
        from ..curation.places import keep_original

        return keep_original(paper, self.shelf)

    def check(
        self, manuscript: str | Path, *, lists: Sequence[str | Path] = (), fetch: bool = False
    ) -> Check:
        """Hold a manuscript's references, quotations and numbers against the papers it cites.

        See `..manuscript.checking.check`.

        Parameters
        ----------
        lists : sequence of path, optional
            Files of references beside those that the manuscript names.
        fetch : bool, optional
            Download the cited papers first; else what is on the shelf is read.
        """
        from pathlib import Path

        from ..manuscript.reading import read_manuscript

        read = read_manuscript(Path(manuscript), [Path(one) for one in lists])
        return self.check_read(read, fetch=fetch)

    def check_read(self, manuscript: Manuscript, *, fetch: bool = False) -> Check:
        """The same for a manuscript that is read already."""
        from ..manuscript.checking import check, cited_papers
        from ..sources import SOURCES

        if fetch:
            for _ in self.download_many(cited_papers(manuscript, self.corpus, SOURCES)):
                pass  # what could not be had is said of the sentences that need it
        return check(manuscript, self.corpus, SOURCES)

    def find(self, paper: str) -> StoredPaper:
        """The paper on the shelf with this identifier or file name; no source is asked.

        What only a mirror of PMC has is taken from there onto the shelf.
        """
        from ..curation.reading import find

        return self._found_or_brought(paper, find)

    def _found_or_brought(self, paper: str, look: Callable[..., Result]) -> Result:
        """Look for a paper on the shelf; where it is missing, take it from a mirror of PMC.

        That needs no request; a text that the mirror cannot give leaves all as it was.
        """
        from ..errors import NotFound

        try:
            return look(paper, self.shelf)
        except NotFound:
            if not self._bring(paper):
                raise
        return look(paper, self.shelf)

    def _bring(self, paper: str) -> bool:
        """Take a paper from a mirror of PMC, and return whether one has it."""
        from contextlib import suppress

        from ..errors import PaperError
        from ..model.identifiers import Ids

        with suppress(PaperError):
            ids = Ids.parse(paper)
            if self._ladder.find_local([ids]):
                self.download(ids)
                return True
        return False

    def objects(
        self,
        paper: str,
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        only: str = "",
        fetch: bool = True,
        most_bytes: int = 500_000_000,
    ) -> PaperObjects:
        """A paper's figures, tables and supplementary files; see `..media.gather`."""
        from ..media import gather

        stored = self.find(paper)
        found = (stored, self.shelf, self.web, kinds)
        return gather(*found, only=only, fetch=fetch, most_bytes=most_bytes)

    def all_objects(
        self,
        job_id: str = "",
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        fetch: bool = True,
        most_bytes: int = 500_000_000,
    ) -> Iterator[PaperObjects | tuple[StoredPaper, PaperError]]:
        """The objects of every full text of a harvest, or of the shelf; see `..media`."""
        from ..media import gather_many

        return gather_many(
            *(self._texts(job_id), self.shelf, self.web, kinds),
            fetch=fetch,
            most_bytes=most_bytes,
        )

    def write_tables(self, job_id: str = "", path: Path | None = None) -> tuple[Path, int, int]:
        """Write every cell of all tables of a harvest, or of the shelf, as one long table.

        Parameters
        ----------
        path : Path, optional
            A ``.csv`` or ``.parquet``; else ``tables.csv`` beside the report or on the shelf.

        Returns
        -------
        tuple
            The file, its tables and its cells.
        """
        from ..media import write_long_table

        folder = self.harvest(job_id=job_id).folder if job_id else self.shelf.folder
        path = path or folder / "tables.csv"
        return path, *write_long_table(self._texts(job_id), self.shelf, path)

    def _texts(self, job_id: str) -> Iterator[StoredPaper]:
        """The full texts of a harvest, or of the shelf."""
        from ..harvest.jobs import of_shelf

        rows = self.harvest(job_id=job_id).ledger.rows() if job_id else None
        files = (
            (row.file for row in rows if row.state == "full_text")
            if rows
            else (file for _, file in of_shelf(self.shelf))
        )
        found = (self.shelf.find_by_file(file) for file in files if file)
        return (stored for stored in found if stored and stored.kind == "full_text")

    def list_papers(
        self,
        *,
        text: str = "",
        kind: str = "",
        year_from: str = "",
        year_to: str = "",
        journal: str = "",
        job_id: str = "",
        start: int = 0,
        max_results: int = 20,
    ) -> tuple[int, list[StoredPaper]]:
        """How many papers fit, and a page of them; see `..shelf.Shelf.list`.

        ``job_id`` names a harvest: only its papers.
        """
        return self.shelf.list(
            among=self._names_in(job_id) if job_id else None,
            text=text,
            kind=kind,
            year_from=year_from,
            year_to=year_to,
            journal=journal,
            start=start,
            max_results=max_results,
        )

    def emptied_by(self, *, job_id: str = "", **filters: Unpack[ListFilters]) -> list[str]:
        """Which filters of `list_papers` leave nothing; see `..curation.listing.emptied_by`."""
        from ..curation.listing import emptied_by

        among = self._names_in(job_id) if job_id else None
        chosen = {name: str(value) for name, value in filters.items()}
        return emptied_by(self.shelf, chosen, among, job_id)

    def _names_in(self, job_id: str) -> frozenset[str]:
        """Every name of the papers of a harvest."""
        harvest = self.harvest(job_id=job_id)
        with closing(harvest.ledger):
            return harvest.ledger.names()
