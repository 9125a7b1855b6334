"""The only importer of `tokenizers`: Hugging Face's tokenizers behind the port."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Encoding as RawEncoding
from tokenizers import Tokenizer as RawTokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from satchel.embedder.content import token_kinds
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import Encoding, Frame, Role, TokenIds

# Special tokens of BERT's vocabularies; they are recognised in texts too, as the model's own tokenizer does.
_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_PROBE = "a"


class HuggingFaceTokenizer:
    """Any tokenizer of that library; padding and truncation that its file may ask for are off.

    Several threads may read at the same time: encoding changes nothing in the library's tokenizer, and
    whatever does change it (padding, truncation, special tokens) happens before this object exists.
    """

    def __init__(self, raw: RawTokenizer, prefixes: Mapping[Role, str]) -> None:
        padding = raw.padding
        raw.no_padding()
        raw.no_truncation()
        self._raw = raw
        self.pad_id = _pad_id(raw, padding)
        self.kinds = token_kinds(raw.get_vocab(with_added_tokens=True), _special_ids(raw))
        head, tail = _special_frame(raw)
        self._frames = {
            role: Frame(np.concatenate((head, self._prefix_ids(prefixes.get(role, "")))), tail)
            for role in Role
        }

    @classmethod
    def from_vocabulary(cls, path: Path, prefixes: Mapping[Role, str]) -> "HuggingFaceTokenizer":
        """Build BERT's uncased WordPiece from a ``vocab.txt`` (one token a line, its number the id)."""
        vocabulary = {
            token: index for index, token in enumerate(path.read_text(encoding="utf-8").splitlines())
        }
        raw = RawTokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106  # a word piece
        raw.normalizer = BertNormalizer(lowercase=True)
        raw.pre_tokenizer = BertPreTokenizer()
        ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
        raw.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
        raw.add_special_tokens(list(_SPECIAL_TOKENS))
        return cls(raw, prefixes)

    @classmethod
    def from_file(cls, path: Path, prefixes: Mapping[Role, str]) -> "HuggingFaceTokenizer":
        """Read a ``tokenizer.json``.

        Raises:
            ModelMissing: the file is no tokenizer.
        """
        try:
            raw = RawTokenizer.from_file(str(path))
        except Exception as exc:  # the library raises bare Exception
            raise ModelMissing(
                model=str(path.parent),
                cause="Its tokenizer.json is no tokenizer that the library 'tokenizers' can read.",
                remedy="Put the tokenizer.json of the model into the folder.",
            ) from exc
        return cls(raw, prefixes)

    def frame(self, role: Role) -> Frame:
        """Return the special tokens, with the role's prefix behind the first."""
        return self._frames[role]

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Read whole texts; offsets are code points, as the library gives them to Python."""
        return [_encoding(one.ids, one.offsets) for one in self._encoded(texts)]

    def _encoded(self, texts: Sequence[str]) -> Sequence[RawEncoding]:
        if len(texts) == 1:  # a batch wakes a pool of threads, which costs a query more than its tokens
            return [self._raw.encode(texts[0], add_special_tokens=False)]
        return self._raw.encode_batch(list(texts), add_special_tokens=False)

    def _prefix_ids(self, prefix: str) -> TokenIds:
        return np.array(self._raw.encode(prefix.strip(), add_special_tokens=False).ids, dtype=np.int32)


def _encoding(ids: list[int], offsets: list[tuple[int, int]]) -> Encoding:
    bounds = np.array(offsets, dtype=np.int32).reshape(-1, 2)
    return Encoding(np.array(ids, dtype=np.int32), bounds[:, 0], bounds[:, 1])


def _special_frame(raw: RawTokenizer) -> tuple[TokenIds, TokenIds]:
    """Find the special tokens around a text by reading one with and without them."""
    bare = raw.encode(_PROBE, add_special_tokens=False).ids
    framed = raw.encode(_PROBE, add_special_tokens=True).ids
    head = next(i for i in range(len(framed) + 1) if framed[i : i + len(bare)] == bare)
    return (
        np.array(framed[:head], dtype=np.int32),
        np.array(framed[head + len(bare) :], dtype=np.int32),
    )


def _special_ids(raw: RawTokenizer) -> list[int]:
    return [index for index, token in raw.get_added_tokens_decoder().items() if token.special]


def _pad_id(raw: RawTokenizer, padding: dict[str, object] | None) -> int:
    """Return the id that the file pads with, or a token named as padding usually is, or 0."""
    if padding is not None and isinstance(padding.get("pad_id"), int):
        return int(str(padding["pad_id"]))
    for token in ("[PAD]", "<pad>"):
        found = raw.token_to_id(token)
        if found is not None:
            return found
    return 0
