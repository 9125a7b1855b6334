"""The server interceptors that every Satchel process runs, in their one right order."""

from satchel.runtime.interceptors.chain import (
    MAX_CONCURRENT_CALLS,
    Authenticator,
    Principal,
    current_principal,
    default_chain,
)

__all__ = ["MAX_CONCURRENT_CALLS", "Authenticator", "Principal", "current_principal", "default_chain"]
