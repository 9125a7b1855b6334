package satchel

import (
	"testing"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	typesv1 "satchel.dev/go/api/types/v1"
)

func TestATracedCallNamesItsParentAndAsksForSpans(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

	sent, _ := metadata.FromOutgoingContext(WithTrace(t.Context(), parent))

	if sent.Get("traceparent")[0] != parent || sent.Get("satchel-trace")[0] != "1" {
		t.Errorf("the metadata is %v", sent)
	}
}

func TestSpansAreReadFromTheTrailer(t *testing.T) {
	want := &typesv1.TraceSpans{TraceId: []byte{1, 2}, Spans: []*typesv1.TraceSpan{{Name: "recall"}}}
	packed, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}

	got, err := SpansOf(metadata.Pairs("satchel-spans-bin", string(packed)))

	if err != nil || !proto.Equal(got, want) {
		t.Errorf("got %v and error %v, want %v", got, err, want)
	}
}

func TestATrailerWithoutReadableSpansIsAnError(t *testing.T) {
	for _, trailer := range []metadata.MD{nil, metadata.Pairs("satchel-spans-bin", "\xff")} {
		if spans, err := SpansOf(trailer); err == nil {
			t.Errorf("got %v, want an error", spans)
		}
	}
}
