"""The MCP tools: one row each. Schemas and descriptions come from the RPC that the row names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from google.protobuf.descriptor import Descriptor
from mcp_types import Tool, ToolAnnotations

from satchel.gateway.mcp import rendering
from satchel.gateway.transcoder.descriptors import Contract, Rpc
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.schemas import Schema, SchemaBook

_DEFINITIONS = "$defs"
_ALLOCATOR = "satchel.api.allocator.v1.AllocatorService"
_MEMORY = "satchel.api.store.v1.MemoryService"

Render: TypeAlias = Callable[[rendering.Answer], str]


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool.

    ``advice`` goes before the RPC's comment and says when to use the tool; ``defaults`` are values that
    the tool sends where the caller names none.
    """

    name: str
    title: str
    rpc: str
    advice: str
    render: Render
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    defaults: Mapping[str, Json] = field(default_factory=dict)

    def annotations(self) -> ToolAnnotations:
        """Return the hints for clients. Memory is a closed world: no tool reaches outside."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=self.read_only,
            destructive_hint=self.destructive,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
        )


ROWS: Final = (
    ToolRow(
        name="mira_store",
        title="Store a memory",
        rpc=f"{_MEMORY}/StoreMemory",
        advice="Use it when something is worth knowing in a later session: a decision with its reasons, "
        "a fact, a preference, a note on what was done. One thing a memory.",
        render=rendering.stored,
        read_only=False,
    ),
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
        name="mira_status",
        title="Show what is stored",
        rpc=f"{_ALLOCATOR}/GetStatus",
        advice="Use it to see which wings exist and how much they hold.",
        render=rendering.status,
    ),
)


def describe_tool(contract: Contract, row: ToolRow) -> Tool:
    """Return the tool of a row as clients see it.

    Raises:
        KeyError: the contract has no such RPC.
    """
    rpc = contract.rpcs[row.rpc]
    return Tool(
        name=row.name,
        title=row.title,
        description=f"{row.advice}\n\n{_without_errors(rpc.comment)}",
        input_schema=_input_schema(contract, rpc, row),
        output_schema=_output_schema(contract, rpc),
        annotations=row.annotations(),
    )


def result_field(rpc: Rpc) -> str:
    """Return the field of the answer that is the result, as at the REST door; empty for the whole answer."""
    return rpc.http[0].response_body if rpc.http else ""


def _input_schema(contract: Contract, rpc: Rpc, row: ToolRow) -> Schema:
    book = SchemaBook(contract, prefix=f"#/{_DEFINITIONS}/")
    schema = book.message(rpc.input)
    properties = cast("dict[str, dict[str, Json]]", schema["properties"])
    for name, value in row.defaults.items():
        properties[name]["default"] = value
    return _closed(schema, book)


def _output_schema(contract: Contract, rpc: Rpc) -> Schema:
    book = SchemaBook(contract, prefix=f"#/{_DEFINITIONS}/")
    name = result_field(rpc)
    result = cast("Descriptor", rpc.output.fields_by_name[name].message_type) if name else rpc.output
    return _closed(book.message(result), book)


def _closed(schema: Schema, book: SchemaBook) -> Schema:
    """Return a schema that needs nothing outside itself."""
    definitions = cast("dict[str, Json]", book.definitions)
    return {**schema, _DEFINITIONS: definitions} if definitions else schema


def _without_errors(comment: str) -> str:
    """Return a comment without its list of errors, which is for programmers."""
    return "\n\n".join(part.partition("Errors:")[0].strip() for part in comment.split("\n\n")).strip()
