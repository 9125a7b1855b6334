"""A request that the released contracts accept is accepted by these: what `buf breaking` does not look at.

Limits, defaults, rights and routes are options of the contracts. They may be widened and never tightened.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from google.api import annotations_pb2, field_behavior_pb2, http_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet, MethodDescriptorProto

from requirements import requirement
from satchel.api.options.v1 import options_pb2

ROOT = Path(__file__).resolve().parents[3]
RELEASED = ROOT / "proto/released.binpb"
CONTRACT = ROOT / "proto/python/src/satchel/api/descriptors.binpb"

FLOORS = ("min_length", "min_items", "minimum")
CEILINGS = ("max_length", "max_items", "max_bytes", "maximum")
FORMS = ("pattern", "format")
METHOD_RULES = ("http_success", "answers_each_item")


def read(path: Path) -> FileDescriptorSet:
    return FileDescriptorSet.FromString(path.read_bytes())


def fields(image: FileDescriptorSet) -> dict[str, FieldDescriptorProto]:
    return {
        f"{file.package}.{message.name}.{field.name}": field
        for file in image.file
        for message in file.message_type
        for field in message.field
    }


def methods(image: FileDescriptorSet) -> dict[str, MethodDescriptorProto]:
    return {
        f"{file.package}.{service.name}/{method.name}": method
        for file in image.file
        for service in file.service
        for method in service.method
    }


def tightened(released: FileDescriptorSet, current: FileDescriptorSet) -> list[str]:
    """Name the options of what is in both images that ask more of a client, or give it less."""
    fields_now, methods_now = fields(current), methods(current)
    found = [
        f"{name}: {option}"
        for name, field in fields(released).items()
        if name in fields_now
        for option in tightened_field(field, fields_now[name])
    ]
    return found + [
        f"{name}: {option}"
        for name, method in methods(released).items()
        if name in methods_now
        for option in tightened_method(method, methods_now[name])
    ]


def tightened_field(before: FieldDescriptorProto, after: FieldDescriptorProto) -> Iterator[str]:
    old = before.options.Extensions[options_pb2.field]
    new = after.options.Extensions[options_pb2.field]
    if is_required(after) and not is_required(before):
        yield "required"
    for name in FLOORS:
        if is_set(new, name) and not (is_set(old, name) and getattr(new, name) <= getattr(old, name)):
            yield name
    for name in CEILINGS:
        if is_set(new, name) and not (is_set(old, name) and getattr(new, name) >= getattr(old, name)):
            yield name
    yield from (name for name in FORMS if is_set(new, name) and getattr(new, name) != getattr(old, name))
    if new.not_blank and not old.not_blank:
        yield "not_blank"
    if old.accepts_text and not new.accepts_text:
        yield "accepts_text"
    if new.default_json != old.default_json:
        yield "default_json"


def tightened_method(before: MethodDescriptorProto, after: MethodDescriptorProto) -> Iterator[str]:
    old = before.options.Extensions[options_pb2.method]
    new = after.options.Extensions[options_pb2.method]
    if new.access > old.access:
        yield "access"
    if old.idempotent_with_request_id and not new.idempotent_with_request_id:
        yield "idempotent_with_request_id"
    yield from (name for name in METHOD_RULES if getattr(new, name) != getattr(old, name))
    if not old.hidden and not routes(before) <= (set() if new.hidden else routes(after)):
        yield "route"


def is_required(field: FieldDescriptorProto) -> bool:
    return field_behavior_pb2.REQUIRED in field.options.Extensions[field_behavior_pb2.field_behavior]


def is_set(rules: options_pb2.FieldRules, name: str) -> bool:
    # Those without presence have no limit at 0.
    return any(field.name == name for field, _ in rules.ListFields())


def routes(method: MethodDescriptorProto) -> set[tuple[str, str, str]]:
    """Return verb, path and body of every way to call the RPC over HTTP."""
    first = method.options.Extensions[annotations_pb2.http]
    rules: list[http_pb2.HttpRule] = [first, *first.additional_bindings]
    verbs = [(rule, rule.WhichOneof("pattern")) for rule in rules]
    return {(verb, getattr(rule, verb), f"{rule.body} {rule.response_body}") for rule, verb in verbs if verb}


STORE = "satchel.api.store.v1"
Change = Callable[[FileDescriptorSet], None]


def field_rules(name: str, **options: object) -> Change:
    def change(image: FileDescriptorSet) -> None:
        rules = fields(image)[f"{STORE}.{name}"].options.Extensions[options_pb2.field]
        for option, value in options.items():
            setattr(rules, option, value)

    return change


def method_rules(name: str, **options: object) -> Change:
    def change(image: FileDescriptorSet) -> None:
        rules = methods(image)[f"{STORE}.{name}"].options.Extensions[options_pb2.method]
        for option, value in options.items():
            setattr(rules, option, value)

    return change


def require_title(image: FileDescriptorSet) -> None:
    options = fields(image)[f"{STORE}.StoreMemoryRequest.title"].options
    options.Extensions[field_behavior_pb2.field_behavior].append(field_behavior_pb2.REQUIRED)


def move_route(image: FileDescriptorSet) -> None:
    method = methods(image)[f"{STORE}.MemoryService/GetMemory"]
    method.options.Extensions[annotations_pb2.http].get = "/api/v2/memories/{id}"


TIGHTER: dict[str, tuple[str, Change]] = {
    "shorter text": ("max_length", field_rules("StoreMemoryRequest.title", max_length=499)),
    "fewer items": ("max_items", field_rules("StoreMemoryRequest.tags", max_items=31)),
    "first bound of bytes": ("max_bytes", field_rules("StoreMemoryRequest.title", max_bytes=10_000)),
    "longer text": ("min_length", field_rules("StoreMemoryRequest.title", min_length=1)),
    "more items": ("min_items", field_rules("BatchStoreMemoriesRequest.memories", min_items=2)),
    "greater number": ("minimum", field_rules("WatchChangesRequest.batch_size", minimum=1.0)),
    "smaller number": ("maximum", field_rules("WatchChangesRequest.batch_size", maximum=999.0)),
    "other pattern": ("pattern", field_rules("StoreMemoryRequest.wing", pattern="[a-z]+")),
    "other form": ("format", field_rules("GetMemoryRequest.id", format=options_pb2.FORMAT_UUID)),
    "no white space": ("not_blank", field_rules("StoreMemoryRequest.title", not_blank=True)),
    "text no longer read": ("accepts_text", field_rules("StoreMemoryRequest.tags", accepts_text=False)),
    "other default": ("default_json", field_rules("WatchChangesRequest.batch_size", default_json="100")),
    "required field": ("required", require_title),
    "higher right": ("access", method_rules("MemoryService/GetMemory", access=options_pb2.ACCESS_ADMIN)),
    "no longer repeatable": (
        "idempotent_with_request_id",
        method_rules("MemoryService/StoreMemory", idempotent_with_request_id=False),
    ),
    "one answer for all": (
        "answers_each_item",
        method_rules("MemoryService/ImportMemories", answers_each_item=False),
    ),
    "other HTTP status": ("http_success", method_rules("MemoryService/StoreMemory", http_success=200)),
    "other route": ("route", move_route),
    "hidden route": ("route", method_rules("MemoryService/GetMemory", hidden=True)),
}
WIDER: dict[str, Change] = {
    "longer text": field_rules("StoreMemoryRequest.title", max_length=501),
    "text of any length": field_rules("StoreMemoryRequest.title", max_length=0),
    "fewer items": field_rules("BatchStoreMemoriesRequest.memories", min_items=0),
    "greater number": field_rules("WatchChangesRequest.batch_size", maximum=2000.0),
    "any text": field_rules("StoreMemoryRequest.wing", pattern=""),
    "lower right": method_rules("MemoryService/StoreMemory", access=options_pb2.ACCESS_READ),
    "repeatable": method_rules("MemoryService/ImportMemories", idempotent_with_request_id=True),
}


@requirement("contract:compatible")
def test_contracts_ask_no_more_of_a_client_than_the_released_ones() -> None:
    assert tightened(read(RELEASED), read(CONTRACT)) == []


@requirement("contract:compatible")
@pytest.mark.parametrize(("option", "change"), TIGHTER.values(), ids=TIGHTER)
def test_option_that_asks_more_of_a_client_is_found(option: str, change: Change) -> None:
    copy = read(CONTRACT)

    change(copy)

    (found,) = tightened(read(CONTRACT), copy)
    assert found.endswith(f": {option}")


@requirement("contract:compatible")
@pytest.mark.parametrize("change", WIDER.values(), ids=WIDER)
def test_option_that_gives_a_client_more_is_free(change: Change) -> None:
    copy = read(CONTRACT)

    change(copy)

    assert copy != read(CONTRACT)
    assert tightened(read(CONTRACT), copy) == []
