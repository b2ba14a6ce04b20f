"""What NCBI may send instead of records, and what an enemy may put into them."""

import gzip
import io
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.processes import run
from tests.readers.test_pubmed_xml import article, pack
from utils.errors import BadContent, PaperError, Unreachable
from utils.model.paper import Paper
from utils.readers.pubmed import DeletedRecords, iterate_records


def title(records: Iterable[Paper | DeletedRecords]) -> str:
    (paper,) = records
    assert isinstance(paper, Paper)
    return paper.title


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"<x><ERROR> Error occurred: cannot get document summary</ERROR></x>", Unreachable,
            "cannot get document summary"),
        (b"<eFetchResult><ERROR>ID list is empty! Possibly it has none.</ERROR></eFetchResult>",
            BadContent, "ID list is empty"),
        (b"<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>", BadContent,
            "obtain query"),
        (b'{"error":"API rate limit exceeded","api-key":"SECRET","count":"4","limit":"3"}',
            Unreachable, "rate limit"),
        (b'{"esearchresult":{"count":"1"}}', BadContent, "not PubMed XML"),
        (b"[1]", BadContent, "not PubMed XML"),
        (b"", BadContent, "empty"),
        (b" \n", BadContent, "empty"),
        (b"<!DOCTYPE html><html><body><p>502<br></body></html>", BadContent, "not PubMed XML"),
        (b"<html><body/></html>", BadContent, "<html>"),
        (b"<article><front/></article>", BadContent, "<article>"),
        (b"ID+list+is+empty!", BadContent, "not PubMed XML"),
        (b"\x1f\x8b\x08\x00rubbish", BadContent, "not PubMed XML"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_set_is_an_error(
    body: bytes, kind: type[PaperError], words: str
) -> None:
    with pytest.raises(kind, match=re.escape(words)) as caught:
        list(iterate_records(body))
    assert "SECRET" not in str(caught.value.envelope())


def test_a_rate_limit_is_told_as_one() -> None:
    with pytest.raises(Unreachable) as caught:
        list(iterate_records(b'{"error":"API rate limit exceeded","count":"4"}'))
    assert caught.value.code == "RATE_LIMIT"


@pytest.mark.parametrize(
    "broken",
    [
        pack(article(pmid="8"), article(pmid="9"), "<PubmedArticle><a></b>", article(pmid="10")),
        pack(article(pmid="8"), article(pmid="9"), article(pmid="10"))[:-60],
    ],
    ids=["malformed", "truncated"],
)
def test_complete_records_come_before_the_error(broken: bytes) -> None:
    records = iterate_records(io.BytesIO(broken))
    assert [next(records).ids.pmid for _ in range(2)] == ["8", "9"]  # type: ignore[union-attr]
    with pytest.raises(BadContent, match="after PMID 9") as caught:
        next(records)
    assert caught.value.details == {"verdict": "partial", "after": "9"}


def test_a_truncated_gzip_file_is_bad_content() -> None:
    many = gzip.compress(pack(*(article(pmid=str(pmid)) for pmid in range(1, 3000))))
    with gzip.open(io.BytesIO(many[:-2000])) as stream:
        records = iterate_records(stream)
        with pytest.raises(BadContent, match="after PMID"):
            list(records)


def test_entities_never_expand(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET", encoding="utf-8")
    doctype = (
        f'<!DOCTYPE PubmedArticleSet [<!ENTITY file SYSTEM "{secret.as_uri()}">'
        '<!ENTITY word "EXPANDED">]>'
    )
    body = pack(article("", title="a &file; b &word; c"), doctype=doctype)
    assert title(iterate_records(body)) == "a &file; b &word; c"


@pytest.mark.parametrize("scheme", ["http://dtd.invalid/", "https://dtd.invalid/", "ftp://x/", ""])
def test_no_dtd_is_opened_wherever_it_is_said_to_be(scheme: str, tmp_path: Path) -> None:
    """lxml's ``collect_ids=False`` makes libxml2 load it, whatever ``load_dtd`` says."""
    (tmp_path / "own.dtd").write_text("<!ELEMENT broken", encoding="utf-8")
    address = f"{scheme}pubmed.dtd" if scheme else (tmp_path / "own.dtd").as_uri()
    body = pack(article(pmid="7"), doctype=f'<!DOCTYPE PubmedArticleSet SYSTEM "{address}">')
    assert [record.ids.pmid for record in iterate_records(body)] == ["7"]  # type: ignore[union-attr]


def test_an_entity_bomb_stays_small() -> None:
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    doctype = f'<!DOCTYPE PubmedArticleSet [<!ENTITY a0 "{"x" * 100}">{bomb}]>'
    try:
        read = title(iterate_records(pack(article(title="&a11;"), doctype=doctype)))
    except BadContent:
        return
    assert len(read) < 1000


def test_named_entities_of_the_unread_dtd_are_understood() -> None:
    assert (
        title(iterate_records(pack(article(title="caf&eacute; &beta;-blockers"))))
        == "café β-blockers"
    )


def test_bottomless_nesting_is_refused() -> None:
    deep = "<i>" * 5000 + "x" + "</i>" * 5000
    with pytest.raises(BadContent):
        list(iterate_records(pack(article(title=deep))))


ENDLESS = """
import io, resource, sys
from utils.readers.pubmed import iterate_records

one = b"<PubmedArticle><MedlineCitation><Article><Abstract><AbstractText>" + b"word " * 4000
one += b"</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"

class Endless(io.RawIOBase):
    def __init__(self, count):
        self.parts = iter([b"<PubmedArticleSet>", *[one] * count, b"</PubmedArticleSet>"])
    def read(self, size=-1):
        return next(self.parts, b"")

def peak(count):
    assert sum(1 for _ in iterate_records(Endless(count))) == count
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

few = peak(100)
print(peak(4000) - few, 4000 * len(one))
"""


def test_memory_does_not_grow_with_the_file() -> None:
    pytest.importorskip("resource")
    here = Path(__file__).resolve().parents[2]
    # A process of its own: the peak of this one was set by other tests.
    ran = run([sys.executable, "-c", ENDLESS], cwd=here, check=True)
    grown, size = map(int, ran.stdout.split())
    assert grown < size / 10
