"""T1: facts drawn from a text by rules, in English and French, without a model."""

from satchel.store.extraction.extractor import extract
from satchel.store.extraction.fingerprint import Fingerprint, canonical_json, from_json
from satchel.store.extraction.kinds import Kind
from satchel.store.extraction.rendering import render_line

__all__ = ["Fingerprint", "Kind", "canonical_json", "extract", "from_json", "render_line"]
