"""Provides the name of an RPC in its parts, and what the contract says of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from google.api import annotations_pb2
from google.protobuf import descriptor_pb2, descriptor_pool

from satchel.api.options.v1 import options_pb2

# These are asked all the time, by machines, and say nothing about the product.
_REFLECTION = "grpc.reflection."
_UNOBSERVED = ("grpc.health.", _REFLECTION)
_OURS = "satchel.api."


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC: ``path`` is "/package.Service/Name"; ``service`` includes the package."""

    path: str
    service: str
    name: str

    @property
    def label(self) -> str:
        """The name of its spans: "package.Service/Name"."""
        return self.path.removeprefix("/")

    @property
    def peer(self) -> str:
        """Who answers it: "store" for ``satchel.api.store.v1``, else the name of the service."""
        if not self.service.startswith(_OURS):
            return self.service
        return self.service.removeprefix(_OURS).partition(".")[0]

    @property
    def is_observed(self) -> bool:
        """Whether it is traced and logged: everything is, but health checks and reflection."""
        return not self.path.startswith(tuple(f"/{prefix}" for prefix in _UNOBSERVED))

    @property
    def is_reflection(self) -> bool:
        """Whether it tells which services and messages there are."""
        return self.path.startswith(f"/{_REFLECTION}")


@lru_cache(maxsize=1024)
def parse_method(path: str) -> Method:
    """Split the path of an RPC."""
    service, _, name = path.removeprefix("/").rpartition("/")
    return Method(path=path, service=service, name=name)


def rules_of(method: Method) -> options_pb2.MethodRules:
    """Return what the contract says of an RPC; nothing is set for one of another contract than ours."""
    options = _options_of(method)
    return options_pb2.MethodRules() if options is None else options.Extensions[options_pb2.method]


def deletes(method: Method) -> bool:
    """Say whether an RPC deletes: whether its route, or one of them, has the verb DELETE."""
    options = _options_of(method)
    if options is None:
        return False
    rule = options.Extensions[annotations_pb2.http]
    return any(one.WhichOneof("pattern") == "delete" for one in (rule, *rule.additional_bindings))


@lru_cache(maxsize=1024)
def has_route(method: Method) -> bool:
    """Say whether an RPC has a route at the REST door, which tells that it is for clients."""
    options = _options_of(method)
    return options is not None and options.HasExtension(annotations_pb2.http) and not rules_of(method).hidden


def _options_of(method: Method) -> descriptor_pb2.MethodOptions | None:
    try:
        service = descriptor_pool.Default().FindServiceByName(method.service)
        return service.FindMethodByName(method.name).GetOptions()
    except KeyError:
        return None


def require_access_rules(service: str, names: Iterable[str]) -> None:
    """Refuse to serve RPCs of ours that do not say which right they need.

    Raises:
        ValueError: names the RPC.
    """
    if not service.startswith(_OURS):
        return
    for name in names:
        if rules_of(Method(f"/{service}/{name}", service, name)).access == options_pb2.ACCESS_UNSPECIFIED:
            raise ValueError(
                f"{service}/{name} does not say which right it needs. "
                "Set 'access' in its option (satchel.api.options.v1.method)."
            )


@cache
def idempotent_methods() -> tuple[Method, ...]:
    """Return the RPCs of the packaged contracts that a client may always repeat, in their order."""
    image = descriptor_pb2.FileDescriptorSet.FromString(
        (files("satchel.api") / "descriptors.binpb").read_bytes()
    )
    return tuple(
        parse_method(f"/{file.package}.{service.name}/{method.name}")
        for file in image.file
        for service in file.service
        for method in service.method
        if method.options.idempotency_level != descriptor_pb2.MethodOptions.IDEMPOTENCY_UNKNOWN
    )
