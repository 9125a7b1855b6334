"""Models from a local folder."""

import json
from pathlib import Path

import numpy as np
import pytest

from satchel.embedder.engine import Engine
from satchel.embedder.errors import ModelMissing
from satchel.embedder.main import build
from satchel.embedder.model import ModelIdentity, Pooling, Role, Vectors
from satchel.embedder.settings import EmbedderSettings
from satchel.runtime.errors import Code

TEXT = "We chose PostgreSQL for billing."


async def embed(settings: EmbedderSettings, text: str, role: Role) -> tuple[ModelIdentity, Vectors]:
    async with build(settings) as built:
        found = await built.engine.embed([text], role=role)
        return built.engine.identity, found.vectors[0]


async def test_folder_without_configuration_runs_with_mean_pooling(
    model_folder: Path, engine: Engine
) -> None:
    identity, vector = await embed(EmbedderSettings(model_folder=model_folder), TEXT, Role.PASSAGE)

    assert (identity.name, identity.dimension, identity.max_tokens) == ("minilm", 384, 512)
    assert pytest.approx((await engine.embed([TEXT], role=Role.PASSAGE)).vectors[0], abs=1e-6) == vector


async def test_files_of_the_folder_set_pooling_length_and_prefixes(
    model_folder: Path, engine: Engine
) -> None:
    (model_folder / "1_Pooling").mkdir()
    (model_folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    )
    (model_folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 128}))
    (model_folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: ", "document": "passage: "}})
    )
    settings = EmbedderSettings(model_folder=model_folder)

    identity, query = await embed(settings, TEXT, Role.QUERY)
    _, passage = await embed(settings, TEXT, Role.PASSAGE)

    expected = await engine.embed([f"query: {TEXT}", f"passage: {TEXT}"], role=Role.PASSAGE)
    assert identity.max_tokens == 128
    assert pytest.approx(expected.vectors, abs=1e-6) == np.stack([query, passage])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (EmbedderSettings(model_sha256="8199be6f699a395f", dimension=384), ""),
        (EmbedderSettings(model_sha256="a2d8f3e9"), "SATCHEL_EMBEDDER_MODEL_SHA256"),
        (EmbedderSettings(dimension=768), "length 384, and not 768"),
    ],
)
async def test_another_model_than_the_expected_one_is_refused(settings: EmbedderSettings, told: str) -> None:
    """Its vectors would not match those that are stored."""
    if not told:
        async with build(settings) as built:
            assert built.engine.identity.dimension == 384
        return
    with pytest.raises(ModelMissing, match=told):
        async with build(settings):
            pass


async def test_settings_win_over_the_files(model_folder: Path) -> None:
    (model_folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "q:"}}))
    settings = EmbedderSettings(
        model_folder=model_folder, model_name="mine", pooling=Pooling.CLS, max_tokens=64, query_prefix=""
    )

    identity, cls_vector = await embed(settings, TEXT, Role.QUERY)
    _, mean_vector = await embed(EmbedderSettings(model_folder=model_folder), TEXT, Role.PASSAGE)

    assert (identity.name, identity.max_tokens) == ("mine", 64)
    assert cls_vector @ mean_vector < 0.99


async def test_whatever_changes_vectors_changes_the_identity(model_folder: Path) -> None:
    ways = [
        EmbedderSettings(model_folder=model_folder),
        EmbedderSettings(model_folder=model_folder, pooling=Pooling.CLS),
        EmbedderSettings(model_folder=model_folder, query_prefix="query:"),
        EmbedderSettings(model_folder=model_folder, max_tokens=64),
    ]

    found = {(await embed(way, TEXT, Role.QUERY))[0].sha256 for way in ways}

    assert len(ways) == len(found)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_missing_file_is_a_start_up_error_that_names_it(model_folder: Path, name: str) -> None:
    (model_folder / name).unlink()

    with pytest.raises(ModelMissing, match=rf"no {name} in the folder") as caught:
        await embed(EmbedderSettings(model_folder=model_folder), TEXT, Role.QUERY)

    assert caught.value.code == Code.FAILED_PRECONDITION
    assert "SATCHEL_EMBEDDER_MODEL_FOLDER" in caught.value.metadata["remedy"]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("model.onnx", "ONNX Runtime cannot load"),
        ("tokenizer.json", "no tokenizer"),
        ("sentence_bert_config.json", "not JSON"),
    ],
)
async def test_unusable_file_is_a_start_up_error_that_names_it(
    model_folder: Path, name: str, cause: str
) -> None:
    (model_folder / name).unlink(missing_ok=True)
    (model_folder / name).write_text("nonsense")

    with pytest.raises(ModelMissing, match=cause):
        await embed(EmbedderSettings(model_folder=model_folder), TEXT, Role.QUERY)


async def test_pooling_that_is_not_known_is_refused_with_what_to_set(model_folder: Path) -> None:
    (model_folder / "1_Pooling").mkdir()
    (model_folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))

    with pytest.raises(ModelMissing, match=r"pooling_mode_max_tokens.*SATCHEL_EMBEDDER_POOLING"):
        await embed(EmbedderSettings(model_folder=model_folder), TEXT, Role.QUERY)
