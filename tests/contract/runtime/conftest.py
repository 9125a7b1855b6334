from collections.abc import AsyncIterator

import pytest
from contract.runtime.transports import TRANSPORTS, Opener, Reach


@pytest.fixture(params=sorted(TRANSPORTS))
def opener(request: pytest.FixtureRequest) -> Opener:
    return TRANSPORTS[request.param]


@pytest.fixture
async def reach(opener: Opener) -> AsyncIterator[Reach]:
    async with opener() as reached:
        yield reached
