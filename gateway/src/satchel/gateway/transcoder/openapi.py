"""The OpenAPI 3.1 document of the REST door, derived from the contract."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from satchel.api.options.v1 import options_pb2
from satchel.gateway.transcoder.descriptors import Contract, Rpc, is_required
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.routes import Route, RouteTable
from satchel.gateway.transcoder.schemas import Schema, SchemaBook, Style, parameter

OpenApi: TypeAlias = dict[str, Json]

_PREFIX = "#/components/schemas/"
_JSON = "application/json"
# Fields by which an address names what it is about.
_NAMES = ("id", "agent_id")
_PROBLEM: Schema = {"$ref": f"{_PREFIX}Problem"}

_TEXT: Schema = {"type": "string"}
_PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "Why a request failed. The members are those of RFC 9457 and of the contract's errors.",
    "properties": {
        "error": {"type": "string", "description": "The whole story as sentences, with what to do."},
        "code": {"type": "string", "description": "The gRPC code in lower case, such as `not_found`."},
        "reason": {"type": "string", "description": "A name of the contract's `ErrorReason`."},
        "field": {"type": "string", "description": "The first field that is wrong."},
        "limit": {"type": "string", "description": "What that field allows."},
        "remedy": {"type": "string", "description": "What to do about it."},
        "metadata": {"type": "object", "additionalProperties": _TEXT, "description": "Details by reason."},
        "violations": {
            "type": "array",
            "description": "Every field that is wrong.",
            "items": {
                "type": "object",
                "properties": dict.fromkeys(("field", "reason", "description", "limit", "remedy"), _TEXT),
                "required": ["field", "reason", "description"],
            },
        },
        "retry_after": {"type": "number", "description": "Seconds after which a retry makes sense."},
        "trace_id": {"type": "string", "description": "Under this id the logs tell more."},
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
    },
    "required": ["error", "code", "reason", "metadata", "trace_id", "type", "title", "status", "detail"],
}


def make_openapi(
    contract: Contract, table: RouteTable, *, version: str, health: Schema | None = None
) -> OpenApi:
    """Return the document: every route of the table, with schemas, limits, descriptions and errors.

    ``health`` is the schema of the health routes, which the door adds to the contract's.
    """
    shown = SchemaBook(contract, prefix=_PREFIX, style=Style.RETURNED)
    accepted = SchemaBook(contract, prefix=_PREFIX, style=Style.ACCEPTED, suffix="Input")
    paths: dict[str, Json] = {}
    for route in table:
        operations = cast("dict[str, Json]", paths.setdefault(route.rule.template, {}))
        operations[route.rule.verb.lower()] = _operation(
            contract, route, shown, accepted, _links(route, table)
        )
    schemas: dict[str, Json] = {"Problem": _PROBLEM_SCHEMA}
    if health is not None:
        schemas["Health"] = health
        paths.update(_health_paths())
    schemas.update(cast("dict[str, Json]", {**shown.definitions, **accepted.definitions}))
    return {
        "openapi": "3.1.0",
        "info": _info(contract, version),
        "servers": [{"url": "/"}],
        "tags": _tags(contract, table),
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _info(contract: Contract, version: str) -> dict[str, Json]:
    services = sorted({rpc.service for rpc in contract.rpcs.values()})
    return {
        "title": "Satchel",
        "version": version,
        "description": "Long-term memory for language-model agents. "
        f"The same contract is served over gRPC ({', '.join(services)}) and MCP.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    }


def _tags(contract: Contract, table: RouteTable) -> list[Json]:
    services = dict.fromkeys(route.rpc.service for route in table)
    return [{"name": _tag(service), "description": contract.comment(service)} for service in services]


def _tag(service: str) -> str:
    return service.rpartition(".")[2].removesuffix("Service")


def _operation(
    contract: Contract, route: Route, shown: SchemaBook, accepted: SchemaBook, links: dict[str, Json]
) -> Schema:
    rpc = route.rpc
    summary, _, rest = rpc.comment.partition("\n\n")
    operation: Schema = {
        "operationId": rpc.name,
        "tags": [_tag(rpc.service)],
        "summary": summary.removesuffix("."),
        "responses": _responses(contract, route, shown, links),
    }
    if rest:
        operation["description"] = rest
    parameters = list(_parameters(contract, route, accepted))
    if parameters:
        operation["parameters"] = cast("list[Json]", parameters)
    if route.rule.body:
        operation["requestBody"] = _request_body(route, accepted)
    return operation


def _parameters(contract: Contract, route: Route, book: SchemaBook) -> Iterator[Schema]:
    fields = route.rpc.input.fields_by_name
    for name in route.path_fields:
        yield _parameter(contract, fields[name], "path", book)
    for field in route.query_fields:
        yield _parameter(contract, field, "query", book)


def _parameter(contract: Contract, field: FieldDescriptor, place: str, book: SchemaBook) -> Schema:
    made: Schema = {
        "name": field.name,
        "in": place,
        "required": place == "path" or is_required(field),
        "schema": parameter(book, field),
    }
    comment = contract.comment(field.full_name)
    return {**made, "description": comment} if comment else made


def _request_body(route: Route, book: SchemaBook) -> Schema:
    if route.rule.body == "*":
        schema = book.message(route.rpc.input, without=frozenset(route.path_fields))
        required = bool(schema.get("required"))
    else:
        field = route.rpc.input.fields_by_name[route.rule.body]
        schema, required = book.field(field), is_required(field)
    return {"required": required, "content": {_JSON: {"schema": schema}}}


def _links(route: Route, table: RouteTable) -> dict[str, Json]:
    """Return what can be done with what was made: the routes whose path carries its name alone."""
    if route.rpc.http_success != HTTPStatus.CREATED:
        return {}
    places = {
        f"{route.rule.template.partition('/{')[0]}/{{{name}}}": (name, place)
        for name, place in _names_in(route.rpc.output)
    }
    return {
        other.rpc.name: {"operationId": other.rpc.name, "parameters": {name: f"$response.body#/{place}"}}
        for other in table
        for begin, (name, place) in places.items()
        if other is not route
        and other.path_fields == (name,)
        and f"{other.rule.template}/".startswith(f"{begin}/")
    }


def _names_in(answer: Descriptor) -> Iterator[tuple[str, str]]:
    """Yield the fields that name what an answer tells of, and where they are in its JSON."""
    for field in answer.fields:
        if field.name in _NAMES:
            yield field.name, field.name
        elif field.message_type is not None and not field.is_repeated:
            inner = field.message_type.fields_by_name
            yield from ((name, f"{field.name}/{name}") for name in _NAMES if name in inner)


def _responses(contract: Contract, route: Route, book: SchemaBook, links: dict[str, Json]) -> Schema:
    status = route.rpc.http_success
    success: Schema = {"description": _first_sentence(contract.comment(route.rpc.output.full_name))}
    if status != HTTPStatus.NO_CONTENT:
        success["content"] = {_JSON: {"schema": _result(route, book)}}
    if links:
        success["links"] = links
    failures: Schema = {
        str(int(failure)): {"description": failure.phrase, "content": {_JSON: {"schema": _PROBLEM}}}
        for failure in _failures(route.rpc, has_body=bool(route.rule.body))
    }
    return {str(status): success, **failures}


def _result(route: Route, book: SchemaBook) -> Schema:
    if not route.rule.response_body:
        return book.reference(route.rpc.output)
    return book.reference(
        cast("Descriptor", route.rpc.output.fields_by_name[route.rule.response_body].message_type)
    )


def _failures(rpc: Rpc, *, has_body: bool) -> Iterable[HTTPStatus]:
    """Yield the failures that the RPC can answer with, by ascending status."""
    public = rpc.access == options_pb2.ACCESS_PUBLIC
    wanted = {
        HTTPStatus.BAD_REQUEST: True,
        HTTPStatus.UNAUTHORIZED: not public,
        HTTPStatus.FORBIDDEN: True,
        HTTPStatus.NOT_FOUND: True,
        HTTPStatus.CONFLICT: True,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: has_body,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE: has_body,
        HTTPStatus.UNPROCESSABLE_ENTITY: True,
        HTTPStatus.TOO_MANY_REQUESTS: True,
        HTTPStatus.INTERNAL_SERVER_ERROR: True,
        HTTPStatus.SERVICE_UNAVAILABLE: True,
        HTTPStatus.GATEWAY_TIMEOUT: True,
        HTTPStatus.INSUFFICIENT_STORAGE: rpc.is_write,
    }
    return (status for status, is_possible in wanted.items() if is_possible)


def _health_paths() -> dict[str, Json]:
    content: Schema = {_JSON: {"schema": {"$ref": f"{_PREFIX}Health"}}}
    alive: Schema = {"type": "object", "properties": {"status": {"const": "alive"}}, "required": ["status"]}
    states: Schema = {
        "200": {"description": "Requests are answered.", "content": content},
        "503": {"description": "Requests are not answered.", "content": content},
    }
    live: Schema = {"200": {"description": "The process runs.", "content": {_JSON: {"schema": alive}}}}
    return {
        "/health": _health_path("GetHealth", "Reports how the parts are", states),
        "/health/ready": _health_path("GetReadiness", "Reports whether requests are answered", states),
        "/health/live": _health_path("GetLiveness", "Reports that the process runs", live),
    }


def _health_path(name: str, summary: str, responses: Schema) -> Schema:
    return {"get": {"operationId": name, "tags": ["Health"], "summary": summary, "responses": responses}}


def _first_sentence(comment: str) -> str:
    return comment.partition("\n\n")[0] or "Success."
