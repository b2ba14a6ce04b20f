"""Find the files of a paper's figures and supplements, and check that copying is allowed.

- PubMed Central's Cloud Service has its articles' files, with checksums.
- A LaTeX source contains its own pictures.
- Web pages give their pictures' addresses. arXiv's pictures are fetched like arXiv's pages; a
  publisher's pictures are copied if the licence permits it, and otherwise only listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ..errors import NotAvailable, PaperError
from ..model.licenses import find_cc_license
from ..model.paper import Fetched, PaperObject, StoredPaper
from ..shelf import Shelf

if TYPE_CHECKING:
    from ..http import Web

_IMAGE_EXTENSIONS = ("jpg", "jpeg", "png", "gif", "svg", "webp", "pdf", "tif", "tiff", "eps")
_IMAGE_EXTENSION_IN_URL = re.compile(r"(?<![a-z])(png|jpe?g|gif|webp|svg|tiff?)(?![a-z])", re.I)
_URL_MAX_CHARS = 2000  # of an address
_UNPACKED_MAX_BYTES = 100_000_000  # bytes of one source's pictures
_NO_FILE = "Its text names no file; the publisher's page shows it."
_NOT_IN_PMC = "The paper is not in PubMed Central; its publisher's page has the file."
_FREE_LICENSE = re.compile(r"CC\b|CC0|Public Domain", re.I)


class ObjectFile(NamedTuple):
    """A file that can be downloaded: its name, address, and checksum if known.

    ``take`` returns its bytes, up to a limit.
    """

    name: str
    url: str
    md5: str
    license: str
    take: Callable[[int], bytes]


class ObjectFileFinder:
    """Finds the files of one paper's objects."""

    def __init__(self, stored: StoredPaper, shelf: Shelf, web: Web) -> None:
        self._stored = stored
        self._shelf = shelf
        self._web = web

    def find_files(
        self, item: PaperObject, every: Sequence[PaperObject]
    ) -> tuple[list[ObjectFile], str]:
        """Return the files of an object, one of *every*, or the reason for having no file."""
        if not item.files:
            return [], _NO_FILE
        source = self._latex_source
        if source is not None and source.media == "latex":
            return self._find_in_latex_source(item, every)
        if any("://" in name for name in item.files):
            return self._find_page_pictures(item)
        available, reason = self._pmc_files
        files = _pick_best_files(
            item, [file for file in available if _is_named_file(file.name, item.files)]
        )
        return files, "" if files else reason or f"PubMed Central has no {item.files[0]}."

    @cached_property
    def _latex_source(self) -> Fetched | None:
        raw = self._shelf.read_raw_answer(self._stored)
        return raw.fetched if raw else None

    @cached_property
    def _pmc_files(self) -> tuple[list[ObjectFile], str]:
        """The Cloud Service's files of this paper, or the reason for having no files."""
        from ..sources.pmc import fetch_media, list_media

        pmcid = self._stored.paper.ids.pmcid
        if not pmcid:
            return [], _NOT_IN_PMC
        try:
            license_, files = list_media(pmcid, self._web)
        except NotAvailable as error:
            return [], error.message
        except PaperError as error:
            return [], error.text
        return [
            ObjectFile(*file, license_, partial(fetch_media, file, pmcid, self._web))
            for file in files
        ], ""

    def _find_in_latex_source(
        self, item: PaperObject, every: Sequence[PaperObject]
    ) -> tuple[list[ObjectFile], str]:
        """Return an object's files from the LaTeX source, which is unpacked once."""
        held = self._unpack_latex_source(every)
        license_ = self._stored.license
        url = self._latex_source.url if self._latex_source else ""
        files = [
            ObjectFile(
                *held[name][:1], url, "", license_, partial(_drop_if_too_large, held[name][1])
            )
            for name in item.files
            if name in held
        ]
        return files, "" if files else f"The source has no {item.files[0]}."

    def _unpack_latex_source(self, every: Sequence[PaperObject]) -> dict[str, tuple[str, bytes]]:
        if self._held is None:
            from ..readers.submission import extract_submission_files

            names = {name for item in every for name in item.files}
            source = self._latex_source
            self._held = (
                extract_submission_files(source.body, names, _UNPACKED_MAX_BYTES) if source else {}
            )
        return self._held

    _held: dict[str, tuple[str, bytes]] | None = None

    def _find_page_pictures(self, item: PaperObject) -> tuple[list[ObjectFile], str]:
        """Return the pictures on an article's page, if their licence allows copying."""
        from ..sources import arxiv, publisher

        license_ = self._stored.license
        at_arxiv = self._latex_source is not None and self._latex_source.via == arxiv.SOURCE.name
        if not at_arxiv and not is_copying_allowed(license_):
            terms = f"Its licence ({license_}) does not let" if license_ else "No licence lets"
            return [], f"{terms} programs copy it: open the address."
        fetch = arxiv.fetch_picture if at_arxiv else publisher.fetch_picture
        return [
            ObjectFile(_choose_picture_name(url), url, "", license_, partial(fetch, url, self._web))
            for url in item.files
        ], ""


def is_copying_allowed(license_: str) -> bool:
    """Return whether a licence allows copying the unchanged work, as Creative Commons does.

    >>> [is_copying_allowed(name) for name in ("CC BY-NC-ND 4.0", "© Elsevier", "")]
    [True, False, False]
    """
    return bool(_FREE_LICENSE.match(find_cc_license(license_)))


def pick_best_formats(names: Iterable[str]) -> list[str]:
    """Return each image among *names* once, in its most widely supported format.

    >>> pick_best_formats(["g1.tif", "data.csv", "g1.jpg", "g2.gif"])
    ['g1.jpg', 'g2.gif']
    """
    by_stem: dict[str, str] = {}
    for name in sorted(filter(is_image_name, names), key=_rank_image_format):
        by_stem.setdefault(name.rpartition(".")[0].lower(), name)
    return sorted(by_stem.values())


def is_image_name(name: str) -> bool:
    """Return whether a file name has an image's extension; a PDF is not an image."""
    return _rank_image_format(name) < len(_IMAGE_EXTENSIONS) and not name.lower().endswith(".pdf")


def _drop_if_too_large(data: bytes, most: int) -> bytes:
    return data if len(data) <= most else b""


def _choose_picture_name(url: str) -> str:
    """Return a picture's file name; some addresses do not end with the format's extension.

    >>> _choose_picture_name("https://a.test/info:doi/1.g001?form=PNG_I"), _choose_picture_name("https://a.test/a.gif")
    ('1.png', 'a.gif')
    """
    name = unquote(PurePosixPath(urlsplit(url).path).name)
    if is_image_name(name):
        return name
    extensions = _IMAGE_EXTENSION_IN_URL.findall(url[-_URL_MAX_CHARS:])
    return (
        f"{name.partition('.')[0] or 'picture'}.{extensions[-1].lower() if extensions else 'jpg'}"
    )


def _is_named_file(name: str, wanted: Sequence[str]) -> bool:
    """Return whether an article names a file, with or without its extension."""
    stem = name.rpartition(".")[0]
    return any(name.lower() == item.lower() or stem.lower() == item.lower() for item in wanted)


def _pick_best_files(item: PaperObject, files: Sequence[ObjectFile]) -> list[ObjectFile]:
    """Return all files of a supplement, or each image of a figure in its best-supported format."""
    if item.kind == "supplement":
        return list(files)
    by_stem: dict[str, ObjectFile] = {}
    for file in sorted(files, key=lambda file: _rank_image_format(file.name)):
        by_stem.setdefault(file.name.rpartition(".")[0].lower(), file)
    return list(by_stem.values())


def _rank_image_format(name: str) -> int:
    ending = name.rpartition(".")[2].lower()
    return (
        _IMAGE_EXTENSIONS.index(ending) if ending in _IMAGE_EXTENSIONS else len(_IMAGE_EXTENSIONS)
    )
