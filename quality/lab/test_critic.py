"""The critic: a model of the lab that learns from features, and says where it disagrees."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from quality.lab import critic  # noqa: E402
from quality.lab.kinds import KINDS  # noqa: E402

FAKE = next(k.name for k in KINDS.values() if not k.whole and k.half == "tuning")
WHOLE = next(k.name for k in KINDS.values() if k.whole and k.half == "tuning")


def rows() -> list[critic.Row]:
    """Fakes, of which the rules keep a quarter, and papers; only *length* tells them apart."""
    found = []
    for at in range(160):
        is_fake = at % 4 < 2
        features = {"length": float(at % 7 + 20 * (not is_fake)), "noise": float(at * 37 % 11)}
        kept = not is_fake or at % 8 == 0
        found.append(critic.Row(FAKE if is_fake else WHOLE, at % 2 == 0, kept, features))
    return found


def test_the_critic_names_the_kind_and_the_feature_that_the_rules_do_not_use() -> None:
    found = [row._replace(is_of_first_half=at < 80) for at, row in enumerate(rows())]
    head, line = critic.disagreements(found, seed=1)
    assert line.startswith(FAKE)
    assert line.split("  ")[-1] == "length"
    columns = dict(zip(critic.ANSWERS.values(), line[69:].split()[:4], strict=True))
    assert columns == {
        "both right": "30",
        "both wrong": "0",
        "rules wrong": "10",
        "model wrong": "0",
    }
    assert "rules wrong" in head


def test_the_same_seed_trains_the_same_model() -> None:
    table = np.array([list(row.features.values()) for row in rows()])
    whole = np.array([row.kind == WHOLE for row in rows()])
    first, again, other = (critic.train(table, whole, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    scores = critic.parts_of(first, table).sum(axis=1)
    assert scores[whole].min() > scores[~whole].max()
