import asyncio
import dataclasses

from satchel.index.board import Board, State
from satchel.index.catalog import Catalog


async def test_waiter_is_woken_by_the_revision_it_waits_for() -> None:
    board = Board(Catalog(crossover=10).view())
    waiting = asyncio.ensure_future(board.wait_for(3, 5))
    await asyncio.sleep(0)
    board.publish(dataclasses.replace(board.view, revision=2))
    await asyncio.sleep(0)
    assert not waiting.done()

    board.publish(dataclasses.replace(board.view, revision=3))

    assert await waiting
    assert board.head_revision == 3


async def test_wait_ends_in_time() -> None:
    board = Board(Catalog(crossover=10).view())

    assert not await board.wait_for(1, 0.001)
    assert await board.wait_for(0, 0.001)


def test_state_is_loading_until_the_store_was_tried_once() -> None:
    board = Board(Catalog(crossover=10).view())
    states = [board.state]
    board.is_loading = False
    states.append(board.state)
    board.note_connection(is_connected=False)
    states.append(board.state)
    board.note_connection(is_connected=True)
    states.append(board.state)

    assert states == [State.LOADING, State.LOADING, State.DISCONNECTED, State.READY]
