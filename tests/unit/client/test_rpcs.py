import inspect
import json
from typing import Any, get_args

import pytest

from satchel.api.options.v1 import options_pb2
from satchel.client import AsyncSatchel, Satchel, rpcs
from satchel.client.rpcs import Rpc, channel_options, repeatable

CONSTANTS = {
    name: (rpc, annotation)
    for name, annotation in inspect.get_annotations(rpcs).items()
    if isinstance(rpc := getattr(rpcs, name), Rpc) and rpc is not rpcs.CHECK
}
# The client gives these a request id.
WRITES = {"StoreMemory", "BatchStoreMemories", "UpdateMemory", "DeleteMemory"}


def method_of(rpc: Rpc[Any, Any]) -> Any:  # noqa: ANN401
    """Return the contract's description of an RPC."""
    service = rpc.stub.__name__.removesuffix("Stub")
    (file,) = (each.DESCRIPTOR for each in rpcs._FILES if service in each.DESCRIPTOR.services_by_name)
    return file.services_by_name[service].methods_by_name[rpc.name]


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_rpc_has_the_types_and_the_part_of_the_contract(name: str) -> None:
    rpc, annotation = CONSTANTS[name]
    method = method_of(rpc)
    request, answer = get_args(annotation)

    assert (method.input_type, method.output_type) == (request.DESCRIPTOR, answer.DESCRIPTOR)
    assert method.full_name.startswith(f"satchel.api.{rpc.part}.v1.")


@pytest.mark.parametrize("name", CONSTANTS)
def test_only_what_can_do_nothing_twice_is_repeated(name: str) -> None:
    method = method_of(CONSTANTS[name][0])
    only_reads = method.GetOptions().Extensions[options_pb2.method].access == options_pb2.ACCESS_READ
    is_harmless = only_reads or method.name in WRITES

    assert ((method.containing_service.full_name, method.name) in set(repeatable())) == is_harmless


def test_an_import_is_never_repeated_by_itself() -> None:
    assert "ImportMemories" not in {method for _, method in repeatable()}


def test_only_unavailable_is_a_reason_to_repeat() -> None:
    (config,) = json.loads(str(dict(channel_options())["grpc.service_config"]))["methodConfig"]

    assert config["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]


def public(client: type) -> dict[str, list[str]]:
    """Return the public methods of a client with the names of their parameters."""
    return {
        name: list(inspect.signature(member).parameters)
        for name, member in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_methods() -> None:
    assert public(Satchel) == public(AsyncSatchel)
