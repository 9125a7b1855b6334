"""The formats that `satchel import` reads."""

from enum import StrEnum


class ImportFormat(StrEnum):
    """The formats that can be imported."""

    AUTO = "auto"
    JSONL = "jsonl"
    FOLDER = "folder"
    CHAT = "chat"
    LOCOMO = "locomo"
