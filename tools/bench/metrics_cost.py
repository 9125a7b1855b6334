"""Measures what counting costs: for one RPC, for one stage, and for whoever reads the metrics.

    python tools/bench/metrics_cost.py [--number N]

Prints Markdown. Times are medians of five rounds, in microseconds of processor time.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable

from satchel.allocator import metrics as allocator
from satchel.embedder import metrics as embedder
from satchel.gateway import metrics as gateway
from satchel.index import metrics as index
from satchel.runtime.methods import parse_method
from satchel.runtime.metrics.calls import meter_of
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.metrics.scraping import exposition
from satchel.store import metrics as store

ROUNDS = 5
READINGS = 100
PARTS = (allocator, embedder, gateway, index, store)
METHOD = parse_method("/satchel.api.allocator.v1.AllocatorService/Recall")


def one_rpc() -> None:
    """Count an RPC as the access log does."""
    meter = meter_of(METHOD)
    meter.begin()
    meter.end("OK", 0.012)


def one_stage() -> None:
    """Time a stage of a recall."""
    with allocator.RANK.time():
        pass


def one_use_case() -> None:
    """Count and time a use case."""
    with measured(allocator.RECALLS, allocator.RECALL_SECONDS):
        pass


def microseconds(work: Callable[[], None], number: int) -> float:
    """Return the median processor time of one call of ``work``."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(number):
            work()
        rounds.append((time.process_time() - began) / number * 1e6)
    return statistics.median(rounds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100_000, help="calls in a round")
    number = parser.parse_args().number
    with asyncio.Runner() as runner:

        def one_reading() -> None:
            runner.run(exposition())

        declared = sum(len(part.FAMILIES.declared) for part in PARTS)
        rows = {
            "an RPC": microseconds(one_rpc, number),
            "a stage of a recall": microseconds(one_stage, number),
            "a use case": microseconds(one_use_case, number),
            f"reading {declared} metrics of the parts": microseconds(one_reading, READINGS),
        }
    print("| what | microseconds |", "| --- | ---: |", sep="\n")
    for what, cost in rows.items():
        print(f"| {what} | {cost:.1f} |")


if __name__ == "__main__":
    main()
