"""Provides keys: who calls, told by a bearer token, and what that caller may do. Needs no transport.

Tokens are kept as SHA-256 digests and compared in constant time, all of them for every call: neither the
time of an answer nor the memory of the process tells a token.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from satchel.api.options.v1 import options_pb2
from satchel.runtime.setting_types import BadValue
from satchel.runtime.settings import Secret, SettingsError, load, setting

PREFIX = "SATCHEL"

Right = Literal["read", "write", "admin"]

_RIGHTS: dict[str, "options_pb2.Access.ValueType"] = {
    "read": options_pb2.ACCESS_READ,
    "write": options_pb2.ACCESS_WRITE,
    "admin": options_pb2.ACCESS_ADMIN,
}
_SCHEME = "bearer"
_OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls and what it may do. ``subject`` names a person, a key or a service.

    ``right`` is a value of ``satchel.api.options.v1.Access``; each includes the ones before it, except that
    without ``may_delete`` nothing can be deleted. ``projects`` are those that can be reached; empty for all.
    """

    subject: str
    right: "options_pb2.Access.ValueType" = options_pb2.ACCESS_PUBLIC
    may_delete: bool = True
    projects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Key:
    """A named key and its rights."""

    name: str
    token: Secret
    right: Right = "read"
    may_delete: bool = True
    projects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a key that could not be sent, or whose rights contradict each other."""
        if not self.name:
            raise BadValue("has a key without a name", "a name")
        check_token(self.token, f"has the key '{self.name}', whose token")
        if self.projects and self.right == "admin":
            raise BadValue(
                f"has the key '{self.name}', which administers and is limited to projects: "
                "an installation is administered as a whole",
                "'read' or 'write', or no projects",
            )

    @property
    def principal(self) -> Principal:
        """Who calls with this key."""
        return Principal(self.name, _RIGHTS[self.right], self.may_delete, frozenset(self.projects))


@dataclass(frozen=True, slots=True)
class KeySettings:
    """The keys of an installation. Without any, whoever can reach it is its owner."""

    auth_token: Secret = setting(
        Secret(""),
        "Token that may do everything; services that run apart also call each other with it. With a token or "
        "a key, every door asks for one.",
    )
    keys: tuple[Key, ...] = setting(
        (),
        "Further keys, as a JSON list of objects: 'name', 'token', 'right' (read, write or admin), "
        "'may_delete' (true) and 'projects' (all).",
    )

    def __post_init__(self) -> None:
        """Refuse tokens that cannot be sent or told apart."""
        if self.auth_token:
            check_token(self.auth_token, "auth_token")
        tokens = [key.token.reveal() for key in self.keys] + [self.auth_token.reveal()]
        names = [key.name for key in self.keys]
        if len(set(tokens)) < len(tokens) or len(set(names)) < len(names):
            raise ValueError("Two keys have the same name or the same token. Give each its own.")

    @property
    def are_set(self) -> bool:
        """Whether callers need a key."""
        return bool(self.auth_token or self.keys)

    def for_peers(self, own: Secret | None) -> Secret | None:
        """Return the key with which a service calls others: its own, else the token of the installation.

        Raises:
            SettingsError: callers need a key, and there is none to call with.
        """
        key = own or self.auth_token
        if self.are_set and not key:
            raise SettingsError(
                "Services that run apart call each other with SATCHEL_AUTH_TOKEN, and only named keys are "
                "set. Set SATCHEL_AUTH_TOKEN as well, to the same value for every service."
            )
        return key or None


def load_keys(environ: Mapping[str, str] | None = None) -> KeySettings:
    """Read ``SATCHEL_AUTH_TOKEN`` and ``SATCHEL_KEYS``.

    Raises:
        SettingsError: one of them is unusable; names no token.
    """
    return load(KeySettings, PREFIX, environ)


class KeyRing:
    """Tells callers apart by their tokens. Empty, it knows nobody."""

    def __init__(self, settings: KeySettings | None = None) -> None:
        self._known = tuple(_entries(settings or KeySettings()))

    def __bool__(self) -> bool:
        return bool(self._known)

    def identify(self, authorization: str) -> Principal | None:
        """Return who sends this value of the header ``authorization``; `None` for nobody that is known."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != _SCHEME:
            return None
        digest = _digest(token.strip())
        found = None
        for known, principal in self._known:
            if hmac.compare_digest(known, digest):
                found = principal
        return found


def check_token(token: Secret, subject: str) -> None:
    """Refuse a token that no header can carry.

    Raises:
        BadValue: names ``subject``, and never the token.
    """
    text = token.reveal()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise BadValue(
            f"{subject} is empty or holds other characters than printable ASCII without blanks",
            "printable ASCII without blanks",
        )


def _entries(settings: KeySettings) -> Iterator[tuple[bytes, Principal]]:
    if settings.auth_token:
        yield _digest(settings.auth_token.reveal()), Principal(_OWNER, options_pb2.ACCESS_ADMIN)
    for key in settings.keys:
        yield _digest(key.token.reveal()), key.principal


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
