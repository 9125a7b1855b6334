import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.cli.actions.output_file import opened_output
from satchel.cli.exits import CommandError, Exit
from satchel.cli.importing.records import Draft
from satchel.cli.importing.upload import Defaults, Outcome, upload
from satchel.cli.stalls import stall_limit

pytestmark = pytest.mark.timeout(10)


class SilentStore:
    """Answers the first record of an import and nothing after it."""

    async def ImportMemories(  # noqa: N802
        self, requests: AsyncIterator[pb.ImportMemoriesRequest]
    ) -> AsyncIterator[pb.ImportMemoriesResponse]:
        yield pb.ImportMemoriesResponse(
            sequence=(await anext(requests)).sequence, stored=pb.StoreMemoryResponse(id="1")
        )
        await asyncio.Event().wait()


async def test_what_no_longer_moves_ends_with_a_sentence_that_says_so() -> None:
    with pytest.raises(CommandError, match=r"Nothing moved for 0\.01 s\. Try again\.") as caught:
        async with stall_limit(0.01, "Try again."):
            await asyncio.Event().wait()

    assert caught.value.exit_code is Exit.UNAVAILABLE


async def test_what_moves_may_take_longer_than_the_limit() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with stall_limit(0.1, "") as moved:
        while loop.time() < began + 0.3:
            await asyncio.sleep(0)
            moved()

    assert loop.time() >= began + 0.3


async def test_a_timeout_of_the_work_itself_comes_out_as_it_is() -> None:
    with pytest.raises(TimeoutError):
        async with stall_limit(5, ""):
            raise TimeoutError


async def test_a_move_that_comes_too_late_changes_nothing() -> None:
    late: list[Callable[[], None]] = []

    async def stall() -> None:
        async with stall_limit(0.01, "") as moved:
            late.append(moved)
            await asyncio.Event().wait()

    with pytest.raises(CommandError):
        await stall()

    late[0]()


async def test_an_import_whose_store_falls_silent_ends_after_what_was_answered() -> None:
    drafts = iter([Draft("a", "one"), Draft("b", "two")])
    outcomes: list[Outcome] = []

    async def import_them() -> None:
        async with stall_limit(0.05, "") as moved:
            async for outcome in upload(cast("Any", SilentStore()), drafts, Defaults(), "", moved=moved):
                outcomes.append(outcome)  # noqa: PERF401  # what came before the error counts

    with pytest.raises(CommandError):
        await import_them()

    assert outcomes == [Outcome("a", "stored")]


def test_the_name_of_a_complete_export_is_on_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []
    output = tmp_path / "a.jsonl"

    def fsync(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), output.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    with opened_output(output) as file:
        file.write(b"{}\n")

    assert synced == [(False, False), (True, True)]
