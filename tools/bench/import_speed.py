"""How fast memories are imported, beside plain ONNX Runtime on the same texts.

    PYTHONPATH=tools python tools/bench/import_speed.py --locomo FILE [--texts 2400] [--chunk 600]

Plain means: tokenise, sort by length, run the same model in batches, pool; nothing else. It runs one batch
after the other on two threads, and two batches at once on a thread each. All take turns, chunk by chunk, in
one process. Prints Markdown.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime as ort

from bench.recall_speed import session_options
from bench.texts import read_turns
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.batching import pad
from satchel.embedder.model import Pooling, Role, TokenIds
from satchel.embedder.pooling import pool
from satchel.embedder.reading import read
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import EmbeddedSettings, open_embedded

OVERLAP_TOKENS = 32


class Way(NamedTuple):
    """How plain ONNX Runtime works: padded tokens of a batch, batches at once, threads of each."""

    batch_tokens: int
    at_once: int
    threads: int


PLAIN_WAYS = (Way(768, 1, 2), Way(4096, 1, 2), Way(768, 2, 1))


class Plain:
    """The unavoidable work: tokens, inference, pooling."""

    def __init__(self, way: Way) -> None:
        source = packaged_model(max_tokens=None)
        self._way = way
        self._session = ort.InferenceSession(
            str(source.model_file), session_options(way.threads), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = source.open_tokenizer()
        self._max_tokens = source.max_tokens

    @property
    def name(self) -> str:
        """What the table calls it."""
        return "plain, batches of {} tokens, at once: {}, threads of each: {}".format(*self._way)

    def embed(self, texts: Sequence[str]) -> int:
        """Embed the texts in length-sorted batches; return the number of rows."""
        found = read(
            texts, Role.PASSAGE, self._tokenizer, max_tokens=self._max_tokens, overlap=OVERLAP_TOKENS
        )
        batches = list(self._batches(sorted(found.rows, key=len)))
        with ThreadPoolExecutor(self._way.at_once) as workers:
            return sum(workers.map(self._run, batches))

    def _batches(self, rows: Sequence[TokenIds]) -> Iterator[Sequence[TokenIds]]:
        start = 0
        while start < len(rows):
            end = start + 1
            while end < len(rows) and (end + 1 - start) * len(rows[end]) <= self._way.batch_tokens:
                end += 1
            yield rows[start:end]
            start = end

    def _run(self, rows: Sequence[TokenIds]) -> int:
        batch = pad(rows, self._tokenizer.pad_id)
        known = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
        }
        feed = {one.name: known[one.name] for one in self._session.get_inputs()}
        return len(pool(self._session.run(None, feed)[0], batch.mask, Pooling.MEAN))


async def records(texts: Sequence[str], first: int) -> AsyncIterator[pb.ImportMemoriesRequest]:
    """Yield one record for each text."""
    for number, text in enumerate(texts, first):
        memory = pb.StoreMemoryRequest(
            wing="bench", content=f"{text} #{number}", session_id=f"s{number // 20}"
        )
        yield pb.ImportMemoriesRequest(sequence=number, new_memory=memory)


async def measure(locomo: Path, count: int, chunk: int) -> dict[str, list[float]]:
    """Return texts per second, chunk by chunk, of every way."""
    turns = [turn.text for turn in read_turns(locomo)]
    texts = [turns[number % len(turns)] for number in range(count)]
    rates: dict[str, list[float]] = {}
    plain = [Plain(way) for way in PLAIN_WAYS]
    with tempfile.TemporaryDirectory() as folder:
        settings = EmbeddedSettings.load(DataFolder(Path(folder)))
        async with open_embedded(settings) as embedded:
            store = embedded.clients().memory
            for first in range(0, count, chunk):
                part = texts[first : first + chunk]
                for one in plain:
                    begun = time.perf_counter()
                    await asyncio.to_thread(
                        one.embed, [f"{text} #{first + n}" for n, text in enumerate(part)]
                    )
                    note(rates, one.name, len(part), begun)
                begun = time.perf_counter()
                answers = [answer async for answer in store.ImportMemories(records(part, first))]
                if len(answers) != len(part) or any(answer.HasField("error") for answer in answers):
                    raise RuntimeError("the import failed")
                note(rates, "import", len(part), begun)
    return rates


def note(rates: dict[str, list[float]], way: str, texts: int, begun: float) -> None:
    """Keep the rate of one chunk."""
    rates.setdefault(way, []).append(texts / (time.perf_counter() - begun))


def report(rates: dict[str, list[float]]) -> None:
    """Print the table; a share is the median of the shares of the chunks, each against its own plain run."""
    imported = np.array(rates["import"])
    print("\n| way | texts per second (median) | import / this |\n| --- | ---: | ---: |")
    for way, values in rates.items():
        share = statistics.median((imported / np.array(values)).tolist())
        print(f"| {way} | {statistics.median(values):.0f} | {share:.2f} |")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--locomo", type=Path, required=True, help="a LoCoMo file whose turns are imported")
    parser.add_argument("--texts", type=int, default=2400)
    parser.add_argument("--chunk", type=int, default=600)
    options = parser.parse_args()
    report(asyncio.run(measure(options.locomo, options.texts, options.chunk)))


if __name__ == "__main__":
    main()
