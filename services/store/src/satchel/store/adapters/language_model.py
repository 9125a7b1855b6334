"""The port `LanguageModel` over HTTP: Ollama's interface, or the one of OpenAI that many servers speak.

Sources: Ollama's API reference, "Generate a chat completion", and OpenAI's, "Create chat completion".
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Self

import httpcore2

from satchel.runtime.settings import Secret
from satchel.store.enrichment_ports import LanguageModelFailed, LanguageModelUnavailable
from satchel.store.llm.asking import messages, schema

_MAX_ANSWER_BYTES = 1 << 20
_MAX_ANSWER_TOKENS = 1024
_OK = 200
_REFUSED_FORMAT = frozenset({400, 422})
# What a server answers whatever the text: moved, no key, no such model, busy, or out of a proxy's reach. A
# status of 500 may come of one text alone, and must not keep the others waiting.
_AWAY = frozenset({301, 302, 307, 308, 401, 403, 404, 408, 429, 502, 503, 504})
_FAILURES = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    OSError,
    TypeError,  # an endpoint that is no URL, or a key that no header can hold: the library says either
    ValueError,
)


class HttpLanguageModel:
    """Asks one server; `open` makes one. Redirects are not followed: texts go to the named server alone."""

    def __init__(
        self,
        pool: httpcore2.AsyncConnectionPool,
        *,
        api: Literal["ollama", "openai"],
        endpoint: str,
        name: str,
        api_key: Secret | None,
        timeout_s: float,
    ) -> None:
        self._pool = pool
        self._api = api
        self._endpoint = endpoint.rstrip("/").removesuffix("/v1")
        self._name = name
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._knows_schemas = True

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        api: Literal["ollama", "openai"],
        endpoint: str,
        name: str,
        api_key: Secret | None,
        timeout_s: float,
    ) -> AsyncIterator[Self]:
        """Yield the model, and close its connections at the end; one answer may take ``timeout_s``."""
        async with httpcore2.AsyncConnectionPool(max_connections=64) as pool:
            yield cls(pool, api=api, endpoint=endpoint, name=name, api_key=api_key, timeout_s=timeout_s)

    @property
    def name(self) -> str:
        """See the port."""
        return self._name

    async def ask(self, text: str) -> str:
        """See the port."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await (self._ask_ollama(text) if self._api == "ollama" else self._ask_openai(text))
        except TimeoutError as exc:
            raise LanguageModelFailed(f"No answer within {self._timeout_s} s.") from exc
        except _FAILURES as exc:
            raise LanguageModelUnavailable(f"The connection failed: {type(exc).__name__}.") from exc

    async def _ask_ollama(self, text: str) -> str:
        options = {"temperature": 0, "num_predict": _MAX_ANSWER_TOKENS}
        body = {"messages": messages(text), "stream": False, "format": schema(), "options": options}
        status, answer = await self._post("/api/chat", body)
        return _content(_checked(status, answer), "message")

    async def _ask_openai(self, text: str) -> str:
        body = {"messages": messages(text), "temperature": 0, "max_tokens": _MAX_ANSWER_TOKENS}
        status, answer = 0, b""
        if self._knows_schemas:
            form = {"name": "facts", "strict": True, "schema": schema()}
            given = {**body, "response_format": {"type": "json_schema", "json_schema": form}}
            status, answer = await self._post("/v1/chat/completions", given)
        if not self._knows_schemas or status in _REFUSED_FORMAT:
            given = {**body, "response_format": {"type": "json_object"}}
            status, answer = await self._post("/v1/chat/completions", given)
            # A text that is refused in both forms says nothing of what the server knows.
            self._knows_schemas = self._knows_schemas and status != _OK
        return _content(_checked(status, answer), "choices", 0, "message")

    async def _post(self, path: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        headers: list[tuple[bytes | str, bytes | str]] = [("Content-Type", "application/json")]
        if self._api_key:
            headers.append(("Authorization", f"Bearer {self._api_key.reveal()}"))
        content = json.dumps({"model": self._name, **body}).encode()
        async with self._pool.stream(
            "POST", self._endpoint + path, headers=headers, content=content
        ) as response:
            return response.status, await _read(response)


async def _read(response: httpcore2.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_stream():
        parts.append(part)
        size += len(part)
        if size > _MAX_ANSWER_BYTES:
            raise LanguageModelFailed(f"The answer has more than {_MAX_ANSWER_BYTES} bytes.")
    return b"".join(parts)


def _checked(status: int, answer: bytes) -> bytes:
    """Return the body of a success.

    Raises:
        LanguageModelFailed: the server refuses this text.
        LanguageModelUnavailable: it refuses everything, or is overloaded.
    """
    if status == _OK:
        return answer
    failure = LanguageModelUnavailable if status in _AWAY else LanguageModelFailed
    raise failure(f"The server answered with status {status}.")


def _content(answer: bytes, *path: str | int) -> str:
    """Return the text of a message inside an answer.

    Raises:
        LanguageModelFailed: it is no answer of this interface.
    """
    try:
        found = json.loads(answer)
        for step in (*path, "content"):
            found = found[step]
    except (ValueError, LookupError, TypeError, RecursionError) as exc:
        raise LanguageModelFailed("The answer is none of this interface.") from exc
    if not isinstance(found, str):
        raise LanguageModelFailed("The answer holds no text.")
    return found
