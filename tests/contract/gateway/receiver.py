"""A receiver of webhooks: a real HTTP server that keeps what it gets and answers what it is told."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Received:
    """A request; names of headers are in small letters."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Receiver:
    """``answers`` are used up one by one, then everything is accepted; an empty one is no answer at all."""

    port: int = 0
    answers: list[str] = field(default_factory=list)
    requests: "asyncio.Queue[Received]" = field(default_factory=asyncio.Queue)

    def url(self, path: str = "/in", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        """Return a URL of the receiver."""
        return f"{scheme}://{host}:{self.port}{path}"

    async def next(self) -> Received:
        """Return the next request, which comes within 10 seconds."""
        async with asyncio.timeout(10):
            return await self.requests.get()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *rest = head.rstrip("\r\n").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.requests.put_nowait(Received(line, headers, body))
            answer = self.answers.pop(0) if self.answers else _NO_CONTENT
            if answer:
                writer.write(answer.encode())
                await writer.drain()
            else:
                await reader.read()  # until the sender gives up
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def answer(status: int, **headers: str) -> str:
    """Return an answer without a body; ``_`` in the names of headers stands for ``-``."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Status", *lines, "Content-Length: 0", "", ""])


@asynccontextmanager
async def receiving(*answers: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Run a receiver on a free loopback port."""
    receiver = Receiver(answers=list(answers))
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
