"""What commands print: answers on stdout, everything else on stderr."""

import json
import sys
from collections.abc import Mapping


def write_text(text: str) -> None:
    """Write a text to stdout exactly as it is, in UTF-8, without a line break of our own.

    What UTF-8 has no form for, such as a byte of a file's name, is escaped as in JSON.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()


def write_line(text: str) -> None:
    """Write one line to stdout."""
    write_text(text + "\n")


def write_json(value: object) -> None:
    """Write a value as indented JSON; characters are written as they are."""
    write_line(json.dumps(value, ensure_ascii=False, indent=2))


def tell(text: str) -> None:
    """Tell a person something, on stderr."""
    sys.stderr.write(text.encode(errors="backslashreplace").decode() + "\n")
    sys.stderr.flush()


def tell_error(message: str, details: Mapping[str, object], *, as_json: bool) -> None:
    """Report an error in one sentence, or as JSON."""
    tell(json.dumps(details, ensure_ascii=False) if as_json else f"satchel: {message}")
