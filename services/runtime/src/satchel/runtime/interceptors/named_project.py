"""Provides the project that the metadata of a call names, wherever its request leaves its own empty."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any, cast

from google.protobuf import descriptor_pool
from google.protobuf.message import Message

from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware
from satchel.runtime.interceptors.projects import PROJECT, holders, names_project, wants_all
from satchel.runtime.methods import Method
from satchel.runtime.propagation import PROJECT_IN_UTF8, PROJECT_NAME, Metadatum


class NamedProjectInterceptor(Middleware):
    """Puts the project of ``satchel-project`` into requests that name none, before anybody looks at them.

    The names of a request win, and one for all projects is left alone. A name that cannot be a project is
    refused by the check of the request, as if the request had named it.
    """

    def concerns(self, method: Method) -> bool:
        """Stand before methods whose requests have a project; the others cost nothing."""
        try:
            service = descriptor_pool.Default().FindServiceByName(method.service)
            return names_project(service.FindMethodByName(method.name).input_type)
        except KeyError:
            return False

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401, ARG002
        """Fill in the project.

        Raises:
            InvalidRequest: the name is no UTF-8.
        """
        project = project_in(cast("Iterable[Metadatum]", context.invocation_metadata() or ()))
        if project:
            request = _filled(request, project)
        return await inner(request, context)


def project_in(metadata: Iterable[Metadatum]) -> str:
    """Return the project that the metadata names, or an empty text.

    Raises:
        InvalidRequest: the name is no UTF-8.
    """
    for key, value in metadata:
        if key == PROJECT_NAME:
            return str(value)
        if key == PROJECT_IN_UTF8 and isinstance(value, bytes):
            return _decoded(value)
    return ""


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        remedy = f"send the name of the project in UTF-8 in the metadata '{PROJECT_IN_UTF8}'"
        reason = "ERROR_REASON_FIELD_INVALID_CHARACTER"
        violation = Violation(
            PROJECT, reason, f"{PROJECT} must be UTF-8: {remedy}.", limit="UTF-8", remedy=remedy
        )
        raise InvalidRequest([violation]) from None


def _filled(request: Any, project: str) -> Any:  # noqa: ANN401  # a message, a stream, or what does not decode
    if isinstance(request, Message):
        for holder in holders(request):
            if not getattr(holder, PROJECT) and not wants_all(holder):
                setattr(holder, PROJECT, project)
        return request
    return _filled_stream(request, project) if isinstance(request, AsyncIterable) else request


async def _filled_stream(requests: AsyncIterable[Any], project: str) -> AsyncIterator[Any]:
    async for request in requests:
        yield _filled(request, project)
