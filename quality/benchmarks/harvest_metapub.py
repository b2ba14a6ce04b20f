"""metapub's FindIt (from the registry) on the list of a harvest, one PMID after the other.

Its own manners and settings are left alone. FindIt names the address of a PDF after having looked
at it; whoever wants the PDF fetches it once more, which is done here with a plain GET.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import requests
from harvest_detour import lead_astray, papers, tell
from metapub import FindIt


def main(folder: Path) -> None:
    """Find and fetch."""
    files, reasons = {}, Counter[str]()
    for row in papers(folder):
        try:
            found = FindIt(pmid=row["pmid"], cachedir=str(folder / "cache"))
        except Exception as error:  # noqa: BLE001 - whatever it dies of is an outcome of its own
            reasons[type(error).__name__] += 1
            continue
        if not found.url:
            reasons[str(found.reason).partition(":")[0]] += 1
            continue
        answer = requests.get(found.url, timeout=60)
        if answer.ok:
            name = f"metapub_{row['pmid']}.pdf"
            (folder / name).write_bytes(answer.content)
            files[row["pmid"]] = name
        else:
            reasons[f"status {answer.status_code}"] += 1
    tell(
        folder,
        files,
        [
            f"no PDF because: {dict(reasons)}",
            (
                "outside PMC it goes by the names of real journals, which invented ones are not: "
                "what it could find at publishers cannot be shown here"
            ),
        ],
    )


if __name__ == "__main__":
    (Path(sys.argv[1]) / "cache").mkdir(exist_ok=True)
    lead_astray()
    main(Path(sys.argv[1]))
