"""Provides the check of messages against the limits that the contract carries as field options.

A plan is compiled once for each message type from `satchel.api.options.v1` and `google.api.field_behavior`;
running it costs some microseconds. Without any option it is still enforced that texts hold no NUL
character, that enum values are known (and not 0 as items of a list), and that numbers are finite.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol, TypeAlias, cast

from google.api import field_behavior_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from satchel.api.options.v1 import options_pb2
from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.value_checks import Fault, FieldLimits, make_value_check

MAX_VIOLATIONS = 20

# Takes a message, the path of its parent ("" or "a.b.") and the list to add to.
_FieldCheck: TypeAlias = Callable[[Any, str, list[Violation]], None]


class _ItemCheck(Protocol):
    """Checks one value, of a singular field or the item ``index`` of several."""

    def __call__(self, value: Any, path: str, found: list[Violation], index: int | None = None) -> None:  # noqa: ANN401
        """Add what is wrong to ``found``; the path is made only then."""


def validate(message: Message) -> None:
    """Check a message and everything in it.

    Raises:
        InvalidRequest: lists up to 20 violations, in the order of the fields.
    """
    found: list[Violation] = []
    _run(_plan(message.DESCRIPTOR), message, "", found)
    if found:
        raise InvalidRequest(found[:MAX_VIOLATIONS])


def violations_of(message: Message) -> tuple[Violation, ...]:
    """Return what `validate` would raise, without raising."""
    found: list[Violation] = []
    _run(_plan(message.DESCRIPTOR), message, "", found)
    return tuple(found[:MAX_VIOLATIONS])


def _run(plan: tuple[_FieldCheck, ...], message: Message, prefix: str, found: list[Violation]) -> None:
    for check in plan:
        check(message, prefix, found)
        if len(found) >= MAX_VIOLATIONS:
            return


@cache
def _plan(descriptor: Descriptor) -> tuple[_FieldCheck, ...]:
    return tuple(check for field in descriptor.fields for check in _field_checks(field))


def _field_checks(field: FieldDescriptor) -> Iterator[_FieldCheck]:
    limits = _limits_of(field)
    if _is_map(field):
        yield _map_check(field, limits)
    elif field.is_repeated:
        yield _repeated_check(field, limits)
    else:
        yield _singular_check(field, limits)


def _limits_of(field: FieldDescriptor) -> FieldLimits:
    options = field.GetOptions()
    behaviours = options.Extensions[field_behavior_pb2.field_behavior]
    return FieldLimits(
        rules=options.Extensions[options_pb2.field],
        required=field_behavior_pb2.REQUIRED in behaviours,
    )


def _singular_check(field: FieldDescriptor, limits: FieldLimits) -> _FieldCheck:
    name = field.name
    check = _item_check(field, limits)
    has_presence, needs_value = field.has_presence, limits.required

    def run(message: Any, prefix: str, found: list[Violation]) -> None:  # noqa: ANN401
        if has_presence and not message.HasField(name):
            if needs_value:
                found.append(_required(prefix + name))
            return
        value = getattr(message, name)
        if needs_value and not has_presence and not value and isinstance(value, str | bytes):
            found.append(_required(prefix + name))
            return
        check(value, prefix + name, found)

    if field.enum_type is not None and needs_value:
        return _required_enum_check(field, run)
    return run


def _required_enum_check(field: FieldDescriptor, run: _FieldCheck) -> _FieldCheck:
    name = field.name

    def run_required(message: Any, prefix: str, found: list[Violation]) -> None:  # noqa: ANN401
        if getattr(message, name) == 0:
            found.append(_required(prefix + name))
        else:
            run(message, prefix, found)

    return run_required


def _repeated_check(field: FieldDescriptor, limits: FieldLimits) -> _FieldCheck:
    name = field.name
    check = _item_check(field, limits)
    if limits.required and field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        check = _filled(check)

    def run(message: Any, prefix: str, found: list[Violation]) -> None:  # noqa: ANN401
        items = getattr(message, name)
        path = prefix + name
        if not _count_fits(len(items), path, limits, found):
            return
        for index, item in enumerate(items):
            check(item, path, found, index)
            if len(found) >= MAX_VIOLATIONS:
                return

    return run


def _filled(check: _ItemCheck) -> _ItemCheck:
    """Refuse empty texts and bytes before ``check``: a required list is one of values that are there."""

    def run(value: Any, path: str, found: list[Violation], index: int | None = None) -> None:  # noqa: ANN401
        if value:
            check(value, path, found, index)
        else:
            found.append(_required(_indexed(path, index)))

    return run


def _map_check(field: FieldDescriptor, limits: FieldLimits) -> _FieldCheck:
    name = field.name
    entry = cast("Descriptor", field.message_type)
    key_check = _item_check(entry.fields_by_name["key"], FieldLimits.none())
    value_check = _item_check(entry.fields_by_name["value"], limits)

    def run(message: Any, prefix: str, found: list[Violation]) -> None:  # noqa: ANN401
        entries = getattr(message, name)
        path = prefix + name
        if not _count_fits(len(entries), path, limits, found):
            return
        for key, value in entries.items():
            key_check(key, path, found)
            value_check(value, f"{path}[{_shown_key(key)}]", found)
            if len(found) >= MAX_VIOLATIONS:
                return

    return run


def _item_check(field: FieldDescriptor, limits: FieldLimits) -> _ItemCheck:
    sub = field.message_type
    # Google's own types need no walk: JSON-like ones have a check of their own, the rest no limits.
    if sub is not None and sub.full_name.startswith("google.protobuf."):
        sub = None
    value_check = make_value_check(field, limits)

    def check(value: Any, path: str, found: list[Violation], index: int | None = None) -> None:  # noqa: ANN401
        if value_check is not None:
            fault = value_check(value)
            if fault is not None:
                found.append(_violation(_indexed(path, index), fault))
                return
        if sub is not None:
            _run(_plan(sub), value, _indexed(path, index) + ".", found)

    return check


def _count_fits(count: int, path: str, limits: FieldLimits, found: list[Violation]) -> bool:
    rules = limits.rules
    if limits.required and count == 0:
        found.append(_required(path))
    elif rules.max_items and count > rules.max_items:
        found.append(_count_violation(path, "ERROR_REASON_TOO_MANY_ITEMS", "most", rules.max_items, count))
    elif count < rules.min_items:
        found.append(_count_violation(path, "ERROR_REASON_TOO_FEW_ITEMS", "least", rules.min_items, count))
    else:
        return True
    return False


def _count_violation(path: str, reason: str, bound: str, limit: int, count: int) -> Violation:
    remedy = f"send {'fewer' if bound == 'most' else 'more'} at a time"
    description = f"{path} must have at {bound} {limit} items, not {count}: {remedy}."
    return Violation(path, reason, description, limit=str(limit), remedy=remedy, actual=str(count))


def _required(path: str) -> Violation:
    remedy = f"set {path}"
    description = f"{path} is required: {remedy}."
    return Violation(path, "ERROR_REASON_FIELD_REQUIRED", description, limit="required", remedy=remedy)


def _violation(path: str, fault: Fault) -> Violation:
    return Violation(
        path,
        fault.reason,
        f"{path} {fault.text}: {fault.remedy}.",
        limit=fault.limit,
        remedy=fault.remedy,
        actual=fault.actual,
    )


def _indexed(path: str, index: int | None) -> str:
    return path if index is None else f"{path}[{index}]"


def _shown_key(key: object) -> str:
    return repr(key)[:40] if isinstance(key, str) else str(key)


def _is_map(field: FieldDescriptor) -> bool:
    sub = field.message_type
    return field.is_repeated and sub is not None and bool(sub.GetOptions().map_entry)
