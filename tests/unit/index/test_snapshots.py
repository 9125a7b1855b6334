import json

import pytest
from unit.index.fakes import MODEL

from satchel.index.errors import SnapshotUnusable
from satchel.index.snapshots import (
    Manifest,
    Names,
    SegmentFiles,
    decode_manifest,
    decode_names,
    encode_manifest,
    encode_names,
)

MANIFEST = Manifest(
    7,
    "store-1",
    MODEL,
    "n" * 64,
    (SegmentFiles("default", None, "r", ""), SegmentFiles("p", "w", "s", "g", 225)),
)


@pytest.mark.parametrize("manifest", [MANIFEST, Manifest(0, "", None, "n", ())])
def test_manifest_comes_back_as_it_was(manifest: Manifest) -> None:
    assert manifest == decode_manifest(encode_manifest(manifest))


def test_manifest_names_its_files() -> None:
    assert MANIFEST.files() == {"n" * 64, "r", "s", "g"}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", encode_manifest(MANIFEST)[:-20], b"\xff", b"null"])
def test_damaged_manifest_is_not_usable(data: bytes) -> None:
    with pytest.raises(SnapshotUnusable):
        decode_manifest(data)


def test_manifest_of_another_format_is_not_usable() -> None:
    fields = json.loads(encode_manifest(MANIFEST)) | {"format": 99}

    with pytest.raises(SnapshotUnusable, match="99"):
        decode_manifest(json.dumps(fields).encode())


def test_names_come_back_as_they_were() -> None:
    names = Names(["é\n", "b"], ["w"], [], ["s"], [(), ("t", "u")])

    assert names == decode_names(encode_names(names))
    with pytest.raises(SnapshotUnusable):
        decode_names(b"[]")
