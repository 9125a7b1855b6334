"""Who may call what: the contract says which right an RPC needs, and every server holds to it."""

from collections.abc import Sequence

import grpc
import pytest
from contract.runtime.transports import Opener

from requirements import requirement
from satchel.api.options.v1 import options_pb2
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.runtime import methods
from satchel.runtime.errors import ServiceError, Unauthenticated
from satchel.runtime.inprocess import InProcessServer
from satchel.runtime.interceptors import Principal
from satchel.runtime.interceptors.auth import local_owner
from satchel.runtime.methods import Method, parse_method, rules_of
from satchel.runtime.propagation import Metadatum
from satchel.runtime.server import GrpcServer
from satchel.runtime.status import from_rpc_error

ID = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
REFUSAL = "MemoryService/GetMemory does not say which right it needs"
RIGHTS = {
    "nothing": options_pb2.ACCESS_PUBLIC,
    "read": options_pb2.ACCESS_READ,
    "write": options_pb2.ACCESS_WRITE,
    "admin": options_pb2.ACCESS_ADMIN,
}
Context = grpc.aio.ServicerContext[pb.DeleteMemoryRequest, pb.DeleteMemoryResponse]


class Memories(rpc.MemoryServiceServicer):
    """Answers anything with nothing."""

    def register(self, server: grpc.aio.Server) -> None:
        rpc.add_MemoryServiceServicer_to_server(self, server)

    async def GetStoreStatus(  # noqa: N802
        self,
        request: pb.GetStoreStatusRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.GetStoreStatusRequest, pb.GetStoreStatusResponse],  # noqa: ARG002
    ) -> pb.GetStoreStatusResponse:
        return pb.GetStoreStatusResponse()

    async def DeleteMemory(  # noqa: N802
        self,
        request: pb.DeleteMemoryRequest,  # noqa: ARG002
        context: Context,  # noqa: ARG002
    ) -> pb.DeleteMemoryResponse:
        return pb.DeleteMemoryResponse()


def memories() -> Memories:
    return Memories()  # type: ignore[abstract]  # only what is called here


async def by_key(metadata: Sequence[Metadatum]) -> Principal:
    """Take the key for the name of the right that it carries."""
    key = str(dict(metadata).get("authorization", "")).removeprefix("Bearer ")
    if key not in RIGHTS:
        raise Unauthenticated
    return Principal(key, RIGHTS[key])


async def refusal(opener: Opener, key: str, name: str) -> ServiceError | None:
    """Call a method with a key and return what refused it."""
    async with opener(by_key, more=[memories()]) as reach:
        stub = rpc.MemoryServiceStub(reach.channel)
        metadata = (("authorization", f"Bearer {key}"),) if key else ()
        try:
            if name == "read":
                await stub.GetStoreStatus(pb.GetStoreStatusRequest(), metadata=metadata)
            else:
                await stub.DeleteMemory(pb.DeleteMemoryRequest(id=ID), metadata=metadata)
        except grpc.aio.AioRpcError as error:
            return from_rpc_error(error)
    return None


@requirement("contract:rights")
@pytest.mark.parametrize(
    ("key", "name"), [("read", "read"), ("write", "read"), ("write", "write"), ("admin", "write")]
)
async def test_right_includes_those_before_it(opener: Opener, key: str, name: str) -> None:
    assert await refusal(opener, key, name) is None


@requirement("rpc:callers")
@pytest.mark.parametrize(("key", "name"), [("nothing", "read"), ("nothing", "write"), ("read", "write")])
async def test_caller_without_the_right_is_refused(opener: Opener, key: str, name: str) -> None:
    error = await refusal(opener, key, name)

    assert error is not None
    assert (error.code.name, error.reason) == ("PERMISSION_DENIED", "ERROR_REASON_PERMISSION_DENIED")
    assert error.metadata == {"needed": name}


@requirement("rpc:callers")
@pytest.mark.parametrize("key", ["", "sk_unknown"])
async def test_caller_without_a_known_key_is_refused(opener: Opener, key: str) -> None:
    error = await refusal(opener, key, "read")

    assert error is not None
    assert (error.code.name, error.reason) == ("UNAUTHENTICATED", "ERROR_REASON_UNAUTHENTICATED")


@requirement("rpc:callers")
async def test_public_method_is_for_callers_without_a_key(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = options_pb2.MethodRules(access=options_pb2.ACCESS_PUBLIC)
    monkeypatch.setattr("satchel.runtime.interceptors.auth.rules_of", lambda _: public)

    assert await refusal(opener, "", "read") is None


@requirement("rpc:callers")
async def test_local_owner_may_do_everything() -> None:
    assert (await local_owner(())).right == max(options_pb2.Access.values())


@requirement("contract:rights")
async def test_rpc_that_names_no_right_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(method: Method) -> options_pb2.MethodRules:
        return options_pb2.MethodRules() if method.name == "GetMemory" else rules_of(method)

    monkeypatch.setattr(methods, "rules_of", forgetful)

    with pytest.raises(ValueError, match=REFUSAL):
        memories().register(InProcessServer())
    with pytest.raises(ValueError, match=REFUSAL):
        GrpcServer(["127.0.0.1:0"]).register(memories())


@requirement("contract:rights")
def test_rpc_of_another_contract_has_no_rules() -> None:
    assert rules_of(parse_method("/grpc.health.v1.Health/Check")) == options_pb2.MethodRules()
