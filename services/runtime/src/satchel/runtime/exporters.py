"""Provides OpenTelemetry's SDK, set up from its OTEL_* variables; imported only when tracing is wanted."""

from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
    SpanExporter,
)


def make_provider(
    service_name: str, exporter: SpanExporter | None, environ: Mapping[str, str]
) -> TracerProvider:
    """Make the provider of this process.

    Without an ``exporter`` the one that the environment names gets spans in batches, and the provider
    becomes OpenTelemetry's global one, so that libraries with spans of their own join in.
    """
    provider = TracerProvider(
        resource=Resource.create({"service.name": service_name}), shutdown_on_exit=False
    )
    if exporter is not None:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        return provider
    provider.add_span_processor(BatchSpanProcessor(_exporter(environ)))
    trace.set_tracer_provider(provider)
    return provider


def _exporter(environ: Mapping[str, str]) -> SpanExporter:
    if environ.get("OTEL_TRACES_EXPORTER") == "console":
        return ConsoleSpanExporter()
    protocol = environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"
    )
    if protocol.startswith("http"):
        from opentelemetry.exporter.otlp.proto.http import trace_exporter as http  # noqa: PLC0415

        return http.OTLPSpanExporter()
    from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc  # noqa: PLC0415

    return grpc.OTLPSpanExporter()
