from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.adapters.source import ModelSource
from satchel.embedder.engine import Engine
from satchel.embedder.main import build
from satchel.embedder.settings import EmbedderSettings


@pytest.fixture(scope="session")
def source() -> ModelSource:
    return packaged_model()


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with build(EmbedderSettings()) as built:
        yield built.engine


@pytest.fixture
def model_folder(tmp_path: Path, source: ModelSource) -> Path:
    """The packaged model in the layout of sentence-transformers."""
    folder = tmp_path / "minilm"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(source.model_file)
    source.open_tokenizer()._raw.save(str(folder / "tokenizer.json"))  # type: ignore[attr-defined]
    return folder
