"""The form of a snapshot: what is written, and the manifest that names and checks it.

A snapshot is one manifest (JSON) and content files named by the SHA-256 of their bytes. A file that did
not change since the last snapshot is not written again. This module reads and writes no files.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from satchel.index.columns import Columns
from satchel.index.errors import SnapshotUnusable
from satchel.index.graph import Graph
from satchel.index.model import FloatMatrix, Mask, Model

FORMAT_VERSION = 2
"""Raise it with every change of the form; another version is never read, the index is rebuilt."""


@dataclass(frozen=True, slots=True)
class SegmentImage:
    """One segment: rows [0, graph.count) lie in the graph, the rest in ``tail``.

    ``breadth`` is the least breadth of a walk of the graph; 0 without one.
    """

    project: str
    wing: str | None
    graph: Graph | None
    tail: FloatMatrix
    columns: Columns
    alive: Mask
    breadth: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """The vocabulary and the ids of the memories, each in the order of its numbers."""

    memories: list[str]
    wings: list[str]
    rooms: list[str]
    sessions: list[str]
    tagsets: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index as of one revision of the store ``store_id`` (empty for unknown)."""

    revision: int
    store_id: str
    model: Model | None
    names: Names
    segments: tuple[SegmentImage, ...]


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """The content files of a segment; ``graph`` is empty without one, ``breadth`` then 0."""

    project: str
    wing: str | None
    rows: str
    graph: str
    breadth: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What makes a set of content files a snapshot."""

    revision: int
    store_id: str
    model: Model | None
    names: str
    segments: tuple[SegmentFiles, ...]

    def files(self) -> set[str]:
        """Return the names of all content files."""
        listed = {self.names}
        for segment in self.segments:
            listed |= {segment.rows, segment.graph}
        return listed - {""}


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as JSON."""
    return json.dumps({"format": FORMAT_VERSION, **asdict(manifest)}, indent=1).encode()


def decode_manifest(data: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        SnapshotUnusable: it is no manifest, or one of another format.
    """
    try:
        fields: dict[str, Any] = json.loads(data)
        version = fields.pop("format")
        if version != FORMAT_VERSION:
            raise SnapshotUnusable(f"The snapshot has format {version}, this version reads {FORMAT_VERSION}.")
        model = fields.pop("model")
        segments = tuple(SegmentFiles(**item) for item in fields.pop("segments"))
        return Manifest(model=Model(**model) if model else None, segments=segments, **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise SnapshotUnusable("The manifest of the snapshot is damaged.") from exc


def encode_names(names: Names) -> bytes:
    """Return the names as JSON."""
    return json.dumps(asdict(names), ensure_ascii=False, separators=(",", ":")).encode()


def decode_names(data: bytes) -> Names:
    """Read names.

    Raises:
        SnapshotUnusable: the bytes are no names.
    """
    try:
        fields = json.loads(data)
        tagsets = [tuple(tags) for tags in fields.pop("tagsets")]
        return Names(tagsets=tagsets, **fields)
    except (ValueError, TypeError, KeyError) as exc:
        raise SnapshotUnusable("The names in the snapshot are damaged.") from exc
