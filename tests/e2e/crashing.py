"""Kills a real Satchel at random moments while it is written to, and checks what was acknowledged."""

import random
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from e2e.running import free_ports, process, wait_until_ready
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_rpc

WRITERS = 3
LONGEST_LIFE_S = 1.2
SAMPLE = 12
SNAPSHOT_EVERY = "5"  # changes; so that kills hit snapshots too
CALL_LIMIT_S = 30.0
ALMOST_THE_SAME = 0.99  # cosine of a text with itself, less rounding


@dataclass(slots=True)
class Ledger:
    """What was acknowledged. An operation that was cut off is in neither set."""

    stored: dict[str, str] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


def write_until_killed(address: str, ledger: Ledger, writer: int, life: int) -> None:
    """Store and delete until the server is gone; note each acknowledgement."""
    chance = random.Random(f"{life}/{writer}")
    with grpc.insecure_channel(address) as channel:
        memories = store_rpc.MemoryServiceStub(channel)
        try:
            for number in range(10_000):
                text = (
                    f"Crate {life}-{writer}-{number} holds {chance.choice(WORDS)} and {chance.choice(WORDS)}."
                )
                request = store_pb.StoreMemoryRequest(wing="crash", content=text)
                answer = memories.StoreMemory(request, timeout=CALL_LIMIT_S)
                with ledger.lock:
                    ledger.stored[answer.id] = text
                if chance.random() < 1 / 3:
                    delete_one(memories, ledger, chance)
        except grpc.RpcError:
            return


def delete_one(memories: store_rpc.MemoryServiceStub, ledger: Ledger, chance: random.Random) -> None:
    """Delete some stored memory; while the call is under way its fate is unknown."""
    with ledger.lock:
        if not ledger.stored:
            return
        memory_id = chance.choice(sorted(ledger.stored))
        text = ledger.stored.pop(memory_id)
        ledger.unknown.add(memory_id)
    memories.DeleteMemory(store_pb.DeleteMemoryRequest(id=memory_id), timeout=CALL_LIMIT_S)
    with ledger.lock:
        ledger.unknown.discard(memory_id)
        ledger.deleted[memory_id] = text


WORDS = [
    "amber",
    "basalt",
    "cedar",
    "dahlia",
    "ember",
    "flint",
    "garnet",
    "hazel",
    "indigo",
    "jasper",
    "kelp",
    "linen",
    "marble",
    "nickel",
    "onyx",
]


def live_and_kill(data_dir: Path, ledger: Ledger, life: int, *, check: bool) -> list[str]:
    """Start, check what earlier lives acknowledged, write, and kill -9 at a random moment."""
    grpc_port, http_port = free_ports(2)
    address, http = f"127.0.0.1:{grpc_port}", f"http://127.0.0.1:{http_port}"
    arguments = ["up", "--grpc", address, "--http", f"127.0.0.1:{http_port}"]
    faults: list[str] = []
    with process(arguments, data_dir, {"SATCHEL_INDEX_SNAPSHOT_EVERY": SNAPSHOT_EVERY}) as server:
        wait_until_ready(http, server)
        if check:
            faults = find_faults(address, ledger, life)
        writers = [
            threading.Thread(target=write_until_killed, args=(address, ledger, writer, life))
            for writer in range(WRITERS)
        ]
        for each in writers:
            each.start()
        time.sleep(random.Random(life).uniform(0.05, LONGEST_LIFE_S))
        server.send_signal(signal.SIGKILL)
        server.wait()
        for each in writers:
            each.join()
    return faults


def find_faults(address: str, ledger: Ledger, life: int) -> list[str]:
    """Say what was acknowledged and is not so: by id for all, by text and by vector for a sample."""
    chance = random.Random(-life)
    with grpc.insecure_channel(address) as channel:
        memories = store_rpc.MemoryServiceStub(channel)
        faults = [
            *(f"lost: {each}" for each in missing(memories, sorted(ledger.stored))),
            *(f"not deleted: {each}" for each in present(memories, sorted(ledger.deleted))),
        ]
        wait_for_index(channel, memories)
        allocator = allocator_rpc.AllocatorServiceStub(channel)
        for memory_id, text in sample(ledger.stored, chance):
            if memory_id not in found(allocator, text):
                faults.append(f"not found by search: {memory_id} {text}")
        for memory_id, text in sample(ledger.deleted, chance):
            if memory_id in found(allocator, text):
                faults.append(f"found though deleted: {memory_id} {text}")
    return faults


def missing(memories: store_rpc.MemoryServiceStub, ids: Sequence[str]) -> list[str]:
    """Return those that the store does not have."""
    return [each for batch in batches(ids) for each in get(memories, batch).missing_ids]


def present(memories: store_rpc.MemoryServiceStub, ids: Sequence[str]) -> list[str]:
    """Return those that the store has."""
    return [each.id for batch in batches(ids) for each in get(memories, batch).memories]


def get(memories: store_rpc.MemoryServiceStub, ids: Sequence[str]) -> store_pb.BatchGetMemoriesResponse:
    """Read memories by id."""
    return memories.BatchGetMemories(store_pb.BatchGetMemoriesRequest(ids=ids), timeout=CALL_LIMIT_S)


def batches(ids: Sequence[str]) -> list[Sequence[str]]:
    """Cut into parts that one call takes."""
    return [ids[start : start + 500] for start in range(0, len(ids), 500)]


def sample(texts: dict[str, str], chance: random.Random) -> list[tuple[str, str]]:
    """Choose some, the newest among them."""
    rows = sorted(texts.items())
    return [*rows[-SAMPLE:], *chance.sample(rows, min(SAMPLE, len(rows)))]


def wait_for_index(channel: grpc.Channel, memories: store_rpc.MemoryServiceStub) -> None:
    """Return when the index has applied all that the store holds, and nothing waits to be embedded."""
    index = index_rpc.IndexServiceStub(channel)
    limit = time.monotonic() + CALL_LIMIT_S
    while time.monotonic() < limit:
        status = memories.GetStoreStatus(store_pb.GetStoreStatusRequest(), timeout=CALL_LIMIT_S)
        applied = index.GetIndexStatus(index_pb.GetIndexStatusRequest(), timeout=CALL_LIMIT_S)
        caught_up = applied.applied_revision >= status.head_revision
        if (
            caught_up
            and applied.state == index_pb.INDEX_STATE_READY
            and not status.stats.pending_embedding_count
        ):
            return
        time.sleep(0.05)
    raise TimeoutError("the index did not catch up")


def found(allocator: allocator_rpc.AllocatorServiceStub, text: str) -> set[str]:
    """Return the ids of the memories that a search for the text finds, and whose vectors match it."""
    request = allocator_pb.SearchMemoriesRequest(query=text, wing="crash", top_k=20)
    return {
        row.id
        for row in allocator.SearchMemories(request, timeout=CALL_LIMIT_S).results
        if row.similarity > 0.99
    }


def integrity(database: Path) -> str:
    """Return what SQLite's own check says of the file; `ok` when all is well."""
    with sqlite3.connect(database) as connection:
        rows = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    return "; ".join(rows) if not broken else f"broken references: {broken[:3]}"


def run(data_dir: Path, kills: int) -> tuple[Ledger, list[str]]:
    """Kill a server ``kills`` times; return what was acknowledged and every fault."""
    ledger, faults = Ledger(), []
    for life in range(kills + 1):
        faults += [f"life {life}: {each}" for each in live_and_kill(data_dir, ledger, life, check=life > 0)]
        verdict = integrity(data_dir / "satchel.db")
        if verdict != "ok":
            faults.append(f"life {life}: {verdict}")
    return ledger, faults
