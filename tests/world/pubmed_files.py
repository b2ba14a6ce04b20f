"""NLM's folder of PubMed's baseline and update files: ``world.bulk`` is what lies there.

The forms, and where they are written down:

* the two folders, names, up to 30,000 records a file, an MD5 beside each
  (https://www.nlm.nih.gov/databases/download/pubmed_medline.html; NLM Technical Bulletin
  2023 Nov-Dec, baseline release);
* Apache's listing with ``IndexOptions FancyIndexing``: name, day and minute, size in three figures,
  links that sort (httpd.apache.org/docs/2.4/mod/mod_autoindex.html; its rows as programs that
  mirror the folder read them: titipata/pubmed_parser and EDirect's ``archive-pubmed`` match
  ``href="pubmed…xml.gz"``);
* ``MD5(pubmed26n0001.xml.gz)= <hex>``, as OpenSSL's ``dgst`` prints; other years had md5sum's form
  (a fixture of each is known);
* the two sentences of README.txt that name the last file of the baseline and the first update;
* ``DeleteCitation`` as the last child of a set (pubmed_250101.dtd).

The bytes of its error pages are remembered only.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from utils.demo.pubmed_xml import DOCTYPE, pubmed_article
from utils.demo.wire import Call, Reply, text

if TYPE_CHECKING:
    from tests.world import World
    from utils.demo.records import Record

_GZIP = "application/x-gzip"


@dataclass
class Bulk:
    """The folder: files by name, in ``baseline`` and ``updates``.

    ``last`` is the number that the notice calls the last of the baseline ("": no notice);
    ``wrong_md5`` are files beside which another's MD5 stands, ``torn`` those of which only the
    first half comes, ``vanished`` those that are listed and not there; ``days`` the day and minute
    that the listing shows of a file, ``md5sum`` whether MD5 files have that program's form.
    """

    baseline: dict[str, bytes] = field(default_factory=dict)
    updates: dict[str, bytes] = field(default_factory=dict)
    last: str = ""
    wrong_md5: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)
    vanished: set[str] = field(default_factory=set)
    days: dict[str, str] = field(default_factory=dict)
    md5sum: bool = False


def name_of(year: int, number: int) -> str:
    """The name of a file.

    >>> name_of(26, 1)
    'pubmed26n0001.xml.gz'
    """
    return f"pubmed{year:02}n{number:04}.xml.gz"


def packed(articles: Iterable[str], deleted: Iterable[str] = ()) -> bytes:
    """A file of some records and deletions; the same ones give the same bytes."""
    gone = "".join(f'<PMID Version="1">{pmid}</PMID>\n' for pmid in deleted)
    tail = f"<DeleteCitation>\n{gone}</DeleteCitation>\n" if gone else ""
    body = f"{DOCTYPE}<PubmedArticleSet>\n{chr(10).join(articles)}\n{tail}</PubmedArticleSet>"
    return gzip.compress(body.encode(), mtime=0)


def small_bulk(records: Iterable[Record], year: int = 26) -> Bulk:
    """What the world's papers make: a baseline of three files, and one update."""
    articles = [pubmed_article(record) for record in records if record.pmid]
    made, size = Bulk(), -(-len(articles) // 3)
    for number in range(3):
        some = articles[number * size : (number + 1) * size]
        made.baseline[name_of(year, number + 1)] = packed(some)
    made.updates[name_of(year, 4)] = packed(articles[:2])
    made.last = name_of(year, 3)
    return made


def pubmed_files(call: Call, world: World) -> Reply:
    """``/baseline/``, ``/updatefiles/`` and what is in them."""
    bulk = world.bulk
    _, folder, name = [*call.path.split("/"), ""][:3]
    files = {"baseline": bulk.baseline, "updatefiles": bulk.updates}.get(folder)
    if files is None:
        return _not_there(call)
    if not name:
        return text(_listing(folder, files, bulk))
    if name == "README.txt" and bulk.last:
        return text(_notice(bulk), "text/plain")
    wanted = name.removesuffix(".md5")
    if wanted not in files or wanted in bulk.vanished:
        return _not_there(call)
    data = files[wanted]
    if name.endswith(".md5"):
        told = data + b"!" if wanted in bulk.wrong_md5 else data
        digest = hashlib.md5(told, usedforsecurity=False).hexdigest()
        return text(_md5_line(wanted, digest, bulk), "text/plain")
    return Reply(200, data[: len(data) // 2] if wanted in bulk.torn else data, _GZIP)


def _md5_line(name: str, digest: str, bulk: Bulk) -> str:
    return f"{digest}  {name}\n" if bulk.md5sum else f"MD5({name})= {digest}\n"


def _listing(folder: str, files: dict[str, bytes], bulk: Bulk) -> str:
    rows = ""
    for name, data in sorted(files.items()):
        day = bulk.days.get(name, "2026-01-31 14:05")
        for shown, size in ((name, _shown(len(data))), (f"{name}.md5", "60")):
            rows += f'<a href="{shown}">{shown}</a>{" " * 8}{day}  {size:>4}\n'
    title = f"Index of /pubmed/{folder}"
    sorts = '<a href="?C=N;O=D">Name</a>    <a href="?C=M;O=A">Last modified</a>'
    notice = '<a href="README.txt">README.txt</a>   2026-01-29 09:00  5.1K\n'
    return (
        f"<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n"
        f'<pre>{sorts}<hr><a href="/pubmed/">Parent Directory</a>\n{notice}{rows}<hr></pre>\n'
        "</body></html>\n"
    )


def _shown(size: int) -> str:
    """A size as Apache shows it (``apr_strfsize``)."""
    if size < 973:
        return str(size)
    left = size / 1024
    for unit in "KMG":
        if left < 973:
            return f"{left:.1f}{unit}" if left < 9.95 else f"{left:.0f}{unit}"
        left /= 1024
    return f"{left:.0f}T"


def _notice(bulk: Bulk) -> str:
    name = bulk.last.removesuffix(".gz")
    year, number = int(name[6:8]), int(name[9:13])
    return (
        f"The complete baseline consists of files pubmed{year}n0001.xml through {name}.\n\n"
        f"The first Update file to be loaded after loading the complete set of 20{year} "
        f"MEDLINE/PubMed baseline files is pubmed{year}n{number + 1:04}.xml.\n"
    )


def _not_there(call: Call) -> Reply:
    page = "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>"
    return text(page, status=404)
