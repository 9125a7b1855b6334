"""Regular expressions of schemas, in the syntax shared by ECMA 262 and Python."""

from decimal import Decimal

from google.protobuf.descriptor import Descriptor

from satchel.api.options.v1 import options_pb2
from satchel.gateway.transcoder.number_forms import decimal
from satchel.gateway.transcoder.requests import updatable
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
    if rules.min_length and not is_needed:
        return rf"^(?:[^\u0000]{{{rules.min_length},}})?$"
    return NO_NUL


def comma_list(rules: options_pb2.FieldRules) -> str:
    """Return the form of items with commas, as the codec splits them: space and empty items are dropped."""
    form = form_of(rules)
    if not form:
        return NO_NUL
    item = rf"\s*(?:(?:{form})\s*)?"
    return rf"^{item}(?:,{item}){{0,{max(rules.max_items, 1) - 1}}}$"


def number(rules: options_pb2.FieldRules) -> str:
    """Return a form that every decimal between the bounds has; the codec takes exponents too."""
    least = Decimal(str(rules.minimum)) if rules.HasField("minimum") else None
    most = Decimal(str(rules.maximum)) if rules.HasField("maximum") else None
    return decimal(least, most)


def mask(descriptor: Descriptor) -> str:
    """Return the form of a mask over the fields of a request."""
    names = "|".join(updatable(descriptor))
    return f"^(?:(?:{names})(?:,(?:{names}))*)?$"
