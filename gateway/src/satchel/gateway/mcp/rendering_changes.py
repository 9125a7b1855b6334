"""Answers to what changes memories as text for a model, and what is told before it is done."""

from satchel.gateway.mcp.rows import Answer
from satchel.gateway.transcoder.words import word_of

_SHOWN_CHARACTERS = 80
_SHOWN_CLUSTERS = 20
_SHOWN_IDS = 20


def stored(answer: Answer) -> str:
    """Say under which id a memory is stored, and what was found in it."""
    lines = [
        f"Already stored: {answer.id}" if answer.duplicate else f"Stored: {answer.id}",
        f"Type: {word_of(answer, 'type')}",
        f"Place: {answer.wing}/{answer.room}",
        f"Facts: {answer.fact_count}",
        f"Tokens: {answer.token_count}",
        f"Model: {answer.model_hash or 'embedding pending; found by words meanwhile'}",
    ]
    return "\n".join(lines)


def ingested(answer: Answer) -> str:
    """Say how many turns of a conversation are stored, and under which ids."""
    lines = [
        f"Stored: {answer.stored_count}",
        f"Already stored: {answer.duplicate_count}",
        f"Skipped: {answer.skipped_count}",
    ]
    made = [f"T0:{one.id}" for one in answer.results if one.id and word_of(one, "outcome") == "stored"]
    if answer.stored_count and not made:
        lines.append("Nothing was changed: this was a dry run.")
    lines += made[:_SHOWN_IDS]
    if len(made) > _SHOWN_IDS:
        lines.append(f"and {len(made) - _SHOWN_IDS} more")
    return "\n".join(lines)


def updated(answer: Answer) -> str:
    """Say which memory was changed, and where and what it is now."""
    memory = answer.memory
    lines = [
        f"Updated: {memory.id}",
        f"Version: {memory.version}",
        f"Type: {word_of(memory, 'type')}",
        f"Place: {memory.wing}/{memory.room}",
    ]
    return "\n".join(lines)


def to_be_deleted(answer: Answer) -> str:
    """Tell which memory would be deleted, by the beginning of its text."""
    memory = answer.memory
    line = " ".join(memory.content.split())
    shown = line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
    place = f"{memory.wing}/{memory.room}"
    return f'1 memory would be deleted for good: T0:{memory.id} in {place}, "{shown}".'


def deleted(answer: Answer) -> str:
    """Say which memory is gone."""
    return f"Deleted: {answer.id}"


def archived(answer: Answer) -> str:
    """Say how many memories were archived, under MIRA's names, and how to bring them back."""
    lines = [
        f"Archived: {answer.archived_count}",
        f"Session notes: {answer.result.session_notes}",
        f"Debug logs: {answer.result.debug_logs}",
        f"Tokens freed: {answer.result.tokens_freed}",
    ]
    if answer.batch_id:
        lines.append(f"Batch: {answer.batch_id} (mira_unarchive with this batch_id undoes it)")
    elif answer.archived_count:
        lines.append("Nothing was changed: this was a dry run.")
    return "\n".join(lines)


def unarchived(answer: Answer) -> str:
    """Say how many memories are back."""
    return f"Brought back: {answer.unarchived_count}"


def to_be_cleared(answer: Answer) -> str:
    """Tell how many memories would be deleted."""
    return f"{_memories(answer.deleted_count)} would be deleted for good." if answer.deleted_count else ""


def cleared(answer: Answer) -> str:
    """Say how many memories are gone, or with a dry run would be."""
    if answer.deleted_count and not answer.revision:
        return f"{to_be_cleared(answer)} Nothing was changed: this was a dry run."
    return f"Deleted: {_memories(answer.deleted_count)} ({word_of(answer, 'mode')})"


def to_be_consolidated(answer: Answer) -> str:
    """Tell how many memories would become how many."""
    if not answer.removed_count:
        return ""
    merged = _memories(answer.consolidated_count)
    return f"{_memories(answer.removed_count)} would be archived and become {merged}."


def consolidated(answer: Answer) -> str:
    """List what became what, and how to undo it."""
    lines = [f"Consolidated: {answer.consolidated_count}", f"Archived sources: {answer.removed_count}"]
    for cluster in answer.clusters[:_SHOWN_CLUSTERS]:
        sources = ", ".join(f"T0:{source}" for source in cluster.source_ids)
        become = f"T0:{cluster.id}" if cluster.id else "one memory"
        lines.append(f"- {sources} become {become} (similarity {cluster.similarity:.2f})")
    if len(answer.clusters) > _SHOWN_CLUSTERS:
        lines.append(f"- and {len(answer.clusters) - _SHOWN_CLUSTERS} more")
    if answer.has_more:
        lines.append("There is more to merge: call it again.")
    if answer.batch_id:
        lines.append(f"Batch: {answer.batch_id} (mira_unarchive with this batch_id undoes it)")
    elif answer.removed_count:
        lines.append("Nothing was changed: this was a dry run.")
    return "\n".join(lines)


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"
