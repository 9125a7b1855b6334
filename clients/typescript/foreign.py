"""Write the contracts of others that the TypeScript client generates: error details and health.

npm has no package that carries their stubs; both come from the locked Python packages of the development
environment, so this needs no network. Run ``python clients/typescript/foreign.py build/foreign.binpb`` at
the root of the repository.
"""

import sys
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.duration_pb2 import DESCRIPTOR as DURATION
from google.rpc.error_details_pb2 import DESCRIPTOR as ERROR_DETAILS
from grpc_health.v1.health_pb2 import DESCRIPTOR as HEALTH


def descriptors() -> FileDescriptorSet:
    """Return the files, each after those that it imports."""
    files = [FileDescriptorProto.FromString(each.serialized_pb) for each in (DURATION, ERROR_DETAILS, HEALTH)]
    files[-1].name = "grpc/health/v1/health.proto"  # its name in the contract; the package renames it
    return FileDescriptorSet(file=files)


def main() -> None:
    """Write the descriptor set to the path that the command line names."""
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(descriptors().SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
