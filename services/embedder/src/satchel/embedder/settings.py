"""What can be set about the embedder; variables ``SATCHEL_EMBEDDER_<FIELD>``. Pure: reads nothing."""

from dataclasses import dataclass
from pathlib import Path

from satchel.embedder.model import Pooling
from satchel.runtime.settings import setting

PREFIX = "SATCHEL_EMBEDDER"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Settings of one embedder. Without a folder it runs the packaged all-MiniLM-L6-v2."""

    listen: str = setting("127.0.0.1:50061", "Address that the process of its own listens on.")
    model_folder: Path | None = setting(  # a declaration, as dataclasses.field is
        None, "Folder of another model: model.onnx, tokenizer.json. Empty: the packaged all-MiniLM-L6-v2."
    )
    model_name: str = setting("", "Name of the model in the folder. Empty: the folder's name.")
    model_sha256: str = setting(
        "", "First digits, 8 or more, of the SHA-256 that the model must have. Empty: any, if it is whole."
    )
    dimension: int | None = setting(
        None, "Length that the model's vectors must have. Empty: any.", minimum=1, maximum=65536
    )
    pooling: Pooling | None = setting(  # the same
        None, "Pooling of the model in the folder: mean or cls. Empty: as 1_Pooling/config.json says."
    )
    max_tokens: int | None = setting(
        None,
        "Tokens that one passage may have, special tokens included. Empty: as the model's files say.",
        minimum=16,
        maximum=8192,
    )
    query_prefix: str | None = setting(
        None, "Text before each query, such as 'query:'. Empty: as the model's files say."
    )
    passage_prefix: str | None = setting(
        None, "Text before each passage, such as 'passage:'. Empty: as the model's files say."
    )
    threads: int = setting(
        2,
        "Batches that run at once, queries and passages apart; each uses one thread.",
        minimum=1,
        maximum=256,
    )
    batch_tokens: int = setting(
        768, "Padded tokens of one batch; more does not compute faster.", minimum=16, maximum=65536
    )
    batch_texts: int | None = setting(
        None, "Texts of one batch, at most. Empty: as many as its tokens allow.", minimum=1, maximum=65536
    )
    overlap_tokens: int = setting(
        32, "Tokens that neighbouring passages of a long text share, about.", minimum=0, maximum=4096
    )
    queue_texts: int = setting(
        4096, "Texts that may wait, queries and passages apart; beyond, calls are refused.", minimum=1
    )
    queue_code_points: int = setting(
        8_000_000, "Code points that may wait, queries and passages apart.", minimum=1
    )
    cache_queries: int = setting(1000, "Queries whose vectors are kept.", minimum=0, maximum=1_000_000)
