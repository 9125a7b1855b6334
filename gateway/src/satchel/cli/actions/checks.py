"""What a check of `satchel doctor` says."""

from dataclasses import dataclass
from enum import StrEnum


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


def ok(name: str, detail: str) -> Check:
    """Return a check that came out well."""
    return Check(name, Verdict.OK, detail)


def warn(name: str, detail: str, remedy: str) -> Check:
    """Return a check that found something to know."""
    return Check(name, Verdict.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str) -> Check:
    """Return a check that found a fault."""
    return Check(name, Verdict.FAIL, detail, remedy)
