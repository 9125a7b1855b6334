"""What a check of `satchel doctor` says, and all that came out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from satchel.api.allocator.v1 import allocator_service_pb2 as pb


class Verdict(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked; ``remedy`` says what to do when it is not as it should be."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Every check, and what the services say of themselves; `None` where they do not answer."""

    checks: Sequence[Check]
    status: pb.GetStatusResponse | None = None

    @property
    def are_healthy(self) -> bool:
        """Whether no check found a fault."""
        return all(check.verdict is not Verdict.FAIL for check in self.checks)


def ok(name: str, detail: str) -> Check:
    """Return a check that came out well."""
    return Check(name, Verdict.OK, detail)


def warn(name: str, detail: str, remedy: str) -> Check:
    """Return a check that found something to know."""
    return Check(name, Verdict.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str) -> Check:
    """Return a check that found a fault."""
    return Check(name, Verdict.FAIL, detail, remedy)
