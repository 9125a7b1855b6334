"""The server interceptors that every Satchel process runs, in their one right order."""

from satchel.runtime.interceptors.chain import Authenticator, Principal, current_principal, default_chain

__all__ = ["Authenticator", "Principal", "current_principal", "default_chain"]
