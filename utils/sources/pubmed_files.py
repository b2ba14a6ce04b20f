"""PubMed's baseline and update files: all records of a year, and what changed since, day by day.

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

MOST_BYTES = 2_000_000_000
"""Of one file; the largest there was has a tenth of that."""
Folder = Literal["baseline", "updatefiles"]
# Apache's listing: `<a href="NAME">NAME</a>   2026-01-31 14:05   24M`.
_ROW = re.compile(
    r'<a href="(pubmed(\d{2})n(\d{4,5})\.xml\.gz)">[^<]*</a>(?:</td><td[^>]*>)?'
    r"\s*([\d-]{10}\s[\d:]{5})?(?:\s*</td><td[^>]*>)?\s*([\d.]+[KMG]?)?"
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MD5 = re.compile(r"\b[0-9a-fA-F]{32}\b")
_LAST = re.compile(r"complete\s+baseline\s+consists\s+of\s+files\s+pubmed(\d\d)n0*1\.xml"
                   r"\s+through\s+pubmed\1n(\d{4,5})\.xml", re.I)  # fmt: skip


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
        """Its place, as in its name: ``26n0001``."""
        return f"{self.year:02}n{self.number:04}"


def list_files(web: Web) -> list[BulkFile]:
    """Every file there is now, baseline first, by year and number.

    Raises
    ------
    Unreachable
        A listing could not be had, or not to its end.
    """
    found = [file for folder in get_args(Folder) for file in _listed(folder, web)]
    return sorted(found, key=lambda file: (file.year, file.number))


def _listed(folder: Folder, web: Web) -> Iterator[BulkFile]:
    answer = web.get(f"{_base(web)}/{folder}/", check=_require_listing)
    for name, year, number, day, size in _ROW.findall(answer.text()):
        listed = f"{day} {size}".strip()
        yield BulkFile(name, folder, int(year), int(number), listed, _bytes_of(size))


def _require_listing(answer: Answer) -> None:
    """Refuse half a listing, and a page that stands in its place."""
    page = answer.text()
    if "Index of" not in page or "</html>" not in page.lower():
        raise Unreachable(f"{answer.host} sent no whole listing of PubMed's files.")


def _bytes_of(size: str) -> int:
    """The bytes that a listing rounds to three figures."""
    number = size.rstrip("KMG")
    return int(float(number) * _UNITS[size[len(number) :]]) if number else 0


def last_of_baseline(web: Web) -> tuple[int, int]:
    """Year and number of the baseline's last file, as NLM's notice says; zeros if it does not.

    Raises
    ------
    Unreachable
        The notice could not be had.
    """
    try:
        notice = web.get(f"{_base(web)}/baseline/README.txt").text()
    except NotAvailable:
        return 0, 0
    return last_in_notice(notice)


def last_in_notice(notice: str) -> tuple[int, int]:
    """Year and number of the baseline's last file, in NLM's words; zeros where it is not said."""
    found = _LAST.search(notice)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def fetch_md5(file: BulkFile, web: Web) -> str:
    """The MD5 that NLM publishes beside a file, in small letters.

    Raises
    ------
    NotAvailable
        There is none.
    BadContent
        There is one, and it is none, or of another file.
    """
    return md5_in(file, web.get(f"{_url(file, web)}.md5").text())


def md5_in(file: BulkFile, text: str) -> str:
    """The MD5 in what stands beside a file; raises as `fetch_md5` does."""
    found = _MD5.search(text)
    others = set(re.findall(r"pubmed\d{2}n\d{4,5}", text)) - {file.name.partition(".")[0]}
    if not found or others:
        msg = f"What stands beside {file.name} is not its MD5."
        raise BadContent(msg, "It is asked for again by the next run.", verdict="error_page")
    return found[0].lower()


def fetch_file(file: BulkFile, md5: str, web: Web) -> bytes:
    """The bytes of a file, packed as they are, its MD5 compared.

    Raises
    ------
    NotAvailable
        It has vanished since it was listed.
    BadContent
        It has another MD5.
    """
    as_it_is = {"Accept-Encoding": "identity"}
    answer = web.get(_url(file, web), headers=as_it_is, limit=MOST_BYTES)
    came = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
    if came != md5:
        msg = f"{file.name} came with MD5 {came}; NLM says {md5}."
        raise BadContent(msg, "It is fetched again by the next run.", verdict="partial")
    return answer.body


def _url(file: BulkFile, web: Web) -> str:
    return f"{_base(web)}/{file.folder}/{file.name}"


def _base(web: Web) -> str:
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
