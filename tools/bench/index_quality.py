"""Measures recall and speed of the index against exact search and the best plain FAISS ways.

    python tools/bench/index_quality.py                       synthetic, clustered vectors
    python tools/bench/index_quality.py --texts FILE.json     real embeddings with noise

``FILE.json`` is any JSON: strings under ``text`` or ``content`` become passages, those under ``question``
or ``query`` become queries. They are embedded with Satchel's own embedder, and copies with noise make up
the wanted number. Prints a Markdown table. Contenders take turns after every 20 queries, on one thread;
times are medians of CPU time and of wall time. What is timed of the index is all that a request costs on
its worker thread, ids and scores included. Selectors are made beforehand for the plain ways; the index
makes its selections itself, and is measured as for a client that repeats a filter: they are kept until the
next change of the partition, and made again then. The first request of each kind, and the dearest of the
next ten (one of which lays the rows side by side), are shown apart.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import asyncio
import itertools
import json
import statistics
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import faiss as _faiss
import grpc
import numpy as np
from numpy.typing import NDArray

from satchel.embedder.main import build as build_embedder
from satchel.embedder.model import Role
from satchel.embedder.settings import EmbedderSettings
from satchel.index.main import Built, build
from satchel.index.model import Change, FeedBatch, Filter, Hit, Model, Query
from satchel.index.searching import search_view
from satchel.index.settings import IndexSettings

faiss: Any = _faiss

FLOOR = 0.98
TOP_K = 10
BLOCK = 20
TOPICS = 200
NOISE = 0.6
SHARES = (0.5, 0.05, 0.005)
BREADTHS = (64, 80, 100, 128, 160, 200, 256, 320, 400, 512, 640, 800, 1024, 1600, 2400)

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]
Search = Callable[[Matrix], Any]


@dataclass
class Contender:
    """A way to search, with what was measured of it; times in milliseconds."""

    name: str
    search: Search
    rows: Callable[[Any], list[int]]
    cpu_ms: list[float] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def run(self, query: Matrix, exact: set[int]) -> None:
        """Search once and note time and recall."""
        wall, cpu = time.perf_counter(), time.thread_time()
        found = self.search(query)
        self.cpu_ms.append((time.thread_time() - cpu) * 1e3)
        self.wall_ms.append((time.perf_counter() - wall) * 1e3)
        self.recalls.append(len(exact & set(self.rows(found))) / max(len(exact), 1))

    @property
    def recall(self) -> float:
        """Mean recall over the queries."""
        return statistics.fmean(self.recalls)

    @property
    def median_cpu_ms(self) -> float:
        """Median CPU time."""
        return statistics.median(self.cpu_ms)


@dataclass(frozen=True)
class Scenario:
    """A filter, the rows that it lets pass (`None` for all), and how the index is asked for it."""

    name: str
    rows: Rows | None
    filter: Filter


@dataclass(frozen=True)
class Corpus:
    """Unit vectors (rows, dimension), queries, a topic for each row."""

    vectors: Matrix
    queries: Matrix
    topics: Rows


class GivenFeed:
    """A feed that holds a corpus and nothing else."""

    def __init__(self, changes: list[Change], model: Model) -> None:
        self._changes = changes
        self._model = model

    async def watch(
        self, after_revision: int, *, stop_at_head: bool = False
    ) -> AsyncGenerator[FeedBatch, None]:
        """Yield the corpus in batches, then wait for ever."""
        head = len(self._changes)
        for start in range(after_revision, head, 1000):
            batch = tuple(self._changes[start : start + 1000])
            yield FeedBatch(batch, head, start + len(batch), self._model)
        if not stop_at_head:
            await asyncio.Event().wait()


def unit(rows: Matrix) -> Matrix:
    """Return the rows at norm 1."""
    return np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def noisy(base: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    """Return ``count`` rows: those of ``base``, and copies with noise of 0.6 times their norm."""
    source = rng.integers(0, len(base), max(0, count - len(base)))
    noise = rng.standard_normal((len(source), base.shape[1]), dtype=np.float32)
    return unit(np.concatenate([base, base[source] + noise * (NOISE / np.sqrt(base.shape[1]))])[:count])


def synthetic(count: int, queries: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return clustered rows of intrinsic dimension 96, and queries from the same mixture."""
    plane = rng.standard_normal((96, 384), dtype=np.float32)
    centres = rng.standard_normal((max(1, count // 100), 96), dtype=np.float32)
    picked = centres[rng.integers(0, len(centres), count + queries)]
    rows = unit((picked + 0.5 * rng.standard_normal(picked.shape, dtype=np.float32)) @ plane)
    return rows[:count], rows[count:]


def strings(node: object, keys: frozenset[str]) -> Iterator[str]:
    """Yield the non-empty strings under some keys, at any depth."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in keys and isinstance(value, str) and value.strip():
                yield value
            else:
                yield from strings(value, keys)
    elif isinstance(node, list):
        for item in node:
            yield from strings(item, keys)


async def embedded(path: Path) -> tuple[Matrix, Matrix]:
    """Embed the passages and the queries of a JSON file."""
    document = json.loads(path.read_text(encoding="utf-8"))  # noqa: ASYNC240  # nothing else runs
    passages = list(strings(document, frozenset({"text", "content"})))
    queries = list(strings(document, frozenset({"question", "query"})))
    async with build_embedder(EmbedderSettings()) as built:
        return (
            await embed_all(built.engine, passages, Role.PASSAGE),
            await embed_all(built.engine, queries, Role.QUERY),
        )


async def embed_all(engine: Any, texts: list[str], role: Role) -> Matrix:  # noqa: ANN401
    """Embed texts, each as one passage."""
    blocks = [
        (await engine.embed(texts[start : start + 64], role=role, split=False)).vectors
        for start in range(0, len(texts), 64)
    ]
    return unit(np.concatenate(blocks))


def make_corpus(arguments: argparse.Namespace) -> Corpus:
    """Return the corpus that the command line asks for."""
    rng = np.random.default_rng(7)
    if arguments.texts is None:
        vectors, asked = synthetic(arguments.count, arguments.queries, rng)
    else:
        base, asked = asyncio.run(embedded(arguments.texts))
        vectors = noisy(base, arguments.count, rng)
        asked = asked[rng.permutation(len(asked))]
    kmeans = faiss.Kmeans(vectors.shape[1], TOPICS, niter=8, seed=3, spherical=True)
    kmeans.train(vectors[: 100 * TOPICS])
    queries = asked[: arguments.queries].copy()
    return Corpus(vectors, queries, kmeans.index.search(vectors, 1)[1][:, 0])


def make_scenarios(corpus: Corpus) -> list[Scenario]:
    """Return the filters: scattered ones by a tag given at random, clustered ones by rooms (topics)."""
    rng = np.random.default_rng(11)
    scenarios = [Scenario("none", None, Filter())]
    for share in SHARES:
        wanted = round(share * len(corpus.vectors))
        scattered = np.sort(rng.permutation(len(corpus.vectors))[:wanted])
        scenarios.append(Scenario(f"{share:.1%} scattered", scattered, Filter(tags=(f"s{share}",))))
        chosen: list[int] = []
        covered = 0
        for topic in rng.permutation(TOPICS).tolist():
            size = int((corpus.topics == topic).sum())
            if size and covered + size <= wanted * 1.1:
                chosen.append(topic)
                covered += size
        clustered = np.flatnonzero(np.isin(corpus.topics, chosen))
        rooms = tuple(f"topic-{topic}" for topic in chosen)
        scenarios.append(Scenario(f"{share:.1%} clustered", clustered, Filter(rooms=rooms)))
    return scenarios


def make_changes(corpus: Corpus, scenarios: list[Scenario], model: Model) -> list[Change]:
    """Return one memory a row, with its topic as the room and its scattered filters as tags."""
    tags: list[list[str]] = [[] for _ in corpus.vectors]
    for scenario in scenarios:
        if scenario.filter.tags and scenario.rows is not None:
            for row in scenario.rows.tolist():
                tags[row].append(scenario.filter.tags[0])
    return [
        Change(
            revision=row + 1,
            memory_id=f"{row:08d}",
            wing="bench",
            room=f"topic-{corpus.topics[row]}",
            vectors=corpus.vectors[row : row + 1],
            model_sha256=model.sha256,
            tags=tuple(tags[row]),
        )
        for row in range(len(corpus.vectors))
    ]


def plain_ways(flat: Any, graph: Any, rows: Rows | None) -> list[Contender]:  # noqa: ANN401
    """Return the plain FAISS ways: flat search, and HNSW at every breadth, with each kind of selector."""

    def way(name: str, index: Any, parameters: Any) -> Contender:  # noqa: ANN401
        return Contender(
            name,
            lambda q: index.search(q, TOP_K, params=parameters)[1],
            lambda found: [int(row) for row in found[0]],
        )

    if rows is None:
        walks = [way(f"HNSW ef={ef}", graph, faiss.SearchParametersHNSW(efSearch=ef)) for ef in BREADTHS]
        return [way("flat", flat, None), *walks]
    mask = np.zeros(flat.ntotal, np.bool_)
    mask[rows] = True
    bits = faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
    array = faiss.IDSelectorArray(rows)
    return [
        way("flat + IDSelectorArray", flat, faiss.SearchParameters(sel=array)),
        way("flat + IDSelectorBitmap", flat, faiss.SearchParameters(sel=bits)),
        *(
            way(f"HNSW + selector ef={ef}", graph, faiss.SearchParametersHNSW(efSearch=ef, sel=bits))
            for ef in BREADTHS
        ),
    ]


def own_way(built: Built, wanted: Filter) -> Contender:
    """Return the index's own search, without the hop to its worker thread."""
    method = built.engine.method

    def search(query: Matrix) -> tuple[Hit, ...]:
        return search_view(built.board.view, Query(query[0], wanted, TOP_K), method)

    return Contender("Satchel", search, lambda hits: [int(hit.memory_id) for hit in hits])


def exact_rows(flat: Any, scenario: Scenario, query: Matrix) -> set[int]:  # noqa: ANN401
    """Return the true nearest rows."""
    parameters = None
    if scenario.rows is not None:
        selector = faiss.IDSelectorArray(scenario.rows)
        parameters = faiss.SearchParameters(sel=selector)
    return set(flat.search(query, TOP_K, params=parameters)[1][0].tolist())


async def through_engine(built: Built, wanted: Filter, queries: Matrix) -> float:
    """Return the median wall time in milliseconds through the engine, the worker thread included."""
    times = []
    for query in queries:
        begun = time.perf_counter()
        await built.engine.search(Query(query, wanted, TOP_K))
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times)


async def measure(corpus: Corpus) -> None:
    """Build the index, run every scenario, print the table."""
    scenarios = make_scenarios(corpus)
    model = Model("0" * 64, corpus.vectors.shape[1], "bench")
    feed = GivenFeed(make_changes(corpus, scenarios, model), model)
    settings = IndexSettings()
    async with (
        grpc.aio.insecure_channel("127.0.0.1:1") as unused,
        build(settings, store_channel=unused, feed=feed) as built,
    ):
        begun = time.perf_counter()
        await built.board.wait_for(len(corpus.vectors), 3600)
        print(f"rows applied in {time.perf_counter() - begun:.1f} s", flush=True)
        await until_settled(built)
        print(f"graph built in {time.perf_counter() - begun:.1f} s", flush=True)
        print(f"breadth of a walk, by the rows alone: {breadths(built)}", flush=True)
        flat = faiss.IndexFlatIP(corpus.vectors.shape[1])
        flat.add(corpus.vectors)
        graph = faiss.IndexHNSWFlat(corpus.vectors.shape[1], settings.links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = settings.ef_construction
        faiss.omp_set_num_threads(1)
        graph.add(corpus.vectors)
        print_header(corpus)
        for scenario in scenarios:
            ways = [own_way(built, scenario.filter), *plain_ways(flat, graph, scenario.rows)]
            first_ms = first_requests(ways[0], corpus.queries[:1])
            run_ways(ways, corpus.queries, [exact_rows(flat, scenario, q[None]) for q in corpus.queries])
            engine_ms = await through_engine(built, scenario.filter, corpus.queries)
            print_row(scenario, ways, first_ms, engine_ms)


def first_requests(own: Contender, query: Matrix) -> tuple[float, float]:
    """Return CPU times in milliseconds: of a filter's first request, and of the dearest of the next ten."""
    times = []
    for _ in range(11):
        begun = time.thread_time()
        own.search(query)
        times.append((time.thread_time() - begun) * 1e3)
    return times[0], max(times[1:])


def run_ways(ways: list[Contender], queries: Matrix, exact: list[set[int]]) -> None:
    """Run every way over blocks of queries, in turns, so that noise of the machine hits all alike."""
    for start in range(0, len(queries), BLOCK):
        block = range(start, min(start + BLOCK, len(queries)))
        for contender in ways:
            contender.search(queries[block[0]][None])
            for number in block:
                contender.run(queries[number][None], exact[number])


async def until_settled(built: Built) -> None:
    """Wait for the builds that run in the background, as in service."""
    for _ in itertools.count():
        if settled(built):
            return
        await asyncio.sleep(0.5)


def breadths(built: Built) -> list[int]:
    """Return the measured breadth of each partition."""
    return [segment.view.breadth for group in built.board.view.projects.values() for segment in group]


def settled(built: Built) -> bool:
    """Return whether the one partition has a graph and few rows behind it."""
    segments = [segment.view for group in built.board.view.projects.values() for segment in group]
    return all(
        view.base is not None and len(view.tail) <= max(2048, view.base_count / 32) for view in segments
    )


def print_header(corpus: Corpus) -> None:
    """Print what was measured and the head of the table."""
    count, width = corpus.vectors.shape
    print(
        f"\n{count} vectors of {width}, {len(corpus.queries)} queries, top {TOP_K}; times are medians in ms\n"
    )
    print(
        "| filter | rows | recall@10 | CPU | wall | best plain FAISS way at recall >= 0.98 | recall | CPU "
        "| wall | ratio CPU | ratio wall | first request, CPU | dearest of the next ten, CPU "
        "| through the engine, wall |"
    )
    print("| --- " * 14 + "|")


def print_row(
    scenario: Scenario, ways: list[Contender], first_ms: tuple[float, float], engine_ms: float
) -> None:
    """Print one line: the index, the fastest plain way that reaches the floor, and the ratio."""
    own, *plain = ways
    best = min((way for way in plain if way.recall >= FLOOR), key=lambda way: way.median_cpu_ms)
    own_wall, best_wall = statistics.median(own.wall_ms), statistics.median(best.wall_ms)
    rows = "all" if scenario.rows is None else str(len(scenario.rows))
    print(
        f"| {scenario.name} | {rows} | {own.recall:.4f} | {own.median_cpu_ms:.3f} | {own_wall:.3f} "
        f"| {best.name} | {best.recall:.4f} | {best.median_cpu_ms:.3f} | {best_wall:.3f} "
        f"| {own.median_cpu_ms / best.median_cpu_ms:.2f} | {own_wall / best_wall:.2f} "
        f"| {first_ms[0]:.3f} | {first_ms[1]:.3f} | {engine_ms:.3f} |",
        flush=True,
    )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--texts", type=Path, help="JSON file with texts to embed; default: synthetic vectors"
    )
    parser.add_argument("--count", type=int, default=100_000, help="number of vectors")
    parser.add_argument("--queries", type=int, default=200, help="number of queries")
    asyncio.run(measure(make_corpus(parser.parse_args())))


if __name__ == "__main__":
    main()
