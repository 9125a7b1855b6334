"""The Python client of Satchel.

    from satchel.client import Satchel

    with Satchel() as satchel:
        satchel.remember("We chose PostgreSQL over MySQL because the ledger needs ACID.")
        print(satchel.recall("Which database does the ledger use?", budget=2000).context)

`AsyncSatchel` is the same for asyncio. Both need grpcio, protobuf and googleapis-common-protos, and nothing
else of what Satchel itself needs.
"""

from satchel.client.address import AddressError
from satchel.client.aio import AsyncSatchel
from satchel.client.aio_streams import AsyncWatch
from satchel.client.errors import (
    Aborted,
    AlreadyExists,
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    SatchelError,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    Violation,
    explain,
)
from satchel.client.fields import CandidateFields, NewMemory
from satchel.client.importing import Imported, ImportReport
from satchel.client.serving import Serving
from satchel.client.sync import Satchel
from satchel.client.sync_streams import Watch
from satchel.client.vectors import Embedding, pack, unpack

__all__ = [
    "Aborted",
    "AddressError",
    "AlreadyExists",
    "AsyncSatchel",
    "AsyncWatch",
    "Cancelled",
    "CandidateFields",
    "DeadlineExceeded",
    "Embedding",
    "FailedPrecondition",
    "ImportReport",
    "Imported",
    "Internal",
    "InvalidArgument",
    "NewMemory",
    "NotFound",
    "PermissionDenied",
    "ResourceExhausted",
    "Satchel",
    "SatchelError",
    "Serving",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Violation",
    "Watch",
    "explain",
    "pack",
    "unpack",
]
