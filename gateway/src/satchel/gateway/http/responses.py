"""JSON answers, of results and of errors, with the id of the trace."""

from starlette.responses import Response

from satchel.gateway.exchanges import SPANS_HEADER, TRACE_ID_HEADER, Exchange
from satchel.gateway.problems import problem_of
from satchel.gateway.transcoder.json_text import Json, dumps
from satchel.runtime.errors import ServiceError

JSON_TYPE = "application/json"


def json_response(value: Json, status: int = 200) -> Response:
    """Return an answer with a JSON body."""
    return Response(dumps(value).encode("utf-8", "replace"), status, media_type=JSON_TYPE)


def error_response(error: ServiceError, trace_id: str) -> Response:
    """Return the answer for an error."""
    problem = problem_of(error, trace_id)
    response = json_response(problem.body, problem.status)
    response.headers.update(problem.headers)
    return response


def stamped(response: Response, exchange: Exchange) -> Response:
    """Add what every answer of an exchange carries: trace id, and spans if they were asked for."""
    response.headers[TRACE_ID_HEADER] = exchange.trace_id
    spans = exchange.spans()
    if spans:
        response.headers[SPANS_HEADER] = spans
    return response
