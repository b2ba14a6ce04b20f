"""What a library is made of: settings, and the rooms that are opened when first used."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ..errors import StoreFailed
from ..settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from ..corpus import Corpus
    from ..download.ladder import Ladder
    from ..entrez import Entrez
    from ..entrez.compounds import PubChem
    from ..entrez.datasets import Datasets
    from ..http import Web
    from ..mirror import Mirror
    from ..mirror.search import MirrorPassages
    from ..shelf import Shelf


_SHELF_MAX_BYTES = 400
"""SQLite takes paths of at most 512 bytes, and its files lie in folders of the shelf."""


def _check_shelf(folder: Path) -> None:
    """Raise `StoreFailed` where *folder* cannot be a shelf, whatever is on the disk."""
    if len(os.fsencode(folder)) > _SHELF_MAX_BYTES:
        msg = f"The path of the shelf is longer than {_SHELF_MAX_BYTES} bytes: {folder}"
        raise StoreFailed(msg, "Set PAPERS_DIR to a folder with a shorter path.")
    try:
        is_file = folder.exists() and not folder.is_dir()
    except OSError as error:
        msg = f"{folder} cannot be the shelf: {error.strerror}."
        raise StoreFailed(msg, "Set PAPERS_DIR to another folder.") from None
    if is_file:
        msg = f"{folder} is a file, not a folder."
        raise StoreFailed(msg, "Set PAPERS_DIR to a folder.")


class Rooms:
    """Settings, web, shelf and what else a library stands on."""

    settings: Settings

    @cached_property
    def web(self) -> Web:
        """Polite HTTP, under the rate limits of all sources."""
        from ..http import Web
        from ..sources import SOURCES

        rates = dict.fromkeys(rate for source in SOURCES for rate in source.rates)
        return Web(self.settings, tuple(rates))

    @cached_property
    def shelf(self) -> Shelf:
        """The papers folder."""
        from ..shelf import Shelf

        _check_shelf(self.settings.papers_dir)
        return Shelf(self.settings.papers_dir)

    @cached_property
    def corpus(self) -> Corpus:
        """PubMed's records of whole fields, kept up to date, and passages that can be quoted."""
        from ..corpus import Corpus

        return Corpus(self.settings, self.web, self.shelf)

    @cached_property
    def mirrored(self) -> MirrorPassages:
        """The passages of the mirror, found and quoted as those of the corpus."""
        from ..mirror.search import MirrorPassages

        return MirrorPassages(self.corpus, self.mirror)

    def passages_of(self, source: Literal["corpus", "mirror"]) -> Corpus | MirrorPassages:
        """Where passages are looked for: in the corpus, or in the mirror."""
        return self.mirrored if source == "mirror" else self.corpus

    @cached_property
    def mirror(self) -> Mirror:
        """All of PubMed on your own disk, kept up to date from NLM's files."""
        from ..mirror import Mirror

        return Mirror(self.settings, self.web.rates)

    @cached_property
    def entrez(self) -> Entrez:
        """Every database of NCBI's Entrez: search, summaries, records, links."""
        from ..entrez import Entrez

        return Entrez(self.web)

    @cached_property
    def pubchem(self) -> PubChem:
        """Chemical compounds, by name or structure."""
        from ..entrez.compounds import PubChem

        return PubChem(self.web)

    @cached_property
    def datasets(self) -> Datasets:
        """Results of Entrez as tables that can be queried in SQL."""
        from ..entrez.datasets import Datasets

        folder = self.settings.papers_dir
        return Datasets(folder / ".papershelf" / "datasets", folder / "exports")

    @cached_property
    def _ladder(self) -> Ladder:
        from ..download.ladder import Ladder
        from ..sources import SOURCES

        return Ladder(self.web, self.shelf, SOURCES, self.settings.papers_sources)
