package satchel

import (
	"context"
	"fmt"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	typesv1 "satchel.dev/go/api/types/v1"
)

// WithTrace returns a context whose calls continue a W3C trace and send their spans back.
//
// The traceparent is as in https://www.w3.org/TR/trace-context/; empty lets Satchel begin a trace. Give
// the call grpc.Trailer to receive its trailing metadata, and read that with [SpansOf].
func WithTrace(ctx context.Context, traceparent string) context.Context {
	if traceparent != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", traceparent)
	}
	return metadata.AppendToOutgoingContext(ctx, "satchel-trace", "1")
}

// SpansOf returns the spans that a call sent back in its trailing metadata. It fails when there are
// none, or when they cannot be read.
func SpansOf(trailer metadata.MD) (*typesv1.TraceSpans, error) {
	values := trailer.Get("satchel-spans-bin")
	if len(values) == 0 {
		return nil, fmt.Errorf("satchel: the call sent no spans back; make it with a context of WithTrace")
	}
	spans := &typesv1.TraceSpans{}
	if err := proto.Unmarshal([]byte(values[0]), spans); err != nil {
		return nil, fmt.Errorf("satchel: the spans cannot be read: %w", err)
	}
	return spans, nil
}
