"""Files that are not on the shelf are judged offline, with and without a record."""

import gzip
import json

import pytest

from tests.world.corpus import small_corpus
from tests.world.pdf import pdf_of
from utils import Library
from utils.cli import main
from utils.curation import verification
from utils.curation.inbox_files import MAX_BODY_BYTES
from utils.curation.verification import FileAndRecord, parse_csl_item, verify_file
from utils.demo import jats, pages
from utils.errors import BadRequest
from utils.model.identifiers import Ids

RECORDS = {record.branch: record for record in small_corpus().records}
RECORD = RECORDS["publisher_html"]
OTHER = RECORDS["publisher_pdf"]


def csl(record):
    return {
        "id": record.pmid, "PMID": record.pmid, "DOI": record.doi, "title": record.title,
        "abstract": record.abstract,
        "author": [{"family": family} for family, *_ in record.authors],
    }  # fmt: skip


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(pages.build_article_page(RECORD, "https://e.test"), encoding="utf-8")
    return path


@pytest.fixture
def offline():
    """A library whose services cannot be reached: nothing may be asked."""
    library = Library()
    yield library
    library.shelf.close()


def test_a_whole_page_is_whole_and_the_paper_of_its_record(offline, page):
    [found] = offline.verify([page], record=csl(RECORD))
    assert (found.outcome, found.identity, found.verdict) == ("whole", "same", "full_text")
    assert found.counts["words"] > 500
    assert found.evidence


def test_the_record_of_another_paper_is_told_apart(offline, page):
    [found] = offline.verify([page], record=csl(OTHER))
    assert (found.outcome, found.identity, found.verdict) == ("not_whole", "other", "wrong_paper")


def test_without_a_record_the_identity_is_unknown(offline, page):
    [found] = offline.verify([page])
    assert (found.outcome, found.identity) == ("whole", "unknown")
    [found] = offline.verify([page], paper="31452104")  # the page names no PMID
    assert found.identity in ("unknown", "other")
    [found] = offline.verify([page], paper=RECORD.doi)
    assert found.identity == "same"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.html", lambda record: pages.build_article_page(record, "https://e.test").encode()),
        ("a.xml", jats.document),
        ("a.pdf", pdf_of),
    ],
)
def test_every_medium_is_read_also_gzipped(tmp_path, name, make, packed):
    body = make(RECORD)
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(body) if packed else body)
    found = verify_file(FileAndRecord(str(path), path, parse_csl_item(csl(RECORD))))
    assert (found.outcome, found.identity) == ("whole", "same")


def test_elsevier_xml_is_told_by_its_root(shared):
    from utils.curation.inbox_files import read_submitted_file

    [path, *_] = sorted((shared / "html" / "real").glob("10.1016_*.xml.gz"))
    assert read_submitted_file(path).fetched.media == "elsevier"
    [pair] = [
        pair
        for pair in verification.read_verification_list(shared / "html" / "real" / "pairs.json")
        if pair.path == path
    ]
    assert (verify_file(pair).outcome, verify_file(pair).identity) == ("whole", "same")


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.html.gz"
    path.write_bytes(gzip.compress(bytes(MAX_BODY_BYTES + 10)))
    found = verify_file(FileAndRecord("bomb", path))
    assert (found.outcome, found.verdict) == ("not_whole", "not_a_paper")
    assert "larger than" in found.evidence[0]


def test_a_missing_file_is_an_error_that_names_it(offline, tmp_path, page):
    gone, there = offline.verify([tmp_path / "gone.pdf", page])
    assert isinstance(gone, BadRequest)
    assert gone.details["file"].endswith("gone.pdf")
    assert there.outcome == "whole"


def test_a_folder_is_an_error_that_names_it(offline, tmp_path):
    [error] = offline.verify([tmp_path])
    assert str(tmp_path) in error.message
    assert "Name a file" in error.hint


def test_a_name_that_is_no_path_is_an_error(offline):
    [error] = offline.verify(["a\0b"])
    assert isinstance(error, BadRequest)
    assert "not a valid path" in error.message


@pytest.mark.parametrize(
    ("item", "count"),
    [
        ({"PMID": 123, "references-count": 40}, 40),
        ({"PMID": "123", "references-count": "40"}, 40),
        ({"PMID": "123", "references-count": None}, 0),
        ({"PMID": "123", "references-count": -3, "abstract": 7}, 0),
    ],
)
def test_records_are_read_whatever_their_types(item, count):
    paper = parse_csl_item(item)
    assert (paper.ids, paper.reference_count, paper.abstract) == (Ids(pmid="123"), count, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("{}", "not a list of pairs"),
        ('[{"url": "x"}]', 'Item 1 of the list has no "file"'),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_list_of_pairs_that_is_none_is_refused_in_words(tmp_path, text, said):
    path = tmp_path / "pairs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadRequest, match=said):
        verification.read_verification_list(path)


def test_pairs_are_answered_in_their_order_one_object_a_line(tmp_path, page, capsys):
    pairs = [
        {"file": "page.html", "url": "https://e.test/a", "record": csl(RECORD)},
        {"file": "gone.html", "record": csl(RECORD)},
        {"file": "page.html", "record": csl(OTHER)},
    ]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(pairs), encoding="utf-8")
    status = main(["verify", "--pairs", str(path), "--json"])
    same, gone, other = map(json.loads, capsys.readouterr().out.splitlines())
    assert status == 1
    assert set(same) == {"file", "verdict", "outcome", "identity", "evidence", "counts"}
    assert (same["file"], same["outcome"], same["identity"]) == ("page.html", "whole", "same")
    assert gone["error"]["details"]["file"] == "gone.html"
    assert other["identity"] == "other"


def test_the_shell_takes_a_record_from_a_file(tmp_path, page, capsys):
    record = tmp_path / "record.json"
    record.write_text(json.dumps([csl(RECORD)]), encoding="utf-8")
    assert main(["verify", str(page), "--record", str(record)]) == 0
    assert "full text, this paper" in capsys.readouterr().out
    assert main(["verify", str(page), str(page), "--id", "123"]) == 2
    assert main(["verify"]) == 2


def test_the_record_on_the_shelf_is_used(library, world, page):
    library.download(RECORD.pmid)
    [found] = library.verify([page], paper=RECORD.pmid)
    assert (found.outcome, found.identity) == ("whole", "same")
