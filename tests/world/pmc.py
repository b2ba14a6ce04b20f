"""The PMC Cloud Service (S3 objects per article version) and the PMC ID Converter.

Where the forms of the inventory are written down:

* its place, that it is of the metadata objects, daily, kept for 30 days: the bucket's README.txt
  (https://pmc-oa-opendata.s3.amazonaws.com/README.txt);
* folders of days, ``hive/`` and ``data/`` beside them, ``manifest.json`` and its checksum, the
  manifest's fields, CSV without a header and with all values quoted:
  https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory-location.html;
* ``ListObjectsV2`` and its errors: https://docs.aws.amazon.com/AmazonS3/latest/API/.

That the newest day often has no manifest yet is what other people's clients say. What the first
line of ``manifest.checksum`` looks like, beyond its 32 digits, is remembered only.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from tests.world.limits import refusal
from tests.world.pdf import pdf_of
from utils.demo import jats
from utils.demo.prose import abstract, body
from utils.demo.records import Record, strip_markup
from utils.demo.wire import XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

_S3 = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
_INVENTORY = "inventory-reports/pmc-oa-opendata/metadata/"
_OBJECT = re.compile(r"/(?:metadata/)?(PMC\d+)\.(\d+)(?:/PMC\d+\.\d+)?\.(json|xml|txt|pdf)")
_MEDIA = re.compile(r"/(PMC\d+)\.(\d+)/([^/]+)")
# A picture as publishers send it, its small form beside it, and a supplementary file.
_FILES = {
    "figure": {"fig1.jpg": b"\xff\xd8\xff\xe0 a picture", "fig1.gif": b"GIF89a a small picture"},
    "supplement": {"counts_MOESM1_ESM.csv": b"slice,cells\n1,24\n2,31\n"},
}


def cloud(call: Call, world: World) -> Reply:
    """Listing with ``list-type=2``, or one object."""
    if call.path in {"", "/"}:
        return _listing(call, world)
    if call.path.startswith(f"/{_INVENTORY}"):
        return _inventory(call, world)
    match = _OBJECT.fullmatch(call.path) or _MEDIA.fullmatch(call.path)
    record = _record_of(match[1], world) if match else None
    if not (match and record and int(match[2]) in record.cloud):
        return _no_such_key(call)
    if call.path.startswith("/metadata/") and match[3] != "json":
        return _no_such_key(call)
    name = f"{record.pmcid}.{match[2]}"
    if name in world.cloud.vanished:
        return _no_such_key(call)
    made = _object(record, int(match[2]), match[3], call)
    if match[3] == "xml" and name in world.cloud.torn:
        return replace(made, body=made.body[: len(made.body) // 2])
    return made


@dataclass
class Cloud:
    """What is odd about the bucket today.

    ``vanished`` are article versions that are listed and not there, ``torn`` those of whose XML
    only half comes; ``newest`` is the inventory's day, ``unfinished`` whether there is a newer one
    without a manifest, ``wrong_md5`` whether the manifest says another MD5 of its file, ``gone``
    whether that file is gone, ``columns`` the order of the CSV's; ``edited`` are papers as the
    bucket has them now, by PMCID; ``without_etag`` are articles that are listed without ETags.
    """

    edited: dict[str, Record] = field(default_factory=dict)

    vanished: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)
    newest: str = "2026-11-19T01-00Z"
    unfinished: bool = True
    wrong_md5: bool = False
    gone: bool = False
    columns: tuple[str, ...] = ("Bucket", "Key", "LastModifiedDate", "ETag")
    without_etag: set[str] = field(default_factory=set)


def _inventory(call: Call, world: World) -> Reply:
    """The manifest of the newest day, its checksum, and the packed rows."""
    cloud, data = world.cloud, _rows(world)
    manifest = json.dumps(
        {
            "sourceBucket": "pmc-oa-opendata", "destinationBucket": "arn:aws:s3:::pmc-oa-opendata",
            "version": "2016-11-30", "creationTimestamp": "1763514000000", "fileFormat": "CSV",
            "fileSchema": ", ".join(cloud.columns),
            "files": [
                {
                    "key": f"{_INVENTORY}data/5f6c0a7e.csv.gz",
                    "size": len(data),
                    "MD5checksum": hashlib.md5(data + b"!" * cloud.wrong_md5).hexdigest(),
                }
            ],
        }
    ).encode()  # fmt: skip
    wanted = call.path.removeprefix(f"/{_INVENTORY}")
    if wanted == f"{cloud.newest}/manifest.json":
        return Reply(200, manifest, "application/json")
    if wanted == f"{cloud.newest}/manifest.checksum":
        return Reply(200, hashlib.md5(manifest).hexdigest().encode(), "binary/octet-stream")
    if wanted == "data/5f6c0a7e.csv.gz" and not cloud.gone:
        return Reply(200, data, "binary/octet-stream")
    return _no_such_key(call)


def _record_of(pmcid: str, world: World) -> Record | None:
    return world.cloud.edited.get(pmcid) or world.corpus.by_pmcid.get(pmcid)


def _rows(world: World) -> bytes:
    """Every article version's metadata object, as the inventory has it."""
    lines = []
    for one in world.corpus.records:
        record = world.cloud.edited.get(one.pmcid, one)
        for version in record.cloud:
            etag = hashlib.md5(as_json(_metadata(record, version)).body).hexdigest()
            row = {
                "Bucket": "pmc-oa-opendata",
                "Key": f"metadata/{record.pmcid}.{version}.json",
                "LastModifiedDate": "2026-11-18T07:12:44.000Z",
                "ETag": etag,
            }
            lines.append(",".join(f'"{row[name]}"' for name in world.cloud.columns))
    return gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)


def _object(record: Record, version: int, kind: str, call: Call) -> Reply:
    if kind == "json":
        return as_json(_metadata(record, version))
    content = media(record).get(kind) or _content(record, version, kind)
    if content is None:
        return _no_such_key(call)
    etag = f'"{hashlib.md5(content).hexdigest()}"'
    return Reply(200, content, "binary/octet-stream", {"ETag": etag})


def media(record: Record) -> dict[str, bytes]:
    """The images and supplementary files of an article by their names."""
    kinds = (files for feature, files in _FILES.items() if feature in record.features)
    return {name: data for files in kinds for name, data in files.items()}


def _content(record: Record, version: int, kind: str) -> bytes | None:
    """What a file of this version holds; None where the licence keeps it back."""
    if kind == "xml":
        content = jats.document(record)
        return (
            content if version == max(record.cloud) else content + f"<!-- v{version} -->".encode()
        )
    if kind == "txt":
        if "jats" in record.files:
            return strip_markup(jats.document(record).decode()).encode()
        parts = [record.plain_title, *(strip_markup(text) for _, text in abstract(record))]
        parts += [strip_markup(text) for _, paragraphs in body(record) for text in paragraphs]
        return "\n\n".join(parts).encode()
    return pdf_of(record) if kind == "pdf" and not record.manuscript else None


@lru_cache(maxsize=1024)
def _metadata(record: Record, version: int) -> dict[str, Any]:
    folder = f"s3://pmc-oa-opendata/{record.pmcid}.{version}/{record.pmcid}.{version}"

    def url(kind: str) -> str | None:
        content = _content(record, version, kind)
        return f"{folder}.{kind}?md5={hashlib.md5(content).hexdigest()}" if content else None

    return {
        "pmcid": record.pmcid, "version": version,
        "pmid": int(record.pmid) if record.pmid else None, "doi": record.doi or None,
        "mid": "NIHMS2000003" if record.manuscript else None, "title": record.plain_title,
        "citation": f"{record.journal.short}. {record.year}; {record.volume}({record.issue})",
        "is_pmc_openaccess": not record.manuscript, "is_manuscript": record.manuscript,
        "is_historical_ocr": False, "is_retracted": record.retracted,
        "license_code": record.license, "xml_url": url("xml"), "pdf_url": url("pdf"),
        "text_url": url("txt"),
        "media_urls": [
            f"{folder.rpartition('/')[0]}/{name}?md5={hashlib.md5(data).hexdigest()}"
            for name, data in media(record).items()
        ],
    }  # fmt: skip


def _listing(call: Call, world: World) -> Reply:
    prefix = call.params.get("prefix", "")
    if prefix == _INVENTORY:
        newer = ["2026-11-20T01-00Z"] * world.cloud.unfinished
        days = [world.cloud.newest, *newer, "data", "hive"]
        return _folders(prefix, [f"{prefix}{day}/" for day in days])
    if prefix.startswith("metadata/"):
        return _metadata_objects(prefix, world)
    if "delimiter" not in call.params:
        return _files(prefix, world)
    # A whole PMCID names one paper: nobody needs to look through all of them.
    named = _record_of(prefix.partition(".")[0], world) if "." in prefix else None
    folders = sorted(
        folder
        for record in ([named] if named else world.corpus.records)
        for version in record.cloud
        if (folder := f"{record.pmcid}.{version}/").startswith(prefix)
    )[:1000]
    return _folders(prefix, folders)


def _folders(prefix: str, folders: list[str]) -> Reply:
    rows = "".join(f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" for name in folders)
    return text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult {_S3}><Name>pmc-oa-opendata'
        f"</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(folders)}</KeyCount><MaxKeys>1000"
        f"</MaxKeys><Delimiter>/</Delimiter><IsTruncated>false</IsTruncated>{rows}"
        "</ListBucketResult>",
        "application/xml",
    )


def _metadata_objects(prefix: str, world: World) -> Reply:
    """The metadata objects of one paper, with their ETags."""
    record = _record_of(prefix.removeprefix("metadata/").partition(".")[0], world)
    rows = "".join(
        f"<Contents><Key>metadata/{record.pmcid}.{version}.json</Key><ETag>&quot;"
        f"{hashlib.md5(as_json(_metadata(record, version)).body).hexdigest()}&quot;</ETag>"
        "<Size>1</Size></Contents>"
        for version in (record.cloud if record else ())
        if record
    )
    if record and record.pmcid in world.cloud.without_etag:
        rows = re.sub("<ETag>.*?</ETag>", "", rows)
    return text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult {_S3}><Name>pmc-oa-opendata'
        f"</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false"
        f"</IsTruncated>{rows}</ListBucketResult>",
        "application/xml",
    )


def _files(prefix: str, world: World) -> Reply:
    """Every file of a paper with its size: a listing without a delimiter."""
    record = world.corpus.by_pmcid.get(prefix.partition(".")[0])
    versions = record.cloud if record else ()
    rows = "".join(
        f"<Contents><Key>{record.pmcid}.{version}/{escape(name)}</Key><ETag>&quot;"
        f"{hashlib.md5(data).hexdigest()}&quot;</ETag><Size>{len(data)}</Size>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for version in versions
        if record
        for name, data in _every_file(record, version)
    )
    return text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult {_S3}><Name>pmc-oa-opendata'
        f"</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false"
        f"</IsTruncated>{rows}</ListBucketResult>",
        "application/xml",
    )


def _every_file(record: Record, version: int) -> Iterator[tuple[str, bytes]]:
    for kind in ("pdf", "txt", "xml"):
        if (content := _content(record, version, kind)) is not None:
            yield f"{record.pmcid}.{version}.{kind}", content
    yield from media(record).items()


def _no_such_key(call: Call) -> Reply:
    return text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The '
        f"specified key does not exist.</Message><Key>{escape(call.path.lstrip('/'))}</Key>"
        "<RequestId>0WORLD</RequestId></Error>",
        "application/xml",
        404,
    )


_KINDS = {
    "pmid": (r"0*[1-9]\d*", "invalid_pmids", "PubMed IDs (Positive Integers)"),
    "pmcid": (r"(?:PMC)?\d+(?:\.\d+)?", "invalid_pmcids", "PMC IDs"),
    "doi": (r"10\.\d+/.+", "invalid_dois", "DOIs"),
    "mid": (r"[A-Z]+\d+", "invalid_mids", "Manuscript IDs"),
}


def idconv(call: Call, world: World) -> Reply:
    """The converter of 2025: integers for PMIDs, one kind per request, 400 otherwise.

    It counts to the same three requests a second as the E-utilities.
    """
    with world.lock:
        too_many = world.desk.turn("anonymous", call.at, 3) > 3
    if too_many:
        return refusal(call, 2)
    ids = [name for name in call.params.get("ids", "").split(",") if name]
    kind = call.params.get("idtype") or _guess(ids)
    pattern, code, wanted = _KINDS.get(kind, _KINDS["pmid"])
    if not ids or len(ids) > 200 or not all(re.fullmatch(pattern, name) for name in ids):
        message = f"All values of query param `ids` must be {wanted}."
        if not ids or len(ids) > 200:
            message, code = "Query param `ids` must hold 1 to 200 values.", "invalid_ids"
        return as_json(
            {
                "status": "error",
                "http_status": "400",
                "http_status_reason": "Bad Request",
                "errors": [{"message": message, "code": code}],
            },
            400,
        )
    request = {"warnings": [], "format": "json", "idtype": kind, "ids": ids}
    rows = [_converted(kind, name, world) for name in ids]
    if call.params.get("format") != "json":
        return text(_as_xml(rows), XML)
    return as_json(
        {
            "status": "ok",
            "response-date": "2026-11-20 10:00:00",
            "request": request,
            "records": rows,
        }
    )


def _guess(ids: list[str]) -> str:
    first = ids[0] if ids else ""
    return next(
        (kind for kind, (pattern, *_) in _KINDS.items() if re.fullmatch(pattern, first)), ""
    )


def _converted(kind: str, name: str, world: World) -> dict[str, Any]:
    corpus = world.corpus
    if kind == "pmcid":
        record = corpus.by_pmcid.get("PMC" + name.removeprefix("PMC").split(".")[0])
    elif kind == "pmid":
        record = corpus.by_pmid.get(name.lstrip("0"))
    else:
        record = corpus.by_doi.get(name.lower())
    if record is None or not record.pmcid:
        told = {kind: int(name) if kind == "pmid" else name}
        return {
            "requested-id": name,
            **told,
            "status": "error",
            "errmsg": "Identifier not found in PMC",
        }
    row: dict[str, Any] = {"pmcid": record.pmcid, "requested-id": name}
    row |= {"pmid": int(record.pmid)} if record.pmid else {}
    row |= {"doi": record.doi} if record.doi else {}
    row |= {"live": False, "release-date": record.released} if record.embargoed else {}
    return row


def _as_xml(rows: list[dict[str, Any]]) -> str:
    records = "".join(
        "<record " + " ".join(f'{key}="{escape(str(value))}"' for key, value in row.items()) + "/>"
        for row in rows
    )
    return f'<?xml version="1.0"?><pmcids status="ok">{records}</pmcids>'
