"""Calls per second and median latency of the clients of all languages, against one Satchel in one process.

    PYTHONPATH=tests:tools python tools/bench/client_speed.py [--seconds 10] [--rounds 3]

Each client makes its calls one after the other over one connection. The clients take turns, round by round,
so that the noise of the machine hits all; a figure is the median of its rounds. Builds the clients first,
which takes minutes where nothing is built. Prints Markdown.
"""

import argparse
import json
import statistics
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

from e2e.client_programs import CLIENTS, Client, build, run_bench
from e2e.running import embedded

CALLS = ("EmbedTexts", "StoreMemory", "Recall")
FIGURES = ("calls_per_second", "median_ms")

# What one run of a runner prints: figures by call.
Speeds = dict[str, dict[str, float]]


def median_of(rounds: Sequence[Speeds]) -> Speeds:
    """Return the median of each figure."""
    return {
        call: {figure: statistics.median(one[call][figure] for one in rounds) for figure in FIGURES}
        for call in CALLS
    }


def measure(clients: Sequence[Client], url: str, seconds: float, rounds: int) -> dict[str, Speeds]:
    """Let the clients take turns; every run has a project of its own, empty at its beginning."""
    taken: dict[str, list[Speeds]] = {client.language: [] for client in clients}
    for _ in range(rounds):
        for client in clients:
            printed = run_bench(client, url, f"bench-{uuid.uuid4()}", seconds)
            taken[client.language].append(json.loads(printed))
    return {language: median_of(found) for language, found in taken.items()}


def report(speeds: dict[str, Speeds]) -> None:
    """Print the table."""
    titles = [f"`{call}` {title}" for call in CALLS for title in ("calls/s", "median ms")]
    print(f"| client | {' | '.join(titles)} |")
    print(f"| --- |{' ---: |' * len(titles)}")
    for language, found in speeds.items():
        cells = [f"{found[call][FIGURES[0]]:.0f} | {found[call][FIGURES[1]]:.1f}" for call in CALLS]
        print(f"| {language} | {' | '.join(cells)} |")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="for each call of each client, in a round"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="languages; all by default")
    options = parser.parse_args()
    clients = [client for client in CLIENTS if not options.only or client.language in options.only]
    for client in clients:
        build(client, quick=True)
    with tempfile.TemporaryDirectory() as folder, embedded(Path(folder) / "data") as running:
        report(measure(clients, running.allocator, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
