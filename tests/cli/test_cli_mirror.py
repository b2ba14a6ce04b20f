"""`mirror` in the shell: what is printed, what a program reads, and what cron sees."""

import json
from functools import partial
from importlib import util

import pytest

from tests.mirror.small_mirror import articles, year
from tests.world.pubmed_files import name_of
from utils.cli.mirror import describe_progress
from utils.mirror.updates import MirrorProgress

needed = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def shell(shell, world):
    world.bulk = year()
    return partial(shell, "mirror")


@needed
def test_from_a_plan_to_a_mirror_that_proves_itself(shell, world, tmp_path):
    status, out, _ = shell("plan")
    assert status == 0
    assert "2026, 3 files of baseline" in out
    assert "3 files" in out
    status, out, _ = shell("pubmed", "--engine", "here")
    assert (status, "12 records" in out, "Published: 26n0003-" in out) == (0, True, True)
    status, out, _ = shell("pubmed", "--engine", "here")
    assert (status, out.startswith("Nothing new. Published before:")) == (0, True)
    status, out, _ = shell("status")
    assert status == 0
    assert "published  26n0003-" in out
    assert "12 papers of 3 files" in out
    status, out, _ = shell("verify", "--engine", "here", "26n0002")
    assert status == 0
    assert out.count("✓") == 2
    name = json.loads(shell("status", "--json")[1])["published"]["name"]
    assert shell("use", name)[0] == 0


@needed
def test_what_is_set_aside_is_named_and_seen_by_cron(shell, world):
    world.bulk.updates[name_of(26, 4)] = articles([7])
    world.bulk.wrong_md5 = {name_of(26, 4)}
    status, out, err = shell("pubmed", "--engine", "here")
    assert status == 1
    assert "incomplete: 1 file missing" in out
    assert f"{name_of(26, 4)} arrived with MD5" in err
    assert f"aside      {name_of(26, 4)}" in shell("status")[1]
    world.mood("down", "pubmed_files")
    assert shell("pubmed", "--engine", "here")[0] == 3


@needed
def test_the_count_at_pubmed_is_asked_for_when_it_is_wanted(shell, world, library):
    shell("pubmed", "--engine", "here")
    status, out, _ = shell("verify", "--engine", "here", "--count", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[-1]["papers"] == 12
    assert rows[-1]["difference"] == rows[-1]["at_pubmed"] - 12
    assert status == bool(rows[-1]["difference"])
    assert [one.service for one in world.requests].count("eutils") == 1


@needed
def test_damage_is_found_and_says_what_to_do(shell, library):
    shell("pubmed", "--engine", "here")
    [part] = (library.mirror.folder / "part" / "pubmed").glob("26n0002-*")
    part.write_bytes(part.read_bytes()[:-9] + b"x" * 9)
    status, out, _ = shell("verify", "--engine", "here")
    assert status == 1
    assert "is damaged; to make it again: uv run server.py mirror pubmed" in out
    status, out, _ = shell("pubmed", "--engine", "here")
    assert (status, out.startswith("1 file read: 4 records")) == (0, True)
    assert shell("verify", "--engine", "here")[0] == 0
    part.unlink()
    assert "is gone" in shell("verify", "--engine", "here")[1]
    assert shell("pubmed", "--engine", "here")[0] == 0
    assert shell("verify", "--engine", "here")[0] == 0


@needed
def test_a_folder_may_be_named(shell, tmp_path):
    assert shell("pubmed", "--engine", "here", "--folder", tmp_path / "there")[0] == 0
    assert (tmp_path / "there" / "current" / "pubmed").exists()


@pytest.mark.parametrize("verb", ["pubmed", "plan", "status", "verify"])
def test_without_its_extra_it_says_what_to_install(shell, monkeypatch, verb):
    there = util.find_spec
    hidden = ("duckdb", "distributed")
    monkeypatch.setattr(
        "utils.mirror.find_spec", lambda name: None if name in hidden else there(name)
    )
    status, _, err = shell(verb)
    assert status == 2
    assert "not installed:" in err
    assert "duckdb" in err
    assert "uv sync --inexact --extra mirror" in err


@needed
@pytest.mark.parametrize(("engine", "extra"), [("dask", "mirror")])
def test_an_engine_says_what_it_lacks(shell, monkeypatch, engine, extra):
    monkeypatch.setattr("utils.mirror.engines.find_spec", lambda name: None)
    status, _, err = shell("pubmed", "--engine", engine)
    assert status == 2
    assert f"uv sync --inexact --extra {extra}" in err


@needed
def test_an_engine_without_a_scheduler_takes_no_address(shell):
    status, _, err = shell("pubmed", "--engine", "here", "--scheduler", "tcp://h:1")
    assert (status, "--engine dask" in err) == (2, True)


def test_progress_says_files_rates_errors_and_what_is_left():
    progress = MirrorProgress(
        files=10, total=40, records=300_000, size=400_000_000, total_size=1_600_000_000,
        seconds=100, failed={"a": "torn"},
    )  # fmt: skip
    text = describe_progress(progress)
    assert text == (
        "10 of 40 files, 300,000 records: 3,000 records/s, 4.0 MB/s, 1 error, 5 min left …"
    )
    assert describe_progress(MirrorProgress()).startswith("0 of 0 files, 0 records: 0 records/s")


@needed
def test_a_choice_of_pmc_is_planned_mirrored_and_seen(shell, world, tmp_path, monkeypatch):
    status, _, err = shell("pmc", "--engine", "here")
    assert status == 2
    assert "--all" in err
    records = [record for record in world.papers if record.cloud and record.pmid][:3]
    names = tmp_path / "names.txt"
    names.write_text("\n".join(record.pmid for record in records), encoding="utf-8")
    status, out, err = shell("pmc", "--where", names, "--plan")
    assert (status, "3 new versions" in out) == (0, True)
    assert "3 papers of 3 are in PMC" in err
    world.cloud.torn = {f"{records[0].pmcid}.{max(records[0].cloud)}"}
    status, out, err = shell("pmc", "--where", names, "--engine", "here")
    assert (status, "2 full texts" in out) == (1, True)
    assert f"{records[0].pmcid}.{max(records[0].cloud)} arrived with MD5" in err
    world.cloud.torn = set()
    status, out, _ = shell("pmc", "--retry", "--engine", "here")  # of what was chosen before
    assert (status, "1 full text," in out, "3 full texts." in out) == (0, True, True)
    assert "mirror pmc --to shelf" in shell("pmc", "--engine", "here")[2]
    status, out, _ = shell("pmc", "--to", "shelf", "--engine", "here", "--json")
    assert (status, json.loads(out)["counts"]["full_text"]) == (0, 3)
    monkeypatch.setenv("PAPERS_OFFLINE", "true")
    before = len(world.requests)
    status, out, err = shell("pmc", "--to", "shelf", "--engine", "here", "--json")
    assert (status, json.loads(out)["counts"]["full_text"]) == (0, 3)
    assert "the mirror is not updated" in err
    assert len(world.requests) == before
    monkeypatch.delenv("PAPERS_OFFLINE")
    status, out, _ = shell("status")
    assert (status, "3 done" in out, "pmc " in out) == (0, True, True)
    status, out, _ = shell("verify", "--pmc", "--engine", "here")
    assert (status, "\u2717" in out) == (0, False)
    name = json.loads(shell("status", "--json")[1])["pmc"]["published"]["name"]
    assert shell("use", name)[0] == 0
    found = records[1]
    query = f'"{found.plain_title}"[Title]'
    assert shell("pmc", "--where", query, "--plan", "--json")[0] == 0


@needed
def test_the_table_of_citations_proves_itself(shell, library):
    assert shell("citations", "--keep-source")[0] == 0
    status, out, _ = shell("verify", "--citations", "--engine", "here")
    assert (status, out.count("\u2713"), "\u2717" in out) == (0, out.count("\n"), False)
    [path, *_] = (library.mirror.folder / "part" / "citations" / "cited").glob("*.parquet")
    path.unlink()
    status, out, _ = shell("verify", "--citations", "--engine", "here")
    told = f"cited/{path.name} is gone: to make it again: uv run server.py mirror citations"
    assert (status, told in out) == (1, True)
    status, _, err = shell("verify", "--citations", "26n0001")
    assert (status, "verified as a whole" in err) == (2, True)


def lines(out):
    """By their label, those without one to that before."""
    found, name = {}, ""
    for line in out.splitlines():
        name = line[:11].strip() or name
        found.setdefault(name, []).append(line[11:])
    return found


@needed
def test_status_says_what_is_behind_and_how_to_go_on(shell, world, library):
    status, out, err = shell("status")
    assert (status, out) == (0, "")
    assert "No mirror in" in err
    assert "mirror plan" in err
    assert shell("citations")[0] == 0
    [said, shares] = lines(shell("status")[1])["citations"]
    name = library.mirror.citations.table.name
    assert said.startswith(f"{name}, ")
    assert "NIH says" in shares
    shell("pubmed", "--engine", "here")
    found = lines(shell("status")[1])
    assert "server.py mirror index" in found["index"][0]
    assert found["citations"][-1] == (
        "not up to date with the published records: uv run server.py mirror citations"
    )
    shell("index")
    shell("citations")
    assert "server.py" not in shell("status")[1]
    world.bulk.updates = {name_of(26, n): articles([n]) for n in range(4, 17)}
    world.bulk.wrong_md5 = {name_of(26, n) for n in range(5, 17)}
    shell("pubmed", "--engine", "here")
    found = lines(shell("status")[1])
    assert found["files"][0].startswith("4 read, 12 set aside; the last 20")
    assert len(found["aside"]) == 11
    assert found["aside"][-1] == "… and 2 more: uv run server.py mirror status --json"
    assert ["server.py mirror index" in line for line in found["index"]] == [True, True]
    [path, *_] = (library.mirror.folder / "part" / "citations" / "cited").glob("*.parquet")
    path.unlink()
    told = lines(shell("status")[1])["citations"]
    assert "1 file of them missing; to rebuild them: uv run server.py mirror citations" in told
    row = json.loads(shell("status", "--json")[1])["citations"]
    assert (row["outdated"], row["gone"], row["edges"] > 0) == (True, 1, True)


@needed
def test_a_generation_that_is_damaged_does_not_hide_the_rest(shell, library):
    shell("pubmed", "--engine", "here")
    shell("citations")
    generation = library.mirror.current()
    (library.mirror.generations.folder / generation.name / "generation.json").write_text(
        "{", encoding="utf-8"
    )
    status, out, _ = shell("status")
    found = lines(out)
    assert status == 0
    assert f"{generation.name}, is gone or damaged. " in found["published"][0]
    assert "Make it again: uv run server.py mirror pubmed" in found["published"][0]
    assert found["files"][0].startswith("3 read")
    library.mirror.citations  # noqa: B018 - it is there
    pointer = library.mirror.folder / "current" / "citations"
    pointer.write_text("{", encoding="utf-8")
    assert (
        "the published table is damaged; to rebuild it: uv run server.py mirror"
        in (lines(shell("status")[1])["citations"][0])
    )
    assert "fault" in json.loads(shell("status", "--json")[1])


@needed
def test_a_plan_says_what_citations_take(shell, world):
    [said] = lines(shell("plan")[1])["citations"]
    assert "(NIH, 2026-10-05); about 870,000,000 citations: at most 14 min of one core" in said
    shell("pubmed", "--engine", "here")
    shell("citations")
    found = lines(shell("plan")[1])
    assert (found["citations"], found["to fetch"][0][:11]) == (["nothing new"], "nothing new")
    world.bulk.updates[name_of(26, 4)] = articles([7])
    shell("pubmed", "--engine", "here")
    row = json.loads(shell("plan", "--json")[1])["citations"]
    assert (row["size"], row["edges"] > 0, row["core_hours"] > 0) == (0, True, True)
    world.mood("down", "citation_collection")
    [unknown, said] = lines(shell("plan")[1])["citations"]
    assert unknown.startswith("NIH's collection could not be checked: ")
    assert "to fetch" not in said


@needed
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "--workers", "-3"], "'-3' is not a whole number"),
        (["pubmed", "--most", "-1"], "'-1' is not a whole number"),
        (["verify", "--sample", "many"], "'many' is not a whole number"),
        (["pmc", "--where", "/nowhere/list.txt", "--plan"], "/nowhere/list.txt"),
        (["pmc", "--year", "2024-2020", "--plan"], "Write 2020-2024"),
        (["pmc", "--license", " ", "--plan"], "selects no articles"),
        (["pubmed", "--from", "/nowhere"], "/nowhere"),
        (["status", "--folder", __file__], "another --folder"),
        (["pubmed", "--folder", __file__], "another --folder"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nobody_is_asked(shell, world, words, said):
    status, out, err = shell(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert not world.requests
