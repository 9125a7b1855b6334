"""The MCP tools: one row each. Schemas and descriptions come from the RPC that the row names."""

from typing import Final

from satchel.gateway.mcp import rendering, rendering_changes
from satchel.gateway.mcp.rows import DRY_RUN, Confirmation, ToolRow
from satchel.gateway.mcp.soul import SOUL_ROWS

_ALLOCATOR = "satchel.api.allocator.v1.AllocatorService"
_MEMORY = "satchel.api.store.v1.MemoryService"
_GRAPH = "satchel.api.store.v1.GraphService"
_LIFECYCLE = "satchel.api.store.v1.LifecycleService"
_INGEST = "satchel.api.store.v1.IngestService"
_CONSOLIDATION = "satchel.api.store.v1.ConsolidationService"
_INGEST = "satchel.api.store.v1.IngestService"

_READING: Final = (
    ToolRow(
        name="mira_recall",
        title="Recall memories for a token budget",
        rpc=f"{_ALLOCATOR}/Recall",
        advice="Use it before you answer or decide, with the question in plain words. The text of the "
        "result is the context itself and holds at most `budget` tokens.",
        render=rendering.recalled,
    ),
    ToolRow(
        name="mira_load",
        title="Load one memory whole",
        rpc=f"{_MEMORY}/GetMemory",
        advice="Use it when a recall shows a memory in a shorter form and you need all of it.",
        render=rendering.loaded,
    ),
    ToolRow(
        name="mira_search",
        title="Search memories",
        rpc=f"{_ALLOCATOR}/SearchMemories",
        advice="Use it to look for memories and their ids; for answering within a budget use mira_recall.",
        render=rendering.found,
        # Hosts cut or refuse long results; mira_load shows the rest.
        defaults={"max_content_length": 1000},
    ),
    ToolRow(
        name="mira_causal_chain",
        title="Trace causes and consequences",
        rpc=f"{_GRAPH}/TraceCausalChain",
        advice="Use it to find out why something was decided, or what came of it.",
        render=rendering.traced,
    ),
    ToolRow(
        name="mira_timeline",
        title="Show what happened when",
        rpc=f"{_MEMORY}/ListTimeline",
        advice="Use it to see what was remembered lately, or in some days, in the order of time.",
        render=rendering.timeline,
    ),
    ToolRow(
        name="mira_status",
        title="Show what is stored",
        rpc=f"{_ALLOCATOR}/GetStatus",
        advice="Use it to see which wings exist and how much they hold.",
        render=rendering.status,
    ),
)

_WRITING: Final = (
    ToolRow(
        name="mira_store",
        title="Store a memory",
        rpc=f"{_MEMORY}/StoreMemory",
        advice="Use it when something is worth knowing in a later session: a decision with its reasons, "
        "a fact, a preference, a note on what was done. One thing a memory.",
        render=rendering_changes.stored,
        read_only=False,
    ),
    ToolRow(
        name="mira_ingest",
        title="Store the turns of a conversation",
        rpc=f"{_INGEST}/IngestMessages",
        advice="Use it at the end of a session to keep what was said, with a `session_id`; to ingest a "
        "longer version later adds only what is new.",
        render=rendering_changes.ingested,
        read_only=False,
        long=True,
    ),
    ToolRow(
        name="mira_update",
        title="Change a memory",
        rpc=f"{_MEMORY}/UpdateMemory",
        advice="Use it when a memory is wrong or out of date: give its id and the fields that change.",
        render=rendering_changes.updated,
        read_only=False,
        destructive=True,
    ),
    ToolRow(
        name="mira_delete",
        title="Delete a memory",
        rpc=f"{_MEMORY}/DeleteMemory",
        advice="Use it when your user wants a memory gone; to put it aside use mira_archive with its id.",
        render=rendering_changes.deleted,
        read_only=False,
        destructive=True,
        confirmation=Confirmation(
            rpc=f"{_MEMORY}/GetMemory",
            tell=rendering_changes.to_be_deleted,
            pinned="expected_version",
            pin=lambda answer: int(answer.memory.version),
        ),
    ),
    ToolRow(
        name="mira_archive",
        title="Archive memories",
        rpc=f"{_LIFECYCLE}/ArchiveMemories",
        advice="Use it to put aside what is old, or memories by their ids. mira_unarchive undoes it.",
        render=rendering_changes.archived,
        read_only=False,
        long=True,
        remaining="archived_count",
    ),
    ToolRow(
        name="mira_unarchive",
        title="Bring archived memories back",
        rpc=f"{_LIFECYCLE}/UnarchiveMemories",
        advice="Use it to undo mira_archive or mira_consolidate, by the batch that they name, or by ids.",
        render=rendering_changes.unarchived,
        read_only=False,
        long=True,
    ),
    ToolRow(
        name="mira_clear_memory",
        title="Delete many memories",
        rpc=f"{_LIFECYCLE}/ClearMemories",
        advice="Use it only when your user wants a whole room, wing or project gone; nothing undoes it.",
        render=rendering_changes.cleared,
        read_only=False,
        destructive=True,
        long=True,
        remaining="deleted_count",
        confirmation=Confirmation(
            rpc=f"{_LIFECYCLE}/ClearMemories",
            members={DRY_RUN: True},
            tell=rendering_changes.to_be_cleared,
            pinned="expected_count",
            pin=lambda answer: int(answer.deleted_count),
        ),
    ),
    ToolRow(
        name="mira_consolidate",
        title="Merge memories that say the same",
        rpc=f"{_CONSOLIDATION}/ConsolidateMemories",
        advice="Use it with `dry_run` when a wing holds many notes that repeat each other. mira_unarchive "
        "undoes it.",
        render=rendering_changes.consolidated,
        read_only=False,
        destructive=True,
        long=True,
        confirmation=Confirmation(
            rpc=f"{_CONSOLIDATION}/ConsolidateMemories",
            members={DRY_RUN: True},
            tell=rendering_changes.to_be_consolidated,
        ),
    ),
)

ROWS: Final[tuple[ToolRow, ...]] = (*_WRITING[:1], *_READING, *_WRITING[1:], *SOUL_ROWS)
