"""Snapshots on a real disk: atomic, checked, and never half."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from unit.index.fakes import MODEL, delete, direction, unit_rows, upsert

from satchel.index.adapters.faiss import FaissLibrary
from satchel.index.adapters.files import SnapshotFolder
from satchel.index.catalog import Catalog
from satchel.index.errors import SnapshotUnusable
from satchel.index.model import Filter, Query
from satchel.index.planning import Tuning
from satchel.index.searching import Method, search_view
from satchel.index.snapshots import Snapshot

LIBRARY = FaissLibrary(links=8, ef_construction=40)
METHOD = Method(LIBRARY, Tuning())


def make_catalog() -> Catalog:
    """One wing with a graph and rows behind it, small wings, tombstones, tags."""
    rows = unit_rows(np.random.default_rng(4), 330)
    catalog = Catalog(crossover=100)
    changes = [
        upsert(n + 1, f"m{n:03d}", row[None], wing="big" if n < 300 else f"w{n}", tags=("t",) * (n % 2))
        for n, row in enumerate(rows)
    ]
    catalog.apply(changes[:280], revision=280, model=MODEL, store_id="store-1")
    while (job := catalog.next_job(is_quiet=True)) is not None:
        catalog.finish(job, job.run(LIBRARY, lambda: False))
    catalog.apply([*changes[280:], delete(331, "m007"), upsert(332, "m008", rows[7:9])], revision=332)
    return catalog


def reload(folder: Path) -> Snapshot | None:
    return SnapshotFolder(folder, LIBRARY).load()


def test_index_comes_back_as_it_was(tmp_path: Path) -> None:
    catalog = make_catalog()
    SnapshotFolder(tmp_path, LIBRARY).save(catalog.snapshot())

    snapshot = reload(tmp_path)
    assert snapshot is not None
    restored = Catalog.restore(snapshot, crossover=100)

    assert (restored.revision, restored.model, restored.store_id) == (332, MODEL, "store-1")
    breadths = [segment.view.breadth for segment in restored.view().projects["default"]]
    assert breadths == [segment.view.breadth for segment in catalog.view().projects["default"]]
    assert max(breadths) >= 100
    for wanted in (Filter(), Filter(wings=("big",)), Filter(wings=("w310",)), Filter(tags=("t",))):
        query = Query(direction(0)[0], wanted, top_k=50)
        expected = search_view(catalog.view(), query, METHOD)
        assert expected == search_view(restored.view(), query, METHOD)
    restored.apply([delete(333, "m008")], revision=333)
    found = search_view(restored.view(), Query(direction(0)[0], top_k=400), METHOD)
    assert {"m007", "m008"}.isdisjoint(hit.memory_id for hit in found)
    assert len(found) == 328


def test_no_folder_is_no_snapshot(tmp_path: Path) -> None:
    assert reload(tmp_path / "none") is None


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [flip, cut, Path.unlink])
def test_damage_of_any_file_is_noticed(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    catalog = make_catalog()
    SnapshotFolder(tmp_path, LIBRARY).save(catalog.snapshot())
    names = sorted(path.name for path in tmp_path.iterdir() if path.name != "manifest.json")
    assert len(names) == 4

    for name in names:
        before = (tmp_path / name).read_bytes()
        damage(tmp_path / name)
        with pytest.raises(SnapshotUnusable):
            reload(tmp_path)
        (tmp_path / name).write_bytes(before)
    assert reload(tmp_path) is not None


@pytest.mark.parametrize(("old", "new"), [('"names": "', '"names": "../'), ('"revision"', '"revisio"')])
def test_manifest_that_was_tampered_with_is_not_used(tmp_path: Path, old: str, new: str) -> None:
    SnapshotFolder(tmp_path, LIBRARY).save(make_catalog().snapshot())
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    with pytest.raises(SnapshotUnusable):
        reload(tmp_path)


def test_crash_before_the_manifest_leaves_the_old_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = make_catalog()
    folder = SnapshotFolder(tmp_path, LIBRARY)
    folder.save(catalog.snapshot())
    catalog.apply([upsert(400, "new", direction(0))], revision=400)

    def crash(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("satchel.index.adapters.files.encode_manifest", crash)
    with pytest.raises(OSError, match="disk full"):
        folder.save(catalog.snapshot())

    snapshot = reload(tmp_path)
    assert snapshot is not None
    assert snapshot.revision == 332


def test_unchanged_graph_is_not_written_again_and_old_files_go(tmp_path: Path) -> None:
    catalog = make_catalog()
    SnapshotFolder(tmp_path, LIBRARY).save(catalog.snapshot())
    snapshot = reload(tmp_path)
    assert snapshot is not None
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    folder = SnapshotFolder(tmp_path, LIBRARY)
    snapshot = folder.load()
    assert snapshot is not None
    restored = Catalog.restore(snapshot, crossover=100)
    restored.apply([upsert(500, "late", direction(1), wing="big")], revision=500)

    folder.save(restored.snapshot())

    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(after) == len(before)
    kept = {name for name in before if after.get(name) == before[name]}
    assert [graph for graph in kept if (tmp_path / graph).read_bytes()[:4] == b"IHNf"]


def test_content_is_on_disk_before_the_manifest_and_the_old_goes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = make_catalog()
    folder = SnapshotFolder(tmp_path, LIBRARY)
    folder.save(catalog.snapshot())
    catalog.apply([upsert(400, "new", direction(0))], revision=400)
    steps: list[tuple[str, int | str]] = []
    flush, rename, remove = os.fsync, os.replace, os.unlink

    def note_flush(descriptor: int) -> None:
        flush(descriptor)
        steps.append(("flush", os.fstat(descriptor).st_ino))

    def note_rename(source: Path, target: Path) -> None:
        steps.append(("file", source.stat().st_ino))
        rename(source, target)
        steps.append(("rename", target.name))

    def note_remove(path: Path) -> None:
        remove(path)
        steps.append(("remove", path.name))

    monkeypatch.setattr(os, "fsync", note_flush)
    monkeypatch.setattr(os, "replace", note_rename)
    monkeypatch.setattr(os, "unlink", note_remove)

    folder.save(catalog.snapshot())

    flushed_folder = ("flush", tmp_path.stat().st_ino)
    for number, (kind, inode) in enumerate(steps):
        assert kind != "file" or ("flush", inode) in steps[:number]
    renames = [number for number, step in enumerate(steps) if step[0] == "rename"]
    removals = [number for number, step in enumerate(steps) if step[0] == "remove"]
    manifest = steps.index(("rename", "manifest.json"))
    assert manifest == renames[-1]
    assert flushed_folder in steps[renames[-2] : manifest]
    assert flushed_folder in steps[manifest : removals[0]]
