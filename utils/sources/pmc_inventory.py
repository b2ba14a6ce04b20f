"""The inventory of the PMC Cloud Service: its articles, and the objects of each.

Every day S3 writes an inventory of the metadata objects, one an article version, with their ETags:
two of them differ exactly by what came, changed and went. It lies in packed CSV files that a
manifest names with their MD5; their columns are those that the manifest says. An article's metadata
holds the MD5 of its XML. E-utilities are not asked.
https://pmc-oa-opendata.s3.amazonaws.com/README.txt ·
https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ..command_line import command_line
from ..errors import BadContent, NotAvailable, Unreachable
from ..http import Answer, Web
from .pmc import s3_address

_PLACE = "inventory-reports/pmc-oa-opendata/metadata/"
_DAY = re.compile(rf"{_PLACE}(\d{{4}}-\d\d-\d\dT\d\d-\d\dZ)/")
_NEWEST = 3  # days looked at: the last one's manifest is often not written yet
_PREFIX = re.compile(r"<Prefix>([^<]{1,1024})</Prefix>")
_ROW = re.compile(r"<Contents>(.*?)</Contents>", re.S)
_KEY, _ETAG = re.compile(r"<Key>([^<]{1,1024})</Key>"), re.compile(r"<ETag>([^<]{1,99})</ETag>")
_OBJECT = re.compile(r"metadata/PMC(\d{1,10})\.(\d{1,4})\.json")
_MOST_BYTES = 2_000_000_000  # of a file of the inventory; the largest seen has 55 MB
_MD5 = re.compile(r"[0-9a-f]{32}")


class ObjectVersion(NamedTuple):
    """A version of an article, as listed: digits of its PMCID, version, ETag of its metadata."""

    pmcid: int
    version: int
    etag: str

    @property
    def name(self) -> str:
        """As the Cloud Service calls it: ``PMC7759461.2``."""
        return f"PMC{self.pmcid}.{self.version}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """An inventory by its manifest: the day, its files with their MD5 and bytes, their columns.

    ``checksum`` is the MD5 of the manifest, which is the identity of this snapshot.
    """

    day: str
    files: tuple[tuple[str, str, int], ...]
    columns: tuple[str, ...]
    checksum: str


@dataclass(frozen=True, slots=True)
class CloudArticle:
    """The objects of an article version: metadata and JATS as they came, and what the first says.

    ``xml`` is empty where it was not wanted, or there is none.
    """

    listed: ObjectVersion
    metadata: bytes
    record: dict[str, Any]
    xml: bytes = b""


def newest_inventory(web: Web) -> Inventory:
    """The newest inventory that is there whole.

    Raises
    ------
    Unreachable
        None of the last days has one, or it could not be had.
    """
    query = {"list-type": 2, "delimiter": "/", "prefix": _PLACE}
    days: set[str] = set()
    for page in _pages(query, web):
        days |= {found[1] for prefix in _PREFIX.findall(page) if (found := _DAY.fullmatch(prefix))}
    for day in sorted(days, reverse=True)[:_NEWEST]:
        try:
            return _inventory_of(day, web)
        except NotAvailable:
            continue
    msg = f"PMC's Cloud Service has no inventory of its last {_NEWEST} days."
    raise Unreachable(msg, "Try again tomorrow, or name the articles: --where FILE.")


def _inventory_of(day: str, web: Web) -> Inventory:
    answer = _get(f"{_PLACE}{day}/manifest.json", web)
    checksum = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
    try:
        told = _get(f"{_PLACE}{day}/manifest.checksum", web).text().strip().lower()
    except NotAvailable:
        told = ""
    if _MD5.fullmatch(told) and told != checksum:
        raise Unreachable(f"The manifest of PMC's inventory of {day} came damaged.")
    try:
        manifest = answer.json()
        if manifest["fileFormat"] != "CSV":
            raise BadContent(_unknown(f"its files are {manifest['fileFormat']}"))
        columns = tuple(name.strip() for name in manifest["fileSchema"].split(","))
        files = tuple(
            (str(file["key"]), str(file.get("MD5checksum") or ""), int(file.get("size") or 0))
            for file in manifest["files"]
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadContent(_unknown("its manifest cannot be read")) from error
    if not {"Key", "ETag"} <= set(columns):
        raise BadContent(_unknown(f"its columns are {', '.join(columns)}"))
    return Inventory(day, files, columns, checksum)


def _unknown(why: str) -> str:
    return f"PMC's inventory has a form that is not known here: {why}."


def listed(inventory: Inventory, web: Web) -> Iterator[ObjectVersion]:
    """Every article version of an inventory, file by file; each file's MD5 is compared.

    Raises
    ------
    Unreachable
        A file is gone (a newer inventory has taken its place), or came damaged.
    """
    key, etag = (inventory.columns.index(name) for name in ("Key", "ETag"))
    for name, md5, _ in inventory.files:
        try:
            answer = _get(name, web, md5=md5, limit=_MOST_BYTES)
            with gzip.open(io.BytesIO(answer.body), "rt", encoding="utf-8", newline="") as rows:
                for row in csv.reader(rows):
                    if found := _OBJECT.fullmatch(unquote(row[key])):
                        yield ObjectVersion(int(found[1]), int(found[2]), row[etag].strip('"'))
        except NotAvailable as error:
            msg = f"A file of PMC's inventory of {inventory.day} is gone: {name}."
            raise Unreachable(msg, "Run it again: a newer inventory is taken.") from error
        except (OSError, EOFError, zlib.error, csv.Error, IndexError, ValueError) as error:
            msg = f"A file of PMC's inventory of {inventory.day} cannot be read: {error}."
            raise Unreachable(msg) from error


def listed_of(pmcid: int, web: Web) -> Iterator[ObjectVersion]:
    """Every version of one article there is now; none: the Cloud Service does not have it."""
    # The dot matters: without it PMC1 would list PMC10 too.
    for page in _pages({"list-type": 2, "prefix": f"metadata/PMC{pmcid}."}, web):
        for row in _ROW.findall(page):
            name, etag = _KEY.search(row), _ETAG.search(row)
            if name and etag and (found := _OBJECT.fullmatch(unescape(name[1]))):
                told = unescape(etag[1]).strip('"')
                yield ObjectVersion(int(found[1]), int(found[2]), told)


def fetch_metadata(wanted: ObjectVersion, web: Web) -> CloudArticle:
    """Return the Cloud Service's metadata of an article version.

    Raises
    ------
    NotAvailable
        It has vanished since it was listed.
    BadContent
        It came damaged.
    """
    answer = _get(f"metadata/{wanted.name}.json", web)
    etag = str({k.lower(): v for k, v in answer.headers.items()}.get("etag") or "").strip('"')
    came = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
    if _MD5.fullmatch(etag or wanted.etag) and came != (etag or wanted.etag):
        msg = f"The metadata of {wanted.name} came damaged: MD5 {came}, not {etag or wanted.etag}."
        raise BadContent(msg, verdict="partial")
    try:
        record = answer.json()
    except Unreachable:
        record = None
    if not isinstance(record, dict) or record.get("pmcid") != f"PMC{wanted.pmcid}":
        msg = f"What lies in the place of {wanted.name}'s metadata is something else."
        raise BadContent(msg, verdict="not_a_paper")
    return CloudArticle(wanted, answer.body, record)


def fetch_xml(article: CloudArticle, web: Web) -> bytes:
    """The JATS of an article version, its MD5 compared; empty where there is none.

    Raises
    ------
    NotAvailable
        It has vanished.
    BadContent
        It has another MD5, twice.
    """
    if not (address := article.record.get("xml_url")):
        return b""
    url, md5 = s3_address(str(address), web.settings.address("pmc_cloud"))
    for last in (False, True):
        body = web.get(url).body
        came = hashlib.md5(body, usedforsecurity=False).hexdigest()
        if not md5 or came == md5:
            return body
        if last:
            msg = f"{article.listed.name} came with MD5 {came}; PMC says {md5}."
            raise BadContent(
                msg, f"Ask for it again: {command_line('mirror pmc --retry')}", verdict="partial"
            )
    raise AssertionError


def _pages(query: dict[str, Any], web: Web) -> Iterator[str]:
    """The pages of a listing, to its end."""
    token = ""
    while True:
        more = {"continuation-token": token} if token else {}
        page = web.get(_base(web), query | more, check=_require_listing).text()
        yield page
        found = re.search(r"<NextContinuationToken>([^<]+)</NextContinuationToken>", page)
        if "<IsTruncated>true</IsTruncated>" not in page or not found:
            return
        token = unescape(found[1])


def _require_listing(answer: Answer) -> None:
    if b"</ListBucketResult>" not in answer.body:
        raise Unreachable("PMC's Cloud Service sent no whole listing.", "Try again later.")


def _get(key: str, web: Web, md5: str = "", limit: int = 0) -> Answer:
    def compare(answer: Answer) -> None:
        came = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
        if _MD5.fullmatch(md5) and came != md5:
            raise Unreachable(f"{key} came damaged from PMC's Cloud Service.")

    size: dict[str, Any] = {"limit": limit} if limit else {}
    as_it_is = {"Accept-Encoding": "identity"}
    return web.get(f"{_base(web)}{quote(unquote(key))}", headers=as_it_is, check=compare, **size)


def _base(web: Web) -> str:
    return f"{web.settings.address('pmc_cloud')}/"
