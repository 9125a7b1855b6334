"""Turns whatever ended a command into one sentence on stderr and an exit code."""

import os
import sys
import traceback

import typer

from satchel.cli.exits import CommandError, Exit, exit_for
from satchel.cli.importing.records import ImportFormatError
from satchel.cli.output import tell_error
from satchel.gateway.problems import failure_of
from satchel.runtime.errors import ServiceError
from satchel.runtime.settings import SettingsError


def report(error: BaseException, *, as_json: bool) -> int:
    """Report an error and return the exit code; a bug of ours shows its traceback only if asked to.

    Set ``SATCHEL_DEBUG=1`` to see tracebacks.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.FAILED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return Exit.INTERRUPTED
    if os.environ.get("SATCHEL_DEBUG"):
        traceback.print_exception(error)
    service_error = _service_error(error)
    if service_error is not None:
        tell_error(service_error.message, failure_of(service_error, ""), as_json=as_json)
        return exit_for(service_error.code)
    message, code = _plain(error)
    tell_error(message, {"error": message, "code": code.name.lower()}, as_json=as_json)
    return code


def _service_error(error: BaseException) -> ServiceError | None:
    if isinstance(error, ServiceError):
        return error
    # A gRPC error can only be there if gRPC was imported.
    if "grpc.aio" in sys.modules and isinstance(error, sys.modules["grpc.aio"].AioRpcError):
        from satchel.runtime.status import from_rpc_error  # noqa: PLC0415  # slow, and rarely needed

        return from_rpc_error(error)
    return None


def _plain(error: BaseException) -> tuple[str, Exit]:
    if isinstance(error, CommandError):
        return error.message, error.exit_code
    if isinstance(error, SettingsError | ImportFormatError):
        return str(error), Exit.USAGE
    if hasattr(error, "format_message"):  # typer's own errors: a command line that it cannot read
        return f"{error.format_message().rstrip('.')}. See 'satchel --help'.", Exit.USAGE
    if isinstance(error, BrokenPipeError):
        return "The program that read the output went away.", Exit.FAILED
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}.", Exit.FAILED
    return (
        f"An unexpected error ended the command ({type(error).__name__}: {error}). "
        "Set SATCHEL_DEBUG=1 to see where, and report it."
    ), Exit.FAILED
