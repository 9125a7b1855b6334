"""One contract, all doors: a new RPC needs a contract and nothing else."""

import asyncio
from importlib.resources import files
from pathlib import Path

import google.api
import grpc
import httpx2
import pytest
from google.protobuf.message import Message
from grpc_tools import protoc

from requirements import requirement
from satchel.gateway.app import build_app
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder.descriptors import Contract, load_contract, message_class
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain

PROTO = Path(__file__).resolve().parents[3] / "proto"
NEW_SERVICE = """
syntax = "proto3";
package satchel.api.store.v1;
import "google/api/annotations.proto";
import "google/api/field_behavior.proto";
import "satchel/api/options/v1/options.proto";

// Praises memories.
service PraiseService {
  // Praises a memory, so many times.
  rpc PraiseMemory(PraiseMemoryRequest) returns (PraiseMemoryResponse) {
    option (google.api.http) = {
      post: "/api/v1/memories/{id}/praise"
      body: "*"
    };
    option (satchel.api.options.v1.method) = {
      http_success: 202
      access: ACCESS_WRITE
    };
  }
}

// How to praise.
message PraiseMemoryRequest {
  // Which memory.
  string id = 1 [(google.api.field_behavior) = REQUIRED];
  // How often, at most three times.
  int32 times = 2 [(satchel.api.options.v1.field) = {minimum: 1 maximum: 3}];
}

// How it went.
message PraiseMemoryResponse {
  // What was said.
  string praise = 1;
}
"""
METHOD = "satchel.api.store.v1.PraiseService/PraiseMemory"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Contract:
    """The contract as it is in the repository, with one service more."""
    folder = tmp_path_factory.mktemp("contracts")
    for source in PROTO.rglob("satchel/**/*.proto"):
        copy = folder / source.relative_to(PROTO)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "satchel/api/store/v1/praise_service.proto").write_text(NEW_SERVICE, encoding="utf-8")
    image = folder / "image.binpb"
    common = Path(next(iter(google.api.__path__))).parent.parent
    arguments = [
        "protoc",
        f"-I{folder}",
        f"-I{files('grpc_tools') / '_proto'}",
        f"-I{common}",
        "--include_source_info",
        "--include_imports",
        f"--descriptor_set_out={image}",
        *sorted(str(path) for path in folder.rglob("*.proto")),
    ]
    assert protoc.main(arguments) == 0
    return load_contract(image.read_bytes())


class Praising(grpc.GenericRpcHandler):
    """The service behind the new RPC, from its descriptors alone."""

    def __init__(self, contract: Contract) -> None:
        rpc = contract.rpcs[METHOD]
        self._request, self._response = message_class(rpc.input), message_class(rpc.output)

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Message, Message] | None":
        if details.method != f"/{METHOD}":
            return None
        return grpc.unary_unary_rpc_method_handler(
            self._praise,
            request_deserializer=self._request.FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )

    async def _praise(self, request: Message, _context: object) -> Message:
        await asyncio.sleep(0)
        return self._response(praise="good " * getattr(request, "times"))  # noqa: B009


@requirement("contract:new-rpc")
async def test_a_new_rpc_is_a_route_in_openapi_and_its_limit_is_enforced(grown: Contract) -> None:
    async with InProcessServer(default_chain()) as server:
        server.add_generic_rpc_handlers((Praising(grown),))
        app = build_app(Clients.over(InProcessChannel(server)), contract=grown)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1"
        ) as http:
            praised = await http.post("/api/v1/memories/m1/praise", json={"times": 2})
            refused = await http.post("/api/v1/memories/m1/praise", json={"times": 4})
            operation = (await http.get("/openapi.json")).json()["paths"]["/api/v1/memories/{id}/praise"][
                "post"
            ]

    assert (praised.status_code, praised.json()) == (202, {"praise": "good good "})
    assert refused.status_code == 422
    assert (refused.json()["field"], refused.json()["limit"]) == ("times", "from 1 to 3")
    assert operation["summary"] == "Praises a memory, so many times"
    times = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["times"]
    assert (times["minimum"], times["maximum"]) == (1, 3)
    assert times["description"] == "How often, at most three times."
    assert [parameter["name"] for parameter in operation["parameters"]] == ["id"]
