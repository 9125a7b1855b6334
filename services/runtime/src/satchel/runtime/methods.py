"""Provides the name of an RPC in its parts, and what the contract says of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from google.protobuf import descriptor_pb2, descriptor_pool

from satchel.api.options.v1 import options_pb2

# These are asked all the time, by machines, and say nothing about the product.
_UNOBSERVED = ("grpc.health.", "grpc.reflection.")
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


@lru_cache(maxsize=1024)
def parse_method(path: str) -> Method:
    """Split the path of an RPC."""
    service, _, name = path.removeprefix("/").rpartition("/")
    return Method(path=path, service=service, name=name)


def rules_of(method: Method) -> options_pb2.MethodRules:
    """Return what the contract says of an RPC; nothing is set for one of another contract than ours."""
    try:
        service = descriptor_pool.Default().FindServiceByName(method.service)
        return service.FindMethodByName(method.name).GetOptions().Extensions[options_pb2.method]
    except KeyError:
        return options_pb2.MethodRules()


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
    """Return the RPCs of the packaged contracts that a client may repeat, in the order of the contracts."""
    image = descriptor_pb2.FileDescriptorSet.FromString(
        (files("satchel.api") / "descriptors.binpb").read_bytes()
    )
    return tuple(
        parse_method(f"/{file.package}.{service.name}/{method.name}")
        for file in image.file
        for service in file.service
        for method in service.method
        if method.options.Extensions[options_pb2.method].idempotent
    )
