"""What programs that look after a list of references say of a BibTeX file: which entries they name.

biber (``--tool --validate-datamodel``: fields, types, dates, ISBN and ISSN against BibLaTeX's data
model) and bibtex-tidy (``--duplicates``: the same key, DOI, abstract or title). Both look into the
file alone. Zotero cannot be run without its window; by its documentation it marks items whose DOI
or PMID is in Retraction Watch's list (https://www.zotero.org/support/retracted_item_notifications)
and finds duplicates, and checks no other fact.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

TIDY = "bibtex-tidy@1.14.0"
_BY_BIBER = re.compile(r"^WARN.*[Ee]ntry '([^']+)'", re.M)
_BY_TIDY = re.compile(r"^DUPLICATE_ENTRY: Duplicate detected\. Entry (\S+) has", re.M)


def named_entries(bibliography: Path) -> dict[str, set[str]]:
    """The keys that each program here names; `missing` says which are not here."""
    found = {}
    with tempfile.TemporaryDirectory() as made:
        into = str(Path(made) / "out.bib")
        if program := shutil.which("biber"):
            options = ["--tool", "--validate-datamodel", "--output-file", into]
            found["biber"] = _keys(_BY_BIBER, [program, *options, str(bibliography)], made)
        if program := shutil.which("npx"):
            options = ["--yes", TIDY, str(bibliography), "--duplicates", "-o", into]
            found["bibtex-tidy"] = _keys(_BY_TIDY, [program, *options], made)
    return found


def missing() -> str:
    """Which programs are not here, and where they come from."""
    where = {"biber": "Debian's package biber", "npx": "Node, which fetches bibtex-tidy"}
    return "; ".join(text for name, text in where.items() if not shutil.which(name))


def _keys(named: re.Pattern[str], command: list[str], folder: str) -> set[str]:
    ran = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        encoding="utf-8",
    )
    return set(named.findall(ran.stdout + ran.stderr))
