"""What the commands import and export do."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.cli.actions.output_file import opened_output
from satchel.cli.actions.progress import Progress, open_progress
from satchel.cli.exits import CommandError, Exit
from satchel.cli.importing.formats import ImportFormat
from satchel.cli.importing.records import Record, Refused, Skipped
from satchel.cli.importing.source import Source, open_source
from satchel.cli.importing.upload import Defaults, Outcome, upload
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.cli.stalls import stall_limit
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

__all__ = ["Defaults", "export_memories", "import_memories"]

_SHOWN_FAILURES = 20
_SHOWN_PREVIEWS = 5

_IMPORT_STALLED = (
    "The store neither took nor answered a record. See what 'satchel doctor' says, then import again: what "
    "is stored is counted as a duplicate. --stall-timeout allows more time, as for a slow embedder."
)
_EXPORT_STALLED = (
    "The store sent no memory. See what 'satchel doctor' says, then export again; --stall-timeout allows "
    "more time."
)


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
        kinds = ("stored", "duplicate", "updated", "skipped", "failed")
        return {**{kind: self.counts[kind] for kind in kinds}, "failures": self.failures}


def import_memories(
    place: Place,
    show: Show,
    path: Path,
    chosen: ImportFormat,
    defaults: Defaults,
    *,
    dry_run: bool,
    stall_s: float,
) -> int:
    """Import what ``path`` holds and print a summary; return how many records failed.

    Raises:
        CommandError: there is no such path, or the store took and answered nothing for ``stall_s`` seconds.
        ImportFormatError: the format cannot be told, or the input does not have it.
        OSError: the path cannot be read.
    """
    if str(path) != "-" and not path.exists():
        raise CommandError(f"There is no file or folder {path}.", Exit.USAGE)
    source = open_source(path, chosen)
    if dry_run:
        return _preview(source, show)
    summary = Summary()

    async def work(clients: Clients) -> None:
        async with stall_limit(stall_s, _IMPORT_STALLED) as moved:
            with open_progress("Importing", source.total, show) as progress:
                sent = upload(clients.memory, source.records, defaults, place.project, moved=moved)
                async for outcome in sent:
                    summary.add(outcome)
                    progress.advance()

    try:
        run(place, show, "import", work)
    except BaseException:
        _tell_broken_off(summary, source, show)
        raise
    _tell_summary(summary, source, show)
    return summary.counts["failed"]


def _tell_broken_off(summary: Summary, source: Source, show: Show) -> None:
    """Tell what is stored of an import that an error or Ctrl-C ended; more may be than was answered."""
    counts = summary.counts
    if show.as_json:
        write_json({"format": source.format.value, "complete": False, **summary.as_json()})
        return
    done = f"{counts['stored']} stored, {counts['updated']} updated, {counts['duplicate']} duplicate"
    tell(
        f"The import broke off after {done}, {counts['failed']} failed. "
        "It may be repeated: what is stored already is counted as a duplicate."
    )


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
    skipped = f", {counts['skipped']} skipped without a text" if counts["skipped"] else ""
    write_line(
        f"{counts['stored']} stored{updated}, {counts['duplicate']} duplicate{skipped}, "
        f"{counts['failed']} failed ({source.format.value})"
    )


def _preview(source: Source, show: Show) -> int:
    counts: Counter[str] = Counter()
    previews: list[str] = []
    for record in source.records:
        counts[_preview_kind(record)] += 1
        if len(previews) < _SHOWN_PREVIEWS or isinstance(record, Refused):
            previews.append(_preview_line(record))
    if show.as_json:
        kinds = ("readable", "skipped", "failed")
        write_json({"format": source.format.value, **{kind: counts[kind] for kind in kinds}})
        return counts["failed"]
    for line in previews:
        tell(line)
    skipped = f", {counts['skipped']} skipped without a text" if counts["skipped"] else ""
    counted = f"{counts['readable']} readable{skipped}, {counts['failed']} failed"
    write_line(f"{counted} ({source.format.value}); nothing stored")
    return counts["failed"]


def _preview_kind(record: Record) -> str:
    if isinstance(record, Refused):
        return "failed"
    return "skipped" if isinstance(record, Skipped) else "readable"


def _preview_line(record: Record) -> str:
    if isinstance(record, Refused):
        return f"{record.label}: {record.reason}"
    if isinstance(record, Skipped):
        return f"{record.label}: skipped, it has no text"
    content = record.fields.get("content") if not hasattr(record, "content") else record.content
    return f"{record.label}: {' '.join(str(content).split())[:80]}"


def export_memories(
    place: Place, show: Show, output: Path, fields: Mapping[str, object], *, limit: int, stall_s: float
) -> None:
    """Write at most ``limit`` memories (0 for all) as JSON Lines to a file or to stdout.

    Raises:
        CommandError: one project and all of them were asked for, the folder of the file does not exist, or
            the store sent nothing for ``stall_s`` seconds.
    """
    if fields.get("all_projects") and place.project:
        raise CommandError(
            "--all-projects and --project (or SATCHEL_PROJECT) exclude each other. Give one of them.",
            Exit.USAGE,
        )
    message = request(pb.ExportMemoriesRequest, project=place.project, **fields)
    to_stdout = str(output) == "-"

    async def work(clients: Clients) -> int:
        with opened_output(output) as file, open_progress("Exporting", None, show) as progress:
            async with stall_limit(stall_s, _EXPORT_STALLED) as moved:
                return await _write(clients, message, file, progress, moved, limit=limit)

    count = run(place, show, "export", work)
    if show.as_json and not to_stdout:
        write_json({"exported": count, "file": str(output)})
    else:
        tell(f"{count} exported{'' if to_stdout else f' to {output}'}")


async def _write(
    clients: Clients,
    message: pb.ExportMemoriesRequest,
    file: IO[bytes],
    progress: Progress,
    moved: Callable[[], None],
    *,
    limit: int,
) -> int:
    count = 0
    async for response in clients.memory.ExportMemories(message):
        most = min(limit or response.total_count, response.total_count)
        progress.set_total(most)
        wanted = response.memories[: most - count]
        for memory in wanted:
            file.write(codec.dumps(codec.encode(memory)).encode() + b"\n")
        count += len(wanted)
        progress.advance(len(wanted))
        moved()  # after the writing: a reader of the pipe may be slow too
        if count == most:
            break
    return count
