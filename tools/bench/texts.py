"""Texts and vectors for benchmarks: real turns of talk, multiplied by recombination and noise."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 20260131
# Length of the noise vector beside a unit vector: puts a turn with the tail of another one at a cosine of .86
# from the turn, where the real model puts it (.85 on average).
NOISE = 0.6


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation."""

    text: str
    session: str


def read_turns(path: Path) -> list[Turn]:
    """Read the turns of a LoCoMo file, in order."""
    turns: list[Turn] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        talk = sample["conversation"]
        for key in sorted(talk, key=lambda name: int("".join(filter(str.isdigit, name)) or 0)):
            if re.fullmatch(r"session_\d+", key):
                session = f"{sample['sample_id']}-{key}"
                turns.extend(Turn(f"{turn['speaker']}: {turn['text']}", session) for turn in talk[key])
    return turns


def read_questions(path: Path) -> list[str]:
    """Read the questions of a LoCoMo file, in order."""
    return [
        str(row["question"])
        for sample in json.loads(path.read_text(encoding="utf-8"))
        for row in sample["qa"]
    ]


def multiply(turns: Sequence[Turn], count: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return ``count`` distinct texts, and for each the index of the turn that it is made from.

    The first ones are the turns themselves; the others join a turn with the tail of another one and a
    number, so that the vocabulary and the lengths stay real.
    """
    random = np.random.default_rng(SEED)
    bases = np.concatenate(
        [np.arange(len(turns)), random.integers(0, len(turns), max(0, count - len(turns)))]
    )[:count]
    others = random.integers(0, len(turns), count)
    texts = [turns[base].text for base in bases[: len(turns)]]
    for number in range(len(turns), count):
        tail = turns[int(others[number])].text.rpartition(". ")[2]
        texts.append(f"{turns[int(bases[number])].text} ({number}) {tail}")
    return texts, bases


def noisy(vectors: NDArray[np.float32], bases: NDArray[np.int64], exact: int) -> NDArray[np.float32]:
    """Return one unit vector for each base: the real one, with noise beyond the first ``exact`` rows."""
    random = np.random.default_rng(SEED + 1)
    rows = vectors[bases].astype(np.float32)
    noise = random.standard_normal(rows.shape, dtype=np.float32) * np.float32(NOISE / np.sqrt(rows.shape[1]))
    noise[:exact] = 0
    rows += noise
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
