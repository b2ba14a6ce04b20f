"""A process that looks for new texts on the days that its standard input names.

``python -m tests.curation.healing_process SETTINGS.json``. A line of input is a moment in seconds
since 1970; the process sets its clock to that moment, rechecks the texts that are due, prints each
outcome as a line of JSON, and ``done``. Its pauses take no time.
"""

import json
import sys
import time
from pathlib import Path

from tests.clock import Clock
from utils import Library


def main() -> None:
    """Recheck once for each line."""
    settings = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    clock = Clock(time.time)
    time.sleep, time.time = clock.sleep, clock.time  # type: ignore[assignment]
    library = Library(**settings)
    for line in sys.stdin:
        clock.sleep(float(line) - clock.time())
        for change in library.upkeep.recheck_texts(due=True):
            row = {"pmid": change.ids.pmid, "doi": change.ids.doi, "outcome": change.outcome}
            _say(json.dumps(row))
        _say("done")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
