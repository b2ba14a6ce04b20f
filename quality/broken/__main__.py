"""Break promised behaviours one at a time, and report which tier of the tests notices.

``uv run --group dev python -m quality.broken [NUMBER …] [--write]``. Each breakage is applied to a
copy of the checkout, and the tests of its folders are run, tier by tier, until one fails. That test
is run again without the breakage, where it has to pass. A breakage that no tier notices is a gap; a
breakage whose words are no longer in the source is refused. Both make the exit status 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from quality.broken.breakages import BREAKAGES, Breakage, Stale

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("README.md")
TIERS = {
    "fast": "not (world or slow or lab)",
    "world": "(world or slow) and not lab",
    "lab": "lab",
}
UNNOTICED = "none"
HEAD = """# Behaviours broken on purpose

Written by `uv run python -m quality.broken --write`. Each promise was broken by itself in a copy of
the checkout, and the tests of its folders were run until one failed: first the fast suite, then the
stories through the stand-in internet, then the measurements.

| # | promise | broken in | tier that notices | first test that fails |
|--:|---|---|---|---|
"""


def first_failure(checkout: Path, tests: Sequence[str], tier: str) -> str:
    """Return the first test of this tier that fails, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "-m", TIERS[tier], *tests],
        cwd=checkout,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    failures = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failures[0].split(" ", 1)[1].split(" - ")[0] if failures else ""


def noticed_by(breakage: Breakage, checkout: Path) -> tuple[str, str]:
    """Return the tier that notices the breakage, and its first test that fails.

    Raises
    ------
    Stale
        The breakage cannot be applied.
    """
    original = breakage.apply(checkout)
    path = checkout / breakage.file
    try:
        for tier in TIERS:
            if failure := first_failure(checkout, breakage.tests, tier):
                break
        else:
            return UNNOTICED, ""
    finally:
        path.write_text(original, encoding="utf-8")
        # Compiled code is told by whole seconds and size, which may be the same.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    if first_failure(checkout, [failure], tier):
        return UNNOTICED, f"{failure} fails without the breakage, too"
    return tier, failure


def copy_checkout(place: Path) -> Path:
    """Copy the checkout to a folder in *place*, with the recorded data beside it."""
    checkout = place / "checkout"
    left_out = (".git", ".venv", "__pycache__", "papers", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(*left_out))
    (checkout / "papers").mkdir()
    if (shared := ROOT.parent / "shared").exists():
        (place / "shared").symlink_to(shared)
    return checkout


def main() -> int:
    """Break them, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m quality.broken", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="breakages to try; all by default")
    parser.add_argument("--write", action="store_true", help=f"write the table to {PAGE.name}")
    arguments = parser.parse_args()
    chosen = set(arguments.numbers) or {*range(1, len(BREAKAGES) + 1)}
    rows, gaps = [], 0
    with tempfile.TemporaryDirectory() as place:
        checkout = copy_checkout(Path(place))
        for number, breakage in enumerate(BREAKAGES, 1):
            if number not in chosen:
                continue
            try:
                tier, test = noticed_by(breakage, checkout)
            except Stale as stale:
                tier, test = "not tried", f"{stale}"
            gaps += tier not in TIERS
            named = f"`{test}`".replace("|", r"\|") if test else ""
            cells = (str(number), breakage.promise, f"`{breakage.file}`", tier, named)
            rows.append(f"| {' | '.join(cells)} |")
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    if arguments.write:
        PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
