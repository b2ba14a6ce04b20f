"""Parts: the same bytes for the same file, all of a record in them, and nothing half written."""

import gzip
import hashlib
import json
import os
import resource
import sys
from pathlib import Path

import pytest

from tests.mirror.small_mirror import RICH, article
from tests.processes import run
from tests.world.pubmed_files import packed
from utils.demo.pubmed_xml import pubmed_article
from utils.errors import StoreFailed
from utils.mirror.columns import build_paper
from utils.mirror.parts import READERS, ROWS, ReadJob, read_part
from utils.readers.pubmed import iterate_records

pytestmark = pytest.mark.extras("pyarrow")
# What today's reader makes of a few records, as rows. Whoever changes it raises `READERS`, so that
# mirrors are read anew, and writes down the new digest.
AS_READ = (2, "db770c46c067fb06170785b8c106aef539551c5e3fd07a9bc05e0cb5fc6a8f82")


def job_of(folder, data, name="pubmed26n0001.xml.gz"):
    file = folder / name
    file.write_bytes(data)
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    return ReadJob(str(file), "pubmed", name, "26n0001", 2_600_001, md5, str(folder))


def rows(path):
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def test_a_record_comes_back_as_it_was_read(tmp_path, world):
    data = packed(pubmed_article(record) for record in world.papers if record.pmid)
    job = job_of(tmp_path, data)
    made = read_part(job)
    read = list(iterate_records(gzip.decompress(data)))
    assert [build_paper(row) for row in rows(job.records)] == read
    assert made.records == len(read)


@pytest.mark.slow
@pytest.mark.shared
def test_real_records_come_back_as_they_were_read(tmp_path, shared):
    for file in sorted((shared / "pubmed" / "bulk").glob("*.xml.gz")):
        data = file.read_bytes()
        job = job_of(tmp_path, data, file.name)
        read_part(job)
        assert [build_paper(row) for row in rows(job.records)] == list(
            iterate_records(gzip.decompress(data))
        )


def test_whoever_changes_what_is_made_raises_the_reader(tmp_path):
    long = article(5, "Of corals. " * 400)
    job = job_of(tmp_path, packed([RICH, article(4, version=2), long], ["9"]))
    read_part(job)
    text = json.dumps([rows(job.records), rows(job.passages)], default=bytes.hex, sort_keys=True)
    assert (READERS["pubmed"], hashlib.sha256(text.encode()).hexdigest()) == AS_READ


def test_passages_are_stretches_of_title_and_abstract(tmp_path):
    job = job_of(tmp_path, packed([article(7, "Corals")], ["8"]))
    made = read_part(job)
    [passage] = rows(job.passages)
    text = "Corals\n\nWhat Corals says of corals."
    assert text[passage["start"] : passage["end"]] == passage["text"]
    assert (passage["pmid"], passage["position"], len(passage["digest"])) == (7, 0, 32)
    assert (made.records, made.deletions, made.passages) == (1, 1, 1)
    gone = rows(job.records)[1]
    assert (gone["pmid"], gone["deleted"], gone["title"], gone["authors"]) == (8, True, None, None)


def test_many_records_are_many_row_groups_and_the_same_bytes_again(tmp_path):
    from pyarrow import parquet

    data = packed(article(number) for number in range(1, ROWS + 3))
    digests = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        job = job_of(tmp_path / name, data)
        made = read_part(job)
        digests.add((made.digest, made.passages_digest))
        assert parquet.read_metadata(job.records).num_row_groups == 2
    assert len(digests) == 1
    assert rows(job.records)[ROWS + 1]["position"] == ROWS + 1


def test_what_is_there_is_not_made_again(tmp_path):
    job = job_of(tmp_path, packed([article(1)]))
    first = read_part(job)
    Path(job.file).unlink()
    again = read_part(job)
    assert (again.digest, again.records, again.seconds) == (first.digest, 1, 0.0)


@pytest.mark.parametrize("limit", [3_000, 20_000])
def test_a_disk_that_refuses_is_named_and_leaves_nothing_half_written(tmp_path, limit):
    """RLIMIT_FSIZE is a disk that ends there; a process of its own, because it is for good."""
    data = packed(article(number, os.urandom(200).hex()) for number in range(1, 400))
    job = job_of(tmp_path, data)
    code = f"""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from utils.errors import StoreFailed
from utils.mirror.parts import ReadJob, read_part
try:
    read_part({job!r})
except StoreFailed as error:
    print(error.message)
    sys.exit(error.exit_code)
"""
    root = Path(__file__).resolve().parents[2]
    done = run([sys.executable, "-c", code], cwd=root)
    assert done.returncode == StoreFailed.exit_code, done.stderr
    assert str(tmp_path) in done.stdout
    assert not [path for path in (tmp_path / "part").rglob("*") if path.is_file()]
    assert read_part(job).records == 399
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
