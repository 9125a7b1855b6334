"""The MCP prompts: what a user picks to begin with memory, to keep a decision, or to catch up."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from satchel.gateway.caller import Caller
from satchel.gateway.errors import UnknownPrompt
from satchel.gateway.mcp import rendering
from satchel.gateway.mcp.calls import call_rpc
from satchel.gateway.mcp.rows import Answer
from satchel.gateway.transcoder.faults import unknown_field
from satchel.runtime.errors import InvalidRequest, Violation

Arguments: TypeAlias = Mapping[str, str]
# Returns what the user says to the model.
Write: TypeAlias = Callable[[Caller, Arguments], Awaitable[str]]

_RECALL = "satchel.api.allocator.v1.AllocatorService/Recall"
_TIMELINE = "satchel.api.store.v1.MemoryService/ListTimeline"
_STORING = """\
Keep this decision in long-term memory. First call mira_recall with its subject: if a memory says the same, \
stop; if one says otherwise, name its id in the text as what this one updates.
Then call mira_store once, with the type decision and the wing {wing}: one paragraph that says what was \
decided, over what, because of what, and who approved it. Add nothing that is not known."""
_WING = PromptArgument(name="wing", description="Wing to look in; all when left away.")


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One prompt."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    write: Write


async def _recall_context(caller: Caller, arguments: Arguments) -> str:
    question = arguments["question"]
    members = {name: text for name, text in arguments.items() if name != "question"}
    answer: Answer = await call_rpc(caller, _RECALL, {"query": question, **members})
    if not answer.context:
        return (
            f"Long-term memory holds nothing on this. Answer without it, and say so.\n\nQuestion: {question}"
        )
    return (
        f"What long-term memory holds on the question ({rendering.DATA_NOTE}):\n\n{answer.context}\n\n"
        "Answer the question from it where it helps, name the ids of what you used, and say what it does "
        f"not tell.\n\nQuestion: {question}"
    )


async def _store_decision(_: Caller, arguments: Arguments) -> str:
    given = [
        f"{label}: {arguments[name]}"
        for name, label in (("decision", "Decision"), ("reasons", "Reasons"), ("rejected", "Rejected"))
        if arguments.get(name)
    ]
    wing = arguments.get("wing") or "that fits, or ask for one"
    return "\n".join((_STORING.format(wing=wing), "", *given))


async def _session_digest(caller: Caller, arguments: Arguments) -> str:
    answer: Answer = await call_rpc(caller, _TIMELINE, {"limit": 30, **arguments})
    return (
        f"What was remembered lately:\n\n{rendering.timeline(answer)}\n\n"
        "Tell in at most ten lines where things stand: what was decided, what is open, what to go on with. "
        "Load what you need with mira_load, and name the ids."
    )


ROWS: Final = (
    PromptRow(
        name="recall_context",
        title="Answer from memory",
        description="Puts what memory holds on a question in front of it, within a budget of tokens.",
        arguments=(
            PromptArgument(name="question", description="The question, in plain words.", required=True),
            PromptArgument(name="budget", description="Tokens that memory may take; 4000 unless given."),
            _WING,
        ),
        write=_recall_context,
    ),
    PromptRow(
        name="store_decision",
        title="Keep a decision",
        description="Has a decision stored with its reasons, once, and linked to what it changes.",
        arguments=(
            PromptArgument(name="decision", description="What was decided.", required=True),
            PromptArgument(name="reasons", description="Why."),
            PromptArgument(name="rejected", description="What was decided against."),
            PromptArgument(name="wing", description="Wing to store it in."),
        ),
        write=_store_decision,
    ),
    PromptRow(
        name="session_digest",
        title="Catch up",
        description="Begins a session with where things stand, from the newest memories.",
        arguments=(_WING,),
        write=_session_digest,
    ),
)
_BY_NAME = {row.name: row for row in ROWS}


def prompts() -> list[Prompt]:
    """Return the prompts as clients see them."""
    return [
        Prompt(name=row.name, title=row.title, description=row.description, arguments=list(row.arguments))
        for row in ROWS
    ]


async def get_prompt(caller: Caller, name: str, arguments: Arguments) -> GetPromptResult:
    """Return a prompt, filled in.

    Raises:
        UnknownPrompt: there is no prompt of this name.
        InvalidRequest: an argument is missing or unknown.
        ServiceError: what the service reported.
    """
    row = _BY_NAME.get(name)
    if row is None:
        raise UnknownPrompt(name, list(_BY_NAME))
    given = {key: text for key, text in arguments.items() if text}
    found = _violations(row, given)
    if found:
        raise InvalidRequest(found)
    text = await row.write(caller, given)
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=row.description, messages=[message])


def _violations(row: PromptRow, given: Arguments) -> list[Violation]:
    known = [argument.name for argument in row.arguments]
    missing = [
        argument.name for argument in row.arguments if argument.required and argument.name not in given
    ]
    return [
        *(Violation(name, "ERROR_REASON_FIELD_REQUIRED", "is required", "", "give it") for name in missing),
        *(unknown_field(name[:100], known) for name in given if name not in known),
    ]
