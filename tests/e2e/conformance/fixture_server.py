"""A server of what the MCP conformance suite asks for by name, behind the door of Satchel.

The suite calls tools, prompts and resources of its own, which no server of memories has. They are here; the
transport, its sessions and its guard are those that Satchel is served with. Run it with the port as argument.
"""

import asyncio
import base64
import json
import struct
import sys
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.uri_template import UriTemplate
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from satchel.gateway.http.guard import Gate, HostGuard
from satchel.gateway.http.patience import Patience
from satchel.gateway.main import HttpServer
from satchel.gateway.mcp.endpoint import McpEndpoint
from satchel.gateway.settings import GatewaySettings
from satchel.runtime.server import note_signals

Context: TypeAlias = ServerRequestContext[dict[str, Any], Any]
Arguments: TypeAlias = dict[str, Any]
Run: TypeAlias = Callable[[Context, Arguments], Awaitable[list[types.ContentBlock]]]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEMPLATE: Final = "test://template/{id}/data"
NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
).decode()
WAV = base64.b64encode(
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    + b"data"
    + struct.pack("<Ih", 2, 0)
).decode()


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    return types.ImageContent(data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    )


def answering(*content: types.ContentBlock) -> Run:
    """Return a tool that always answers the same."""

    async def run(_ctx: Context, _arguments: Arguments) -> list[types.ContentBlock]:
        return list(content)

    return run


async def log(ctx: Context, _arguments: Arguments) -> list[types.ContentBlock]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        told = types.LoggingMessageNotificationParams(level="info", data=words)
        await ctx.session.send_notification(types.LoggingMessageNotification(params=told), ctx.request_id)
    return [text("It logged three times.")]


async def progress(ctx: Context, _arguments: Arguments) -> list[types.ContentBlock]:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return [text("It told how far it was.")]


async def fail(_ctx: Context, _arguments: Arguments) -> list[types.ContentBlock]:
    raise ValueError("This tool intentionally returns an error for testing")


async def sample(ctx: Context, arguments: Arguments) -> list[types.ContentBlock]:
    asked = types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=text(arguments["prompt"]))], max_tokens=100
    )
    answer = await ctx.session.send_request(
        types.CreateMessageRequest(params=asked),
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    return [text(f"LLM response: {getattr(answer.content, 'text', '')}")]


def eliciting(properties: dict[str, Any], required: tuple[str, ...] = ()) -> Run:
    """Return a tool that asks the user to fill in a form."""

    async def run(ctx: Context, arguments: Arguments) -> list[types.ContentBlock]:
        form = {"type": "object", "properties": properties, "required": list(required)}
        question = arguments.get("message", "Please fill in the form.")
        answer = await ctx.session.elicit_form(question, form, ctx.request_id)
        filled = json.dumps(answer.content)
        return [text(f"Elicitation completed: action={answer.action}, content={filled}")]

    return run


def one_argument(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


def titled(*titles: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]


OPTIONS: Final = ["option1", "option2", "option3"]
USER: Final = {name: {"type": "string", "description": name} for name in ("username", "email")}
DEFAULTS: Final = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS: Final = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {
        "type": "array",
        "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")},
    },
}
ADDRESS: Final = {
    "$schema": DIALECT,
    "type": "object",
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
TOOLS: Final[dict[str, tuple[dict[str, Any], Run]]] = {
    "test_simple_text": (NOTHING, answering(text("This is a simple text response for testing."))),
    "test_image_content": (NOTHING, answering(image())),
    "test_audio_content": (NOTHING, answering(types.AudioContent(data=WAV, mime_type="audio/wav"))),
    "test_embedded_resource": (
        NOTHING,
        answering(embedded("test://embedded-resource", "This is an embedded resource content.")),
    ),
    "test_multiple_content_types": (
        NOTHING,
        answering(
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ),
    ),
    "test_tool_with_logging": (NOTHING, log),
    "test_error_handling": (NOTHING, fail),
    "test_tool_with_progress": (NOTHING, progress),
    "test_sampling": (one_argument("prompt"), sample),
    "test_elicitation": (one_argument("message"), eliciting(USER, tuple(USER))),
    "test_elicitation_sep1034_defaults": (NOTHING, eliciting(DEFAULTS)),
    "test_elicitation_sep1330_enums": (NOTHING, eliciting(ENUMS)),
    "json_schema_2020_12_tool": (ADDRESS, answering(text("It takes an address."))),
    "test_reconnection": (NOTHING, answering(text("Reconnection test completed successfully."))),
}
PROMPTS: Final[dict[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def list_tools(_ctx: Context, _params: object) -> types.ListToolsResult:
    tools = [
        types.Tool(name=name, description=f"What the suite calls {name}.", input_schema=schema)
        for name, (schema, _) in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    _, run = TOOLS[params.name]
    try:
        return types.CallToolResult(content=await run(ctx, params.arguments or {}))
    except ValueError as error:
        return types.CallToolResult(content=[text(str(error))], is_error=True)


async def list_prompts(_ctx: Context, _params: object) -> types.ListPromptsResult:
    prompts = [
        types.Prompt(
            name=name,
            description=f"What the suite calls {name}.",
            arguments=[types.PromptArgument(name=each, required=True) for each in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(_ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    said: dict[str, Callable[[], list[types.ContentBlock]]] = {
        "test_simple_prompt": lambda: [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": lambda: [
            text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
        ],
        "test_prompt_with_embedded_resource": lambda: [
            embedded(given["resourceUri"], "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": lambda: [image(), text("Please analyze the image above.")],
    }
    messages = [types.PromptMessage(role="user", content=content) for content in said[params.name]()]
    return types.GetPromptResult(messages=messages)


async def complete(_ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    found = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=found, total=len(found)))


async def list_resources(_ctx: Context, _params: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri="test://static-text", name="Static text", description="A text that stays."),
            types.Resource(uri="test://static-binary", name="Static image", description="One red pixel."),
            types.Resource(uri="test://watched-resource", name="Watched", description="To subscribe to."),
        ]
    )


async def list_templates(_ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template=TEMPLATE, name="Template", description="Data of an id.")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = params.uri
    found = UriTemplate.parse(TEMPLATE).match(uri)
    if uri == "test://static-binary":
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)]
        )
    if found is not None:
        data = json.dumps({"id": found["id"], "templateTest": True, "data": f"Data for ID: {found['id']}"})
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
    elif uri in {"test://static-text", "test://watched-resource"}:
        words = "This is the content of the static text resource."
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    else:
        raise MCPError(-32002, f"There is no resource at {uri}.")
    return types.ReadResourceResult(contents=[contents])


async def take(_ctx: Context, _params: object) -> types.EmptyResult:
    """Take a subscription or a level; the suite asks for an empty answer."""
    return types.EmptyResult()


def build() -> Server[dict[str, Any]]:
    server: Server[dict[str, Any]] = Server(
        "satchel-conformance-fixture",
        version="1.0.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=take,
        on_unsubscribe_resource=take,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, take)
    return server


async def main(port: int) -> None:
    """Serve until SIGTERM."""
    endpoint = McpEndpoint(build(), max_body_bytes=1 << 20)
    app = Starlette(
        routes=[Route("/mcp", Gate(100).before(endpoint))],
        middleware=[Middleware(Patience, 10.0, 10.0), Middleware(HostGuard, ())],
        lifespan=lambda _: endpoint.running(),
    )
    app.state.end_streams = [endpoint.end_streams]
    asked = note_signals()
    async with HttpServer(app, GatewaySettings(http_address=f"127.0.0.1:{port}")) as server:
        print(server.port, flush=True)  # noqa: T201  # to whoever started it
        await asked.wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
