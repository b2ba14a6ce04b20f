"""Where the files of a paper's figures and supplements can be had, and who may copy them.

PubMed Central's Cloud Service has those of its articles, with checksums; a LaTeX source that the
text was made of holds its pictures itself; pages name the addresses of theirs. arXiv hands its
pages' pictures out as it does the pages; a publisher's are copied where the licence permits it,
else listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ..errors import NotAvailable, PaperError
from ..model.paper import Fetched, PaperObject, StoredPaper
from ..readers.licenses import find_license
from ..shelf import Shelf

if TYPE_CHECKING:
    from ..http import Web

_IMAGES = ("jpg", "jpeg", "png", "gif", "svg", "webp", "pdf", "tif", "tiff", "eps")
_FORM = re.compile(r"(?<![a-z])(png|jpe?g|gif|webp|svg|tiff?)(?![a-z])", re.I)
_LONGEST = 2000  # characters of an address
_MOST_UNPACKED = 100_000_000  # bytes of one source's pictures
_NO_FILE = "Its text names no file; the publisher's page shows it."
_NOT_IN_PMC = "The paper is not in PubMed Central; its publisher's page has the file."
_COPIED = re.compile(r"CC\b|CC0|Public Domain", re.I)


class FoundFile(NamedTuple):
    """A file that can be had: its own name, where it lies, its checksum if that is known.

    ``take`` brings its bytes, at the most so many.
    """

    name: str
    url: str
    md5: str
    license: str
    take: Callable[[int], bytes]


class FoundFiles:
    """The files of one paper's objects."""

    def __init__(self, stored: StoredPaper, shelf: Shelf, web: Web) -> None:
        self._stored = stored
        self._shelf = shelf
        self._web = web

    def of(self, one: PaperObject, every: Sequence[PaperObject]) -> tuple[list[FoundFile], str]:
        """The files of an object, one of *every*; or why there is none."""
        if not one.files:
            return [], _NO_FILE
        source = self._source
        if source is not None and source.media == "latex":
            return self._in_source(one, every)
        if any("://" in name for name in one.files):
            return self._on_page(one)
        here, why = self._at_pmc
        files = _best(one, [file for file in here if _is_named(file.name, one.files)])
        return files, "" if files else why or f"PubMed Central has no {one.files[0]}."

    @cached_property
    def _source(self) -> Fetched | None:
        raw = self._shelf.raw(self._stored)
        return raw.fetched if raw else None

    @cached_property
    def _at_pmc(self) -> tuple[list[FoundFile], str]:
        """What the Cloud Service has of this paper, or why nothing."""
        from ..sources.pmc import fetch_media, media_of

        pmcid = self._stored.paper.ids.pmcid
        if not pmcid:
            return [], _NOT_IN_PMC
        try:
            license_, files = media_of(pmcid, self._web)
        except NotAvailable as error:
            return [], error.message
        except PaperError as error:
            return [], str(error)
        return [
            FoundFile(*file, license_, partial(fetch_media, file, pmcid, self._web))
            for file in files
        ], ""

    def _in_source(
        self, one: PaperObject, every: Sequence[PaperObject]
    ) -> tuple[list[FoundFile], str]:
        """What the LaTeX source holds; all of it is unpacked once."""
        held = self._unpacked(every)
        license_ = self._stored.license
        url = self._source.url if self._source else ""
        files = [
            FoundFile(*held[name][:1], url, "", license_, partial(_up_to, held[name][1]))
            for name in one.files
            if name in held
        ]
        return files, "" if files else f"The source has no {one.files[0]}."

    def _unpacked(self, every: Sequence[PaperObject]) -> dict[str, tuple[str, bytes]]:
        if self._held is None:
            from ..readers.submission import take_files

            names = {name for one in every for name in one.files}
            source = self._source
            self._held = take_files(source.body, names, _MOST_UNPACKED) if source else {}
        return self._held

    _held: dict[str, tuple[str, bytes]] | None = None

    def _on_page(self, one: PaperObject) -> tuple[list[FoundFile], str]:
        """The pictures that a page shows, if they may be copied."""
        from ..sources import arxiv, publisher

        license_ = self._stored.license
        at_arxiv = self._source is not None and self._source.via == arxiv.SOURCE.name
        if not at_arxiv and not may_be_copied(license_):
            terms = f"Its licence ({license_}) does not let" if license_ else "No licence lets"
            return [], f"{terms} programs copy it: open the address."
        fetch = arxiv.fetch_picture if at_arxiv else publisher.fetch_picture
        return [
            FoundFile(_file_name(url), url, "", license_, partial(fetch, url, self._web))
            for url in one.files
        ], ""


def may_be_copied(license_: str) -> bool:
    """Whether a licence lets anybody copy the work as it is: any of Creative Commons does.

    >>> may_be_copied("CC BY-NC-ND 4.0"), may_be_copied("© Elsevier"), may_be_copied("")
    (True, False, False)
    """
    return bool(_COPIED.match(find_license(license_)))


def best_forms(names: Iterable[str]) -> list[str]:
    """Of the images among *names*, each in the form that everything shows.

    >>> best_forms(["g1.tif", "data.csv", "g1.jpg", "g2.gif"])
    ['g1.jpg', 'g2.gif']
    """
    by_stem: dict[str, str] = {}
    for name in sorted(filter(is_image, names), key=_form):
        by_stem.setdefault(name.rpartition(".")[0].lower(), name)
    return sorted(by_stem.values())


def is_image(name: str) -> bool:
    """Whether a file is called like an image; a PDF may be anything."""
    return _form(name) < len(_IMAGES) and not name.lower().endswith(".pdf")


def _up_to(data: bytes, most: int) -> bytes:
    return data if len(data) <= most else b""


def _file_name(url: str) -> str:
    """What a picture is called; some addresses tell its form elsewhere than at the end.

    >>> _file_name("https://a.test/info:doi/1.g001?form=PNG_I"), _file_name("https://a.test/a.gif")
    ('1.png', 'a.gif')
    """
    name = unquote(PurePosixPath(urlsplit(url).path).name)
    if is_image(name):
        return name
    said = _FORM.findall(url[-_LONGEST:])
    return f"{name.partition('.')[0] or 'picture'}.{said[-1].lower() if said else 'jpg'}"


def _is_named(name: str, wanted: Sequence[str]) -> bool:
    """Whether a file is one of those an article names, which may lack the ending."""
    stem = name.rpartition(".")[0]
    return any(name.lower() == one.lower() or stem.lower() == one.lower() for one in wanted)


def _best(one: PaperObject, files: Sequence[FoundFile]) -> list[FoundFile]:
    """All files of a supplement; of a figure's images, each in the form that everything shows."""
    if one.kind == "supplement":
        return list(files)
    by_stem: dict[str, FoundFile] = {}
    for file in sorted(files, key=lambda file: _form(file.name)):
        by_stem.setdefault(file.name.rpartition(".")[0].lower(), file)
    return list(by_stem.values())


def _form(name: str) -> int:
    ending = name.rpartition(".")[2].lower()
    return _IMAGES.index(ending) if ending in _IMAGES else len(_IMAGES)
