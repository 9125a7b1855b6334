"""What a row of the table of tools says, and the tool that is made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from google.protobuf.descriptor import Descriptor
from mcp_types import Tool, ToolAnnotations

from satchel.gateway.transcoder.descriptors import Contract, Rpc
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.schemas import Schema, SchemaBook, Style

_DEFINITIONS = "$defs"

CONFIRM = "confirm"
DRY_RUN = "dry_run"

# A response of the contract; its class is made from the descriptor, so its attributes have no static type.
Answer: TypeAlias = Any
Render: TypeAlias = Callable[[Answer], str]
Members: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is asked before a call that destroys.

    ``rpc`` changes nothing and tells what would be done: it gets those members of the call that it knows,
    and ``members``. ``tell`` makes a sentence of its answer; an empty one when nothing would be done, and so
    nothing is asked. ``pinned`` is the field of the call that holds it to what was told, ``pin`` its value.
    """

    rpc: str
    tell: Render
    members: Members = field(default_factory=dict)
    pinned: str = ""
    pin: Callable[[Answer], int] = lambda _: 0


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool.

    ``advice`` goes before the RPC's comment and says when to use the tool; ``defaults`` are values that
    the tool sends where the caller names none. A tool that is ``long`` tells how far it is; what it still
    has to do is the field ``remaining`` of its answer to a dry run.
    """

    name: str
    title: str
    rpc: str
    advice: str
    render: Render
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    defaults: Members = field(default_factory=dict)
    confirmation: Confirmation | None = None
    long: bool = False
    remaining: str = ""

    def annotations(self) -> ToolAnnotations:
        """Return the hints for clients. Memory is a closed world: no tool reaches outside."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=self.read_only,
            destructive_hint=self.destructive,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
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
    if row.confirmation:
        properties[CONFIRM] = {
            "type": "boolean",
            "default": False,
            "description": "Whether your user has agreed. Clients that can ask the user are asked instead.",
        }
    return _closed(schema, book)


def _output_schema(contract: Contract, rpc: Rpc) -> Schema:
    book = SchemaBook(contract, prefix=f"#/{_DEFINITIONS}/", style=Style.RETURNED)
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
