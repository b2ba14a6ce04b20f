"""The shell cites, shows relatives and searches several sources, against the stand-in internet."""

import json

import bibtexparser
import pytest
import rispy

ARXIV_ONLY, IN_PUBMED = "2511.04014", "41000001"


@pytest.mark.parametrize("style", ["apa", "mla", "plos", "vancouver"])
def test_cites_papers_by_any_name_one_reference_a_line(shell, style):
    status, out, _ = shell("cite", IN_PUBMED, f"arXiv:{ARXIV_ONLY}", "--style", style)
    assert status == 0
    assert len(out.splitlines()) == 2
    assert "Nucleation" in out.splitlines()[1]


def test_cites_what_is_on_the_shelf_without_asking_anybody(shell, world):
    shell("download", IN_PUBMED)
    asked = len(world.requests)
    status, out, _ = shell("cite", IN_PUBMED)
    assert status == 0
    assert out
    assert len(world.requests) == asked


def test_a_list_of_references_is_one_file_for_the_manager(shell, tmp_path):
    (tmp_path / "mine.txt").write_text(f"{IN_PUBMED}\narXiv:{ARXIV_ONLY}\n", encoding="utf-8")
    _, ris, _ = shell("cite", "mine.txt", "--style", "ris")
    assert [record["type_of_reference"] for record in rispy.loads(ris)] == ["JOUR", "UNPB"]
    _, bib, _ = shell("cite", "mine.txt", "--style", "bibtex")
    [_, preprint] = bibtexparser.parse_string(bib).entries
    fields = {name: field.value for name, field in preprint.fields_dict.items()}
    assert fields["eprint"] == ARXIV_ONLY
    assert fields["archivePrefix"] == "arXiv"
    assert fields["primaryClass"] == "q-bio.QM"
    _, items, _ = shell("cite", "mine.txt", "--style", "csl-json")
    assert [item["type"] for item in json.loads(items)] == ["article-journal", "article"]


def test_what_nobody_knows_is_said_and_the_rest_is_cited(shell):
    status, out, err = shell("cite", "39999999", IN_PUBMED)
    assert status == 1
    assert len(out.splitlines()) == 1
    assert "39999999" in err


def test_words_are_no_paper(shell):
    status, _, err = shell("cite", "some title")
    assert status == 2
    assert "search" in err


def test_each_reference_is_an_object(shell):
    _, out, _ = shell("cite", IN_PUBMED, "39999999", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert {"error"} in [set(row) for row in rows]
    [made] = [row for row in rows if "citation" in row]
    assert made["paper"] == f"PMID {IN_PUBMED}"


@pytest.mark.parametrize("kind", ["similar", "cited-by", "references"])
def test_relatives_say_who_lists_them(shell, kind):
    status, out, err = shell("related", IN_PUBMED, "--kind", kind, "--json")
    assert status == 0
    assert "as listed by" in err
    for line in out.splitlines():
        assert json.loads(line)["title"]


def test_a_search_is_a_file_for_the_manager(shell):
    _, out, err = shell("search", "membrane", "--format", "ris")
    assert rispy.loads(out)
    assert "hits for" in err


def test_several_sources_are_one_list_and_each_says_how_it_did(shell):
    status, out, err = shell(
        "search", "nucleation droplets", "--source", "pubmed,arxiv,europepmc", "--json"
    )
    assert status == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert any(row["arxiv_id"] == ARXIV_ONLY and "arxiv" in row["sources"] for row in rows)
    assert {line.split(":")[0] for line in err.splitlines()} >= {"pubmed", "arxiv", "europepmc"}


def test_a_source_that_is_down_is_named_and_the_others_answer(shell, world):
    world.mood("down", "arxiv")
    status, _, err = shell("search", "membrane", "--source", "pubmed,arxiv")
    assert status == 0
    assert any(line.startswith("arxiv: busy") for line in err.splitlines())


def test_all_sources_down_is_an_error_not_an_empty_list(shell, world):
    world.mood("down")
    status, out, _ = shell("search", "membrane", "--source", "pubmed,europepmc")
    assert status == 3
    assert not out


@pytest.mark.parametrize("option", [["--lr"], ["--start", "5"], ["--type", "Review"]])
def test_what_only_pubmed_understands_is_refused_elsewhere(shell, world, option):
    status, _, err = shell("search", "a", "b", "--source", "all", *option)
    assert status == 2
    assert option[0] in err
    assert not world.requests


def test_years_and_authors_narrow_a_search_in_pubmed(shell, world):
    shell("search", "membrane", "--year-from", "2020", "--author", "Mann B")
    [asked] = [call.params for call in world.requests if "esearch" in call.path]
    assert asked["mindate"] == "2020"
    assert "Mann B" in asked["term"]


def test_the_version_that_was_asked_for_is_cited(shell, tmp_path, monkeypatch):
    status, out, _ = shell("cite", f"arXiv:{ARXIV_ONLY}v1", "--style", "bibtex")
    assert status == 0
    assert f"{ARXIV_ONLY}v1" in out
    (tmp_path / "mine.txt").write_text(f"arXiv:{ARXIV_ONLY}v1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    _, out, _ = shell("cite", "mine.txt", "--style", "vancouver")
    assert f"{ARXIV_ONLY}v1" in out
