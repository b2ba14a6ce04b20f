"""Papers of the stand-in internet that change while a test runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.world import Record, World


@pytest.fixture
def happens(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Record]:
    """Change a paper of the stand-in internet until the test ends."""

    def happen(record: Record, **changes: Any) -> Record:
        changed = replace(record, **changes)
        monkeypatch.setitem(world.corpus.by_pmid, record.pmid, changed)
        monkeypatch.setitem(world.corpus.by_doi, record.doi.lower(), changed)
        if changed.pmcid:
            monkeypatch.setitem(world.corpus.by_pmcid, changed.pmcid, changed)
        records = [changed if one.pmid == record.pmid else one for one in world.corpus.records]
        monkeypatch.setattr(world.corpus, "records", records)
        return changed

    return happen
