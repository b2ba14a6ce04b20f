"""Methods of a library that read texts on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from ..model.paper import OBJECT_KINDS, ObjectKind
from ..system.keyword_options import accept_former_options
from .finding import collect_names, find_or_take_from_mirror, yield_full_texts
from .namespace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from ..curation.excerpts import Excerpt
    from ..curation.opening import Openable
    from ..curation.places import TextPlaces
    from ..download.pdfs import PdfOutcome
    from ..errors import PaperError
    from ..media import PaperObjects
    from ..model.paper import Section, StoredPaper
    from ..shelf.listing import ListingOptions


class Texts(Namespace):
    """The texts on the shelf, read in parts, by place, or as tables."""

    def excerpts(
        self,
        papers: Iterable[str],
        *,
        sections: Sequence[str] = (),
        question: str = "",
        budget: int = 60_000,
        excess: Callable[[list[Excerpt]], int] | None = None,
    ) -> list[Excerpt]:
        """Return the most useful excerpts of papers; see `..curation.excerpts`."""
        from ..curation.excerpts import select_excerpts

        stored = [self._library.find(paper) for paper in papers]
        return select_excerpts(
            *(stored, self._library.shelf),
            sections=sections,
            question=question,
            budget=budget,
            excess=excess,
        )

    def sections(self, paper: str) -> list[Section]:
        """Return the sections of a paper, with roles; see `..curation.reading.list_sections`."""
        from ..curation.reading import list_sections

        return find_or_take_from_mirror(self._library, paper, list_sections)

    def places(self, paper: str) -> TextPlaces:
        """Return each paragraph with its place in the original; see `..curation.places`."""
        from ..curation.places import locate_blocks

        return find_or_take_from_mirror(self._library, paper, locate_blocks)

    def keep_original(self, paper: str) -> Path | None:
        """Copy the PDF that a text was read from next to the text; None without a PDF."""
        pdf = self._library.shelf.store_source_pdf(self._library.find(paper))
        return pdf.path if pdf else None

    def locate(self, paper: str, what: Openable | Literal[""] = "") -> str:
        """Return the path or address at which a paper can be opened; see `..curation.opening`."""
        from ..curation.opening import find_path_or_address

        return find_path_or_address(paper, self._library.shelf, what)

    def fetch_pdfs(
        self, papers: Iterable[str | StoredPaper] = (), *, job_id: str = ""
    ) -> Iterator[PdfOutcome]:
        """Download the PDF of each full text next to it; see `..download.pdfs.fetch_pdfs`.

        Parameters
        ----------
        papers : iterable of str or StoredPaper, optional
            Identifiers, file names or texts; without them, all papers of a harvest or of the shelf.
        job_id : str, optional
            The harvest.
        """
        from ..download.pdfs import fetch_pdfs

        find = self._library.find
        named = [find(paper) if isinstance(paper, str) else paper for paper in papers]
        return fetch_pdfs(named or yield_full_texts(self._library, job_id), self._library.ladder)

    @accept_former_options(most_bytes="max_bytes")
    def all_objects(
        self,
        job_id: str = "",
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        fetch: bool = True,
        max_bytes: int = 500_000_000,
    ) -> Iterator[PaperObjects | tuple[StoredPaper, PaperError]]:
        """Collect figures, tables and files of a harvest's texts, or of all texts on the shelf."""
        from ..media import collect_objects_of_papers

        return collect_objects_of_papers(
            *(
                yield_full_texts(self._library, job_id),
                self._library.shelf,
                self._library.web,
                kinds,
            ),
            fetch=fetch,
            most_bytes=max_bytes,
        )

    @accept_former_options(path="output")
    def write_tables(self, job_id: str = "", output: Path | None = None) -> tuple[Path, int, int]:
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

        folder = (
            self._library.harvest(job_id=job_id).folder if job_id else self._library.shelf.folder
        )
        output = output or folder / "tables.csv"
        return output, *write_long_table(
            yield_full_texts(self._library, job_id), self._library.shelf, output
        )

    @accept_former_options(year_from="min_date", year_to="max_date")
    def emptied_by(self, *, job_id: str = "", **filters: Unpack[ListingOptions]) -> list[str]:
        """Return the filters of `list_papers` that match no paper."""
        from ..curation.listing import explain_empty_listing

        among = collect_names(self._library, job_id) if job_id else None
        chosen = {
            name: value if isinstance(value, bool) else str(value)
            for name, value in filters.items()
        }
        return explain_empty_listing(self._library.shelf, chosen, among, job_id)
