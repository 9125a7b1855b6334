"""The embedder's composition root: the only place that knows which tokenizer and model run."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass

import grpc

from satchel.api.embedder.v1 import embedder_service_pb2_grpc as rpc
from satchel.embedder.adapters.folder import folder_model
from satchel.embedder.adapters.onnx import OnnxSession
from satchel.embedder.adapters.packaged import packaged_model
from satchel.embedder.adapters.source import ModelSource
from satchel.embedder.engine import Engine
from satchel.embedder.errors import ModelMissing
from satchel.embedder.model import ModelIdentity
from satchel.embedder.ports import Session, Tokenizer
from satchel.embedder.servicer import EmbedderServicer
from satchel.embedder.settings import PREFIX, EmbedderSettings
from satchel.runtime.background import running
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import KeyRing, KeySettings, load_keys
from satchel.runtime.metrics.serving import showing_metrics
from satchel.runtime.metrics.settings import MetricsSettings, load_metrics
from satchel.runtime.server import serve_forever
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model, ready to serve."""

    identity: ModelIdentity
    tokenizer: Tokenizer
    session: Session


@dataclass(frozen=True, slots=True)
class Built:
    """A running embedder. `engine` is for tests and benchmarks; others use what is registered."""

    engine: Engine

    def register(self, server: grpc.aio.Server) -> None:
        """Add the embedder's servicer to a server."""
        rpc.add_EmbedderServiceServicer_to_server(EmbedderServicer(self.engine), server)


@asynccontextmanager
async def build(settings: EmbedderSettings, *, model: Model | None = None) -> AsyncIterator[Built]:
    """Load the model, start the engine, and yield it; a given ``model`` is used and left open.

    Raises:
        ModelMissing: the model is not there or cannot be loaded; says what to install.
    """
    async with AsyncExitStack() as stack:
        loaded = model if model is not None else await stack.enter_async_context(_opened(settings))
        readers = await stack.enter_async_context(BoundedExecutor(1, settings.queue_texts, "embedder-reader"))
        engine = Engine(
            loaded.identity,
            tokenizer=loaded.tokenizer,
            session=loaded.session,
            readers=readers,
            settings=settings,
        )
        await stack.enter_async_context(running(engine.run()))
        yield Built(engine)


def run(environ: Mapping[str, str] | None = None) -> None:
    """Serve the embedder as a process of its own until SIGTERM, as ``environ`` or the environment says."""
    asyncio.run(_serve(load(EmbedderSettings, PREFIX, environ), load_keys(environ), load_metrics(environ)))


async def _serve(settings: EmbedderSettings, keys: KeySettings, metrics: MetricsSettings) -> None:
    flush = setup_telemetry("satchel-embedder")
    try:
        async with build(settings) as built, showing_metrics(metrics, KeyRing(keys)):
            await serve_forever(built, settings.listen, authenticator=authenticator_of(KeyRing(keys)))
    finally:
        flush()


@asynccontextmanager
async def _opened(settings: EmbedderSettings) -> AsyncIterator[Model]:
    """Load the model that the settings name; hashing and parsing run on a thread."""
    source = await asyncio.to_thread(_source, settings)
    tokenizer = await asyncio.to_thread(source.open_tokenizer)
    session = await OnnxSession.open(
        source.model_file, name=source.name, pooling=source.pooling, threads=settings.threads
    )
    identity = ModelIdentity(
        source.name, source.revision, source.sha256, session.dimension, source.max_tokens
    )
    async with aclosing(session):
        _require_expected(identity, settings)
        yield Model(identity, tokenizer, session)


def _require_expected(identity: ModelIdentity, settings: EmbedderSettings) -> None:
    """Refuse another model than the settings expect: its vectors would not match those that are stored."""
    if not identity.sha256.startswith(settings.model_sha256.lower()):
        cause = f"Its SHA-256 is {identity.sha256}, and not the one that SATCHEL_EMBEDDER_MODEL_SHA256 names."
    elif settings.dimension not in (None, identity.dimension):
        cause = f"Its vectors have length {identity.dimension}, and not {settings.dimension}."
    else:
        return
    raise ModelMissing(
        model=identity.name, cause=cause, remedy="Name the model that is there, or install it."
    )


def _source(settings: EmbedderSettings) -> ModelSource:
    if settings.model_folder is None:
        return packaged_model(max_tokens=settings.max_tokens)
    return folder_model(settings.model_folder, settings)
