"""Tells which tokens of a text have a code: those that say something. Pure; one pass over a vocabulary.

It must not look at texts: what a token is follows from its id alone, so a text is one look into a table.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from satchel.embedder.model import Places, TokenIds, TokenKinds
from satchel.runtime.folding import fold
from satchel.runtime.stopwords import ANY_LANGUAGE

MOST_CODES = 512
"""Tokens of one text that have a code, at most."""

# How a vocabulary tells the first piece of a word from the others: WordPiece marks the others, SentencePiece
# and byte-level BPE the first. Source: the files vocab.txt and tokenizer.json of models of the three kinds.
_CONTINUES = "##"
_BEGINS = ("\u2581", "\u0120")


def token_kinds(vocabulary: Mapping[str, int], special: Iterable[int]) -> TokenKinds:
    """Return what each id is; ``vocabulary`` has the id of each token, ``special`` ids of special tokens.

    A content token has a letter or a digit and is no function word of English or French. A piece that
    continues a word is never a function word.
    """
    size = max(vocabulary.values(), default=-1) + 1
    is_content, is_special = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    mark = _mark_of(vocabulary)
    content = [index for token, index in vocabulary.items() if _is_content(token, mark)]
    is_content[content] = True
    is_special[list(special)] = True
    return TokenKinds(is_content & ~is_special, is_special)


def coded_places(ids: TokenIds, kinds: TokenKinds) -> Places:
    """Return, ascending, the places of the tokens of a whole text that have a code: at most 512.

    They are its content tokens, or all but special ones where there are none.
    """
    places = np.flatnonzero(kinds.is_content[ids])
    if not len(places):
        places = np.flatnonzero(~kinds.is_special[ids])
    return places[:MOST_CODES]


def _mark_of(vocabulary: Mapping[str, int]) -> str:
    """Return the mark that most tokens of a vocabulary begin with."""
    counts = {mark: sum(token.startswith(mark) for token in vocabulary) for mark in (_CONTINUES, *_BEGINS)}
    return max(counts, key=counts.__getitem__)


def _is_content(token: str, mark: str) -> bool:
    bare = token.removeprefix(mark)
    begins = token.startswith(mark) == (mark in _BEGINS)
    is_word = any(map(str.isalnum, bare))
    return is_word and not (begins and fold(bare) in ANY_LANGUAGE)
