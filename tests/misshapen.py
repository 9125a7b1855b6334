"""Texts that a pattern of the contract refuses."""

import re


def misshapen(pattern: str) -> str:
    """Return a text of the wrong form: with a blank and a sign, or of these alone where that is a name."""
    return next(text for text in ("a b!", " . ") if not pattern or not re.fullmatch(pattern, text))
