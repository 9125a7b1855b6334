"""What a recall costs embedded and as five processes, traced or not, and how many fit in a second.

    PYTHONPATH=tests:tools python tools/bench/ways_of_running.py --locomo FILE [--data-dir FOLDER]

Both ways run at the same time over copies of one data folder, and take turns query by query, so that the
noise of the machine hits both. Prints Markdown.
"""

import argparse
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc

from bench.texts import read_questions
from e2e.running import Running, apart, embedded
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as rpc

CALL_LIMIT_S = 60.0
BUDGET = 2000
WARM_UP = 10
CLIENTS = (1, 4, 16)
Recall = Callable[[str], float]


@contextmanager
def recalling(address: str, *, traced: bool) -> Iterator[Recall]:
    """Yield a function that recalls over gRPC and returns the milliseconds it took."""
    metadata = (("satchel-trace", "1"),) if traced else ()
    with grpc.insecure_channel(address) as channel:
        stub = rpc.AllocatorServiceStub(channel)

        def recall(question: str) -> float:
            begun = time.perf_counter()
            stub.Recall(
                pb.RecallRequest(query=question, budget=BUDGET), timeout=CALL_LIMIT_S, metadata=metadata
            )
            return (time.perf_counter() - begun) * 1e3

        yield recall


def take_turns(ways: dict[str, Recall], questions: Sequence[str]) -> dict[str, list[float]]:
    """Ask every question in every way in turn, each in other words, so that no cache answers."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number, question in enumerate(questions):
        for name, recall in ways.items():
            spent = recall(f"{question} ({name} {number})")
            if number >= WARM_UP:
                taken[name].append(spent)
    return taken


def per_second(address: str, questions: Sequence[str], clients: int) -> float:
    """Return recalls per second with several clients at once."""
    shares = [questions[number::clients] for number in range(clients)]

    def work(share: Sequence[str], number: int) -> None:
        with recalling(address, traced=False) as recall:
            for question in share:
                recall(f"{question} [{clients} {number}]")

    threads = [threading.Thread(target=work, args=(share, number)) for number, share in enumerate(shares)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(questions) / (time.perf_counter() - begun)


def report(taken: dict[str, list[float]], rates: dict[tuple[str, int], float], memories: int) -> None:
    """Print the tables."""
    print(f"\nRecall at {memories:,} memories, budget {BUDGET:,}, milliseconds seen by a gRPC client\n")
    print("| way of running | median | p95 | beside embedded |\n| --- | ---: | ---: | ---: |")
    base = statistics.median(taken["embedded"])
    for name, values in taken.items():
        median = statistics.median(values)
        p95 = statistics.quantiles(values, n=20)[-1]
        print(f"| {name} | {median:.1f} | {p95:.1f} | {median - base:+.1f} |")
    print("\nRecalls per second\n\n| clients | embedded | five processes |\n| ---: | ---: | ---: |")
    for clients in CLIENTS:
        print(f"| {clients} | {rates['embedded', clients]:.0f} | {rates['five processes', clients]:.0f} |")


def fill(data_dir: Path, locomo: Path) -> None:
    """Import the talks into a fresh data folder."""
    with embedded(data_dir) as running:
        done = running.cli("import", str(locomo))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)


def count_memories(running: Running) -> int:
    """Ask how many memories there are."""
    with grpc.insecure_channel(running.allocator) as channel:
        status = rpc.AllocatorServiceStub(channel).GetStatus(pb.GetStatusRequest(), timeout=CALL_LIMIT_S)
    return status.stats.verbatim_count


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--locomo", type=Path, required=True, help="a LoCoMo file: questions, and memories")
    parser.add_argument("--data-dir", type=Path, help="a filled data folder; it is copied, not changed")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    questions = read_questions(options.locomo)[: options.queries]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        source = options.data_dir or Path(folder) / "source"
        if options.data_dir is None:
            fill(source, options.locomo)
        for name in ("one", "five"):
            shutil.copytree(source, Path(folder) / name, ignore=shutil.ignore_patterns("*.lock", "*.gate"))
        one = stack.enter_context(embedded(Path(folder) / "one"))
        five = stack.enter_context(apart(Path(folder) / "five"))
        ways = {
            "embedded": stack.enter_context(recalling(one.allocator, traced=False)),
            "five processes": stack.enter_context(recalling(five.allocator, traced=False)),
            "embedded, traced": stack.enter_context(recalling(one.allocator, traced=True)),
            "five processes, traced": stack.enter_context(recalling(five.allocator, traced=True)),
        }
        taken = take_turns(ways, questions)
        rates = {
            (name, clients): per_second(running.allocator, questions, clients)
            for clients in CLIENTS
            for name, running in (("embedded", one), ("five processes", five))
        }
        report(taken, rates, count_memories(one))


if __name__ == "__main__":
    main()
