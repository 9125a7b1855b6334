"""Provides exact token counts by tiktoken, from a rank file that comes with an installed package.

Nothing here opens a network connection: tiktoken's own loader would download its files, so the
encoding is built from the one that `bpe-openai` ships, after its SHA-256 is compared with the
hash that tiktoken publishes for the same file.
"""

import base64
import gzip
import hashlib
import re
from functools import cache
from importlib import metadata
from pathlib import Path

import tiktoken

ENCODING = "cl100k_base"

# Pattern, special tokens and hash are those of tiktoken_ext/openai_public.py, tiktoken 0.14.
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

# tiktoken's regular expression engine gives up (a Rust panic) on blanks in a row somewhere above 300,000;
# longer runs than this are cut out before it sees them.
_LONG_BLANK_RUN = 100_000
# White_Space of Unicode without the line breaks CR and LF, which the pattern treats apart.
_BLANK = "[\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"


class RankFileError(RuntimeError):
    """The rank file of the encoding is missing or is not the published one."""


@cache
def encoding() -> tiktoken.Encoding:
    """Return the encoding, built on first use (about 0.3 s) and kept for the process.

    Raises:
        RankFileError: the packaged file is missing or has another SHA-256 than the published one.
    """
    return tiktoken.Encoding(
        ENCODING, pat_str=_PATTERN, mergeable_ranks=_read_ranks(), special_tokens=_SPECIAL_TOKENS
    )


def count_tokens(text: str) -> int:
    """Count the tokens of ``text``; special tokens in it count as the ordinary text that they are.

    Exact for every text: equal to ``len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text))`` where
    that has an answer. 64 Ki characters take at most some tens of milliseconds, whatever they are.
    """
    if len(text) < _LONG_BLANK_RUN:
        return len(encoding().encode_ordinary(text))
    return count_in_pieces(text, _LONG_BLANK_RUN)


def count_in_pieces(text: str, blank_run: int) -> int:
    r"""Count with runs of ``blank_run`` or more blanks cut out; exact, as each cut is a token border.

    A run of blanks without line breaks that is followed by other text is split by the pattern into
    all of it but the last (``\s+(?!\S)``) and the last, which goes with what follows. It begins a new
    match, as no other alternative takes a blank unless a letter or a mark comes next. At the end of the
    text the run is joined with line breaks before it: no cut there (the pattern is possessive at that place
    and does not backtrack).
    """
    total = start = 0
    for begin, end in _blank_cuts(text, blank_run):
        total += len(encoding().encode_ordinary(text[start:begin]))
        # The piece is one match by the argument above; the engine must not see it.
        total += len(encoding()._encode_single_piece(text[begin:end]))  # noqa: SLF001
        start = end
    return total + len(encoding().encode_ordinary(text[start:]))


def _blank_cuts(text: str, blank_run: int) -> list[tuple[int, int]]:
    runs = (run.span() for run in re.finditer(f"{_BLANK}{{{max(blank_run, 2)},}}", text))
    return [(begin, end - 1) for begin, end in runs if end < len(text) and text[end] not in "\r\n"]


def _read_ranks() -> dict[bytes, int]:
    name = f"bpe_openai/data/{ENCODING}.tiktoken.gz"
    path = Path(str(metadata.distribution("bpe-openai").locate_file(name)))
    try:
        raw = gzip.decompress(path.read_bytes())
    except OSError as exc:
        raise RankFileError(f"The rank file of {ENCODING} cannot be read. Reinstall 'bpe-openai'.") from exc
    if hashlib.sha256(raw).hexdigest() != _SHA256:
        raise RankFileError(f"The rank file of {ENCODING} is not the published one. Reinstall 'bpe-openai'.")
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}
