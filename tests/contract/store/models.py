"""A language model of tests: a server on loopback that answers what a test wants, in both interfaces."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

_REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 500: "Internal Server Error", 503: "Unavailable"}
FIELDS: Mapping[str, Any] = {
    "subjects": [], "entities": [], "decision": "", "rejected": [], "reasons": [],
    "assignee": "", "validator": "", "deadline": "",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The text that the facts are asked of."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered: a body as it is."""

    body: bytes
    status: int = 200
    headers: str = ""


def facts(**values: object) -> str:
    """Return an answer of the model: all fields, empty but for those that are given."""
    return json.dumps({**FIELDS, **values})


def said(asked: Asked, content: str) -> Reply:
    """Wrap an answer as the interface that was used does."""
    message = {"role": "assistant", "content": content}
    by_interface = {"message": message} if asked.path == "/api/chat" else {"choices": [{"message": message}]}
    return Reply(json.dumps(by_interface).encode())


@dataclass
class ScriptedModel:
    """``answer`` makes the reply to each request; ``asked`` are all that came."""

    answer: Callable[[Asked], Awaitable[Reply]]
    asked: list[Asked] = field(default_factory=list)
    endpoint: str = ""

    @property
    def texts(self) -> list[str]:
        """The texts that it was shown, in order."""
        return [one.text for one in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        try:
            while line := await reader.readline():
                await self._answer(line, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers = {}
        while (header := (await reader.readline()).decode().strip()) != "":
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        asked = Asked(line.decode().split()[1], headers, body)
        self.asked.append(asked)
        reply = await self.answer(asked)
        head = f"HTTP/1.1 {reply.status} {_REASONS[reply.status]}\r\nContent-Length: {len(reply.body)}\r\n"
        writer.write(f"{head}{reply.headers}\r\n".encode() + reply.body)
        await writer.drain()


@asynccontextmanager
async def serving(answer: Callable[[Asked], Awaitable[Reply]]) -> AsyncIterator[ScriptedModel]:
    """Run a language model on a free port."""
    model = ScriptedModel(answer)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield model
