"""What docs/clients.md tells writers of other clients is so."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
CONTRACT = ROOT / "proto/python/src/satchel/api/descriptors.binpb"
# The plugin of a language that is at hand here, and what it makes of a contract.
PLUGIN, MADE = "mypy", "satchel/api/types/v1/trace_pb2.pyi"


def block(name: str) -> str:
    """Return the command under a mark."""
    found = re.search(rf"<!-- {name} -->\n```bash\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def contract() -> FileDescriptorSet:
    return FileDescriptorSet.FromString(CONTRACT.read_bytes())


@requirement("clients:any-language", "docs:true")
@pytest.mark.parametrize("tool", ["protoc", "buf"])
def test_command_generates_stubs_without_a_file_of_others(tool: str, tmp_path: Path) -> None:
    command = block(tool).replace("LANG", PLUGIN)
    command = command.replace("_out=gen", f"_out={tmp_path}").replace('"out": "gen"', f'"out": "{tmp_path}"')
    compiler = f'protoc() {{ {shlex.quote(sys.executable)} -m grpc_tools.protoc "$@"; }}\n'

    subprocess.run(
        ["/bin/bash", "-ec", compiler + command], cwd=ROOT, check=True, capture_output=True, timeout=60
    )

    assert (tmp_path / MADE).is_file()


@requirement("docs:true")
def test_every_reason_that_is_named_exists() -> None:
    named = set(re.findall(r"ERROR_REASON_\w+", PAGE))

    assert named
    assert named <= set(error_reason_pb2.ErrorReason.keys())


@requirement("docs:true")
def test_every_rpc_of_a_stream_is_told_of() -> None:
    methods = [one for file in contract().file for service in file.service for one in service.method]

    for method in methods:
        if method.client_streaming or method.server_streaming:
            assert f"`{method.name}`" in PAGE, method.name


@requirement("docs:true")
def test_every_service_is_told_of() -> None:
    for file in contract().file:
        if file.service:
            assert f"`{file.package}`" in PAGE, file.package


@requirement("docs:true")
def test_fields_that_are_said_to_have_presence_have_it() -> None:
    fields = [one for file in contract().file for message in file.message_type for one in message.field]
    optional = {field.name for field in fields if field.proto3_optional}
    (named,) = re.findall(r"the field is `optional` \((.*?)\)", " ".join(PAGE.split()))

    assert set(re.findall(r"`(\w+)`", named)) <= optional
