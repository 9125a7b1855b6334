from pathlib import Path

from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import EmbeddedSettings


def test_the_data_folder_says_where_things_are(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    elsewhere = {"SATCHEL_STORE_URL": "sqlite:/elsewhere.db", "SATCHEL_INDEX_FOLDER": "/elsewhere"}

    settings = EmbeddedSettings.load(folder, environ=elsewhere)

    assert (settings.store.url, settings.index.folder) == (f"sqlite:{folder.database}", folder.index)


def test_a_store_in_memory_stays_there_and_its_index_keeps_nothing_either(tmp_path: Path) -> None:
    settings = EmbeddedSettings.load(DataFolder(tmp_path), environ={"SATCHEL_STORE_URL": "memory:"})

    assert (settings.store.url, settings.index.folder) == ("memory:", None)


def test_keys_and_identities_are_read_with_the_rest(tmp_path: Path) -> None:
    environ = {"SATCHEL_AUTH_TOKEN": "sk_1", "SATCHEL_SOUL_ENABLED": "true"}

    settings = EmbeddedSettings.load(DataFolder(tmp_path), environ=environ)

    assert (settings.keys.are_set, settings.soul.enabled) == (True, True)
