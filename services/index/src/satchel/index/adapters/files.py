"""Keeps a snapshot in a folder: content files named by their SHA-256, and a manifest that is replaced.

Every content file is written under a temporary name, flushed to disk and renamed, and then the folder is
flushed. Only then is the manifest replaced in the same way, and only when the folder is flushed again are
the files of the old snapshot removed. So a crash, of the process or of the machine, leaves the old
snapshot or the new one.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from satchel.index.columns import DTYPES, Columns
from satchel.index.errors import SnapshotUnusable
from satchel.index.graph import Graph
from satchel.index.ports import VectorLibrary
from satchel.index.snapshots import (
    Manifest,
    SegmentFiles,
    SegmentImage,
    Snapshot,
    decode_manifest,
    decode_names,
    encode_manifest,
    encode_names,
)

_MANIFEST = "manifest.json"
_TEMPORARY = ".tmp"


class SnapshotFolder:
    """One snapshot in one folder, which belongs to it alone. Use it from one thread at a time."""

    def __init__(self, folder: Path, library: VectorLibrary) -> None:
        self._folder = folder
        self._library = library
        self._graph_files: WeakKeyDictionary[Graph, str] = WeakKeyDictionary()

    def save(self, snapshot: Snapshot) -> None:
        """Replace the snapshot atomically.

        Raises:
            OSError: the disk does not take it; the old snapshot stays.
        """
        _make_folder(self._folder)
        manifest = Manifest(
            revision=snapshot.revision,
            store_id=snapshot.store_id,
            model=snapshot.model,
            names=self._write(lambda path: _write_bytes(path, encode_names(snapshot.names))),
            segments=tuple(self._write_segment(image) for image in snapshot.segments),
        )
        temporary = self._folder / (_MANIFEST + _TEMPORARY)
        _write_bytes(temporary, encode_manifest(manifest))
        _flush(temporary)
        # The content must have its names on disk before a manifest tells them.
        _flush(self._folder)
        temporary.replace(self._folder / _MANIFEST)
        _flush(self._folder)
        self._remove_others(manifest.files())

    def load(self) -> Snapshot | None:
        """Return the snapshot, or `None` if there is none.

        Raises:
            SnapshotUnusable: it is damaged, of another format, or unreadable.
        """
        try:
            data = (self._folder / _MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise SnapshotUnusable("The manifest of the snapshot cannot be read.") from exc
        manifest = decode_manifest(data)
        for name in sorted(manifest.files()):
            self._verify(name)
        try:
            return Snapshot(
                revision=manifest.revision,
                store_id=manifest.store_id,
                model=manifest.model,
                names=decode_names((self._folder / manifest.names).read_bytes()),
                segments=tuple(self._read_segment(files) for files in manifest.segments),
            )
        except (OSError, ValueError, KeyError, RuntimeError) as exc:
            raise SnapshotUnusable("A file of the snapshot cannot be read.") from exc

    def _write_segment(self, image: SegmentImage) -> SegmentFiles:
        rows = self._write(lambda path: _write_arrays(path, image))
        return SegmentFiles(image.project, image.wing, rows, self._write_graph(image.graph), image.breadth)

    def _write_graph(self, graph: Graph | None) -> str:
        """Write a graph, unless it is on disk already: graphs never change."""
        if graph is None:
            return ""
        name = self._graph_files.get(graph)
        if name is None or not (self._folder / name).exists():
            name = self._graph_files[graph] = self._write(graph.write)
        return name

    def _write(self, write: Callable[[Path], None]) -> str:
        """Write a content file and return its name, the SHA-256 of its bytes."""
        temporary = self._folder / ("content" + _TEMPORARY)
        write(temporary)
        _flush(temporary)
        name = _sha256(temporary)
        temporary.replace(self._folder / name)
        return name

    def _verify(self, name: str) -> None:
        # A name from a damaged manifest must not lead out of the folder.
        if Path(name).name != name:
            raise SnapshotUnusable("The manifest of the snapshot is damaged.")
        try:
            found = _sha256(self._folder / name)
        except OSError as exc:
            raise SnapshotUnusable(f"The file {name[:12]} of the snapshot cannot be read.") from exc
        if found != name:
            raise SnapshotUnusable(f"The file {name[:12]} of the snapshot is damaged.")

    def _read_segment(self, files: SegmentFiles) -> SegmentImage:
        with np.load(self._folder / files.rows, allow_pickle=False) as arrays:
            columns = Columns(**{name: arrays[name].astype(dtype) for name, dtype in DTYPES.items()})
            tail, alive = arrays["tail"], arrays["alive"]
        graph = None
        if files.graph:
            graph = self._library.read(self._folder / files.graph)
            self._graph_files[graph] = files.graph
        return SegmentImage(files.project, files.wing, graph, tail, columns, alive, files.breadth)

    def _remove_others(self, wanted: set[str]) -> None:
        for path in self._folder.iterdir():
            if path.name not in wanted | {_MANIFEST}:
                path.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, each with its name on disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush(folder.parent)


def _write_arrays(path: Path, image: SegmentImage) -> None:
    arrays = {**image.columns.arrays(), "tail": image.tail, "alive": image.alive}
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _write_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _flush(path: Path) -> None:
    """Force a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
