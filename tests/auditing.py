"""An audit that takes consequences until it is killed: ``python -m tests.auditing FOLDER PASS``.

Its judges let everything pass or nothing, so that every text changes from one run to the next.
"""

import sys
from pathlib import Path

from utils import Library
from utils import readers as formats
from utils.curation.audit import Audit, audit_texts
from utils.errors import BadContent
from utils.judges import check


def main() -> None:
    """Audit all of a shelf."""
    folder, passes = Path(sys.argv[1]), sys.argv[2] == "1"

    def judge(document: object, _: object) -> object:
        if passes:
            return document
        raise BadContent("No.", verdict="paywall", evidence="nothing passes")

    check.judge_document = judge  # type: ignore[assignment]
    library = Library(papers_dir=folder)
    made = audit_texts(library.ladder, fix=True)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for _ in Audit(made.ladder, made.files, made.fix, formats.read_and_judge):
        pass


if __name__ == "__main__":
    main()
