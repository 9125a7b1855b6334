"""Names of enum values in JSON: short lower-case words instead of the contract's prefixed constants."""

from collections.abc import Mapping
from functools import cache
from typing import cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message

UNSPECIFIED = "unspecified"


@cache
def words_of(enum: EnumDescriptor) -> Mapping[int, str]:
    """Return the word of each number: ``decision`` for ``MEMORY_TYPE_DECISION``, zero included."""
    prefix = _prefix(enum.name)
    return {value.number: value.name.removeprefix(prefix).lower() for value in enum.values}


def word_of(message: Message, name: str) -> str:
    """Return the word of the enum in a field of one value."""
    enum = cast("Descriptor", message.DESCRIPTOR).fields_by_name[name].enum_type
    return words_of(cast("EnumDescriptor", enum))[getattr(message, name)]


@cache
def numbers_of(enum: EnumDescriptor) -> Mapping[str, int]:
    """Return the number of each accepted text: the word, or the constant's full name."""
    words = {word: number for number, word in words_of(enum).items()}
    return {**words, **{value.name: value.number for value in enum.values}}


def known_words(enum: EnumDescriptor) -> tuple[str, ...]:
    """Return the words that a caller may send, in the order of the contract: all but the unspecified one."""
    return tuple(word for number, word in words_of(enum).items() if number)


def _prefix(name: str) -> str:
    """Return ``MEMORY_TYPE_`` for ``MemoryType``, as buf's ENUM_VALUE_PREFIX rule forms it."""
    spaced = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    return f"{spaced.lstrip('_').upper()}_"
