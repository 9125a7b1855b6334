from pathlib import Path

import pytest

from satchel.embedder.model import Pooling
from satchel.embedder.settings import PREFIX, EmbedderSettings
from satchel.runtime.settings import SettingsError, load


def test_empty_environment_means_the_packaged_model() -> None:
    assert EmbedderSettings() == load(EmbedderSettings, PREFIX, {})
    assert EmbedderSettings().model_folder is None


def test_variables_set_every_kind_of_field() -> None:
    found = load(
        EmbedderSettings,
        PREFIX,
        {
            "SATCHEL_EMBEDDER_MODEL_FOLDER": "/models/e5",
            "SATCHEL_EMBEDDER_POOLING": "cls",
            "SATCHEL_EMBEDDER_QUERY_PREFIX": "query:",
            "SATCHEL_EMBEDDER_THREADS": "4",
        },
    )

    assert (Path("/models/e5"), Pooling.CLS, "query:", 4) == (
        found.model_folder,
        found.pooling,
        found.query_prefix,
        found.threads,
    )


def test_bad_value_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(SettingsError, match=r"SATCHEL_EMBEDDER_BATCH_TOKENS must be at least 16"):
        load(EmbedderSettings, PREFIX, {"SATCHEL_EMBEDDER_BATCH_TOKENS": "0"})
