"""The vocabulary of each invented study: its subject, its system and its methods."""

import re
from pathlib import Path


def _read_topics(raw: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Parse blocks of a name, then three indented lists with ``|`` between the words."""
    topics: dict[str, dict[str, tuple[str, ...]]] = {}
    for block in re.split(r"\n(?=\w)", raw.strip()):
        name, _, rest = block.partition("\n")
        lists = re.findall(r"^  (\w+): (.*?)(?=^  \w|\Z)", rest, re.M | re.S)
        topics[name] = {k: tuple(" ".join(w.split()) for w in ws.split("|")) for k, ws in lists}
    return topics


TOPICS = _read_topics(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
