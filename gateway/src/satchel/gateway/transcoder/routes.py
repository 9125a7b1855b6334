"""Paths to RPCs, and the parts of a request to the fields of a message."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from satchel.gateway.transcoder import faults
from satchel.gateway.transcoder.descriptors import Contract, HttpRule, Rpc, message_class
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.requests import decode_request
from satchel.runtime.errors import InvalidRequest, Violation

# Clients of MIRA send 1 too.
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Route:
    """One verb at one path, and the RPC behind it."""

    rule: HttpRule
    rpc: Rpc

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The fields that the path carries, in order."""
        return tuple(part[1:-1] for part in _segments(self.rule.template) if _is_field(part))

    @property
    def query_fields(self) -> tuple[FieldDescriptor, ...]:
        """The fields that the query may carry: those that neither path nor body carry."""
        if self.rule.body == "*":
            return ()
        taken = {*self.path_fields, self.rule.body}
        return tuple(field for field in self.rpc.input.fields if field.name not in taken)

    def request(self, path: Mapping[str, str], query: Sequence[tuple[str, str]], body: Json) -> Message:
        """Make the RPC's request; ``body`` is the JSON of the body, or `None`.

        Raises:
            InvalidRequest: a part is no field, has the wrong type, or contradicts the path.
        """
        members = self._body_members(body)
        for name, text in path.items():
            if members.get(name) not in (None, "", text):
                raise InvalidRequest([faults.conflict(name, f"the {name} of the path")])
            members[name] = text
        members.update(self._query_members(query))
        return decode_request(message_class(self.rpc.input), members)

    def _body_members(self, body: Json) -> dict[str, Json]:
        if self.rule.body != "*":
            return {self.rule.body: body} if self.rule.body else {}
        if body is None:
            return {}
        if not isinstance(body, dict):
            raise InvalidRequest([faults.wrong_type("body", "an object", body)])
        return dict(body)

    def _query_members(self, query: Sequence[tuple[str, str]]) -> dict[str, Json]:
        known = {field.name: field for field in self.query_fields}
        members: dict[str, Json] = {}
        for name, text in query:
            field = known.get(name)
            if field is None:
                raise InvalidRequest([self._not_of_the_query(name, known)])
            if field.is_repeated:
                cast("list[Json]", members.setdefault(name, [])).append(_typed(field, text))
            elif name in members:
                raise InvalidRequest([faults.wrong_type(name, "one value", [])])
            else:
                members[name] = _typed(field, text)
        return members

    def _not_of_the_query(self, name: str, known: Iterable[str]) -> Violation:
        if self.rule.body == "*" and name in self.rpc.input.fields_by_name and name not in self.path_fields:
            return faults.in_the_body(name)
        return faults.unknown_field(faults.shown_name(name), known)


@dataclass(frozen=True, slots=True)
class Place:
    """One path template with all its verbs."""

    template: str
    routes: Mapping[str, Route]

    def allowed(self) -> tuple[str, ...]:
        """The verbs of the header ``Allow``; where GET is, HEAD is too."""
        implied = ("HEAD",) if "GET" in self.routes else ()
        return (*sorted(self.routes), *implied, "OPTIONS")


class RouteTable:
    """All places, of which a path that is spelled out wins over one with fields."""

    def __init__(self, contract: Contract) -> None:
        """Read the annotations of every RPC that is not hidden.

        Raises:
            ValueError: two RPCs claim the same verb and path, or a template has a form we do not know.
        """
        found: dict[str, dict[str, Route]] = {}
        for route in _routes(contract):
            verbs = found.setdefault(_shape(route.rule.template), {})
            if route.rule.verb in verbs:
                raise ValueError(f"Two RPCs claim {route.rule.verb} {route.rule.template}.")
            verbs[route.rule.verb] = route
        self.places = tuple(
            Place(next(iter(verbs.values())).rule.template, verbs)
            for _, verbs in sorted(found.items(), key=lambda item: item[0].count("{"))
        )

    def find(self, path: str) -> tuple[Place, dict[str, str]] | None:
        """Return the place of a percent-encoded path and its fields; `None` if there is none.

        Bytes of a field that are not UTF-8 become halves of surrogate pairs, which no text may hold.
        """
        parts = [unquote(part, errors="surrogateescape") for part in _segments(path)]
        for place in self.places:
            fields = _match(_segments(place.template), parts)
            if fields is not None:
                return place, fields
        return None

    def __iter__(self) -> Iterator[Route]:
        for place in self.places:
            yield from place.routes.values()


def _routes(contract: Contract) -> Iterator[Route]:
    for rpc in contract.rpcs.values():
        if not rpc.is_hidden and not rpc.is_streaming:
            for rule in rpc.http:
                route = Route(rule, rpc)
                _check(route)
                yield route


def _check(route: Route) -> None:
    known = route.rpc.input.fields_by_name
    if any("*" in part or "=" in part or "." in part for part in route.path_fields):
        raise ValueError(f"{route.rule.template}: only fields that fill one segment are known here.")
    if any(name not in known for name in route.path_fields):
        raise ValueError(f"{route.rule.template}: {route.rpc.input.full_name} has no such field.")


def _segments(path: str) -> Sequence[str]:
    return path.split("/")[1:]


def _is_field(segment: str) -> bool:
    return segment.startswith("{") and segment.endswith("}")


def _shape(template: str) -> str:
    return "/".join("{}" if _is_field(part) else part for part in _segments(template))


def _match(template: Iterable[str], parts: Sequence[str]) -> dict[str, str] | None:
    wanted = tuple(template)
    if len(wanted) != len(parts):
        return None
    fields: dict[str, str] = {}
    for want, part in zip(wanted, parts, strict=True):
        if _is_field(want):
            if not part:
                return None
            fields[want[1:-1]] = part
        elif want != part:
            return None
    return fields


def _typed(field: FieldDescriptor, text: str) -> Any:  # noqa: ANN401
    """Return the JSON value that a text of the query stands for; numbers may stay texts."""
    return _BOOLEANS.get(text, text) if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else text
