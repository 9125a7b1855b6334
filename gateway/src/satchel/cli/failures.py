"""Turns whatever ended a command into one sentence on stderr and an exit code."""

import errno
import os
import re
import sys
import traceback

import typer

from satchel.cli.exits import CommandError, Exit, exit_for
from satchel.cli.importing.records import ImportFormatError
from satchel.cli.output import tell_error
from satchel.gateway.problems import failure_of
from satchel.runtime.errors import Code, RemoteError, ServiceError
from satchel.runtime.settings import SettingsError

_INTERNAL = "ERROR_REASON_INTERNAL"
_SEE_HELP = "See 'satchel --help'."
_CODES = {
    Exit.USAGE: (Code.INVALID_ARGUMENT, "ERROR_REASON_MALFORMED_MESSAGE"),
    Exit.NOT_FOUND: (Code.NOT_FOUND, "ERROR_REASON_MEMORY_NOT_FOUND"),
    Exit.UNAVAILABLE: (Code.UNAVAILABLE, "ERROR_REASON_PEER_UNAVAILABLE"),
}
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def report(error: BaseException, *, as_json: bool) -> int:
    """Report an error and return the exit code; a bug of ours shows its traceback only if asked to.

    Set ``SATCHEL_DEBUG=1`` to see tracebacks.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.FAILED
    if isinstance(error, KeyboardInterrupt | typer.Abort) or _is_cancelled(error):
        return Exit.INTERRUPTED
    if os.environ.get("SATCHEL_DEBUG"):
        traceback.print_exception(error)
    failure = _service_error(error) or _plain(error)
    tell_error(failure.message, failure_of(failure, ""), as_json=as_json)
    if isinstance(error, CommandError):
        return error.exit_code
    return exit_for(failure.code)


def describe_os_error(error: OSError) -> str:
    """Return a complete sentence about a file or a folder that could not be used."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else ""
    if error.errno in _FULL:
        return f"The disk {f'of {path} ' if path else ''}is full. Free space on it, then try again."
    if error.errno == errno.ENOENT and path:
        return f"There is no file or folder {path}."
    problem = f"{error.strerror or error}".rstrip(".")
    return f"{path} cannot be used: {problem[:1].lower()}{problem[1:]}." if path else f"{problem}."


def _is_cancelled(error: BaseException) -> bool:
    # Only Ctrl-C cancels a command; where it ends the reading of a stream's input, it arrives in this form.
    return "asyncio" in sys.modules and isinstance(error, sys.modules["asyncio"].CancelledError)


def _service_error(error: BaseException) -> ServiceError | None:
    if isinstance(error, ServiceError):
        return error
    # A gRPC error can only be there if gRPC was imported.
    if "grpc.aio" in sys.modules and isinstance(error, sys.modules["grpc.aio"].AioRpcError):
        from satchel.runtime.status import from_rpc_error  # noqa: PLC0415  # slow, and rarely needed

        return from_rpc_error(error)
    return None


def _plain(error: BaseException) -> ServiceError:
    """Return an error of the command line in the form of the services' own."""
    if isinstance(error, CommandError):
        return _failure(error.message, *_CODES.get(error.exit_code, (Code.FAILED_PRECONDITION, _INTERNAL)))
    if isinstance(error, SettingsError | ImportFormatError):
        return _failure(str(error), *_CODES[Exit.USAGE])
    if hasattr(error, "format_message"):  # typer's own errors: a command line that it cannot read
        return _usage(error, str(error.format_message()))
    if isinstance(error, BrokenPipeError):
        return _failure(
            "The program that read the output went away.", Code.CANCELLED, "ERROR_REASON_CANCELLED"
        )
    if isinstance(error, OSError):
        return _failure(describe_os_error(error), *_code_of(error))
    return _failure(
        f"An unexpected error ended the command ({type(error).__name__}: {error}). "
        "Set SATCHEL_DEBUG=1 to see where, and report it.",
        Code.INTERNAL,
        _INTERNAL,
    )


def _failure(message: str, code: Code, reason: str, **metadata: str) -> ServiceError:
    return RemoteError(message, code=code, reason=reason, metadata=metadata)


def _code_of(error: OSError) -> tuple[Code, str]:
    if error.errno in _FULL:
        return Code.RESOURCE_EXHAUSTED, "ERROR_REASON_STORE_FULL"
    if error.errno in _FORBIDDEN:
        return Code.PERMISSION_DENIED, "ERROR_REASON_PERMISSION_DENIED"
    return Code.FAILED_PRECONDITION, _INTERNAL


def _usage(error: BaseException, text: str) -> ServiceError:
    """Return an error of the command line itself, with the option that is to blame as its field."""
    sentence = re.sub(
        r"Input should be (.*?)(?:, unable to .*)?$", r"it must be \1", text.strip().rstrip(".")
    )
    sentence = sentence.replace("a valid integer", "a whole number").replace("a valid number", "a number")
    name = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", None)
    field = {"field": str(name).lstrip("-")} if name else {}
    reason = _CODES[Exit.USAGE][1]
    if field:
        kind = type(error).__name__
        by_kind = {"MissingParameter": "REQUIRED", "NoSuchOption": "UNKNOWN"}
        reason = f"ERROR_REASON_FIELD_{by_kind.get(kind, 'WRONG_TYPE')}"
    return _failure(f"{sentence}. {_SEE_HELP}", Code.INVALID_ARGUMENT, reason, **field, remedy=_SEE_HELP)
