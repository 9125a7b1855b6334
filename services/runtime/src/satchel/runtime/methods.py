"""Provides the name of an RPC in its parts."""

from dataclasses import dataclass
from functools import lru_cache

# These are asked all the time, by machines, and say nothing about the product.
_UNOBSERVED = ("grpc.health.", "grpc.reflection.")


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
    def is_observed(self) -> bool:
        """Whether it is traced and logged: everything is, but health checks and reflection."""
        return not self.path.startswith(tuple(f"/{prefix}" for prefix in _UNOBSERVED))


@lru_cache(maxsize=1024)
def parse_method(path: str) -> Method:
    """Split the path of an RPC."""
    service, _, name = path.removeprefix("/").rpartition("/")
    return Method(path=path, service=service, name=name)
