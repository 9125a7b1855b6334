"""The only importer of `onnxruntime`: a model file behind the session port."""

import ctypes
from pathlib import Path
from typing import Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from satchel.embedder.coding import bytes_per_token, sign_codes
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import Batch, Embedded, Pooling
from satchel.embedder.pooling import pool
from satchel.runtime.executor import BoundedExecutor

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
# The engine has a lane for queries and one for passages.
_LANES = 2
_MAX_WAITING = 16
# Batches from here on give their working memory back to the system when they end: that costs nothing
# measurable (README.md), and keeps a long text from deciding the process's size for good.
_SHRINK_FROM_TOKENS = 256
_AXES_OF_STATES = 3


class OnnxSession:
    """One ONNX model on the CPU. Runs on threads of its own, one a batch; `aclose` ends them."""

    def __init__(self, session: ort.InferenceSession, pooling: Pooling, executor: BoundedExecutor) -> None:
        self._session = session
        self._pooling = pooling
        self._executor = executor
        self._inputs = frozenset(one.name for one in session.get_inputs())
        self._output = session.get_outputs()[0].name
        self._shrink = ort.RunOptions()
        self._shrink.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._has_garbage = True  # loading leaves some
        self.dimension = 0
        self.has_token_states = False

    @classmethod
    async def open(cls, path: Path, *, name: str, pooling: Pooling, threads: int) -> Self:
        """Load a model and run it once, which tells its dimension and whether it pools by itself.

        Each lane of the engine can have ``threads`` batches run at once.

        Raises:
            ModelMissing: the file is no model, or asks for inputs that are not known here.
        """
        executor = BoundedExecutor(_LANES * threads, _MAX_WAITING, "embedder-onnx")
        try:
            raw = await executor.run(_load, path, name)
            session = cls(raw, pooling, executor)
            probe = np.ones((1, 2), dtype=np.int64)
            states = await executor.run(session._states, Batch(probe, probe, np.zeros(0, dtype=np.intp)))
            session.dimension = states.shape[-1]
            session.has_token_states = states.ndim == _AXES_OF_STATES
            await session.rest()
        except BaseException:
            await executor.close()
            raise
        return session

    async def embed(self, batch: Batch) -> Embedded:
        """See the port."""
        return await self._executor.run(self._run, batch)

    async def rest(self) -> None:
        """Give freed memory back to the system, if a large batch ran since the last time."""
        if self._has_garbage:
            self._has_garbage = False
            await self._executor.run(_return_freed_memory)

    async def aclose(self) -> None:
        """Wait for what runs, and end the threads."""
        await self._executor.close()

    def _run(self, batch: Batch) -> Embedded:
        states = self._states(batch)
        codes = (
            sign_codes(states, batch.coded)
            if len(batch.coded)
            else np.zeros((0, bytes_per_token(self.dimension)), dtype=np.uint8)
        )
        return Embedded(pool(states, batch.mask, self._pooling), codes)

    def _states(self, batch: Batch) -> NDArray[np.float32]:
        """Return (batch, tokens, dimension), or (batch, dimension) from a model that pools by itself."""
        known = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if "token_type_ids" in self._inputs:
            known["token_type_ids"] = np.zeros_like(batch.ids)
        feed = {input_name: known[input_name] for input_name in self._inputs}
        is_large = batch.ids.size >= _SHRINK_FROM_TOKENS
        self._has_garbage |= is_large
        options = self._shrink if is_large else None
        states: NDArray[np.float32] = self._session.run([self._output], feed, options)[0]
        return states


def _load(path: Path, name: str) -> ort.InferenceSession:
    try:
        session = ort.InferenceSession(str(path), _options(), providers=["CPUExecutionProvider"])
    except Exception as exc:  # ONNX Runtime's errors have no common class of their own
        raise ModelMissing(
            model=name,
            cause="ONNX Runtime cannot load its model file.",
            remedy="Export the model to ONNX again, in one file model.onnx.",
        ) from exc
    unknown = sorted({one.name for one in session.get_inputs()} - _KNOWN_INPUTS)
    if unknown:
        raise ModelMissing(
            model=name,
            cause=f"Its graph asks for the inputs {', '.join(unknown)}, which are not known.",
            remedy="Export it with input_ids, attention_mask and token_type_ids only.",
        )
    return session


def _options() -> ort.SessionOptions:
    """Return the options that measured best on two cores (README.md).

    One thread a batch: two threads wait for each other at every step, and for longest where other work has
    one of their processors. The basic level folds the packaged model's int8 weights into float32 once; the
    fusions of the higher levels cost 5 to 7 % here. Memory patterns are kept for each shape, and texts come
    in every shape.
    """
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3  # errors; warnings about the graph do not concern a user
    return options


def _return_freed_memory() -> None:
    """Have the C library return freed pages: 60 MB after loading the packaged model, 160 MB after bulk work.

    Takes up to 20 ms. Does nothing without glibc.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
