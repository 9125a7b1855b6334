"""One door of a running Satchel, as a client of REST and MCP sees it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp_types import CallToolResult, TextContent

from e2e.running import PROBE_INTERVAL_S

LIMIT_S = 60.0


def until(holds: Callable[[], bool]) -> None:
    """Return when a condition of a running Satchel holds; it must within a minute."""
    limit = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < limit, f"It did not come about within {LIMIT_S} s."
        time.sleep(PROBE_INTERVAL_S)


@dataclass(frozen=True, slots=True)
class Door:
    """``http`` is the address without a path; ``headers`` go with every request."""

    http: str
    headers: Mapping[str, str]

    def send(self, verb: str, path: str, body: object = None, **query: object) -> httpx2.Response:
        """Send a request below ``/api/v1`` and return the answer, whatever it is."""
        return httpx2.request(
            verb,
            f"{self.http}/api/v1{path}",
            json=body,
            params={name: str(value) for name, value in query.items()},
            headers=dict(self.headers),
            timeout=LIMIT_S,
        )

    def ask(self, verb: str, path: str, body: object = None, **query: object) -> Any:  # noqa: ANN401  # JSON
        """Return the JSON of an answer that must be a success."""
        answer = self.send(verb, path, body, **query)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def store(self, wing: str, content: str, **fields: object) -> str:
        """Store a memory and return its id."""
        return str(self.ask("POST", "/memories", {"wing": wing, "content": content, **fields})["id"])

    def load(self, memory_id: str) -> Any:  # noqa: ANN401  # JSON
        """Return a memory, whole."""
        return self.ask("GET", f"/memories/{memory_id}")

    def recall(self, query: str, **fields: object) -> Any:  # noqa: ANN401  # JSON
        """Return what a recall answers."""
        return self.ask("POST", "/memories/recall", {"query": query, **fields})

    def recalled(self, query: str, **fields: object) -> list[str]:
        """Return the ids of what a recall shows, best first."""
        return [found["id"] for found in self.recall(query, **fields)["memories"]]

    def found(self, query: str, **fields: object) -> list[str]:
        """Return the ids of what a search finds, best first."""
        answer = self.ask("POST", "/memories/search", {"query": query, **fields})
        return [found["id"] for found in answer["results"]]

    async def tool(self, name: str, **arguments: object) -> CallToolResult:
        """Call a tool over streamable HTTP."""
        async with Client(f"{self.http}/mcp") as client:
            return await client.call_tool(name, arguments)


def text_of(result: CallToolResult) -> str:
    """Return the text of a result, which has one content."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
