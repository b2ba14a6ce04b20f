"""Words of each invented study: what it is about, in what, and how it was looked at."""

import re
from pathlib import Path

_RAW = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")


def _read(raw: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """A name on a line of its own, then three indented lists with ``|`` between the words."""
    topics: dict[str, dict[str, tuple[str, ...]]] = {}
    for block in re.split(r"\n(?=\w)", raw.strip()):
        name, _, rest = block.partition("\n")
        lists = re.findall(r"^  (\w+): (.*?)(?=^  \w|\Z)", rest, re.M | re.S)
        topics[name] = {
            kind: tuple(" ".join(word.split()) for word in words.split("|"))
            for kind, words in lists
        }
    return topics


TOPICS = _read(_RAW)
