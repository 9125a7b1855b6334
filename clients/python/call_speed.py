"""Measures calls per second and the median latency of three RPCs, call after call over one connection."""

import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count, islice

from satchel.client import Satchel

WARM_UP_CALLS = 20
BUDGET = 1000

Speeds = dict[str, dict[str, float]]


def measure(satchel: Satchel, seconds: float) -> Speeds:
    """Make each call for so many seconds, every time with another text of about twelve words."""
    return {
        "EmbedTexts": _speed(lambda text: satchel.embed([text]), seconds),
        "StoreMemory": _speed(satchel.remember, seconds),
        "Recall": _speed(lambda text: satchel.recall(f"Is this right? {text}", budget=BUDGET), seconds),
    }


def _texts() -> Iterator[str]:
    run = secrets.token_hex(4)
    for number in count():
        yield f"Order {number} of {run} left the bakery at noon with {number % 97} loaves of bread."


def _speed(call: Callable[[str], object], seconds: float) -> dict[str, float]:
    texts = _texts()
    for text in islice(texts, WARM_UP_CALLS):
        call(text)
    taken: list[float] = []
    begun = time.perf_counter()
    for text in texts:
        before = time.perf_counter()
        if before - begun >= seconds:
            break
        call(text)
        taken.append(time.perf_counter() - before)
    elapsed = time.perf_counter() - begun
    return {
        "calls_per_second": round(len(taken) / elapsed, 1),
        "median_ms": round(statistics.median(taken) * 1e3, 3),
    }
