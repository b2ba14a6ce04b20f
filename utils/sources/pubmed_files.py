"""List and fetch PubMed's baseline and update files, which hold all records.

Each winter NLM makes all records anew, as numbered files of up to 30,000 (the baseline); the files
that follow, numbered on, hold what was new, revised or deleted since. Beside each stands its MD5.
No E-utilities are asked.
https://www.nlm.nih.gov/databases/download/pubmed_medline.html ·
https://ftp.ncbi.nlm.nih.gov/pubmed/baseline/README.txt
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import BadContent, NotAvailable, Unreachable
from ..http import Answer, Rate, Web
from ..model.site import Address
from .source import Source

MAX_FILE_BYTES = 2_000_000_000
"""Of one file; the largest there was has a tenth of that."""
Folder = Literal["baseline", "updatefiles"]
# Apache's listing: `<a href="NAME">NAME</a>   2026-01-31 14:05   24M`.
_ROW = re.compile(
    r'<a href="(pubmed(\d{2})n(\d{4,5})\.xml\.gz)">[^<]*</a>(?:</td><td[^>]*>)?'
    r"\s*([\d-]{10}\s[\d:]{5})?(?:\s*</td><td[^>]*>)?\s*([\d.]+[KMG]?)?"
)
_BYTES_BY_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MD5 = re.compile(r"\b[0-9a-fA-F]{32}\b")
_LAST_FILE_NOTICE = re.compile(
    r"complete\s+baseline\s+consists\s+of\s+files\s+pubmed(\d\d)n0*1\.xml"
    r"\s+through\s+pubmed\1n(\d{4,5})\.xml",
    re.I,
)


@dataclass(frozen=True, slots=True)
class BulkFile:
    """One file, as the listing shows it.

    ``year`` has two digits, ``number`` counts from 1 through baseline and updates; ``listed`` is
    the day, minute and size that the listing shows, ``size`` its bytes as far as that tells.
    """

    name: str
    folder: Folder
    year: int
    number: int
    listed: str = ""
    size: int = 0

    @property
    def sequence(self) -> str:
        """The position of the file, as in its name: ``26n0001``."""
        return f"{self.year:02}n{self.number:04}"


def list_files(web: Web) -> list[BulkFile]:
    """Return every present file, baseline first, by year and number.

    Raises
    ------
    Unreachable
        A listing could not be had, or not to its end.
    """
    found = [file for folder in get_args(Folder) for file in _list_folder(folder, web)]
    return sorted(found, key=lambda file: (file.year, file.number))


def _list_folder(folder: Folder, web: Web) -> Iterator[BulkFile]:
    """Yield the files of a folder's listing."""
    answer = web.get(f"{_get_base_url(web)}/{folder}/", check=_require_listing)
    for name, year, number, day, size in _ROW.findall(answer.text()):
        listed = f"{day} {size}".strip()
        yield BulkFile(name, folder, int(year), int(number), listed, _parse_size(size))


def _require_listing(answer: Answer) -> None:
    """Raise `Unreachable` for an incomplete listing."""
    page = answer.text()
    if "Index of" not in page or "</html>" not in page.lower():
        raise Unreachable(f"{answer.host} sent an incomplete listing of PubMed's files.")


def _parse_size(size: str) -> int:
    """Return the bytes of a size that the listing rounds to three digits."""
    number = size.rstrip("KMG")
    return int(float(number) * _BYTES_BY_UNIT[size[len(number) :]]) if number else 0


def fetch_baseline_end(web: Web) -> tuple[int, int]:
    """Return year and number of the baseline's last file, by NLM's notice; zeros if unknown.

    Raises
    ------
    Unreachable
        The notice could not be had.
    """
    try:
        notice = web.get(f"{_get_base_url(web)}/baseline/README.txt").text()
    except NotAvailable:
        return 0, 0
    return parse_baseline_end(notice)


def parse_baseline_end(notice: str) -> tuple[int, int]:
    """Return year and number of the baseline's last file in a notice; zeros if missing."""
    found = _LAST_FILE_NOTICE.search(notice)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def fetch_md5(file: BulkFile, web: Web) -> str:
    """Return the MD5 that NLM publishes for a file, in lower case.

    Raises
    ------
    NotAvailable
        There is none.
    BadContent
        There is one, and it is none, or of another file.
    """
    return parse_md5(file, web.get(f"{_build_file_url(file, web)}.md5").text())


def parse_md5(file: BulkFile, text: str) -> str:
    """Return the MD5 in the published checksum file; raises as `fetch_md5` does."""
    found = _MD5.search(text)
    others = set(re.findall(r"pubmed\d{2}n\d{4,5}", text)) - {file.name.partition(".")[0]}
    if not found or others:
        msg = f"The MD5 file of {file.name} has no MD5 of this file."
        raise BadContent(msg, "The next run asks for it again.", verdict="error_page")
    return found[0].lower()


def fetch_file(file: BulkFile, md5: str, web: Web) -> bytes:
    """Fetch a packed file, and check its MD5.

    Raises
    ------
    NotAvailable
        It has vanished since it was listed.
    BadContent
        It has another MD5.
    """
    as_it_is = {"Accept-Encoding": "identity"}
    answer = web.get(_build_file_url(file, web), headers=as_it_is, limit=MAX_FILE_BYTES)
    came = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
    if came != md5:
        msg = f"{file.name} arrived with MD5 {came}; NLM says {md5}."
        raise BadContent(msg, "The next run fetches it again.", verdict="partial")
    return answer.body


def _build_file_url(file: BulkFile, web: Web) -> str:
    """Return the address of a file."""
    return f"{_get_base_url(web)}/{file.folder}/{file.name}"


def _get_base_url(web: Web) -> str:
    """Return the address of the service."""
    return web.settings.address("pubmed_files")


SOURCE = Source(
    name="pubmed_files",
    about="PubMed's baseline and update files: all records, without E-utilities",
    addresses=(
        Address(
            "pubmed_files",
            "https://ftp.ncbi.nlm.nih.gov/pubmed",
            "PubMed's baseline and update files",
        ),
    ),
    # NLM publishes no limit for these; so few at once that others are not held up.
    rates=(Rate("pubmed_files", ("pubmed_files",), every=0.1, in_flight=3),),
)
