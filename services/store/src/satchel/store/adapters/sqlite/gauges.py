"""Shows the files of a database as gauges."""

import shutil
from pathlib import Path

from satchel.store import metrics


async def show_files(path: Path) -> None:
    """Set the gauges to what the files take and the disk has left."""
    for name, file in (("database", path), ("log", path.with_name(path.name + "-wal"))):
        metrics.FILE_BYTES.labels(name).set(file.stat().st_size if file.exists() else 0)
    metrics.DISK_FREE.set(shutil.disk_usage(path.parent).free)
