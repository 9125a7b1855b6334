"""The keys of MIRA that are converted: to another unit, to several variables, or with other keys to one."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256

from satchel.cli.configuration.conversions import Context, truth, whole
from satchel.runtime.setting_types import BadValue

_MIB = 1 << 20
_KIB = 1 << 10
_SQLITE_PAGE_BYTES = 4096
_PACKAGED_MODELS = frozenset({"sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"})
_UNCHECKED_HASH = "a2d8f3e9"
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{8,64}")
_VERSION = re.compile(r"0\.4(\.\d+)?")
_GREATEST_SESSION_MAX = 1.5
_RIGHTS = ("read", "write", "delete", "admin")
# A set of MIRA's permissions, each by itself, as a right of ours, each of which includes the one before.
_KEYS_BY_RIGHTS: Mapping[frozenset[str], Mapping[str, object]] = {
    frozenset({"read"}): {"right": "read"},
    frozenset({"read", "write"}): {"right": "write", "may_delete": False},
    frozenset({"read", "write", "delete"}): {"right": "write"},
    frozenset({"read", "write", "admin"}): {"right": "admin", "may_delete": False},
    frozenset(_RIGHTS): {"right": "admin"},
}


def version(text: str, _context: Context) -> Mapping[str, str]:
    """Take the versions of MIRA whose keys these are."""
    if not _VERSION.fullmatch(text):
        raise BadValue("must be 0.4.7 or another 0.4: the keys of other versions are not known", "0.4.x")
    return {}


def database(text: str, _context: Context) -> Mapping[str, str]:
    """Choose the kind of database."""
    if text == "memory":
        return {"SATCHEL_STORE_URL": "memory:"}
    if text != "sqlite":
        raise BadValue(
            "must be sqlite, or memory for a store that ends with its process: this version has no other",
            "sqlite, memory",
        )
    return {}


def cache_mib(text: str, _context: Context) -> Mapping[str, str]:
    """Turn SQLite's cache_size, pages or negative KiB, into MiB, rounded up.

    Source: https://www.sqlite.org/pragma.html#pragma_cache_size.
    """
    size = whole(text)
    return _mebibytes("SATCHEL_STORE_CACHE_MIB", -size * _KIB if size < 0 else size * _SQLITE_PAGE_BYTES)


def mmap_mib(text: str, _context: Context) -> Mapping[str, str]:
    """Turn bytes into MiB, rounded up."""
    return _mebibytes("SATCHEL_STORE_MMAP_MIB", whole(text))


def model(text: str, context: Context) -> Mapping[str, str]:
    """Take the name of the packaged model, or name the one in the model folder."""
    if context.has_model_folder:
        return {"SATCHEL_EMBEDDER_MODEL_NAME": text}
    if text not in _PACKAGED_MODELS:
        raise BadValue(
            "must be sentence-transformers/all-MiniLM-L6-v2, the model that comes with Satchel, unless "
            "embedder.model_folder names the folder of another",
            "sentence-transformers/all-MiniLM-L6-v2",
        )
    return {}


def model_hash(text: str, _context: Context) -> Mapping[str, str]:
    """Take the first digits of the model's SHA-256; MIRA's default names no model that exists."""
    if text == _UNCHECKED_HASH:
        return {}
    if not _HEXADECIMAL.fullmatch(text):
        raise BadValue(
            "must be the first 8 to 64 hexadecimal digits of the model's SHA-256", "8 to 64 digits"
        )
    return {"SATCHEL_EMBEDDER_MODEL_SHA256": text}


def most_candidates(text: str, context: Context) -> Mapping[str, str]:
    """Bound the memories that a recall considers, whatever its budget."""
    others = {"most_candidates": text, "dense_depth": text, "tokens_per_candidate": "100000"}
    bounds = {name: value for name, value in others.items() if f"allocator.{name}" not in context.texts}
    return {
        f"SATCHEL_ALLOCATOR_{name.upper()}": value
        for name, value in {"max_candidates": text, **bounds}.items()
    }


def session_bonus(_text: str, context: Context) -> Mapping[str, str]:
    """Join the boost of a session and its bound to one factor, as MIRA does when it recalls."""
    beta = context.number("allocator.session_boost_beta", 0.2)
    most = context.number("allocator.session_boost_max", 1.2)
    if beta < 0:
        raise BadValue("must be at least 0", "at least 0")
    if not 1 <= most <= _GREATEST_SESSION_MAX:
        raise BadValue("must lie in [1, 1.5]", "1 to 1.5")
    return {"SATCHEL_ALLOCATOR_SESSION_BONUS": f"{min(1 + beta, most):g}"}


def clustering(_text: str, context: Context) -> Mapping[str, str]:
    """Join the switch of clustering and its similarity to one bound; 1 never collapses anything."""
    section = "recall.search_time_clustering"
    switch = context.texts.get(f"{section}.enabled", "true")
    similarity = context.texts.get(f"{section}.similarity_threshold", "0.88")
    return {"SATCHEL_ALLOCATOR_DUPLICATE_SIMILARITY": similarity if truth(switch) else "1"}


def wing_tokens(text: str, _context: Context) -> Mapping[str, str]:
    """Turn a mapping of tokens to permissions into keys; a key never gets more than its list says."""
    if not text.startswith("{"):
        raise BadValue("must map tokens to lists of permissions", "a mapping")
    entries = json.loads(text).items()
    keys = [_key(number, token, rights) for number, (token, rights) in enumerate(entries, start=1)]
    return {"SATCHEL_KEYS": json.dumps(keys)}


def _key(number: int, token: str, rights: object) -> Mapping[str, object]:
    names = rights.split(",") if isinstance(rights, str) else rights
    listed = {str(name).strip() for name in names} if isinstance(names, list) else set()
    if not listed or not listed <= set(_RIGHTS):
        raise BadValue(
            f"has permissions in its entry {number} that are not known; they are {', '.join(_RIGHTS)}",
            ", ".join(_RIGHTS),
        )
    found = _KEYS_BY_RIGHTS.get(frozenset(listed))
    if found is None:
        raise BadValue(
            f"has permissions in its entry {number} that no key can have: each includes reading, and admin "
            "includes writing; list them too",
            "; ".join(", ".join(sorted(one, key=_RIGHTS.index)) for one in _KEYS_BY_RIGHTS),
        )
    return {"name": f"key-{sha256(token.encode()).hexdigest()[:8]}", "token": token, **found}


def _mebibytes(variable: str, size_bytes: int) -> Mapping[str, str]:
    return {variable: str(-(-size_bytes // _MIB))}
