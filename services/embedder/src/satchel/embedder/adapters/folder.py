"""Other models, from a local folder in the layout of sentence-transformers.

``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json`` must be there. ``1_Pooling/config.json``,
``sentence_bert_config.json`` and ``config_sentence_transformers.json`` say how to pool, how many tokens
the model reads, and what stands before queries and passages; settings win over them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from satchel.embedder.adapters.hashing import sha256_of_file, sha256_of_lines
from satchel.embedder.adapters.source import ModelSource
from satchel.embedder.adapters.tokenizer import HuggingFaceTokenizer
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import Pooling, Role
from satchel.embedder.settings import EmbedderSettings

_MAX_TOKENS = 512  # positions of BERT and its kin, for a folder that does not say
_POOLING_KEYS = {"pooling_mode_mean_tokens": Pooling.MEAN, "pooling_mode_cls_token": Pooling.CLS}
_PROMPT_NAMES = {Role.QUERY: ("query",), Role.PASSAGE: ("passage", "document")}


def folder_model(folder: Path, settings: EmbedderSettings) -> ModelSource:
    """Return the model in a folder. Reads and hashes its files.

    Its ``sha256`` covers the weights, the tokenizer and every setting that changes vectors, so that an
    index never mixes two ways to use the same weights.

    Raises:
        ModelMissing: a file is missing or unusable; names it and what to do.
    """
    model_file = _first_file(folder, "model.onnx", "onnx/model.onnx")
    tokenizer_file = _first_file(folder, "tokenizer.json")
    pooling = settings.pooling or _pooling(folder)
    max_tokens = settings.max_tokens or _max_tokens(folder)
    prefixes = _prefixes(folder, settings)
    sha256 = sha256_of_lines(
        (
            *_weights_digests(model_file),
            sha256_of_file(tokenizer_file),
            f"{pooling.value} {max_tokens}",
            *(json.dumps(prefixes[role]) for role in Role),
        )
    )
    return ModelSource(
        name=settings.model_name or folder.resolve().name,
        revision=sha256[:12],
        sha256=sha256,
        model_file=model_file,
        pooling=pooling,
        max_tokens=max_tokens,
        open_tokenizer=lambda: HuggingFaceTokenizer.from_file(tokenizer_file, prefixes),
    )


def _first_file(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ModelMissing(
        model=str(folder),
        cause=f"There is no {names[0]} in the folder.",
        remedy="Export the model to ONNX into this folder, or unset SATCHEL_EMBEDDER_MODEL_FOLDER "
        "to use the packaged model.",
    )


def _weights_digests(model_file: Path) -> Iterator[str]:
    """Yield the digest of the graph and, if its weights lie beside it, of those."""
    yield sha256_of_file(model_file)
    for suffix in ("_data", ".data"):
        beside = model_file.with_name(model_file.name + suffix)
        if beside.is_file():
            yield sha256_of_file(beside)


def _pooling(folder: Path) -> Pooling:
    config = _read_json(folder, "1_Pooling/config.json")
    if not config:
        return Pooling.MEAN
    wanted = sorted(key for key, value in config.items() if key.startswith("pooling_mode_") and value is True)
    known = [_POOLING_KEYS[key] for key in wanted if key in _POOLING_KEYS]
    if len(wanted) == 1 and known:
        return known[0]
    raise ModelMissing(
        model=str(folder),
        cause=f"Its 1_Pooling/config.json asks for {', '.join(wanted) or 'no pooling'}, which is not known.",
        remedy="Set SATCHEL_EMBEDDER_POOLING to mean or cls.",
    )


def _max_tokens(folder: Path) -> int:
    value = _read_json(folder, "sentence_bert_config.json").get("max_seq_length")
    return value if isinstance(value, int) and value > 0 else _MAX_TOKENS


def _prefixes(folder: Path, settings: EmbedderSettings) -> dict[Role, str]:
    prompts = _read_json(folder, "config_sentence_transformers.json").get("prompts")
    from_files = prompts if isinstance(prompts, dict) else {}
    from_settings = {Role.QUERY: settings.query_prefix, Role.PASSAGE: settings.passage_prefix}
    return {
        role: _prompt(from_files, _PROMPT_NAMES[role]) if chosen is None else chosen
        for role, chosen in from_settings.items()
    }


def _prompt(prompts: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((str(prompts[name]) for name in names if isinstance(prompts.get(name), str)), "")


def _read_json(folder: Path, name: str) -> dict[str, object]:
    """Read a JSON object; an absent file is an empty one."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise ModelMissing(
            model=str(folder), cause=f"Its {name} is not JSON.", remedy="Repair the file."
        ) from exc
    return value if isinstance(value, dict) else {}
