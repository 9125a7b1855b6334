"""Provides exact token counts by tiktoken, from rank files that come with an installed package.

Nothing here opens a network connection: tiktoken's own loader would download its files, so the
encodings are built from those that `bpe-openai` ships, after their SHA-256 is compared with the
hash that tiktoken publishes for the same file.
"""

import base64
import gzip
import hashlib
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

import tiktoken

EncodingName = Literal["cl100k_base", "o200k_base"]

# Names, patterns, special tokens and hashes are those of tiktoken_ext/openai_public.py, tiktoken 0.14.
_SHA256: dict[str, str] = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_SPECIAL_TOKENS: dict[str, dict[str, int]] = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}
_O200K_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_O200K_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS: dict[str, str] = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        [
            rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}*{_O200K_LOWER}+{_O200K_SUFFIX}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}+{_O200K_LOWER}*{_O200K_SUFFIX}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}

# tiktoken's regular expression engine gives up (a Rust panic) on blanks in a row somewhere above 300,000;
# longer runs than this are cut out before it sees them.
_LONG_BLANK_RUN = 100_000
# White_Space of Unicode without the line breaks CR and LF, which the patterns treat apart.
_BLANK = "[\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"


class RankFileError(RuntimeError):
    """The rank file of an encoding is missing or is not the published one."""


@cache
def encoding(name: EncodingName = "cl100k_base") -> tiktoken.Encoding:
    """Return the encoding, built on first use (about 0.3 s) and kept for the process.

    Raises:
        RankFileError: the packaged file is missing or has another SHA-256 than the published one.
    """
    return tiktoken.Encoding(
        name,
        pat_str=_PATTERNS[name],
        mergeable_ranks=_read_ranks(name),
        special_tokens=_SPECIAL_TOKENS[name],
    )


def count_tokens(text: str, name: EncodingName = "cl100k_base") -> int:
    """Count the tokens of ``text``; special tokens in it count as the ordinary text that they are.

    Exact for every text: equal to ``len(tiktoken.get_encoding(name).encode_ordinary(text))`` where that
    has an answer. 64 Ki characters take at most some tens of milliseconds, whatever they are.
    """
    if len(text) < _LONG_BLANK_RUN:
        return len(encoding(name).encode_ordinary(text))
    return count_in_pieces(text, name, _LONG_BLANK_RUN)


def count_in_pieces(text: str, name: EncodingName, blank_run: int) -> int:
    r"""Count with runs of ``blank_run`` or more blanks cut out; exact, as each cut is a token border.

    A run of blanks without line breaks that is followed by other text is split by both patterns into
    all of it but the last (``\s+(?!\S)``) and the last, which goes with what follows. It begins a new
    match, as no other alternative takes a blank unless a letter or a mark comes next. At the end of the
    text o200k takes the run as one piece, while cl100k joins it with line breaks before it: no cut there
    (its pattern is possessive at that place and does not backtrack).
    """
    total = start = 0
    for begin, end in _blank_cuts(text, name, blank_run):
        total += len(encoding(name).encode_ordinary(text[start:begin]))
        # The piece is one match by the argument above; the engine must not see it.
        total += len(encoding(name)._encode_single_piece(text[begin:end]))  # noqa: SLF001
        start = end
    return total + len(encoding(name).encode_ordinary(text[start:]))


def _blank_cuts(text: str, name: EncodingName, blank_run: int) -> list[tuple[int, int]]:
    cuts = []
    for run in re.finditer(f"{_BLANK}{{{max(blank_run, 2)},}}", text):
        begin, end = run.span()
        if end == len(text):
            if name == "o200k_base":
                cuts.append((begin, end))
        elif text[end] not in "\r\n":
            cuts.append((begin, end - 1))
    return cuts


def _read_ranks(name: str) -> dict[bytes, int]:
    path = Path(str(metadata.distribution("bpe-openai").locate_file(f"bpe_openai/data/{name}.tiktoken.gz")))
    try:
        raw = gzip.decompress(path.read_bytes())
    except OSError as exc:
        raise RankFileError(f"The rank file of {name} cannot be read. Reinstall 'bpe-openai'.") from exc
    if hashlib.sha256(raw).hexdigest() != _SHA256[name]:
        raise RankFileError(f"The rank file of {name} is not the published one. Reinstall 'bpe-openai'.")
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}
