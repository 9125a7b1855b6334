"""Calls of tools: the RPC behind each, asked for consent first and with progress where the row says so."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.errors import ConfirmationRequired, UnknownTool
from satchel.gateway.exchanges import SPANS_HEADER, Exchange, open_exchange
from satchel.gateway.health import SCHEMA as HEALTH_SCHEMA
from satchel.gateway.health import check_health
from satchel.gateway.mcp.dialogue import Dialogue, InputNeeded
from satchel.gateway.mcp.progress import INTERVAL_S, Progress
from satchel.gateway.mcp.rows import (
    CONFIRM,
    DRY_RUN,
    Confirmation,
    Members,
    ToolRow,
    describe_tool,
    result_field,
)
from satchel.gateway.mcp.soul import SOUL_TOOLS, are_identities_kept
from satchel.gateway.mcp.tools import ROWS
from satchel.gateway.problems import failure_of
from satchel.gateway.transcoder.codec import Json, dumps, encode, encode_field
from satchel.gateway.transcoder.descriptors import message_class
from satchel.gateway.transcoder.faults import unknown_field, wrong_type
from satchel.gateway.transcoder.requests import decode_request
from satchel.runtime.errors import InternalError, InvalidRequest, ServiceError
from satchel.runtime.validation import validate

_log = logging.getLogger("satchel.gateway.mcp")

HEALTH_TOOL: Final = "mira_health"

_HEALTH = Tool(
    name=HEALTH_TOOL,
    title="Check health",
    description="Use it when another tool fails. Reports how the parts of Satchel are.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    output_schema=HEALTH_SCHEMA,
    annotations=ToolAnnotations(
        title="Check health",
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    ),
)
_SILENT = Dialogue()


async def call_rpc(caller: Caller, name: str, members: Members) -> Message:
    """Call an RPC, by its name in the contract, with a JSON object.

    Raises:
        ServiceError: the object is no such request, or what the service reported.
    """
    rpc = caller.contract.rpcs[name]
    return await caller.call(rpc, decode_request(message_class(rpc.input), dict(members)))


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of one tool."""

    row: ToolRow
    members: Members
    dialogue: Dialogue


class ToolBox:
    """The tools over one set of services; ``inside`` reach them for the process, and not for its callers.

    ``interval_s`` are the seconds between two reports of progress.
    """

    def __init__(
        self,
        caller: Caller,
        clients: Clients,
        rows: Iterable[ToolRow] = ROWS,
        *,
        inside: Clients | None = None,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._caller = caller
        self._clients = clients
        self._inside = inside
        self._rows = {row.name: row for row in rows}
        self._interval_s = interval_s
        self.tools = [*(describe_tool(caller.contract, row) for row in self._rows.values()), _HEALTH]

    async def listed(self, carrier: Mapping[str, str]) -> list[Tool]:
        """Return the tools for a caller: those of identities only where the store keeps them."""
        if self._rows.keys().isdisjoint(SOUL_TOOLS):
            return self.tools
        with open_exchange("tools/list", carrier, {"mcp.method.name": "tools/list"}) as exchange:
            are_kept = await are_identities_kept(self._caller, self._inside)
            exchange.finish()
        return [tool for tool in self.tools if are_kept or tool.name not in SOUL_TOOLS]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Json],
        carrier: Mapping[str, str],
        dialogue: Dialogue = _SILENT,
    ) -> CallToolResult:
        """Call a tool under the trace and credentials of ``carrier``; a failure is a result of its own.

        Raises:
            UnknownTool: there is no tool of this name.
            InputNeeded: the client is to ask its user, and to call again.
        """
        if name != HEALTH_TOOL and name not in self._rows:
            raise UnknownTool(name, [tool.name for tool in self.tools])
        attributes = {"mcp.method.name": "tools/call", "gen_ai.tool.name": name}
        with open_exchange(f"tools/call {name}", carrier, dict(attributes)) as exchange:
            try:
                result = await self._result(name, arguments, exchange, dialogue)
            except InputNeeded as asked:
                exchange.finish()
                needed = asked
            else:
                self._finish(name, result, exchange)
                return result
        raise needed

    def _finish(self, name: str, result: CallToolResult, exchange: Exchange) -> None:
        exchange.finish(failure="tool_error" if result.is_error else "")
        self._caller.metrics.tool_calls.labels(name, "error" if result.is_error else "ok").inc()
        spans = exchange.spans()
        if spans:
            result.meta = {SPANS_HEADER: spans}

    async def _result(
        self, name: str, arguments: Mapping[str, Json], exchange: Exchange, dialogue: Dialogue
    ) -> CallToolResult:
        try:
            if name == HEALTH_TOOL:
                return await self._health(arguments)
            return await self._answer(_Call(self._rows[name], arguments, dialogue))
        except ServiceError as error:
            return _failure(error, exchange.trace_id)
        except InputNeeded:
            raise
        except Exception:  # noqa: BLE001  # the door's boundary: no tool call ends without a result
            _log.exception("mcp.unhandled", extra={"tool": name})
            return _failure(InternalError(), exchange.trace_id)

    async def _answer(self, call: _Call) -> CallToolResult:
        row = call.row
        members = {**row.defaults, **call.members}
        if row.confirmation is not None:
            members = await self._agreed(call, row.confirmation, members)
        work = call_rpc(self._caller, row.rpc, members)
        if row.long and call.dialogue.wants_progress:
            count = self._counter(row, members)
            answer = await Progress(call.dialogue, count, self._interval_s).during(work)
        else:
            answer = await work
        rpc = self._caller.contract.rpcs[row.rpc]
        return _success(row.render(answer), _structure(answer, result_field(rpc)))

    async def _agreed(self, call: _Call, confirmation: Confirmation, members: Members) -> dict[str, Json]:
        """Return the members of a call that the user has agreed to.

        Raises:
            ConfirmationRequired: the user has not agreed.
            InputNeeded: the user is being asked.
            ServiceError: what would be done cannot be told.
        """
        made = dict(members)
        confirmed = made.pop(CONFIRM, None)
        if confirmed is not None and not isinstance(confirmed, bool):
            raise InvalidRequest([wrong_type(CONFIRM, "true or false", confirmed)])
        if made.get(DRY_RUN) is True or (confirmed and not call.dialogue.can_ask):
            return made
        told = await call_rpc(self._caller, confirmation.rpc, self._question(call.row, confirmation, made))
        deed = confirmation.tell(told)
        if not deed:
            return made
        reply = await call.dialogue.ask(deed, confirmation.pin(told)) if call.dialogue.can_ask else None
        if reply is None and confirmed:
            return made
        if reply is None or not reply.agreed:
            raise _refusal(call.row, confirmation, deed, None if reply else confirmation.pin(told))
        pinned = {confirmation.pinned: reply.pin} if confirmation.pinned else {}
        return {**pinned, **made}

    def _question(self, row: ToolRow, confirmation: Confirmation, members: Members) -> Members:
        """Return the request of the RPC that tells what the call would do.

        Members that only the call knows are left out, after the call's own request was checked: nobody is
        asked for what will be refused.
        """
        contract = self._caller.contract
        validate(decode_request(message_class(contract.rpcs[row.rpc].input), dict(members)))
        known = {field.name for field in contract.rpcs[confirmation.rpc].input.fields}
        return {**{name: value for name, value in members.items() if name in known}, **confirmation.members}

    def _counter(self, row: ToolRow, members: Members) -> Callable[[], Awaitable[int]] | None:
        """Return what counts how much a call has still to do."""
        if not row.remaining or members.get(DRY_RUN):
            return None
        pinned = row.confirmation.pinned if row.confirmation else ""
        asked = {name: value for name, value in members.items() if name != pinned}

        async def count() -> int:
            answer: Any = await call_rpc(self._caller, row.rpc, {**asked, DRY_RUN: True})
            return int(getattr(answer, row.remaining))

        return count

    async def _health(self, arguments: Mapping[str, Json]) -> CallToolResult:
        if arguments:
            raise InvalidRequest([unknown_field(next(iter(arguments))[:100], ())])
        health = (await check_health(self._clients, self._inside)).as_json()
        return _success(dumps(health), health)


def _refusal(row: ToolRow, confirmation: Confirmation, deed: str, pin: int | None) -> ConfirmationRequired:
    """Return the error for a call without consent; ``pin`` is `None` when the user was asked."""
    if pin is None:
        return ConfirmationRequired(row.name, deed)
    held = f" and {confirmation.pinned}={pin}" if confirmation.pinned else ""
    return ConfirmationRequired(row.name, deed, f"ask your user, then call it again with confirm=true{held}")


def _structure(answer: Message, name: str) -> dict[str, Json]:
    structure = encode_field(answer, name) if name else encode(answer)
    return structure if isinstance(structure, dict) else {}


def _success(text: str, structure: dict[str, Json]) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], structured_content=structure)


def _failure(error: ServiceError, trace_id: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=error.message)],
        structured_content=failure_of(error, trace_id),
        is_error=True,
    )
