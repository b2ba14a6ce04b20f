"""The table of thresholds holds no dead one."""

import re
from pathlib import Path

from utils.judges import thresholds


def test_every_threshold_is_used():
    table = Path(thresholds.__file__)
    names = set(re.findall(r"^([A-Z0-9_]+): Final", table.read_text("utf-8"), re.M))
    others = [path for path in table.parent.parent.rglob("*.py") if path != table]
    used = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", "".join(p.read_text("utf-8") for p in others)))
    assert names - used == set()
    assert len(names) > 80
