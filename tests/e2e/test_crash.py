"""What was acknowledged survives kill -9."""

from pathlib import Path

import pytest

from e2e import crashing
from requirements import requirement

KILLS = 20
FEWEST_WRITES = 100


@requirement("store:acknowledged-is-durable")
@pytest.mark.timeout(600)
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    ledger, faults = crashing.run(tmp_path / "data", KILLS)

    assert faults == []
    assert len(ledger.stored) + len(ledger.deleted) > FEWEST_WRITES
    assert ledger.deleted
