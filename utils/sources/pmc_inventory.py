"""Read the daily inventory of the PMC Cloud Service: its articles and their objects.

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
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ..command_line import command_line
from ..errors import BadContent, NotAvailable, Unreachable
from ..http import Answer, Web
from .pmc import parse_s3_url

_INVENTORY_PREFIX = "inventory-reports/pmc-oa-opendata/metadata/"
_DAY = re.compile(rf"{_INVENTORY_PREFIX}(\d{{4}}-\d\d-\d\dT\d\d-\d\dZ)/")
_MAX_DAYS = 3  # days looked at: the last one's manifest is often not written yet
_PREFIX = re.compile(r"<Prefix>([^<]{1,1024})</Prefix>")
_ROW = re.compile(r"<Contents>(.*?)</Contents>", re.S)
_KEY, _ETAG = re.compile(r"<Key>([^<]{1,1024})</Key>"), re.compile(r"<ETag>([^<]{1,99})</ETag>")
_OBJECT = re.compile(r"metadata/PMC(\d{1,10})\.(\d{1,4})\.json")
_MAX_FILE_BYTES = 2_000_000_000  # of a file of the inventory; the largest seen has 55 MB
_MD5 = re.compile(r"[0-9a-f]{32}")


class ObjectVersion(NamedTuple):
    """A listed version of an article: digits of its PMCID, version, ETag of its metadata."""

    pmcid: int
    version: int
    etag: str

    @property
    def name(self) -> str:
        """The name at the Cloud Service: ``PMC7759461.2``."""
        return f"PMC{self.pmcid}.{self.version}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """One day's inventory: its date, its files with MD5 and size, and their columns.

    ``checksum`` is the MD5 of the manifest, which is the identity of this snapshot.
    """

    day: str
    files: tuple[tuple[str, str, int], ...]
    columns: tuple[str, ...]
    checksum: str


@dataclass(frozen=True, slots=True)
class CloudArticle:
    """An article version: its metadata and JATS as received, and the parsed metadata.

    ``xml`` is empty where it was not wanted, or there is none.
    """

    listed: ObjectVersion
    metadata: bytes
    record: dict[str, Any]
    xml: bytes = b""


def find_newest_inventory(web: Web) -> Inventory:
    """Return the newest complete inventory.

    Raises
    ------
    Unreachable
        None of the last days has one, or it could not be had.
    """
    query = {"list-type": 2, "delimiter": "/", "prefix": _INVENTORY_PREFIX}
    days: set[str] = set()
    for page in _fetch_pages(query, web):
        days |= {found[1] for prefix in _PREFIX.findall(page) if (found := _DAY.fullmatch(prefix))}
    for day in sorted(days, reverse=True)[:_MAX_DAYS]:
        try:
            return _fetch_inventory(day, web)
        except NotAvailable:
            continue
    msg = f"PMC's Cloud Service has no inventory of its last {_MAX_DAYS} days."
    raise Unreachable(msg, "Try again tomorrow, or name the articles: --where FILE.")


def _fetch_inventory(day: str, web: Web) -> Inventory:
    """Return the inventory of a day, from its manifest."""
    answer = _fetch_object(f"{_INVENTORY_PREFIX}{day}/manifest.json", web)
    checksum = _compute_md5(answer.body)
    try:
        told = (
            _fetch_object(f"{_INVENTORY_PREFIX}{day}/manifest.checksum", web).text().strip().lower()
        )
    except NotAvailable:
        told = ""
    if _MD5.fullmatch(told) and told != checksum:
        raise Unreachable(f"The manifest of PMC's inventory of {day} arrived damaged.")
    try:
        manifest = answer.json()
        if manifest["fileFormat"] != "CSV":
            raise BadContent(_build_format_message(f"its files are {manifest['fileFormat']}"))
        columns = tuple(name.strip() for name in manifest["fileSchema"].split(","))
        files = tuple(
            (str(file["key"]), str(file.get("MD5checksum") or ""), int(file.get("size") or 0))
            for file in manifest["files"]
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadContent(_build_format_message("its manifest cannot be read")) from error
    if not {"Key", "ETag"} <= set(columns):
        raise BadContent(_build_format_message(f"its columns are {', '.join(columns)}"))
    return Inventory(day, files, columns, checksum)


def _build_format_message(why: str) -> str:
    """Return the message about an inventory of unknown format."""
    return f"PMC's inventory has a form that is not known here: {why}."


def list_versions(inventory: Inventory, web: Web) -> Iterator[ObjectVersion]:
    """Yield every article version of an inventory; check the MD5 of each file.

    Raises
    ------
    Unreachable
        A file is gone (a newer inventory has taken its place), or arrived damaged.
    """
    key, etag = (inventory.columns.index(name) for name in ("Key", "ETag"))
    for name, md5, _ in inventory.files:
        try:
            answer = _fetch_object(name, web, md5=md5, limit=_MAX_FILE_BYTES)
            with gzip.open(io.BytesIO(answer.body), "rt", encoding="utf-8", newline="") as rows:
                for row in csv.reader(rows):
                    if found := _OBJECT.fullmatch(unquote(row[key])):
                        yield ObjectVersion(int(found[1]), int(found[2]), row[etag].strip('"'))
        except NotAvailable as error:
            msg = f"A file of PMC's inventory of {inventory.day} is gone: {name}."
            raise Unreachable(msg, "Run the command again, with a newer inventory.") from error
        except (OSError, EOFError, zlib.error, csv.Error, IndexError, ValueError) as error:
            msg = f"A file of PMC's inventory of {inventory.day} cannot be read: {error}."
            raise Unreachable(msg) from error


def list_article_versions(pmcid: int, web: Web) -> Iterator[ObjectVersion]:
    """Yield the present versions of one article; none if it is not in the Cloud Service."""
    # The dot matters: without it PMC1 would list PMC10 too.
    for page in _fetch_pages({"list-type": 2, "prefix": f"metadata/PMC{pmcid}."}, web):
        for row in _ROW.findall(page):
            name, etag = _KEY.search(row), _ETAG.search(row)
            if not (name and etag):
                msg = f"PMC's listing of PMC{pmcid} has a row without its key or its ETag."
                raise Unreachable(msg, "Nothing was changed. Run it again later.")
            if found := _OBJECT.fullmatch(unescape(name[1])):
                told = unescape(etag[1]).strip('"')
                yield ObjectVersion(int(found[1]), int(found[2]), told)


def fetch_metadata(wanted: ObjectVersion, web: Web, copy: Path | None = None) -> CloudArticle:
    """Return the metadata of an article version, from a *copy* of the bucket if it is current.

    Raises
    ------
    NotAvailable
        It has vanished since it was listed.
    BadContent
        It arrived damaged.
    """
    key = f"metadata/{wanted.name}.json"
    answer = Answer(200, "", _read_copied_object(copy, key, wanted.etag))
    if not answer.body:
        answer = _fetch_object(key, web)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        etag = str(headers.get("etag") or "").strip('"') or wanted.etag
        came = _compute_md5(answer.body)
        if _MD5.fullmatch(etag) and came != etag:
            msg = f"The metadata of {wanted.name} arrived damaged: MD5 {came}, not {etag}."
            raise BadContent(msg, verdict="partial")
    try:
        record = answer.json()
    except Unreachable:
        record = None
    if not isinstance(record, dict) or record.get("pmcid") != f"PMC{wanted.pmcid}":
        msg = f"The file at the place of {wanted.name}'s metadata is something else."
        raise BadContent(msg, verdict="not_a_paper")
    return CloudArticle(wanted, answer.body, record)


def fetch_xml(article: CloudArticle, web: Web, copy: Path | None = None) -> bytes:
    """Fetch the JATS XML of an article version and check its MD5; b"" if it has no XML.

    Raises
    ------
    NotAvailable
        It has vanished.
    BadContent
        It has another MD5, twice.
    """
    if not (address := article.record.get("xml_url")):
        return b""
    base = web.settings.address("pmc_cloud")
    url, md5 = parse_s3_url(str(address), base)
    if body := _read_copied_object(copy, url.removeprefix(f"{base}/"), md5):
        return body
    for last in (False, True):
        body = web.get(url).body
        came = _compute_md5(body)
        if not md5 or came == md5:
            return body
        if last:
            msg = f"{article.listed.name} arrived with MD5 {came}; PMC says {md5}."
            raise BadContent(
                msg, f"Ask for it again: {command_line('mirror pmc --retry')}", verdict="partial"
            )
    raise AssertionError


def _read_copied_object(copy: Path | None, key: str, md5: str) -> bytes:
    """Return an object from a copy of the bucket; b"" if it is missing or has another MD5."""
    if copy is None or not _MD5.fullmatch(md5) or ".." in key.split("/"):
        return b""
    try:
        body = (copy / key).read_bytes()
    except OSError:
        return b""
    return body if _compute_md5(body) == md5 else b""


def _compute_md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _fetch_pages(query: dict[str, Any], web: Web) -> Iterator[str]:
    """Yield the pages of a listing, to its end."""
    token = ""
    while True:
        more = {"continuation-token": token} if token else {}
        page = web.get(_get_base_url(web), query | more, check=_require_listing).text()
        yield page
        found = re.search(r"<NextContinuationToken>([^<]+)</NextContinuationToken>", page)
        if "<IsTruncated>true</IsTruncated>" not in page or not found:
            return
        token = unescape(found[1])


def _require_listing(answer: Answer) -> None:
    """Raise `Unreachable` for an incomplete listing."""
    if b"</ListBucketResult>" not in answer.body:
        raise Unreachable("PMC's Cloud Service sent an incomplete listing.", "Try again later.")


def _fetch_object(key: str, web: Web, md5: str = "", limit: int = 0) -> Answer:
    """Return an object of the Cloud Service, with its MD5 checked."""

    def compare(answer: Answer) -> None:
        if _MD5.fullmatch(md5) and _compute_md5(answer.body) != md5:
            raise Unreachable(f"{key} arrived damaged from PMC's Cloud Service.")

    size: dict[str, Any] = {"limit": limit} if limit else {}
    as_it_is = {"Accept-Encoding": "identity"}
    return web.get(
        f"{_get_base_url(web)}{quote(unquote(key))}", headers=as_it_is, check=compare, **size
    )


def _get_base_url(web: Web) -> str:
    """Return the address of the service."""
    return f"{web.settings.address('pmc_cloud')}/"
