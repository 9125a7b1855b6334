"""The in-process transport: generated stubs and servicers of one process, without a socket between."""

from satchel.runtime.inprocess.channel import InProcessChannel
from satchel.runtime.inprocess.server import InProcessServer

__all__ = ["InProcessChannel", "InProcessServer"]
