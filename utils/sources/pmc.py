"""Fetch full texts of PubMed Central as JATS XML, from its two services for programs.

The Cloud Service keeps one folder per article version, with a checksum and the license; the
E-utilities (``db=pmc``) hold some articles that the Cloud Service does not. Web pages of PMC are
closed to programs and never asked.
https://pmc.ncbi.nlm.nih.gov/tools/pmcaws/ · https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from ..errors import BadContent, NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper
from ..model.site import Address
from .eutils import RATE, call_utility, is_empty_id_list
from .source import Route, Source, one_by_one

_FORBIDDEN_NOTE = b"does not allow downloading of the full text"
# The set declares no encoding or namespace that its articles do not declare themselves.
_BEGIN, _END = re.compile(rb"<article[\s>]"), b"</article>"
# Also as articles of before 2025 spell it: "pmc", and digits without the prefix.
_OWN_PMCID = re.compile(
    rb"""<article-id\s[^>]*pub-id-type\s*=\s*["']pmc(?:id|aid)?["'][^>]*>\s*(?:PMC)?(\d+)"""
)
_SET_ENDS = (b"</pmc-articleset>", b"<pmc-articleset/>", b"<pmc-articleset />")
_KEY, _SIZE = re.compile(rb"<Key>([^<]{1,1024})</Key>"), re.compile(rb"<Size>(\d{1,15})</Size>")
_KEY_PARTS = 2
_CLOUD_URL = "https://pmc-oa-opendata.s3.amazonaws.com"
_PDF_ROUTE = "pmc_cloud_pdf"
_ARTICLES_PER_REQUEST = 20  # a few megabytes of JATS


def fetch_from_cloud(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch the newest version's JATS from the PMC Cloud Service, and check its checksum.

    Raises
    ------
    NotAvailable
        The article is not in the open-access or author-manuscript datasets.
    """
    base, pmcid = web.settings.address("pmc_cloud"), paper.ids.pmcid
    record = _fetch_metadata(pmcid, web)
    if not record.get("xml_url"):
        msg = f"PMC Cloud has {pmcid}, but not as XML."
        raise NotAvailable(msg)
    url, md5 = parse_s3_url(record["xml_url"], base)
    answer = web.get(url, check=lambda got: _check_md5(got, md5, pmcid), kept=True)
    yield replace(to_fetched(record, answer.body), url=answer.url, verified=bool(md5))


def fetch_pdf_from_cloud(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch the newest version's PDF from the PMC Cloud Service, and check its checksum.

    Raises
    ------
    NotAvailable
        The article is not in the datasets, or is there without a PDF.
    """
    base, pmcid = web.settings.address("pmc_cloud"), paper.ids.pmcid
    record = _fetch_metadata(pmcid, web)
    if not record.get("pdf_url"):
        msg = f"PMC Cloud has {pmcid}, but not as a PDF."
        raise NotAvailable(msg)
    url, md5 = parse_s3_url(str(record["pdf_url"]), base)
    answer = web.get(url, check=lambda got: _check_md5(got, md5, pmcid, "PDF"), kept=True)
    yield replace(
        to_fetched(record, answer.body),
        media="pdf",
        url=answer.url,
        via=_PDF_ROUTE,
        verified=bool(md5),
    )


def to_fetched(record: Mapping[str, Any], xml: bytes) -> Fetched:
    """Return an article's JATS with the metadata of the Cloud Service.

    >>> to_fetched({"pmcid": "PMC1", "xml_url": "s3://a/PMC1.1/PMC1.1.xml?md5=ab"}, b"").url
    'https://pmc-oa-opendata.s3.amazonaws.com/PMC1.1/PMC1.1.xml'
    """
    url, md5 = parse_s3_url(str(record.get("xml_url") or ""), _CLOUD_URL)
    return Fetched(
        body=xml,
        media="jats",
        url=url,
        source="pmc",
        via="pmc_cloud",
        license=record.get("license_code") or "",
        retracted=str(record.get("is_retracted")).lower() in ("true", "yes"),
        verified=bool(md5),
        ids=_to_ids(record),
        version="accepted" if record.get("is_manuscript") is True else "",
    )


class MediaFile(NamedTuple):
    """An image or supplementary file of an article: its name, address and checksum."""

    name: str
    url: str
    md5: str


def list_media(pmcid: str, web: Web) -> tuple[str, list[MediaFile]]:
    """Return the license of an article at the Cloud Service, and its media files.

    Raises
    ------
    NotAvailable
        The article is not in its datasets.
    """
    base, record = web.settings.address("pmc_cloud"), _fetch_metadata(pmcid, web)
    urls = record.get("media_urls")
    files = [parse_s3_url(url, base) for url in urls or () if isinstance(url, str)]
    named = [MediaFile(unquote(url.rpartition("/")[2]), url, md5) for url, md5 in files]
    return str(record.get("license_code") or ""), named


def list_media_sizes(pmcid: str, web: Web) -> dict[str, int]:
    """Return the size of each media file of an article at the Cloud Service, by name.

    Raises
    ------
    NotAvailable
        The article is not in its datasets.
    """
    listing = _fetch_listing(pmcid, web, delimiter="")
    found: dict[int, dict[str, int]] = {}
    for piece in listing.split(b"<Contents>")[1:]:
        key, size = _KEY.search(piece), _SIZE.search(piece)
        parts = unescape(key[1].decode("utf-8", "replace")).split("/") if key else []
        if size and len(parts) == _KEY_PARTS and parts[0].startswith(f"{pmcid}."):
            version = parts[0].rpartition(".")[2]
            if version.isdecimal() and not parts[1].startswith(f"{parts[0]}."):
                found.setdefault(int(version), {})[parts[1]] = int(size[1])
            elif version.isdecimal():
                found.setdefault(int(version), {})
    if not found:
        raise NotAvailable(_build_missing_message(pmcid))
    return found[max(found)]


def fetch_media(file: MediaFile, pmcid: str, web: Web, most_bytes: int) -> bytes:
    """Fetch an image or supplementary file, and check its checksum.

    Raises
    ------
    BadContent
        It has more than *most_bytes*.
    """
    return web.get(
        file.url, check=lambda got: _check_md5(got, file.md5, pmcid, file.name), limit=most_bytes
    ).body


def fetch_from_efetch(
    papers: Sequence[Paper], web: Web
) -> Iterator[tuple[Paper, Fetched | SourceMiss]]:
    """Fetch JATS through E-utilities, several articles in one request.

    What a batch brings is kept article by article: the next batch is made of others.
    """
    digits = [paper.ids.pmcid.removeprefix("PMC") for paper in papers]
    url = f"{web.settings.address('eutils')}/efetch.fcgi?db=pmc&id={{}}&retmode=xml"
    articles = {
        n: answer.body for n in digits if (answer := web.journal.find_batch_item(url.format(n)))
    }
    if unknown := [number for number in digits if number not in articles]:

        def read(answer: Answer) -> None:
            _require_complete(answer)
            sent = _split_articles(answer.body)
            articles.update((number, sent.get(number, b"")) for number in unknown)
            web.journal.store_batch_items({url.format(n): articles[n] for n in unknown})

        params = {"db": "pmc", "id": ",".join(unknown), "retmode": "xml"}
        if is_empty_id_list(call_utility(web, "efetch", params, read=read)):
            articles |= dict.fromkeys(unknown, b"")
    for paper, number in zip(papers, digits, strict=True):
        article = articles[number]
        if not article:
            msg = f"PMC does not provide {paper.ids.pmcid} through E-utilities."
            yield paper, NotAvailable(msg)
        elif _FORBIDDEN_NOTE in article:
            msg = f"The publisher of {paper.ids.pmcid} does not allow its full text in XML form."
            yield paper, NotAvailable(msg)
        else:
            ids = Ids(pmcid=paper.ids.pmcid)
            yield (
                paper,
                Fetched(article, "jats", url.format(number), SOURCE.name, "efetch", ids=ids),
            )


def _require_complete(answer: Answer) -> None:
    """Reject an incomplete article set: PMC may have the missing articles."""
    if not answer.body.rstrip().endswith(_SET_ENDS):
        msg = "it is not a complete set of articles."
        raise BadContent(msg, verdict="not_a_paper")


def _split_articles(body: bytes) -> dict[str, bytes]:
    """Return the articles of an answer by the digits of their PMCIDs.

    Cut apart as bytes, not as a tree: one malformed article costs that article only, and what is
    kept is what was sent.
    """
    found = {}
    for piece in body.split(_END)[:-1]:
        begin = _BEGIN.search(piece)
        if begin and (number := _OWN_PMCID.search(piece)):
            found[number[1].decode()] = piece[begin.start() :] + _END
    return found


def _fetch_metadata(pmcid: str, web: Web) -> dict[str, Any]:
    """Return the Cloud Service's metadata of an article's newest version."""
    version = _find_newest_version(pmcid, web)
    url = f"{web.settings.address('pmc_cloud')}/metadata/{version}.json"
    record: dict[str, Any] = web.get(url, check=Answer.json, kept=True).json()
    return record


def _find_newest_version(pmcid: str, web: Web) -> str:
    """Return the folder of the newest version, such as ``PMC7759461.2``."""
    listing = _fetch_listing(pmcid, web, delimiter="/")
    versions = re.findall(rb"<Prefix>" + pmcid.encode() + rb"\.(\d+)/</Prefix>", listing)
    if not versions:
        raise NotAvailable(_build_missing_message(pmcid))
    return f"{pmcid}.{max(map(int, versions))}"


def _build_missing_message(pmcid: str) -> str:
    """Return the message about an article that is not in the datasets."""
    return f"{pmcid} is not in the PMC Cloud datasets (not open access, no author manuscript)."


def _fetch_listing(pmcid: str, web: Web, delimiter: str) -> bytes:
    """Return the Cloud Service's listing: folders with the delimiter ``/``, else files."""

    def is_list(answer: Answer) -> None:
        if b"ListBucketResult" not in answer.body:
            msg = f"PMC Cloud did not list the versions of {pmcid}."
            raise Unreachable(msg, "Try again later.")

    # The dot matters: without it PMC1 would list PMC10 too.
    wanted: dict[str, Any] = {"list-type": 2, "prefix": f"{pmcid}."}
    if delimiter:
        wanted["delimiter"] = delimiter
    address = f"{web.settings.address('pmc_cloud')}/"
    return web.get(address, wanted, check=is_list, kept=True).body


def parse_s3_url(s3_url: str, base: str) -> tuple[str, str]:
    """Return the HTTPS address of an ``s3://`` object, and its MD5.

    >>> parse_s3_url("s3://pmc-oa-opendata/PMC1.1/PMC1.1.xml?md5=ab", "https://mirror.test")
    ('https://mirror.test/PMC1.1/PMC1.1.xml', 'ab')
    """
    parts = urlsplit(s3_url)
    return f"{base}{parts.path}", parse_qs(parts.query).get("md5", [""])[0].lower()


def _check_md5(answer: Answer, md5: str, pmcid: str, what: str = "XML") -> None:
    """Raise `Unreachable` if the checksum of an answer differs."""
    got = hashlib.md5(answer.body, usedforsecurity=False).hexdigest()
    if md5 and got != md5:
        msg = f"The {what} of {pmcid} arrived damaged from PMC Cloud: its checksum differs."
        raise Unreachable(msg, "Try again later.")


def _to_ids(record: Mapping[str, Any]) -> Ids:
    """Return the identifiers in a metadata record."""
    return Ids(
        pmcid=record.get("pmcid") or "",
        pmid=str(record.get("pmid") or ""),
        doi=record.get("doi") or "",
    )


SOURCE = Source(
    name="pmc",
    about="PubMed Central: JATS from the Cloud Service, then from E-utilities",
    addresses=(
        Address("pmc_cloud", "https://pmc-oa-opendata.s3.amazonaws.com", "PMC Cloud Service"),
    ),
    label="PMC",
    # An open bucket without a published limit; sixteen a second is what NLM's own tools do.
    # S3 serves 5,500 a second from each prefix, so a user may choose more, up to 200.
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
    rates=(
        RATE,
        Rate(
            "pmc_cloud",
            ("pmc_cloud",),
            every=1 / 16,
            in_flight=16,
            delay="pmc_cloud_request_delay_ms",
            least=1 / 200,
        ),
    ),
    routes=(
        # It has open access and author manuscripts (facts of August 2026).
        Route(
            "pmc_cloud",
            ("pmcid",),
            one_by_one(fetch_from_cloud),
            share=0.725,
            label="PubMed Central (cloud)",
        ),
        Route(
            "efetch",
            ("pmcid",),
            fetch_from_efetch,
            batch=_ARTICLES_PER_REQUEST,
            share=0.5,
            label="PubMed Central (E-utilities)",
        ),
    ),
    pdf_routes=(
        Route(
            _PDF_ROUTE,
            ("pmcid",),
            one_by_one(fetch_pdf_from_cloud),
            has_pdfs=True,
            label="PubMed Central (PDF)",
        ),
    ),
)
