"""What the commands import and export do."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.cli.actions.progress import Progress, open_progress
from satchel.cli.importing.formats import ImportFormat
from satchel.cli.importing.records import Record, Refused
from satchel.cli.importing.source import Source, open_source
from satchel.cli.importing.upload import Defaults, Outcome, upload
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

__all__ = ["Defaults", "export_memories", "import_memories"]

_SHOWN_FAILURES = 20
_SHOWN_PREVIEWS = 5


@dataclass(slots=True)
class Summary:
    """What became of the records of an import."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, str]] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one record; of those that failed keep what a person needs to find them."""
        self.counts[outcome.kind] += 1
        if outcome.kind == "failed":
            self.failures.append(
                {"record": outcome.label, "reason": outcome.reason, "message": outcome.message}
            )

    def as_json(self) -> dict[str, object]:
        """Return the summary for ``--json``."""
        kinds = ("stored", "duplicate", "updated", "failed")
        return {**{kind: self.counts[kind] for kind in kinds}, "failures": self.failures}


def import_memories(
    place: Place, show: Show, path: Path, chosen: ImportFormat, defaults: Defaults, *, dry_run: bool
) -> int:
    """Import what ``path`` holds and print a summary; return how many records failed.

    Raises:
        ImportFormatError: the format cannot be told, or the input does not have it.
        OSError: the path cannot be read.
    """
    source = open_source(path, chosen)
    if dry_run:
        return _preview(source, show)
    summary = Summary()

    async def work(clients: Clients) -> None:
        with open_progress("Importing", source.total, show) as progress:
            async for outcome in upload(clients.memory, source.records, defaults, place.project):
                summary.add(outcome)
                progress.advance()

    run(place, show, "import", work)
    _tell_summary(summary, source, show)
    return summary.counts["failed"]


def _tell_summary(summary: Summary, source: Source, show: Show) -> None:
    if show.as_json:
        write_json({"format": source.format.value, **summary.as_json()})
        return
    for failure in summary.failures[:_SHOWN_FAILURES]:
        tell(f"{failure['record']}: {failure['message']}")
    if len(summary.failures) > _SHOWN_FAILURES:
        tell(f"... and {len(summary.failures) - _SHOWN_FAILURES} more failed; --json lists them all.")
    counts = summary.counts
    updated = f", {counts['updated']} updated" if counts["updated"] else ""
    write_line(
        f"{counts['stored']} stored{updated}, {counts['duplicate']} duplicate, {counts['failed']} failed "
        f"({source.format.value})"
    )


def _preview(source: Source, show: Show) -> int:
    counts: Counter[str] = Counter()
    previews: list[str] = []
    for record in source.records:
        counts["failed" if isinstance(record, Refused) else "readable"] += 1
        if len(previews) < _SHOWN_PREVIEWS or isinstance(record, Refused):
            previews.append(_preview_line(record))
    if show.as_json:
        write_json(
            {"format": source.format.value, "readable": counts["readable"], "failed": counts["failed"]}
        )
        return counts["failed"]
    for line in previews:
        tell(line)
    counted = f"{counts['readable']} readable, {counts['failed']} failed"
    write_line(f"{counted} ({source.format.value}); nothing stored")
    return counts["failed"]


def _preview_line(record: Record) -> str:
    if isinstance(record, Refused):
        return f"{record.label}: {record.reason}"
    content = record.fields.get("content") if not hasattr(record, "content") else record.content
    return f"{record.label}: {' '.join(str(content).split())[:80]}"


def export_memories(place: Place, show: Show, output: Path, fields: Mapping[str, object]) -> None:
    """Write memories as JSON Lines to a file or to stdout."""
    message = request(pb.ExportMemoriesRequest, project=place.project, **fields)
    to_stdout = str(output) == "-"

    async def work(clients: Clients) -> int:
        with _opened(output) as file, open_progress("Exporting", None, show) as progress:
            return await _write(clients, message, file, progress)

    count = run(place, show, "export", work)
    if show.as_json and not to_stdout:
        write_json({"exported": count, "file": str(output)})
    else:
        tell(f"{count} exported{'' if to_stdout else f' to {output}'}")


async def _write(
    clients: Clients, message: pb.ExportMemoriesRequest, file: IO[bytes], progress: Progress
) -> int:
    count = 0
    async for response in clients.memory.ExportMemories(message):
        progress.set_total(response.total_count)
        for memory in response.memories:
            file.write(codec.dumps(codec.encode(memory)).encode() + b"\n")
        count += len(response.memories)
        progress.advance(len(response.memories))
    return count


@contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    """Open stdout, or a file beside ``output`` that takes its place once it is complete and on disk."""
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with tempfile.NamedTemporaryFile(
        dir=output.absolute().parent, prefix=f".{output.name}.", delete=False
    ) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(output)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
