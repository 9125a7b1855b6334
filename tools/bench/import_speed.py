"""How fast memories are imported, beside plain ONNX Runtime on the same texts.

    PYTHONPATH=tools python tools/bench/import_speed.py --locomo FILE [--texts 2400] [--chunk 600]

Plain means: tokenise, sort by length, run the same model with the same options in batches, pool; nothing
else. Both take turns, chunk by chunk, in one process. Prints Markdown.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np

from bench.texts import read_turns
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.embedder.adapters.onnx import OnnxSession
from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.batching import pad
from satchel.embedder.model import Role
from satchel.embedder.reading import read
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import EmbeddedSettings, open_embedded

THREADS = 2
PLAIN_BATCH_TOKENS = (768, 4096)
OVERLAP_TOKENS = 32


class Plain:
    """The unavoidable work: tokens, inference, pooling."""

    def __init__(self, session: OnnxSession) -> None:
        source = packaged_model(max_tokens=None)
        self._session = session
        self._tokenizer = source.open_tokenizer()
        self._max_tokens = source.max_tokens

    async def embed(self, texts: Sequence[str], batch_tokens: int) -> int:
        """Embed the texts in length-sorted batches; return the number of rows."""
        found = read(
            texts, Role.PASSAGE, self._tokenizer, max_tokens=self._max_tokens, overlap=OVERLAP_TOKENS
        )
        rows = sorted(found.rows, key=len)
        start = 0
        while start < len(rows):
            end = start + 1
            while end < len(rows) and (end + 1 - start) * len(rows[end]) <= batch_tokens:
                end += 1
            await self._session.embed(pad(rows[start:end], self._tokenizer.pad_id))
            start = end
        return len(rows)


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
    source = packaged_model(max_tokens=None)
    session = await OnnxSession.open(
        source.model_file, name=source.name, pooling=source.pooling, threads=THREADS
    )
    plain = Plain(session)
    with tempfile.TemporaryDirectory() as folder:
        settings = EmbeddedSettings.load(DataFolder(Path(folder)))
        async with open_embedded(settings) as embedded:
            store = embedded.clients().memory
            for first in range(0, count, chunk):
                part = texts[first : first + chunk]
                for tokens in PLAIN_BATCH_TOKENS:
                    begun = time.perf_counter()
                    await plain.embed([f"{text} #{first + n}" for n, text in enumerate(part)], tokens)
                    note(rates, f"plain, batches of {tokens} tokens", len(part), begun)
                begun = time.perf_counter()
                answers = [answer async for answer in store.ImportMemories(records(part, first))]
                if len(answers) != len(part) or any(answer.HasField("error") for answer in answers):
                    raise RuntimeError("the import failed")
                note(rates, "import", len(part), begun)
    await session.aclose()
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
