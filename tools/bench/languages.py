"""Measures how well memories are found by questions in another language, with one embedding model.

    python tools/bench/languages.py [--model-folder FOLDER [--batch-texts 1]]

Twenty memories in English and French with a question in each language that shares few words with them
(tests/corpora/languages.json), among eighty memories about much the same things in both languages. In each
direction the twenty are stored in one language with all of these, and are looked for in a whole Satchel in
this process: by the questions, and by what they say in the other language. Prints one row of Markdown a
direction: the share that is found as the first, and among the first three; by vectors alone, and by
`SearchMemories`.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.types.v1 import scope_pb2
from satchel.embedder.settings import EmbedderSettings
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import FREE_LOOPBACK_PORT, EmbeddedSettings, open_embedded

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpora" / "languages.json"
# What is asked, the member of the corpus that holds it, and the language of the memories.
DIRECTIONS = (
    ("French sentence → English memory", "french", "english"),
    ("English sentence → French memory", "english", "french"),
    ("French question → English memory", "french_question", "english"),
    ("English question → French memory", "english_question", "french"),
    ("English question → English memory", "english_question", "english"),
    ("French question → French memory", "french_question", "french"),
)
TOP = 3
MS = 1e3

Pair = Mapping[str, str]


async def store_all(clients: Clients, wing: str, texts: Sequence[str]) -> list[str]:
    """Store texts in a wing and return their ids."""
    batch = [memory_pb.StoreMemoryRequest(wing=wing, content=text) for text in texts]
    found = await clients.memory.BatchStoreMemories(
        memory_pb.BatchStoreMemoriesRequest(memories=batch), timeout=60
    )
    return [one.id for one in found.memories]


async def by_vectors(clients: Clients, wing: str, question: str) -> list[str]:
    """Return the ids that are nearest to a question."""
    request = embedder_pb.EmbedTextsRequest(texts=[question], role=embedder_pb.TEXT_ROLE_QUERY)
    vector = (await clients.embedder.EmbedTexts(request, timeout=30)).vectors
    wanted = index_pb.SearchVectorsRequest(
        vector=vector, filter=scope_pb2.MemoryFilter(wings=[wing]), top_k=TOP
    )
    return [hit.memory_id for hit in (await clients.index.SearchVectors(wanted, timeout=30)).hits]


async def by_search(clients: Clients, wing: str, question: str, revision: int) -> list[str]:
    """Return the ids that a search by words and meaning finds."""
    request = allocator_pb.SearchMemoriesRequest(query=question, wing=wing, top_k=TOP, min_revision=revision)
    found = await clients.allocator.SearchMemories(request, timeout=30)
    return [one.id for one in found.results]


async def measure(clients: Clients, pairs: Sequence[Pair], others: Sequence[Pair]) -> None:
    """Print a row for each direction."""
    for title, asked, stored in DIRECTIONS:
        wing = f"{asked}-{stored}"
        texts = [one[language] for one in others for language in ("english", "french")]
        ids = await store_all(clients, wing, [one[stored] for one in pairs] + texts)
        head = (
            await clients.memory.GetStoreStatus(memory_pb.GetStoreStatusRequest(), timeout=10)
        ).head_revision
        ranks: dict[str, list[int]] = {"vectors": [], "search": []}
        for memory_id, pair in zip(ids, pairs, strict=False):
            searched = await by_search(clients, wing, pair[asked], head)
            nearest = await by_vectors(clients, wing, pair[asked])
            for name, found in (("vectors", nearest), ("search", searched)):
                ranks[name].append(found.index(memory_id) if memory_id in found else TOP)
        cells = [f"{np.mean([rank < top for rank in ranks[name]]):.2f}" for name in ranks for top in (1, TOP)]
        print(f"| {title} | {' | '.join(cells)} |")


async def time_queries(clients: Clients, pairs: Sequence[Pair]) -> float:
    """Return the median of milliseconds that embedding a question takes that was not asked before."""
    taken = list[float]()
    for pair in pairs:
        for language in ("english", "french"):
            text = f"Please: {pair[f'{language}_question']}"
            request = embedder_pb.EmbedTextsRequest(texts=[text], role=embedder_pb.TEXT_ROLE_QUERY)
            begun = time.perf_counter()
            await clients.embedder.EmbedTexts(request, timeout=30)
            taken.append((time.perf_counter() - begun) * MS)
    return statistics.median(taken)


async def run(embedder: EmbedderSettings) -> None:
    """Measure one model."""
    corpus = json.loads(CORPUS.read_text())
    with tempfile.TemporaryDirectory() as folder:
        loaded = EmbeddedSettings.load(DataFolder(Path(folder)), grpc_address=FREE_LOOPBACK_PORT, environ={})
        async with open_embedded(replace(loaded, embedder=embedder)) as embedded:
            clients = Clients.over(embedded.channel)
            model = (await clients.embedder.ListModels(embedder_pb.ListModelsRequest(), timeout=10)).models[0]
            milliseconds = await time_queries(clients, corpus["pairs"])
            print(f"\n{model.name}, {model.dimension} wide, {milliseconds:.1f} ms a question\n")
            print("| asked → stored | vectors: first | first three | search: first | first three |")
            print("| --- | ---: | ---: | ---: | ---: |")
            await measure(clients, corpus["pairs"], corpus["distractors"])


def main() -> None:
    """Measure the model that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model-folder", type=Path, help="folder of the model; the packaged one without")
    parser.add_argument("--batch-texts", type=int, help="texts of one batch, at most")
    given = parser.parse_args()
    asyncio.run(run(EmbedderSettings(model_folder=given.model_folder, batch_texts=given.batch_texts)))


if __name__ == "__main__":
    main()
