"""``papers.lock.json``: what is written is read back, and nothing else is."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reports import invented
from utils.errors import BadRequest, StoreFailed
from utils.model.identifiers import Ids
from utils.model.job import Harvested, Job
from utils.model.paper import Notice, Paper
from utils.reports import LockedPaper, compare_lock, lock_file, read_lock, write_report

NAME = "papers.lock.json"


def written(folder: Path, rows: list[Harvested], job: Job | None = None) -> Path:
    write_report(job or invented.job(), lambda: iter(rows), folder)
    return folder / NAME


def paper(number: int, **changes: Any) -> Harvested:
    row = Harvested(
        number, str(number), "full_text", Paper(Ids(pmid=str(number))), sha256=f"{number:064x}"
    )
    return replace(row, **changes)


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = list(invented.rows(200, pending=0.1))
    lock = read_lock(written(tmp_path, rows))
    assert lock.query == invented.job().query
    assert lock.effective_query == invented.job().effective_query
    assert lock.made_at == invented.job().ended_at
    assert [was.ids for was in lock.papers] == [row.paper.ids for row in rows]
    for was, row in zip(lock.papers, rows, strict=True):
        assert was.kind == (row.state if row.state in ("full_text", "abstract") else "")
        assert was.sha256 == (row.sha256 if was.kind else "")
        assert was.retracted == row.paper.retracted


def test_the_same_harvest_makes_the_same_bytes(tmp_path: Path) -> None:
    rows = list(invented.rows(50))
    first = written(tmp_path / "a", rows).read_bytes()
    assert first == written(tmp_path / "b", rows).read_bytes()


def test_a_paper_is_a_line(tmp_path: Path) -> None:
    lines = written(tmp_path, list(invented.rows(20))).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 22
    assert all(json.loads(line.rstrip(","))["pmid"] for line in lines[1:-1])


def test_an_empty_lock_is_a_lock(tmp_path: Path) -> None:
    assert read_lock(written(tmp_path, [])).papers == ()


def test_a_paper_nobody_can_ask_for_is_counted_and_left_out(tmp_path: Path) -> None:
    nameless = Harvested(1, "Smith 1990", "failed", Paper(Ids()))
    odd = Harvested(2, "x", "failed", Paper(Ids(pmid="no number", doi="10.1000/\x07")))
    path = written(tmp_path, [nameless, odd, paper(3)])
    assert json.loads(path.read_text(encoding="utf-8"))["without_identifier"] == 2
    assert [was.ids.pmid for was in read_lock(path).papers] == ["3"]


def lock_with(tmp_path: Path, **changes: Any) -> Path:
    good = json.loads(written(tmp_path / "good", [paper(1)]).read_text(encoding="utf-8"))
    path = tmp_path / NAME
    path.write_text(json.dumps({**good, **changes}), encoding="utf-8")
    return path


ENTRY = {"pmid": "1", "kind": "full_text", "sha256": "0" * 64, "retracted": False}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "zip"}, "is not marked"),
        ({"version": 2}, "version 2"),
        ({"version": True}, "version"),
        ({"version": [1]}, "version"),
        ({"query": None}, "query"),
        ({"query": "x" * 30_000}, "query"),
        ({"papers": {}}, "no list"),
        ({"papers": ["1"]}, "paper 1: it is not an object"),
        ({"papers": [ENTRY, {**ENTRY, "pmid": 7}]}, "paper 2: 7 is not a valid pmid"),
        ({"papers": [{**ENTRY, "pmid": ""}]}, "no identifier"),
        ({"papers": [{**ENTRY, "doi": "http://evil.example/"}]}, "not a valid doi"),
        ({"papers": [{**ENTRY, "doi": "10.1000/a\u202eb"}]}, "not a valid doi"),
        ({"papers": [{**ENTRY, "doi": "10.1000/" + "a" * 2000}]}, "not a valid doi"),
        ({"papers": [{**ENTRY, "kind": "failed"}]}, "kind"),
        ({"papers": [{**ENTRY, "kind": ["full_text"]}]}, "kind"),
        ({"papers": [{**ENTRY, "sha256": "../../x"}]}, "sha256"),
        ({"papers": [{**ENTRY, "sha256": None}]}, "sha256"),
        ({"papers": [{**ENTRY, "retracted": "no"}]}, "retracted"),
    ],
)
def test_a_malformed_lock_is_refused_in_words(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        read_lock(lock_with(tmp_path, **changes))
    assert caught.value.hint
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"[]", b"null", b"[" * 200_000, b'{"a": ' + b"9" * 10_000 + b"}", b"{"],
)
def test_what_is_no_lock_at_all_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / NAME
    path.write_bytes(data)
    with pytest.raises(BadRequest):
        read_lock(path)


def test_a_lock_is_not_read_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, list(invented.rows(20)))
    monkeypatch.setattr(lock_file, "MAX_LOCK_PAPERS", 19)
    with pytest.raises(BadRequest, match="at most 19"):
        read_lock(path)
    monkeypatch.setattr(lock_file, "MAX_LOCK_BYTES", 1000)
    with pytest.raises(BadRequest, match="larger"):
        read_lock(path)


def test_a_lock_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="read"):
        read_lock(tmp_path / "no.json")


def test_an_unchanged_corpus_has_no_differences(tmp_path: Path) -> None:
    rows = list(invented.rows(100))
    found = compare_lock(read_lock(written(tmp_path, rows)), rows)
    assert not found
    assert found.same == 100


def test_every_kind_of_change_is_named(tmp_path: Path) -> None:
    abstract = {"state": "abstract", "sha256": "a" * 64}
    before = [paper(n) for n in range(1, 6)] + [paper(6, **abstract), paper(7)]
    lock = read_lock(written(tmp_path, before))
    withdrawn = Paper(Ids(pmid="3"), notices=(Notice("retraction"),))
    found = compare_lock(
        lock,
        [
            paper(1), paper(2, sha256="b" * 64), paper(3, paper=withdrawn, sha256="c" * 64),
            paper(4, **abstract), paper(5, state="failed"), paper(6), paper(8),
        ],
    )  # fmt: skip

    def pmids(name: str) -> list[str]:
        return [difference.ids.pmid for difference in getattr(found, name)]

    assert pmids("changed") == ["2", "3"]
    assert pmids("retracted") == ["3"]
    assert pmids("lost") == ["4", "5"]
    assert pmids("gained") == ["6"]
    assert pmids("gone") == ["7"]
    assert pmids("new") == ["8"]
    assert found.same == 1
    assert found
    assert found.new[0].before is None
    assert found.gone[0].after is None


def test_differences_are_told_in_sentences(tmp_path: Path) -> None:
    lock = read_lock(written(tmp_path, [paper(n) for n in range(1, 10)]))
    found = compare_lock(lock, [paper(1), paper(2, state="pending"), paper(10)])
    assert found.sentences == [
        "7 papers are no longer there: PMID 3, PMID 4, PMID 5, PMID 6, PMID 7 and 2 more.",
        "1 paper is new: PMID 10.",
        "1 paper is not tried yet.",
        "1 paper is unchanged.",
    ]


def test_papers_not_yet_tried_are_no_loss(tmp_path: Path) -> None:
    lock = read_lock(written(tmp_path, [paper(1)]))
    found = compare_lock(lock, [paper(1, state="pending", sha256="")])
    assert not found
    assert found.pending == 1


def test_a_paper_is_known_by_any_of_its_names(tmp_path: Path) -> None:
    lock = read_lock(written(tmp_path, [paper(1)]))
    other = Paper(Ids(doi="10.1000/a", pmid="1"))
    assert not compare_lock(lock, [paper(1, paper=other)])


def test_two_papers_that_share_a_doi_are_not_compared_crosswise(tmp_path: Path) -> None:
    rows = [paper(n, paper=Paper(Ids(pmid=str(n), doi="10.1000/a"))) for n in (1, 2)]
    found = compare_lock(read_lock(written(tmp_path, rows)), rows)
    assert not found
    assert found.same == 2


def test_what_nobody_answered_about_is_no_loss(tmp_path: Path) -> None:
    lock = read_lock(written(tmp_path, [paper(n) for n in range(1, 4)]))
    found = compare_lock(
        lock,
        [
            paper(1, state="abstract", reason="unreachable"),
            paper(2, state="failed", reason="could_not_tell"),
            paper(3, state="failed", reason="not_found"),
        ],
    )
    assert [difference.ids.pmid for difference in found.lost] == ["3"]
    again = "run it again with --retry unreachable,could_not_tell"
    assert found.sentences[1:] == [f"2 papers could not be checked now: {again}."]


def test_comparing_does_not_keep_the_rows(tmp_path: Path) -> None:
    lock = read_lock(written(tmp_path, [paper(1)]))

    def rows() -> Iterator[Harvested]:
        for _ in range(3):
            yield paper(1)

    found = compare_lock(lock, rows())
    assert all(isinstance(side, LockedPaper) for side in lock.papers)
    assert found.same == 3
