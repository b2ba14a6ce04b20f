"""Papers that open in all ways, looked for by a process that is killed."""

from pathlib import Path

import pytest

from tests.curation.played_healing import Play
from tests.world import World

pytestmark = [pytest.mark.slow, pytest.mark.world]


@pytest.mark.timeout(600)
def test_what_opens_is_found_within_a_month_though_the_process_is_killed(tmp_path: Path) -> None:
    with World() as world:
        result = Play(world, tmp_path, days=240).run(kill_share=0.8)
    assert result.kills >= 10, result
    assert (result.missed, result.false, result.opened) == ([], [], 16), result
    assert result.share >= 0.95, result
    assert result.requests_per_run <= 0.1, result
    assert result.asked_again.total() <= result.kills, result
