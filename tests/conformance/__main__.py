"""Print the ledger: ``python -m tests.conformance``."""

import sys
from collections import Counter

from tests.conformance.items import ITEMS


def table() -> str:
    """Every requirement, the doors it is checked at, and where the product does otherwise."""
    rows = [
        f"{item.document:<10}{item.paragraph:<24}{item.about:<44}{','.join(item.doors):<18}"
        f"{item.deviation}"
        for item in ITEMS
    ]
    counts = Counter(item.document for item in ITEMS)
    counted = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))
    deviating = sum(bool(item.deviation) for item in ITEMS)
    return "\n".join([*rows, f"{len(ITEMS)} items ({counted}); {deviating} deviations"])


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
