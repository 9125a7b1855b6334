"""What a place that models come from tells about one model, before anything heavy is loaded."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from satchel.embedder.model import Pooling
from satchel.embedder.ports import Tokenizer


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model that can be opened; ``sha256`` decides whether two models are the same."""

    name: str
    revision: str
    sha256: str
    model_file: Path
    pooling: Pooling
    max_tokens: int
    open_tokenizer: Callable[[], Tokenizer]
