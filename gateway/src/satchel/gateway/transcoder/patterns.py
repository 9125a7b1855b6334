"""Regular expressions of schemas, in the syntax shared by ECMA 262 and Python."""

import re

from google.protobuf.descriptor import Descriptor

from satchel.api.options.v1 import options_pb2
from satchel.runtime import value_checks

NO_NUL = r"^[^\u0000]*$"
_NOT_BLANK = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
_NOT_BLANK_OR_EMPTY = r"^(?:[^\u0000]*[^\s\u0000][^\u0000]*)?$"


def form_of(rules: options_pb2.FieldRules) -> str:
    """Return the expression that a whole non-empty text must match; empty if none is asked for."""
    if rules.pattern:
        return rules.pattern
    known = value_checks.FORMATS.get(rules.format)
    return known[0] if known else ""


def shown(rules: options_pb2.FieldRules) -> str:
    """Return what a reader needs to know: the form, or that the text must not be blank."""
    form = form_of(rules)
    if form:
        return f"^{form}$"
    return r"\S" if rules.not_blank else ""


def accepted(rules: options_pb2.FieldRules, *, is_needed: bool) -> str:
    """Return exactly what passes the validator; an optional text may be empty, which means absent."""
    form = form_of(rules)
    if form:
        return f"^{form}$" if is_needed else f"^(?:{form})?$"
    if rules.not_blank:
        return _NOT_BLANK if is_needed else _NOT_BLANK_OR_EMPTY
    return NO_NUL


def comma_list(rules: options_pb2.FieldRules) -> str:
    """Return the form of items with commas, as the codec splits them: space and empty items are dropped."""
    form = form_of(rules)
    if not form:
        return NO_NUL
    item = rf"\s*(?:(?:{form})\s*)?"
    return rf"^{item}(?:,{item}){{0,{max(rules.max_items, 1) - 1}}}$"


def whole_number(least: int, most: int) -> str:
    """Return a form of digits that only has numbers between the bounds, though not all of them."""
    digits = max(len(str(most)) - 2, 0)
    whole = f"0|[1-9][0-9]{{0,{digits - 1}}}" if digits > 1 else "0|[1-9]" if most > 8 else "0"  # noqa: PLR2004
    return f"^(?:{whole})$" if least <= 0 else f"^{least}$"


def number(rules: options_pb2.FieldRules) -> str:
    """Return a form of decimals that only has numbers between the bounds, though not all of them."""
    if rules.minimum > 0:
        end = rules.maximum if rules.HasField("maximum") else rules.minimum
        return f"^{re.escape(f'{end:g}')}$"
    if rules.HasField("maximum") and rules.maximum < 10:  # noqa: PLR2004  # two digits
        return r"^0(?:\.[0-9]{1,9})?$"
    return r"^(?:0|[1-9][0-9]{0,5})(?:\.[0-9]{1,9})?$"


def mask(descriptor: Descriptor) -> str:
    """Return the form of a mask over the fields of a message."""
    names = "|".join(
        field.name
        for field in descriptor.fields
        if field.message_type is None or field.message_type.name != "FieldMask"
    )
    return f"^(?:(?:{names})(?:,(?:{names}))*)?$"
