"""Which datasets there are, how long they stay, and that no name leads out of their folder."""

import os
import time
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.entrez.datasets.small_datasets import dataset
from utils.entrez.datasets.listing import (
    KEEP_DAYS,
    MAX_TOTAL_BYTES,
    DeletedDataset,
    delete_dataset,
    delete_expired_datasets,
    find_dataset_file,
    list_datasets,
)
from utils.entrez.datasets.sql_query import run_query
from utils.errors import BadRequest, NotFound

DAY = 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three datasets: used just now, three days ago, six days ago."""
    folder = tmp_path / "datasets"
    for number, days in enumerate((0, 3, 6), 1):
        used(dataset(folder, f"gene_0000000{number}", genes=number), days)
    return folder


def used(file: Path, days_ago: float) -> Path:
    moment = time.time() - days_ago * DAY
    os.utime(file, (moment, moment))
    return file


def names(folder: Path) -> list[str]:
    return [one.id for one in list_datasets(folder)]


def test_every_dataset_is_listed_the_last_used_first(folder: Path) -> None:
    listed = list_datasets(folder)
    assert [(one.id, one.database, one.records) for one in listed] == [
        *(("gene_00000001", "gene", 1), ("gene_00000002", "gene", 2), ("gene_00000003", "gene", 3))
    ]
    first = listed[0]
    assert first.title == "All of gene_00000001"
    assert first.size == (folder / "gene_00000001.db").stat().st_size
    assert first.created == "2026-11-01T10:00:00Z"
    assert first.used < first.expires
    assert not first.broken
    assert list_datasets(folder / "none") == []


def test_using_a_dataset_gives_it_its_days_again(folder: Path, clock: Clock) -> None:
    before = (folder / "gene_00000003.db").read_bytes()
    assert run_query(
        find_dataset_file(folder, "gene_00000003"), "SELECT count(*) FROM gene"
    ).rows == ((3,),)
    assert names(folder)[0] == "gene_00000003"
    clock.sleep(2 * DAY)
    assert delete_expired_datasets(folder) == []
    clock.sleep(3 * DAY)
    assert [one.id for one in delete_expired_datasets(folder)] == ["gene_00000002"]
    assert (folder / "gene_00000003.db").read_bytes() == before
    clock.sleep(KEEP_DAYS * DAY)
    assert {one.reason for one in delete_expired_datasets(folder)} == {"unused"}
    assert names(folder) == []


def test_what_is_listed_is_not_used_by_that(folder: Path) -> None:
    before = [one.used for one in list_datasets(folder)]
    assert [one.used for one in list_datasets(folder)] == before


def test_a_sweep_goes_by_the_time_it_is_given(folder: Path) -> None:
    assert delete_expired_datasets(folder, time.time() + 0.9 * DAY) == []
    assert [one.id for one in delete_expired_datasets(folder, time.time() + 1.1 * DAY)] == [
        "gene_00000003"
    ]
    assert names(folder) == ["gene_00000001", "gene_00000002"]


def test_what_is_too_much_goes_by_its_last_use(folder: Path) -> None:
    sizes = [one.size for one in list_datasets(folder)]
    assert delete_expired_datasets(folder, most_bytes=sum(sizes)) == []
    swept = delete_expired_datasets(folder, most_bytes=sum(sizes) - 1)
    assert swept == [DeletedDataset("gene_00000003", "space", sizes[2])]
    assert [one.id for one in delete_expired_datasets(folder, most_bytes=1)] == ["gene_00000002"]
    assert names(folder) == ["gene_00000001"]  # the last used stays, though it is too large
    assert MAX_TOTAL_BYTES == 2_000_000_000


def test_a_smaller_one_used_earlier_may_stay(folder: Path) -> None:
    used(dataset(folder, "gene_00000009", genes=3000), 2)
    sizes = {one.id: one.size for one in list_datasets(folder)}
    swept = delete_expired_datasets(folder, most_bytes=sizes["gene_00000009"])
    assert [one.id for one in swept] == ["gene_00000009"]


def test_leftovers_of_writers_are_swept_and_other_files_are_not(folder: Path) -> None:
    leftover = used(folder / "gene_00000001.db", 0).with_name(".gene_00000001.db.1.ab.part")
    others = [folder / "notes.db", folder / "gene_00000001.txt", folder / "GENE_00000001.db"]
    for file in (leftover, *others):
        file.write_text("x", encoding="utf-8")
        used(file, 300)
    (folder / "gene_0000000a.db").mkdir()
    assert delete_expired_datasets(folder) == []
    assert not leftover.exists()
    assert all(file.exists() for file in others)
    assert len(names(folder)) == 3


def test_broken_datasets_are_listed_as_such(folder: Path) -> None:
    (folder / "sra_0000000a.db").write_bytes(b"")
    (folder / "sra_0000000b.db").write_text("not a database " * 1000, encoding="utf-8")
    whole = dataset(folder, "sra_0000000c")
    whole.write_bytes(whole.read_bytes()[:4096])
    told = {one.id: one for one in list_datasets(folder)}
    assert len(told) == 6
    for letter in "abc":
        one = told[f"sra_0000000{letter}"]
        assert one.broken
        assert (one.database, one.records) == ("sra", None)
    assert "does not say what it is" in told["sra_0000000a"].broken
    assert "not a database" in told["sra_0000000b"].broken


def test_what_a_dataset_says_of_itself_is_not_trusted(tmp_path: Path) -> None:
    about = {"title": "A\x1b[2J\ntitle", "records": "9" * 5000, "id": "../../etc"}
    dataset(tmp_path, about=about)
    [told] = list_datasets(tmp_path)
    assert (told.id, told.title, told.records) == ("gene_00000001", "A[2J title", None)


def test_what_is_forgotten_is_gone(folder: Path) -> None:
    size = (folder / "gene_00000002.db").stat().st_size
    assert delete_dataset(folder, "gene_00000002") == size
    assert names(folder) == ["gene_00000001", "gene_00000003"]
    with pytest.raises(NotFound, match="no dataset gene_00000002"):
        delete_dataset(folder, "gene_00000002")


@pytest.mark.parametrize(
    "name",
    [
        *("../secret_00000001", "..", ".", "", " ", "/etc/passwd", "a/../gene_00000001", "*"),
        *("gene_0000\x000001", "gene_0000000g", "GENE_00000001", "gene_000000011", "gene00000001"),
        *("..\\secret_00000001", "gene_00000001/x", "\u202egene_0000000", "_00000001", "x" * 9999),
        *("file:gene_00000001", "gene_00000001.db.db", "C:gene_00000001", "~/gene_00000001"),
    ],
)
def test_no_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    secret = dataset(folder.parent, "secret_00000001")
    for use in (find_dataset_file, delete_dataset):
        with pytest.raises(BadRequest, match="is not a dataset") as caught:
            use(folder, name)
        assert "named like gene_0a1b2c3d" in caught.value.hint
        assert len(str(caught.value)) < 800
    assert secret.exists()
    assert len(names(folder)) == 3


@pytest.mark.parametrize("name", ["gene_00000001", " gene_00000001\n", "gene_00000001.db"])
def test_a_name_may_be_written_as_people_do(folder: Path, name: str) -> None:
    assert find_dataset_file(folder, name) == folder / "gene_00000001.db"


def test_an_unknown_name_is_answered_with_those_there_are(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no dataset gene_00000005 \(any more\)") as caught:
        find_dataset_file(folder, "gene_00000005")
    meant, others, stay = caught.value.hints
    assert meant.startswith("Did you mean gene_0000000")
    assert "(All of gene_0000000" in others
    assert "7 days" in stay
    with pytest.raises(NotFound) as caught:
        find_dataset_file(folder, "sra_ffffffff")
    assert caught.value.hints[0].startswith("The last used: gene_00000001 (All of gene_00000001),")
    with pytest.raises(NotFound, match="stage some records first"):
        find_dataset_file(tmp_path / "none", "sra_ffffffff")
