"""Loads the contract: services, routes, rules and comments, from a descriptor set.

Everything a door shows or enforces is read from here, so that a new RPC needs no code in the gateway.
A contract lives in a descriptor pool of its own: two contracts may be loaded side by side.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from google.api import annotations_pb2, field_behavior_pb2, http_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from satchel.api.options.v1 import options_pb2

_VERBS = ("get", "put", "post", "delete", "patch")

# Numbers of fields in descriptor.proto, by which comments are addressed.
_FILE_MESSAGES, _FILE_ENUMS, _FILE_SERVICES = 4, 5, 6
_MESSAGE_FIELDS, _MESSAGE_NESTED, _MESSAGE_ENUMS = 2, 3, 4
_ENUM_VALUES = _SERVICE_METHODS = 2


@dataclass(frozen=True, slots=True)
class HttpRule:
    """One `google.api.http` binding.

    ``verb`` is upper case; ``template`` such as ``/api/v1/memories/{id}``; ``body`` is empty, ``*`` or a
    field; ``response_body`` is empty for the whole response, or a field of it.
    """

    verb: str
    template: str
    body: str
    response_body: str


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC with everything that doors need to know of it."""

    service: str
    name: str
    input: Descriptor
    output: Descriptor
    comment: str
    http: tuple[HttpRule, ...]
    http_success: int
    access: int
    is_streaming: bool
    is_hidden: bool

    @property
    def full_name(self) -> str:
        """The name as in "satchel.api.store.v1.MemoryService/GetMemory"."""
        return f"{self.service}/{self.name}"

    @property
    def path(self) -> str:
        """The path by which gRPC calls it."""
        return f"/{self.full_name}"

    @property
    def is_write(self) -> bool:
        """Whether it may change what is stored."""
        return self.access >= options_pb2.ACCESS_WRITE


class Contract:
    """The services of one descriptor set, with their comments."""

    def __init__(self, image: descriptor_pb2.FileDescriptorSet) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        self._comments: dict[str, str] = {}
        for file in image.file:
            self._pool.AddSerializedFile(file.SerializeToString())
            self._comments.update(_comments_of(file))
        services = (
            self._pool.FindServiceByName(f"{file.package}.{service.name}")
            for file in image.file
            for service in file.service
        )
        rpcs = (self._rpc(method) for service in services for method in _methods_of(service))
        self.rpcs: Mapping[str, Rpc] = {rpc.full_name: rpc for rpc in rpcs}

    def comment(self, full_name: str) -> str:
        """Return the comment of a message, field, enum, value, service or RPC; empty if it has none."""
        return self._comments.get(full_name, "")

    def message(self, full_name: str) -> Descriptor:
        """Return the descriptor of a message.

        Raises:
            KeyError: the contract has no such message.
        """
        return self._pool.FindMessageTypeByName(full_name)

    def messages(self) -> Iterator[Descriptor]:
        """Yield every message that an RPC takes or returns, each once, with the messages inside."""
        seen: set[str] = set()
        for rpc in self.rpcs.values():
            yield from _reachable((rpc.input, rpc.output), seen)

    def _rpc(self, method: MethodDescriptor) -> Rpc:
        options = method.GetOptions()
        rules = options.Extensions[options_pb2.method]
        name = f"{method.containing_service.full_name}.{method.name}"
        return Rpc(
            service=method.containing_service.full_name,
            name=method.name,
            input=method.input_type,
            output=method.output_type,
            comment=self.comment(name),
            http=tuple(_http_rules(options)),
            http_success=rules.http_success or 200,
            access=rules.access,
            is_streaming=method.client_streaming or method.server_streaming,
            is_hidden=rules.hidden,
        )


def load_contract(image: bytes | None = None) -> Contract:
    """Load a serialised descriptor set; without one, the contract that ships with Satchel.

    Raises:
        google.protobuf.message.DecodeError: the bytes are no descriptor set.
    """
    data = (files("satchel.api") / "descriptors.binpb").read_bytes() if image is None else image
    return Contract(descriptor_pb2.FileDescriptorSet.FromString(data))


def message_class(descriptor: Descriptor) -> type[Message]:
    """Return the class of a message."""
    return message_factory.GetMessageClass(descriptor)


@cache
def rules_of(field: FieldDescriptor) -> options_pb2.FieldRules:
    """Return the limits of a field; an empty message if it has none."""
    return field.GetOptions().Extensions[options_pb2.field]


@cache
def is_required(field: FieldDescriptor) -> bool:
    """Say whether a request must set the field."""
    return field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]


@cache
def is_map(field: FieldDescriptor) -> bool:
    """Say whether the field is a map."""
    sub = field.message_type
    return bool(field.is_repeated and sub is not None and sub.GetOptions().map_entry)


def _methods_of(service: ServiceDescriptor) -> Iterable[MethodDescriptor]:
    return service.methods


def _http_rules(options: descriptor_pb2.MethodOptions) -> Iterator[HttpRule]:
    if not options.HasExtension(annotations_pb2.http):
        return
    rule = options.Extensions[annotations_pb2.http]
    for binding in (rule, *rule.additional_bindings):
        yield _http_rule(binding)


def _http_rule(rule: http_pb2.HttpRule) -> HttpRule:
    kind = rule.WhichOneof("pattern")
    if kind == "custom":
        return HttpRule(rule.custom.kind.upper(), rule.custom.path, rule.body, rule.response_body)
    if kind not in _VERBS:
        raise ValueError(f"A google.api.http rule has no path: {rule}")
    return HttpRule(kind.upper(), getattr(rule, kind), rule.body, rule.response_body)


def _reachable(descriptors: Iterable[Descriptor | None], seen: set[str]) -> Iterator[Descriptor]:
    for descriptor in descriptors:
        if descriptor is None or descriptor.full_name in seen:
            continue
        seen.add(descriptor.full_name)
        if not descriptor.GetOptions().map_entry:
            yield descriptor
        yield from _reachable((field.message_type for field in descriptor.fields), seen)


def _comments_of(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    names = dict(_addresses(file))
    for location in file.source_code_info.location:
        name = names.get(tuple(location.path))
        if name and location.leading_comments:
            yield name, _clean(location.leading_comments)


def _addresses(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield (path in the file, full name) of all that carries comments."""
    for index, message in enumerate(file.message_type):
        yield from _message_addresses((_FILE_MESSAGES, index), file.package, message)
    for index, enum in enumerate(file.enum_type):
        yield from _enum_addresses((_FILE_ENUMS, index), file.package, enum)
    for index, service in enumerate(file.service):
        name = f"{file.package}.{service.name}"
        yield (_FILE_SERVICES, index), name
        for number, method in enumerate(service.method):
            yield (_FILE_SERVICES, index, _SERVICE_METHODS, number), f"{name}.{method.name}"


def _message_addresses(
    path: tuple[int, ...], parent: str, message: descriptor_pb2.DescriptorProto
) -> Iterator[tuple[tuple[int, ...], str]]:
    name = f"{parent}.{message.name}"
    yield path, name
    for index, field in enumerate(message.field):
        yield (*path, _MESSAGE_FIELDS, index), f"{name}.{field.name}"
    for index, nested in enumerate(message.nested_type):
        yield from _message_addresses((*path, _MESSAGE_NESTED, index), name, nested)
    for index, enum in enumerate(message.enum_type):
        yield from _enum_addresses((*path, _MESSAGE_ENUMS, index), name, enum)


def _enum_addresses(
    path: tuple[int, ...], parent: str, enum: descriptor_pb2.EnumDescriptorProto
) -> Iterator[tuple[tuple[int, ...], str]]:
    yield path, f"{parent}.{enum.name}"
    for index, value in enumerate(enum.value):
        yield (*path, _ENUM_VALUES, index), f"{parent}.{enum.name}.{value.name}"


def _clean(comment: str) -> str:
    """Return paragraphs on one line each, separated by an empty line."""
    paragraphs = "\n".join(line.strip() for line in comment.strip().splitlines()).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
