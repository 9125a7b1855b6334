"""JSON Schemas of messages, shared by OpenAPI and MCP; everything in them comes from the contract.

Three styles. `Style.SHOWN` is what a reader needs: the types and limits of the contract. `Style.ACCEPTED`
is all that the codec takes, for documents that clients are generated and tested from: null for
absent, digits for a number, commas for a list. `Style.RETURNED` is what answers hold: every text may be empty
there that a request may leave away.
"""

import enum
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from satchel.api.options.v1 import options_pb2
from satchel.gateway.transcoder import patterns
from satchel.gateway.transcoder.descriptors import Contract, is_map, is_required, rules_of
from satchel.gateway.transcoder.encoding import MAX_EXACT
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.number_forms import whole_number
from satchel.gateway.transcoder.scalars import BASE64, integer_range
from satchel.gateway.transcoder.words import known_words

Schema: TypeAlias = dict[str, Json]

_WELL_KNOWN: Mapping[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Struct": {"type": "object", "additionalProperties": True},
    "google.protobuf.ListValue": {"type": "array", "items": {}},
    "google.protobuf.Value": {},
}
_TEXT_TYPES = ("string", "array")
_FREE_FORM = "FreeForm"
_NO_NUL: Schema = {"pattern": patterns.NO_NUL}


class Style(enum.Enum):
    """What a schema describes."""

    SHOWN = "shown"
    ACCEPTED = "accepted"
    RETURNED = "returned"


class SchemaBook:
    """Makes schemas, and collects those of messages inside under ``definitions`` for references."""

    def __init__(
        self, contract: Contract, *, prefix: str, style: Style = Style.SHOWN, suffix: str = ""
    ) -> None:
        """Begin with no definitions; ``prefix`` stands before a name in references, ``suffix`` after it."""
        self._contract = contract
        self._prefix = prefix
        self._suffix = suffix
        self._is_accepting = style is Style.ACCEPTED
        self._is_returning = style is Style.RETURNED
        self.definitions: dict[str, Schema] = {}

    def reference(self, descriptor: Descriptor) -> Schema:
        """Return a reference to a message's schema, which is added to the definitions."""
        name = f"{descriptor.name}{self._suffix}"
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.message(descriptor)
        return {"$ref": f"{self._prefix}{name}"}

    def message(self, descriptor: Descriptor, *, without: frozenset[str] = frozenset()) -> Schema:
        """Return the schema of a message, less some of its fields."""
        fields = [field for field in descriptor.fields if field.name not in without]
        schema: Schema = {
            "type": "object",
            "properties": {field.name: self.field(field) for field in fields},
            "additionalProperties": False,
        }
        comment = self._contract.comment(descriptor.full_name)
        if comment:
            schema["description"] = comment
        required = [field.name for field in fields if is_required(field)]
        if required:
            schema["required"] = cast("list[Json]", required)
        if _is_one_choice(descriptor):
            schema["maxProperties"] = 1
        return schema

    def field(self, field: FieldDescriptor) -> Schema:
        """Return the schema of a field with its description, limits and default."""
        schema = self._repeated(field) if field.is_repeated else self._single(field)
        if self._is_accepting and not is_required(field):
            schema = _or_null(schema)
        comment = self._description(field)
        if comment:
            schema = {"allOf": [schema]} if "$ref" in schema else schema
            schema["description"] = comment
        if rules_of(field).default_json:
            schema["default"] = json.loads(rules_of(field).default_json)
        return schema

    def _description(self, field: FieldDescriptor) -> str:
        parts = [self._contract.comment(field.full_name)]
        if field.enum_type is not None:
            parts.extend(self._values(field.enum_type))
        return "\n".join(part for part in parts if part)

    def _values(self, values: EnumDescriptor) -> Iterator[str]:
        for value, word in zip(values.values[1:], known_words(values), strict=True):
            comment = self._contract.comment(f"{values.full_name}.{value.name}")
            if comment:
                yield f"- `{word}`: {comment}"

    def _repeated(self, field: FieldDescriptor) -> Schema:
        rules = rules_of(field)
        if is_map(field):
            value = cast("Descriptor", field.message_type).fields_by_name["value"]
            return {"type": "object", "additionalProperties": self._single(value)}
        schema: Schema = {"type": "array", "items": self._single(field)}
        least = max(rules.min_items, 1 if is_required(field) else 0)
        if least:
            schema["minItems"] = least
        if rules.max_items:
            schema["maxItems"] = rules.max_items
        if self._is_accepting and rules.accepts_text and _is_text(field):
            schema.update(type=list(_TEXT_TYPES), pattern=patterns.comma_list(rules))
            if rules.max_length and not patterns.form_of(rules):
                schema["maxLength"] = rules.max_length
        if self._is_accepting and rules.accepts_text and field.message_type is not None:
            schema["type"] = ["array", "string"]
        return schema

    def _single(self, field: FieldDescriptor) -> Schema:
        if field.enum_type is not None:
            return {"type": "string", "enum": list(known_words(field.enum_type))}
        if field.message_type is not None:
            return self._inner(field.message_type, field)
        return self._scalar(field)

    def _inner(self, descriptor: Descriptor, field: FieldDescriptor) -> Schema:
        known = _WELL_KNOWN.get(descriptor.full_name)
        if known is None:
            return self.reference(descriptor)
        schema = dict(known)
        if descriptor.name == "FieldMask" and self._is_accepting:
            schema["pattern"] = patterns.mask(cast("Descriptor", field.containing_type))
        if descriptor.name == "Struct" and self._is_accepting:
            schema.update(propertyNames=_NO_NUL, additionalProperties=self._free_form())
        return schema

    def _free_form(self) -> Schema:
        """Return a reference to what a member of a free-form object may be."""
        reference: Schema = {"$ref": f"{self._prefix}{_FREE_FORM}"}
        self.definitions[_FREE_FORM] = {
            "description": "Any JSON without NUL characters; whole numbers are those that a double holds.",
            "type": ["null", "boolean", "number", "string", "array", "object"],
            "minimum": -MAX_EXACT,
            "maximum": MAX_EXACT,
            **_NO_NUL,
            "items": reference,
            "propertyNames": _NO_NUL,
            "additionalProperties": reference,
        }
        return reference

    def _scalar(self, field: FieldDescriptor) -> Schema:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64", "pattern": f"^{BASE64}$"}
        if _is_text(field):
            return self._text(field)
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return {"type": "boolean"}
        if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return self._number(field)
        return self._integer(field)

    def _text(self, field: FieldDescriptor) -> Schema:
        rules = rules_of(field)
        is_needed = is_required(field)
        schema: Schema = {"type": "string"}
        if is_needed or (rules.min_length and not (self._is_accepting or self._is_returning)):
            schema["minLength"] = max(rules.min_length, 1)
        if rules.max_length:
            schema["maxLength"] = rules.max_length
        pattern = self._pattern(rules, is_needed=is_needed)
        if pattern:
            schema["pattern"] = pattern
        return schema

    def _pattern(self, rules: options_pb2.FieldRules, *, is_needed: bool) -> str:
        if self._is_accepting:
            return patterns.accepted(rules, is_needed=is_needed)
        if self._is_returning and not is_needed:
            form = patterns.form_of(rules)
            return f"^(?:{form})?$" if form else ""
        return patterns.shown(rules)

    def _integer(self, field: FieldDescriptor) -> Schema:
        rules = rules_of(field)
        least, most = integer_range(field)
        schema: Schema = {"type": "integer"}
        if self._is_accepting or rules.HasField("minimum"):
            schema["minimum"] = least
        if self._is_accepting or rules.HasField("maximum"):
            schema["maximum"] = most
        if self._is_accepting:
            schema.update(type=["integer", "string"], pattern=whole_number(least, most))
        return schema

    def _number(self, field: FieldDescriptor) -> Schema:
        rules = rules_of(field)
        schema: Schema = {"type": "number"}
        if rules.HasField("minimum"):
            schema["minimum"] = rules.minimum
        if rules.HasField("maximum"):
            schema["maximum"] = rules.maximum
        if self._is_accepting:
            schema.update(type=["number", "string"], pattern=patterns.number(rules))
        return schema


# Takes a message and returns what its fields may hold.
MakeSchema: TypeAlias = Callable[[Descriptor], Schema]


def parameter(book: SchemaBook, field: FieldDescriptor) -> Schema:
    """Return the schema of a field that travels as text, in a path or a query: without null."""
    schema = book.field(field)
    kind = schema.get("type")
    if isinstance(kind, list):
        schema["type"] = next(name for name in kind if name != "null")
        if schema["type"] in {"integer", "number"}:
            schema.pop("pattern", None)
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [word for word in cast("list[Json]", schema["enum"]) if word is not None]
    schema.pop("description", None)
    if schema.get("type") == "boolean":
        return {"anyOf": [schema, {"type": "integer", "enum": [0, 1]}]}
    return schema


def _or_null(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    made: Schema = {**schema, "type": [*kinds, "null"]}
    if isinstance(schema.get("enum"), list):
        made["enum"] = [*cast("list[Json]", schema["enum"]), None]
    return made


def _is_text(field: FieldDescriptor) -> bool:
    return field.cpp_type == FieldDescriptor.CPPTYPE_STRING and field.type != FieldDescriptor.TYPE_BYTES


def _is_one_choice(descriptor: Descriptor) -> bool:
    """Say whether a message is nothing but one oneof, so that at most one member can be there."""
    return len(descriptor.oneofs) == 1 and len(descriptor.oneofs[0].fields) == len(descriptor.fields) > 1
