"""What a call can say to its client while it is under way: ask the user, and tell how far it is.

A client of the revisions up to 2025-11-25 is asked by a request of the server. From 2026-07-28 on the call
ends with what is asked, and the client repeats it with the answer, so that any replica can go on.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context: TypeAlias = ServerRequestContext[dict[str, Any], Any]

_QUESTION: Final = "confirm"
_LONGEST_PIN: Final = 19  # digits of the greatest int64
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        _QUESTION: {
            "type": "boolean",
            "title": "Go on",
            "description": "Nothing undoes it.",
            "default": False,
        }
    },
    "required": [_QUESTION],
}


class InputNeeded(Exception):  # noqa: N818  # no error: the call goes on when the client repeats it
    """The client is to answer a question and to call again."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("The client is to answer a question.")
        self.result = result


@dataclass(frozen=True, slots=True)
class Reply:
    """What the user said; ``pin`` is what was told when the question was asked."""

    agreed: bool
    pin: int


class Dialogue:
    """One call's way to its client; without a context there is none."""

    def __init__(self, ctx: Context | None = None, params: CallToolRequestParams | None = None) -> None:
        self._ctx = ctx
        self._params = params

    @property
    def can_ask(self) -> bool:
        """Whether the client can put a question to its user, here and now."""
        if self._ctx is None:
            return False
        capabilities = self._ctx.session.client_capabilities
        elicitation = capabilities.elicitation if capabilities else None
        if elicitation is None or (elicitation.form is None and elicitation.url is not None):
            return False
        return self._is_modern or self._ctx.session.can_send_request

    @property
    def wants_progress(self) -> bool:
        """Whether the client asked to be told how far the call is."""
        return bool(self._ctx and (self._ctx.meta or {}).get("progress_token") is not None)

    async def ask(self, question: str, pin: int) -> Reply | None:
        """Ask the user; return `None` if the client could not.

        Raises:
            InputNeeded: the client answers by calling again.
        """
        if self._ctx is None:
            return None
        if self._is_modern:
            return self._answered() or self._ask_again(question, pin)
        try:
            result = await self._ctx.session.elicit_form(question, _FORM, self._ctx.request_id)
        except MCPError:
            return None
        return Reply(_agrees(result), pin)

    async def report(self, progress: float, total: float | None, message: str) -> None:
        """Tell the client how far the call is, if it asked for that."""
        if self._ctx is not None:
            await self._ctx.session.report_progress(progress, total, message)

    @property
    def _is_modern(self) -> bool:
        return self._ctx is not None and self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS

    def _answered(self) -> Reply | None:
        """Return the answer that the call brings, to a question whose pin it brings as well."""
        responses = (self._params.input_responses if self._params else None) or {}
        result = responses.get(_QUESTION)
        state = (self._params.request_state if self._params else None) or ""
        if not isinstance(result, ElicitResult) or not state.isdecimal() or len(state) > _LONGEST_PIN:
            return None
        return Reply(_agrees(result), int(state))

    def _ask_again(self, question: str, pin: int) -> Reply:
        form = ElicitRequestFormParams(message=question, requested_schema=_FORM)
        asked = InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=form)}, request_state=str(pin)
        )
        raise InputNeeded(asked)


def _agrees(result: ElicitResult) -> bool:
    return result.action == "accept" and (result.content or {}).get(_QUESTION) is True
