"""Measures an embedded `Recall` against a plain script that does only the unavoidable work.

    python tools/bench/recall_speed.py --locomo FILE.json --memories 10000 --data-dir FOLDER

The first run fills FOLDER with so many memories: real turns and recombined ones, with real vectors and noise
(bench/texts.py); later runs reuse it. Then the real Satchel opens the folder in this process. For each
question both take a turn, in changing order: `Recall` through the in-process channel, and the script, which
embeds the question with a session of the same model, searches the same vectors with faiss, makes one FTS5
query, and reads 100 rows with their texts. For every other two questions the session has one thread, as the
embedder's own, and for the others two. No question is asked twice. Prints Markdown: medians and 95th
percentiles of wall and processor time, the median of the paired ratios, and where a recall's time goes.
"""

import argparse
import asyncio
import json
import re
import sqlite3
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import faiss as _faiss
import grpc
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.texts import Turn, multiply, noisy, read_questions, read_turns
from satchel.allocator.expansion import content_words
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as embedder_rpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as memory_rpc
from satchel.api.types.v1 import model_pb2
from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.batching import pad
from satchel.embedder.main import build as build_embedder
from satchel.embedder.model import Pooling, Role
from satchel.embedder.pooling import pool
from satchel.embedder.reading import read
from satchel.embedder.servicer import encode_identity
from satchel.embedder.settings import EmbedderSettings
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import EmbeddedSettings, open_embedded
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.telemetry import collect_trace
from satchel.store.main import build as build_store
from satchel.store.settings import StoreSettings

faiss: Any = _faiss

Matrix = NDArray[np.float32]
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

WARM_UP = 30
TRACED = 40
FETCHED = 100
SESSION_TURNS = 25
BEGIN_S = 1_672_531_200  # 2023-01-01
HNSW_LINKS, HNSW_BREADTH = 32, 100
THREADS = (1, 2)  # of the script's sessions
MS = 1e3
REST_S, RESTING_S = 6.0, 0.1


@dataclass
class Times:
    """What one contender took, question by question, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work once; the processor time is that of all threads of the process."""
        cpu, wall = time.process_time(), time.perf_counter()
        await work()
        self.wall.append((time.perf_counter() - wall) * MS)
        self.cpu.append((time.process_time() - cpu) * MS)

    def row(self, name: str) -> str:
        """Return a line of the table."""
        cells = [
            f"{point(values):.2f}" for values in (self.wall, self.cpu) for point in (statistics.median, p95)
        ]
        return f"| {name} | {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Made:
    """What the model made of the turns: vectors (turns, dimension), codes turn by turn, how many each."""

    identity: model_pb2.ModelIdentity
    vectors: Matrix
    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]

    def codes_of(self, bases: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
        """Return the codes of texts made from these turns; half as many again where a tail follows."""
        own = np.split(self.codes, np.cumsum(self.counts)[:-1])
        exact = len(self.vectors)
        return [
            own[base] if at < exact else np.concatenate([own[base], own[base][::2]])
            for at, base in enumerate(bases.tolist())
        ]


class PreparedEmbedder(embedder_rpc.EmbedderServiceServicer):
    """Answers with vectors and codes that were made before, under the identity of the real model."""

    def __init__(
        self, model: model_pb2.ModelIdentity, known: Mapping[str, tuple[Matrix, NDArray[np.uint8]]]
    ) -> None:
        self._model, self._known = model, known

    async def EmbedStream(  # noqa: N802  # the contract's name
        self,
        request_iterator: AsyncIterator[embedder_pb.EmbedStreamRequest],  # noqa: ARG002
        context: Context,  # noqa: ARG002
    ) -> AsyncIterator[embedder_pb.EmbedStreamResponse]:
        """Answer nothing: an import asks for batches one by one."""
        return
        yield

    async def ListModels(  # noqa: N802  # the contract's name
        self,
        request: embedder_pb.ListModelsRequest,  # noqa: ARG002
        context: Context,  # noqa: ARG002
    ) -> embedder_pb.ListModelsResponse:
        """List the real model."""
        return embedder_pb.ListModelsResponse(models=[self._model])

    async def EmbedTexts(  # noqa: N802  # the contract's name
        self,
        request: embedder_pb.EmbedTextsRequest,
        context: Context,  # noqa: ARG002
    ) -> embedder_pb.EmbedTextsResponse:
        """Look the texts up; each is one passage."""
        rows = np.stack([self._known[text][0] for text in request.texts])
        codes = [self._known[text][1] for text in request.texts]
        return embedder_pb.EmbedTextsResponse(
            model=self._model,
            vectors=rows.astype("<f4").tobytes(),
            count=len(rows),
            dimension=rows.shape[1],
            spans=[
                embedder_pb.PassageSpan(text_index=at, start=0, end=len(text), token_count=1)
                for at, text in enumerate(request.texts)
            ],
            token_codes=model_pb2.TokenCodes(
                codes=np.concatenate(codes).tobytes(),
                counts=list(map(len, codes)),
                bytes_per_token=codes[0].shape[1],
            ),
        )


class PlainScript:
    """The work that no implementation can leave out, done in the straightest way."""

    def __init__(self, texts: Sequence[str], vectors: Matrix, folder: Path) -> None:
        source = packaged_model()
        self._tokenizer = source.open_tokenizer()
        self._sessions = {
            threads: ort.InferenceSession(
                str(source.model_file), session_options(threads), providers=["CPUExecutionProvider"]
            )
            for threads in THREADS
        }
        self._max_tokens = source.max_tokens
        self._database = plain_database(folder / "plain.db", texts)
        self._graph = graph_of(vectors, folder / "plain.faiss")
        self._flat = faiss.IndexFlatIP(vectors.shape[1])
        self._flat.add(vectors)
        self.search = self._graph

    def choose(self, questions: Sequence[str]) -> str:
        """Take the faster of graph and exact search; returns its name."""
        rows = [self.embed(question) for question in questions]
        took: dict[str, float] = {}
        for name, index in (("HNSW", self._graph), ("flat", self._flat)):
            began = time.perf_counter()
            for row in rows:
                index.search(row, FETCHED)
            took[name] = time.perf_counter() - began
        best = min(took, key=lambda name: took[name])
        self.search = self._graph if best == "HNSW" else self._flat
        return best

    def embed(self, question: str, threads: int = 1) -> Matrix:
        """Return the question's vector, shape (1, dimension)."""
        session = self._sessions[threads]
        reading = read([question], Role.QUERY, self._tokenizer, max_tokens=self._max_tokens, overlap=0)
        batch = pad(reading.rows[:1], self._tokenizer.pad_id)
        known = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
        }
        feed = {one.name: known[one.name] for one in session.get_inputs()}
        return pool(session.run(None, feed)[0], batch.mask, Pooling.MEAN)

    async def answer(self, question: str, threads: int = 1) -> list[tuple[int, str]]:
        """Embed, search twice, fetch 100 rows with their texts."""
        _, found = self.search.search(self.embed(question, threads), FETCHED)
        words = " OR ".join(f'"{word}"' for word in content_words(question))
        hits = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (words, FETCHED)
        ).fetchall()
        # Half of either list, then whatever is left, as a fusion would.
        near, said = found[0].tolist(), [row for (row,) in hits]
        wanted = list(dict.fromkeys([*near[:50], *said[:50], *near[50:], *said[50:]]))[:FETCHED]
        rows: list[tuple[int, str]] = self._database.execute(
            "SELECT id, text FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(wanted),),
        ).fetchall()
        return rows


def session_options(threads: int) -> ort.SessionOptions:
    """Return the options of the embedder's own session, but for the threads, which do not spin."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def plain_database(path: Path, texts: Sequence[str]) -> sqlite3.Connection:
    """Return a database with one table of texts and one of their words; made at the first time."""
    is_new = not path.exists()
    database = sqlite3.connect(path)
    if is_new:
        database.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT)")
        database.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61')")
        database.executemany("INSERT INTO memories VALUES (?, ?)", enumerate(texts))
        database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
        database.commit()
    database.execute("PRAGMA mmap_size = 268435456")
    database.execute("PRAGMA cache_size = -32768")
    return database


def graph_of(vectors: Matrix, path: Path) -> Any:  # noqa: ANN401
    """Return an HNSW graph over the vectors, kept in a file."""
    if path.exists():
        graph = faiss.read_index(str(path))
    else:
        graph = faiss.IndexHNSWFlat(vectors.shape[1], HNSW_LINKS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = 200
        graph.add(vectors)
        faiss.write_index(graph, str(path))
    graph.hnsw.efSearch = HNSW_BREADTH
    return graph


async def made_of(turns: Sequence[Turn], cache: Path) -> Made:
    """Return what the real model makes of the turns, kept in a file."""
    async with build_embedder(EmbedderSettings()) as built:
        identity = encode_identity(built.engine.identity)
        if not await asyncio.to_thread(cache.exists):
            rows, codes, counts = [], [], []
            for start in range(0, len(turns), 64):
                texts = [turn.text for turn in turns[start : start + 64]]
                found = await built.engine.embed(texts, role=Role.PASSAGE, with_codes=True)
                own = found.codes
                if own is None:
                    raise RuntimeError("The packaged model gives no token codes.")
                rows.append(found.vectors)
                codes.append(own.codes)
                counts.append(own.counts)
            np.savez(
                cache,
                vectors=np.concatenate(rows),
                codes=np.concatenate(codes),
                counts=np.concatenate(counts).astype(np.int64),
            )
        kept = np.load(cache)
        return Made(identity, kept["vectors"], kept["codes"], kept["counts"])


def requests(turns: Sequence[Turn], texts: Sequence[str]) -> Iterator[memory_pb.ImportMemoriesRequest]:
    """Yield the import: turns in their sessions, the others in sessions of 25, a day for each session."""
    days: dict[str, int] = {}
    for number, text in enumerate(texts):
        session = turns[number].session if number < len(turns) else f"more-{number // SESSION_TURNS}"
        day = days.setdefault(session, len(days)) % 900
        memory = memory_pb.StoreMemoryRequest(content=text, session_id=session, wing="talk")
        memory.occurred_at.seconds = BEGIN_S + day * 86_400 + number % 3600
        yield memory_pb.ImportMemoriesRequest(sequence=number, new_memory=memory)


async def populate(
    folder: DataFolder,
    turns: Sequence[Turn],
    known: Mapping[str, tuple[Matrix, NDArray[np.uint8]]],
    made: Made,
) -> None:
    """Import the texts through the store itself, with vectors and codes that are made already."""
    server = InProcessServer()
    embedder = PreparedEmbedder(made.identity, known)
    embedder_rpc.add_EmbedderServiceServicer_to_server(embedder, server)
    channel = InProcessChannel(server)
    settings = StoreSettings(url=f"sqlite:{folder.database}", synchronous="normal")
    async with build_store(settings, embedder_channel=channel) as built:
        built.register(server)
        stub = memory_rpc.MemoryServiceStub(channel)
        done = 0
        async for answer in stub.ImportMemories(requests(turns, list(known))):
            if answer.HasField("error"):
                raise RuntimeError(answer.error.message)
            done += 1
            if done % 5000 == 0:
                print(f"stored {done}", file=sys.stderr, flush=True)
    await server.stop()


async def indexed(channel: Any, count: int) -> None:  # noqa: ANN401
    """Wait until the index has all memories, and the process rests: no graph is being built any more."""
    stub = index_rpc.IndexServiceStub(channel)
    while True:
        status = await stub.GetIndexStatus(index_pb.GetIndexStatusRequest())
        ready = status.state == index_pb.INDEX_STATE_READY and status.lag == 0
        if ready and status.passage_count >= count and await rests():
            return
        await asyncio.sleep(0.5)


async def rests() -> bool:
    """Tell whether the process takes next to no processor time, for longer than the index waits."""
    began = time.process_time()
    await asyncio.sleep(REST_S)
    return time.process_time() - began < RESTING_S


@asynccontextmanager
async def opened(arguments: argparse.Namespace) -> AsyncIterator[tuple[Any, PlainScript]]:
    """Yield the allocator of a running Satchel on the filled folder, and the plain script."""
    folder = DataFolder(arguments.data_dir)
    folder.prepare()
    turns = distinct(read_turns(arguments.locomo))
    texts, bases = multiply(turns, arguments.memories)
    made = await made_of(turns, folder.path / "turns.npz")
    vectors = noisy(made.vectors, bases, len(turns))
    if not await asyncio.to_thread(folder.database.exists):
        known = dict(zip(texts, zip(vectors, made.codes_of(bases), strict=True), strict=True))
        await populate(folder, turns, known, made)
    settings = EmbeddedSettings.load(folder)
    script = PlainScript(texts, vectors, folder.path)
    async with open_embedded(settings) as running:
        await indexed(running.channel, len(texts))
        yield allocator_rpc.AllocatorServiceStub(running.channel), script


def distinct(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns without those whose text was there before."""
    return list({turn.text: turn for turn in reversed(turns)}.values())[::-1]


async def measure(arguments: argparse.Namespace) -> None:
    """Run the comparison and print it."""
    questions = list(dict.fromkeys(read_questions(arguments.locomo)))[:: arguments.stride]
    warm, asked, traced = cut(questions, (WARM_UP, arguments.queries, TRACED))
    async with opened(arguments) as (allocator, script):

        async def recall(question: str) -> allocator_pb.RecallResponse:
            request = allocator_pb.RecallRequest(query=question, budget=arguments.budget)
            response: allocator_pb.RecallResponse = await allocator.Recall(request)
            return response

        kind = script.choose(warm)
        for question in warm:
            await recall(question)
            for threads in THREADS:
                await script.answer(question, threads)
        pairs, shown = {threads: (Times(), Times()) for threads in THREADS}, []
        for number, question in enumerate(asked):
            threads = THREADS[number // 2 % len(THREADS)]
            ours, plain = pairs[threads]
            if number % 2:
                await timed_script(plain, script, question, threads)
            shown.append((await timed_recall(ours, recall, question)).receipt)
            if not number % 2:
                await timed_script(plain, script, question, threads)
        print_comparison(arguments, pairs, kind)
        print_shown(shown)
        print_spans([await spans_of(recall, question) for question in traced])


async def timed_recall(
    ours: Times, recall: Callable[[str], Awaitable[allocator_pb.RecallResponse]], question: str
) -> allocator_pb.RecallResponse:
    """Recall once on the clock."""
    answers = []

    async def work() -> None:
        answers.append(await recall(question))

    await ours.run(work)
    return answers[0]


async def timed_script(plain: Times, script: PlainScript, question: str, threads: int) -> None:
    """Run the script once on the clock."""
    await plain.run(lambda: script.answer(question, threads))


async def spans_of(recall: Callable[[str], Awaitable[object]], question: str) -> Mapping[str, float]:
    """Return the milliseconds of each span of one recall, by kind and name."""
    with collect_trace() as collector:
        await recall(question)
    found: dict[str, float] = defaultdict(float)
    for one in collector.spans:
        found[f"{'-> ' if one.kind == 'client' else ''}{one.name}"] += one.duration_ns / 1e6
    return found


def cut(values: Sequence[str], sizes: Sequence[int]) -> list[Sequence[str]]:
    """Return consecutive parts of these sizes."""
    parts, start = [], 0
    for size in sizes:
        parts.append(values[start : start + size])
        start += size
    return parts


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return float(np.percentile(values, 95))


def print_comparison(
    arguments: argparse.Namespace, pairs: Mapping[int, tuple[Times, Times]], kind: str
) -> None:
    """Print the table and the ratios."""
    print(
        f"{arguments.memories} memories, {arguments.queries} questions, "
        f"budget {arguments.budget}; script: {kind}\n"
    )
    print("| | wall ms, median | p95 | processor ms, median | p95 |\n| --- | --- | --- | --- | --- |")
    for threads, (ours, plain) in pairs.items():
        print(ours.row(f"`Recall`, embedded, beside threads: {threads}"))
        print(plain.row(f"plain script, threads: {threads}"))
    for threads, (ours, plain) in pairs.items():
        print_ratios(ours, plain, threads)


def print_ratios(ours: Times, plain: Times, threads: int) -> None:
    """Print how many times as long a recall takes as a script."""
    wall, cpu = (
        statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
        for mine, theirs in ((ours.wall, plain.wall), (ours.cpu, plain.cpu))
    )
    of_medians = statistics.median(ours.wall) / statistics.median(plain.wall)
    print(
        f"\nThreads of the script: {threads}. Ratio of medians: {of_medians:.2f} wall. "
        f"Median of paired ratios: {wall:.2f} wall, {cpu:.2f} processor.\n"
    )


def print_shown(receipts: Sequence[allocator_pb.Receipt]) -> None:
    """Print what the recalls worked on, on average."""
    names = ("candidate_count", "collapsed_count", "selected_count", "total_tokens")
    means = (f"{name} {statistics.fmean(getattr(one, name) for one in receipts):.0f}" for name in names)
    print(f"Means: {', '.join(means)}.\n")


def print_spans(traces: Sequence[Mapping[str, float]]) -> None:
    """Print the median of each span, in the order of their names."""
    print("| span | median ms |\n| --- | --- |")
    for name in sorted(
        {name for trace in traces for name in trace}, key=lambda name: re.sub("^-> ", "", name)
    ):
        print(f"| `{name}` | {statistics.median(trace.get(name, 0.0) for trace in traces):.2f} |")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--locomo", type=Path, required=True, help="conversations with questions, as JSON")
    parser.add_argument("--data-dir", type=Path, required=True, help="folder to fill, or one that was filled")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--stride", type=int, default=3, help="take every so many questions")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
