"""pubget (from the registry) on the list of a harvest: download, articles, text.

Its own manners and settings are left alone. It only takes PMCIDs, so it is given those of the
papers that have one, for free; its three steps are those of its documentation.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pubget
from harvest_detour import lead_astray, papers, tell


def main(folder: Path) -> None:
    """Run the three steps, write each text into a file."""
    csv.field_size_limit(sys.maxsize)
    pmids = {row["pmcid"].removeprefix("PMC"): row["pmid"] for row in papers(folder)}
    pmids.pop("", None)
    articlesets, state = pubget.download_pmcids(list(map(int, pmids)), folder / "pubget")
    articles, _ = pubget.extract_articles(articlesets)
    data, _ = pubget.extract_data_to_csv(articles)
    files = {}
    with (Path(data) / "text.csv").open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["body"].strip():
                name = f"pubget_{row['pmcid']}.txt"
                (folder / name).write_text(row["body"], encoding="utf-8")
                files[pmids[row["pmcid"]]] = name
    notes = [
        f"given {len(pmids)} PMCIDs, download {state.name}; papers outside PMC are not its job"
    ]
    tell(folder, files, notes)


if __name__ == "__main__":
    lead_astray()
    main(Path(sys.argv[1]))
