"""The PDF of each text, in the shell."""

import json

from utils.cli.output import NO_FULL_TEXT_STATUS


def pmids(world, *branches):
    return [world.paper(branch).pmid for branch in branches]


def test_a_download_counts_the_pdfs_once(shell, world):
    _, said, remarks = shell("download", *pmids(world, "pmc_cloud", "unpaywall_pdf"), "--pdf")
    assert said.count("pmc_cloud_pdf") == 1
    assert "2 with a PDF (1 new), 0 without" in remarks


def test_a_paper_without_a_pdf_says_who_was_asked(shell, world):
    shell("download", *pmids(world, "pmc_manuscript"))
    status, said, remarks = shell("shelf", "pdf")
    assert status == NO_FULL_TEXT_STATUS
    assert "no PDF (pmc_cloud_pdf not_offered" in said
    assert "0 with a PDF (0 new), 1 without" in remarks


def test_rows_name_the_file_and_where_it_came_from(shell, world):
    shell("download", *pmids(world, "pmc_cloud"))
    _, said, _ = shell("shelf", "pdf", "--json")
    row = json.loads(said)
    assert row["pdf"].endswith(".pdf")
    assert (row["via"], row["new"]) == ("pmc_cloud_pdf", True)


def test_abstracts_alone_have_no_pdf_to_look_for(shell, world):
    _, _, remarks = shell("download", *pmids(world, "paywall"), "--pdf")
    assert "No full text among these papers" in remarks


def test_a_harvest_fetches_the_pdfs_of_its_papers(shell, world):
    _, said, remarks = shell("harvest", *pmids(world, "pmc_cloud", "paywall"), "--pdf")
    assert "pmc_cloud_pdf" in said
    assert "1 with a PDF (1 new), 0 without" in remarks


def test_a_plan_counts_the_requests_and_the_space_of_pdfs(shell, world):
    wanted = pmids(world, "pmc_cloud", "unpaywall_pdf")
    row = json.loads(shell("harvest", *wanted, "--plan", "--pdf", "--json")[1])
    assert row["pdfs"]["papers"] == row["full_text"] + row["held"]
    assert row["pdfs"]["size"] == 1_500_000 * row["pdfs"]["papers"]
    assert row["pdfs"]["requests"] >= row["pdfs"]["papers"] > 0
    assert "more requests and" in shell("harvest", *wanted, "--plan", "--pdf")[1]
    assert "pdfs" not in json.loads(shell("harvest", *wanted, "--plan", "--json")[1])
