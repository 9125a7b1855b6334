"""What would break a client fails the gate that `just proto` runs, and what would not passes it.

Each case makes one change to a copy of the contracts and compares it with the released ones, by the command
of the justfile.
"""

import json
import shlex
import subprocess
from collections.abc import Callable, MutableSequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldOptions,
    FileDescriptorProto,
    FileDescriptorSet,
    FileOptions,
    MethodDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

from requirements import requirement

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = ROOT / "proto/python/src/satchel/api/descriptors.binpb"
COMPARED = "build/contract.binpb"

Change = Callable[["Copy"], object]
NEW: dict[str, Any] = {
    "name": "shelf",
    "json_name": "shelf",
    "number": 999,
    "type": Field.TYPE_STRING,
    "label": Field.LABEL_OPTIONAL,
}


class Copy:
    """The contracts as they are now, to be changed."""

    def __init__(self) -> None:
        self.image = FileDescriptorSet.FromString(CONTRACT.read_bytes())

    def file(self, name: str) -> FileDescriptorProto:
        return next(one for one in self.image.file if one.name == f"satchel/api/{name}.proto")

    @property
    def store(self) -> FileDescriptorProto:
        return self.file("store/v1/memory_service")

    @property
    def types(self) -> FileDescriptorProto:
        return self.file("types/v1/memory")

    def message(self, name: str) -> DescriptorProto:
        found = [one for file in self.image.file for one in file.message_type if one.name == name]
        assert len(found) == 1
        return found[0]

    def field(self, path: str) -> Field:
        message, _, name = path.partition(".")
        return next(one for one in self.message(message).field if one.name == name)

    def enum(self, name: str) -> EnumDescriptorProto:
        return next(one for file in self.image.file for one in file.enum_type if one.name == name)

    @property
    def service(self) -> ServiceDescriptorProto:
        return self.store.service[0]

    def rpc(self, name: str) -> MethodDescriptorProto:
        return next(one for one in self.service.method if one.name == name)


def gate() -> list[str]:
    """Return the words of the command in the justfile that compares the contracts with the released ones."""
    lines = (ROOT / "justfile").read_text(encoding="utf-8").splitlines()
    (command,) = (line.strip() for line in lines if line.strip().startswith("buf breaking "))
    return shlex.split(command)


def broken_rules(copy: Copy, folder: Path) -> set[str]:
    """Run the gate on the copy and return the rules that it breaks."""
    changed = folder / "contract.binpb"
    changed.write_bytes(copy.image.SerializeToString())
    command = [str(changed) if word == COMPARED else word for word in gate()]
    assert str(changed) in command
    done = subprocess.run(  # the command of this repository
        [*command, "--error-format", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    rules = {json.loads(line)["type"] for line in done.stdout.splitlines()}
    assert not done.stderr
    assert bool(rules) == (done.returncode != 0)
    return rules


def remove(items: MutableSequence[Any], name: str) -> None:
    del items[[one.name for one in items].index(name)]


def reserve(copy: Copy) -> None:
    message = copy.message("StoreMemoryRequest")
    number = copy.field("StoreMemoryRequest.title").number
    remove(message.field, "title")
    message.reserved_name.append("title")
    message.reserved_range.add(start=number, end=number + 1)


def swap(copy: Copy) -> None:
    first, second = copy.field("StoreMemoryRequest.title"), copy.field("StoreMemoryRequest.summary")
    first.number, second.number = second.number, first.number


def lose_presence(copy: Copy) -> None:
    message, field = copy.message("RecalledMemory"), copy.field("RecalledMemory.similarity")
    del message.oneof_decl[field.oneof_index]
    field.ClearField("oneof_index")
    field.ClearField("proto3_optional")


def move_to_another_file(copy: Copy) -> None:
    home = copy.file("types/v1/trace")
    moved = copy.message("TraceSpans")
    copy.image.file.add(
        name="satchel/api/types/v1/spans.proto",
        package=home.package,
        syntax="proto3",
        dependency=[home.name],
        options=home.options,
        message_type=[moved],
    )
    remove(home.message_type, "TraceSpans")


# What is done to a field, in short.
def field(path: str, **changed: Any) -> Change:  # noqa: ANN401  # members of the descriptor
    return lambda copy: copy.field(path).MergeFrom(Field(**changed))


def rpc(path: str, **changed: Any) -> Change:  # noqa: ANN401
    return lambda copy: copy.rpc(path).MergeFrom(MethodDescriptorProto(**changed))


BREAKING: dict[str, tuple[str, Change]] = {
    "field removed": (
        "FIELD_NO_DELETE",
        lambda copy: remove(copy.message("StoreMemoryRequest").field, "title"),
    ),
    "field removed and reserved": ("FIELD_NO_DELETE", reserve),
    "field renumbered": ("FIELD_NO_DELETE", field("StoreMemoryRequest.title", number=99)),
    "fields swapped": ("FIELD_SAME_NAME", swap),
    "field renamed": ("FIELD_SAME_NAME", field("StoreMemoryRequest.title", name="heading")),
    "field renamed in JSON": ("FIELD_SAME_JSON_NAME", field("StoreMemoryRequest.title", json_name="heading")),
    "number widened": ("FIELD_SAME_TYPE", field("StoreMemoryResponse.token_count", type=Field.TYPE_INT64)),
    "text turned into bytes": ("FIELD_SAME_TYPE", field("StoreMemoryRequest.title", type=Field.TYPE_BYTES)),
    "another message in a field": (
        "FIELD_SAME_TYPE",
        field("GetMemoryResponse.memory", type_name=".satchel.api.types.v1.Fingerprint"),
    ),
    "field repeated": (
        "FIELD_SAME_CARDINALITY",
        field("StoreMemoryRequest.title", label=Field.LABEL_REPEATED),
    ),
    "field no longer repeated": (
        "FIELD_SAME_CARDINALITY",
        field("StoreMemoryRequest.tags", label=Field.LABEL_OPTIONAL),
    ),
    "presence lost": ("FIELD_SAME_CARDINALITY", lose_presence),
    "field moved into a oneof": ("FIELD_SAME_ONEOF", field("ImportMemoriesRequest.sequence", oneof_index=0)),
    "field moved out of a oneof": (
        "FIELD_SAME_ONEOF",
        lambda copy: copy.field("ImportMemoriesRequest.memory").ClearField("oneof_index"),
    ),
    "oneof renamed": (
        "ONEOF_NO_DELETE",
        lambda copy: (
            copy.message("ImportMemoriesRequest").oneof_decl[0].MergeFrom(OneofDescriptorProto(name="x"))
        ),
    ),
    "message removed": (
        "MESSAGE_NO_DELETE",
        lambda copy: remove(copy.file("types/v1/trace").message_type, "TraceSpans"),
    ),
    "message renamed": (
        "MESSAGE_NO_DELETE",
        lambda copy: copy.message("TraceSpans").MergeFrom(DescriptorProto(name="Spans")),
    ),
    "message moved to another file": ("MESSAGE_NO_DELETE", move_to_another_file),
    "enum value removed": (
        "ENUM_VALUE_NO_DELETE",
        lambda copy: remove(copy.enum("ErrorReason").value, "ERROR_REASON_PATH_TAKEN"),
    ),
    "enum value renumbered": (
        "ENUM_VALUE_NO_DELETE",
        lambda copy: copy.enum("ErrorReason").value[1].MergeFrom(EnumValueDescriptorProto(number=999)),
    ),
    "enum value renamed": (
        "ENUM_VALUE_SAME_NAME",
        lambda copy: copy.enum("ErrorReason").value[1].MergeFrom(EnumValueDescriptorProto(name="OTHER")),
    ),
    "enum removed": (
        "ENUM_NO_DELETE",
        lambda copy: copy.file("errors/v1/error_reason").ClearField("enum_type"),
    ),
    "RPC removed": ("RPC_NO_DELETE", lambda copy: remove(copy.service.method, "GetStoreStatus")),
    "RPC renamed": ("RPC_NO_DELETE", rpc("GetStoreStatus", name="GetStatus")),
    "requests streamed": ("RPC_SAME_CLIENT_STREAMING", rpc("StoreMemory", client_streaming=True)),
    "responses no longer streamed": (
        "RPC_SAME_SERVER_STREAMING",
        rpc("ExportMemories", server_streaming=False),
    ),
    "another request": (
        "RPC_SAME_REQUEST_TYPE",
        rpc("StoreMemory", input_type=".satchel.api.store.v1.BatchStoreMemoriesRequest"),
    ),
    "another response": (
        "RPC_SAME_RESPONSE_TYPE",
        rpc("StoreMemory", output_type=".satchel.api.store.v1.BatchStoreMemoriesResponse"),
    ),
    "no longer repeatable": (
        "RPC_SAME_IDEMPOTENCY_LEVEL",
        lambda copy: copy.rpc("GetMemory").options.ClearField("idempotency_level"),
    ),
    "service removed": ("SERVICE_NO_DELETE", lambda copy: copy.store.ClearField("service")),
    "service renamed": (
        "SERVICE_NO_DELETE",
        lambda copy: copy.service.MergeFrom(ServiceDescriptorProto(name="StoreService")),
    ),
    "file removed": (
        "FILE_NO_DELETE",
        lambda copy: remove(copy.image.file, "satchel/api/errors/v1/error_reason.proto"),
    ),
    "another package": (
        "FILE_SAME_PACKAGE",
        lambda copy: copy.file("errors/v1/error_reason").MergeFrom(
            FileDescriptorProto(package="satchel.errors.v1")
        ),
    ),
    "another Go package": (
        "FILE_SAME_GO_PACKAGE",
        lambda copy: copy.store.options.MergeFrom(FileOptions(go_package="example.org/store")),
    ),
    "another Java package": (
        "FILE_SAME_JAVA_PACKAGE",
        lambda copy: copy.store.options.MergeFrom(FileOptions(java_package="org.example.store")),
    ),
    "another Java class": (
        "FILE_SAME_JAVA_OUTER_CLASSNAME",
        lambda copy: copy.store.options.MergeFrom(FileOptions(java_outer_classname="StoreProto")),
    ),
}


def add_rpc(copy: Copy) -> None:
    copy.store.message_type.add(name="CountMemoriesRequest")
    copy.store.message_type.add(name="CountMemoriesResponse")
    copy.service.method.add(
        name="CountMemories",
        input_type=".satchel.api.store.v1.CountMemoriesRequest",
        output_type=".satchel.api.store.v1.CountMemoriesResponse",
    )


def change_every_comment(copy: Copy) -> None:
    for file in copy.image.file:
        for place in file.source_code_info.location:
            place.leading_comments = place.leading_comments and f"{place.leading_comments} And more."


COMPATIBLE: dict[str, Change] = {
    "nothing": lambda copy: None,  # noqa: ARG005
    "new field": lambda copy: copy.message("StoreMemoryRequest").field.append(Field(**NEW)),
    "new member of a oneof": lambda copy: copy.message("ImportMemoriesRequest").field.append(
        Field(**NEW, oneof_index=0)
    ),
    "new enum value": lambda copy: copy.enum("ErrorReason").value.append(
        EnumValueDescriptorProto(name="ERROR_REASON_NEW", number=999)
    ),
    "new message": lambda copy: copy.store.message_type.append(DescriptorProto(name="Shelf")),
    "new RPC": add_rpc,
    "new service": lambda copy: copy.store.service.append(ServiceDescriptorProto(name="ShelfService")),
    "new file": lambda copy: copy.image.file.append(
        FileDescriptorProto(name="satchel/api/types/v1/shelf.proto", package="satchel.api.types.v1")
    ),
    "field deprecated": field("StoreMemoryRequest.title", options=FieldOptions(deprecated=True)),
    "other comments": change_every_comment,
}


@requirement("contract:compatible")
@pytest.mark.parametrize(("rule", "change"), BREAKING.values(), ids=BREAKING)
def test_change_that_would_break_a_client_fails(rule: str, change: Change, tmp_path: Path) -> None:
    copy = Copy()

    change(copy)

    assert rule in broken_rules(copy, tmp_path)


@requirement("contract:compatible")
@pytest.mark.parametrize("change", COMPATIBLE.values(), ids=COMPATIBLE)
def test_change_that_breaks_no_client_passes(change: Change, tmp_path: Path) -> None:
    copy = Copy()

    change(copy)

    assert broken_rules(copy, tmp_path) == set()
